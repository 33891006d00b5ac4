/*
 * program/run: tests, and with value.c programs at work; see program.h and code.h. In traced programs and in readers of files, any
 * thread or signal handler: no memory but a little stack, no errno, no calls but the input's own.
 *
 * Nothing read from the program is believed: numbers of instructions are below what `size` has room for, operands lie before
 * their users, jumps go forward, texts end within the program. That bounds every walk, with CODE_DEPTH_MAX and
 * CODE_STEPS_MAX for values that are shared. What is then wrong is 0, no text, or false. `size` is the caller's, and true.
 */
#include <string.h>

#include "base/glob.h"
#include "program/run.h"

/* What is peeked at for one comparison. */
#define PEEK_MAX 512u

static inline bool holds(uint8_t word, bool less, bool greater)
{
	return word >> (1 + greater - less) & 1;
}

static inline bool compare_numbers(uint8_t word, uint64_t a, uint64_t b, bool is_unsigned)
{
	if (word & CODE_AND)
		return a & b;
	/* Moving the sign bit turns the order of signed numbers into that of unsigned ones. */
	if (!is_unsigned) {
		a ^= 1ull << 63;
		b ^= 1ull << 63;
	}
	return holds(word, a < b, a > b);
}

static bool compare(struct run *run, uint32_t i, const struct code *c)
{
	uint64_t a = run_whole(run, i, CODE_GET(c->a)), b = run_whole(run, i, CODE_GET(c->b));

	return !run->missing &&
	       compare_numbers(CODE_GET(c->word), a, b, CODE_GET(c->flags) & CODE_UNSIGNED || run->is_unsigned);
}

static bool real_compare(struct run *run, uint32_t i, const struct code *c)
{
	double a = run_real(run, i, CODE_GET(c->a)), b = run_real(run, i, CODE_GET(c->b));

	if (run->missing)
		return false;
	/* What is not a number differs from all, and nothing else can be said of it. */
	if (a != a || b != b)
		return CODE_GET(c->word) == CODE_NE;
	return holds(CODE_GET(c->word), a < b, a > b);
}

static __attribute__((noinline)) bool text_compare(struct run *run, uint32_t i, const struct code *c)
{
	char scratch[2][PEEK_MAX / 2];
	struct program_text a = run_text(run, i, CODE_GET(c->a), scratch[0], sizeof(scratch[0]));
	struct program_text b = run_text(run, i, CODE_GET(c->b), scratch[1], sizeof(scratch[1]));
	bool same;

	/* A reader of files takes what is not there for nothing. */
	if ((!a.at || !b.at) && !run->for_files)
		return false;
	same = a.len == b.len && (!a.len || !memcmp(a.at, b.at, a.len));
	return same == (CODE_GET(c->word) == CODE_EQ);
}

/* Bounded by both lengths' product. */
static bool contains(const char *at, uint32_t len, const char *what, uint32_t what_len)
{
	for (uint32_t i = 0; i + what_len <= len; i++)
		if (!memcmp(at + i, what, what_len))
			return true;
	return false;
}

static bool match_text(uint8_t how, struct program_text a, const char *pattern, uint32_t len)
{
	switch (how) {
	case PROGRAM_FULL:
		return a.len == len && !memcmp(a.at, pattern, len);
	case PROGRAM_FRONT:
		return a.len >= len && !memcmp(a.at, pattern, len);
	case PROGRAM_END:
		return a.len >= len && !memcmp(a.at + a.len - len, pattern, len);
	case PROGRAM_MIDDLE:
		return contains(a.at, a.len, pattern, len);
	default:
		return glob_match_within(pattern, len, a.at, a.len);
	}
}

static __attribute__((noinline)) bool glob(struct run *run, uint32_t i, const struct code *c)
{
	char scratch[PEEK_MAX];
	struct program_text a = run_text(run, i, CODE_GET(c->a), scratch, sizeof(scratch));
	uint32_t len = CODE_GET(c->len);
	const char *pattern = run_literal(run, CODE_GET(c->num), len);

	return a.at && pattern && match_text(CODE_GET(c->by), a, pattern, len) == !(CODE_GET(c->flags) & CODE_NOT);
}

