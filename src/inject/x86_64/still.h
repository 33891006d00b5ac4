/*
 * inject/x86_64/still: the threads of a process that none is borrowed from, stopped as well, while the borrowed one makes a call: then
 * nobody runs code that the call changes. What is called so waits for no lock, since whoever holds it stands still.
 */
#ifndef INJECT_X86_64_STILL_H
#define INJECT_X86_64_STILL_H

#include "inject/x86_64/borrow.h"

struct still {
	struct tracee **others;
	uint32_t n, room;
	uint64_t list;		/* struct stopped_thread[] in the process: the borrowed one first */
};

/* -EAGAIN: one could not be stopped, or began meanwhile: not now. */
int still_begin(struct still *still, struct borrow *borrow, struct err *err);
/* All go on where they were. */
void still_end(struct still *still);

#endif
