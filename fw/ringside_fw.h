/*
 * fw: the writer of a tracing remote, for firmware, hypervisors and kernels of other kinds. C11, freestanding: no libc, no malloc.
 *
 *	ringside_fw_init();			once, before anything is traced; what the host had switched on before a restart stays on
 *	trace_irq_enter(3);			an event that events.h declared
 *	ringside_fw_tick();			now and then, see below
 *
 * An event is written with interrupts masked, into the ring of the core that it happens on; there is one for each. It is there, whole,
 * with the one store of its page's commit word, or it is not there. Not to be called from what cannot be masked (an NMI, a fault), nor by
 * code that may not mask (unprivileged), nor before ringside_fw_init().
 *
 * Whatever the memory holds, and whoever else writes to it, the firmware stores nowhere else: what is damaged are its own events.
 *
 * A port is a header of a few lines, named by RINGSIDE_FW_PORT: ports/ has some, and says what one has to have. Sizes are set before this
 * header is included, or by the compiler's -D:
 */
#ifndef RINGSIDE_FW_H
#define RINGSIDE_FW_H

#ifdef RINGSIDE_FW_CONFIG
#include RINGSIDE_FW_CONFIG
#endif

#ifndef RINGSIDE_FW_PAGE_SHIFT
#define RINGSIDE_FW_PAGE_SHIFT 9	/* pages of 512 bytes; 8 to 12 */
#endif
#ifndef RINGSIDE_FW_PAGES
#define RINGSIDE_FW_PAGES 8		/* of each ring: a power of two, 2 to 1 << 20 */
#endif
#ifndef RINGSIDE_FW_RINGS
#define RINGSIDE_FW_RINGS 1		/* cores; up to 1024 */
#endif
#ifndef RINGSIDE_FW_EVENTS
#define RINGSIDE_FW_EVENTS 32		/* event IDs are below that; up to 65535 */
#endif
#ifndef RINGSIDE_FW_FLAGS
#define RINGSIDE_FW_FLAGS 0		/* or RINGSIDE_FW_DISCARD */
#endif
#ifndef RINGSIDE_FW_ON
#define RINGSIDE_FW_ON 0		/* 1: everything is on from the first start, before any host looks */
#endif

#include "layout.h"
#include RINGSIDE_FW_PORT
#ifdef __cplusplus
#pragma GCC system_header	/* as there */
#endif

#define RINGSIDE_FW_PAGE_SIZE (1u << RINGSIDE_FW_PAGE_SHIFT)
#define RINGSIDE_FW_ENABLE_WORDS ((RINGSIDE_FW_EVENTS + 31) / 32)

/* A page as this target lays it out. `long` is what the kernel would have there, and a pointer's size. */
struct ringside_fw_page {
	uint64_t time_stamp;
	uintptr_t commit;
	uint32_t data[];
};
/* Before the compiler rounds up: on 32-bit targets data begins at 12. */
#define RINGSIDE_FW_PAGE_HEAD (8u + (unsigned int)sizeof(uintptr_t))
#define RINGSIDE_FW_ROOM_OF(shift) ((1u << (shift)) - RINGSIDE_FW_PAGE_HEAD - (unsigned int)sizeof(struct ringside_fw_seal))
#define RINGSIDE_FW_ROOM RINGSIDE_FW_ROOM_OF(RINGSIDE_FW_PAGE_SHIFT)
/* The most that stands before a record: the two words that tell a long time, its first word, and one for its length. */
#define RINGSIDE_FW_BEFORE 16u
#define RINGSIDE_FW_RECORD_MAX_OF(shift) (RINGSIDE_FW_ROOM_OF(shift) - RINGSIDE_FW_BEFORE)
#define RINGSIDE_FW_RECORD_MAX RINGSIDE_FW_RECORD_MAX_OF(RINGSIDE_FW_PAGE_SHIFT)

RINGSIDE_FW_ASSERT(offsetof(struct ringside_fw_page, data) == RINGSIDE_FW_PAGE_HEAD, "page header");
RINGSIDE_FW_ASSERT(RINGSIDE_FW_PAGE_SHIFT >= 8 && RINGSIDE_FW_PAGE_SHIFT <= 12, "pages have 256 bytes to 4 KiB");
RINGSIDE_FW_ASSERT((PORT_CLOCK_BITS >= 24 && PORT_CLOCK_BITS <= 32) || PORT_CLOCK_BITS == 64, "the clock has 24 to 32 bits, or 64");

#ifndef PORT_HOSTED
RINGSIDE_FW_ASSERT(RINGSIDE_FW_PAGES >= 2 && RINGSIDE_FW_PAGES <= 1 << 20 && (RINGSIDE_FW_PAGES & (RINGSIDE_FW_PAGES - 1)) == 0,
		   "pages: a power of two, 2 to 1 << 20");
RINGSIDE_FW_ASSERT(RINGSIDE_FW_RINGS >= 1 && RINGSIDE_FW_RINGS <= 1024, "rings: 1 to 1024");
RINGSIDE_FW_ASSERT(RINGSIDE_FW_EVENTS >= 1 && RINGSIDE_FW_EVENTS <= UINT16_MAX, "events: 1 to 65535");
RINGSIDE_FW_ASSERT(((RINGSIDE_FW_FLAGS) & ~RINGSIDE_FW_DISCARD) == 0, "flags: 0 or RINGSIDE_FW_DISCARD");

/* All of it, where the port says. */
struct ringside_fw {
	struct ringside_fw_header header;
	struct {
		uint32_t on;
		uint32_t mark;
		uint32_t enable[(RINGSIDE_FW_ENABLE_WORDS + 1) / 2 * 2];
	} control;
	struct ringside_fw_ring rings[RINGSIDE_FW_RINGS];
	uint64_t pages[RINGSIDE_FW_RINGS][RINGSIDE_FW_PAGES][RINGSIDE_FW_PAGE_SIZE / 8];
};

RINGSIDE_FW_BEGIN_C

extern struct ringside_fw ringside_fw;

void ringside_fw_init(void);

/*
 * Looks at the clock, and at what the host asks. A counter that is narrower than 64 bits comes round: from ringside_fw_init() on, and on each
 * core that ever traces, an event that is recorded or this has to happen more often than that. Besides, a host learns from it how late it is.
 */
void ringside_fw_tick(void);

/*
 * A record: 4-byte aligned, `words` of 4 bytes, 1 to RINGSIDE_FW_RECORD_MAX / 4 of them, its first two bytes the event's ID. That number is not
 * looked at again: a file that was compiled for other pages than ringside_fw.c is not linked with it.
 */
#define ringside_fw_write RINGSIDE_FW_FOR_PAGES(ringside_fw_write_, RINGSIDE_FW_PAGE_SHIFT)
#define RINGSIDE_FW_FOR_PAGES(name, shift) RINGSIDE_FW_JOIN(name, shift)
#define RINGSIDE_FW_JOIN(name, shift) name##shift
void ringside_fw_write(const void *record, uint32_t words);

RINGSIDE_FW_END_C

static inline int ringside_fw_is_on(uint32_t id)
{
	return ((volatile uint32_t *)ringside_fw.control.enable)[id / 32] >> id % 32 & 1;
}
#endif

#endif
