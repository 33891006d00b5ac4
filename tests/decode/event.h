/*
 * For the tests of decode and report: one event with a field of each kind, a record of it, and
 * checks that tell what they saw.
 */
#ifndef TESTS_DECODE_EVENT_H
#define TESTS_DECODE_EVENT_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "decode/print.h"

static int failures;

#define check(cond)                                                       \
	do {                                                              \
		if (!(cond)) {                                            \
			printf("%s:%d: %s\n", __FILE__, __LINE__, #cond); \
			failures++;                                       \
		}                                                         \
	} while (0)

static inline void check_text(const char *file, int line, const char *what, const char *got,
			      const char *want)
{
	if (!strcmp(got, want))
		return;
	printf("%s:%d: %s\n  got  |%s|\n  want |%s|\n", file, line, what, got, want);
	failures++;
}

#define COMMON                                                                         \
	"\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"         \
	"\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n"         \
	"\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n" \
	"\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"

/* The fixed part of the sample event's records. */
struct sample {
	struct record_head head;
	int8_t s8;
	uint8_t u8;
	int16_t s16;
	uint16_t u16;
	uint16_t pad;
	int32_t s32;
	uint32_t u32;
	int64_t s64;
	uint64_t u64;
	float f;
	uint32_t flags;
	double d;
	uint64_t ptr;
	char name[16];
	uint32_t arr[4];
	uint8_t mac[6];
	uint8_t yes;
	uint8_t pad2;
	uint32_t text; /* __data_loc */
	uint32_t mask; /* __rel_loc */
	uint32_t nums; /* __data_loc */
	char rest[52];
};

#define SAMPLE_FIELD(decl, at, sgn)                                                      \
	{                                                                                \
		decl, offsetof(struct sample, at), sizeof(((struct sample *)0)->at), sgn \
	}

static const struct {
	const char *decl;
	size_t offset, size;
	int is_signed;
} sample_fields[] = {
	SAMPLE_FIELD("s8 s8", s8, 1),
	SAMPLE_FIELD("u8 u8", u8, 0),
	SAMPLE_FIELD("s16 s16", s16, 1),
	SAMPLE_FIELD("u16 u16", u16, 0),
	SAMPLE_FIELD("int s32", s32, 1),
	SAMPLE_FIELD("unsigned int u32", u32, 0),
	SAMPLE_FIELD("s64 s64", s64, 1),
	SAMPLE_FIELD("unsigned long u64", u64, 0),
	SAMPLE_FIELD("float f", f, 1),
	SAMPLE_FIELD("xfs_flags_t flags", flags, 0),
	SAMPLE_FIELD("double d", d, 1),
	SAMPLE_FIELD("const void * ptr", ptr, 0),
	SAMPLE_FIELD("char name[16]", name, 0),
	SAMPLE_FIELD("unsigned int arr[4]", arr, 0),
	SAMPLE_FIELD("unsigned char mac[6]", mac, 0),
	SAMPLE_FIELD("bool yes", yes, 0),
	SAMPLE_FIELD("__data_loc char[] text", text, 0),
	SAMPLE_FIELD("__rel_loc unsigned long[] mask", mask, 0),
	SAMPLE_FIELD("__data_loc u16[] nums", nums, 0),
};

static inline struct sample sample_record(void)
{
	struct sample r = {
		.head = {.type = 32768, .flags = 0x05, .preempt_count = 0x21, .pid = 4242},
		.s8 = -8,
		.u8 = 200,
		.s16 = -1600,
		.u16 = 60000,
		.s32 = -320000,
		.u32 = 4000000000u,
		.s64 = -64000000000ll,
		.u64 = 0xfedcba9876543210ull,
		.f = 1.5f,
		.flags = 0x15,
		.d = -2.25,
		.ptr = 0xffff888012345678ull,
		.name = "shop",
		.arr = {1, 2, 0xffffffff, 4},
		.mac = {0, 0x1b, 0x21, 0xab, 0xcd, 0xef},
		.yes = 1,
	};
	size_t at = offsetof(struct sample, rest);

	strcpy(r.rest, "green tea");
	r.text = (uint32_t)(at | 10 << 16);
	r.rest[12] = 0x0f;
	r.rest[20] = 0x01;
	r.mask = (uint32_t)((at + 12 - (offsetof(struct sample, mask) + 4)) | 16 << 16);
	memcpy(r.rest + 28, (uint16_t[]){7, 8, 65535}, 6);
	r.nums = (uint32_t)((at + 28) | 6 << 16);
	return r;
}

static inline void sample_text(struct buf *out, const char *print_fmt)
{
	buf_puts(out, "name: sample\nID: 32768\nformat:\n" COMMON);
	for (size_t i = 0; i < sizeof(sample_fields) / sizeof(sample_fields[0]); i++)
		buf_printf(out, "\tfield:%s;\toffset:%zu;\tsize:%zu;\tsigned:%d;\n",
			   sample_fields[i].decl, sample_fields[i].offset, sample_fields[i].size,
			   sample_fields[i].is_signed);
	if (print_fmt)
		buf_printf(out, "\nprint fmt: %s\n", print_fmt);
}

static inline struct decode_format *sample_format(const char *print_fmt)
{
	struct decode_format *format;
	struct buf text = BUF_INIT;
	struct err err = ERR_INIT;

	sample_text(&text, print_fmt);
	if (decode_format_parse("test", text.data, text.len, NULL, &format, &err)) {
		printf("%s\n", err.text);
		exit(1);
	}
	buf_fini(&text);
	return format;
}

#endif
