/*
 * Random filters of the kernel's language, with what they say of a record: each is written down and worked out while its tree
 * is walked, plainly, in C's own types. For comparing with what the compiled program says. The walk's choices are bytes,
 * which come from a random generator (tests/trigger/filter_walk.c) or from a fuzzer (fuzz/event_filter.c).
 */
#ifndef TESTS_TRIGGER_WALK_H
#define TESTS_TRIGGER_WALK_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "program/program.h"
#include "trigger/spec.h"

#define WALK_DEPTH 5
#define WALK_TEXT 1500	/* no more is written behind that */

static const char walk_format[] =
	"name: sample\nID: 301\nformat:\n"
	"\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
	"\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n"
	"\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n"
	"\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"
	"\tfield:char name[8];\toffset:8;\tsize:8;\tsigned:0;\n"
	"\tfield:u8 u8;\toffset:16;\tsize:1;\tsigned:0;\n"
	"\tfield:s8 s8;\toffset:17;\tsize:1;\tsigned:1;\n"
	"\tfield:u16 u16;\toffset:18;\tsize:2;\tsigned:0;\n"
	"\tfield:s16 s16;\toffset:20;\tsize:2;\tsigned:1;\n"
	"\tfield:u16 pad;\toffset:22;\tsize:2;\tsigned:0;\n"
	"\tfield:u32 u32;\toffset:24;\tsize:4;\tsigned:0;\n"
	"\tfield:s32 s32;\toffset:28;\tsize:4;\tsigned:1;\n"
	"\tfield:u64 u64;\toffset:32;\tsize:8;\tsigned:0;\n"
	"\tfield:s64 s64;\toffset:40;\tsize:8;\tsigned:1;\n"
	"\tfield:double d;\toffset:48;\tsize:8;\tsigned:1;\n"
	"\tfield:__data_loc char[] text;\toffset:56;\tsize:4;\tsigned:0;\n"
	"\tfield:__rel_loc char[] rel;\toffset:60;\tsize:4;\tsigned:0;\n"
	"\nprint fmt: \"\"\n";

struct walk_record {
	uint16_t type;
	uint8_t flags, preempt;
	int32_t pid;
	char name[8];
	uint8_t u8;
	int8_t s8;
	uint16_t u16;
	int16_t s16;
	uint16_t pad;
	uint32_t u32;
	int32_t s32;
	uint64_t u64;
	int64_t s64;
	double d;
	uint32_t text, rel;
	char texts[32];		/* 16 of text, 16 of rel */
} __attribute__((packed, aligned(8)));

enum { WALK_CPU = 3 };
#define WALK_COMM "aab"

struct walk {
	const uint8_t *choices;
	size_t n;
	const struct walk_record *record;
	struct buf text;
};

static inline uint32_t walk_pick(struct walk *w, uint32_t below)
{
	if (!w->n)
		return 0;
	w->n--;
	return *w->choices++ % below;
}

static inline void walk_blank(struct walk *w)
{
	if (!walk_pick(w, 4))
		buf_putc(&w->text, ' ');
}

/* ---- Numbers ---- */

static const char *const walk_orders[] = { "==", "!=", "<", "<=", ">", ">=", "&" };

#define WALK_HOLDS(op, a, b)                                                                                                   \
	((op) == 0 ? (a) == (b) : (op) == 1 ? (a) != (b) : (op) == 2 ? (a) < (b) : (op) == 3 ? (a) <= (b)                      \
	 : (op) == 4 ? (a) > (b) : (op) == 5 ? (a) >= (b) : ((a) & (b)) != 0)

static const struct {
	const char *name;
	int size;		/* negative: signed */
} walk_numbers[] = {
	{ "u8", 1 }, { "s8", -1 }, { "u16", 2 }, { "s16", -2 }, { "u32", 4 }, { "s32", -4 }, { "u64", 8 }, { "s64", -8 },
	{ "common_pid", -4 }, { "common_type", 2 },
};
#define WALK_NUMBERS (sizeof(walk_numbers) / sizeof(walk_numbers[0]))

/* Large and small, and near what is in the record. */
static inline int64_t walk_constant(struct walk *w, bool is_signed)
{
	static const int64_t some[] = { 0, 1, 2, 127, 128, 255, 256, 32767, 65535, 65536, 2147483647, 4294967295, 4294967296,
					INT64_MAX, 77, 301 };
	int64_t value = some[walk_pick(w, sizeof(some) / sizeof(some[0]))];

	return is_signed && walk_pick(w, 2) ? -value : value;
}

