/*
 * expr/lex: see lex.h.
 */
#include "expr/lex.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static int bad(struct expr_lex *lex, const char *why)
{
	lex->why = why;
	return EXPR_BAD;
}

static int quoted(struct expr_lex *lex)
{
	char quote = *lex->p++;

	for (; lex->p < lex->end; lex->p++) {
		if (*lex->p == quote) {
			lex->p++;
			return EXPR_TEXT;
		}
		if (*lex->p == '\\' && lex->p + 1 < lex->end)
			lex->p++;
	}
	return bad(lex, "the text has no closing quote");
}

size_t expr_lex_text(const struct expr_lex *lex, char *out)
{
	const char *p = lex->at + 1, *end = lex->at + lex->len - 1;
	size_t n = 0;

	while (p < end) {
		if (*p == '\\' && p + 1 < end) {
			if (p[1] != *lex->at)
				out[n++] = *p;
			p++;
		}
		out[n++] = *p++;
	}
	return n;
}

/* Digits and a point or an exponent; 012.5 is no octal number. */
static int real(struct expr_lex *lex)
{
	const char *digits = lex->p;
	char *stop;

	lex->real = strtod(digits, &stop);
	lex->p = stop;
	if (strcspn(digits, ".eE") >= (size_t)(stop - digits))
		return bad(lex, is_letter(*stop) ? "this is no number" :
						   "an octal number has no such digit");
	return is_letter(*stop) ? bad(lex, "this is no number") : EXPR_REAL;
}

/* C's constants; u and l may follow. The text has a NUL behind it, so that strtoull stops. */
static int number(struct expr_lex *lex)
{
	const char *digits = lex->p;
	bool is_hex = digits[0] == '0' && (digits[1] == 'x' || digits[1] == 'X');
	char *stop;

	errno = 0;
	lex->num = strtoull(digits, &stop, 0);
	if (errno)
		return bad(lex, "the number has more than 64 bits");
	if (!is_hex && *stop && strchr(".eE89", *stop))
		return real(lex);
	while (*stop && strchr("uUlL", *stop))
		stop++;
	lex->p = stop;
	return is_letter(*stop) ? bad(lex, "this is no number") : EXPR_NUM;
}

static int operator(struct expr_lex *lex)
{
	static const char pairs[][3] = {
		"==", "!=", "<=", ">=", "=~", "!~", "<<", ">>", "&&", "||",
	};

	for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++) {
		if (lex->p[0] == pairs[i][0] && lex->p[1] == pairs[i][1]) {
			lex->p += 2;
			return EXPR_TWO(pairs[i][0], pairs[i][1]);
		}
	}
	if (strchr("+-*/%<>&|^~!()", *lex->p))
		return *lex->p++;
	if (*lex->p == '=')
		return bad(lex, "to compare is written ==");
	return bad(lex, "this is no operator");
}

void expr_lex_open(struct expr_lex *lex, const char *text, const char *start, size_t len)
{
	*lex = (struct expr_lex){ .text = text, .p = start, .end = start + len };
	expr_lex_next(lex);
}

void expr_lex_next(struct expr_lex *lex)
{
	if (lex->word == EXPR_BAD)
		return;
	while (lex->p < lex->end && strchr(" \t\n\r", *lex->p))
		lex->p++;
	lex->at = lex->p;
	if (lex->p == lex->end) {
		lex->word = EXPR_END;
	} else if (is_letter(*lex->p)) {
		while (lex->p < lex->end && (is_letter(*lex->p) || is_digit(*lex->p)))
			lex->p++;
		lex->word = EXPR_NAME;
	} else if (is_digit(*lex->p)) {
		lex->word = number(lex);
	} else if (*lex->p == '"' || *lex->p == '\'') {
		lex->word = quoted(lex);
	} else {
		lex->word = operator(lex);
	}
	lex->len = (size_t)(lex->p - lex->at);
}
