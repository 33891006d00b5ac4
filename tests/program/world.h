/*
 * An event, its format text and a record of it, for the tests of programs.
 */
#ifndef TESTS_PROGRAM_WORLD_H
#define TESTS_PROGRAM_WORLD_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "program/program.h"

#define CHECK(what)                                                                                                            \
	do {                                                                                                                   \
		if (!(what)) {                                                                                                 \
			fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #what);                                             \
			exit(1);                                                                                               \
		}                                                                                                              \
	} while (0)

#define EQ ('=' << 8 | '=')
#define NE ('!' << 8 | '=')
#define LE ('<' << 8 | '=')
#define GE ('>' << 8 | '=')

static const char world_format[] =
	"\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
	"\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n"
	"\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n"
	"\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n"
	"\n"
	"\tfield:char comm[16];\toffset:8;\tsize:16;\tsigned:0;\n"
	"\tfield:s8 small;\toffset:24;\tsize:1;\tsigned:1;\n"
	"\tfield:u8 byte;\toffset:25;\tsize:1;\tsigned:0;\n"
	"\tfield:short half;\toffset:26;\tsize:2;\tsigned:1;\n"
	"\tfield:unsigned int count;\toffset:28;\tsize:4;\tsigned:0;\n"
	"\tfield:long long wide;\toffset:32;\tsize:8;\tsigned:1;\n"
	"\tfield:u64 large;\toffset:40;\tsize:8;\tsigned:0;\n"
	"\tfield:double ratio;\toffset:48;\tsize:8;\tsigned:1;\n"
	"\tfield:float part;\toffset:56;\tsize:4;\tsigned:1;\n"
	"\tfield:__data_loc char[] path;\toffset:60;\tsize:4;\tsigned:0;\n"
	"\tfield:__rel_loc char[] near;\toffset:64;\tsize:4;\tsigned:0;\n"
	"\tfield:__data_loc unsigned long[] stack;\toffset:68;\tsize:4;\tsigned:0;\n"
	"\tfield:__data_loc cpumask_t mask;\toffset:72;\tsize:4;\tsigned:0;\n"
	"\tfield:char tiny[4];\toffset:76;\tsize:4;\tsigned:0;\n"
	"\tfield:const char * name;\toffset:80;\tsize:8;\tsigned:0;\n"
	"\n"
	"print fmt: \"\"\n";

struct world_record {
	uint16_t type;
	uint8_t flags, preempt;
	int32_t pid;
	char comm[16];
	int8_t small;
	uint8_t byte;
	int16_t half;
	uint32_t count;
	int64_t wide;
	uint64_t large;
	double ratio;
	float part;
	uint32_t path, near, stack, mask;
	char tiny[4];
	uint64_t name;
	char tail[72];
} __attribute__((packed));

static inline struct world_record world_record(void)
{
	struct world_record r = {
		.type = 77, .pid = 1234, .comm = "bash", .small = -5, .byte = 200, .half = -300, .count = 4000000000u,
		.wide = -9, .large = 1ull << 63, .ratio = 2.5, .part = -0.5f, .path = 88 | 9 << 16, .near = 29 | 5 << 16,
		.stack = 104 | 16 << 16, .mask = 120 | 8 << 16, .tiny = { 'a', 'b', 'c', 'd' },
	};
	uint64_t words[3] = { 0x1000, 0x2000, 1ull << 2 | 1ull << 5 };

	memcpy(r.tail, "/etc/abc", 9);
	memcpy(r.tail + 9, "near", 5);
	memcpy(r.tail + 16, words, sizeof(words));
	r.name = (uint64_t)(uintptr_t)"pointed at";
	return r;
}

/* A program with its places. */
struct world_program {
	struct buf bytes;
	struct program_field fields[PROGRAM_FIELDS_MAX];
	int linked;
};

static inline void world_finish(struct program_build *build, struct world_program *out)
{
	memset(out, 0, sizeof(*out));
	CHECK(program_build_finish(build, &out->bytes) == 0);
	program_build_free(build);
	CHECK(program_size(out->bytes.data, out->bytes.len) == out->bytes.len);
	CHECK(program_verify(out->bytes.data, out->bytes.len));
	out->linked = program_link(out->bytes.data, out->bytes.len, world_format, sizeof(world_format) - 1, out->fields);
}

static inline struct program_input world_input(const struct world_program *program, const struct world_record *record)
{
	return (struct program_input){ .rec = record, .len = sizeof(*record), .cpu = 3, .ts = 5000000007ull,
				       .fields = program->fields, .comm = "current" };
}

#endif
