/*
 * Tracing memories that no writer of fw/ made: of any order of bytes, word size and shape, put together by hand from what fw/layout.h says,
 * for tests of the host's side that want to know each byte of them.
 */
#ifndef TESTS_REMOTE_MADE_H
#define TESTS_REMOTE_MADE_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/crc32c.h"
#include "decode/abi.h"
#include "fw/layout.h"

#define MADE_DELTA_MAX ((1u << 27) - 1)

struct made {
	/* What it is to be. */
	struct decode_abi abi;
	uint32_t nr_rings, nr_pages, page_shift, nr_events, clock_bits, flags;
	uint32_t boots;
	uint64_t self;		/* address of the header */
	uint64_t tick_hz;
	uint32_t cpu;		/* of the first ring */
	/* Where it is. */
	unsigned char *bytes;
	size_t size;
	uint32_t rings, control, pages;	/* from the header */
};

#define MADE_AT(type, member) offsetof(struct type, member), sizeof(((struct type *)0)->member)

static inline void made_put(struct made *made, size_t at, size_t in, size_t size, uint64_t value)
{
	for (size_t i = 0; i < size; i++)
		made->bytes[at + in + (made->abi.big_endian ? size - 1 - i : i)] = (unsigned char)(value >> i * 8);
}

static inline uint64_t made_get(const struct made *made, size_t at, size_t in, size_t size)
{
	return decode_abi_load(made->bytes + at + in, (uint32_t)size, made->abi.big_endian);
}

static inline uint32_t made_page_size(const struct made *made)
{
	return 1u << made->page_shift;
}

/* Of events in a page. */
static inline uint32_t made_room(const struct made *made)
{
	return made_page_size(made) - 8 - made->abi.long_size - (uint32_t)sizeof(struct ringside_fw_seal);
}

static inline size_t made_ring(const struct made *made, uint32_t ring)
{
	return made->rings + ring * sizeof(struct ringside_fw_ring);
}

static inline size_t made_page(const struct made *made, uint32_t ring, uint32_t number)
{
	return made->pages + ((size_t)ring * made->nr_pages + (number & (made->nr_pages - 1))) * made_page_size(made);
}

static inline size_t made_seal(const struct made *made, uint32_t ring, uint32_t number)
{
	return made_page(made, ring, number) + made_page_size(made) - sizeof(struct ringside_fw_seal);
}

/* What the shape needs. */
static inline size_t made_places(struct made *made)
{
	made->control = sizeof(struct ringside_fw_header);
	made->rings = (made->control + (uint32_t)sizeof(struct ringside_fw_control) + (made->nr_events + 31) / 32 * 4 + 7) & ~7u;
	made->pages = made->rings + made->nr_rings * (uint32_t)sizeof(struct ringside_fw_ring);
	made->size = made->pages + (size_t)made->nr_rings * made->nr_pages * made_page_size(made);
	return made->size;
}

static inline void made_crc(struct made *made)
{
	made_put(made, 0, MADE_AT(ringside_fw_header, crc), crc32c(0, made->bytes, offsetof(struct ringside_fw_header, crc)));
}

static inline void made_header(struct made *made)
{
	memcpy(made->bytes, RINGSIDE_FW_MAGIC, 8);
	made_put(made, 0, MADE_AT(ringside_fw_header, order), RINGSIDE_FW_ORDER);
	made_put(made, 0, MADE_AT(ringside_fw_header, version), RINGSIDE_FW_VERSION);
	made_put(made, 0, MADE_AT(ringside_fw_header, long_size), made->abi.long_size);
	made_put(made, 0, MADE_AT(ringside_fw_header, nr_rings), made->nr_rings);
	made_put(made, 0, MADE_AT(ringside_fw_header, page_shift), made->page_shift);
	made_put(made, 0, MADE_AT(ringside_fw_header, clock_bits), made->clock_bits);
	made_put(made, 0, MADE_AT(ringside_fw_header, self), made->self);
	made_put(made, 0, MADE_AT(ringside_fw_header, rings), made->self + made->rings);
	made_put(made, 0, MADE_AT(ringside_fw_header, tick_hz), made->tick_hz);
	made_put(made, 0, MADE_AT(ringside_fw_header, ring_size), sizeof(struct ringside_fw_ring));
	made_put(made, 0, MADE_AT(ringside_fw_header, nr_events), made->nr_events);
	made_put(made, 0, MADE_AT(ringside_fw_header, texts_size), 0);
	made_put(made, 0, MADE_AT(ringside_fw_header, build), 0);
	made_put(made, 0, MADE_AT(ringside_fw_header, boots), made->boots);
	made_put(made, 0, MADE_AT(ringside_fw_header, control), made->control);
	made_crc(made);
}

