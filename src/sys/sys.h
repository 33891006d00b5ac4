/*
 * sys: system calls of the traced program as events.
 *
 *   `syscall` --SIGSYS (user dispatch)--> hit() ------.
 *                                                     +--> thunk: sys_enter() | the call itself | sys_exit() --> behind the `syscall`
 *   `syscall`, patched: jmp stub ---------------------'
 *
 * While somebody wants such events, and then only, every call of every thread comes to the thunk: by a signal that the kernel sends
 * for it, or by a jump where the place is known beforehand. The thunk runs as the program, on its stack, below what it may use; so
 * there is one way for all calls, also for those that return twice, on another stack, or never. See doc/design/calls.md.
 */
#ifndef SYS_SYS_H
#define SYS_SYS_H

/* Looks whether system calls are wanted. The threads of this process stand still, or there is one. */
void sys_update(void);
/* The same as far as signals for calls go, by what was found then: the program has given up system calls, or was refused that. [any] */
void sys_dispatch(void);

#endif
