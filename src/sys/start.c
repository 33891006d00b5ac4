/*
 * sys/start: system calls come to us, and no more.
 *
 * The kernel sends SIGSYS for the calls of each thread that asked for it, if a byte says so: one for the whole process, so that
 * switching off is one store. Threads ask for themselves, as they are born or as their first call comes by a patched place; those that
 * run already are made to by the tool, which holds them (struct calls_dispatch).
 */
#include <errno.h>
#include <sys/syscall.h>
#include <ucontext.h>

#include "runtime/module.h"
#include "runtime/signal.h"
#include "sys/local.h"

#if defined(__x86_64__) && !defined(__ILP32__)

#define PRCTL_DISPATCH 59
#define DISPATCH_ON 1
#define CODE_DISPATCH 2	/* SYS_USER_DISPATCH, of si_code */
#define ARCH_X86_64 0xc000003eu
#define SA_OWN_RESTORER 0x04000000u

/* Which register has which argument of the old way to call: eax, ebx, ecx, edx, esi, edi, ebp. */
static void call_old(greg_t *regs)
{
	const uint64_t args[7] = {
		(uint64_t)regs[REG_RAX], (uint64_t)regs[REG_RBX], (uint64_t)regs[REG_RCX], (uint64_t)regs[REG_RDX],
		(uint64_t)regs[REG_RSI], (uint64_t)regs[REG_RDI], (uint64_t)regs[REG_RBP],
	};

	regs[REG_RAX] = sys_raw_old(args);
}

/* Its stacks have room for what Go has counted beforehand, and for nothing of ours: such calls are not seen. */
static bool is_of_go(uintptr_t behind)
{
	const struct module *module = runtime_module(behind - SYSCALL_SIZE);

	return module && module->go;
}

/* Go's calls are seen no more; this one neither. */
static bool give_up(greg_t *regs)
{
	sys_coming = 0;
	sys_give_up();
	regs[REG_RIP] -= SYSCALL_SIZE;
	return true;
}

