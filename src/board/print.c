/*
 * board/print: printf and its kind in place of libc's, which bring long arithmetic for numbers that no recorder writes.
 *
 * Integers of all lengths, texts, characters, pointers, and %f of numbers below 2^63 with up to nine digits behind the point. What a text of
 * ours does not use is not there: no %e, %g, %a, %n, no positions, no wide characters, and grouping and signs but '-' are ignored.
 */
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <errno.h>

struct out {
	char *at;
	size_t room, len;	/* for so many characters; so many there are, or would be */
	FILE *file;		/* or there */
};

struct spec {
	bool left, zero, alt, exact;	/* exact: there is a precision */
	int width, precision;
	int length;			/* -2 hh, -1 h, 0, 1 l, z, t, 2 ll, j */
};

static void put(struct out *out, const char *text, size_t n)
{
	if (out->file)
		fwrite(text, 1, n, out->file);
	else if (out->len < out->room)
		memcpy(out->at + out->len, text, n < out->room - out->len ? n : out->room - out->len);
	out->len += n;
}

static void pad(struct out *out, char with, int n)
{
	while (n-- > 0)
		put(out, &with, 1);
}

/* `sign` goes before zeros, and they before the digits. */
static void put_number(struct out *out, const struct spec *spec, const char *sign, const char *digits, int n)
{
	int zeros = spec->exact && spec->precision > n ? spec->precision - n : 0, len = (int)strlen(sign) + n;

	if (spec->zero && !spec->left && !spec->exact)
		zeros = spec->width > len ? spec->width - len : 0;
	if (!spec->left)
		pad(out, ' ', spec->width - len - zeros);
	put(out, sign, strlen(sign));
	pad(out, '0', zeros);
	put(out, digits, (size_t)n);
	if (spec->left)
		pad(out, ' ', spec->width - len - zeros);
}

/* Digits end at `end`. */
static char *digits_of(char *end, uint64_t value, unsigned int base, char ten)
{
	do {
		unsigned int digit = (unsigned int)(value % base);

		*--end = (char)(digit < 10 ? '0' + digit : ten + digit - 10);
		value /= base;
	} while (value);
	return end;
}

static void put_integer(struct out *out, const struct spec *spec, uint64_t value, unsigned int base, char ten, const char *sign)
{
	char text[24], *end = text + sizeof(text), *at = digits_of(end, value, base, ten);

	if (spec->exact && !spec->precision && !value)
		at = end;
	put_number(out, spec, sign, at, (int)(end - at));
}

static void put_real(struct out *out, struct spec spec, double value)
{
	static const uint32_t tens[] = { 1, 10, 100, 1000, 10000, 100000, 1000000, 10000000, 100000000, 1000000000 };
	int n = !spec.exact ? 6 : spec.precision > 9 ? 9 : spec.precision;
	const char *sign = value < 0 ? "-" : "";
	char text[40], *end = text + sizeof(text), *at = end;
	uint64_t whole, part;

	value = value < 0 ? -value : value;
	if (!(value < 9e18)) {
		put_number(out, &(struct spec){ .width = spec.width, .left = spec.left }, sign, "inf", 3);
		return;
	}
	whole = (uint64_t)value;
	part = (uint64_t)((value - (double)whole) * tens[n] + 0.5);
	whole += part / tens[n];
	part %= tens[n];
	if (n) {
		at = digits_of(end, part, 10, 'a');
		while (end - at < n)
			*--at = '0';
		*--at = '.';
	}
	at = digits_of(at, whole, 10, 'a');
	spec.exact = false;
	put_number(out, &spec, sign, at, (int)(end - at));
}

static void put_text(struct out *out, const struct spec *spec, const char *text)
{
	int n = 0;

	if (!text)
		text = "(null)";
	while ((!spec->exact || n < spec->precision) && text[n])
		n++;
	if (!spec->left)
		pad(out, ' ', spec->width - n);
	put(out, text, (size_t)n);
	if (spec->left)
		pad(out, ' ', spec->width - n);
}

static int read_count(const char **fmt, va_list *ap)
{
	int n = 0;

	if (**fmt == '*') {
		++*fmt;
		return va_arg(*ap, int);
	}
	while (**fmt >= '0' && **fmt <= '9')
		n = n * 10 + *(*fmt)++ - '0';
	return n;
}

/* Up to its letter. */
static struct spec read_spec(const char **fmt, va_list *ap)
{
	struct spec spec = { .left = false };

