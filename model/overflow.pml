/*
 * overflow.pml: an overflow ring. Its writers have no section to protect them but an owner word; they run at the same
 * time on different CPUs, and can be killed, or stopped for good, at every boundary.
 *
 * Windows:
 *   L  between seeing that the owner is dead and the cmpxchg: another may steal the slot, and release it. The word
 *      then holds another name or 0; the dead one's name never comes back, being tid and start time.
 *   M  between cmpxchg and release: the owner's death leaves a half-written record above commit and in the slot that
 *      does not match, as an aborted section does. There is nothing to repair.
 *
 * Nobody waits: an attempt that finds a live owner, or loses the cmpxchg, is dropped and counted. A stopped owner
 * (SIGSTOP, a debugger) stops nobody else. The progress search shows that no way leads round in a circle.
 */
#include "prop.h"

#ifndef EVENTS
#define EVENTS 3	/* attempts, and one more by a survivor */
#endif
#define KILLS 2
#define K 2		/* aborts of the CPU's section before the overflow ring is taken */

byte owner;		/* 0, or a program's name */
byte commit;		/* events of two cells; ring.pml has the pages */
byte cell[(EVENTS + 1) * 2];
byte tag[2], nr[2];
byte dropped;
bit dead[1 + 3 + KILLS + 1];	/* what /proc says about a name; nobody is called 0 */

/* What the checks know and the protocol does not. */
byte names, kills, live, inside, begun, ended, committed;
bit stopped, alone;	/* a program hangs; all others are gone and the survivor runs */

#define MATCH(i)	(tag[i] == commit)
#define BOUNDARY \
	MUST(R4, MATCH(0) + MATCH(1) == 1); \
	MUST(R4, nr[(MATCH(0) -> 0 : 1)] == committed)

/* ---- Seeded faults ---- */

#ifdef FAULT_STEAL_LIVE
#define DEAD(o)		true
#elif defined(FAULT_NO_STEAL)
#define DEAD(o)		false
#else
#define DEAD(o)		dead[o]
#endif
#ifdef FAULT_NAME_REUSE			/* the tid alone, and the next program gets it */
#define BORN		dead[me] = 0
#else
#define BORN		names++; me = names
#endif
#ifdef FAULT_WAIT_OWNER
#define LOOK		(owner == 0 || dead[owner]) -> o = owner
#else
#define LOOK		o = owner
#endif
#ifdef FAULT_NO_LIMIT
#define ENOUGH		false
#else
#define ENOUGH		(k == K)
#endif

/* One step of a program, or the end of it. */
#define STEP(s) \
	atomic { \
		if \
		:: s; BOUNDARY \
		:: !alone && kills < KILLS -> kills++; goto kill \
		:: !alone && !stopped -> stopped = 1; goto done \
		fi }
#define GOT_IN		in = 1; inside++; MUST(R10, inside == 1)
#define LEAVE		inside = inside - in; in = 0
#define RELEASE		owner = 0; LEAVE
#define COMMIT \
	MUST(R1, cell[commit * 2] == CELL(0) && cell[commit * 2 + 1] == CELL(1)); \
	commit++; committed++; ended++
#define CELL(i)		(me * 8 + committed * 2 + (i))

proctype Program()
{
	byte me, o, k;
	bit in, d;	/* owns the ring; the slot that does not match */

	atomic { names++; me = names }
next:	atomic {
		k = 0; o = 0; d = 0;
		if :: begun == EVENTS + alone -> goto done :: begun < EVENTS + alone -> begun++ fi
	}
	do	/* the CPU's own ring: aborted, until it is enough */
	:: !ENOUGH -> k = (k + 1) % (K + 1)
	:: ENOUGH -> break
	od;

	STEP(LOOK);
	if
	:: o == 0 || DEAD(o)
	:: o != 0 && !DEAD(o) -> goto drop
	fi;
#ifdef FAULT_NO_CMPXCHG		/* load, compare, and store some time later */
	if :: owner == o :: owner != o -> goto drop fi;
	STEP(owner = me; GOT_IN);
#else
	atomic { if :: owner == o -> owner = me; GOT_IN; BOUNDARY :: owner != o -> goto drop fi }	/* L */
#endif
	d = MATCH(0);							/* M from here on */
	STEP(cell[commit * 2] = CELL(0));
	STEP(cell[commit * 2 + 1] = CELL(1));
	STEP(nr[d] = nr[1 - d] + 1);
	STEP(tag[d] = commit + 1);
#ifdef FAULT_RELEASE_EARLY	/* a release store that is none: commit lands after it */
	STEP(RELEASE);
	STEP(COMMIT);
#else
	STEP(COMMIT);
	STEP(RELEASE);
#endif
	goto next;

drop:	atomic { MUST(R7, !alone || stopped) }	/* with nobody else alive it must have got in */
#ifdef FAULT_DROP_PLAIN
	STEP(k = dropped);
	STEP(dropped = k + 1; ended++);
#else
	STEP(dropped++; ended++);		/* an atomic add */
#endif
	goto next;

kill:	atomic { dead[me] = 1; LEAVE; k = 0; o = 0; d = 0 }
	atomic { BORN; goto next }
done:	live--
}

init {
	atomic {
		tag[1] = 255;
		live = 3;
		run Program();
		run Program();
		run Program()
	}
	atomic { live == 0 -> alone = 1; live = 1; run Program() }
	atomic { live == 0 -> MUST(R6, ended == committed + dropped) }
}
