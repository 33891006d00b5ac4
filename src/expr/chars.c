/*
 * expr/chars: see chars.h.
 */
#include "expr/chars.h"

#include <ctype.h>
#include <stddef.h>
#include <string.h>

void expr_chars_add(struct expr_chars *chars, unsigned char c, bool any_case)
{
	chars->has[c] = true;
	if (!any_case || c >= 128)
		return;
	chars->has[(unsigned char)tolower(c)] = true;
	chars->has[(unsigned char)toupper(c)] = true;
}

void expr_chars_class(struct expr_chars *chars, char letter)
{
	bool is_word = tolower(letter) == 'w', is_in = islower(letter);

	for (int c = 0; c < 256; c++) {
		bool has = c < 128 && (is_word ? isalnum(c) || c == '_' : isspace(c));

		chars->has[c] = has == is_in;
	}
}

static bool is_in_class(int c, const char *name, size_t len)
{
	static const struct {
		const char *name;
		int (*is)(int c);
	} classes[] = {
		{ "alpha", isalpha }, { "digit", isdigit }, { "alnum", isalnum },
		{ "upper", isupper }, { "lower", islower }, { "space", isspace },
		{ "blank", isblank }, { "punct", ispunct }, { "print", isprint },
		{ "graph", isgraph }, { "cntrl", iscntrl }, { "xdigit", isxdigit },
	};

	for (size_t i = 0; i < sizeof(classes) / sizeof(classes[0]); i++)
		if (strlen(classes[i].name) == len && !memcmp(classes[i].name, name, len))
			return classes[i].is(c);
	return false;
}

/* [:name:] at *p. */
static const char *named(struct expr_chars *chars, const char **p, const char *end, bool any_case)
{
	const char *name = *p + 2, *stop = name;
	bool any = false;

	while (stop < end && *stop >= 'a' && *stop <= 'z')
		stop++;
	if (end - stop < 2 || stop[0] != ':' || stop[1] != ']')
		return "the class of characters has no end";
	for (int c = 0; c < 128; c++) {
		if (!is_in_class(c, name, (size_t)(stop - name)))
			continue;
		expr_chars_add(chars, (unsigned char)c, any_case);
		any = true;
	}
	if (!any)
		return "there is no such class of characters";
	*p = stop + 2;
	return NULL;
}

/* A character or a range of them at *p. */
static const char *range(struct expr_chars *chars, const char **p, const char *end, bool any_case)
{
	unsigned char low = (unsigned char)**p, high = low;

	if (end - *p >= 3 && (*p)[1] == '-' && (*p)[2] != ']') {
		high = (unsigned char)(*p)[2];
		*p += 2;
	}
	(*p)++;
	for (unsigned int c = low; c <= high; c++)
		expr_chars_add(chars, (unsigned char)c, any_case);
	return high < low ? "the range of characters ends before it begins" : NULL;
}

/* What comes next between the brackets. */
static const char *member(struct expr_chars *chars, const char **p, const char *end, bool any_case)
{
	char next = end - *p >= 2 && **p == '[' ? (*p)[1] : '\0';

	if (next == ':')
		return named(chars, p, end, any_case);
	if (next == '=' || next == '.')
		return "characters by their collation are not known here";
	return range(chars, p, end, any_case);
}

const char *expr_chars_read(struct expr_chars *chars, const char **p, const char *end,
			    bool any_case)
{
	const char *open = (*p)++, *first, *why = NULL;
	bool inverted = *p < end && **p == '^';

	memset(chars, 0, sizeof(*chars));
	*p += inverted;
	for (first = *p; !why && *p < end && (**p != ']' || *p == first);)
		why = member(chars, p, end, any_case);
	if (why)
		return why;
	if (*p == end) {
		*p = open;
		return "the bracket has no end";
	}
	(*p)++;
	for (int c = 0; inverted && c < 256; c++)
		chars->has[c] = !chars->has[c];
	return NULL;
}
