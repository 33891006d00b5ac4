/*
 * ring.pml: one CPU's ring, its writers, and a reader on another CPU. Memory is in program order here; order.pml takes
 * that away.
 *
 * A section runs with the CPU in hand. Before each of its stores the kernel may take the CPU away: the section has
 * then had no effect but the stores so far, and starts again from its first load. SIGKILL is the same without the
 * new start. So one label, `aborted`, stands for preemption, migration, a signal and death, at every boundary.
 *
 * Between sections nothing of a writer is left but what it wants to write. So a process of this model is any number
 * of programs in a row: one that is killed is followed by the next.
 *
 * Windows:
 *   A  between two stores of WRITE: the cells above commit and the slot that does not match may be anything
 *   B  between the WRITE that found no room and the SWITCH it asks for: somebody else may have switched
 *   C  between two stores of SWITCH: the next page is reset, and tail does not say so yet
 *   D  between a reader's two loads of tail: the page that it copies may be entered by C
 *   E  between a reader's loads of tail and commit: the page may have grown, and been finished
 *
 * R1 and R5 are shown by induction: a commit store covers the cells of its own event and a time not below the last
 * (MUST at COMMIT), and no other store touches what a reader may see (R2 at every store).
 *
 * Times are one bit, and arbitrary. That is enough: a sequence decreases somewhere only if it still does so after
 * each time is replaced by "at or after x", for some x; and max() does not care about that replacement.
 */
#include "prop.h"

#ifndef N
#define N 2		/* pages */
#endif
#ifndef EVENTS
#define EVENTS 3	/* attempts that come to an end */
#endif
#define U 2		/* cells in a page; an event takes one or two */

/*
 * Without READER: two writers and every abort there can be, for what writers promise.
 * With READER: one writer and at most ABORTS aborts, for what readers conclude. R2 makes that enough, since an aborted
 * section is nothing to a reader. Fewer states: times stand still, the stores to a slot, which no reader looks at, are
 * one step, and what a second writer could do at B is done by SWITCH coming out of the blue.
 */
#ifdef READER
#define TICK 0
#ifndef ABORTS
#define ABORTS 1
#endif
byte aborts;
#define MAY_ABORT	(aborts < ABORTS)
#define ABORTED		aborts++
#else
#define TICK 1
#define MAY_ABORT	true
#define ABORTED		skip
#endif

typedef Page {
	byte commit;	/* cells of whole events */
	byte first;	/* number of the first event, drops counted */
	byte base;	/* the same without drops: for the checks only */
	bit stamp;	/* time of the first event */
	byte cell[U];
};
typedef Slot {
	byte tag;
	bit ts;
	byte nr;
};

Page page[N];
Slot slot[2];
byte tail;		/* page sequence: page[tail % N] is being written */
byte dropped;
byte consumed;		/* page sequence; the one word that a reader writes */

#define NEXT(t)		(((t) + 1) % N)
#define TAG(t, c)	((t) * (U + 1) + (c))
#define MATCH(i)	(slot[i].tag == TAG(tail, page[tail % N].commit))
#define CUR		(MATCH(0) -> 0 : 1)

/* The first cell of an event holds its number and length; a second one the number and 0. */
#define CELL(nr, size)	((nr) * 4 + (size))
#define NR(w)		((w) / 4)
#define SIZE(w)		((w) % 4)

/* All pages but the next are what a reader may accept: their first, and their stamp and cells up to commit. */
#define SEEN(p, i)	((p) != NEXT(tail) && (i) < page[p].commit)

/* What the checks know and the protocol does not. */
bit busy;		/* the CPU runs a section */
bit last;		/* time of the last event */
byte ended, committed;	/* attempts that came to an end, and events */
byte live;		/* writers that may still write */

#define BOUNDARY \
	MUST(R4, MATCH(0) + MATCH(1) == 1); \
	MUST(R4, slot[CUR].nr == committed && slot[CUR].ts == last)

/* ---- Seeded faults: each changes one thing ---- */

#ifdef FAULT_TAG_SKIP			/* the higher number is the last, whatever the tags say */
#define PICK		o = (slot[0].nr >= slot[1].nr)
#else
#define PICK		o = (slot[0].tag == TAG(t, c))
#endif
#ifdef FAULT_SAME_SLOT			/* the slot that matches is written over */
#define DEST		(1 - o)
#else
#define DEST		o
#endif
#ifdef FAULT_NO_MAX			/* the clock is believed */
#define CLOCK(v)	now = v
#else
#define CLOCK(v)	now = v | slot[1 - o].ts
#endif
#ifdef FAULT_STAMP_STALE		/* only the ring's very first page is stamped */
#define UNSTAMPED	(c == 0 && t == 0)
#else
#define UNSTAMPED	(c == 0)
#endif
/* The page after the next is being read: one more than R12 asks for, so that CAME_ROUND serves discard mode too. */
#if defined(FAULT_DISCARD_NO_GAP)
#define FULL		(t + 1 == consumed + N)
#elif defined(FAULT_DISCARD_OFF_BY_ONE)
#define FULL		(t == consumed + N)
#else
#define FULL		(t + 2 == consumed + N)
#endif
#ifdef FAULT_DROP_UNCOUNTED
#define DROP		skip
#else
#define DROP		dropped++
#endif
#ifdef FAULT_ACCEPT_OFF_BY_ONE
#define CAME_ROUND	(tail > t + N - 1)
#else
#define CAME_ROUND	(tail > t + N - 2)
#endif
#ifdef FAULT_FINISHED_BY_SECOND_LOAD	/* tail of after the copy is held against commit of before (E) */
#define FINISHED	(tail > t)
#else
#define FINISHED	(T > t)
#endif