static bool match_pattern(struct run *run, uint32_t i, const struct code *c)
{
	const struct program_names *names = run->in->names;
	char scratch[RUN_HEX_MAX];
	struct program_text a = run_text(run, i, CODE_GET(c->a), scratch, sizeof(scratch));

	return names && names->match &&
	       names->match(names->arg, (uint32_t)CODE_GET(c->num), a.at, a.len) == !(CODE_GET(c->flags) & CODE_NOT);
}

/* Whether any bit of a mask is in a set, and whether both have just the same. */
struct overlap {
	bool any, same;
};

static struct overlap overlap(const uint8_t *mask, uint32_t len, const char *set, uint32_t set_len)
{
	struct overlap o = { false, true };
	uint32_t longer = len > set_len ? len : set_len;

	for (uint32_t i = 0; i < longer; i++) {
		uint8_t a = i < len ? mask[i] : 0, b = i < set_len ? (uint8_t)set[i] : 0;

		o.any |= (a & b) != 0;
		o.same &= a == b;
	}
	return o;
}

/* Sets are words of this machine, as masks are; those of another byte order are not compared. A number is one CPU. */
static bool cpus(struct run *run, uint32_t i, const struct code *c)
{
	uint32_t set_len = CODE_GET(c->len) * 8u, operand = CODE_GET(c->a), n;
	const char *set = run_literal(run, CODE_GET(c->num), set_len);
	struct program_text mask = run_text(run, i, operand, NULL, 0);
	uint8_t one[128] = { 0 };
	struct overlap o;
	uint64_t cpu;

	if (!set || (mask.at && run->in->swap))
		return false;
	if (!mask.at) {
		cpu = run_whole(run, i, operand);
		if (run->missing)
			return false;
		n = cpu < sizeof(one) * 8 ? (uint32_t)cpu : 0;
		one[n / 8] = cpu < sizeof(one) * 8 ? (uint8_t)(1u << n % 8) : 0;
		mask = (struct program_text){ (const char *)one, sizeof(one) };
	}
	o = overlap((const uint8_t *)mask.at, mask.len, set, set_len);
	switch (CODE_GET(c->word)) {
	case CODE_AND:
		return o.any;
	case CODE_NE:
		return !o.same;
	default:
		return o.same;
	}
}

static bool in_range(struct run *run, uint32_t i, const struct code *c)
{
	uint64_t a = run_whole(run, i, CODE_GET(c->a));
	bool is_in = a >= CODE_GET(c->num) && a < CODE_GET(c->more);

	return !run->missing && is_in == !(CODE_GET(c->flags) & CODE_NOT);
}

static __attribute__((noinline)) bool test_slow(const void *program, size_t size, const struct program_input *in, uint32_t i)
{
	const struct code *c = code_at(program) + i;
	struct run run;
	double value;

	run_open(&run, program, size, in);
	switch (CODE_GET(c->op)) {
	case CODE_COMPARE:
		return compare(&run, i, c);
	case CODE_REAL_COMPARE:
		return real_compare(&run, i, c);
	case CODE_TEXT_COMPARE:
		return text_compare(&run, i, c);
	case CODE_GLOB:
		return glob(&run, i, c);
	case CODE_PATTERN:
		return match_pattern(&run, i, c);
	case CODE_CPUS:
		return cpus(&run, i, c);
	case CODE_TEST_RANGE:
		return in_range(&run, i, c);
	case CODE_NONZERO:
		return run_whole(&run, i, CODE_GET(c->a)) && !run.missing;
	case CODE_REAL_NONZERO:
		value = run_real(&run, i, CODE_GET(c->a));
		return value != 0 && !run.missing;
	default:
		return false;
	}
}

/*
 * A field and a constant as the field's type has both, at the upper end of 64 bits, so that what it cannot hold is gone.
 * False: no number, or the record has no room for it.
 */
