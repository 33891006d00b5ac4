/*
 * runtime/signal: the signals that have a handler of ours before the program's: SIGBUS, on our own ranges; SIGTRAP, while functions
 * are patched with int3; SIGSYS, since system calls were first traced. What the program wants to be done about them is kept, and done
 * for all that is not ours.
 */
#ifndef RUNTIME_SIGNAL_H
#define RUNTIME_SIGNAL_H

#include <signal.h>
#include <stdbool.h>

void runtime_signal_init(void);
/* From now on `hit` looks at each SIGTRAP of an int3 first; true: it was ours. False when that cannot be: this process's calls of
 * sigaction and the like do not come by here. */
bool runtime_signal_traps(bool (*hit)(void *context));
/* The same of SIGSYS, while system calls are traced: all of a program's calls come by then. */
bool runtime_signal_calls(bool (*hit)(const siginfo_t *info, void *context));
/* Is our handler the one that the kernel knows? */
bool runtime_signal_ours(int signo);
/* Takes ours out of a set of signals to be held off: a fault whose signal is held off ends the program. Was there any? */
bool runtime_signal_strip(sigset_t *set);
/* The program's wish for one of ours: kept beside our handler. Called by the wrapper of sigaction. */
int runtime_signal_program(int signo, const struct sigaction *act, struct sigaction *old);

#endif
