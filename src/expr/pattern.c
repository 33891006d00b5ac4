/*
 * expr/pattern: see pattern.h.
 *
 * A pattern becomes an automaton without empty moves: each character (or set, or anchor) of its
 * text is a place, and while a text is read, a set of places holds those that the last symbol was
 * read at. Three tables say all there is to know:
 *
 *   first        places that a match can begin at
 *   follow[p]    places that can come behind p
 *   reads[sym]   places that read this symbol
 *
 *   next = (follow of all places in the set + first) cut to reads[symbol]
 *
 * and it is a match as soon as the set meets `last`. The text is read as BEGIN c1 ... cn END, so
 * that ^ and $ are places like all others. Building goes bottom-up: of each part of the text the
 * places that it can begin and end with, and whether it can be empty, are known (struct part), and
 * joining two parts fills follow[].
 */
#include "expr/pattern.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "expr/chars.h"

enum { SYM_BEGIN = 256, SYM_END, NR_SYMS };

#define WORDS_MAX (PATTERN_PLACES_MAX / 64)
#define NESTING_MAX 50
/* Parts that are read, repetitions counted: an empty part in nested repetitions costs no places. */
#define STEPS_MAX 2000

struct set {
	uint64_t w[WORDS_MAX];
};

/* Sets of `words` words each, one behind the other: first, last, follow[places], reads[NR_SYMS]. */
struct pattern {
	uint32_t words;
	uint32_t places;
	bool can_be_empty;
	uint64_t sets[];
};

struct part {
	struct set first, last;
	bool can_be_empty;
};

struct builder {
	const char *text, *p, *end;
	unsigned int flags;
	unsigned int nesting, steps;
	uint32_t places;
	bool failed;
	struct err *err;
	struct set follow[PATTERN_PLACES_MAX];
	struct set reads[NR_SYMS];
};

static const struct part empty_part = { .can_be_empty = true };

static void set_add(struct set *s, uint32_t place)
{
	s->w[place / 64] |= 1ull << place % 64;
}

static void set_join(struct set *s, const struct set *other)
{
	for (int i = 0; i < WORDS_MAX; i++)
		s->w[i] |= other->w[i];
}

/* The first cause ends it: nothing is read behind it. */
static struct part fail(struct builder *b, const char *why)
{
	if (!b->failed)
		err_set_at(b->err, -EBADMSG, (int)(b->p - b->text), "%s", why);
	b->failed = true;
	b->p = b->end;
	return empty_part;
}

static bool at(const struct builder *b, const char *two)
{
	return b->end - b->p >= 2 && b->p[0] == two[0] && b->p[1] == two[1];
}

static struct part place(struct builder *b)
{
	struct part part = { .can_be_empty = false };

	if (b->places == PATTERN_PLACES_MAX)
		return fail(b, "the pattern is too large");
	set_add(&part.first, b->places);
	set_add(&part.last, b->places);
	b->places++;
	return part;
}

static struct part place_of_symbol(struct builder *b, int sym)
{
	struct part part = place(b);

	if (!b->failed)
		set_add(&b->reads[sym], b->places - 1);
	return part;
}

static struct part place_of_chars(struct builder *b, const struct expr_chars *chars)
{
	struct part part = place(b);

	for (int c = 0; !b->failed && c < 256; c++)
		if (chars->has[c])
			set_add(&b->reads[c], b->places - 1);
	return part;
}

static struct part place_of_char(struct builder *b, char c)
{
	struct expr_chars chars = { { false } };

	expr_chars_add(&chars, (unsigned char)c, b->flags & PATTERN_ANY_CASE);
	return place_of_chars(b, &chars);
}

static void follows(struct builder *b, const struct set *before, const struct set *after)
{
	for (uint32_t i = 0; i < WORDS_MAX; i++)
		for (uint64_t left = before->w[i]; left; left &= left - 1)
			set_join(&b->follow[i * 64 + (uint32_t)__builtin_ctzll(left)], after);
}

static struct part join(struct builder *b, const struct part *x, const struct part *y)
{
	struct part part = { x->first, y->last, x->can_be_empty && y->can_be_empty };