/* ---- Sections ---- */

#define ENTER		!busy -> busy = 1; t = tail; c = page[t % N].commit; PICK
#define ENDED		ended++; size = 0
#define LEAVE		busy = 0; t = 0; c = 0; o = 0; now = 0

/* INSN: a store inside a section. LAST: the one that ends it, visible and out of reach of an abort in one step. */
#ifndef FAULT_NO_ABORT
#define INSN(s)		atomic { if :: s; BOUNDARY :: MAY_ABORT -> goto aborted fi }
#define INSN_IF(y, s)	atomic { if :: (y) -> s; BOUNDARY :: (y) && MAY_ABORT -> goto aborted :: else fi }
#define LAST(s)		atomic { if :: s; BOUNDARY; LEAVE :: MAY_ABORT -> goto aborted fi }
#else					/* preempted, and resumed where it was */
#define YIELD		if :: skip :: busy = 0; atomic { !busy -> busy = 1 } fi
#define INSN(s)		YIELD; atomic { s; BOUNDARY }
#define INSN_IF(y, s)	if :: (y) -> INSN(s) :: else fi
#define LAST(s)		YIELD; atomic { s; BOUNDARY; LEAVE }
#endif

#define PUT_STAMP	INSN_IF(UNSTAMPED, MUST(R2, !SEEN(t % N, 0)); page[t % N].stamp = now)
#define PUT_CELLS \
	INSN(MUST(R2, !SEEN(t % N, c)); page[t % N].cell[c] = CELL(slot[1 - o].nr, size)); \
	INSN_IF(size == 2, MUST(R2, !SEEN(t % N, c + 1)); page[t % N].cell[c + 1] = CELL(slot[1 - o].nr, 0))
#ifdef READER
#define SET_SLOT(ts_, nr_, tag_) \
	INSN(slot[DEST].ts = ts_; slot[DEST].nr = nr_; slot[DEST].tag = tag_)
#else
#define SET_SLOT(ts_, nr_, tag_) \
	INSN(slot[DEST].ts = ts_); INSN(slot[DEST].nr = nr_); INSN(slot[DEST].tag = tag_)
#endif
#define COMMIT \
	MUST(R1, page[t % N].cell[c] == CELL(slot[1 - o].nr, size)); \
	MUST(R1, size == 1 || page[t % N].cell[c + 1] == CELL(slot[1 - o].nr, 0)); \
	MUST(R5, now >= last && (c > 0 || page[t % N].stamp == now)); \
	page[t % N].commit = c + size; committed++; last = now

#define RESET \
	MUST(R2, NEXT(t) == NEXT(tail)); page[NEXT(t)].commit = 0
#define NUMBER \
	MUST(R2, NEXT(t) == NEXT(tail)); \
	page[NEXT(t)].first = slot[1 - o].nr + dropped; page[NEXT(t)].base = slot[1 - o].nr
#define KEEP_SLOT \
	SET_SLOT(slot[1 - o].ts, slot[1 - o].nr, TAG(t + 1, 0))