static inline bool walk_holds_number(const struct walk_record *r, uint32_t field, uint32_t op, int64_t c)
{
	switch (field) {
	case 0:
		return WALK_HOLDS(op, r->u8, (uint8_t)c);
	case 1:
		return WALK_HOLDS(op, r->s8, (int8_t)c);
	case 2:
		return WALK_HOLDS(op, r->u16, (uint16_t)c);
	case 3:
		return WALK_HOLDS(op, r->s16, (int16_t)c);
	case 4:
		return WALK_HOLDS(op, r->u32, (uint32_t)c);
	case 5:
		return WALK_HOLDS(op, r->s32, (int32_t)c);
	case 6:
		return WALK_HOLDS(op, r->u64, (uint64_t)c);
	case 7:
		return WALK_HOLDS(op, r->s64, c);
	case 8:
		return WALK_HOLDS(op, r->pid, (int32_t)c);
	default:
		return WALK_HOLDS(op, r->type, (uint16_t)c);
	}
}

static inline bool walk_number(struct walk *w)
{
	uint32_t field = walk_pick(w, WALK_NUMBERS), op = walk_pick(w, 7);
	int64_t c = walk_constant(w, walk_numbers[field].size < 0);

	buf_puts(&w->text, walk_numbers[field].name);
	walk_blank(w);
	buf_puts(&w->text, walk_orders[op]);
	walk_blank(w);
	switch (c < 0 ? 0 : walk_pick(w, 3)) {
	case 1:
		buf_printf(&w->text, "0x%llx", (unsigned long long)c);
		break;
	case 2:
		buf_printf(&w->text, "0%llo", (unsigned long long)c);
		break;
	default:
		buf_printf(&w->text, "%lld", (long long)c);
	}
	return walk_holds_number(w->record, field, op, c);
}

static inline int64_t walk_wide(const struct walk_record *r, uint32_t field)
{
	switch (field) {
	case 0:
		return r->u8;
	case 1:
		return r->s8;
	case 2:
		return r->u16;
	case 3:
		return r->s16;
	case 4:
		return r->u32;
	case 5:
		return r->s32;
	case 6:
		return (int64_t)r->u64;
	case 7:
		return r->s64;
	case 8:
		return r->pid;
	default:
		return r->type;
	}
}

/* The unsigned 64 bits of u64 turn the other side into such, as in C. */
static inline bool walk_fields(struct walk *w)
{
	/* The common ones, which are the last two, are compared with values alone. */
	uint32_t a = walk_pick(w, WALK_NUMBERS - 2), b = walk_pick(w, WALK_NUMBERS), op = walk_pick(w, 7);
	int64_t x = walk_wide(w->record, a), y = walk_wide(w->record, b);

	buf_printf(&w->text, "%s %s %s", walk_numbers[a].name, walk_orders[op], walk_numbers[b].name);
	return a == 6 || b == 6 ? WALK_HOLDS(op, (uint64_t)x, (uint64_t)y) : WALK_HOLDS(op, x, y);
}

static inline bool walk_real(struct walk *w)
{
	uint32_t op = walk_pick(w, 6);
	int tenths = (int)walk_pick(w, 60) - 30;
	double c, d = w->record->d;
	char digits[16];

	snprintf(digits, sizeof(digits), "%s%d.%d", tenths < 0 ? "-" : "", abs(tenths) / 10, abs(tenths) % 10);
	c = strtod(digits, NULL);
	buf_printf(&w->text, "d %s %s", walk_orders[op], digits);
	switch (op) {
	case 0:
		return d == c;
	case 1:
		return d != c;
	case 2:
		return d < c;
	case 3:
		return d <= c;
	case 4:
		return d > c;
	default:
		return d >= c;
	}
}

/* ---- Texts ---- */

static const char *const walk_texts[] = { "name", "text", "rel", "COMM" };

static inline size_t walk_text_of(const struct walk_record *r, uint32_t field, char out[17])
{
	const char *from = field == 0 ? r->name : field == 1 ? r->texts : field == 2 ? r->texts + 16 : WALK_COMM;
	size_t len = strnlen(from, field == 0 ? 8 : 16);

	memcpy(out, from, len);
	out[len] = '\0';
	return len;
}