	follows(b, &x->last, &y->first);
	if (x->can_be_empty)
		set_join(&part.first, &y->first);
	if (y->can_be_empty)
		set_join(&part.last, &x->last);
	return part;
}

static struct part brackets(struct builder *b)
{
	struct expr_chars chars;
	const char *why = expr_chars_read(&chars, &b->p, b->end, b->flags & PATTERN_ANY_CASE);

	return why ? fail(b, why) : place_of_chars(b, &chars);
}

static struct part alternatives(struct builder *b);

static struct part group(struct builder *b)
{
	const char *open = b->p;
	struct part part;

	if (b->nesting == NESTING_MAX)
		return fail(b, "the pattern is nested too deep");
	b->p += 2;
	b->nesting++;
	part = alternatives(b);
	b->nesting--;
	if (!b->failed && !at(b, "\\)")) {
		b->p = open;
		return fail(b, "the group has no end");
	}
	b->p += b->failed ? 0 : 2;
	return part;
}

static struct part escaped(struct builder *b)
{
	struct expr_chars chars;
	char c;

	if (at(b, "\\("))
		return group(b);
	if (b->end - b->p < 2)
		return fail(b, "the pattern ends in a backslash");
	c = b->p[1];
	if (c == '{' || c == ')')
		return fail(b, c == '{' ? "there is nothing to repeat" : "no group is open here");
	if (c >= '1' && c <= '9')
		return fail(b, "references back are not known here");
	if (c && strchr("bB<>", c))
		return fail(b, "word boundaries are not known here");
	if (c == '`' || c == '\'')
		return fail(b, "the begin and the end of a text are written ^ and $");
	b->p += 2;
	if (!c || !strchr("wWsS", c))
		return place_of_char(b, c);
	expr_chars_class(&chars, c);
	return place_of_chars(b, &chars);
}

/* What repetitions apply to. */
static struct part atom(struct builder *b)
{
	struct expr_chars chars;

	switch (*b->p) {
	case '[':
		return brackets(b);
	case '\\':
		return escaped(b);
	case '.':
		b->p++;
		memset(&chars, true, sizeof(chars));
		return place_of_chars(b, &chars);
	default:
		return place_of_char(b, *b->p++);
	}
}

static struct part loop(struct builder *b, struct part part)
{
	follows(b, &part.last, &part.first);
	return part;
}

static bool number(struct builder *b, unsigned int *out)
{
	const char *start = b->p;

	for (*out = 0; b->p < b->end && *b->p >= '0' && *b->p <= '9'; b->p++)
		if (*out < STEPS_MAX)
			*out = *out * 10 + (unsigned int)(*b->p - '0');
	return b->p > start;
}

/* \{m\} \{m,\} \{m,n\} \{,n\}; no upper bound is UINT32_MAX. */
static bool bounds(struct builder *b, unsigned int *min, unsigned int *max)
{
	bool has_min, has_comma, has_max;

	b->p += 2;
	has_min = number(b, min);
	has_comma = b->p < b->end && *b->p == ',';
	b->p += has_comma;
	has_max = has_comma && number(b, max);
	if (!has_comma)
		*max = *min;
	else if (!has_max)
		*max = UINT32_MAX;
	if ((!has_min && !has_max) || *max < *min || !at(b, "\\}")) {
		fail(b, "a repetition is \\{FROM\\}, \\{FROM,\\} or \\{FROM,TO\\}");
		return false;
	}
	b->p += 2;
	return true;
}

static struct part piece(struct builder *b, const char *stop);

/*
 * `part`, read from `start` on, times min to max: copies are made by reading the same text again,
 * up to where the bounds stand.
 */
static struct part repeated(struct builder *b, const char *start, struct part part)
{
	const char *stop = b->p, *behind;
	struct part all = empty_part, copy = part;
	unsigned int min, max;

