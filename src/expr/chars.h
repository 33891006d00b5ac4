/*
 * expr/chars: sets of characters in patterns: [a-z], [[:alpha:]], \w. Private to the room. Pure
 * functions on text. Bytes are characters; what is not ASCII is in no class.
 */
#ifndef EXPR_CHARS_H
#define EXPR_CHARS_H

#include <stdbool.h>

struct expr_chars {
	bool has[256];
};

/* One character; with `any_case` a letter's other case too. */
void expr_chars_add(struct expr_chars *chars, unsigned char c, bool any_case);

/* \w and \s, or with a large letter all others. */
void expr_chars_class(struct expr_chars *chars, char letter);

/*
 * Brackets, of which *p is the first; *p is then behind them. NULL, or what is wrong, and *p is the
 * place.
 */
const char *expr_chars_read(struct expr_chars *chars, const char **p, const char *end,
			    bool any_case);

#endif
