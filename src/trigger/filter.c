/*
 * trigger/filter: the kernel's filter language -> a program; see spec.h. Pure: one thread at a time, nothing is kept.
 *
 *   filter = both { '||' both }    both = one { '&&' one }    one = '!' one | '(' filter ')' | comparison
 *
 * Comparisons are read in filter_pred.c. What is refused is refused in the order in which the kernel looks, with its words,
 * its errno and its caret: quotes and parentheses of the whole text first, then from left to right.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trigger/filter.h"
#include "trigger/read.h"

/* What is open: the whole filter, or a parenthesis. */
struct level {
	uint32_t either;	/* what stood before the last ||, PROGRAM_NOTHING: there was none */
	uint32_t both;		/* what stood behind it */
	bool is_not;		/* of a parenthesis: a ! before it */
};
#define LEVEL_EMPTY { PROGRAM_NOTHING, PROGRAM_NOTHING, false }

static const char too_many[] = "Too many terms in predicate expression";

/* ---- Quotes and parentheses ---- */

struct balance {
	size_t preds;		/* places where a comparison may stand */
	size_t depth;
	char quote;
	size_t quote_at;
};

/* The parenthesis that nobody closed, seen from the end. */
static size_t open_one(const char *text, size_t open)
{
	size_t level = open;
	char quote = '\0';

	for (size_t i = strlen(text); i-- > 1;) {
		char c = text[i];

		if (quote) {
			quote = c == quote ? '\0' : quote;
			continue;
		}
		if (c == '\'' || c == '"')
			quote = c;
		else if (c == ')')
			level++;
		else if (c == '(' && level-- == open)
			return i;
	}
	return 0;
}

/* One character outside of quotes; true: a comparison may be in front of or behind it, but it is none. */
static bool is_between(const char *text, size_t i, size_t *open)
{
	switch (text[i]) {
	case '|':
	case '&':
		return text[i + 1] == text[i];
	case '(':
		++*open;
		return true;
	case ')':
		--*open;
		return true;
	default:
		return false;
	}
}

static int refuse_balance(struct spec_error *error, const struct balance *b, const char *text, size_t open)
{
	if (b->quote)
		return read_refuse_at(error, -ESRCH, "Missing matching quote", b->quote_at);
	return read_refuse_at(error, -ENOENT, "Too many '('", open_one(text, open));
}

static int check_balance(struct filter_reader *reader, struct balance *b)
{
	const char *text = reader->text;
	bool in_pred = false;
	size_t open = 1;

	for (size_t i = 0; text[i]; i++) {
		if (read_is_blank(text[i]))
			continue;
		if (b->quote) {
			b->quote = text[i] == b->quote ? '\0' : b->quote;
			continue;
		}
		if (text[i] == '\'' || text[i] == '"') {
			b->quote = text[i];
			b->quote_at = i;
		} else if (is_between(text, i, &open)) {
			in_pred = false;
			if (!open)
				return read_refuse_at(reader->error, -EPERM, "Too few '('", i);
			b->depth = open > b->depth ? open : b->depth;
			continue;
		}
		b->preds += !in_pred;
		in_pred = true;
	}
	return b->quote || open != 1 ? refuse_balance(reader->error, b, text, open) : 0;
}

/* ---- Joining ---- */

static void join(struct program_build *build, struct level *level, uint32_t truth, bool is_not)
{
	if (is_not)
		truth = program_build_not(build, truth);
	level->both = level->both == PROGRAM_NOTHING ? truth : program_build_joint(build, false, level->both, truth);
}

/* At a ||, a ) or the end: what stood between them is one side. */
static void fold(struct program_build *build, struct level *level)
{
	level->either = level->either == PROGRAM_NOTHING ? level->both
						       : program_build_joint(build, true, level->either, level->both);
	level->both = PROGRAM_NOTHING;
}

/*
 * What follows a comparison, from *at on, up to where the next one is to begin. 0; 1 at the end of the text; or refused.
 */
