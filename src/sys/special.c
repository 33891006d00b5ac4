/*
 * sys/special: system calls that would take something away from us, or that somebody else returns from.
 *
 *   rt_sigprocmask, rt_sigaction, rt_sigsuspend, ppoll ...   SIGSYS is never held off: the kernel would end the program
 *   rt_sigaction of SIGSYS    the program's handler is kept beside ours
 *   rt_sigreturn              returns to somewhere else
 *   fork, clone, clone3       the child begins behind the program's `syscall`, maybe on another stack, and its calls come to us, too
 *   vfork                     and maybe on this stack
 *   kill and its like         are events of their own
 *   arch_prctl                with another thread pointer nothing of ours is there
 *   prctl                     the program may have a use of its own for dispatch by signals
 *   prctl, seccomp            it gives up system calls, maybe the one that signal handlers return by: no signals from then on
 *
 * With general registers only, as enter.c.
 */
#include "base/regs.h"

#if defined(__x86_64__) && !defined(__ILP32__)

#include <errno.h>
#include <sched.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <ucontext.h>

#include "sys/local.h"

#define ARCH_FS 0x1002
#define PRCTL_DISPATCH 59
#define PRCTL_SECCOMP 22
#define NR_SECCOMP 317
#define NR_CLONE3 435
#define NR_EPOLL_PWAIT2 441
#define SIGSYS_BIT (1ull << (SIGSYS - 1))
#define CLONE3_ARGS_MIN 64u
#define CLEAR_HANDLERS 0x100000000ull	/* CLONE_CLEAR_SIGHAND */
#define CHILD_STACK_MIN (CALLS_RED_ZONE + sizeof(struct calls_frame))

#define BIT(number) (1ull << (number) % 64)
const uint64_t sys_specials[SYS_SPECIALS] = {
	[SYS_rt_sigreturn / 64] = BIT(SYS_rt_sigreturn) | BIT(SYS_rt_sigaction) | BIT(SYS_rt_sigprocmask) | BIT(SYS_clone) |
				  BIT(SYS_fork) | BIT(SYS_vfork) | BIT(SYS_kill) | BIT(SYS_exit),
	[SYS_arch_prctl / 64] = BIT(SYS_arch_prctl) | BIT(SYS_prctl) | BIT(SYS_rt_sigsuspend) | BIT(SYS_rt_sigqueueinfo),
	[SYS_tkill / 64] = BIT(SYS_tkill) | BIT(SYS_tgkill) | BIT(SYS_exit_group),
	[SYS_pselect6 / 64] = BIT(SYS_pselect6) | BIT(SYS_ppoll) | BIT(SYS_epoll_pwait) | BIT(NR_SECCOMP) |
			      BIT(SYS_rt_tgsigqueueinfo),
	[NR_CLONE3 / 64] = BIT(NR_CLONE3) | BIT(NR_EPOLL_PWAIT2),
};
#define SAME(a, b) ((a) / 64 == (b) / 64)
static_assert(SAME(SYS_rt_sigreturn, SYS_vfork) && SAME(SYS_rt_sigreturn, SYS_kill) && SAME(SYS_rt_sigreturn, SYS_exit) &&
	      SAME(SYS_arch_prctl, SYS_prctl) && SAME(SYS_arch_prctl, SYS_rt_sigsuspend) && SAME(SYS_arch_prctl, SYS_rt_sigqueueinfo) &&
	      SAME(SYS_tkill, SYS_tgkill) && SAME(SYS_tkill, SYS_exit_group) && SAME(SYS_pselect6, SYS_epoll_pwait) &&
	      SAME(SYS_pselect6, NR_SECCOMP) && SAME(SYS_pselect6, SYS_rt_tgsigqueueinfo) && SAME(NR_CLONE3, NR_EPOLL_PWAIT2),
	      "bits of one word");

enum { PASS = 0, SIGNAL = 1 };
volatile char sys_selector = PASS;

/* For the tool: in the file's data, where it looks for names. */
__attribute__((visibility("default"))) struct calls_dispatch __ringside_calls = {
	.start = (uintptr_t)sys_range_begin, .within = (uintptr_t)sys_within,
};

