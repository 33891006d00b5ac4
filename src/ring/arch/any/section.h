/*
 * ring/arch/any/section: of a CPU without sections of its own, 32-bit ARM for one: no ring of a CPU is written to, and every event goes to
 * an overflow ring, whose owner is alone with it (the twin in ring/write.c). Stores of eight bytes have to be one store there, which the
 * compiler sees to.
 */
#ifndef RING_ARCH_SECTION_H
#define RING_ARCH_SECTION_H

#include "ring/core.h"

static_assert(__atomic_always_lock_free(sizeof(uint64_t), 0), "what is shared is stored at once, or not yet");

/* No counter that every thread may read. */
static inline uint64_t section_counter(void)
{
	return 0;
}

static inline enum ring_result section_write(struct ring_rseq *rs, struct ring_op *op)
{
	(void)rs;
	(void)op;
	return RING_NOWHERE;
}

static inline enum ring_result section_switch(struct ring_rseq *rs, struct ring_op *op)
{
	(void)rs;
	(void)op;
	return RING_NOWHERE;
}

#endif
