/*
 * program/build: puts programs together; see program.h and code.h. The tool's: traced programs do not have it. One thread
 * a builder.
 *
 * Values are appended as they come: their numbers are those of the instructions. The same constant or field is there once,
 * if it was named not long ago. Truths are kept as a tree until the end (layout.c).
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "program/build.h"

#define TWO(a, b) ((a) << 8 | (b))
/* How far back the same value is looked for. */
#define LOOK_BACK 64u
#define TRUTHS_MAX 16384u

struct program_build *program_build_new(void)
{
	struct program_build *build = calloc(1, sizeof(*build));

	if (!build)
		return NULL;
	build->root = PROGRAM_NOTHING;
	build->nvalues = 1;
	return build;
}

void program_build_free(struct program_build *build)
{
	if (!build)
		return;
	for (uint32_t i = 0; i < build->nfields; i++)
		free(build->fields[i].name);
	free(build->values);
	free(build->truths);
	free(build->order);
	buf_fini(&build->texts);
	free(build);
}

void program_build_for_files(struct program_build *build)
{
	if (build)
		build->for_files = true;
}

static uint32_t fail(struct program_build *build, int error)
{
	if (build && !build->error)
		build->error = error;
	return PROGRAM_NOTHING;
}

/* Room for one more of `size` bytes each. */
static bool grow(struct program_build *build, void **array, uint32_t nr, uint32_t *cap, uint32_t max, size_t size)
{
	uint32_t more = *cap ? *cap * 2 : 32;
	void *larger;

	if (nr < *cap)
		return true;
	if (nr >= max) {
		fail(build, -E2BIG);
		return false;
	}
	larger = realloc(*array, more * size);
	if (!larger) {
		fail(build, -ENOMEM);
		return false;
	}
	*array = larger;
	*cap = more;
	return true;
}

/* ---- Values ---- */

static bool is_value(const struct program_build *build, uint32_t i)
{
	return i && i < build->nvalues;
}

static uint32_t find_value(const struct program_build *build, const struct code *code)
{
	uint32_t from = build->nvalues > LOOK_BACK ? build->nvalues - LOOK_BACK : 1;

	for (uint32_t i = from; i < build->nvalues; i++)
		if (!memcmp(&build->values[i].code, code, sizeof(*code)))
			return i;
	return PROGRAM_NOTHING;
}

/* Works out depth and cost from the operands, which are checked here. */
static uint32_t add_value(struct program_build *build, struct code code, enum program_class class)
{
	uint32_t operands[2] = { code.a, code.b }, depth = 0, steps = 1, found;

	if (!build || build->error)
		return PROGRAM_NOTHING;
	for (int i = 0; i < code_operands(code.op); i++) {
		const struct value *operand = &build->values[operands[i]];

		depth = operand->code.depth + 1u > depth ? operand->code.depth + 1u : depth;
		steps += operand->steps;
	}
	if (depth >= (build->for_files ? CODE_FILE_DEPTH_MAX : CODE_DEPTH_MAX) || steps > build_max_steps(build))
		return fail(build, -E2BIG);
	code.depth = (uint8_t)depth;
	found = find_value(build, &code);
	if (found != PROGRAM_NOTHING && build->values[found].class == class)
		return found;
	if (!grow(build, (void **)&build->values, build->nvalues, &build->values_cap, CODE_MAX / 2, sizeof(struct value)))
		return PROGRAM_NOTHING;
	build->values[build->nvalues] = (struct value){ .code = code, .class = (uint8_t)class, .steps = steps };
	return build->nvalues++;
}

uint32_t program_build_num(struct program_build *build, uint64_t num)
{
	return add_value(build, (struct code){ .op = CODE_NUM, .num = num }, PROGRAM_INT);
}

uint32_t program_build_real(struct program_build *build, double num)
{
	uint64_t bits;

	memcpy(&bits, &num, sizeof(bits));
	return add_value(build, (struct code){ .op = CODE_REAL, .num = bits }, PROGRAM_REAL);
}

