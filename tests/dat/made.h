/*
 * Parts of a trace file made by hand, for a machine of any byte order and word size: one event
 * `test:tick` with a number in it, and pages full of it.
 */
#ifndef TESTS_DAT_MADE_H
#define TESTS_DAT_MADE_H

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "dat/store.h"
#include "decode/abi.h"
#include "insist.h"

#define MADE_ID 100

static inline void made_word(struct buf *buf, const struct decode_abi *abi, uint32_t size,
			     uint64_t v)
{
	uint8_t bytes[8];

	dat_store(bytes, size, v, abi->big_endian);
	buf_add(buf, bytes, size);
}

static inline void made_text(struct buf *buf, const struct decode_abi *abi, const char *text)
{
	made_word(buf, abi, 8, strlen(text));
	buf_puts(buf, text);
}

static inline void made_headers(struct buf *buf, const struct decode_abi *abi, uint32_t page_size)
{
	char text[512];
	unsigned int l = abi->long_size;

	buf_add(buf, "header_page", 12);
	snprintf(text, sizeof(text),
		 "\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n"
		 "\tfield: local_t commit;\toffset:8;\tsize:%u;\tsigned:1;\n"
		 "\tfield: int overwrite;\toffset:8;\tsize:1;\tsigned:1;\n"
		 "\tfield: char data;\toffset:%u;\tsize:%u;\tsigned:1;\n", l, 8 + l,
		 page_size - 8 - l);
	made_text(buf, abi, text);
	buf_add(buf, "header_event", 13);
	made_text(buf, abi, "# compressed entry header\n\ttype_len    :    5 bits\n");
}

#define MADE_FORMAT                                                                                \
	"name: tick\nID: 100\nformat:\n"                                                           \
	"\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"                     \
	"\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n"                     \
	"\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n"             \
	"\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"                               \
	"\tfield:int n;\toffset:8;\tsize:4;\tsigned:1;\n\nprint fmt: \"n=%d\", REC->n\n"

static inline void made_events(struct buf *buf, const struct decode_abi *abi)
{
	made_word(buf, abi, 4, 1);
	buf_add(buf, "test", 5);
	made_word(buf, abi, 4, 1);
	made_text(buf, abi, MADE_FORMAT);
}

/* `count` events from number `first` on, ten units of time apart; the page is `size` bytes. */
static inline void made_page(uint8_t *page, uint32_t size, const struct decode_abi *abi,
			     uint64_t ts, int first, int count)
{
	uint32_t at = 8u + abi->long_size;
	bool be = abi->big_endian;

	CHECK(at + (uint32_t)count * 16 <= size, "the page is too small");
	memset(page, 0, size);
	dat_store(page, 8, ts, be);
	dat_store(page + 8, abi->long_size, (uint64_t)count * 16, be);
	for (int i = 0; i < count; i++, at += 16) {
		uint32_t delta = i ? 10 : 0;

		dat_store(page + at, 4, be ? 3u << 27 | delta : 3u | delta << 5, be);
		dat_store(page + at + 4, 2, MADE_ID, be);
		dat_store(page + at + 8, 4, 1, be);
		dat_store(page + at + 12, 4, (uint64_t)(first + i), be);
	}
}

#endif
