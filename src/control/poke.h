/*
 * control/poke: programs that run are told when other functions of theirs are to be traced.
 *
 * Whoever records looks at the state by itself. But a function that is not patched records nothing, and code can only be patched
 * while the program's threads stand still, which the tool sees to (inject/). Programs that start look for themselves.
 */
#ifndef CONTROL_POKE_H
#define CONTROL_POKE_H

#include "control/control.h"

/* A number for what the state asks of functions; 0: nothing. */
uint64_t control_traced(const struct control_state *state);

/*
 * Behind a commit, without the lock: if it asks for something else than before. All have been told when this returns; with
 * control->aside all but the asker's process, or half a minute is over. Each program by itself has less time, and nobody waits
 * for who is stopped.
 */
void control_poke(struct control *control);

#endif