proctype Writer()
{
	byte size;	/* of the record in hand; 0: none */
	byte t, c;	/* tail and commit as loaded */
	bit o;		/* the slot that does not match */
	bit now;	/* time of the event */
	bit sw;		/* the section is SWITCH */

idle:	atomic {
		if
		:: ended < EVENTS -> if :: size = 1 :: size = 2 fi
		:: ended >= EVENTS -> goto done
		fi;
#ifdef READER
		if :: skip :: tail <= N -> sw = 1; goto switch fi
#endif
	}

write:	/* The words loaded are written on this CPU only, so nothing comes between the loads. */
	atomic {
		ENTER;
		if
		:: c + size > U -> LEAVE; sw = 1; goto switch			/* B */
		:: c + size <= U -> if :: CLOCK(0) :: CLOCK(TICK) fi
		fi
	}
#if defined(FAULT_COMMIT_FIRST)
	PUT_STAMP; SET_SLOT(now, slot[1 - o].nr + 1, TAG(t, c + size));
	INSN(page[t % N].commit = c + size; committed++; last = now); PUT_CELLS; LAST(ENDED);
#elif defined(FAULT_COMMIT_NOT_LAST)
	PUT_STAMP; PUT_CELLS; SET_SLOT(now, slot[1 - o].nr + 1, TAG(t, c + size));
	INSN(COMMIT); LAST(ENDED);
#else
	PUT_STAMP;								/* A */
	PUT_CELLS;
	SET_SLOT(now, slot[1 - o].nr + 1, TAG(t, c + size));
	LAST(COMMIT; ENDED);
#endif
	goto idle;

switch:	/*
	 * The code leaves it when tail is not what WRITE saw. Nothing here depends on that, so it is not asked: at B a
	 * SWITCH too many wastes a page, and does no harm.
	 */
	atomic { ENTER }
#ifdef DISCARD
	if
	:: FULL -> LAST(DROP; ENDED; sw = 0); goto idle
	:: !FULL
	fi;
	atomic { MUST(R12, t + 1 - consumed < N) }
#endif
#if defined(FAULT_TAIL_BEFORE_COMMIT_RESET)
	INSN(NUMBER); KEEP_SLOT; INSN(tail = t + 1); LAST(RESET; sw = 0);
#elif defined(FAULT_FIRST_LATE)
	INSN(RESET); KEEP_SLOT; INSN(tail = t + 1); LAST(NUMBER; sw = 0);
#else
	INSN(RESET);								/* C */
	INSN(NUMBER);
	KEEP_SLOT;
	LAST(tail = t + 1; sw = 0);
#endif
	goto write;

aborted:
progress:	/* with NP: whoever goes on for ever is aborted for ever, and goes to the overflow ring for that */
	atomic {
		LEAVE; ABORTED;
		if
		:: sw -> goto switch
		:: !sw -> goto write
		:: size = 0; sw = 0; goto idle	/* killed; the next program comes */
		fi
	}
done:	live--
}

/* ---- The reader ---- */
#ifdef READER

/* An accepted copy: whole events with running numbers, the first as the page says. base ends as the next number. */
inline walk()
{
	i = 0;
	do
	:: i < c ->
		MUST(R9, SIZE(copy[i]) == 1 || (SIZE(copy[i]) == 2 && i + 2 <= c && copy[i + 1] == copy[i] - 2));
		MUST(R9, NR(copy[i]) == base);
		base++;
		i = i + SIZE(copy[i])
	:: else -> break
	od
}

/* Follows the ring to its end, and consumes. */
proctype Reader()
{
	byte t, off;			/* where it is */
	byte expect;			/* number of the next event: all below were read or told as lost */
	byte drops;			/* told as dropped so far */
	byte T, c, f, base, i, copy[U];	/* of one pass */
	bit quiet;			/* nobody wrote any more when the pass began */
	bit overrun;			/* by writers: the only way to lose events */

	do
	:: atomic {	/* waits for news: wake.pml shows that it can */
		tail != t || page[t % N].commit != off || !live -> quiet = !live; T = tail;
#ifndef DISCARD
		if
		:: T > t + N - 2 -> t = T + 2 - N; off = 0; overrun = 1	/* to the oldest that can be accepted */
		:: else
		fi
#endif
	   }
#ifdef FAULT_CONSUME_EARLY
	   if :: T > t -> consumed = t + 1 :: T == t fi;
#endif
	   c = page[t % N].commit;					/* E */
	   atomic { f = page[t % N].first; base = page[t % N].base }	/* D from here on */
	   if :: c > 0 -> copy[0] = page[t % N].cell[0] :: c == 0 fi;
	   if :: c > 1 -> copy[1] = page[t % N].cell[1] :: c <= 1 fi;
	   atomic {
		if
		:: !CAME_ROUND ->
			MUST(R1, c >= off);
			/* before this page base - expect were lost, and f - base - drops were dropped */
			MUST(R6, off > 0 || base == expect || (base > expect && overrun));
			MUST(R6, f - base >= drops);
			overrun = 0; drops = f - base;
			walk();
			expect = base;
			off = c;
			if
			:: FINISHED -> t++; off = 0; consumed = t
			:: !FINISHED && quiet -> break
			:: else
			fi
		:: else -> MUST(R9, !quiet);	/* nobody writes, so nothing comes round */
#ifdef DISCARD
			MUST(R12, !CAME_ROUND)		/* and nothing does while it is unread */
#endif
		fi;
		T = 0; c = 0; f = 0; base = 0; i = 0; copy[0] = 0; copy[1] = 0
	   }
	od;
	atomic {
		MUST(R6, ended == committed + dropped);
		MUST(R6, expect == committed && drops <= dropped)
	}
}
#endif

init {
	atomic {
		slot[1].tag = 255;	/* matches nothing; slot[0], all 0, is that of the empty ring */
		live = 1; run Writer();
#ifdef READER
		run Reader()
#else
		live = 2; run Writer()
#endif
	}
#ifndef READER
	atomic { !live -> MUST(R6, ended == committed + dropped) }
#endif
}
