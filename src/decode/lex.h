/*
 * decode/lex: the words of C expressions in print formats. Private to the room. Pure functions on
 * text.
 */
#ifndef DECODE_LEX_H
#define DECODE_LEX_H

#include <stddef.h>
#include <stdint.h>

#include "decode/abi.h"
#include "decode/type.h"

/* Operators are their characters: '+', or 'a' << 8 | 'b' for two. */
#define LEX_TWO(a, b) ((a) << 8 | (b))

enum {
	LEX_END = 0,
	LEX_NAME = 1,
	LEX_NUM,
	LEX_DOUBLE,
	LEX_STRING,
	LEX_BAD,
};

struct lex {
	const char *text;
	const char *p;		/* behind the current word */
	const char *end;
	const struct decode_abi *abi;

	int word;		/* LEX_* or an operator */
	const char *at;		/* where the word begins */
	size_t len;
	uint64_t num;		/* LEX_NUM, and its type */
	double dbl;
	struct decode_type type;
};

void decode_lex_open(struct lex *l, const char *text, size_t len, const struct decode_abi *abi);
void decode_lex_next(struct lex *l);

/*
 * The characters of the current LEX_STRING, escapes resolved, into `out`, which has room for l->len
 * bytes.
 */
size_t decode_lex_string(const struct lex *l, char *out);

#endif
