/*
 * cmd/interrupt: signals that end or move a command which otherwise sleeps for as long as nothing happens.
 */
#ifndef CMD_INTERRUPT_H
#define CMD_INTERRUPT_H

#include <stdbool.h>
#include <stdint.h>

/* From now on SIGINT, SIGTERM and SIGHUP end it, SIGUSR1 is a request, and SIGCHLD wakes. For one command in a process. */
void interrupt_catch(void);

/* A word that changes with each of them, and is woken then (futex). */
const uint32_t *interrupt_word(void);

/* The signal that asked for the end, or 0. */
int interrupt_end(void);
/* How many asked for it. */
unsigned int interrupt_ends(void);
/* Was there a request since this was last asked? */
bool interrupt_request(void);

#endif
