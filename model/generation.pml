/*
 * generation.pml: the tool replaces the rings while programs write. Two CPUs with a ring each and one overflow ring,
 * in each of three generations; two writers that are killed, aborted and moved; a tool that is killed too. With
 * CONSUMER, a reader that stores how far it has come takes the place of one of the writers.
 *
 *   writer                                    tool
 *   view = gen; filter, format under it       build rings of g + 1
 *   section: gen == view, else start over     gen = g + 1
 *       store payload, commit                 run on every CPU: no section that saw g is left
 *   or: cmpxchg(owner, 0, me); taken++        wait until an overflow slot that is owned now is not, or again
 *       gen == view, else release             drain g
 *       store payload, commit, owner = 0      the state names g no more
 *   consumer                                  wait until nobody has locked g
 *   lock g; named, else leave                 free g
 *       store consumed, unlock
 *
 * Windows:
 *   P  between a section's check of gen and its commit: the tool may publish. The event goes to g, and the tool does
 *      not pass that CPU before the section has ended or been aborted; a new start checks again.
 *   Q  between publishing and looking at owner, against cmpxchg and load of gen: one of the two sees the other's
 *      store, for both have a full barrier in between.
 *   R  an owner that is seen at Q may release and own again: `taken` tells. It counts acquisitions, so the barrier
 *      before the load of gen must come after it: else a count that lands late looks like a new acquisition.
 *   S  between a consumer's lock and its look at the state, against the tool's last two steps: as Q.
 *   V  a tool that dies anywhere leaves gen and the list of rings to its successor, which starts at the first retired
 *      generation that is not freed. Draining again is harmless.
 */
#include "prop.h"

#define G 3		/* generations */
#define EVENTS 2	/* attempts */
#define KILLS 1		/* of writers */

byte gen;
byte owner, taken;	/* the overflow slot: one for all generations */
bit locked;		/* by the consumer, which reads generation 0 */
bit built[G], named[G], freed[G];
byte committed[G];	/* events in the rings of a generation */
byte drained[G];
bit dead[1 + 2 + KILLS];	/* by name; nobody is called 0 */

/* What the checks know and the protocol does not. */
bit busy[2];		/* a CPU runs a section */
bit writing[2];		/* a section writes to a CPU's ring */
bit tool_killed;
byte names, kills, live, begun, ended, dropped;

/* ---- Seeded faults ---- */

#if defined(FAULT_NO_GEN_CHECK)
#define CURRENT		(g == view)
#define RING		g = view
#elif defined(FAULT_NO_VIEW)		/* what was formatted under one generation goes to whichever is there now */
#define CURRENT		(g == gen)
#define RING		g = gen
#else
#define CURRENT		(gen == view)
#define RING		g = view
#endif
#ifdef FAULT_CPU_OUTSIDE		/* cpu_id of before the section */
#define LOOK		if :: r = 0 :: r = 1 fi
#define CPU_RING	r
#else
#define LOOK		skip
#define CPU_RING	c
#endif

/* ---- Writers ---- */

#define STORE		MUST(FREED, built[g] && !freed[g])
#define COMMIT		STORE; MUST(R14, g == view); committed[g]++; ended++
#define LEAVE		if :: in -> busy[c] = 0; writing[r] = 0; in = 0; c = 0; r = 0; g = 0 :: else fi

/* A step of a section: an abort or a kill may come before it. One outside of sections: only a kill. */
#define INSN(s)		atomic { if :: s :: goto abort fi }
#define STEP(s)		atomic { if :: s :: kills < KILLS -> kills++; goto kill fi }