/* Star by star, with all that it could stand for. */
static inline bool walk_glob(const char *pattern, const char *text)
{
	bool hit = false;

	if (!*pattern)
		return !*text;
	if (*pattern == '*')
		return walk_glob(pattern + 1, text) || (*text && walk_glob(pattern, text + 1));
	if (!*text)
		return false;
	if (*pattern == '?')
		return walk_glob(pattern + 1, text + 1);
	if (*pattern != '[')
		return *pattern == *text && walk_glob(pattern + 1, text + 1);
	/* Only [ab] and [a-b] are made here. */
	if (pattern[2] == '-') {
		hit = pattern[1] <= *text && *text <= pattern[3];
		return hit && walk_glob(pattern + 5, text + 1);
	}
	hit = pattern[1] == *text || pattern[2] == *text;
	return hit && walk_glob(pattern + 4, text + 1);
}

static inline bool walk_text(struct walk *w)
{
	static const char *const letters[] = { "a", "b", "ab", "", "c", "1" };
	static const char *const wild[] = { "*", "?", "[ab]", "[a-b]", "*", "a", "b", "" };
	uint32_t field = walk_pick(w, 4), op = walk_pick(w, 3), n = walk_pick(w, 6);
	char pattern[64] = "", text[17];
	const char *glob = pattern;
	bool is_not, truth;

	if (op == 2 && !walk_pick(w, 6))
		strcat(pattern, "!");
	for (uint32_t i = 0; i < n; i++)
		strcat(pattern, op == 2 && walk_pick(w, 2) ? wild[walk_pick(w, 8)] : letters[walk_pick(w, 6)]);
	walk_text_of(w->record, field, text);
	buf_printf(&w->text, "%s %s \"%s\"", walk_texts[field], op == 0 ? "==" : op == 1 ? "!=" : "~", pattern);
	if (op < 2)
		return !strcmp(text, pattern) == (op == 0);
	is_not = pattern[0] == '!';
	glob += is_not;
	/* What begins with a digit is no pattern to the kernel. */
	truth = glob[0] == '1' ? !strcmp(text, glob) : walk_glob(glob, text);
	return truth != is_not;
}

static inline bool walk_two_texts(struct walk *w)
{
	uint32_t a = walk_pick(w, 4), b = walk_pick(w, 4), op = walk_pick(w, 2);
	char x[17], y[17];

	walk_text_of(w->record, a, x);
	walk_text_of(w->record, b, y);
	buf_printf(&w->text, "%s %s %s", walk_texts[a], op ? "!=" : "==", walk_texts[b]);
	return !strcmp(x, y) == !op;
}

/* ---- CPUs ---- */

static inline bool walk_cpu(struct walk *w)
{
	static const char *const names[] = { "CPU", "cpu", "common_cpu" };
	uint32_t op = walk_pick(w, 6), c = walk_pick(w, 6);

	buf_printf(&w->text, "%s %s %u", names[walk_pick(w, 3)], walk_orders[op], c);
	return WALK_HOLDS(op, WALK_CPU, (int)c);
}

static inline bool walk_cpus(struct walk *w)
{
	uint32_t first = walk_pick(w, 6), last = first + walk_pick(w, 4), extra = walk_pick(w, 9), op = walk_pick(w, 3);
	bool of_u8 = walk_pick(w, 2), in, same;
	uint32_t cpu = of_u8 ? w->record->u8 : WALK_CPU;

	buf_printf(&w->text, "%s %s CPUS{%u-%u,%u}", of_u8 ? "u8" : "CPU", op == 0 ? "==" : op == 1 ? "!=" : "&", first, last,
		   extra);
	in = (cpu >= first && cpu <= last) || cpu == extra;
	/* The only one in the set. */
	same = in && first == last && extra == first;
	return op == 0 ? same : op == 1 ? !same : in;
}

/* ---- Joints ---- */

static inline bool walk_either(struct walk *w, int depth);

static inline bool walk_pred(struct walk *w)
{
	switch (walk_pick(w, 10)) {
	case 0:
		return walk_fields(w);
	case 1:
		return walk_real(w);
	case 2:
	case 3:
		return walk_text(w);
	case 4:
		return walk_two_texts(w);
	case 5:
		return walk_cpu(w);
	case 6:
		return walk_cpus(w);
	default:
		return walk_number(w);
	}
}