	if (!bounds(b, &min, &max))
		return part;
	if (b->nesting == NESTING_MAX)
		return fail(b, "the pattern is nested too deep");
	b->nesting++;
	behind = b->p;
	for (unsigned int i = 0; i < (max == UINT32_MAX ? min + !min : max) && !b->failed; i++) {
		if (i) {
			b->p = start;
			copy = piece(b, stop);
		}
		if (max == UINT32_MAX && i + 1 >= min)
			copy = loop(b, copy);
		if (i >= min)
			copy.can_be_empty = true;
		all = join(b, &all, &copy);
	}
	b->nesting--;
	b->p = b->failed ? b->end : behind;
	return all;
}

/* An atom with its repetitions, as far as they stand before `stop`. */
static struct part piece(struct builder *b, const char *stop)
{
	const char *start = b->p;
	struct part part;

	if (b->steps++ == STEPS_MAX)
		return fail(b, "the pattern is too large");
	part = atom(b);
	while (b->p < stop && !b->failed) {
		if (*b->p == '*') {
			part = loop(b, part);
			part.can_be_empty = true;
			b->p++;
		} else if (at(b, "\\+") || at(b, "\\?")) {
			part = b->p[1] == '+' ? loop(b, part) : part;
			part.can_be_empty |= b->p[1] == '?';
			b->p += 2;
		} else if (at(b, "\\{")) {
			part = repeated(b, start, part);
		} else {
			break;
		}
	}
	return part;
}

static bool at_branch_end(const struct builder *b)
{
	return b->p >= b->end || at(b, "\\|") || (at(b, "\\)") && b->nesting);
}

static bool is_end_anchor(struct builder *b)
{
	bool is;

	if (*b->p != '$')
		return false;
	b->p++;
	is = at_branch_end(b);
	b->p--;
	return is;
}

/* At the begin of a branch and behind ^ a star has nothing to repeat: it is a character. */
static struct part branch_begin(struct builder *b)
{
	struct part part = empty_part, star;

	if (b->p < b->end && *b->p == '^') {
		b->p++;
		part = place_of_symbol(b, SYM_BEGIN);
	}
	if (b->p < b->end && *b->p == '*') {
		star = piece(b, b->end);
		part = join(b, &part, &star);
	}
	return part;
}

static struct part branch(struct builder *b)
{
	struct part all = branch_begin(b), next;

	while (!at_branch_end(b)) {
		if (is_end_anchor(b)) {
			b->p++;
			next = place_of_symbol(b, SYM_END);
		} else {
			next = piece(b, b->end);
		}
		all = join(b, &all, &next);
	}
	return all;
}

static struct part alternatives(struct builder *b)
{
	struct part all = branch(b), next;

	while (!b->failed && at(b, "\\|")) {
		b->p += 2;
		next = branch(b);
		set_join(&all.first, &next.first);
		set_join(&all.last, &next.last);
		all.can_be_empty |= next.can_be_empty;
	}
	return all;
}

static uint64_t *pack(uint64_t *to, const struct set *sets, size_t nr, uint32_t words)
{
	for (size_t i = 0; i < nr; i++, to += words)
		memcpy(to, sets[i].w, words * sizeof(uint64_t));
	return to;
}

static struct pattern *pack_all(const struct builder *b, const struct part *part)
{
	uint32_t words = b->places ? (b->places + 63) / 64 : 1;
	size_t nr = 2 + b->places + NR_SYMS;
	struct pattern *pattern = malloc(sizeof(*pattern) + nr * words * sizeof(uint64_t));
	uint64_t *to;

	if (!pattern)
		return NULL;
	pattern->words = words;
	pattern->places = b->places;
	pattern->can_be_empty = part->can_be_empty;
	to = pack(pattern->sets, &part->first, 1, words);
	to = pack(to, &part->last, 1, words);
	to = pack(to, b->follow, b->places, words);
	pack(to, b->reads, NR_SYMS, words);
	return pattern;
}

static int build(const char *text, size_t len, unsigned int flags, struct pattern **out,
		 struct err *err)
{
	struct builder *b = calloc(1, sizeof(*b));
	struct part part;
	int ret = 0;

	if (!b)
		return err_set(err, -ENOMEM, "out of memory");
	b->text = b->p = text;
	b->end = text + len;
	b->flags = flags;
	b->err = err;
	part = alternatives(b);
	if (!b->failed && b->p < b->end)
		fail(b, "no group is open here");
	*out = b->failed ? NULL : pack_all(b, &part);
	if (b->failed)
		ret = -EBADMSG;
	else if (!*out)
		ret = err_set(err, -ENOMEM, "out of memory");
	free(b);
	return ret;
}