/* Any thread, at any `syscall`: it is done again, by the thunk. errno is left alone. */
static bool hit(const siginfo_t *info, void *context)
{
	greg_t *regs = ((ucontext_t *)context)->uc_mcontext.gregs;
	uint8_t none = 0;
	int saved;
	bool go;

	if (info->si_code != CODE_DISPATCH || sys_self.foreign)
		return false;
	if (info->si_arch != ARCH_X86_64) {
		call_old(regs);
		return true;
	}
	/*
	 * Before anything that is not our own code: a signal of libc's that finds the thread elsewhere would not know that it is on the
	 * way. It may be for a call within the other. In one instruction: a signal's number that comes in between stays.
	 */
	__atomic_compare_exchange_n(&sys_coming, &none, 1, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
	saved = errno;
	go = is_of_go((uintptr_t)regs[REG_RIP]);
	errno = saved;
	if (go)
		return give_up(regs);
	regs[REG_RCX] = regs[REG_R11] = regs[REG_RIP];
	regs[REG_RIP] = (greg_t)(uintptr_t)sys_thunk;
	return true;
}

/*
 * Is the program run by valgrind, whose own calls would be seen in the place of ours? It looks for this sequence, which otherwise does
 * nothing, and answers the question at rax in rdx.
 */
static bool is_emulated(void)
{
	const uint64_t running[6] = { 0x1001 };
	uint64_t answer = 0;

	__asm__ volatile("rolq $3, %%rdi\n\trolq $13, %%rdi\n\trolq $61, %%rdi\n\trolq $51, %%rdi\n\txchgq %%rbx, %%rbx"
			 : "+d"(answer) : "a"(running) : "cc", "memory");
	return answer != 0;
}

/* Our handler returns by a call of ours. */
static bool install(void)
{
	struct kernel_action act;

	if (__ringside_calls.selector)
		return true;
	if (is_emulated() || !runtime_signal_calls(hit) || sys_raw(SYS_rt_sigaction, SIGSYS, 0, (long)&act, sizeof(act.mask), 0, 0))
		return false;
	act.restorer = (uintptr_t)sys_restorer;
	act.flags |= SA_OWN_RESTORER;
	if (sys_raw(SYS_rt_sigaction, SIGSYS, (long)&act, 0, sizeof(act.mask), 0, 0))
		return false;
	func_vectors_init();
	__ringside_calls.size = (uint64_t)(sys_range_end - sys_range_begin);
	__ringside_calls.selector = (uintptr_t)&sys_selector;
	return true;
}

/* As the kernel has them, once somebody makes children without: CLONE_CLEAR_SIGHAND. */
static const int ours[] = { SIGBUS, SIGTRAP, SIGSYS };
#define OURS (sizeof(ours) / sizeof(ours[0]))
static struct kernel_action kept[OURS];

static long ask(int signo, const struct kernel_action *act, struct kernel_action *old)
{
	return LOAD(runtime.locked) ? -EPERM : sys_raw(SYS_rt_sigaction, signo, (long)act, (long)old, sizeof(act->mask), 0, 0);
}

void sys_handlers_keep(void)
{
	for (size_t i = 0; i < OURS; i++)
		if (runtime_signal_ours(ours[i]))
			ask(ours[i], NULL, &kept[i]);
}

void sys_handlers_bring(void)
{
	struct kernel_action now;

	for (size_t i = 0; i < OURS; i++)
		if (kept[i].handler && !ask(ours[i], NULL, &now) && now.handler == (uintptr_t)SIG_DFL)
			ask(ours[i], &kept[i], NULL);
}

void sys_arm(void)
{
	const uint64_t unblock = 1ull << (SIGSYS - 1);

	/* Whatever comes of it: there is no second try. Of calls that make processes we see some that nobody has asked for yet. */
	sys_self.armed = __ringside_calls.selector != 0;
	if (LOAD(runtime.locked) || !__ringside_calls.selector || sys_self.foreign)
		return;
	sys_raw(SYS_rt_sigprocmask, SIG_UNBLOCK, (long)&unblock, 0, sizeof(unblock), 0, 0);
	sys_raw(SYS_prctl, PRCTL_DISPATCH, DISPATCH_ON, (long)__ringside_calls.start, (long)__ringside_calls.size,
		(long)__ringside_calls.selector, 0);
}

static bool is_wanted(void)
{
	const struct state_head *state;
	const struct view *view;

	if (!LOAD(runtime.attached) || LOAD(runtime.asleep))
		return false;
	state = runtime_state_peek(LOAD_ACQUIRE(runtime.control->published));
	if (!state || !LOAD(state->calls))
		return false;
	view = runtime_view_settle();
	return view && LOAD(view->calls);
}

static bool delivers(void)
{
	const struct view *view = runtime_view_settle();
	const struct state_calls *calls = view ? LOAD(view->calls) : NULL;

	return calls && calls->deliver_id;
}

void sys_update(void)
{
	const uintptr_t own = runtime_own_begin();

	STORE(sys_wanted, is_wanted() && (LOAD(runtime.locked) || install()));
	/* Before calls come: a signal that finds a thread on the way to its own is sent again by our handler alone. */
	if (LOAD(sys_wanted) && !LOAD(runtime.locked))
		sys_deliver_update(true, sys_delivers);
	sys_dispatch();
	if (!LOAD(runtime.locked))
		sys_deliver_update(__ringside_calls.on, __ringside_calls.on && delivers());
	runtime_own_end(own);
}

/* Behind attaching, and behind functions' start. */
__attribute__((constructor(103))) static void start(void)
{
	int saved = errno;

	if (LOAD(runtime.attached) && !runtime.late && is_wanted()) {
		sys_update();
		/* The end of the call that brought this program. */
		if (__ringside_calls.on) {
			sys_put_exit(SYS_execve, 0);
			sys_arm();
		}
	}
	errno = saved;
}

#endif
