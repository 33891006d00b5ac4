/*
 * order.pml: the ring on a CPU that orders as little as arm64 promises: R9, and what readers conclude from `tail`.
 *
 * The writing CPU sees its own stores at once, in `own`. The rest of the world sees `mem`, into which they land from
 * a queue, and not in the order of the program:
 *   a plain store    may land before anything older, but for stores to the same word
 *   a release store  lands after everything older; younger plain stores may still land before it
 *   a barrier        lets nothing younger in before all that is older has landed
 *
 * Windows:
 *   F  tail = s - 1 is in the queue, its page is filled, and the stores of SWITCH to s land before it: a reader of
 *      the page that s takes over sees them, and would see tail <= t + N - 2 afterwards. The barrier shuts it.
 *   G  a reader's second load of tail is satisfied before the loads of the copy. The LoadLoad barrier shuts it.
 *
 * An abort leaves stores in flight as they are and starts over, so those of several runs of a section can be queued.
 * One reader that looks at one page once, at any time, stands for all of them: readers change nothing here.
 */
#include "prop.h"

#ifndef N
#define N 2		/* pages */
#endif
#define U 2		/* events in a page, a cell each */
#ifndef PAGES
#define PAGES (N + 2)	/* to be filled: all come round */
#endif
#define DEPTH 4		/* stores in flight: F needs tail, U commits and a store to the next page */

#define TAIL		0
#define COMMIT(p)	(1 + (p) % N)
#define FIRST(p)	(1 + N + (p) % N)
#define CELL(p, i)	(1 + 2 * N + (p) % N * U + (i))
#define WORDS		(1 + 2 * N + N * U)

byte own[WORDS], mem[WORDS];
byte q_word[DEPTH], q_value[DEPTH], n;
bit q_release[DEPTH];

/* ---- Seeded faults ---- */

#ifdef FAULT_NO_BARRIER
#define BARRIER_EARLY
#define BARRIER_LATE
#elif defined(FAULT_BARRIER_LATE)	/* after the first store into the page instead of before */
#define BARRIER_EARLY
#define BARRIER_LATE	BARRIER;
#else
#define BARRIER_EARLY	BARRIER;
#define BARRIER_LATE
#endif
#ifdef FAULT_COMMIT_PLAIN
#define COMMIT_ORDER	0
#else
#define COMMIT_ORDER	1
#endif
#ifdef FAULT_TAIL_PLAIN
#define TAIL_ORDER	0
#else
#define TAIL_ORDER	1
#endif
#ifdef FAULT_NO_LOADLOAD		/* G */
#define COPIED		true
#else
#define COPIED		(loaded == ALL)
#endif
#ifdef FAULT_ACCEPT_OFF_BY_ONE
#define LIMIT		(t + N - 1)
#else
#define LIMIT		(t + N - 2)
#endif

/* ---- The writing CPU ---- */

#define BARRIER		n == 0

#define STORE(w, v, release) \
	atomic { n < DEPTH -> \
		if \
		:: own[w] = v; q_word[n] = w; q_value[n] = v; q_release[n] = release; n++ \
		:: goto again \
		fi }

proctype Writer()
{
	byte t, c;

	/* A section begins here; an abort comes back to here. */
again:	t = 0; c = 0;
	atomic { t = own[TAIL]; c = own[COMMIT(t)] }
	if
	:: c < U ->
		STORE(CELL(t, c), t * U + c, 0);
		STORE(COMMIT(t), c + 1, COMMIT_ORDER);
		goto again
	:: c == U && t + 1 < PAGES ->
		BARRIER_EARLY						/* F */
		STORE(COMMIT(t + 1), 0, 0);
		BARRIER_LATE
		STORE(FIRST(t + 1), (t + 1) * U, 0);
		STORE(TAIL, t + 1, TAIL_ORDER);
		goto again
	:: c == U && t + 1 == PAGES
	fi
}

#define SAME(i, j)	((j) < (i) && q_word[j] == q_word[i])
#define MAY_LAND(i) \
	((i) < n && ((i) == 0 || !(q_release[i] || SAME(i, 0) || SAME(i, 1) || SAME(i, 2))))

inline land(k)
{
	mem[q_word[k]] = q_value[k];
	i = k;
	do
	:: i + 1 < n -> q_word[i] = q_word[i + 1]; q_value[i] = q_value[i + 1]; q_release[i] = q_release[i + 1]; i++
	:: else -> break
	od;
	n--; q_word[n] = 0; q_value[n] = 0; q_release[n] = 0; i = 0
}

proctype Memory()
{
	byte i;

end:	do
	:: atomic { MAY_LAND(0) -> land(0) }
	:: atomic { MAY_LAND(1) -> land(1) }
	:: atomic { MAY_LAND(2) -> land(2) }
	:: atomic { MAY_LAND(3) -> land(3) }
	od
}

/* ---- The reader ---- */

#define FIRST_LOADED	4
#define ALL		7	/* both cells and first */

proctype Reader()
{
	byte T, t, c, f, again, copy[U], loaded;
	bit seen;

	atomic {
		T = mem[TAIL]; t = T;			/* acquire */
		do
		:: t > 0 && t + N > T + 2 -> t--	/* any that could be accepted */
		:: break
		od
	}
	c = mem[COMMIT(t)];				/* acquire */
	do						/* loads of the copy, in any order */
	:: !(loaded & 1) -> atomic { copy[0] = mem[CELL(t, 0)]; loaded = loaded | 1 }
	:: !(loaded & 2) -> atomic { copy[1] = mem[CELL(t, 1)]; loaded = loaded | 2 }
	:: !(loaded & 4) -> atomic { f = mem[FIRST(t)]; loaded = loaded | 4 }
	:: COPIED && !seen -> atomic { again = mem[TAIL]; seen = 1 }
	:: seen && loaded == ALL -> break
	od;
	atomic {
		if
		:: again <= LIMIT ->
			MUST(R9, f == t * U);
			MUST(R9, c == 0 || copy[0] == t * U);
			MUST(R9, c <= 1 || copy[1] == t * U + 1);
			MUST(R6, T == t || c == U)	/* tail had gone on: the page is finished, and seen to be */
		:: else
		fi
	}
}

init { atomic { run Writer(); run Memory(); run Reader() } }
