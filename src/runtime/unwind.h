/*
 * runtime/unwind: from a frame to the one that called it, by the call frame tables that compilers leave (.eh_frame), and where
 * there are none by frame pointers.
 *
 * Any thread, any signal handler; no lock, no allocation, less than half a KiB of stack. Stack memory is read only where it
 * is known to be mapped, and tables only within their mapping: nonsense in either ends the walk early and nothing else. Kept
 * from frame to frame are the stack pointer, the frame pointer and the place; the rest is known where a signal interrupted.
 */
#ifndef RUNTIME_UNWIND_H
#define RUNTIME_UNWIND_H

#include <stdbool.h>
#include <stdint.h>

#include "runtime/module.h"

#if defined(__x86_64__)
#include "runtime/arch/x86_64/frame.h"
#elif defined(__i386__)
#include "runtime/arch/i386/frame.h"
#elif defined(__aarch64__)
#include "runtime/arch/aarch64/frame.h"
#elif defined(__arm__)
#include "runtime/arch/arm/frame.h"
#endif

/* Stack that may be read: [low, high), and above that page by page if one may ask the kernel. */
struct unwind_stack {
	uintptr_t low, high;
	bool may_ask;
};

struct unwind {
	uintptr_t reg[FRAME_REGS];
	uint64_t known;		/* registers whose value that is, a bit each */
	uintptr_t pc;
	bool exact;		/* interrupted at pc: not a return address */
	struct unwind_stack stack;
};

/* Can all of it be read? One who has given up system calls cannot know. */
bool runtime_is_mapped(uintptr_t from, uintptr_t to);
/* Makes `stack` the one that `sp` is on. */
void runtime_stack_at(struct unwind_stack *stack, uintptr_t sp);
/* A word of it. */
bool runtime_stack_load(struct unwind_stack *stack, uintptr_t address, uintptr_t *word);

enum unwind_step { UNWIND_END, UNWIND_CALLER, UNWIND_INTERRUPTED };
/* The frame that called this one, or that a signal interrupted. `module` is the one of its pc, NULL none. */
enum unwind_step runtime_unwind(struct unwind *unwind, const struct module *module);

/* frames.c: makes an index for a module that has tables but none. False: it is none of those, or that did not work. */
bool runtime_frames_index(const struct module *module);
/* Where the code of the FDE at `at` begins; false: it is none. */
bool runtime_unwind_fde(const struct module *module, uintptr_t at, uintptr_t *start);

/* Where the function that `pc` is in begins, by the tables; 0: not known. */
uintptr_t runtime_unwind_function(const struct module *module, uintptr_t pc);

#endif
