/*
 * query/lex: see lex.h.
 */
#include "query/lex.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static bool is_letter(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

static enum sql_word bad(struct sql_lex *lex, const char *why)
{
	lex->why = why;
	return SQL_BAD;
}

/* A point belongs to the name if a letter follows. */
static enum sql_word name(struct sql_lex *lex)
{
	while (is_letter(*lex->p) || (*lex->p == '.' && is_letter(lex->p[1]))) {
		lex->is_name |= *lex->p == '.';
		lex->p++;
	}
	return SQL_WORD;
}

static enum sql_word number(struct sql_lex *lex)
{
	char *stop;

	errno = 0;
	lex->num = strtoull(lex->p, &stop, 0);
	if (errno)
		return bad(lex, "the number has more than 64 bits");
	lex->p = stop;
	return is_letter(*stop) ? bad(lex, "this is no number") : SQL_NUM;
}

static enum sql_word quoted(struct sql_lex *lex)
{
	const char *end = strchr(lex->p + 1, *lex->p);

	if (!end)
		return bad(lex, "the text has no closing quote");
	lex->p = end + 1;
	return SQL_QUOTED;
}

static enum sql_word sign(struct sql_lex *lex)
{
	static const char pairs[][3] = { "==", "!=", "<=", ">=", "<>", "&&", "||" };

	for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++) {
		if (!strncmp(lex->p, pairs[i], 2)) {
			lex->p += 2;
			return SQL_SIGN;
		}
	}
	if (*lex->p == ':')
		return bad(lex, "an event is written SYSTEM.EVENT here");
	if (!strchr("+-*/<>=&~!(),;", *lex->p))
		return bad(lex, "this means nothing here");
	lex->p++;
	return SQL_SIGN;
}

void sql_lex_open(struct sql_lex *lex, const char *text, size_t begin)
{
	*lex = (struct sql_lex){ .text = text, .p = text + begin };
	sql_lex_next(lex);
}

void sql_lex_next(struct sql_lex *lex)
{
	lex->p += strspn(lex->p, " \t\r\n");
	lex->at = lex->p;
	lex->is_name = false;
	if (!*lex->p) {
		lex->word = SQL_END;
	} else if (*lex->p == '\\' && is_letter(lex->p[1])) {
		lex->at = ++lex->p;
		lex->is_name = true;
		lex->word = name(lex);
	} else if (isdigit((unsigned char)*lex->p)) {
		lex->word = number(lex);
	} else if (is_letter(*lex->p)) {
		lex->word = name(lex);
	} else if (*lex->p == '"' || *lex->p == '\'') {
		lex->word = quoted(lex);
	} else {
		lex->word = sign(lex);
	}
	lex->len = (size_t)(lex->p - lex->at);
}

bool sql_lex_is(const struct sql_lex *lex, const char *word)
{
	return lex->word == SQL_WORD && !lex->is_name && strlen(word) == lex->len && !strncasecmp(lex->at, word, lex->len);
}

bool sql_lex_sign(const struct sql_lex *lex, const char *is)
{
	return lex->word == SQL_SIGN && strlen(is) == lex->len && !strncmp(lex->at, is, lex->len);
}
