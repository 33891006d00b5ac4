/*
 * wake.pml: a reader that sleeps is woken by the next event, though the writer only looks at one word.
 *
 *   writer                          reader
 *   commit++      (last store)      w = wakes
 *   if waiters:                     waiters = 1
 *       waiters = 0                 membarrier
 *       wakes++                     if nothing new: futex_wait(wakes, w)
 *       futex_wake(all)
 *
 * The writer's store of commit may stay in its CPU's buffer while it loads waiters: any CPU does that. The writer has
 * no barrier of its own; membarrier empties the buffer for it. All this is outside of sections, so writers can come
 * between each other's steps, and be killed at each.
 *
 * Windows:
 *   H  between the store of commit and the load of waiters: a reader may set waiters and look. It sees the event, or
 *      the writer sees waiters.
 *   I  between a reader's second look and its sleep: a writer may commit, clear and wake. futex_wait compares wakes.
 *   J  between clear and futex_wake: others may set waiters; they are woken too, for nothing.
 *   K  a kill between commit and futex_wake loses a wake-up. That is what the reader's 100 ms are for, and only that.
 */
#include "prop.h"

byte commit, waiters, wakes;
bit asleep[2];
bit killed;

#define COMMIT	1
#define CLEAR	2
chan buffer = [2] of { byte };		/* stores of the writing CPU, first in, first out */

#define LOAD_WAITERS	w = (buffer??[CLEAR] -> 0 : waiters)

/* ---- Seeded faults ---- */

#ifdef FAULT_NO_MEMBARRIER
#define MEMBARRIER	skip
#else
#define MEMBARRIER	empty(buffer)
#endif
#ifdef FAULT_WAKE_NO_RECHECK
#define NEWS		false
#else
#define NEWS		(commit > seen)
#endif
#ifdef FAULT_SLEEP_NO_COMPARE
#define UNCHANGED	true
#else
#define UNCHANGED	(wakes == w)
#endif
#ifdef FAULT_WAKES_READ_LATE
#define EARLY		skip
#define LATE		w = wakes
#else
#define EARLY		w = wakes
#define LATE		skip
#endif
#ifdef FAULT_WAKE_ONE
#define WAKE_ALL	if :: asleep[0] -> asleep[0] = 0 :: else -> asleep[1] = 0 fi
#else
#define WAKE_ALL	asleep[0] = 0; asleep[1] = 0
#endif

proctype Buffer()
{
end:	do
	:: atomic { buffer?COMMIT -> commit++ }
	:: atomic { buffer?CLEAR -> waiters = 0 }
	od
}

#define STEP(s)	atomic { if :: s :: !killed -> killed = 1; goto dead fi }

proctype Writer(byte events)
{
	byte w;

	do
	:: events > 0 ->
		events--;
#ifdef FAULT_LOAD_EARLY
		LOAD_WAITERS;
		buffer!COMMIT;
#else
		buffer!COMMIT;
		STEP(LOAD_WAITERS);					/* H */
#endif
		if
		:: w ->
#ifndef FAULT_CLEAR_LAST
			STEP(buffer!CLEAR);
#endif
			STEP(empty(buffer) -> wakes++);			/* J: an atomic add */
			STEP(WAKE_ALL);
#ifdef FAULT_CLEAR_LAST
			STEP(buffer!CLEAR);
#endif
			w = 0
		:: !w
		fi
	:: events == 0 -> break
	od;
dead:	skip
}

proctype Reader(byte id)
{
	byte seen, w;

	do
	:: commit > seen -> seen = commit
	:: commit == seen ->
		EARLY;
		waiters = 1;
		MEMBARRIER;
		if
		:: NEWS -> w = 0
		:: !NEWS ->
			LATE;
			atomic { if :: UNCHANGED -> asleep[id] = 1 :: else fi };	/* I */
			if
			:: atomic { !asleep[id] -> w = 0 }
			:: timeout ->	/* nobody can do anything any more */
				atomic {
					MUST(WAKE, seen == commit || killed);		/* K */
					break
				}
			fi
		fi
	od
}

init { atomic { run Buffer(); run Writer(1); run Writer(2); run Reader(0); run Reader(1) } }