static inline __attribute__((always_inline)) bool load_both(const struct program_field *f, uint8_t shape,
							    const struct program_input *in, bool swap, uint64_t *a, uint64_t *b)
{
	uint32_t offset = f->offset, size = shape >> 1;
	const uint8_t *at = (const uint8_t *)in->rec + offset;

	if (offset + size > in->len)
		return false;
	if (size == 4) {
		*a = load_bytes(at, 4, swap) << 32;
		*b <<= 32;
		return true;
	}
	if (size == 8) {
		*a = load_bytes(at, 8, swap);
		return true;
	}
	if (!size)
		return false;
	*a = load_bytes(at, size, swap) << (64 - 8 * size);
	*b <<= 64 - 8 * size;
	return true;
}

static inline __attribute__((always_inline)) bool compare_typed(uint8_t word, uint64_t a, uint64_t b, uint8_t shape)
{
	/* The lowest bit of a shape says that there is a sign. */
	uint64_t sign = (uint64_t)shape << 63;

	if (word == CODE_EQ)
		return a == b;
	if (word & CODE_AND)
		return a & b;
	return holds(word, (a ^ sign) < (b ^ sign), (a ^ sign) > (b ^ sign));
}

/* Field against constant, in the field's type. */
static bool test_field(const struct code *c, const struct program_input *in)
{
	const struct program_field *f = &in->fields[CODE_GET(c->field) % PROGRAM_FIELDS_MAX];
	uint64_t a, b = CODE_GET(c->num);

	return load_both(f, f->shape, in, in->swap, &a, &b) && compare_typed(CODE_GET(c->word), a, b, f->shape);
}

/* Field against constant in 64 bits. */
static bool test_wide(const void *program, const struct code *c, const struct program_input *in)
{
	const struct program_field *f = &in->fields[CODE_GET(c->field) % PROGRAM_FIELDS_MAX];
	const struct code_head *head = program;
	bool is_unsigned = CODE_GET(c->flags) & CODE_UNSIGNED || f->shape == 8 << 1;
	uint64_t a = 0;

	if (!f->shape)
		return false;
	/* A reader of files takes what the record has no room for as 0. */
	if (!load_number(f, in, &a) && !(CODE_GET(head->flags) & CODE_FOR_FILES))
		return false;
	return compare_numbers(CODE_GET(c->word), a, CODE_GET(c->num), is_unsigned);
}

/* The rest of a text whose first eight bytes are right. */
static __attribute__((noinline)) bool same_rest(const void *program, size_t size, const struct code *c,
						struct program_text text, uint32_t len)
{
	uint64_t at = CODE_GET(c->num);

	if (at > size || len > size - at || len > text.len)
		return false;
	return !memcmp(text.at, (const char *)program + at, len) && (len == text.len || !text.at[len]);
}

/* The record has no room for the text: a reader of files takes it for an empty one. */
static __attribute__((noinline)) bool test_no_text(const void *program, const struct code *c)
{
	const struct code_head *head = program;

	return CODE_GET(head->flags) & CODE_FOR_FILES && !CODE_GET(c->len) == !(CODE_GET(c->flags) & CODE_NOT);
}

/* Whether the field's text is the literal. Most are told by their first eight bytes, the NUL behind shorter ones included. */
static inline __attribute__((always_inline)) bool test_text(const void *program, size_t size, const struct code *c,
							     const struct program_input *in)
{
	const struct program_field *f = &in->fields[CODE_GET(c->field) % PROGRAM_FIELDS_MAX];
	uint32_t len = CODE_GET(c->len);
	bool is_not = CODE_GET(c->flags) & CODE_NOT;
	struct program_text text;
	uint64_t first, mask;

	if (__builtin_expect(f->class != PROGRAM_TEXT, 0))
		return false;
	text = load_text(f, in);
	if (__builtin_expect(!text.at, 0))
		return test_no_text(program, c);
	if (__builtin_expect(text.len < 8, 0))
		return same_rest(program, size, c, text, len) != is_not;
	memcpy(&first, text.at, 8);
	mask = len < 7 ? LOAD_FIRST(len + 1) : UINT64_MAX;
	if ((first ^ CODE_GET(c->more)) & mask)
		return is_not;
	return (len < 8 || same_rest(program, size, c, text, len)) != is_not;
}

