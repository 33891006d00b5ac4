/*
 * Where a system call goes on that has come to us is found by who walks a stopped thread's stack, wherever in the thunk that is, and
 * so is what a handler has interrupted that is about to return: code is changed under nobody who comes back to it.
 */
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include "insist.h"
#include "runtime/module.h"
#include "runtime/unwind.h"

#if defined(__x86_64__) && !defined(__ILP32__)

#include "sys/local.h"

#define PLACE 0x7000123456ull
#define RESTORER 0x04000000u

static enum unwind_step step(struct unwind *unwind, uintptr_t pc, uintptr_t sp, uintptr_t r11)
{
	*unwind = (struct unwind){
		.pc = pc, .exact = true, .known = 1ull << FRAME_SP | 1ull << FRAME_FP | 1ull << FRAME_R11,
		.stack = { sp, sp + 4096, true },
	};
	unwind->reg[FRAME_SP] = sp;
	unwind->reg[FRAME_R11] = r11;
	return runtime_unwind(unwind, runtime_module(pc));
}

/* Before anything is on the stack. */
static void at_its_beginning(void)
{
	uint64_t stack[512] = { 0 };
	struct unwind unwind;

	CHECK(step(&unwind, (uintptr_t)sys_thunk, (uintptr_t)stack, PLACE) == UNWIND_CALLER && unwind.pc == PLACE,
	      "a call that has just come: %lx", (unsigned long)unwind.pc);
	CHECK(unwind.reg[FRAME_SP] == (uintptr_t)stack, "its stack is another");
}

static void in_the_call(void)
{
	uint64_t stack[512] = { 0 };
	struct calls_frame frame = { .shown = PLACE, .after = PLACE };
	struct unwind unwind;

	memcpy(stack, &frame, sizeof(frame));
	CHECK(step(&unwind, (uintptr_t)sys_within, (uintptr_t)stack, 0) == UNWIND_CALLER && unwind.pc == PLACE,
	      "a call that is under way: %lx", (unsigned long)unwind.pc);
	CHECK(unwind.reg[FRAME_SP] == (uintptr_t)stack + sizeof(frame) + CALLS_RED_ZONE, "its stack is another");
}

static void handle(int sig)
{
	(void)sig;
}

/* At each of its two instructions, and behind: there SIGSYS finds it. */
static void about_to_return(void)
{
	struct {
		uint64_t handler, flags, restorer, mask;
	} act = { 0 };
	_Alignas(16) union {
		ucontext_t context;
		char room[8192];
	} frame;
	struct unwind unwind;

	signal(SIGUSR1, handle);
	CHECK(!syscall(SYS_rt_sigaction, SIGUSR1, NULL, &act, sizeof(act.mask)) && act.flags & RESTORER, "no way back");
	memset(&frame, 0, sizeof(frame));
	frame.context.uc_mcontext.gregs[REG_RIP] = (greg_t)PLACE;
	frame.context.uc_mcontext.gregs[REG_RSP] = (greg_t)(uintptr_t)&frame + 4096;
	for (uint32_t at = 0; at <= 9; at += at ? 2 : 7)
		CHECK(step(&unwind, act.restorer + at, (uintptr_t)&frame, 0) == UNWIND_INTERRUPTED && unwind.pc == PLACE,
		      "at byte %u: %lx", at, (unsigned long)unwind.pc);
}

int main(void)
{
	runtime_modules_learn(true);
	at_its_beginning();
	in_the_call();
	about_to_return();
	return 0;
}

#else

int main(void)
{
	puts("system calls are seen on x86-64 alone");
	return 77;
}

#endif