bool sys_wanted;
static bool given_up;

void sys_dispatch(void)
{
	__ringside_calls.on = LOAD(sys_wanted) && !LOAD(runtime.locked) && __ringside_calls.selector && !LOAD(given_up);
	sys_selector = __ringside_calls.on ? SIGNAL : PASS;
	__ringside_calls.pid = (uint64_t)LOAD(runtime.pid);
}

void sys_give_up(void)
{
	STORE(given_up, true);
	sys_dispatch();
}

static long own_pid(void)
{
	/* Not that of the runtime: a child may not have told it yet. */
	return sys_raw(SYS_getpid, 0, 0, 0, 0, 0, 0);
}

/* By the kernel, which says no where we would fault; by ourselves where none of our calls is allowed. */
static bool copy(void *to, const void *from, uint32_t len, bool out)
{
	struct iovec here = { out ? (void *)(uintptr_t)from : to, len }, there = { out ? to : (void *)(uintptr_t)from, len };

	if (!LOAD(runtime.locked))
		return sys_raw(out ? SYS_process_vm_writev : SYS_process_vm_readv, own_pid(), (long)&here, 1, (long)&there, 1, 0) ==
		       (long)len;
	for (uint32_t i = 0; i < len; i++)
		((volatile char *)to)[i] = ((const char *)from)[i];
	return true;
}

uint32_t sys_peek(void *to, uint64_t from, uint32_t len)
{
	const uint32_t first = 4096 - (uint32_t)(from & 4095);
	struct iovec here = { to, len }, there[2] = { { (void *)(uintptr_t)from, len }, { NULL, 0 } };
	long n;

	if (LOAD(runtime.locked) || !len || from > UINTPTR_MAX - len)
		return 0;
	/* In two pieces, so that what lies in the first page is had when the next is not there. */
	if (first < len) {
		there[0].iov_len = first;
		there[1] = (struct iovec){ (void *)(uintptr_t)(from + first), len - first };
	}
	n = sys_raw(SYS_process_vm_readv, own_pid(), (long)&here, 1, (long)there, first < len ? 2 : 1, 0);
	return n > 0 ? (uint32_t)n : 0;
}

/* ---- Signals ---- */

static uint32_t done(struct calls_frame *call, long result)
{
	call->result = result;
	return SYS_DONE;
}

static long run(const struct calls_frame *call, const uint64_t *args)
{
	return sys_raw(call->number, (long)args[0], (long)args[1], (long)args[2], (long)args[3], (long)args[4], (long)args[5]);
}

/* The mask there, without SIGSYS; false: it need not be changed, or cannot be read. */
static bool strip(uint64_t from, uint64_t *mask)
{
	if (!from || !copy(mask, (const void *)(uintptr_t)from, sizeof(*mask), false) || !(*mask & SIGSYS_BIT))
		return false;
	*mask &= ~SIGSYS_BIT;
	return true;
}

/* Of a call that waits with another mask: which argument that is. `within`: it is a pointer to where the mask's address lies. */
static uint32_t wait_masked(struct calls_frame *call, uint32_t which, bool within)
{
	uint64_t args[CALLS_ARGS], pair[2], mask;

	/* As change_mask(). */
	if (LOAD(runtime.locked))
		return SYS_RUN;
	sys_args(args, call);
	if (within) {
		if (!args[which] || !copy(pair, (const void *)(uintptr_t)args[which], sizeof(pair), false))
			return SYS_RUN;
		args[which] = (uintptr_t)pair;
	} else {
		pair[0] = args[which];
	}
	if (!strip(pair[0], &mask))
		return SYS_RUN;
	pair[0] = (uintptr_t)&mask;
	if (!within)
		args[which] = (uintptr_t)&mask;
	return done(call, run(call, args));
}

