/*
 * fw/layout: the bytes that a firmware's tracing memory has, and a host reads. Freestanding: firmware and host include this.
 *
 *   header | control | ring ring ...            found by its magic, in RAM
 *                        |
 *                        +--> page page page ...  each: time_stamp | commit | events ... | seal
 *
 * A page holds the Linux kernel's bytes: the time of its first event, how many bytes of events are whole (a `long` of the target:
 * 4 bytes or 8), events. Behind all that, in bytes that the kernel leaves to chance, it is sealed with its number.
 *
 * Pages are numbered from 0 on. Page n lies at index n & mask, and takes the place of page n - mask - 1. Whoever
 * writes announces that first, in the seal, so that what was copied is what it was taken for if its seal is the same before and after.
 *
 * Words are the target's own; addresses are the target's, and 8 bytes wide. `order` tells a host of the other kind.
 */
#ifndef RINGSIDE_FW_LAYOUT_H
#define RINGSIDE_FW_LAYOUT_H

#include <stddef.h>
#include <stdint.h>

/* Firmware in C++ includes this, too; ringside_fw.c and the texts are C. */
#ifdef __cplusplus
#pragma GCC system_header	/* arrays without a size, which are C's only */
#define RINGSIDE_FW_ASSERT static_assert
#define RINGSIDE_FW_BEGIN_C extern "C" {
#define RINGSIDE_FW_END_C }
#else
#define RINGSIDE_FW_ASSERT _Static_assert
#define RINGSIDE_FW_BEGIN_C
#define RINGSIDE_FW_END_C
#endif

#define RINGSIDE_FW_MAGIC "RINGSIDE"	/* eight bytes, without a NUL */
#define RINGSIDE_FW_ORDER 0x0102u
#define RINGSIDE_FW_VERSION 1u
#define RINGSIDE_FW_ALIGN 8u		/* a header lies at a multiple of that */

struct ringside_fw_header {
	uint8_t magic[8];
	uint16_t order;		/* RINGSIDE_FW_ORDER */
	uint8_t version;
	uint8_t long_size;	/* of a page's commit word: 4 or 8 */
	uint16_t nr_rings;
	uint8_t page_shift;	/* 8 to 12: a page has 1 << page_shift bytes */
	uint8_t clock_bits;	/* of the counter that times come from; times in pages are as wide as need be */
	uint64_t self;		/* address of this header */
	uint64_t rings;		/* and of the first ring */
	uint64_t tick_hz;
	uint16_t ring_size;	/* from one ring to the next */
	uint16_t nr_events;	/* IDs are below that; there is an enable bit for each */
	uint32_t texts_size;	/* of the events' texts, which are in the ELF file only */
	uint32_t build;		/* the first word of the ELF file's build ID, 0: unknown */
	uint32_t boots;		/* how often tracing was begun in this memory */
	uint32_t control;	/* from this header to the control words */
	uint32_t crc;		/* CRC-32C of all before */
};

/* Control words: the host writes them, and the firmware when it begins. */
struct ringside_fw_control {
	uint32_t on;
	uint32_t mark;		/* the host's own, 0 in a memory that was never begun: without power it is gone, and so is what it marks */
	uint32_t enable[];	/* bit id % 32 of word id / 32 */
};

enum {
	RINGSIDE_FW_DISCARD = 1,	/* when the ring is full, refuse what comes: the oldest stays */
	RINGSIDE_FW_FULL = 2,		/* the writer's: it is; until there is another page, what is shorter is refused as well */
};

/* One core's ring: 64 bytes, on every target. */
struct ringside_fw_ring {
	/* Written by the firmware. */
	uint32_t tail;		/* number of the page that is being written */
	uint32_t first;		/* pages before it do not count: there was a reset */
	uint32_t count;		/* events so far, with those that were refused */
	uint32_t answered;	/* `asked`, when that was seen */
	uint64_t time;		/* of the last event */
	uint64_t answer;	/* the time at which `answered` was stored, or just before */
	uint64_t clock;		/* the counter as wide as it would have to be, when last looked at */
	/* Written by the host, if it can. */
	uint32_t asked;		/* another number: answer. Bit 0: and empty the ring */
	uint32_t consumed;	/* pages before it were read: where nothing is lost, their room is free */
	/* Written once. */
	uint64_t pages;		/* address of page 0 */
	uint32_t mask;		/* pages - 1; their number is a power of two, and at least 2 */
	uint16_t cpu;
	uint8_t flags;		/* RINGSIDE_FW_*; FULL comes and goes */
	uint8_t writing;	/* hosted writers only: somebody is, or died at it */
};

/* The last bytes of a page. */
struct ringside_fw_seal {
	uint32_t number;	/* the page's */
	uint32_t count;		/* ring.count when it was begun */
};

/*
 * The text of an event: in the ELF file's section RINGSIDE_FW_TEXTS, one behind the other, never loaded. `bytes` is the distance to the
 * next one.
 */
#define RINGSIDE_FW_TEXTS "ringside_events"
#define RINGSIDE_FW_SYMBOL "ringside_fw"
#define RINGSIDE_FW_NAME 32
#define RINGSIDE_FW_PRINT 256
#define RINGSIDE_FW_FIELDS 64		/* of an event, at most */

struct ringside_fw_field {
	uint16_t align;		/* in the record it comes at the next multiple of that */
	uint16_t size;
	uint8_t is_signed;
	uint8_t reserved[3];
	char type[RINGSIDE_FW_NAME];
	char name[RINGSIDE_FW_NAME];
};

struct ringside_fw_text {
	uint16_t bytes;
	uint16_t id;
	uint16_t size;		/* of a record: its ID, then the fields */
	uint16_t nr_fields;
	char name[RINGSIDE_FW_NAME];
	char print[RINGSIDE_FW_PRINT];	/* as behind "print fmt: " */
	struct ringside_fw_field fields[];
};

RINGSIDE_FW_ASSERT(sizeof(struct ringside_fw_header) == 64, "header");
RINGSIDE_FW_ASSERT(offsetof(struct ringside_fw_header, crc) == 60, "all before the CRC is under it");
RINGSIDE_FW_ASSERT(offsetof(struct ringside_fw_control, enable) == 8, "control words");
RINGSIDE_FW_ASSERT(sizeof(struct ringside_fw_ring) == 64, "ring");
RINGSIDE_FW_ASSERT(offsetof(struct ringside_fw_ring, time) == 16 && offsetof(struct ringside_fw_ring, asked) == 40 &&
	       offsetof(struct ringside_fw_ring, pages) == 48, "ring");
RINGSIDE_FW_ASSERT(sizeof(struct ringside_fw_seal) == 8, "seal");
RINGSIDE_FW_ASSERT(sizeof(struct ringside_fw_field) == 72, "field");
RINGSIDE_FW_ASSERT(sizeof(struct ringside_fw_text) == 296, "text");

#endif
