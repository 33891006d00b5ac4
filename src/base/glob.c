/*
 * base/glob: see glob.h. A mismatch goes back to the last star only, which is enough for globs and keeps it bounded.
 */
#include "base/glob.h"

#include <string.h>

/*
 * Matches one character against the class at `*pattern` (behind the '['); steps over the class. What has no end is no class:
 * the bracket stands for itself then.
 */
static bool class_match(const char **pattern, const char *end, char c)
{
	const char *p = *pattern;
	bool inverted = p < end && *p == '!';
	bool hit = false;

	p += inverted;
	if (end - p < 2 || !memchr(p + 1, ']', (size_t)(end - p - 1)))
		return c == '[';
	for (const char *first = p; p < end && (*p != ']' || p == first); p++) {
		char low = *p, high = *p;

		if (end - p > 2 && p[1] == '-' && p[2] != ']') {
			high = p[2];
			p += 2;
		}
		if ((unsigned char)low <= (unsigned char)c && (unsigned char)c <= (unsigned char)high)
			hit = true;
	}
	if (p >= end)
		return c == '[';
	*pattern = p + 1;
	return hit != inverted;
}

/* Matches one element of the pattern, not a star; steps over it. */
static bool element_match(const char **pattern, const char *end, char c)
{
	const char *p = *pattern;

	switch (*p) {
	case '?':
		*pattern = p + 1;
		return true;
	case '[':
		*pattern = p + 1;
		return class_match(pattern, end, c);
	case '\\':
		if (end - p > 1)
			p++;
		/* fall through */
	default:
		*pattern = p + 1;
		return *p == c;
	}
}

bool glob_match_within(const char *pattern, size_t pattern_len, const char *text, size_t len)
{
	const char *pattern_end = pattern + pattern_len, *end = text + len;
	const char *star = NULL, *from = NULL;

	while (text < end) {
		if (pattern < pattern_end && *pattern == '*') {
			star = ++pattern;
			from = text;
			continue;
		}
		if (pattern < pattern_end && element_match(&pattern, pattern_end, *text)) {
			text++;
			continue;
		}
		if (!star)
			return false;
		pattern = star;
		text = ++from;
	}
	while (pattern < pattern_end && *pattern == '*')
		pattern++;
	return pattern == pattern_end;
}

bool glob_match(const char *pattern, const char *text)
{
	return glob_match_within(pattern, strlen(pattern), text, strlen(text));
}
