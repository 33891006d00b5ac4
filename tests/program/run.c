/*
 * Each operation of programs, built, verified, linked and run on a record.
 */
#include <errno.h>

#include "world.h"

static uint32_t peek(void *to, uint64_t address, uint32_t len, bool text)
{
	const char *from = (const char *)(uintptr_t)address;
	uint32_t n = len;

	if (address < 4096)
		return 0;
	if (text)
		n = (uint32_t)strnlen(from, len - 1) + 1;
	memcpy(to, from, n);
	return n;
}

/* Answers a truth that was built, and ends the builder. */
static bool ask(struct program_build *build, uint32_t truth)
{
	struct world_record record = world_record();
	struct world_program program;
	struct program_input in;
	bool ok;

	program_build_is(build, truth);
	world_finish(build, &program);
	CHECK(program.linked >= 0);
	in = world_input(&program, &record);
	in.peek = peek;
	ok = program_test(program.bytes.data, program.bytes.len, &in);
	buf_fini(&program.bytes);
	return ok;
}

static bool number(const char *field, uint16_t op, uint64_t num, unsigned int flags)
{
	struct program_build *b = program_build_new();
	uint32_t f = program_build_field(b, field, PROGRAM_INT);

	return ask(b, program_build_compare(b, op, flags, f, program_build_num(b, num)));
}

static void numbers(void)
{
	CHECK(number("common_pid", EQ, 1234, 0) && !number("common_pid", NE, 1234, 0));
	CHECK(number("small", '<', 0, 0) && number("small", EQ, (uint64_t)-5, 0));
	CHECK(!number("small", EQ, 251, 0) && number("small", EQ, 251, PROGRAM_WRAP));
	CHECK(number("byte", EQ, 200, 0) && number("byte", EQ, 456, PROGRAM_WRAP) && !number("byte", EQ, 456, 0));
	CHECK(number("half", GE, (uint64_t)-300, 0) && !number("half", '>', (uint64_t)-300, 0));
	CHECK(number("count", '>', 3999999999u, 0) && number("count", LE, 4000000000u, 0));
	CHECK(number("wide", '<', (uint64_t)-8, 0) && !number("wide", '<', 0, PROGRAM_UNSIGNED));
	CHECK(number("large", '>', 1, 0));
	CHECK(number("byte", '&', 8, 0) && !number("byte", '&', 7, 0));
}

static void mirrored(void)
{
	struct program_build *b = program_build_new();
	uint32_t five = program_build_num(b, 5), pid = program_build_field(b, "common_pid", PROGRAM_INT);

	CHECK(ask(b, program_build_compare(b, '<', 0, five, pid)));
}

static bool same_text(const char *field, const char *text, uint16_t op)
{
	struct program_build *b = program_build_new();
	uint32_t f = program_build_field(b, field, PROGRAM_TEXT);

	return ask(b, program_build_compare(b, op, 0, f, program_build_literal(b, text, strlen(text))));
}

static bool match(const char *field, enum program_match how, const char *pattern)
{
	struct program_build *b = program_build_new();
	uint32_t f = program_build_field(b, field, PROGRAM_TEXT);

	return ask(b, program_build_match(b, f, how, pattern, strlen(pattern)));
}

static void texts(void)
{
	CHECK(same_text("comm", "bash", EQ) && !same_text("comm", "bash", NE));
	CHECK(!same_text("comm", "bas", EQ) && !same_text("comm", "bashx", EQ) && !same_text("comm", "", EQ));
	CHECK(!same_text("comm", "bash is longer", EQ) && same_text("comm", "a name longer than it", NE));
	CHECK(same_text("path", "/etc/abc", EQ) && !same_text("path", "/etc/abd", EQ) && !same_text("path", "/etc/abcd", EQ));
	CHECK(same_text("path", "/etc/ab", NE));
	CHECK(same_text("near", "near", EQ) && same_text("near", "nea", NE) && same_text("near", "nearer", NE));
	CHECK(same_text("tiny", "abcd", EQ) && same_text("tiny", "abc", NE) && same_text("tiny", "abcde", NE));
	CHECK(match("path", PROGRAM_FRONT, "/etc") && !match("path", PROGRAM_FRONT, "etc"));
	CHECK(match("path", PROGRAM_END, "abc") && !match("path", PROGRAM_END, "ab"));
	CHECK(match("path", PROGRAM_MIDDLE, "c/a") && match("path", PROGRAM_MIDDLE, "/etc/abc"));
	CHECK(!match("path", PROGRAM_MIDDLE, "/etc/abcd") && match("path", PROGRAM_FULL, "/etc/abc"));
	CHECK(match("path", PROGRAM_GLOB, "/e?c/[a-c]*c") && !match("path", PROGRAM_GLOB, "/e?c/[!a-c]*c"));
}

