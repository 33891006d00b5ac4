/*
 * func: the tracers `function` and `function_graph` in the traced program.
 *
 *   plans (layout/plan.h) + filters of the state --select--> sites --stub, patch--> f: jmp stub
 *   f is called --> stub --> thunk --> func_enter*() --> record --> f runs on
 *
 * In the hot path, any thread and any signal handler, at a function's very first instruction: every register holds something of
 * the program's. Nothing of it changes what the program does: not when it is interrupted, jumps out of it, dies, or when there is
 * no room. Changing code happens only where no thread can be running it: see update.c.
 */
#ifndef FUNC_FUNC_H
#define FUNC_FUNC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "layout/stopped.h"

/*
 * Makes the code of this process what the state asks for. All other threads stand still where `stopped` says, or there are none;
 * or `fresh`: only files that no thread runs yet are looked at. How many sites are patched, or -errno: -EAGAIN when a thread stands
 * where code would change.
 */
int func_update(const struct stopped_thread *stopped, size_t n, bool fresh);

/* As it was before; threads as above. */
int func_drop(const struct stopped_thread *stopped, size_t n);

/* The true return address where that of a traced function was replaced; else the same. [any] */
uintptr_t func_true_return(uintptr_t address);

#endif
