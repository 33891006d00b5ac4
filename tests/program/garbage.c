/*
 * Programs whose bytes are not what they were: verified or not, before they run or while they do, they read nothing outside
 * themselves and the record and come to an end. The same for format texts. Everything lies in memory of its own, so that
 * sanitizers see it.
 */
#include <pthread.h>
#include <stdatomic.h>

#include "program/code.h"
#include "world.h"

static uint64_t seed = 88172645463325252ull;

static uint32_t any(uint32_t below)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return (uint32_t)(seed >> 11) % below;
}

static uint32_t peek(void *to, uint64_t address, uint32_t len, bool text)
{
	(void)address;
	memset(to, 'x', len);
	return text ? len / 2 : len;
}

/* Something of everything. */
static void build(struct world_program *out, uint32_t roots[4])
{
	struct program_build *b = program_build_new();
	uint32_t count = program_build_field(b, "count", PROGRAM_INT), wide = program_build_field(b, "wide", PROGRAM_INT);
	uint32_t path = program_build_field(b, "path", PROGRAM_TEXT), comm = program_build_field(b, "comm", PROGRAM_TEXT);
	uint32_t ratio = program_build_field(b, "ratio", PROGRAM_REAL), mask = program_build_field(b, "mask", PROGRAM_MASK);
	uint64_t set[4] = { 0x24 };
	uint32_t sum = program_build_math(b, '+', true, count, wide), t;

	sum = program_build_math(b, '/', false, sum, program_build_bucket(b, count, 10));
	roots[0] = program_build_log2(b, program_build_bits(b, sum, 3, 20, true));
	roots[1] = program_build_peek(b, program_build_neg(b, wide), 8, 4, true);
	roots[2] = program_build_math(b, '*', true, ratio, program_build_var(b, 1, PROGRAM_INT));
	roots[3] = program_build_peek_text(b, wide, 4);
	t = program_build_compare(b, '>', 0, sum, program_build_moment(b, PROGRAM_TIME));
	t = program_build_joint(b, true, t, program_build_compare(b, '<', PROGRAM_WRAP, count, program_build_num(b, 3)));
	t = program_build_joint(b, true, t, program_build_compare(b, EQ, 0, comm, program_build_literal(b, "none of it", 10)));
	t = program_build_joint(b, true, t, program_build_compare(b, NE, 0, path, comm));
	t = program_build_joint(b, false, t, program_build_match(b, path, PROGRAM_GLOB, "/*c/[a-z]b?", 11));
	t = program_build_joint(b, false, t, program_build_match(b, roots[3], PROGRAM_MIDDLE, "xx", 2));
	t = program_build_joint(b, false, t, program_build_not(b, program_build_cpus(b, '&', mask, set, 4)));
	t = program_build_joint(b, true, t, program_build_range(b, wide, 1, 1000));
	t = program_build_joint(b, true, t, program_build_compare(b, GE, 0, ratio, roots[2]));
	t = program_build_joint(b, true, t, program_build_compare(b, EQ, 0, program_build_moment(b, PROGRAM_COMM),
								  program_build_literal(b, "else", 4)));
	t = program_build_joint(b, true, t, program_build_nonzero(b, roots[0]));
	program_build_is(b, t);
	world_finish(b, out);
}

static void run_all(const void *bytes, size_t size, const struct program_field *fields, const uint32_t roots[4])
{
	const uint64_t vars[2] = { 3, 4 }, stack[2] = { 5, 6 };
	const struct program_text texts[2] = { { "a", 1 }, { NULL, 0 } };
	struct world_record record = world_record();
	struct program_input in = { .len = any(sizeof(record) + 1), .cpu = 1, .fields = fields, .comm = "task", .vars = vars,
				    .nvars = 2, .texts = texts, .stack = stack, .nstack = 2, .peek = peek };
	char *copy = malloc(in.len ? in.len : 1), scratch[32];
	struct program_text text;
	uint64_t value;

	CHECK(copy);
	memcpy(copy, &record, in.len);
	in.rec = copy;
	program_test(bytes, size, &in);
	for (int i = 0; i < 5; i++) {
		uint32_t root = i < 4 ? roots[i] : any(70);

		program_fetch(bytes, size, root, &in, &value);
		program_real(bytes, size, root, &in);
		text = program_text(bytes, size, root, &in, scratch, sizeof(scratch));
		/* All of it can be read. */
		for (uint32_t k = 0; text.at && k < text.len; k++)
			__asm__ volatile("" : : "r"(text.at[k]));
	}
	free(copy);
}

static void spoil(uint8_t *bytes, size_t size)
{
	uint32_t n = 1 + any(4);

	while (n--) {
		uint32_t at = any((uint32_t)size);

		switch (any(4)) {
		case 0:
			bytes[at] = (uint8_t)any(256);
			break;
		case 1:
			bytes[at] ^= (uint8_t)(1u << any(8));
			break;
		case 2:
			bytes[at] = (uint8_t)any(40);
			break;
		default:
			bytes[at & ~1u] = bytes[at | 1u] = any(2) ? 0xff : 0;
		}
	}
}