/* Globs as the kernel has them. */
static bool globs(const char *pattern, const char *text)
{
	struct program_build *b = program_build_new();
	uint32_t literal = program_build_literal(b, text, strlen(text));

	return ask(b, program_build_match(b, literal, PROGRAM_GLOB, pattern, strlen(pattern)));
}

static void patterns(void)
{
	CHECK(globs("a*b*c", "aXbXbc") && !globs("a*b*c", "aXbXbcd") && globs("*", "") && globs("**a", "a"));
	CHECK(globs("[!a]x", "bx") && !globs("[!a]x", "ax") && globs("[^a]", "^") && globs("[]a]", "]") && globs("[a-]", "-"));
	CHECK(globs("[a", "[a") && !globs("[a", "a") && globs("\\*x", "*x") && !globs("\\*x", "yx") && globs("a\\", "a\\"));
	CHECK(globs("[\x80-\xff]", "\xe4") && !globs("[\x80-\xff]", "a") && !globs("?", "") && !globs("?", "ab"));
	CHECK(!globs("*a*a*a*a*a*a*a*a*a*b", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"));
}

static void moments(void)
{
	struct program_build *b = program_build_new();
	uint32_t t;

	t = program_build_compare(b, EQ, 0, program_build_moment(b, PROGRAM_CPU), program_build_num(b, 3));
	t = program_build_joint(b, false, t, program_build_compare(b, EQ, 0, program_build_moment(b, PROGRAM_TIME),
								   program_build_num(b, 5000000007ull)));
	t = program_build_joint(b, false, t, program_build_compare(b, EQ, 0, program_build_time(b, 1000000000),
								   program_build_num(b, 5)));
	t = program_build_joint(b, false, t, program_build_compare(b, EQ, 0, program_build_moment(b, PROGRAM_PID),
								   program_build_field(b, "common_pid", PROGRAM_INT)));
	t = program_build_joint(b, false, t, program_build_compare(b, EQ, 0, program_build_moment(b, PROGRAM_COMM),
								   program_build_literal(b, "current", 7)));
	CHECK(ask(b, t));
}

static void reals(void)
{
	struct program_build *b = program_build_new();
	uint32_t ratio = program_build_field(b, "ratio", PROGRAM_REAL), part = program_build_field(b, "part", PROGRAM_REAL);
	uint32_t t;

	t = program_build_compare(b, EQ, 0, ratio, program_build_real(b, 2.5));
	t = program_build_joint(b, false, t, program_build_compare(b, '<', 0, part, program_build_num(b, 0)));
	t = program_build_joint(b, false, t, program_build_compare(b, EQ, 0, program_build_math(b, '+', true, ratio, part),
								   program_build_num(b, 2)));
	t = program_build_joint(b, false, t, program_build_compare(b, '>', 0, program_build_neg(b, part), part));
	t = program_build_joint(b, false, t, program_build_nonzero(b, part));
	CHECK(ask(b, t));
	b = program_build_new();
	ratio = program_build_field(b, "ratio", PROGRAM_REAL);
	CHECK(!ask(b, program_build_compare(b, '>', 0, ratio, program_build_field(b, "count", PROGRAM_INT))));
}

static bool cpus(const char *field, enum program_class class, uint16_t op, uint64_t set)
{
	struct program_build *b = program_build_new();
	uint32_t f = field ? program_build_field(b, field, class) : program_build_moment(b, PROGRAM_CPU);
	uint64_t words[2] = { set, 0 };

	return ask(b, program_build_cpus(b, op, f, words, 2));
}

static void masks(void)
{
	CHECK(cpus("mask", PROGRAM_MASK, EQ, 1 << 2 | 1 << 5) && !cpus("mask", PROGRAM_MASK, EQ, 1 << 2));
	CHECK(cpus("mask", PROGRAM_MASK, NE, 1 << 2) && cpus("mask", PROGRAM_MASK, '&', 1 << 5 | 1 << 6));
	CHECK(!cpus("mask", PROGRAM_MASK, '&', 1 << 6));
	CHECK(cpus(NULL, 0, EQ, 1 << 3) && !cpus(NULL, 0, EQ, 3 << 3) && cpus(NULL, 0, '&', 3 << 3));
	CHECK(!cpus("small", PROGRAM_INT, '&', UINT64_MAX) && cpus("small", PROGRAM_INT, NE, UINT64_MAX));
}

/* Every way of joining, with tests that are known when it is built and such that are not. */
static void joints(void)
{
	for (unsigned int i = 0; i < 256; i++) {
		struct program_build *b = program_build_new();
		uint32_t pid = program_build_field(b, "common_pid", PROGRAM_INT), t[3];
		bool truth[3], expected;

		for (int k = 0; k < 3; k++) {
			truth[k] = i >> k & 1;
			t[k] = i >> (3 + k) & 1 && k != 1 ? program_build_known(b, truth[k])
				: program_build_compare(b, EQ, 0, pid, program_build_num(b, truth[k] ? 1234 : 1));
		}
		t[0] = program_build_joint(b, i & 64, t[0], t[1]);
		expected = i & 64 ? truth[0] || truth[1] : truth[0] && truth[1];
		if (i & 128) {
			t[0] = program_build_not(b, t[0]);
			expected = !expected;
		}
		expected = i & 32 ? expected || truth[2] : expected && truth[2];
		CHECK(ask(b, program_build_joint(b, i & 32, t[0], t[2])) == expected);
	}
}

/* A value's root. */
static uint64_t value_of(struct program_build *b, uint32_t root, bool *had)
{
	struct world_record record = world_record();
	const uint64_t vars[2] = { 40, 50 };
	struct world_program program;
	struct program_input in;
	uint64_t value, again;

	world_finish(b, &program);
	in = world_input(&program, &record);
	in.vars = vars;
	in.nvars = 2;
	in.peek = peek;
	*had = program_fetch(program.bytes.data, program.bytes.len, root, &in, &value);
	again = program_number(program.bytes.data, program.bytes.len, root, &in);
	CHECK(value == again);
	buf_fini(&program.bytes);
	return value;
}

static uint64_t math(uint16_t op, bool is_signed, uint64_t a, uint64_t b)
{
	struct program_build *build = program_build_new();
	uint32_t x = program_build_num(build, a), y = program_build_num(build, b);
	uint32_t root = program_build_math(build, op, is_signed, x, y);
	bool had;
	uint64_t value = value_of(build, root, &had);

	CHECK(had);
	return value;
}

static void values(void)
{
	static const uint64_t memory = 0xfedcba9876543210ull;
	struct program_build *b;
	bool had;

	CHECK(math('+', true, 2, 3) == 5 && math('-', true, 2, 3) == (uint64_t)-1 && math('*', true, 7, 6) == 42);
	CHECK(math('/', true, (uint64_t)-9, 2) == (uint64_t)-4 && math('/', false, (uint64_t)-9, 2) == (UINT64_MAX - 8) / 2);
	CHECK(math('/', true, 1ull << 63, UINT64_MAX) == 1ull << 63 && math('%', true, 5, 0) == 0 && math('/', true, 5, 0) == 0);
	CHECK(math('<' << 8 | '<', true, 1, 64) == 0 && math('>' << 8 | '>', true, (uint64_t)-8, 1) == (uint64_t)-4);
	CHECK(math('&', true, 6, 3) == 2 && math('|', true, 6, 3) == 7 && math('^', true, 6, 3) == 5);
	b = program_build_new();
	CHECK(value_of(b, program_build_math(b, '-', true, program_build_var(b, 1, PROGRAM_INT),
					     program_build_var(b, 0, PROGRAM_INT)), &had) == 10 && had);
	b = program_build_new();
	CHECK(value_of(b, program_build_var(b, 2, PROGRAM_INT), &had) == 0 && !had);
	for (uint64_t n = 0; n < 70; n++) {
		uint64_t power = 0;

		while (n > 1ull << power)
			power++;
		b = program_build_new();
		CHECK(value_of(b, program_build_log2(b, program_build_num(b, n)), &had) == power);
		b = program_build_new();
		CHECK(value_of(b, program_build_bucket(b, program_build_num(b, n), 7), &had) == n / 7 * 7);
	}
	b = program_build_new();
	CHECK(value_of(b, program_build_bits(b, program_build_num(b, 0xabcd), 4, 8, false), &had) == 0xbc);
	b = program_build_new();
	CHECK(value_of(b, program_build_bits(b, program_build_num(b, 0xabcd), 4, 8, true), &had) == (uint64_t)-68);
	b = program_build_new();
	CHECK(value_of(b, program_build_peek(b, program_build_num(b, (uintptr_t)&memory - 8), 8, 4, false), &had) ==
	      (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? 0x76543210u : 0xfedcba98u) && had);
	b = program_build_new();
	CHECK(value_of(b, program_build_peek(b, program_build_num(b, 16), 8, 4, false), &had) == 0 && !had);
	b = program_build_new();
	CHECK(value_of(b, program_build_field(b, "ratio", PROGRAM_REAL), &had) == 2 && had);
}

static bool text_is(struct program_build *b, uint32_t root, const void *bytes, uint32_t len)
{
	const struct program_text texts[1] = { { "of a variable", 13 } };
	const uint64_t stack[2] = { 11, 12 }, vars[1] = { 0 };
	struct world_record record = world_record();
	struct world_program program;
	struct program_input in;
	struct program_text text;
	char scratch[64];
	bool same;

	world_finish(b, &program);
	in = world_input(&program, &record);
	in.peek = peek;
	in.stack = stack;
	in.nstack = 2;
	in.vars = vars;
	in.texts = texts;
	in.nvars = 1;
	text = program_text(program.bytes.data, program.bytes.len, root, &in, scratch, sizeof(scratch));
	same = bytes ? text.at && text.len == len && !memcmp(text.at, bytes, len) : !text.at;
	buf_fini(&program.bytes);
	return same;
}

static void text_roots(void)
{
	const uint64_t moment[2] = { 11, 12 }, stack[2] = { 0x1000, 0x2000 };
	struct program_build *b = program_build_new();

	CHECK(text_is(b, program_build_field(b, "path", PROGRAM_TEXT), "/etc/abc", 8));
	b = program_build_new();
	CHECK(text_is(b, program_build_literal(b, "word", 4), "word", 4));
	b = program_build_new();
	CHECK(text_is(b, program_build_moment(b, PROGRAM_COMM), "current", 7));
	b = program_build_new();
	CHECK(text_is(b, program_build_moment(b, PROGRAM_STACK), moment, 16));
	b = program_build_new();
	CHECK(text_is(b, program_build_field(b, "stack", PROGRAM_WORDS), stack, 16));
	b = program_build_new();
	CHECK(text_is(b, program_build_var(b, 0, PROGRAM_TEXT), "of a variable", 13));
	b = program_build_new();
	CHECK(text_is(b, program_build_peek_text(b, program_build_field(b, "name", PROGRAM_INT), 8), "at", 2));
	b = program_build_new();
	CHECK(text_is(b, program_build_peek_text(b, program_build_num(b, 16), 0), NULL, 0));
}

/* Whatever the field is, a text; but for what has no digits. */
static void strings(void)
{
	static const struct {
		const char *field, *text;
	} all[] = {
		{ "path", "/etc/abc" }, { "comm", "bash" }, { "small", "-5" }, { "byte", "200" }, { "half", "-300" },
		{ "count", "4000000000" }, { "large", "9223372036854775808" }, { "ratio", NULL }, { "nothing", NULL },
	};

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		struct program_build *b = program_build_new();

		CHECK(text_is(b, program_build_string(b, all[i].field), all[i].text, all[i].text ? strlen(all[i].text) : 0));
	}
}

static void ranges(void)
{
	struct program_build *b = program_build_new();
	uint32_t pid = program_build_field(b, "common_pid", PROGRAM_INT);

	CHECK(ask(b, program_build_range(b, pid, 1234, 1235)));
	b = program_build_new();
	pid = program_build_field(b, "common_pid", PROGRAM_INT);
	CHECK(!ask(b, program_build_range(b, pid, 1230, 1234)));
}

/* What an event does not have, or the record has no room for, satisfies no comparison. */
static void lacking(void)
{
	struct world_record record = world_record();
	struct world_program program;
	struct program_build *b = program_build_new();
	struct program_input in;

	program_build_is(b, program_build_compare(b, NE, 0, program_build_field(b, "absent", PROGRAM_INT), program_build_num(b, 1)));
	world_finish(b, &program);
	CHECK(program.linked == -ENOENT);
	in = world_input(&program, &record);
	CHECK(!program_test(program.bytes.data, program.bytes.len, &in));
	buf_fini(&program.bytes);
	b = program_build_new();
	program_build_is(b, program_build_compare(b, NE, 0, program_build_field(b, "comm", PROGRAM_INT), program_build_num(b, 1)));
	world_finish(b, &program);
	CHECK(program.linked == -ENOENT);
	buf_fini(&program.bytes);
	b = program_build_new();
	program_build_is(b, program_build_compare(b, NE, 0, program_build_field(b, "large", PROGRAM_INT), program_build_num(b, 1)));
	world_finish(b, &program);
	in = world_input(&program, &record);
	in.len = 47;
	CHECK(!program_test(program.bytes.data, program.bytes.len, &in));
	in.len = 48;
	CHECK(program_test(program.bytes.data, program.bytes.len, &in));
	buf_fini(&program.bytes);
}

/* Records of the other byte order. */
static void swapped(void)
{
	struct world_record record = world_record();
	struct world_program program;
	struct program_build *b = program_build_new();
	struct program_input in;

	record.count = __builtin_bswap32(7);
	record.path = __builtin_bswap32(record.path);
	program_build_is(b, program_build_joint(b, false,
		program_build_compare(b, EQ, 0, program_build_field(b, "count", PROGRAM_INT), program_build_num(b, 7)),
		program_build_compare(b, EQ, 0, program_build_field(b, "path", PROGRAM_TEXT), program_build_literal(b, "/etc/abc", 8))));
	world_finish(b, &program);
	in = world_input(&program, &record);
	CHECK(!program_test(program.bytes.data, program.bytes.len, &in));
	in.swap = true;
	CHECK(program_test(program.bytes.data, program.bytes.len, &in));
	buf_fini(&program.bytes);
}

/* No more than what a writer has patience and stack for. */
static void limits(void)
{
	struct program_build *b = program_build_new();
	uint32_t v = program_build_field(b, "count", PROGRAM_INT), before = v;
	struct buf out = BUF_INIT;

	for (int i = 0; i < 100; i++)
		v = program_build_math(b, '+', true, v, v);
	CHECK(v == PROGRAM_NOTHING && before != v);
	CHECK(program_build_finish(b, &out) == -E2BIG && !out.len);
	program_build_free(b);
	b = program_build_new();
	for (int i = 0; i < 70; i++) {
		char name[16];

		snprintf(name, sizeof(name), "f%d", i);
		v = program_build_field(b, name, PROGRAM_INT);
	}
	CHECK(v == PROGRAM_NOTHING && program_build_finish(b, &out) == -E2BIG);
	program_build_free(b);
	b = program_build_new();
	program_build_for_files(b);
	CHECK(!program_build_finish(b, &out) && !program_verify(out.data, out.len));
	program_build_free(b);
	buf_fini(&out);
}

int main(void)
{
	numbers();
	mirrored();
	texts();
	patterns();
	moments();
	reals();
	masks();
	joints();
	values();
	text_roots();
	strings();
	ranges();
	lacking();
	swapped();
	limits();
	return 0;
}