static inline bool walk_one(struct walk *w, int depth)
{
	bool truth;

	if (depth < WALK_DEPTH && w->text.len < WALK_TEXT) {
		switch (walk_pick(w, 8)) {
		case 0:
			buf_putc(&w->text, '!');
			walk_blank(w);
			return !walk_one(w, depth + 1);
		case 1:
		case 2:
			buf_putc(&w->text, '(');
			walk_blank(w);
			truth = walk_either(w, depth + 1);
			walk_blank(w);
			buf_putc(&w->text, ')');
			return truth;
		}
	}
	return walk_pred(w);
}

static inline bool walk_both(struct walk *w, int depth)
{
	bool truth = walk_one(w, depth);

	while (w->text.len < WALK_TEXT && walk_pick(w, 3) == 1) {
		bool next;

		buf_puts(&w->text, " && ");
		next = walk_one(w, depth);
		truth = truth && next;
	}
	return truth;
}

static inline bool walk_either(struct walk *w, int depth)
{
	bool truth = walk_both(w, depth);

	while (w->text.len < WALK_TEXT && walk_pick(w, 3) == 1) {
		bool next;

		buf_puts(&w->text, walk_pick(w, 2) ? "||" : " || ");
		next = walk_both(w, depth);
		truth = truth || next;
	}
	return truth;
}

/* ---- Comparing ---- */

static inline void walk_fill(struct walk *w, struct walk_record *r)
{
	static const char letters[] = { 'a', 'b', 'c', '1', '\0' };
	char *const texts[] = { r->name, r->texts, r->texts + 16 };

	memset(r, 0, sizeof(*r));
	r->type = 301;
	r->pid = 77;
	r->u8 = (uint8_t)walk_pick(w, 256);
	r->s8 = (int8_t)walk_pick(w, 256);
	r->u16 = (uint16_t)walk_constant(w, false);
	r->s16 = (int16_t)walk_constant(w, true);
	r->u32 = (uint32_t)walk_constant(w, true);
	r->s32 = (int32_t)walk_constant(w, true);
	r->u64 = (uint64_t)walk_constant(w, true);
	r->s64 = walk_constant(w, true);
	r->d = ((int)walk_pick(w, 60) - 30) / 10.0;
	for (int i = 0; i < 3; i++)
		for (uint32_t k = 0, n = walk_pick(w, i ? 16 : 9); k < n && (i || k < 8); k++)
			texts[i][k] = letters[walk_pick(w, 5)];
	r->text = 64 | 16 << 16;
	r->rel = 16 | 16 << 16;
}

static inline struct decode_format *walk_parse(void)
{
	struct decode_format *format = NULL;
	struct err err = ERR_INIT;

	if (decode_format_parse("sys", walk_format, strlen(walk_format), NULL, &format, &err))
		abort();
	return format;
}

/* What the compiled filter says: 0, 1, or -1 when it is refused, which `error` tells about. */
static inline int walk_run(const struct decode_format *format, const char *text, size_t len, const struct walk_record *r,
			   struct spec_error *error)
{
	const struct spec_world world = { .function = NULL };
	struct program_field fields[PROGRAM_FIELDS_MAX];
	struct program_input in = { .rec = r, .len = sizeof(*r), .cpu = WALK_CPU, .fields = fields, .comm = WALK_COMM };
	const char *body = strchr(walk_format, '\t');
	struct buf out = BUF_INIT;
	int says = -1;

	if (!spec_filter_compile(&world, format, text, len, &out, error)) {
		if (!program_verify(out.data, out.len) ||
		    program_link(out.data, out.len, body, strlen(body), fields) < 0)
			abort();
		says = program_test(out.data, out.len, &in);
	}
	buf_fini(&out);
	return says;
}

/* One filter and record out of the choices; false and words on stdout when the two do not agree. */
static inline bool walk_compare(const struct decode_format *format, const uint8_t *choices, size_t n)
{
	struct spec_error error = SPEC_ERROR_INIT;
	struct walk w = { .choices = choices, .n = n, .text = BUF_INIT };
	struct walk_record record;
	bool expected, agrees = true;
	int says;

	walk_fill(&w, &record);
	w.record = &record;
	expected = walk_either(&w, 0);
	if (!buf_failed(&w.text)) {
		says = walk_run(format, w.text.data, w.text.len, &record, &error);
		agrees = says == expected;
		if (!agrees)
			printf("%s\nsays %d, not %d: %s\n", w.text.data, says, expected, error.text);
	}
	buf_fini(&w.text);
	spec_error_fini(&error);
	return agrees;
}

#endif