/* Where these bytes are among the texts, put there if need be. */
static uint64_t add_text(struct program_build *build, const char *text, size_t len)
{
	const char *found;
	uint64_t at;

	if (!build || build->error)
		return 0;
	if (len > UINT16_MAX) {
		fail(build, -E2BIG);
		return 0;
	}
	found = build->texts.len ? memmem(build->texts.data, build->texts.len, text, len) : NULL;
	at = found ? (uint64_t)(found - build->texts.data) : build->texts.len;
	if (!found)
		buf_add(&build->texts, text, len);
	if (buf_failed(&build->texts))
		fail(build, -ENOMEM);
	return at;
}

uint32_t program_build_literal(struct program_build *build, const char *text, size_t len)
{
	uint64_t at = add_text(build, text, len);

	return add_value(build, (struct code){ .op = CODE_TEXT, .num = at, .len = (uint16_t)len }, PROGRAM_TEXT);
}

uint32_t program_build_place(const struct program_build *build, const char *name)
{
	for (uint32_t i = 0; build && i < build->nfields; i++)
		if (!strcmp(build->fields[i].name, name))
			return i;
	return PROGRAM_NOTHING;
}

/* The same name may be asked for as another class: then one of them will not link. */
static uint32_t add_field(struct program_build *build, const char *name, enum program_class class)
{
	for (uint32_t i = 0; i < build->nfields; i++)
		if (!strcmp(build->fields[i].name, name) && build->fields[i].class == class)
			return i;
	if (build->nfields == PROGRAM_FIELDS_MAX)
		return fail(build, -E2BIG);
	build->fields[build->nfields].name = strdup(name);
	if (!build->fields[build->nfields].name)
		return fail(build, -ENOMEM);
	build->fields[build->nfields].class = (uint8_t)class;
	return build->nfields++;
}

uint32_t program_build_field(struct program_build *build, const char *name, enum program_class class)
{
	uint32_t field = build && !build->error ? add_field(build, name, class) : PROGRAM_NOTHING;

	if (field == PROGRAM_NOTHING)
		return PROGRAM_NOTHING;
	return add_value(build, (struct code){ .op = CODE_FIELD, .field = (uint8_t)field }, class);
}

uint32_t program_build_string(struct program_build *build, const char *name)
{
	uint32_t field = build && !build->error ? add_field(build, name, PROGRAM_EITHER) : PROGRAM_NOTHING;

	if (field == PROGRAM_NOTHING)
		return PROGRAM_NOTHING;
	return add_value(build, (struct code){ .op = CODE_FIELD, .field = (uint8_t)field }, PROGRAM_TEXT);
}

uint32_t program_build_moment(struct program_build *build, enum program_moment what)
{
	switch (what) {
	case PROGRAM_CPU:
		return add_value(build, (struct code){ .op = CODE_CPU }, PROGRAM_INT);
	case PROGRAM_TIME:
		return program_build_time(build, 1);
	case PROGRAM_COMM:
		return add_value(build, (struct code){ .op = CODE_COMM }, PROGRAM_TEXT);
	case PROGRAM_STACK:
		return add_value(build, (struct code){ .op = CODE_STACK }, PROGRAM_WORDS);
	default:
		return add_value(build, (struct code){ .op = CODE_PID }, PROGRAM_INT);
	}
}

uint32_t program_build_time(struct program_build *build, uint64_t unit)
{
	return add_value(build, (struct code){ .op = CODE_TIME, .num = unit }, PROGRAM_INT);
}

uint32_t program_build_var(struct program_build *build, uint32_t number, enum program_class class)
{
	return add_value(build, (struct code){ .op = CODE_VAR, .num = number, .by = (uint8_t)class }, class);
}

static bool is_real(const struct program_build *build, uint32_t i)
{
	return build->values[i].class == PROGRAM_REAL;
}

static bool is_text(const struct program_build *build, uint32_t i)
{
	return build->values[i].class != PROGRAM_REAL && build->values[i].class != PROGRAM_INT;
}