/* False: the call is to be made as it is. */
static bool change_mask(struct calls_frame *call)
{
	uint64_t args[CALLS_ARGS], mask;

	/* Without our calls nothing comes by SIGSYS, and what is no address cannot be found out. */
	if (LOAD(runtime.locked) || call->args[0] == SIG_UNBLOCK || !strip(call->args[1], &mask))
		return false;
	sys_args(args, call);
	args[1] = (uintptr_t)&mask;
	call->result = run(call, args);
	return true;
}

bool sys_delivers, sys_cancels;
struct kernel_action sys_handlers[SYS_SIGNALS];

bool sys_may_deliver(uint64_t signo)
{
	/* Those that have a handler of ours, those that nobody may have, and libc's own. */
	return signo && signo < SYS_SIGNALS && signo != SIGBUS && signo != SIGTRAP && signo != SIGSYS && signo != SIGKILL &&
	       signo != SIGSTOP && !sys_is_libcs(signo);
}

/* What the program has for a handler, where ours stands before it. */
static void show(struct kernel_action *act, const struct kernel_action *program)
{
	if (act->handler != (uintptr_t)sys_deliver)
		return;
	act->handler = program->handler;
	act->flags = (act->flags & ~(uint64_t)SA_SIGINFO) | (program->flags & SA_SIGINFO);
}

/* Ours goes before the program's handler, if that is one; false: it is none. */
static bool go_before(uint64_t signo, struct kernel_action *act)
{
	/* Seen by one who was taken for us, and put back. */
	show(act, &sys_handlers[signo]);
	/* A child that shares our memory has handlers of its own, but not this table. */
	if (act->handler <= (uintptr_t)SIG_IGN || runtime_self.guard)
		return false;
	sys_handlers[signo] = *act;
	act->handler = (uintptr_t)sys_deliver;
	act->flags |= SA_SIGINFO;
	return true;
}

/* Ours stands before the program's handler, which is not to notice. */
static uint32_t change_delivered(struct calls_frame *call, struct kernel_action *act)
{
	const uint64_t signo = call->args[0];
	const struct kernel_action before = sys_handlers[signo];
	uint64_t args[CALLS_ARGS];
	struct kernel_action old;
	long result;

	sys_args(args, call);
	args[1] = call->args[1] ? (uintptr_t)act : 0;
	args[2] = call->args[2] ? (uintptr_t)&old : 0;
	if (args[1]) {
		act->mask &= ~SIGSYS_BIT;
		go_before(signo, act);
	}
	result = run(call, args);
	if (result || !args[2])
		return done(call, result);
	show(&old, &before);
	return done(call, copy((void *)(uintptr_t)call->args[2], &old, sizeof(old), true) ? 0 : -EFAULT);
}

uint64_t sys_send_again(void)
{
	const uint64_t signo = sys_coming;

	sys_coming = 0;
	return LOAD(runtime.locked) ? 0 : signo << 32 | (uint32_t)sys_raw(SYS_gettid, 0, 0, 0, 0, 0, 0);
}

/* Without calls of our own: the program's tells whether its addresses are good, by having done as it says. Ours follows it. */
static uint32_t change_blindly(struct calls_frame *call)
{
	const uint64_t signo = call->args[0];
	const struct kernel_action before = sys_handlers[signo];
	uint64_t args[CALLS_ARGS];
	struct kernel_action act;
	long result;

	sys_args(args, call);
	result = run(call, args);
	if (result)
		return done(call, result);
	/* Where both lie in one place, the old one has been written over it. */
	if (args[1] && (args[1] > args[2] ? args[1] - args[2] : args[2] - args[1]) >= sizeof(act)) {
		copy(&act, (const void *)(uintptr_t)args[1], sizeof(act), false);
		if (go_before(signo, &act))
			sys_raw(SYS_rt_sigaction, (long)signo, (long)&act, 0, sizeof(act.mask), 0, 0);
	}
	if (args[2])
		show((struct kernel_action *)(uintptr_t)args[2], &before);
	return done(call, 0);
}

static bool has_ours(uint64_t signo)
{
	return sys_is_libcs(signo) ? sys_cancels : sys_delivers && sys_may_deliver(signo);
}

