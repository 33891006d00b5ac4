/*
 * cmd/beside: a process that the tool has beside it for as long as it works, or that stays behind it.
 */
#ifndef CMD_BESIDE_H
#define CMD_BESIDE_H

#include <signal.h>

/* Not 0: it is told to end. */
extern volatile sig_atomic_t beside_stop;

/* In the child: signals are not the parent's, and who lists processes does not take it for that one. */
void beside_begin(const char *name);

#endif
