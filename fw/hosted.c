/*
 * fw/hosted: see hosted.h.
 *
 *   header | ring ring ... | control words | pages of ring 0 | pages of ring 1 ...
 *
 * ring->writing is 1 from before a write's first store until behind its last. Whoever finds it 1 follows one who died there. What that one left:
 *
 *   tail, and a page that is whole up to its commit word		by the order of stores in core.h
 *   count		all that is there, and perhaps the one that is not
 *   time		perhaps not that of the last event: a new page tells its own
 *   answered	not yet what was asked, then it is answered again
 */
#ifndef _POSIX_C_SOURCE
#define _POSIX_C_SOURCE 200809L
#endif
#define RINGSIDE_FW_PORT "ports/posix.h"

#include "hosted.h"
#include "core.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

struct places {
	uint64_t control;
	uint64_t pages;		/* of ring 0 */
	uint64_t stride;	/* to the next ring's */
	uint64_t size;		/* of all */
};

static uint32_t enable_words(uint32_t nr_events)
{
	return (nr_events + 31) / 32;
}

static int places_of(const struct ringside_fw_hosted_how *how, struct places *places)
{
	uint64_t page = 1ull << (how->page_shift & 31);

	if (!how->nr_rings || how->nr_rings > RINGSIDE_FW_HOSTED_RINGS || how->nr_pages < 2 ||
	    how->nr_pages > RINGSIDE_FW_HOSTED_PAGES || (how->nr_pages & (how->nr_pages - 1)) || how->page_shift < 8 ||
	    how->page_shift > 12 || how->nr_events > UINT16_MAX || (how->flags & ~(uint32_t)RINGSIDE_FW_DISCARD))
		return -EINVAL;
	places->control = sizeof(struct ringside_fw_header) + (uint64_t)how->nr_rings * sizeof(struct ringside_fw_ring);
	places->pages = places->control + sizeof(struct ringside_fw_control) + 4ull * enable_words(how->nr_events);
	places->pages = (places->pages + page - 1) & ~(page - 1);
	places->stride = how->nr_pages * page;
	places->size = places->pages + how->nr_rings * places->stride;
	return places->size > SIZE_MAX ? -EINVAL : 0;
}

size_t ringside_fw_hosted_size(const struct ringside_fw_hosted_how *how)
{
	struct places places;

	return places_of(how, &places) ? 0 : (size_t)places.size;
}

static void *place(void *memory, uint64_t offset)
{
	return (char *)memory + offset;
}

/* ---- opening ---- */

/* The sizes that a header tells of, which may be anything. */
static int header_how(const struct ringside_fw_header *header, struct ringside_fw_hosted_how *how)
{
	const struct ringside_fw_ring *rings = (const struct ringside_fw_ring *)(header + 1);

	if (header->order != RINGSIDE_FW_ORDER || header->version != RINGSIDE_FW_VERSION || header->long_size != sizeof(uintptr_t) ||
	    header->clock_bits != PORT_CLOCK_BITS || header->self || header->rings != sizeof(*header) ||
	    header->ring_size != sizeof(*rings))
		return -EBADMSG;
	*how = (struct ringside_fw_hosted_how){
		.nr_rings = header->nr_rings,
		.nr_pages = rings->mask + 1,
		.page_shift = header->page_shift,
		.nr_events = header->nr_events,
		.flags = rings->flags & RINGSIDE_FW_DISCARD,
	};
	return 0;
}

/* All but the checksum. */
static int take_view(struct ringside_fw_hosted *fw, void *memory, size_t size)
{
	struct ringside_fw_header *header = memory;
	struct ringside_fw_ring *rings = (struct ringside_fw_ring *)(header + 1);
	struct ringside_fw_hosted_how how;
	struct places places;

	if ((uintptr_t)memory % RINGSIDE_FW_ALIGN || size < sizeof(*header) + sizeof(*rings) ||
	    memcmp(header->magic, RINGSIDE_FW_MAGIC, sizeof(header->magic)))
		return -ENOENT;
	if (header_how(header, &how) || places_of(&how, &places) || places.size > size || header->control != places.control)
		return -EBADMSG;
	for (uint32_t i = 0; i < how.nr_rings; i++)
		if (rings[i].cpu != i || rings[i].mask != rings->mask || rings[i].pages != places.pages + i * places.stride)
			return -EBADMSG;
	*fw = (struct ringside_fw_hosted){
		.header = header,
		.rings = rings,
		.control = place(memory, places.control),
		.nr_rings = how.nr_rings,
		.nr_events = how.nr_events,
		.words_max = RINGSIDE_FW_RECORD_MAX_OF(how.page_shift) / 4,
		.mask = how.nr_pages - 1,
		.page_shift = how.page_shift,
		.pages = places.pages,
	};
	return 0;
}

int ringside_fw_hosted_open(struct ringside_fw_hosted *fw, void *memory, size_t size)
{
	int r = take_view(fw, memory, size);

	return !r && fw->header->crc != fw_crc(fw->header) ? -EBADMSG : r;
}

/* ---- beginning ---- */