int expr_pattern_new(const char *text, size_t len, unsigned int flags, struct pattern **out,
		     struct err *err)
{
	char *whole;
	int ret;

	if (!(flags & PATTERN_WHOLE))
		return build(text, len, flags, out, err);
	*out = NULL;
	whole = malloc(len + 2);
	if (!whole)
		return err_set(err, -ENOMEM, "out of memory");
	whole[0] = '^';
	memcpy(whole + 1, text, len);
	whole[len + 1] = '$';
	ret = build(whole, len + 2, flags, out, err);
	if (ret == -EBADMSG && err && err->pos > 0)
		err->pos--;
	/* The $ may have been part of it: [a-$ */
	if (ret == -EBADMSG && err && err->pos > (int)len)
		err->pos = (int)len;
	free(whole);
	return ret;
}

/* Writes the basic regular expression of a glob; returns its length, at most twice as long. */
static size_t glob_to_basic(const char *text, size_t len, char *out)
{
	size_t n = 0;

	for (size_t i = 0; i < len; i++) {
		if (text[i] == '*') {
			out[n++] = '.';
			out[n++] = '*';
		} else if (text[i] == '?') {
			out[n++] = '.';
		} else if (text[i] == '[' && memchr(text + i, ']', len - i)) {
			size_t from = i++;

			i += i < len && (text[i] == '!' || text[i] == '^');
			i += i < len && text[i] == ']';
			while (i < len && text[i] != ']')
				i++;
			memcpy(out + n, text + from, i + (i < len) - from);
			if (text[from + 1] == '!')
				out[n + 1] = '^';
			n += i + (i < len) - from;
		} else {
			i += text[i] == '\\' && i + 1 < len;
			if (memchr(".[*^$\\", text[i], 6))
				out[n++] = '\\';
			out[n++] = text[i];
		}
	}
	return n;
}

int expr_pattern_new_glob(const char *text, size_t len, struct pattern **out, struct err *err)
{
	char *basic = malloc(len * 2 + 1);
	int ret;

	*out = NULL;
	if (!basic)
		return err_set(err, -ENOMEM, "out of memory");
	ret = expr_pattern_new(basic, glob_to_basic(text, len, basic), PATTERN_WHOLE, out, err);
	/* Places in the translation mean nothing to whoever wrote the glob. */
	if (ret == -EBADMSG && err)
		err->pos = 0;
	free(basic);
	return ret;
}

void expr_pattern_free(struct pattern *pattern)
{
	free(pattern);
}

/* One symbol; true when a match ends with it. */
static bool step(const struct pattern *pattern, uint64_t *set, unsigned int sym)
{
	const uint32_t words = pattern->words;
	const uint64_t *first = pattern->sets, *last = first + words, *follow = last + words;
	const uint64_t *reads = follow + ((size_t)pattern->places + sym) * words;
	uint64_t next[WORDS_MAX], hit = 0;

	memcpy(next, first, words * sizeof(next[0]));
	for (uint32_t i = 0; i < words; i++) {
		for (uint64_t left = set[i]; left; left &= left - 1) {
			uint32_t p = i * 64 + (uint32_t)__builtin_ctzll(left);

			for (uint32_t j = 0; j < words; j++)
				next[j] |= follow[(size_t)p * words + j];
		}
	}
	for (uint32_t i = 0; i < words; i++) {
		set[i] = next[i] & reads[i];
		hit |= set[i] & last[i];
	}
	return hit;
}

bool expr_pattern_match(const struct pattern *pattern, const void *text, size_t len)
{
	const uint8_t *p = text;
	uint64_t set[WORDS_MAX] = { 0 };

	if (pattern->can_be_empty || step(pattern, set, SYM_BEGIN))
		return true;
	for (size_t i = 0; i < len; i++)
		if (step(pattern, set, p[i]))
			return true;
	return step(pattern, set, SYM_END);
}
