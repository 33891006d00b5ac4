/*
 * A trace file of version 6 made by hand, packed by nobody, for a machine of either byte order: one
 * event lab:all with a field of every kind, two CPUs, and a little of all that a file can say.
 */
#ifndef TESTS_READER_MADE_H
#define TESTS_READER_MADE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "insist.h"

#define MADE_PAGE 4096u
#define MADE_PAGES 8
#define MADE_CPUS 2
#define MADE_ID 300
#define MADE_TRACE_ID 0x1122334455667788u

struct made_cpu {
	unsigned char pages[MADE_PAGES][MADE_PAGE];
	unsigned int nr, used;	/* pages; bytes of events in the last one */
	uint64_t ts, lost;
};

struct made {
	bool big;
	uint64_t trace_id;
	struct made_cpu cpus[MADE_CPUS];
	unsigned char *head;	/* all before the pages */
	size_t len;
};

static inline void made_store(const struct made *made, void *to, unsigned int size, uint64_t v)
{
	for (unsigned int i = 0; i < size; i++)
		((unsigned char *)to)[made->big ? size - 1 - i : i] = (unsigned char)(v >> 8 * i);
}

static inline void made_bytes(struct made *made, const void *bytes, size_t len)
{
	made->head = realloc(made->head, made->len + len + 1);
	CHECK(made->head, "no memory");
	memcpy(made->head + made->len, bytes, len);
	made->len += len;
}

static inline void made_word(struct made *made, unsigned int size, uint64_t v)
{
	unsigned char bytes[8];

	made_store(made, bytes, size, v);
	made_bytes(made, bytes, size);
}

/* A text with its length before it, in `size` bytes. */
static inline void made_text(struct made *made, unsigned int size, const char *text)
{
	made_word(made, size, strlen(text));
	made_bytes(made, text, strlen(text));
}

static inline void made_option(struct made *made, unsigned int id, const void *value, size_t len)
{
	made_word(made, 2, id);
	made_word(made, 4, len);
	made_bytes(made, value, len);
}

#define MADE_FIELD(decl, offset, size, sign)                                                       \
	"\tfield:" decl ";\toffset:" #offset ";\tsize:" #size ";\tsigned:" #sign ";\n"

static const char made_format[] =
	"name: all\nID: 300\nformat:\n"
	MADE_FIELD("unsigned short common_type", 0, 2, 0)
	MADE_FIELD("unsigned char common_flags", 2, 1, 0)
	MADE_FIELD("unsigned char common_preempt_count", 3, 1, 0)
	MADE_FIELD("int common_pid", 4, 4, 1) "\n"
	MADE_FIELD("s8 small", 8, 1, 1)
	MADE_FIELD("bool yes", 9, 1, 0)
	MADE_FIELD("u16 half_word", 10, 2, 0)
	MADE_FIELD("int n", 12, 4, 1)
	MADE_FIELD("u64 big", 16, 8, 0)
	MADE_FIELD("double half", 24, 8, 0)
	MADE_FIELD("float quarter", 32, 4, 0)
	MADE_FIELD("char tag[4]", 36, 4, 0)
	MADE_FIELD("int pair[2]", 40, 8, 1)
	MADE_FIELD("__data_loc char[] name", 48, 4, 0)
	MADE_FIELD("__data_loc u16[] list", 52, 4, 0)
	MADE_FIELD("void * ptr", 56, 8, 0)
	MADE_FIELD("double halves[2]", 64, 16, 0)
	MADE_FIELD("struct lab_box box", 80, 8, 0)
	"\nprint fmt: \"n=%d name=%s\", REC->n, __get_str(name)\n";

static const char made_header_page[] =
	"\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n"
	"\tfield: local_t commit;\toffset:8;\tsize:8;\tsigned:1;\n"
	"\tfield: int overwrite;\toffset:8;\tsize:1;\tsigned:1;\n"
	"\tfield: char data;\toffset:16;\tsize:4080;\tsigned:1;\n";

/* The bytes of record number `n`; returns how many. */
static inline unsigned int made_fill(const struct made *made, unsigned char *to, int n, int pid)
{
	double half = n / 2.0, halves[2] = { n / 4.0, -1.5 };
	float quarter = (float)n / 4;
	uint64_t bits;
	uint32_t less;

	memset(to, 0, 100);
	made_store(made, to, 2, MADE_ID);
	to[2] = 0x11;		/* interrupts off, softirq */
	to[3] = 0x23;
	made_store(made, to + 4, 4, (uint32_t)pid);
	to[8] = (unsigned char)-n;
	to[9] = 1;
	made_store(made, to + 10, 2, 0xfffe);
	made_store(made, to + 12, 4, (uint32_t)n);
	made_store(made, to + 16, 8, UINT64_MAX - (uint64_t)n);
	memcpy(&bits, &half, 8);
	made_store(made, to + 24, 8, bits);
	memcpy(&less, &quarter, 4);
	made_store(made, to + 32, 4, less);
	memcpy(to + 36, "abcd", 4);
	made_store(made, to + 40, 4, (uint32_t)n);
	made_store(made, to + 44, 4, (uint32_t)-1);
	made_store(made, to + 48, 4, 4u << 16 | 88);
	made_store(made, to + 52, 4, 6u << 16 | 92);
	made_store(made, to + 56, 8, 0xffffffff81000104u);
	for (int i = 0; i < 2; i++) {
		memcpy(&bits, &halves[i], 8);
		made_store(made, to + 64 + 8 * i, 8, bits);
	}
	memcpy(to + 80, "boxboxbo", 8);
	memcpy(to + 88, "ann", 4);
	for (int i = 0; i < 3; i++)
		made_store(made, to + 92 + 2 * i, 2, (uint64_t)(n + i));
	return 100;
}

