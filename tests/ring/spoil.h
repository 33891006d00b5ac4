/*
 * Garbage for the registers that sections use: one must not live on what the one before it left.
 */
#ifndef TESTS_RING_SPOIL_H
#define TESTS_RING_SPOIL_H

static inline void registers_spoil(void)
{
#if defined(__x86_64__)
	__asm__ volatile("movq $-3, %%rax\n\tmovq %%rax, %%rbx\n\tmovq %%rax, %%rcx\n\t"
			 "movq %%rax, %%rdx\n\tmovq %%rax, %%r8\n\tmovq %%rax, %%r9\n\t"
			 "movq %%rax, %%r10\n\tmovq %%rax, %%r11\n\tmovq %%rax, %%r12\n\t"
			 "movq %%rax, %%r14"
			 :
			 :
			 : "rax", "rbx", "rcx", "rdx", "r8", "r9", "r10", "r11", "r12", "r14");
#elif defined(__i386__)
	__asm__ volatile("pcmpeqd %%xmm0, %%xmm0\n\tmovdqa %%xmm0, %%xmm1\n\t"
			 "movdqa %%xmm0, %%xmm2\n\tmovdqa %%xmm0, %%xmm3\n\t"
			 "movdqa %%xmm0, %%xmm4\n\tmovdqa %%xmm0, %%xmm5\n\tmovdqa %%xmm0, %%xmm7"
			 :
			 :
			 : "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm7");
#else
	__asm__ volatile("mov x4, #-3\n\tmov x5, x4\n\tmov x6, x4\n\tmov x7, x4\n\tmov x8, x4\n\t"
			 "mov x9, x4\n\tmov x10, x4\n\tmov x11, x4\n\tmov x12, x4\n\t"
			 "mov x13, x4\n\tmov x14, x4\n\tmov x15, x4\n\tmov x16, x4\n\tmov x17, x4"
			 :
			 :
			 : "x4", "x5", "x6", "x7", "x8", "x9", "x10", "x11", "x12", "x13", "x14",
			   "x15", "x16", "x17");
#endif
}

#endif