proctype Writer()
{
	byte me, view;	/* its name; the generation that it goes by */
	byte g, c, r;	/* the generation, CPU and ring that it writes to */
	byte o;		/* owner as loaded */
	bit in;		/* a section */

	atomic { names++; me = names }
next:	atomic { g = 0; o = 0; view = 0; if :: begun == EVENTS -> goto done :: begun < EVENTS -> begun++ fi }
format:	atomic { view = gen; g = 0; o = 0; LOOK; if :: goto section :: goto overflow fi }

section:
	atomic {
		if :: !busy[0] -> c = 0 :: !busy[1] -> c = 1 fi;
		RING;
		if :: CURRENT :: else -> c = 0; goto format fi;
		busy[c] = 1; r = CPU_RING; in = 1; MUST(R11, !writing[r]); writing[r] = 1
	}
	INSN(STORE);							/* P */
	INSN(COMMIT; LEAVE);
	goto next;
abort:	atomic { LEAVE; if :: goto section :: goto overflow :: kills < KILLS -> kills++; goto kill fi }

overflow:
	STEP(o = owner);
	if
	:: o == 0 || dead[o]
	:: o != 0 && !dead[o] -> goto drop
	fi;
#ifdef FAULT_GEN_BEFORE_OWNER
	STEP(RING; if :: CURRENT :: else -> goto format fi);
#endif
	atomic { if :: owner == o -> owner = me :: else -> goto drop fi };
#ifdef FAULT_TAKEN_LATE
	STEP(RING; if :: CURRENT :: else -> owner = 0; goto format fi);
	STEP(taken++);
#elif defined(FAULT_GEN_BEFORE_OWNER)
	STEP(taken++);
#else
	STEP(taken++);							/* Q, R */
	STEP(RING; if :: CURRENT :: else -> owner = 0; goto format fi);
#endif
	STEP(STORE);
	STEP(COMMIT);
	STEP(owner = 0);
	goto next;
drop:	STEP(dropped++; ended++);
	goto next;

kill:	atomic { dead[me] = 1; names++; me = names; goto next }
done:	live--
}

#ifdef CONSUMER
proctype Consumer()
{
	bit found;

	do
	:: !freed[0] ->
#ifdef FAULT_LOCK_LATE
		found = named[0];
		locked = 1;
#else
		locked = 1;
		found = named[0];						/* S */
#endif
		if
		:: found -> atomic { found = 0; MUST(FREED, !freed[0]) }	/* stores to the ring's head */
		:: !found
		fi;
		locked = 0
	:: freed[0] -> break
	od
}
#endif

/* ---- The tool ---- */

#define ON_CPU(n)	!busy[n]
#define RELEASED	(o == 0 || owner != o || taken != k || dead[o])
#ifdef FAULT_NO_LOCK_WAIT
#define UNLOCKED	true
#else
#define UNLOCKED	(g > 0 || !locked)
#endif
#define TOOL(s)		atomic { if :: s :: !tool_killed -> tool_killed = 1; goto again fi }	/* V */

proctype Tool()
{
	byte g, o, k;

again:	atomic {
		o = 0; k = 0; g = gen;
		if
		:: gen > 0 && !freed[gen - 1] -> g = gen - 1; goto retire
		:: !(gen > 0 && !freed[gen - 1]) && gen < G - 1
		:: !(gen > 0 && !freed[gen - 1]) && gen == G - 1 -> goto done
		fi
	}
#if defined(FAULT_PUBLISH_UNBUILT)
	TOOL(gen = g + 1);
	TOOL(built[g + 1] = 1);
#elif defined(FAULT_PUBLISH_LATE)	/* nothing tells when the last writer has seen it */
	TOOL(built[g + 1] = 1);
	TOOL(ON_CPU(0));
	TOOL(ON_CPU(1));
	TOOL(gen = g + 1);
#elif defined(FAULT_OWNER_EARLY)	/* as if the store of gen were seen after the loads that follow it */
	TOOL(built[g + 1] = 1);
	TOOL(o = owner);
	TOOL(k = taken);
	TOOL(gen = g + 1);
#else
	TOOL(built[g + 1] = 1);
	TOOL(gen = g + 1);
#endif
retire:
#ifdef FAULT_DRAIN_EARLY
	TOOL(drained[g] = committed[g]);
#endif
#if !defined(FAULT_FREE_EARLY) && !defined(FAULT_PUBLISH_LATE)
	TOOL(ON_CPU(0));
#ifndef FAULT_ONE_CPU
	TOOL(ON_CPU(1));
#endif
#endif
#ifndef FAULT_NO_OWNER_WAIT
#ifndef FAULT_OWNER_EARLY
	TOOL(o = owner);						/* Q */
	TOOL(k = taken);
#endif
	TOOL(RELEASED);							/* R */
#endif
#ifndef FAULT_DRAIN_EARLY
	TOOL(drained[g] = committed[g]);
#endif
	TOOL(named[g] = 0);						/* S */
	TOOL(UNLOCKED);
	TOOL(freed[g] = 1);
	goto again;
done:	skip
}

init {
	atomic {
		built[0] = 1; named[0] = 1; named[1] = 1;
#ifdef CONSUMER
		live = 1;
		run Consumer();
#else
		live = 2;
		run Writer();
#endif
		run Writer();
		run Tool()
	}
	atomic {
		live == 0 && freed[G - 2] ->
		MUST(R6, drained[0] == committed[0] && drained[1] == committed[1]);
		MUST(R6, committed[0] + committed[1] + committed[2] + dropped == ended)
	}
}