static inline void made_commit(const struct made *made, struct made_cpu *c)
{
	unsigned char *page = c->pages[c->nr - 1];

	made_store(made, page + 8, 8, c->used | (c->lost ? 3ull << 30 : 0));
	if (c->lost)
		made_store(made, page + 16 + c->used, 8, c->lost);
}

/* `lost` events before it: those are told with pages, so it begins one. */
static inline void made_record(struct made *made, int cpu, uint64_t ts, int n, int pid,
			       uint64_t lost)
{
	struct made_cpu *c = &made->cpus[cpu];
	unsigned char *to;
	unsigned int len;

	if (!c->nr || lost || c->used + 16 + 104 + 8 > MADE_PAGE) {
		CHECK(c->nr < MADE_PAGES, "too many pages");
		made_store(made, c->pages[c->nr++], 8, ts);
		c->used = 0;
		c->lost = lost;
		c->ts = ts;
	}
	to = c->pages[c->nr - 1] + 16 + c->used;
	len = made_fill(made, to + 4, n, pid);
	made_store(made, to, 4, made->big ? (uint64_t)(len / 4) << 27 | (ts - c->ts) :
					    (uint64_t)(ts - c->ts) << 5 | len / 4);
	c->ts = ts;
	c->used += 4 + len;
	made_commit(made, c);
}

static inline void made_options(struct made *made)
{
	unsigned char word[8], guest[64] = "guest";

	made_bytes(made, "options  ", 10);
	made_option(made, 4, "[local] mono", 13);
	made_option(made, 5, "Lab 1.0", 8);
	made_option(made, 9, "made by hand", 13);
	made_store(made, word, 8, made->trace_id);
	made_option(made, 11, word, 8);
	made_option(made, 10, "2a 1 /bin/lab\n400000 500000 /bin/lab\n", 38);
	made_store(made, guest + 6, 8, 77);
	made_store(made, guest + 14, 4, 1);
	made_store(made, guest + 18, 4, 0);
	made_store(made, guest + 22, 4, 4321);
	made_option(made, 13, guest, 26);
	made_word(made, 2, 0);
}

static inline void made_head(struct made *made)
{
	made_bytes(made, "\x17\x08\x44tracing6", 12);
	made_word(made, 1, made->big);
	made_word(made, 1, 8);
	made_word(made, 4, MADE_PAGE);
	made_bytes(made, "header_page", 12);
	made_text(made, 8, made_header_page);
	made_bytes(made, "header_event", 13);
	made_text(made, 8, "# compressed entry header\n");
	made_word(made, 4, 0);
	made_word(made, 4, 1);
	made_bytes(made, "lab", 4);
	made_word(made, 4, 1);
	made_text(made, 8, made_format);
	made_text(made, 4, "ffffffff81000000 T first\nffffffff81000100 T second\n"
			   "ffffffffc0000000 t inner\t[mod]\nffffffffc0001000 t outer\t[mod]\n");
	made_text(made, 4, "0xffffffff82000000 : \"hello %d\\n\"\n");
	made_text(made, 8, "1 init\n42 lab\n");
	made_word(made, 4, MADE_CPUS);
	made_options(made);
}

/* Writes all that and the records so far to the file, and forgets them. */
static inline void made_write(struct made *made, const char *path)
{
	static const unsigned char zeros[MADE_PAGE];
	FILE *f = fopen(path, "w");
	uint64_t at;

	CHECK(f, "%s", path);
	made_head(made);
	made_bytes(made, "flyrecord", 10);
	at = (made->len + MADE_CPUS * 16 + 15 + MADE_PAGE - 1) / MADE_PAGE * MADE_PAGE;
	for (int i = 0; i < MADE_CPUS; i++) {
		made_word(made, 8, at);
		made_word(made, 8, made->cpus[i].nr * MADE_PAGE);
		at += made->cpus[i].nr * MADE_PAGE;
	}
	made_text(made, 8, "[local]");
	fwrite(made->head, 1, made->len, f);
	fwrite(zeros, 1, (MADE_PAGE - made->len % MADE_PAGE) % MADE_PAGE, f);
	for (int i = 0; i < MADE_CPUS; i++)
		fwrite(made->cpus[i].pages, MADE_PAGE, made->cpus[i].nr, f);
	CHECK(!fclose(f), "%s", path);
	free(made->head);
	memset(made, 0, sizeof(*made));
}

#endif
