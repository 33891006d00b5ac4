/*
 * inject/x86_64/safe: see safe.h.
 *
 * The loader and the allocator take locks, and a thread that is interrupted while it holds one would wait for itself. So nobody
 * is borrowed who is in them, called them, or was interrupted in them by a signal that it handles now: all callers are looked at.
 * Where the tables that tell them end, every word of the stack that could be such a return address counts as one.
 *
 * Nor is anybody who changes memory or makes threads at this moment, who runs code of libc itself, or who is in a restartable
 * sequence (rseq): that is only restarted if it is found there when the thread goes on.
 */
#include "inject/x86_64/safe.h"

#if defined(__x86_64__)

#include <errno.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>

#include "inject/x86_64/unwind.h"

#define FRAMES_MAX 512
#define WORDS_MAX 8192u		/* of a stack that no table tells about */
#define SAME_STACK (8ull << 20)	/* a frame further away is on another one */
#define CODE_64 0x33u

#ifndef PTRACE_GET_RSEQ_CONFIGURATION
#define PTRACE_GET_RSEQ_CONFIGURATION ((enum __ptrace_request)0x420f)
#endif

/* As the kernel fills it in. */
struct rseq_place {
	uint64_t area;
	uint32_t size, signature, flags, pad;
};

static bool in_sequence(const struct image *image, const struct tracee *tracee)
{
	struct rseq_place place = { 0 };
	uint64_t sequence;

	if (ptrace(PTRACE_GET_RSEQ_CONFIGURATION, tracee->tid, (void *)sizeof(place), &place) < 0 || !place.area)
		return false;
	/* The word behind two numbers of a CPU. */
	return !target_read(image, place.area + 8, &sequence, sizeof(sequence)) || sequence;
}

#define PENDING_MAX 16
#define FAULTS (1ull << (SIGSYS - 1) | 1ull << (SIGSEGV - 1) | 1ull << (SIGBUS - 1) | 1ull << (SIGILL - 1) | 1ull << (SIGFPE - 1) | \
		1ull << (SIGTRAP - 1))

/*
 * Has it just done something that the kernel sends it a signal for, which it has not had yet? The handler would take what we set it
 * out to for what it was at: a system call that is dispatched by SIGSYS above all.
 */
static bool has_fault(const struct tracee *tracee)
{
	struct __ptrace_peeksiginfo_args which = { .nr = PENDING_MAX };
	siginfo_t pending[PENDING_MAX];
	const long n = ptrace(PTRACE_PEEKSIGINFO, tracee->tid, &which, pending);

	for (long i = 0; i < n; i++)
		if (pending[i].si_code > 0 && 1ull << (pending[i].si_signo - 1) & FAULTS)
			return true;
	return n == PENDING_MAX;
}

/* Calls that are made under locks of libc, or that do not come back. */
static bool is_unfit_call(uint64_t number)
{
	switch (number) {
	case SYS_mmap:
	case SYS_munmap:
	case SYS_mremap:
	case SYS_mprotect:
	case SYS_madvise:
	case SYS_brk:
	case SYS_clone:
	case SYS_fork:
	case SYS_vfork:
	case 435:	/* clone3 */
	case SYS_execve:
	case SYS_execveat:
	case SYS_exit:
	case SYS_exit_group:
	case SYS_rt_sigreturn:
		return true;
	}
	return false;
}

static bool is_place_fit(const struct image *image, const struct tracee *tracee)
{
	const struct user_regs_struct *regs = &tracee->regs;
	const struct target_file *file = target_at(image, regs->rip);
	bool again = (int64_t)regs->orig_rax < 0 && file && file->libc;
	uint16_t bytes;

	if (regs->cs != CODE_64)
		return false;
	if (tracee_in_call(tracee))
		return !is_unfit_call(regs->orig_rax);
	/* About to make a call again that we interrupted: as good as in it. */
	if (again && target_read(image, regs->rip, &bytes, sizeof(bytes)) && bytes == 0x050f)
		return !is_unfit_call(regs->rax);
	return !(file && file->libc) && !in_sequence(image, tracee);
}

/* Anything that looks like the address of delicate code. */
static bool is_stack_clean(const struct image *image, uint64_t from)
{
	uint64_t words[512];

	for (uint32_t n = 0; n < WORDS_MAX; n += 512, from += sizeof(words)) {
		/* To the end of a page, if no further. */
		uint64_t size = sizeof(words) - from % sizeof(words);

		if (!target_read(image, from, words, size))
			return n > 0;
		for (uint64_t i = 0; i < size / 8; i++)
			if (target_is_delicate(image, words[i]))
				return false;
		from -= from % sizeof(words);
	}
	return true;
}

bool safe_to_borrow(const struct image *image, const struct tracee *tracee)
{
	struct frame frame;

	if (!is_place_fit(image, tracee) || has_fault(tracee))
		return false;
	frame_of(&frame, &tracee->regs);
	for (int i = 0; i < FRAMES_MAX; i++) {
		uint64_t before = frame.reg[FRAME_RSP];

		if (target_is_delicate(image, frame.reg[FRAME_RIP]))
			return false;
		switch (frame_next(image, &frame)) {
		case FRAME_CALLER:
			break;
		case FRAME_INTERRUPTED:
			/* A small stack for signals alone: what it left behind is elsewhere, and is looked at there. */
			if (frame.reg[FRAME_RSP] - before > SAME_STACK)
				return false;
			/* Somebody waits for it, with a lock. */
			if (frame.signal == TRACEE_EVERYBODY)
				return false;
			break;
		case FRAME_END:
			return true;
		case FRAME_LOST:
			return is_stack_clean(image, frame.reg[FRAME_RSP]);
		}
	}
	/* Deeper than anybody looks: what is innermost counts most. */
	return is_stack_clean(image, frame.reg[FRAME_RSP]);
}

#endif