/* A value of one operand. */
static uint32_t add_made(struct program_build *build, struct code code, uint32_t a, enum program_class class)
{
	if (!build || build->error)
		return PROGRAM_NOTHING;
	if (!is_value(build, a))
		return fail(build, -EINVAL);
	code.a = (uint16_t)a;
	return add_value(build, code, class);
}

uint32_t program_build_math(struct program_build *build, uint16_t op, bool is_signed, uint32_t a, uint32_t b)
{
	struct code code = { .op = CODE_MATH, .flags = is_signed ? 0 : CODE_UNSIGNED, .word = (uint8_t)op };
	bool real;

	if (!build || build->error)
		return PROGRAM_NOTHING;
	if (!is_value(build, a) || !is_value(build, b))
		return fail(build, -EINVAL);
	code.a = (uint16_t)a;
	code.b = (uint16_t)b;
	real = is_real(build, a) || is_real(build, b);
	if (real)
		code.op = CODE_REAL_MATH;
	return add_value(build, code, real ? PROGRAM_REAL : PROGRAM_INT);
}

uint32_t program_build_neg(struct program_build *build, uint32_t a)
{
	if (build && !build->error && is_value(build, a) && is_real(build, a))
		return add_made(build, (struct code){ .op = CODE_REAL_NEG }, a, PROGRAM_REAL);
	return add_made(build, (struct code){ .op = CODE_NEG }, a, PROGRAM_INT);
}

uint32_t program_build_invert(struct program_build *build, uint32_t a)
{
	return add_made(build, (struct code){ .op = CODE_INVERT }, a, PROGRAM_INT);
}

uint32_t program_build_log2(struct program_build *build, uint32_t a)
{
	return add_made(build, (struct code){ .op = CODE_LOG2 }, a, PROGRAM_INT);
}

uint32_t program_build_bucket(struct program_build *build, uint32_t a, uint64_t num)
{
	return add_made(build, (struct code){ .op = CODE_BUCKET, .num = num }, a, PROGRAM_INT);
}

uint32_t program_build_peek(struct program_build *build, uint32_t a, int64_t offset, uint32_t size, bool is_signed)
{
	return add_made(build, (struct code){ .op = CODE_PEEK, .flags = is_signed ? 0 : CODE_UNSIGNED, .num = (uint64_t)offset,
					      .len = (uint16_t)size }, a, PROGRAM_INT);
}

uint32_t program_build_symbol(struct program_build *build, uint32_t a)
{
	return add_made(build, (struct code){ .op = CODE_SYMBOL }, a, PROGRAM_INT);
}

uint32_t program_build_peek_text(struct program_build *build, uint32_t a, int64_t offset)
{
	return add_made(build, (struct code){ .op = CODE_PEEK_TEXT, .num = (uint64_t)offset }, a, PROGRAM_TEXT);
}

uint32_t program_build_bits(struct program_build *build, uint32_t a, uint32_t shift, uint32_t width, bool is_signed)
{
	return add_made(build, (struct code){ .op = CODE_BITS, .flags = is_signed ? 0 : CODE_UNSIGNED, .by = (uint8_t)shift,
					      .len = (uint16_t)width }, a, PROGRAM_INT);
}

uint32_t program_build_name_of(struct program_build *build, uint32_t a, bool plain)
{
	return add_made(build, (struct code){ .op = CODE_NAME_OF, .flags = plain ? CODE_PLAIN : 0 }, a, PROGRAM_TEXT);
}

/* ---- Truths ---- */

static uint32_t add_truth(struct program_build *build, struct truth truth)
{
	if (!build || build->error)
		return PROGRAM_NOTHING;
	if (!grow(build, (void **)&build->truths, build->ntruths, &build->truths_cap, TRUTHS_MAX, sizeof(struct truth)))
		return PROGRAM_NOTHING;
	if (truth.kind == TRUTH_TEST)
		truth.entry = build->ntruths;
	build->truths[build->ntruths] = truth;
	return build->ntruths++;
}

