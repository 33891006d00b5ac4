/*
 * The promises of the ring, by number. MUST(R4, c) says that promise R4 needs c here.
 *
 * The verdict goes through a variable of the promise's name, so that the checker's message is that name. It is
 * hidden, no part of a state, but where a trail is wanted: the search for the shortest knows no hidden variables.
 */
#ifdef TRAIL
#define VERDICT	byte
#else
#define VERDICT	hidden byte
#endif

VERDICT R1 = 1;	/* [0, commit) of a page is whole events, and commit only grows within a lap */
VERDICT R2 = 1;	/* a reader's view changes by the last store of a section, and by nothing else */
VERDICT R4 = 1;	/* at every boundary exactly one slot matches, and it tells the last event */
VERDICT R5 = 1;	/* times never decrease along a ring, page stamps among them */
VERDICT R6 = 1;	/* each event exactly once; committed + lost + dropped = attempted */
VERDICT R7 = 1;	/* whoever survives a kill goes on at once, with nothing to repair */
VERDICT R9 = 1;	/* an accepted copy is what the writer put there */
VERDICT R10 = 1;	/* an overflow ring has one live writer, and nobody waits for it */
VERDICT R11 = 1;	/* a section writes to the ring of the CPU it runs on */
VERDICT R12 = 1;	/* discard: no unread page is ever entered */
VERDICT R14 = 1;	/* an event belongs to exactly one generation */
VERDICT WAKE = 1;	/* no reader sleeps beside an event it has not seen */
VERDICT FREED = 1;	/* nobody stores to rings that were given back */

#define MUST(r, c)	r = (c); assert(r)
