/*
 * inject: the runtime in processes that run already.
 *
 * In: a process that may know nothing of us. Out: one that has joined a tracing directory as if it had been started with the
 * runtime; or that is left alone again. One of its threads is borrowed for a moment and makes calls there: the loader's dlopen,
 * and the functions that the runtime has for this (runtime/late.c). On x86-64; elsewhere all of it is -ENOTSUP with words.
 *
 * Each call runs in a process of its own, so that whatever happens to it no thread is kept stopped. Any thread may call.
 */
#ifndef INJECT_INJECT_H
#define INJECT_INJECT_H

#include <sys/types.h>

#include "base/err.h"

/*
 * Joins process `pid` to the tracing directory at `dir`; `library` is the runtime's file, for those that have none. 1: it has
 * joined now; 0: it had, and looks at the directory's state anew. Refused with words that say why and what to do:
 *
 *	-ESRCH	there is none, or it has ended	-EPERM		another user's, or the kernel says no
 *	-EBUSY	debugged, stopped, at another directory, or no thread of it can be disturbed now
 *	-ENOTSUP	of 32 bits, linked statically, in a sandbox or another namespace, a thread of the kernel
 */
int inject_attach(pid_t pid, const char *dir, const char *library, struct err *err);

/* It records nothing any more, and its functions are as they were; until it is attached again. 0 also when it had not joined. */
int inject_detach(pid_t pid, const char *dir, struct err *err);

/* It looks at the directory's state: functions are patched, or as they were. 0 also when it has no runtime to be called. */
int inject_poke(pid_t pid, const char *dir, struct err *err);

/*
 * The same for the process of a thread that waits in a system call for an answer, and cannot be stopped there: a byte to `tell` says that
 * it may have it. Between that and the next instruction of its own it has looked. When this fails that byte may be missing.
 */
int inject_poke_waiting(pid_t tid, const char *dir, int tell, struct err *err);

/*
 * The same for all live processes that have joined the directory, less process `but`, 0: none. How many could not be reached;
 * `err` tells of the first.
 */
int inject_poke_all(const char *dir, pid_t but, struct err *err);

#endif
