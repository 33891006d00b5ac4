/*
 * ring/core: what the hot path works on, and the contract of the sections that each architecture provides.
 *
 * An event becomes visible by exactly one store, to its page's `commit`, and a page by exactly one store, to `tail`. Each
 * is the last instruction of an rseq *section*: the kernel sends a thread that was preempted, migrated or signalled
 * inside a section to its abort handler, so whatever the section stored before counts for nothing, and no other thread
 * ran on this CPU in between. There is nothing to repair after a death at any instruction.
 *
 *   WRITE                                          SWITCH
 *     generation still the view's?  else STALE       same CPU, same tail as WRITE saw?  else AGAIN
 *     page <- tail, room above commit? else FULL     discard mode, reader too near?  dropped <- +1 and no more
 *     slot whose tag is (tail, commit)               next page: commit <- 0
 *     time, never before the slot's                  first[next] <- number of its first event
 *     header and payload above commit                other slot <- {time, number, (next, 0)}
 *     other slot <- {time, number+1, new tag}        tail <- next                      <- the one store
 *     commit <- new                <- the one store
 *
 * Sections store only inside the ring that `ring_ref` describes, whatever the words they load say: the reference is a
 * private, checked copy (R16). They read no clock but the CPU's counter, call nothing, and touch no memory of the
 * program but the staged record.
 */
#ifndef RING_CORE_H
#define RING_CORE_H

#include <assert.h>
#include <stddef.h>
#include <stdint.h>

#include "layout/ring.h"

/* A ring as a writer may use it: pointers into the mapping, checked when the view was made. One cache line. */
struct ring_ref {
	struct ring_head *head;		/* NULL: not usable on this CPU (yet) */
	unsigned char *pages;
	uint64_t *first;
	uint32_t npages;
	uint32_t data_size;		/* page size less header */
	uint32_t page_shift;
	uint32_t flags;			/* RING_REF_* */
	uint64_t mult;
	uint64_t counter0;
	uint64_t ns0;
#if defined(__i386__)
	uint32_t pad[3];
#elif __SIZEOF_POINTER__ == 4
	uint32_t pad[2];		/* words of eight bytes lie at multiples of eight */
#endif
};
static_assert(sizeof(struct ring_ref) == 64, "one line");

/* Where a thread wrote last, by a reference: for section_fast(), which looks whether all of that still holds. Private, too. */
struct ring_near {
	struct ring_head *head;
	uint64_t tail;
	unsigned char *page;
	uint64_t generation;		/* RING_NEAR_NONE: nothing is known; nor is it by 0, under which nothing is written */
	uint32_t cpu;
	uint32_t data_size;
	uint64_t mult;
	uint64_t counter0;
	uint64_t ns0;
#if defined(__i386__)
	uint32_t pad[2];
#endif
};
static_assert(sizeof(struct ring_near) == 64, "one line");
#define RING_NEAR_NONE UINT64_MAX

enum {
	RING_REF_OVERWRITE = 1,
	RING_REF_COUNTER = 2,		/* the section reads the counter itself; else ring_op.ts is the time */
	RING_REF_OFF = 4,		/* nothing is to be written on this CPU; head is NULL and stays so */
};

enum ring_result {
	RING_DONE = 0,		/* committed */
	RING_ABORTED,		/* preempted, migrated or signalled: nothing happened */
	RING_FULL,		/* no room in the page that op->tail names: switch */
	RING_EXTEND,		/* the time since the last event needs an extend: again with op->extend set */
	RING_STALE,		/* another generation is current: new view */
	RING_NOWHERE,		/* this CPU has no ring here */
	RING_CORRUPT,		/* the ring's words make no sense: switch heals it */
	RING_AGAIN,		/* somebody else switched: again */
	RING_DROPPED,		/* discard mode and full; counted */
	RING_SWITCHED,		/* the next page is current */
	RING_WAITED,		/* committed, and somebody waits for each event */
};

/* One event on its way. In and out of sections by memory: they have few registers. */
struct ring_op {
	const struct ring_ref *refs;	/* one a CPU */
	const uint64_t *published;
	uint64_t generation;		/* what *published must be */
	const void *payload;
	uint64_t ts;			/* time, unless the ref says RING_REF_COUNTER; out: as recorded */
	uint32_t ncpu;
	uint32_t len;			/* of the payload: a multiple of 4, at least 8 */
	uint32_t word;			/* the header's first word without its delta */
	uint32_t extra;			/* 4 when a length word follows the header, else 0 */
	uint32_t need;			/* 4 + extra + len */
	uint32_t extend;		/* 8 when a time extend goes before the event, else 0 */
	uint32_t cpu;			/* out: where it happened */
	uint32_t result;		/* out of SWITCH */
	uint64_t tail;			/* out of WRITE, into SWITCH: the page that was full */
	uint32_t ring;			/* out of overflow rings: which of refs */
};

/* The kernel's struct rseq, as far as we use it. cpu_id_start is never read and nothing but rseq_cs ever written. */
struct ring_rseq {
	uint32_t cpu_id_start;
	uint32_t cpu_id;
	uint64_t rseq_cs;
	uint32_t flags;
	uint32_t reserved[3];
} __attribute__((aligned(32)));
static_assert(sizeof(struct ring_rseq) == 32, "the original registration");

/*
 * Provided by ring/arch/CPU/section.h:
 *   enum ring_result section_write(struct ring_rseq *rs, struct ring_op *op);
 *   enum ring_result section_switch(struct ring_rseq *rs, struct ring_op *op);
 *   uint64_t section_counter(void);
 * and, where SECTION_FAST is defined, section_near() and section_fast(): WRITE for the common case, with everything in registers;
 * and the latter for records of certain lengths.
 */

static inline void ring_op_payload(struct ring_op *op, const void *payload, uint32_t len)
{
	op->payload = payload;
	op->len = len;
	if (len <= EVENT_LEN_MAX_SHORT) {
		op->word = len / 4;
		op->extra = 0;
	} else {
		op->word = EVENT_TYPE_LONG;
		op->extra = 4;
	}
	op->need = 4 + op->extra + len;
}

#endif
