/*
 * fw/hosted: the firmware's writer in a program: for firmware that runs on a host to be tested, for simulators, and as a remote that needs no
 * hardware. libc only. The memory is any mapping, shared or not, at a multiple of 8; every process may have it at another address.
 *
 *	size = ringside_fw_hosted_size(&how);			memory of that size, such as a file in /dev/shm
 *	ringside_fw_hosted_init(memory, size, &how);		once, while nobody writes
 *	ringside_fw_hosted_open(&fw, memory, size);		in each process that writes
 *	if (ringside_fw_hosted_is_on(&fw, id))
 *		ringside_fw_hosted_write(&fw, ring, &record, words);
 *
 * A ring is what a core has: it has one writer at a time. While one writes, no signal reaches its thread, so a handler that traces into the
 * ring of the thread that it interrupts is what an interrupt is to firmware. Threads or processes that share a ring take turns by a lock of
 * their own (a robust one, if they may die), taken with signals blocked if handlers trace. Readers need no lock and take none.
 *
 * A writer may be killed anywhere: the event that it was writing is there, whole, or it is not; then it may count as a lost one. Whoever
 * writes to that ring next finds that out, and begins a new page, since the time that was to be told of by the next event is not known.
 *
 * What the memory holds is looked at before each event: where it was damaged nothing is stored elsewhere. But it is in the hands of whoever may
 * write to it: who does so at that very moment may end the writer.
 */
#ifndef RINGSIDE_FW_HOSTED_H
#define RINGSIDE_FW_HOSTED_H

#include "layout.h"

struct ringside_fw_hosted_how {
	uint32_t nr_rings;	/* 1 to RINGSIDE_FW_HOSTED_RINGS */
	uint32_t nr_pages;	/* of each: a power of two, 2 to RINGSIDE_FW_HOSTED_PAGES */
	uint32_t page_shift;	/* 8 to 12 */
	uint32_t nr_events;	/* IDs are below that; up to 65535 */
	uint32_t flags;		/* RINGSIDE_FW_DISCARD */
	uint32_t on;		/* 1: everything is on from the first start, before any host looks */
	uint64_t tick_hz;	/* of a clock that the port was compiled with; 0: as it says, which is 1 GHz */
};

#define RINGSIDE_FW_HOSTED_RINGS 1024u
#define RINGSIDE_FW_HOSTED_PAGES (1u << 18)

/* One process's view of a memory. */
struct ringside_fw_hosted {
	struct ringside_fw_header *header;
	struct ringside_fw_ring *rings;
	struct ringside_fw_control *control;
	uint32_t nr_rings;
	uint32_t nr_events;
	uint32_t words_max;	/* of a record */
	/* What the memory said when it was opened. */
	uint32_t mask;
	uint32_t page_shift;
	uint64_t pages;		/* of ring 0 */
};

RINGSIDE_FW_BEGIN_C

/* How large a memory has to be; 0: there is none of that kind. */
size_t ringside_fw_hosted_size(const struct ringside_fw_hosted_how *how);

/*
 * Begins tracing. Where that was done before with the same sizes, what the host had switched on stays on. 0, -EINVAL: no such sizes, or an odd
 * address; -ENOSPC: the memory is too small.
 */
int ringside_fw_hosted_init(void *memory, size_t size, const struct ringside_fw_hosted_how *how);

/* 0, -ENOENT: tracing was not begun there. -EBADMSG: damaged, of another kind of machine or writer, or more than `size` bytes. */
int ringside_fw_hosted_open(struct ringside_fw_hosted *fw, void *memory, size_t size);

/* A record: 4-byte aligned, `words` of 4 bytes, its first two bytes the event's ID. One that no page has room for is counted as lost. */
void ringside_fw_hosted_write(struct ringside_fw_hosted *fw, uint32_t ring, const void *record, uint32_t words);

/* Looks at what the host asks. As a write, it is the ring's one writer's to call. */
void ringside_fw_hosted_tick(struct ringside_fw_hosted *fw, uint32_t ring);

RINGSIDE_FW_END_C

static inline int ringside_fw_hosted_is_on(const struct ringside_fw_hosted *fw, uint32_t id)
{
	return id < fw->nr_events && ((volatile uint32_t *)fw->control->enable)[id / 32] >> id % 32 & 1;
}

#endif