static int read_joints(struct filter_reader *reader, const struct level *levels, struct level **top, size_t *at)
{
	const char *text = reader->text;

	for (;; ++*at) {
		char c = text[*at];

		if (read_is_blank(c))
			continue;
		if ((c == '&' || c == '|') && text[*at + 1] == c) {
			if (c == '|')
				fold(reader->build, *top);
			*at += 2;
			return 0;
		}
		if (c && c != ')')
			return read_refuse_at(reader->error, -EPERM, too_many, *at);
		fold(reader->build, *top);
		if (!c)
			return 1;
		/* Parentheses are balanced, but for those that a function's name has swallowed. */
		if (*top == levels)
			return read_refuse_at(reader->error, -EPERM, "Too few '('", *at + 1);
		(*top)--;
		join(reader->build, *top, (*top)[1].either, (*top)[1].is_not);
	}
}

static int read_all(struct filter_reader *reader, struct level *levels, const struct level *last)
{
	const char *text = reader->text;
	struct level *top = levels;
	bool is_not = false, any = false;
	size_t at = 0;
	uint32_t truth;
	int ret = 0;

	while (text[at] && !ret) {
		if (read_is_blank(text[at]) || (text[at] == '!' && text[at + 1] != '=' && text[at + 1] != '~')) {
			is_not ^= text[at++] == '!';
			continue;
		}
		if (text[at] == '(') {
			if (top == last)
				return read_refuse_at(reader->error, -EINVAL, "Error", 0);
			*++top = (struct level){ PROGRAM_NOTHING, PROGRAM_NOTHING, is_not };
			is_not = false;
			at++;
			continue;
		}
		ret = filter_read_pred(reader, at, &truth);
		if (ret < 0)
			return ret;
		at += (size_t)ret;
		join(reader->build, top, truth, is_not);
		is_not = false;
		any = true;
		ret = read_joints(reader, levels, &top, &at);
	}
	if (ret < 0)
		return ret;
	if (top != levels)
		return read_refuse_at(reader->error, -EPERM, "Too many '('", at);
	if (!any)
		return read_refuse_at(reader->error, -EINVAL, "No filter found", at);
	if (!ret)
		return read_refuse_at(reader->error, -EINVAL, "Meaningless filter expression", at);
	program_build_is(reader->build, levels->either);
	return 0;
}

static int read_text(struct filter_reader *reader)
{
	struct balance balance = { .depth = 1 };
	struct level *levels;
	int ret = check_balance(reader, &balance);

	if (ret)
		return ret;
	/* The kernel knows that something is wrong, but not what. */
	if (!balance.preds) {
		read_refuse_at(reader->error, -EINVAL, "Error", 0);
		snprintf(reader->error->text, sizeof(reader->error->text), "nothing is compared: %.80s", reader->text);
		return -EINVAL;
	}
	levels = malloc((balance.depth + 1) * sizeof(*levels));
	if (!levels)
		return -ENOMEM;
	levels[0] = (struct level)LEVEL_EMPTY;
	ret = read_all(reader, levels, levels + balance.depth);
	free(levels);
	return ret;
}

int spec_filter_compile(const struct spec_world *world, const struct decode_format *format, const char *text, size_t len,
			struct buf *out, struct spec_error *error)
{
	struct filter_reader reader = { .world = world, .format = format, .error = error };
	int ret;

	while (len && read_is_blank(text[len - 1]))
		len--;
	read_begin(error, text, len, "event filter parse error");
	reader.build = program_build_new();
	reader.text = len ? error->command.data : "";
	if (!reader.build || buf_failed(&error->command)) {
		program_build_free(reader.build);
		return read_refuse_silently(error, -ENOMEM, "out of memory");
	}
	ret = read_text(&reader);
	if (!ret) {
		ret = program_build_finish(reader.build, out);
		if (ret)
			read_refuse_silently(error, ret, ret == -E2BIG ? "the filter is too large" : "out of memory");
	}
	program_build_free(reader.build);
	return ret;
}