	for (;; ++*fmt) {
		if (**fmt == '-')
			spec.left = true;
		else if (**fmt == '0')
			spec.zero = true;
		else if (**fmt == '#')
			spec.alt = true;
		else if (!**fmt || !strchr("+ '", **fmt))
			break;
	}
	spec.width = read_count(fmt, ap);
	if (spec.width < 0) {
		spec.left = true;
		spec.width = -spec.width;
	}
	if (**fmt == '.') {
		++*fmt;
		spec.precision = read_count(fmt, ap);
		spec.exact = spec.precision >= 0;
	}
	for (; **fmt && strchr("hlzjtL", **fmt); ++*fmt)
		spec.length += **fmt == 'h' ? -1 : **fmt == 'j' || **fmt == 'L' ? 2 : 1;
	return spec;
}

static uint64_t read_unsigned(const struct spec *spec, va_list *ap)
{
	if (spec->length > 1)
		return va_arg(*ap, unsigned long long);
	if (spec->length == 1)
		return va_arg(*ap, unsigned long);
	return spec->length == -2 ? (unsigned char)va_arg(*ap, unsigned int) :
	       spec->length == -1 ? (unsigned short)va_arg(*ap, unsigned int) : va_arg(*ap, unsigned int);
}

static int64_t read_signed(const struct spec *spec, va_list *ap)
{
	if (spec->length > 1)
		return va_arg(*ap, long long);
	if (spec->length == 1)
		return va_arg(*ap, long);
	return spec->length == -2 ? (signed char)va_arg(*ap, int) : spec->length == -1 ? (short)va_arg(*ap, int) : va_arg(*ap, int);
}

static void put_spec(struct out *out, struct spec spec, char letter, va_list *ap)
{
	int64_t number;
	char one;

	switch (letter) {
	case 'd':
	case 'i':
		number = read_signed(&spec, ap);
		put_integer(out, &spec, number < 0 ? -(uint64_t)number : (uint64_t)number, 10, 'a', number < 0 ? "-" : "");
		break;
	case 'u':
		put_integer(out, &spec, read_unsigned(&spec, ap), 10, 'a', "");
		break;
	case 'o':
		put_integer(out, &spec, read_unsigned(&spec, ap), 8, 'a', spec.alt ? "0" : "");
		break;
	case 'x':
	case 'X':
		put_integer(out, &spec, read_unsigned(&spec, ap), 16, letter == 'x' ? 'a' : 'A', spec.alt ? "0x" : "");
		break;
	case 'p':
		put_integer(out, &spec, (uintptr_t)va_arg(*ap, void *), 16, 'a', "0x");
		break;
	case 'f':
		put_real(out, spec, va_arg(*ap, double));
		break;
	case 'c':
		one = (char)va_arg(*ap, int);
		pad(out, ' ', spec.left ? 0 : spec.width - 1);
		put(out, &one, 1);
		pad(out, ' ', spec.left ? spec.width - 1 : 0);
		break;
	case 's':
		put_text(out, &spec, va_arg(*ap, const char *));
		break;
	default:
		put(out, &letter, 1);
	}
}

static int print(struct out *out, const char *fmt, va_list from)
{
	va_list ap;

	va_copy(ap, from);
	while (*fmt) {
		size_t n = strcspn(fmt, "%");

		put(out, fmt, n);
		fmt += n;
		if (*fmt) {
			struct spec spec;

			fmt++;
			spec = read_spec(&fmt, &ap);
			if (*fmt)
				put_spec(out, spec, *fmt++, &ap);
		}
	}
	va_end(ap);
	return (int)out->len;
}

int vsnprintf(char *text, size_t size, const char *fmt, va_list ap)
{
	struct out out = { .at = text, .room = size ? size - 1 : 0 };
	int n = print(&out, fmt, ap);

	if (size)
		text[out.len < size ? out.len : size - 1] = '\0';
	return n;
}

int snprintf(char *text, size_t size, const char *fmt, ...)
{
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(text, size, fmt, ap);
	va_end(ap);
	return n;
}

int vfprintf(FILE *file, const char *fmt, va_list ap)
{
	struct out out = { .file = file };

	/* What is written to stderr is one line, and goes out as one. */
	if (file == stderr) {
		char text[2048];
		int n = vsnprintf(text, sizeof(text), fmt, ap);

		return (int)fwrite(text, 1, n < (int)sizeof(text) ? (size_t)n : sizeof(text) - 1, file);
	}
	return print(&out, fmt, ap);
}

int fprintf(FILE *file, const char *fmt, ...)
{
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vfprintf(file, fmt, ap);
	va_end(ap);
	return n;
}
