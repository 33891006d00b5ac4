/*
 * runtime/arch/x86_64/frame: registers by their DWARF numbers, where this function is, and what the kernel put below a
 * signal handler.
 */
#ifndef RUNTIME_ARCH_X86_64_FRAME_H
#define RUNTIME_ARCH_X86_64_FRAME_H

#include <stdint.h>
#include <ucontext.h>

enum { FRAME_FP = 6, FRAME_SP = 7, FRAME_R11 = 11, FRAME_RA = 16, FRAME_REGS = 17 };

#define FRAME_HERE(pc, sp, fp) \
	__asm__ volatile("leaq 0f(%%rip), %0\n0:\tmovq %%rsp, %1\n\tmovq %%rbp, %2" : "=r"(pc), "=r"(sp), "=r"(fp))

/* Return addresses are what they seem. */
static inline uintptr_t frame_address(uintptr_t ra)
{
	return ra;
}

/* mov $15, %rax; syscall: what a handler returns to. */
#define FRAME_SIGNAL_CODES { { 9, { 0x48, 0xc7, 0xc0, 0x0f, 0x00, 0x00, 0x00, 0x0f, 0x05 } } }
/* Which of its instructions leave the stack as it is, and what is behind it: somebody may have been sent a signal for the call. */
#define FRAME_SIGNAL_PLACES { 0, 7, 9 }

/* Where the registers lie that the kernel saved, when the handler has returned; the place itself is read from `pointer` if
 * that is not 0. */
static inline uintptr_t frame_saved(int code, uintptr_t sp, uintptr_t *pointer)
{
	(void)code;
	*pointer = 0;
	return sp + offsetof(ucontext_t, uc_mcontext.gregs);
}

/* Which word of those is register i; -1: none. The last one is where it was interrupted. */
static const int8_t frame_saved_word[FRAME_REGS] = {
	REG_RAX, REG_RDX, REG_RCX, REG_RBX, REG_RSI, REG_RDI, REG_RBP, REG_RSP,
	REG_R8,	 REG_R9,  REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15, REG_RIP,
};

#endif
