/*
 * base/regs: for files whose code runs at the entry of traced functions: included first, it has the compiler use general registers
 * only, since the others hold the program's arguments. Such a file calls nothing there that is compiled otherwise, and ends
 * with REGS_END.
 */
#ifndef BASE_REGS_H
#define BASE_REGS_H

#if defined(__x86_64__)
#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("general-regs-only"))), apply_to = function)
#define REGS_END _Pragma("clang attribute pop")
#else
#pragma GCC target("general-regs-only")
#define REGS_END
#endif

static inline long regs_syscall(long number, long a, long b, long c)
{
	long result;

	__asm__ volatile("syscall" : "=a"(result) : "0"(number), "D"(a), "S"(b), "d"(c) : "rcx", "r11", "memory");
	return result;
}
#else
#define REGS_END
#endif

#endif