/* With `a` for an operand, which tests that have none of their own have as well. */
static uint32_t add_test(struct program_build *build, struct code code, uint32_t a)
{
	if (!build || build->error)
		return PROGRAM_NOTHING;
	if (!is_value(build, a))
		return fail(build, -EINVAL);
	code.a = (uint16_t)a;
	return add_truth(build, (struct truth){ .kind = TRUTH_TEST, .code = code });
}

static uint8_t word_of(uint16_t op)
{
	switch (op) {
	case TWO('=', '='):
		return CODE_EQ;
	case TWO('!', '='):
		return CODE_NE;
	case TWO('<', '='):
		return CODE_LE;
	case TWO('>', '='):
		return CODE_GE;
	case '<':
		return CODE_LT;
	case '>':
		return CODE_GT;
	default:
		return CODE_AND;
	}
}

static uint8_t mirrored(uint8_t word)
{
	return (uint8_t)((word & (CODE_EQ | CODE_AND)) | (word & CODE_LT ? CODE_GT : 0) | (word & CODE_GT ? CODE_LT : 0));
}

static bool is_simple(const struct program_build *build, uint32_t i)
{
	return build->values[i].code.op == CODE_FIELD || build->values[i].code.op == CODE_CPU;
}

/* A field or the CPU against a constant in one step. */
static uint32_t compare_field(struct program_build *build, struct code code, bool wrap, uint32_t a, uint32_t b)
{
	code.op = build->values[a].code.op == CODE_CPU ? CODE_TEST_CPU : wrap ? CODE_TEST_FIELD : CODE_TEST_WIDE;
	code.field = build->values[a].code.field;
	code.num = build->values[b].code.num;
	code.b = 0;
	return add_test(build, code, a);
}

static uint32_t compare_text_field(struct program_build *build, struct code code, uint32_t a, uint32_t b)
{
	const struct code *literal = &build->values[b].code;
	const char *text = build->texts.data ? build->texts.data + literal->num : "";

	code.flags = code.word == CODE_EQ ? 0 : CODE_NOT;
	code.op = build->values[a].code.op == CODE_COMM ? CODE_TEST_COMM : CODE_TEST_TEXT;
	code.field = build->values[a].code.field;
	code.num = literal->num;
	code.len = literal->len;
	code.b = 0;
	memcpy(&code.more, text, code.len < 8 ? code.len : 8);
	return add_test(build, code, a);
}

static uint32_t compare_texts(struct program_build *build, struct code code, uint32_t a, uint32_t b)
{
	uint8_t op_a = build->values[a].code.op, op_b = build->values[b].code.op;

	if (code.word != CODE_EQ && code.word != CODE_NE)
		return fail(build, -EINVAL);
	if ((op_a == CODE_FIELD || op_a == CODE_COMM) && op_b == CODE_TEXT && build->values[a].class == PROGRAM_TEXT)
		return compare_text_field(build, code, a, b);
	if ((op_b == CODE_FIELD || op_b == CODE_COMM) && op_a == CODE_TEXT && build->values[b].class == PROGRAM_TEXT)
		return compare_text_field(build, code, b, a);
	code.op = CODE_TEXT_COMPARE;
	return add_test(build, code, a);
}

uint32_t program_build_compare(struct program_build *build, uint16_t op, unsigned int flags, uint32_t a, uint32_t b)
{
	struct code code = { .op = CODE_COMPARE, .word = word_of(op), .b = (uint16_t)b };

	if (!build || build->error)
		return PROGRAM_NOTHING;
	if (!is_value(build, a) || !is_value(build, b) || is_text(build, a) != is_text(build, b))
		return fail(build, -EINVAL);
	code.flags = flags & PROGRAM_UNSIGNED ? CODE_UNSIGNED : 0;
	if (is_text(build, a))
		return compare_texts(build, code, a, b);
	if (is_real(build, a) || is_real(build, b)) {
		code.op = CODE_REAL_COMPARE;
		return code.word == CODE_AND ? fail(build, -EINVAL) : add_test(build, code, a);
	}
	if (is_simple(build, a) && build->values[b].code.op == CODE_NUM)
		return compare_field(build, code, flags & PROGRAM_WRAP, a, b);
	if (is_simple(build, b) && build->values[a].code.op == CODE_NUM) {
		code.word = mirrored(code.word);
		return compare_field(build, code, flags & PROGRAM_WRAP, b, a);
	}
	return add_test(build, code, a);
}