/* The task's name ends with a NUL: comparing ends there, too. */
static bool test_comm(const void *program, size_t size, const struct code *c, const struct program_input *in)
{
	struct program_text name = in->comm ? (struct program_text){ in->comm, 0 } : run_comm(in);
	uint64_t at = CODE_GET(c->num);
	uint32_t len = CODE_GET(c->len), i = 0;
	const char *literal;

	if (!name.at || at > size || len > size - at)
		return false;
	literal = (const char *)program + at;
	while (i < len && name.at[i] && name.at[i] == literal[i])
		i++;
	return (i == len && !name.at[i]) == !(CODE_GET(c->flags) & CODE_NOT);
}

/* From test `at` on. */
static __attribute__((noinline)) bool go_on(const void *program, size_t size, const struct program_input *in, uint32_t at)
{
	while (run_is_code(at, size)) {
		const struct code *c = code_at(program) + at;
		uint8_t op = CODE_GET(c->op);
		uint32_t next;
		bool ok;

		if (op == CODE_TEST_FIELD)
			ok = test_field(c, in);
		else if (op == CODE_TEST_WIDE)
			ok = test_wide(program, c, in);
		else if (op == CODE_TEST_TEXT)
			ok = test_text(program, size, c, in);
		else if (op == CODE_TEST_COMM)
			ok = test_comm(program, size, c, in);
		else if (op == CODE_TEST_CPU)
			ok = compare_numbers(CODE_GET(c->word), (uint64_t)(int64_t)in->cpu, CODE_GET(c->num),
					     CODE_GET(c->flags) & CODE_UNSIGNED);
		else
			ok = test_slow(program, size, in, at);
		next = CODE_GET(c->go[ok]);
		if (next <= at)
			return false;
		at = next;
	}
	return at == CODE_PASS;
}

/* Behind a first test, which holds or does not. A jump that leads back to it is harmless: from there all go forward. */
static inline bool settle(const void *program, size_t size, const struct program_input *in, const struct code *c, bool ok)
{
	uint32_t next = CODE_GET(c->go[ok]);

	if (next >= CODE_FAIL)
		return next == CODE_PASS;
	return go_on(program, size, in, next);
}

static __attribute__((noinline)) bool begin(const void *program, size_t size, const struct program_input *in)
{
	const struct code_head *head = program;

	return go_on(program, size, in, CODE_GET(head->start));
}

static __attribute__((noinline)) bool begin_text(const void *program, size_t size, const struct program_input *in,
						 const struct code *c)
{
	return settle(program, size, in, c, test_text(program, size, c, in));
}

/* Most filters are told by their first test: that one needs few registers, and all calls are last ones. */
bool program_test(const void *program, size_t size, const struct program_input *in)
{
	const struct code_head *head = program;
	uint32_t at = CODE_GET(head->start);
	const struct code *c = code_at(program) + at;
	const struct program_field *f;
	uint64_t a, b;
	uint8_t op, shape;

	if (!run_is_code(at, size))
		return at == CODE_PASS;
	op = CODE_GET(c->op);
	if (op == CODE_TEST_FIELD && !in->swap) {
		f = &in->fields[CODE_GET(c->field) % PROGRAM_FIELDS_MAX];
		shape = f->shape;
		b = CODE_GET(c->num);
		if (!load_both(f, shape, in, false, &a, &b))
			return begin(program, size, in);
		return settle(program, size, in, c, compare_typed(CODE_GET(c->word), a, b, shape));
	}
	if (op == CODE_TEST_TEXT)
		return begin_text(program, size, in, c);
	return begin(program, size, in);
}
