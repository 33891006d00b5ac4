/*
 * inject/x86_64/dispatch: see dispatch.h.
 */
#include "inject/x86_64/dispatch.h"

#if defined(__x86_64__)

#include <signal.h>
#include <sys/ptrace.h>

#define SET_CONFIG 0x4210
#define GET_CONFIG 0x4211
#define RESTART_BLOCK 516
#define SIGSYS_BIT (1ull << (SIGSYS - 1))

static bool get(pid_t tid, struct dispatch *dispatch)
{
	*dispatch = (struct dispatch){ 0 };
	return !ptrace((enum __ptrace_request)GET_CONFIG, tid, (void *)sizeof(*dispatch), dispatch);
}

static void set(pid_t tid, const struct dispatch *dispatch)
{
	ptrace((enum __ptrace_request)SET_CONFIG, tid, (void *)sizeof(*dispatch), (void *)(uintptr_t)dispatch);
}

void dispatch_pause(pid_t tid, struct dispatch *was)
{
	const struct dispatch off = { 0 };

	if (get(tid, was) && was->mode)
		set(tid, &off);
}

void dispatch_resume(pid_t tid, const struct dispatch *was)
{
	struct dispatch now;

	if (get(tid, &now) && (now.mode != was->mode || now.offset != was->offset))
		set(tid, was);
}

bool dispatch_known(const struct image *image, struct calls_dispatch *calls)
{
	const uint64_t at = target_find(image, "__ringside_calls");

	return at && target_read(image, at, calls, sizeof(*calls));
}

bool dispatch_wanted(const struct image *image, struct calls_dispatch *calls)
{
	return dispatch_known(image, calls) && calls->selector;
}

struct dispatch dispatch_for(const struct calls_dispatch *calls, const struct dispatch *was)
{
	if (was->mode && was->offset != calls->start)
		return *was;
	return calls->on ? (struct dispatch){ 1, calls->selector, calls->start, calls->size } : (struct dispatch){ 0 };
}

bool dispatch_move(const struct image *image, const struct calls_dispatch *calls, struct user_regs_struct *regs)
{
	const struct calls_frame frame = {
		.flags = (uint32_t)((regs->eflags & 0xff) << 8 | (regs->eflags >> 11 & 1)), .number = (int64_t)regs->orig_rax,
		.args = { regs->rdi, regs->rsi, regs->rdx, regs->r10, regs->r8, regs->r9 },
		.shown = regs->rip, .after = regs->rip,
	};
	const uint64_t sp = regs->rsp - CALLS_RED_ZONE - sizeof(frame);

	if ((int64_t)regs->orig_rax < 0 || (int64_t)regs->rax != -RESTART_BLOCK || regs->rip - calls->start < calls->size ||
	    !calls->within || !target_write(image, sp, &frame, sizeof(frame)))
		return false;
	regs->rsp = sp;
	regs->rip = calls->within;
	return true;
}

void dispatch_tell(const struct image *image, struct tracee *tracee, const struct calls_dispatch *calls)
{
	uint64_t mask = tracee->mask & ~SIGSYS_BIT;
	struct dispatch was, now;

	if (!get(tracee->tid, &was))
		return;
	now = dispatch_for(calls, &was);
	/* Held off, it would be the end of the program. */
	if (now.mode && tracee->mask & SIGSYS_BIT)
		ptrace(PTRACE_SETSIGMASK, tracee->tid, (void *)sizeof(mask), &mask);
	if (now.mode && !was.mode && dispatch_move(image, calls, &tracee->regs))
		tracee_set(tracee, &tracee->regs);
	set(tracee->tid, &now);
}

#endif
