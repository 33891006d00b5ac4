/*
 * ring/write: one event into one buffer, by the sections, or by an overflow ring where those cannot run.
 */
#ifndef RING_WRITE_H
#define RING_WRITE_H

#include <stdbool.h>

#include "ring/core.h"

/* After so many aborts of one event the overflow ring takes it: a debugger steps us, or the machine thrashes (R10). */
#define RING_ABORTS_MAX 16
/* No ring needs as many turns for one event, unless its words are somebody's garbage (R16). */
#define RING_TURNS_MAX 64

/*
 * Writes op through sections. RING_DONE or RING_DROPPED: that is how it ended. RING_STALE: nothing happened, get a new
 * view. RING_NOWHERE, RING_ABORTED, RING_CORRUPT: nothing happened, try the overflow ring.
 */
enum ring_result ring_write(struct ring_rseq *rs, struct ring_op *op);

/*
 * The same in C for a ring that the caller owns by an overflow slot: the event's CPU goes before its payload, the
 * time is op->ts. RING_DONE, RING_DROPPED or RING_CORRUPT.
 */
enum ring_result ring_twin_write(const struct ring_ref *ref, struct ring_op *op, uint32_t cpu);

/* Longest payload that fits into a page of the smallest size, with a CPU word, a long header and an extend. */
#define RING_PAYLOAD_MAX (PAGE_SIZE_MIN - PAGE_HEAD_SIZE - 8 - 4 - 8)

/*
 * Overflow slots. `me` names the thread for ever: tid << 32 | start time. `dead` tells whether an owner is; it is only
 * asked when every slot is taken. Gives the slot's index, or -1: no way without waiting, and nobody waits here.
 */
int ring_overflow_take(struct overflow_slot *slots, uint32_t n, uint32_t first, uint64_t me,
		       bool (*dead)(uint64_t owner));
void ring_overflow_release(struct overflow_slot *slot);

#endif
