/*
 * runtime/arch/arm/frame: see the one of x86_64. There are no tables like those of other processors (.eh_frame), and so no numbers of
 * registers to go by: just the frame pointer (r11), the stack pointer, the register of return addresses, and where the kernel interrupted.
 */
#ifndef RUNTIME_ARCH_ARM_FRAME_H
#define RUNTIME_ARCH_ARM_FRAME_H

#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <ucontext.h>

enum { FRAME_FP, FRAME_SP, FRAME_RA, FRAME_REGS = 4 };

#define FRAME_HERE(pc, sp, fp) \
	__asm__ volatile("mov %0, pc\n\tmov %1, sp\n\tmov %2, r11" : "=r"(pc), "=r"(sp), "=r"(fp))

static inline uintptr_t frame_address(uintptr_t ra)
{
	return ra;
}

/* mov r7, #173; svc #0 */
#define FRAME_SIGNAL_CODES { { 8, { 0xad, 0x70, 0xa0, 0xe3, 0x00, 0x00, 0x00, 0xef } } }
#define FRAME_SIGNAL_PLACES { 0 }

static inline uintptr_t frame_saved(int code, uintptr_t sp, uintptr_t *pointer)
{
	(void)code;
	*pointer = 0;
	return sp + sizeof(siginfo_t) + offsetof(ucontext_t, uc_mcontext.arm_r0);
}

/* r0..r15, one behind the other. */
static const int8_t frame_saved_word[FRAME_REGS] = { 11, 13, 14, 15 };

#endif
