/*
 * query/lex: the words of a statement. Private to the room.
 *
 * Names may have dots in them (system.event.field) and, behind a backslash, be what otherwise means something.
 */
#ifndef QUERY_LEX_H
#define QUERY_LEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum sql_word {
	SQL_END,
	SQL_WORD,	/* a name or a word of the language */
	SQL_NUM,
	SQL_QUOTED,
	SQL_SIGN,	/* one or two characters */
	SQL_BAD,	/* why says what is wrong */
};

struct sql_lex {
	const char *text, *p;	/* p: behind the current word */
	enum sql_word word;
	const char *at;
	size_t len;
	bool is_name;		/* a name for sure: it was behind a backslash, or has dots */
	uint64_t num;
	const char *why;
};

void sql_lex_open(struct sql_lex *lex, const char *text, size_t begin);
void sql_lex_next(struct sql_lex *lex);
/* Is the current word this one of the language, in whatever case? */
bool sql_lex_is(const struct sql_lex *lex, const char *word);
/* Is it this sign? */
bool sql_lex_sign(const struct sql_lex *lex, const char *sign);

#endif