/* Before it runs. */
static void spoiled(int rounds)
{
	struct program_field fields[PROGRAM_FIELDS_MAX];
	struct world_program good;
	uint32_t roots[4];
	int verified = 0;

	build(&good, roots);
	CHECK(good.linked > 0);
	for (int i = 0; i < rounds; i++) {
		uint8_t *bytes = malloc(good.bytes.len);

		CHECK(bytes);
		memcpy(bytes, good.bytes.data, good.bytes.len);
		spoil(bytes, good.bytes.len);
		verified += program_verify(bytes, good.bytes.len);
		program_size(bytes, good.bytes.len);
		program_link(bytes, good.bytes.len, world_format, sizeof(world_format) - 1, fields);
		run_all(bytes, good.bytes.len, fields, roots);
		run_all(bytes, good.bytes.len, good.fields, roots);
		free(bytes);
	}
	CHECK(verified > 0 && verified < rounds);
	/* Cut anywhere it is none. */
	for (size_t len = 0; len < good.bytes.len; len += 8) {
		uint8_t *bytes = malloc(len ? len : 1);

		CHECK(bytes);
		memcpy(bytes, good.bytes.data, len);
		CHECK(!program_verify(bytes, len) && !program_size(bytes, len));
		free(bytes);
	}
	buf_fini(&good.bytes);
}

/* Values that use each other, so that a walk without bounds would never end. */
static void endless(void)
{
	struct program_field fields[PROGRAM_FIELDS_MAX];
	struct world_program program;
	struct program_build *b = program_build_new();
	uint32_t v = program_build_num(b, 1), roots[4];
	struct code *code;

	for (int i = 2; i < 800; i++)
		v = program_build_num(b, (uint64_t)i);
	roots[0] = roots[1] = roots[2] = roots[3] = v;
	program_build_is(b, program_build_nonzero(b, v));
	world_finish(b, &program);
	program_link(program.bytes.data, program.bytes.len, world_format, sizeof(world_format) - 1, fields);
	for (uint32_t i = 2; i < 800; i++) {
		code = (struct code *)program.bytes.data + i;
		code->op = CODE_MATH;
		code->word = '+';
		code->a = code->b = (uint16_t)(i - 1);
	}
	CHECK(!program_verify(program.bytes.data, program.bytes.len));
	/* Nor may it say that it is one of those that may do more. */
	((struct code_head *)program.bytes.data)->flags = CODE_FOR_FILES;
	run_all(program.bytes.data, program.bytes.len, fields, roots);
	buf_fini(&program.bytes);
}

struct changing {
	uint8_t *bytes;
	size_t size;
	const uint8_t *good;
	atomic_bool stop;
};

static void *change(void *arg)
{
	struct changing *c = arg;
	uint32_t n = 12345;

	while (!atomic_load(&c->stop)) {
		n = n * 1664525u + 1013904223u;
		*(volatile uint8_t *)&c->bytes[(n >> 8) % c->size] = (uint8_t)(n >> 3);
		n = n * 1664525u + 1013904223u;
		/* And back, so that it stays a program for the most part. */
		for (uint32_t i = 0; i < 16; i++) {
			uint32_t at = ((n >> 8) + i) % (uint32_t)c->size;

			*(volatile uint8_t *)&c->bytes[at] = c->good[at];
		}
	}
	return NULL;
}

/* While it runs. */
static void changing(int rounds)
{
	struct program_field fields[PROGRAM_FIELDS_MAX];
	struct world_program good;
	struct changing c = { .stop = false };
	uint32_t roots[4];
	pthread_t thread;

	build(&good, roots);
	c.size = good.bytes.len;
	c.good = (const uint8_t *)good.bytes.data;
	c.bytes = malloc(c.size);
	CHECK(c.bytes);
	memcpy(c.bytes, c.good, c.size);
	CHECK(!pthread_create(&thread, NULL, change, &c));
	for (int i = 0; i < rounds; i++) {
		program_verify(c.bytes, c.size);
		program_link(c.bytes, c.size, world_format, sizeof(world_format) - 1, fields);
		run_all(c.bytes, c.size, fields, roots);
		run_all(c.bytes, c.size, good.fields, roots);
	}
	atomic_store(&c.stop, true);
	pthread_join(thread, NULL);
	free(c.bytes);
	buf_fini(&good.bytes);
}

/* Format texts that are none. */
static void formats(int rounds)
{
	struct program_field fields[PROGRAM_FIELDS_MAX];
	struct world_program good;
	uint32_t roots[4];

	build(&good, roots);
	for (int i = 0; i < rounds; i++) {
		size_t len = any(sizeof(world_format));
		uint8_t *text = malloc(len ? len : 1);

		CHECK(text);
		memcpy(text, world_format, len);
		if (len > 1)
			spoil(text, len & ~(size_t)1);
		program_link(good.bytes.data, good.bytes.len, (char *)text, len, fields);
		for (uint32_t k = 0; k < PROGRAM_FIELDS_MAX; k++)
			CHECK(fields[k].class == UINT8_MAX || fields[k].offset + fields[k].size <= 4096);
		run_all(good.bytes.data, good.bytes.len, fields, roots);
		free(text);
	}
	buf_fini(&good.bytes);
}

int main(void)
{
	spoiled(20000);
	endless();
	changing(20000);
	formats(3000);
	return 0;
}
