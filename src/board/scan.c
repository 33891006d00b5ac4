/*
 * board/scan: sscanf and strtod in place of libc's: see print.c. Integers, texts, characters, %[^...] and %n, with widths and *; strtod knows no
 * exponents.
 */
#include <ctype.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BLANKS " \t\n\v\f\r"

static bool is_digit(char c, unsigned int base)
{
	return base == 16 ? isxdigit((unsigned char)c) : isdigit((unsigned char)c);
}

/* What it means: for an unsigned one of 64 bits, and cut for others. False: there is none. */
static bool read_integer(const char **text, size_t width, unsigned int base, uint64_t *value)
{
	const char *at = *text, *end = at + strnlen(at, width ? width : SIZE_MAX / 2);
	bool minus = at < end && *at == '-';

	at += minus || (at < end && *at == '+');
	if (base == 16 && end - at > 2 && at[0] == '0' && (at[1] == 'x' || at[1] == 'X') && is_digit(at[2], 16))
		at += 2;
	if (at == end || !is_digit(*at, base))
		return false;
	for (*value = 0; at < end && is_digit(*at, base); at++)
		*value = *value * base + (unsigned int)(*at <= '9' ? *at - '0' : (*at | 0x20) - 'a' + 10);
	*value = minus ? -*value : *value;
	*text = at;
	return true;
}

static void keep(va_list *ap, int length, uint64_t value)
{
	if (length > 1)
		*va_arg(*ap, unsigned long long *) = value;
	else if (length == 1)
		*va_arg(*ap, unsigned long *) = (unsigned long)value;
	else
		*va_arg(*ap, unsigned int *) = (unsigned int)value;
}

/* A word that ends before those characters, or, `but` NULL, so many of any kind; false: there is nothing. */
static bool read_text(const char **text, size_t width, const char *but, char *to)
{
	size_t n = strnlen(*text, width ? width : but ? SIZE_MAX / 2 : 1);
	bool word = but;

	if (but && strcspn(*text, but) < n)
		n = strcspn(*text, but);
	if (!n)
		return false;
	if (to) {
		memcpy(to, *text, n);
		if (word)
			to[n] = '\0';
	}
	*text += n;
	return true;
}

struct want {
	bool drop;
	size_t width;
	int length;
	char letter;
	char but[16];			/* of %[^...] */
};

static struct want read_want(const char **fmt)
{
	struct want want = { .drop = **fmt == '*' };

	*fmt += want.drop;
	while (isdigit((unsigned char)**fmt))
		want.width = want.width * 10 + (size_t)(*(*fmt)++ - '0');
	for (; **fmt == 'l' || **fmt == 'z'; ++*fmt)
		want.length++;
	want.letter = **fmt;
	*fmt += want.letter != '\0';
	strcpy(want.but, BLANKS);
	if (want.letter == '[') {
		size_t n = strcspn(*fmt, "]");

		snprintf(want.but, sizeof(want.but), "%.*s", n ? (int)n - 1 : 0, *fmt + (n != 0));
		*fmt += n + ((*fmt)[n] != '\0');
	}
	return want;
}

static bool is_text(char letter)
{
	return letter == 's' || letter == 'c' || letter == '[';
}

static bool take(const char *begin, const char **text, const struct want *want, va_list *ap, int *taken)
{
	uint64_t value;
	bool ok;

	if (want->letter == 'n') {
		*va_arg(*ap, int *) = (int)(*text - begin);
		return true;
	}
	if (want->letter != 'c' && want->letter != '[')
		*text += strspn(*text, BLANKS);
	if (is_text(want->letter))
		ok = read_text(text, want->width, want->letter == 'c' ? NULL : want->but, want->drop ? NULL : va_arg(*ap, char *));
	else
		ok = read_integer(text, want->width, want->letter == 'x' ? 16 : 10, &value);
	if (ok && !want->drop && !is_text(want->letter))
		keep(ap, want->length, value);
	*taken += ok && !want->drop;
	return ok;
}

int vsscanf(const char *text, const char *fmt, va_list from)
{
	const char *begin = text;
	int taken = 0;
	va_list ap;

	va_copy(ap, from);
	while (*fmt) {
		if (isspace((unsigned char)*fmt)) {
			fmt++;
			text += strspn(text, BLANKS);
		} else if (*fmt != '%') {
			if (*text++ != *fmt++)
				break;
		} else {
			struct want want;

			fmt++;
			want = read_want(&fmt);
			if (!take(begin, &text, &want, &ap, &taken)) {
				taken = taken || *text ? taken : EOF;
				break;
			}
		}
	}
	va_end(ap);
	return taken;
}

int sscanf(const char *text, const char *fmt, ...)
{
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsscanf(text, fmt, ap);
	va_end(ap);
	return n;
}

/* For getmntent(), which skips the rest of a line that is too long by it. */
int fscanf(FILE *file, const char *fmt, ...)
{
	int c;

	(void)fmt;
	do
		c = fgetc(file);
	while (c != EOF && c != '\n');
	return 0;
}

double strtod(const char *text, char **end)
{
	const char *at = text + strspn(text, BLANKS);
	bool minus = *at == '-', any = false;
	double value = 0, unit = 1;

	at += *at == '-' || *at == '+';
	for (; isdigit((unsigned char)*at); at++, any = true)
		value = value * 10 + (*at - '0');
	if (*at == '.' && (any || isdigit((unsigned char)at[1])))
		for (at++; isdigit((unsigned char)*at); at++, any = true)
			value += (*at - '0') * (unit /= 10);
	if (end)
		*end = (char *)(uintptr_t)(any ? at : text);
	return minus ? -value : value;
}