static uint32_t change_action(struct calls_frame *call)
{
	struct kernel_action act;
	uint64_t args[CALLS_ARGS];
	struct sys_action action = { call->args[1] ? &act : NULL, (void *)(uintptr_t)call->args[2], 0 };

	if (LOAD(runtime.locked) && call->args[0] != SIGSYS)
		return has_ours(call->args[0]) ? change_blindly(call) : SYS_RUN;
	if (call->args[3] != sizeof(act.mask) ||
	    (call->args[1] && !copy(&act, (const void *)(uintptr_t)call->args[1], sizeof(act), false)))
		return SYS_RUN;
	if (call->args[0] == SIGSYS) {
		struct kernel_action old;

		action.old = call->args[2] ? &old : NULL;
		if (!func_aside(sys_action_aside, &action))
			return SYS_RUN;
		if (call->args[2] && !copy((void *)(uintptr_t)call->args[2], &old, sizeof(old), true))
			action.result = -EFAULT;
		return done(call, action.result);
	}
	if (has_ours(call->args[0]))
		return change_delivered(call, &act);
	if (!call->args[1] || !(act.mask & SIGSYS_BIT))
		return SYS_RUN;
	act.mask &= ~SIGSYS_BIT;
	sys_args(args, call);
	args[1] = (uintptr_t)&act;
	return done(call, run(call, args));
}

/* The frame lies where the program's stack pointer is. What was interrupted has its result there: as the kernel tells it. */
static uint32_t signal_return(struct calls_frame *call, bool own)
{
	ucontext_t *context = (void *)((char *)(call + 1) + CALLS_RED_ZONE);

	*(uint64_t *)(void *)&context->uc_sigmask &= ~SIGSYS_BIT;
	if (!own)
		sys_put_exit(call->number, context->uc_mcontext.gregs[REG_RAX]);
	return SYS_SIGRETURN;
}

/* ---- Children ---- */

static void guard(bool enter)
{
	struct sys_guard arg = { enter };

	func_aside(sys_guard_aside, &arg);
}

static void live(enum sys_life what, int64_t child, bool whole)
{
	struct sys_living arg = { what, (int32_t)child, whole };

	func_aside(sys_life_aside, &arg);
}

/* Also of those that were killed before they could. */
static void leave_guards(uint32_t down_to)
{
	for (uint32_t n = runtime_self.guard; n > down_to; n--)
		guard(false);
}

static uintptr_t sp_of(const struct calls_frame *call)
{
	return (uintptr_t)(call + 1) + CALLS_RED_ZONE;
}

/* Who we are among those that have this thread pointer. */
static int32_t who(void)
{
	return LOAD(runtime.locked) ? 0 : (int32_t)own_pid();
}

/* One that a handler jumped out of; or nobody knows, and there is no room. */
static bool is_left(uint32_t i, uintptr_t sp)
{
	return !sys_self.vforks[i].begun && (sp - sys_self.vforks[i].sp < RUNTIME_SAME_STACK || i == SYS_VFORKS - 1);
}

static uint32_t share_stack(struct calls_frame *call)
{
	const uintptr_t sp = sp_of(call);
	uint32_t n = sys_self.nvforks;

	while (n && is_left(n - 1, sp))
		leave_guards(sys_self.vforks[--n].guards);
	if (n == SYS_VFORKS)
		return done(call, -EAGAIN);
	sys_self.vforks[n].after = call->after;
	sys_self.vforks[n].sp = sp;
	sys_self.vforks[n].number = call->number;
	sys_self.vforks[n].pid = who();
	sys_self.vforks[n].guards = (uint16_t)runtime_self.guard;
	sys_self.vforks[n].begun = false;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	sys_self.nvforks = n + 1;
	guard(true);
	return SYS_VFORK;
}

/* What the child finds on its stack: the call, as its parent has it. Where that is; 0: it cannot be written. */
static uint64_t put_frame(uint64_t top, const struct calls_frame *call)
{
	const uint64_t at = top - CALLS_RED_ZONE - sizeof(*call);

	return copy((void *)(uintptr_t)at, call, sizeof(*call), true) ? at : 0;
}

