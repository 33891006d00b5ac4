/*
 * The promises of the ring, by number. MUST(R4, c) says that promise R4 needs c here.
 *
 * The verdict goes through a variable of the promise's name, so that the checker's message is that name. It is
 * hidden: no part of a state, so it costs none.
 */
hidden byte R1 = 1;	/* [0, commit) of a page is whole events, and commit only grows within a lap */
hidden byte R2 = 1;	/* a reader's view changes by the last store of a section, and by nothing else */
hidden byte R4 = 1;	/* at every boundary exactly one slot matches, and it tells the last event */
hidden byte R5 = 1;	/* times never decrease along a ring, page stamps among them */
hidden byte R6 = 1;	/* each event exactly once; committed + lost + dropped = attempted */
hidden byte R7 = 1;	/* whoever survives a kill goes on at once, with nothing to repair */
hidden byte R9 = 1;	/* an accepted copy is what the writer put there */
hidden byte R10 = 1;	/* an overflow ring has one live writer, and nobody waits for it */
hidden byte R11 = 1;	/* a section writes to the ring of the CPU it runs on */
hidden byte R12 = 1;	/* discard: no unread page is ever entered */
hidden byte R14 = 1;	/* an event belongs to exactly one generation */
hidden byte WAKE = 1;	/* no reader sleeps beside an event it has not seen */
hidden byte FREED = 1;	/* nobody stores to rings that were given back */

#define MUST(r, c)	r = (c); assert(r)