uint32_t program_build_nonzero(struct program_build *build, uint32_t a)
{
	if (build && !build->error && is_value(build, a) && is_real(build, a))
		return add_test(build, (struct code){ .op = CODE_REAL_NONZERO }, a);
	return add_test(build, (struct code){ .op = CODE_NONZERO }, a);
}

uint32_t program_build_match(struct program_build *build, uint32_t a, enum program_match how, const char *pattern, size_t len)
{
	uint64_t at = add_text(build, pattern, len);

	return add_test(build, (struct code){ .op = CODE_GLOB, .num = at, .len = (uint16_t)len, .by = (uint8_t)how }, a);
}

uint32_t program_build_range(struct program_build *build, uint32_t a, uint64_t start, uint64_t end)
{
	return add_test(build, (struct code){ .op = CODE_TEST_RANGE, .num = start, .more = end }, a);
}

uint32_t program_build_cpus(struct program_build *build, uint16_t op, uint32_t a, const uint64_t *words, uint32_t nwords)
{
	uint64_t at = add_text(build, (const char *)words, nwords * sizeof(*words));

	return add_test(build, (struct code){ .op = CODE_CPUS, .word = word_of(op), .num = at, .len = (uint16_t)nwords }, a);
}

uint32_t program_build_pattern(struct program_build *build, uint32_t a, uint32_t number)
{
	return add_test(build, (struct code){ .op = CODE_PATTERN, .num = number }, a);
}

uint32_t program_build_known(struct program_build *build, bool truth)
{
	return add_truth(build, (struct truth){ .kind = TRUTH_KNOWN, .known = truth });
}

/* Whether both are truths; else that is the caller's mistake. */
static bool are_truths(struct program_build *build, uint32_t a, uint32_t b)
{
	if (!build || build->error)
		return false;
	if (a < build->ntruths && b < build->ntruths)
		return true;
	fail(build, -EINVAL);
	return false;
}

/* A truth that were part of two would have two places to go on at. */
static bool take(struct program_build *build, uint32_t truth)
{
	if (build->truths[truth].used)
		fail(build, -EINVAL);
	build->truths[truth].used = true;
	return !build->error;
}

uint32_t program_build_not(struct program_build *build, uint32_t truth)
{
	const struct truth *a;

	if (!are_truths(build, truth, truth))
		return PROGRAM_NOTHING;
	a = &build->truths[truth];
	if (a->kind == TRUTH_KNOWN)
		return program_build_known(build, !a->known);
	if (!take(build, truth))
		return PROGRAM_NOTHING;
	return add_truth(build, (struct truth){ .kind = TRUTH_NOT, .a = truth, .entry = a->entry });
}

uint32_t program_build_joint(struct program_build *build, bool either, uint32_t first, uint32_t second)
{
	const struct truth *a, *b;

	if (!are_truths(build, first, second))
		return PROGRAM_NOTHING;
	a = &build->truths[first];
	b = &build->truths[second];
	/* What is known settles it, or leaves it to the other side. */
	if (a->kind == TRUTH_KNOWN)
		return a->known == either ? first : second;
	if (b->kind == TRUTH_KNOWN)
		return b->known == either ? second : first;
	if (!take(build, first) || !take(build, second))
		return PROGRAM_NOTHING;
	return add_truth(build, (struct truth){ .kind = either ? TRUTH_OR : TRUTH_AND, .a = first, .b = second,
						.entry = a->entry });
}

void program_build_is(struct program_build *build, uint32_t truth)
{
	if (are_truths(build, truth, truth))
		build->root = truth;
}
