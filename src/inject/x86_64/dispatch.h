/*
 * inject/x86_64/dispatch: whether the kernel sends a thread SIGSYS for its system calls (syscall user dispatch), told from outside.
 *
 * While a thread is borrowed its calls are ours: there it is off. A process's runtime says what its threads are to have
 * (`__ringside_calls`); the tool gives it to all of them while it holds them. Kernels before 6.4 cannot be asked: nothing is changed then.
 */
#ifndef INJECT_X86_64_DISPATCH_H
#define INJECT_X86_64_DISPATCH_H

#include <stdint.h>
#include <sys/types.h>

#include "inject/image.h"
#include "inject/x86_64/tracee.h"
#include "layout/calls.h"

/* As the kernel has it. */
struct dispatch {
	uint64_t mode;		/* 0: off */
	uint64_t selector;
	uint64_t offset, len;
};

/* Switches it off, and gives what it was; all 0 where that cannot be told. */
void dispatch_pause(pid_t tid, struct dispatch *was);
void dispatch_resume(pid_t tid, const struct dispatch *was);

/* What the process's runtime says; false: it has none. */
bool dispatch_known(const struct image *image, struct calls_dispatch *calls);
/* And what it wants; false: nothing, it never had anything to do with it. */
bool dispatch_wanted(const struct image *image, struct calls_dispatch *calls);
/* What a thread that had `was` is to have. The program's own stays. */
struct dispatch dispatch_for(const struct calls_dispatch *calls, const struct dispatch *was);
/* Gives it to a thread that is held and that is not borrowed. */
void dispatch_tell(const struct image *image, struct tracee *tracee, const struct calls_dispatch *calls);

/*
 * A sleep that we interrupted goes on to the moment that was meant first, but no signal may come before: that would be the end of it. One
 * is sent when it is taken up again, unless that is done from the runtime's own code. So that is where the thread is put, as if it
 * had come there by itself; the registers are to be set by the caller. False: there is nothing to do.
 */
bool dispatch_move(const struct image *image, const struct calls_dispatch *calls, struct user_regs_struct *regs);

#endif
