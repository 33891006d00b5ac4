/*
 * expr/lex: the words of a filter's expression. Private to the room. Pure functions on text.
 */
#ifndef EXPR_LEX_H
#define EXPR_LEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Operators are their characters: '+', or 'a' << 8 | 'b' for two. */
#define EXPR_TWO(a, b) ((a) << 8 | (b))

enum {
	EXPR_END = 0,
	EXPR_NAME = 1,
	EXPR_NUM,
	EXPR_REAL,
	EXPR_TEXT,
	EXPR_BAD,	/* why says what is wrong */
};

struct expr_lex {
	const char *text, *p, *end;	/* p: behind the current word */
	int word;			/* EXPR_* or an operator */
	const char *at;			/* where the word begins */
	size_t len;
	uint64_t num;			/* EXPR_NUM */
	double real;			/* EXPR_REAL */
	const char *why;
};

void expr_lex_open(struct expr_lex *lex, const char *text, const char *start, size_t len);
void expr_lex_next(struct expr_lex *lex);

/*
 * The characters of the current EXPR_TEXT into `out`, which has room for lex->len bytes; returns
 * how many. Backslashes stay, since patterns need them, but for one before the quote that the text
 * is in.
 */
size_t expr_lex_text(const struct expr_lex *lex, char *out);

#endif
