/*
 * runtime/arch/i386/frame: see the one of x86_64.
 */
#ifndef RUNTIME_ARCH_I386_FRAME_H
#define RUNTIME_ARCH_I386_FRAME_H

#include <stdint.h>
#include <ucontext.h>

enum { FRAME_SP = 4, FRAME_FP = 5, FRAME_RA = 8, FRAME_REGS = 9 };

#define FRAME_HERE(pc, sp, fp) \
	__asm__ volatile("call 0f\n0:\tpopl %0\n\tmovl %%esp, %1\n\tmovl %%ebp, %2" : "=r"(pc), "=r"(sp), "=r"(fp))

static inline uintptr_t frame_address(uintptr_t ra)
{
	return ra;
}

/* mov $173, %eax; int $0x80 of handlers with three arguments; pop %eax; mov $119, %eax; int $0x80 of others. */
#define FRAME_SIGNAL_CODES \
	{ { 7, { 0xb8, 0xad, 0x00, 0x00, 0x00, 0xcd, 0x80 } }, \
	  { 8, { 0x58, 0xb8, 0x77, 0x00, 0x00, 0x00, 0xcd, 0x80 } } }
#define FRAME_SIGNAL_PLACES { 0 }

/* The first kind has a pointer to them behind the signal's number and that of the siginfo; the second the registers. */
static inline uintptr_t frame_saved(int code, uintptr_t sp, uintptr_t *pointer)
{
	*pointer = code ? 0 : sp + 8;
	return code ? sp + 4 : offsetof(ucontext_t, uc_mcontext.gregs);
}

static const int8_t frame_saved_word[FRAME_REGS] = {
	REG_EAX, REG_ECX, REG_EDX, REG_EBX, REG_ESP, REG_EBP, REG_ESI, REG_EDI, REG_EIP,
};

#endif
