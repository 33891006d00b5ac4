/*
 * expr/pattern: regular expressions and globs, read once and matched many times.
 *
 * The language is that of POSIX basic regular expressions with GNU's \| \+ \? \w \W \s \S, which is
 * what libtraceevent gives to regcomp(). The C library's matcher is not used: it allocates and
 * locks while it matches, and both its time and its memory can be made to explode. This one takes
 * at most len(text) * PATTERN_PLACES_MAX steps and no memory. What it cannot do it refuses:
 * references back (\1) and word boundaries (\b \< \>). Bytes are characters, as in the C locale.
 *
 * A pattern is immutable: any number of threads may match with it.
 */
#ifndef EXPR_PATTERN_H
#define EXPR_PATTERN_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"

/* Characters in a pattern, after a\{3\} became aaa. */
#define PATTERN_PLACES_MAX 256

enum {
	PATTERN_ANY_CASE = 1,	/* ASCII letters of either case are the same */
	PATTERN_WHOLE = 2,	/* as ^TEXT$, which is what libtraceevent makes of names */
};

struct pattern;

/* 0; -ENOMEM; or -EBADMSG and err->pos counts from `text`. */
int expr_pattern_new(const char *text, size_t len, unsigned int flags, struct pattern **out,
		     struct err *err);

/* A glob (* ? [] \), which is for all of a text, as the kernel's `~` has it. */
int expr_pattern_new_glob(const char *text, size_t len, struct pattern **out, struct err *err);

void expr_pattern_free(struct pattern *pattern);

/* Whether it matches anywhere in the text, which must not have a NUL to match as in C. */
bool expr_pattern_match(const struct pattern *pattern, const void *text, size_t len);

#endif