/* With the same thread pointer it writes in our name, without our rseq. */
static void share_thread(struct calls_frame *call, uint64_t flags)
{
	if (!(flags & CLONE_VM))
		return;
	call->notes |= SYS_NOTE_MEMORY;
	if (flags & CLONE_SETTLS)
		return;
	call->notes |= flags & CLONE_VFORK ? SYS_NOTE_THREAD | SYS_NOTE_WAITS : SYS_NOTE_THREAD;
	call->guards = (uint16_t)runtime_self.guard;
	guard(true);
}

/* A child that runs beside us keeps using our TLS: we stay guarded. */
static void unshare_thread(const struct calls_frame *call)
{
	if (call->notes & SYS_NOTE_THREAD && (call->notes & SYS_NOTE_WAITS || call->result < 0))
		leave_guards(call->guards);
}

static uint32_t clone_child(struct calls_frame *call, uint64_t flags, uint64_t stack)
{
	if (!(flags & CLONE_VM) && !stack)
		return SYS_RUN;
	if (!stack)
		return share_stack(call);
	stack = put_frame(stack, call);
	if (!stack)
		return done(call, -EFAULT);
	share_thread(call, flags);
	call->result = (int64_t)stack;
	return SYS_CLONE;
}

static uint32_t clone3_child(struct calls_frame *call)
{
	enum { FLAGS, STACK = 5, STACK_SIZE = 6 };
	uint64_t *args = sys_self.clone_args;
	const uint64_t size = call->args[1];

	/* What the kernel refuses it refuses by itself. */
	if (size < CLONE3_ARGS_MIN || size > sizeof(sys_self.clone_args))
		return size > sizeof(sys_self.clone_args) ? done(call, -E2BIG) : SYS_RUN;
	if (!copy(args, (const void *)(uintptr_t)call->args[0], (uint32_t)size, false))
		return done(call, -EFAULT);
	if (args[FLAGS] & CLEAR_HANDLERS)
		func_aside(sys_keep_aside, NULL);
	if (!args[STACK])
		return args[FLAGS] & CLONE_VM ? share_stack(call) : SYS_RUN;
	if (args[STACK_SIZE] <= CHILD_STACK_MIN)
		return args[STACK_SIZE] ? done(call, -EINVAL) : SYS_RUN;
	if (!put_frame(args[STACK] + args[STACK_SIZE], call))
		return done(call, -EFAULT);
	share_thread(call, args[FLAGS]);
	args[STACK_SIZE] -= CALLS_RED_ZONE + sizeof(*call);
	call->result = (int64_t)(uintptr_t)args;
	return SYS_CLONE3;
}

static bool makes_child(int64_t number)
{
	return number == SYS_clone || number == NR_CLONE3 || number == SYS_fork || number == SYS_vfork;
}

/* In the child, whether it has a copy of our memory or shares it. */
static void begin(void)
{
	sys_self.armed = false;
	func_aside(sys_born_aside, NULL);
	live(SYS_LIFE_BORN, 0, false);
}

void sys_born(struct calls_frame *call)
{
	begin();
	sys_put_exit(call->number, 0);
}

/* Which one is over: what comes behind it is of children that were killed in theirs. */
static uint32_t find_vfork(uintptr_t sp, int32_t pid)
{
	uint32_t i = sys_self.nvforks - 1;

	while (i && (sys_self.vforks[i].sp != sp || (pid && sys_self.vforks[i].pid && sys_self.vforks[i].pid != pid)))
		i--;
	return i;
}

void sys_vforked(struct calls_frame *call)
{
	const uint32_t i = call->result ? find_vfork(sp_of(call), who()) : sys_self.nvforks - 1;

	call->after = sys_self.vforks[i].after;
	call->number = sys_self.vforks[i].number;
	if (!call->result) {
		sys_self.vforks[i].begun = true;
		sys_born(call);
		return;
	}
	sys_self.nvforks = i;
	leave_guards(sys_self.vforks[i].guards);
	live(SYS_LIFE_FORKED, call->result, false);
	sys_put_exit(call->number, call->result);
}

