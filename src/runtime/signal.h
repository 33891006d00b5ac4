/*
 * runtime/signal: SIGBUS on our own ranges, chained with whatever the program does about SIGBUS.
 */
#ifndef RUNTIME_SIGNAL_H
#define RUNTIME_SIGNAL_H

#include <signal.h>
#include <stdbool.h>

void runtime_signal_init(void);
/* Our handler is the one that the kernel knows. */
bool runtime_signal_installed(void);
/* The program's wish for SIGBUS: kept beside our handler. Called by the wrapper of sigaction. */
int runtime_signal_program(const struct sigaction *act, struct sigaction *old);

#endif