/* Page `number` is begun, at a time. */
static inline void made_enter(struct made *made, uint32_t ring, uint32_t number, uint64_t stamp)
{
	size_t page = made_page(made, ring, number), at = made_ring(made, ring);

	made_put(made, made_seal(made, ring, number), MADE_AT(ringside_fw_seal, number), number);
	made_put(made, page, 0, 8, stamp);
	made_put(made, page, 8, made->abi.long_size, 0);
	made_put(made, made_seal(made, ring, number), MADE_AT(ringside_fw_seal, count), made_get(made, at, MADE_AT(ringside_fw_ring, count)));
	made_put(made, at, MADE_AT(ringside_fw_ring, tail), number);
	made_put(made, at, MADE_AT(ringside_fw_ring, time), stamp);
}

/* All of it, in `bytes`, with empty rings that are on. */
static inline void made_begin(struct made *made, uint64_t now)
{
	memset(made->bytes, 0, made->size);
	made_put(made, made->control, MADE_AT(ringside_fw_control, on), 1);
	memset(made->bytes + made->control + offsetof(struct ringside_fw_control, enable), 0xff, (made->nr_events + 31) / 32 * 4);
	for (uint32_t i = 0; i < made->nr_rings; i++) {
		size_t at = made_ring(made, i);

		made_put(made, at, MADE_AT(ringside_fw_ring, pages), made->self + made_page(made, i, 0));
		made_put(made, at, MADE_AT(ringside_fw_ring, mask), made->nr_pages - 1);
		made_put(made, at, MADE_AT(ringside_fw_ring, cpu), made->cpu + i);
		made_put(made, at, MADE_AT(ringside_fw_ring, flags), made->flags);
		made_enter(made, i, 0, now);
	}
	made_header(made);
}

/* ---- what pages hold ---- */

static inline uint32_t made_tail(const struct made *made, uint32_t ring)
{
	return (uint32_t)made_get(made, made_ring(made, ring), MADE_AT(ringside_fw_ring, tail));
}

/* Where in the page that is written events end. */
static inline uint32_t made_commit(const struct made *made, uint32_t ring)
{
	return (uint32_t)made_get(made, made_page(made, ring, made_tail(made, ring)), 8, made->abi.long_size);
}

static inline void made_set_commit(struct made *made, uint32_t ring, uint32_t commit)
{
	made_put(made, made_page(made, ring, made_tail(made, ring)), 8, made->abi.long_size, commit);
}

static inline bool made_fits(const struct made *made, uint32_t ring, uint32_t bytes)
{
	return made_commit(made, ring) + bytes <= made_room(made);
}

static inline void made_word(struct made *made, uint32_t ring, uint32_t word)
{
	uint32_t commit = made_commit(made, ring);

	made_put(made, made_page(made, ring, made_tail(made, ring)) + 8 + made->abi.long_size + commit, 0, 4, word);
	made_set_commit(made, ring, commit + 4);
}

/* An event's first word: the kernel's bit field, which begins at the other end where bytes do. */
static inline void made_first(struct made *made, uint32_t ring, uint32_t type, uint32_t delta)
{
	made_word(made, ring, made->abi.big_endian ? type << 27 | delta : delta << 5 | type);
}

static inline void made_extend(struct made *made, uint32_t ring, uint64_t delta)
{
	made_first(made, ring, 30, (uint32_t)(delta & MADE_DELTA_MAX));
	made_word(made, ring, (uint32_t)(delta >> 27));
}

/* Room that is filled, behind `delta`. */
static inline void made_fill(struct made *made, uint32_t ring, uint32_t words, uint32_t delta)
{
	made_first(made, ring, 29, delta ? delta : 1);
	made_word(made, ring, words * 4 + 4);
	for (uint32_t i = 0; i < words; i++)
		made_word(made, ring, 0xf111f111);
}

/* An event's bytes, as they are to lie there: as a short record, or one with a word for its length. */
static inline void made_record(struct made *made, uint32_t ring, uint32_t delta, const void *record, uint32_t words, bool is_long)
{
	size_t at = made_ring(made, ring);
	uint32_t commit;

	made_put(made, at, MADE_AT(ringside_fw_ring, count), made_get(made, at, MADE_AT(ringside_fw_ring, count)) + 1);
	made_first(made, ring, is_long ? 0 : words, delta);
	if (is_long)
		made_word(made, ring, words * 4 + 4);
	commit = made_commit(made, ring);
	memcpy(made->bytes + made_page(made, ring, made_tail(made, ring)) + 8 + made->abi.long_size + commit, record, words * 4);
	made_set_commit(made, ring, commit + words * 4);
}

#endif
