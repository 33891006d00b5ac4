/*
 * runtime/arch/aarch64/frame: see the one of x86_64. A return address is in register 30, which functions that call none keep
 * there; FRAME_REGS - 1 is no register but where the kernel interrupted.
 */
#ifndef RUNTIME_ARCH_AARCH64_FRAME_H
#define RUNTIME_ARCH_AARCH64_FRAME_H

#include <signal.h>
#include <stdint.h>
#include <ucontext.h>

enum { FRAME_FP = 29, FRAME_RA = 30, FRAME_SP = 31, FRAME_REGS = 33 };

#define FRAME_HERE(pc, sp, fp) \
	__asm__ volatile("adr %0, 0f\n0:\tmov %1, sp\n\tmov %2, x29" : "=r"(pc), "=r"(sp), "=r"(fp))

/* Takes off the signature that some functions put on it: xpaclri, which is nothing at all to older CPUs. */
static inline uintptr_t frame_address(uintptr_t ra)
{
	register uintptr_t lr __asm__("x30") = ra;

	__asm__("hint #7" : "+r"(lr));
	return lr;
}

/* mov x8, #139; svc #0 */
#define FRAME_SIGNAL_CODES { { 8, { 0x68, 0x11, 0x80, 0xd2, 0x01, 0x00, 0x00, 0xd4 } } }
#define FRAME_SIGNAL_PLACES { 0 }

static inline uintptr_t frame_saved(int code, uintptr_t sp, uintptr_t *pointer)
{
	(void)code;
	*pointer = 0;
	return sp + sizeof(siginfo_t) + offsetof(ucontext_t, uc_mcontext.regs);
}

/* x0..x30, sp, pc, one behind the other. */
static const int8_t frame_saved_word[FRAME_REGS] = {
	0,  1,	2,  3,	4,  5,	6,  7,	8,  9,	10, 11, 12, 13, 14, 15, 16,
	17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32,
};

#endif
