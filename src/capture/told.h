/*
 * capture/told: how far what is told late is complete.
 *
 * Some events are recorded by a process that only learns of them after they happened: the teller (cmd/switches). They have rings
 * of their own, and readers hold back what the programs wrote meanwhile until the teller has come as far (layout/ring.h). Nobody
 * waits for one that is dead, or stopped, or has turned to other sets.
 */
#ifndef CAPTURE_TOLD_H
#define CAPTURE_TOLD_H

#include <stdint.h>

/* Makes the caller the teller, through an open file of its own, for as long as that is open. -EBUSY: there is one. */
int told_lock(int rings);
/* The same by one who has something to do: who only waits for that is asked to leave. */
int told_take_over(int rings);
/* Changes when somebody does. */
uint64_t told_wishes(int rings);

/* Waits until all that has happened by now is told, if there is somebody who tells. */
void told_settle(int rings);

/* Of a set that is being made: what programs write to it waits for the teller, if there is one, from the beginning. */
void told_hold(int rings, uint64_t set);

#endif
