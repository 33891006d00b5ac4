/*
 * trigger/error: refusals and the memory of specs; see read.h.
 */
#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trigger/read.h"

struct read_block {
	struct read_block *next;
	max_align_t data[];
};

void *read_alloc(struct read_mem *mem, size_t size)
{
	struct read_block *block = calloc(1, sizeof(*block) + size);

	if (!block) {
		mem->failed = true;
		return NULL;
	}
	block->next = mem->blocks;
	mem->blocks = block;
	return block->data;
}

char *read_dup(struct read_mem *mem, const char *text, size_t len)
{
	char *copy = read_alloc(mem, len + 1);

	if (copy)
		memcpy(copy, text, len);
	return copy;
}

void read_mem_fini(struct read_mem *mem)
{
	while (mem->blocks) {
		struct read_block *block = mem->blocks;

		mem->blocks = block->next;
		free(block);
	}
}

void spec_error_fini(struct spec_error *error)
{
	buf_fini(&error->command);
}

void read_begin(struct spec_error *error, const char *command, size_t len, const char *fmt, ...)
{
	va_list ap;

	error->code = 0;
	error->message = NULL;
	error->pos = 0;
	error->text[0] = '\0';
	va_start(ap, fmt);
	vsnprintf(error->location, sizeof(error->location), fmt, ap);
	va_end(ap);
	buf_reset(&error->command);
	buf_add(&error->command, command, len);
}

int read_refuse_at(struct spec_error *error, int code, const char *message, size_t pos)
{
	error->code = code;
	error->message = message;
	error->pos = (uint32_t)pos;
	snprintf(error->text, sizeof(error->text), "%s", message);
	return code;
}

int read_refuse(struct spec_error *error, int code, const char *message, const char *piece)
{
	const char *command = buf_failed(&error->command) ? NULL : error->command.data;
	const char *at = command && piece ? strstr(command, piece) : NULL;

	read_refuse_at(error, code, message, at ? (size_t)(at - command) : 0);
	if (piece && piece[0])
		snprintf(error->text, sizeof(error->text), "%s: %.80s", message, piece);
	return code;
}

int read_refuse_silently(struct spec_error *error, int code, const char *fmt, ...)
{
	va_list ap;

	error->code = code;
	if (!error->message) {
		va_start(ap, fmt);
		vsnprintf(error->text, sizeof(error->text), fmt, ap);
		va_end(ap);
	}
	return code;
}

int read_accept(struct spec_error *error)
{
	error->code = 0;
	error->message = NULL;
	error->text[0] = '\0';
	return 0;
}

bool read_is_blank(char c)
{
	return c == ' ' || (c >= '\t' && c <= '\r');
}

char *read_skip_blanks(char *text)
{
	while (read_is_blank(*text))
		text++;
	return text;
}

char *read_strip(char *text)
{
	char *end;

	text = read_skip_blanks(text);
	end = text + strlen(text);
	while (end > text && read_is_blank(end[-1]))
		*--end = '\0';
	return text;
}

char *read_after(char *text, const char *prefix)
{
	size_t len = strlen(prefix);

	return strncmp(text, prefix, len) ? NULL : text + len;
}

int read_number(const char *text, uint64_t *out)
{
	const char *p = text + (*text == '+');
	unsigned int base = 10;
	uint64_t value = 0;

	if (p[0] == '0' && (p[1] | 0x20) == 'x' && isxdigit((unsigned char)p[2])) {
		base = 16;
		p += 2;
	} else if (p[0] == '0') {
		base = 8;
	}
	if (!*p)
		return -EINVAL;
	for (; *p; p++) {
		int c = (unsigned char)*p | 0x20;
		unsigned int digit = isdigit(c) ? (unsigned int)(c - '0') : c >= 'a' && c <= 'f' ? (unsigned int)(c - 'a' + 10) : 99;

		if (isdigit((unsigned char)*p) == 0 && !isalpha((unsigned char)*p))
			return -EINVAL;
		if (digit >= base)
			return -EINVAL;
		if (__builtin_mul_overflow(value, (uint64_t)base, &value) || __builtin_add_overflow(value, (uint64_t)digit, &value))
			return -ERANGE;
	}
	*out = value;
	return 0;
}

static bool is_name(const char *text, bool dashes)
{
	if (!isalpha((unsigned char)*text) && *text != '_')
		return false;
	while (*++text != '\0') {
		if (!isalnum((unsigned char)*text) && *text != '_' && !(dashes && *text == '-'))
			return false;
	}
	return true;
}

bool read_is_name(const char *text)
{
	return is_name(text, false);
}

bool read_is_system_name(const char *text)
{
	return is_name(text, true);
}

bool read_copy_name(char to[SPEC_NAME_MAX], const char *text)
{
	size_t len = strlen(text);

	if (len >= SPEC_NAME_MAX)
		return false;
	memcpy(to, text, len + 1);
	return true;
}