static void write_header(struct ringside_fw_header *header, const struct ringside_fw_hosted_how *how, const struct places *places)
{
	memcpy(header->magic, RINGSIDE_FW_MAGIC, sizeof(header->magic));
	header->order = RINGSIDE_FW_ORDER;
	header->version = RINGSIDE_FW_VERSION;
	header->long_size = sizeof(uintptr_t);
	header->nr_rings = (uint16_t)how->nr_rings;
	header->page_shift = (uint8_t)how->page_shift;
	header->clock_bits = PORT_CLOCK_BITS;
	header->self = 0;
	header->rings = sizeof(*header);
	header->tick_hz = how->tick_hz ? how->tick_hz : PORT_CLOCK_HZ;
	header->ring_size = sizeof(struct ringside_fw_ring);
	header->nr_events = (uint16_t)how->nr_events;
	header->texts_size = 0;
	header->build = 0;
	header->control = (uint32_t)places->control;
}

static void begin_ring(struct ringside_fw_ring *ring, uint32_t i, const struct ringside_fw_hosted_how *how, const struct places *places)
{
	ring->pages = places->pages + i * places->stride;
	ring->mask = how->nr_pages - 1;
	ring->cpu = (uint16_t)i;
	ring->flags = (uint8_t)how->flags;
	ring->writing = 0;
	fw_begin(ring);
}

/* Is it there already, with the same places for everything? Its checksum does not tell: who began that may have been killed at it. */
static int is_same(void *memory, size_t size, const struct ringside_fw_hosted_how *how)
{
	struct ringside_fw_hosted fw;

	return !take_view(&fw, memory, size) && fw.nr_rings == how->nr_rings && fw.nr_events == how->nr_events &&
	       fw.header->page_shift == how->page_shift && fw.rings->mask == how->nr_pages - 1;
}

int ringside_fw_hosted_init(void *memory, size_t size, const struct ringside_fw_hosted_how *how)
{
	struct ringside_fw_header *header = memory;
	struct ringside_fw_control *control;
	struct ringside_fw_ring *rings;
	struct places places;
	int again;

	if ((uintptr_t)memory % RINGSIDE_FW_ALIGN || places_of(how, &places))
		return -EINVAL;
	if (places.size > size)
		return -ENOSPC;
	again = is_same(memory, size, how);
	header->crc = ~header->crc;
	port_barrier();
	/* Whatever it was, it is another one now: who reads sees by it that all begins again. */
	header->boots++;
	write_header(header, how, &places);
	rings = place(memory, header->rings);
	control = place(memory, header->control);
	if (!again) {
		memset(rings, 0, how->nr_rings * sizeof(*rings));
		control->on = !!how->on;
		control->mark = 0;
		memset(control->enable, how->on ? 0xff : 0, 4 * enable_words(how->nr_events));
	}
	for (uint32_t i = 0; i < how->nr_rings; i++)
		begin_ring(&rings[i], i, how, &places);
	port_barrier();
	header->crc = fw_crc(header);
	return 0;
}

/* ---- writing ---- */

static void set_writing(struct ringside_fw_ring *ring, uint8_t writing)
{
	port_barrier();
	*(volatile uint8_t *)&ring->writing = writing;
	port_barrier();
}

/* The writer goes by these, in the memory. */
static int is_whole(const struct ringside_fw_hosted *fw, uint32_t number)
{
	const struct ringside_fw_ring *ring = &fw->rings[number];

	return ring->cpu == number && ring->mask == fw->mask && fw->header->page_shift == fw->page_shift &&
	       ring->pages == fw->pages + number * ((fw->mask + 1ull) << fw->page_shift);
}

/* After one who died: false, when there is no room for a new page and the event is refused; then that is still to be done. */
static bool follow(struct ringside_fw_ring *ring)
{
	fw_look(ring);
	return fw_turn(ring) != NULL;
}

void ringside_fw_hosted_write(struct ringside_fw_hosted *fw, uint32_t number, const void *record, uint32_t words)
{
	struct ringside_fw_ring *ring = &fw->rings[number];
	port_irq_t irq;
	uint8_t died;

	if (number >= fw->nr_rings || !words || !*(volatile uint32_t *)&fw->control->on)
		return;
	irq = port_irq_save();
	died = ring->writing;
	set_writing(ring, 1);
	if (words > fw->words_max || !is_whole(fw, number)) {
		ring->count++;
	} else if (!died || follow(ring)) {
		fw_put(ring, record, words);
		died = 0;
	}
	set_writing(ring, died);
	port_irq_restore(irq);
}

void ringside_fw_hosted_tick(struct ringside_fw_hosted *fw, uint32_t number)
{
	struct ringside_fw_ring *ring = &fw->rings[number];
	port_irq_t irq;
	uint8_t died;

	if (number >= fw->nr_rings)
		return;
	irq = port_irq_save();
	died = ring->writing;
	set_writing(ring, 1);
	if (is_whole(fw, number))
		fw_look(ring);
	set_writing(ring, died);
	port_irq_restore(irq);
}
