/*
 * layout/wire: what two ends of a stream say to each other. One stream carries all CPUs of one recording, what belongs beside the
 * pages, and what the ends agree on.
 *
 *	frame   len : 32 | kind : 16 | 0 : 16 | body, `len` bytes
 *
 * Numbers are little-endian; pages and payloads of sections are as their machine has them. What lies between OPEN and END has a
 * *position*: bytes of those frames since the recording began, however often it was connected. All of them can be said twice: a
 * section or the options replace what was there, a page has a number. So whoever is not sure what has arrived says it again.
 *
 *	sender (the board)                  receiver
 *	HELLO ------------------------------->
 *	  <------------------------------- HELLO
 *	OPEN (its position) ----------------->
 *	  <------------------------- HAVE (go on from there)
 *	SECTION OPTIONS TELL PAGES PAGE SUMS ->
 *	  <------------------- TAKEN (in the file up to there)
 *	  <------------------- ASK      TIME ->
 *	END --------------------------------->
 *	  <------------------------------- DONE
 *
 * Whoever reads any of it treats it as hostile.
 */
#ifndef LAYOUT_WIRE_H
#define LAYOUT_WIRE_H

#include <assert.h>
#include <endian.h>
#include <stdint.h>

#define WIRE_MAGIC 0x45444953474e4952ull	/* "RINGSIDE" in memory */
#define WIRE_VERSION 1u
#define WIRE_PORT 5877u
#define WIRE_BODY_MAX (1u << 20)
#define WIRE_NAME_MAX 64u	/* of a machine */

enum wire_kind {
	WIRE_HELLO = 1, WIRE_REFUSE,
	/* of the sender */
	WIRE_OPEN = 16, WIRE_SECTION, WIRE_OPTIONS, WIRE_TELL, WIRE_PAGES, WIRE_PAGE, WIRE_SUMS, WIRE_END, WIRE_TIME,
	/* of the receiver */
	WIRE_HAVE = 32, WIRE_TAKEN, WIRE_DONE, WIRE_ASK,
	/* between an agent and who drives it; RUN: 16 bytes that number it, and words, or one empty one: it runs already */
	WIRE_RUN = 48, WIRE_STOP, WIRE_SAY, WIRE_EXIT,
};

struct wire_head {
	uint32_t len;
	uint16_t kind;
	uint16_t zero;
};
static_assert(sizeof(struct wire_head) == 8, "frame");

/* What whoever connects wants. */
enum { WIRE_RECORDS = 1, WIRE_DRIVES };

struct wire_hello {
	uint64_t magic;
	uint32_t version;
	uint32_t wants;		/* 0: it was connected to */
	uint64_t machine;	/* a number that it gave itself: whose clock it has */
};	/* and its name */
static_assert(sizeof(struct wire_hello) == 24, "hello");

struct wire_refuse {
	int32_t code;		/* errno */
	uint32_t again;		/* it may be worth another try later */
};	/* and words */
static_assert(sizeof(struct wire_refuse) == 8, "refusal");

/* flags of OPEN */
#define WIRE_BIG_ENDIAN 1u
#define WIRE_MONO 2u		/* times are CLOCK_MONOTONIC, about which it is asked */

struct wire_open {
	uint8_t recording[16];
	uint64_t at;		/* position of what comes next */
	uint32_t page_size;
	uint32_t nr_cpus;
	uint32_t nr_buffers;
	uint8_t long_size;
	uint8_t flags;
	uint16_t zero;
};	/* and its buffers, the top one first */
static_assert(sizeof(struct wire_open) == 40, "open");

struct wire_buffer {
	uint32_t page_size;
	uint16_t name_len, clock_len;
};	/* and both */
static_assert(sizeof(struct wire_buffer) == 8, "buffer");

/* A payload comes in pieces. */
#define WIRE_FIRST 1u
#define WIRE_LAST 2u

struct wire_section {
	uint32_t id;
	uint32_t flags;
};	/* and a piece */
static_assert(sizeof(struct wire_section) == 8, "section");

/* All options, one after the other: those that belong to the writer of the file are not among them. */
struct wire_options {
	uint32_t flags;
	uint32_t zero;
};	/* and a piece of: id : 16 | len : 32 | value, ... */
static_assert(sizeof(struct wire_options) == 8, "options");

struct wire_pages {
	uint32_t buffer, cpu;
	uint64_t first;		/* number of the first one */
};	/* and whole pages */
static_assert(sizeof(struct wire_pages) == 16, "pages");

#define WIRE_IS_OPEN 1u		/* there will be more in this page */

struct wire_page {
	uint32_t buffer, cpu;
	uint64_t number;
	uint32_t head;		/* the first bytes of the page, so many */
	uint32_t at;		/* where the others belong; there are zeros behind them */
	uint32_t flags;
	uint32_t zero;
};	/* and both */
static_assert(sizeof(struct wire_page) == 32, "page");

struct wire_sums {
	uint64_t events, lost;
	uint32_t more;		/* were lost, nobody knows how many */
	uint32_t zero;
};
static_assert(sizeof(struct wire_sums) == 24, "sums");

/* HAVE, TAKEN */
struct wire_at {
	uint64_t at;
};

/* What all that has come to. */
struct wire_done {
	int64_t offset;		/* of the sender's clock, to be added to its times */
	uint64_t error;		/* nanoseconds that it may be off; UINT64_MAX: not known */
};
static_assert(sizeof(struct wire_done) == 16, "done");

/* ASK, and the answer: nanoseconds of CLOCK_MONOTONIC. */
struct wire_ask {
	uint64_t number;
};
struct wire_time {
	uint64_t number;
	uint64_t got, sent;
};
static_assert(sizeof(struct wire_time) == 24, "time");

struct wire_exit {
	int32_t status;
	uint32_t zero;
};

/* Both ways. */
static inline uint16_t wire16(uint16_t n)
{
	return htole16(n);
}

static inline uint32_t wire32(uint32_t n)
{
	return htole32(n);
}

static inline uint64_t wire64(uint64_t n)
{
	return htole64(n);
}

#endif
