/*
 * The sections for the common case as writers use them: with what they know of the ring, which is found anew where it does not hold.
 */
#ifndef TESTS_RING_FAST_H
#define TESTS_RING_FAST_H

#include "ring/arch.h"

#ifdef SECTION_FAST
static inline enum ring_result fast_section(struct ring_rseq *rs, const struct ring_near *near, struct ring_op *op)
{
	/* Lengths that have a section of their own; one of 48 bytes has its time at its end, for those who want that. */
	if (op->len == 20)
		return section_fast20(rs, near, op->published, op->generation, op->payload, op->len, &op->ts);
	if (op->len == 24)
		return section_fast24(rs, near, op->published, op->generation, op->payload, op->len, &op->ts);
	return section_fast(rs, near, op->published, op->generation, op->payload, op->len, &op->ts);
}

/* Tells whether somebody waits for each event, for lengths whose sections do. */
static inline enum ring_result fast_write_told(struct ring_rseq *rs, struct ring_near *near, struct ring_op *op)
{
	enum ring_result result = fast_section(rs, near, op);

	if (result == RING_DONE || result == RING_WAITED)
		return result;
	if (section_near(rs, near, op->refs, op->ncpu, op->published, op->generation) != RING_DONE)
		return RING_AGAIN;
	return fast_section(rs, near, op);
}

static inline enum ring_result fast_write(struct ring_rseq *rs, struct ring_near *near, struct ring_op *op)
{
	enum ring_result result = fast_write_told(rs, near, op);

	return result == RING_WAITED ? RING_DONE : result;
}
#endif

#endif