/* ---- All of them ---- */

/* No call of ours from here on, unless it is refused. Calls at patched places are seen as before. */
static uint32_t lock_up(struct calls_frame *call)
{
	/* Or guard.c has, and sees to what comes of it. */
	if (!__atomic_exchange_n(&runtime.locked, 1, __ATOMIC_SEQ_CST))
		call->notes |= SYS_NOTE_LOCKS;
	sys_dispatch();
	return SYS_RUN;
}

static uint32_t change_process(struct calls_frame *call)
{
	if (call->args[0] == PRCTL_DISPATCH)
		sys_self.foreign = true;
	return call->args[0] == PRCTL_SECCOMP ? lock_up(call) : SYS_RUN;
}

static uint32_t end(bool whole)
{
	live(SYS_LIFE_ENDS, 0, whole);
	return SYS_RUN;
}

uint32_t sys_special(struct calls_frame *call)
{
	call->notes = 0;
	if (makes_child(call->number))
		live(SYS_LIFE_FORKING, 0, false);
	switch (call->number) {
	case SYS_rt_sigreturn:
		return signal_return(call, false);
	case SYS_rt_sigaction:
		return change_action(call);
	case SYS_rt_sigprocmask:
		return change_mask(call) ? SYS_DONE : SYS_RUN;
	case SYS_rt_sigsuspend:
		return wait_masked(call, 0, false);
	case SYS_ppoll:
		return wait_masked(call, 3, false);
	case SYS_pselect6:
		return wait_masked(call, 5, true);
	case SYS_epoll_pwait:
	case NR_EPOLL_PWAIT2:
		return wait_masked(call, 4, false);
	case SYS_kill:
	case SYS_tkill:
	case SYS_tgkill:
	case SYS_rt_sigqueueinfo:
	case SYS_rt_tgsigqueueinfo:
		func_aside(sys_signal_aside, call);
		return SYS_RUN;
	case SYS_vfork:
		return share_stack(call);
	case SYS_clone:
		return clone_child(call, call->args[0], call->args[1]);
	case NR_CLONE3:
		return clone3_child(call);
	case SYS_exit:
	case SYS_exit_group:
		return end(call->number == SYS_exit_group);
	case SYS_arch_prctl:
		return call->args[0] == ARCH_FS ? SYS_SILENT : SYS_RUN;
	case SYS_prctl:
		return change_process(call);
	case NR_SECCOMP:
		return call->args[0] <= 1 ? lock_up(call) : SYS_RUN;
	default:
		return SYS_RUN;
	}
}

/* What a handler of the program's calls that has interrupted us is taken for ours; but what leaves the stack, or shares it, has its way. */
uint32_t sys_special_own(struct calls_frame *call)
{
	switch (call->number) {
	case SYS_rt_sigreturn:
		return signal_return(call, true);
	case SYS_vfork:
	case SYS_clone:
	case NR_CLONE3:
		return sys_special(call);
	case SYS_rt_sigaction:
		/* We have handlers for others than those that may be delivered. */
		return sys_may_deliver(call->args[0]) && change_action(call) == SYS_DONE ? SYS_DONE_SILENT : SYS_SILENT;
	case SYS_rt_sigprocmask:
		/* We hold off no SIGSYS, but a handler that has interrupted us may. */
		return change_mask(call) ? SYS_DONE_SILENT : SYS_SILENT;
	default:
		return SYS_SILENT;
	}
}

void sys_special_end(struct calls_frame *call)
{
	if (call->notes & SYS_NOTE_LOCKS)
		runtime_lock_end(runtime_lock_failed(call->result, call->number == NR_SECCOMP ? call->args[1] : 0));
	if (!makes_child(call->number))
		return;
	unshare_thread(call);
	/* One that has a copy of our memory tells by itself. */
	if (call->result)
		live(SYS_LIFE_FORKED, call->notes & SYS_NOTE_MEMORY ? call->result : 0, false);
	else
		begin();
}

#endif

REGS_END
