/*
 * base/glob: see glob.h. A mismatch goes back to the last star only, which is enough for globs and keeps it bounded.
 */
#include "base/glob.h"

#include <stddef.h>

/* Matches one character against the class at `*pattern` (behind the '['); steps over the class. */
static bool class_match(const char **pattern, char c)
{
	const char *p = *pattern;
	bool inverted = *p == '!' || *p == '^';
	bool hit = false;

	if (inverted)
		p++;
	for (const char *first = p; *p && (*p != ']' || p == first); p++) {
		char low = *p, high = *p;

		if (p[1] == '-' && p[2] && p[2] != ']') {
			high = p[2];
			p += 2;
		}
		if (low <= c && c <= high)
			hit = true;
	}
	*pattern = *p ? p + 1 : p;
	return hit != inverted;
}

/* Matches one element of the pattern, not a star; steps over it. */
static bool element_match(const char **pattern, char c)
{
	const char *p = *pattern;

	switch (*p) {
	case '?':
		*pattern = p + 1;
		return true;
	case '[':
		*pattern = p + 1;
		return class_match(pattern, c);
	case '\\':
		if (p[1])
			p++;
		/* fall through */
	default:
		*pattern = p + 1;
		return *p == c;
	}
}

bool glob_match(const char *pattern, const char *text)
{
	const char *star = NULL, *from = NULL;

	while (*text) {
		if (*pattern == '*') {
			star = ++pattern;
			from = text;
			continue;
		}
		if (*pattern && element_match(&pattern, *text)) {
			text++;
			continue;
		}
		if (!star)
			return false;
		pattern = star;
		text = ++from;
	}
	while (*pattern == '*')
		pattern++;
	return !*pattern;
}
