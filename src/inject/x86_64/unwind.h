/*
 * inject/x86_64/unwind: who called whom in a stopped thread of another process, by the call frame tables in its memory.
 */
#ifndef INJECT_X86_64_UNWIND_H
#define INJECT_X86_64_UNWIND_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/user.h>

#include "inject/image.h"

/* Registers by their DWARF numbers. */
enum { FRAME_RBP = 6, FRAME_RSP = 7, FRAME_RIP = 16, FRAME_REGS = 17 };

struct frame {
	uint64_t reg[FRAME_REGS];
	uint32_t known;		/* a bit for each whose value that is */
	bool exact;		/* interrupted there: RIP is no return address */
	int signal;		/* behind FRAME_INTERRUPTED: by which */
};

enum frame_step {
	FRAME_CALLER,
	FRAME_INTERRUPTED,	/* by a signal: on another stack, maybe */
	FRAME_END,		/* nobody called */
	FRAME_LOST,		/* no table tells */
};

void frame_of(struct frame *frame, const struct user_regs_struct *regs);
enum frame_step frame_next(const struct image *image, struct frame *frame);

#endif
