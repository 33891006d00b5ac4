/*
 * sys/deliver: signal:signal_deliver, when a handler of the program begins.
 *
 *   signal --kernel--> sys_deliver (thunk.S) --jump--> the program's handler --> back, as if we had not been there
 *
 * While somebody wants the event all handlers are ours, and the program's are in a table. It does not notice: the system call that
 * sets and asks for handlers comes to us (special.c), the handler finds stack and arguments as the kernel made them. What it asks
 * for once only (SA_RESETHAND) the kernel takes away by itself. Signals that have a handler of the runtime's own are left out.
 *
 * libc's own two make no records. One of them cancels threads: its handler looks whether it has interrupted the one `syscall` of calls
 * that may be cancelled, or what comes right before, where libc looks by itself. So a thread whose call is in the
 * thunk, and not behind the kernel, is shown at its `syscall`, and begins again from there. One that has not come as far yet is sent
 * the signal again when it has.
 */
#include <errno.h>
#include <sys/syscall.h>
#include <ucontext.h>

#include "runtime/runtime.h"
#include "sys/local.h"

#if defined(__x86_64__) && !defined(__ILP32__)

#define RESTARTS 512	/* ERESTARTSYS */
#define FLAGS 0x8ff	/* of the processor: those that calls_frame has */

static long ask(int signo, const struct kernel_action *act, struct kernel_action *old)
{
	return sys_raw(SYS_rt_sigaction, signo, (long)act, (long)old, sizeof(act->mask), 0, 0);
}

static void put_one(int signo, bool on)
{
	struct kernel_action act;

	if (ask(signo, NULL, &act) || act.handler <= (uintptr_t)SIG_IGN ||
	    (act.handler == (uintptr_t)sys_deliver) == on)
		return;
	if (on) {
		sys_handlers[signo] = act;
		act.handler = (uintptr_t)sys_deliver;
		act.flags |= SA_SIGINFO;
	} else {
		act.handler = sys_handlers[signo].handler;
		act.flags = (act.flags & ~(uint64_t)SA_SIGINFO) | (sys_handlers[signo].flags & SA_SIGINFO);
	}
	ask(signo, &act, NULL);
}

void sys_deliver_update(bool cancels, bool delivers)
{
	/* libc's stay ours: threads may be in the thunk for long. But it may have set its own meanwhile. */
	const bool begins = cancels && !sys_cancels, changes = delivers != sys_delivers;

	sys_delivers = delivers;
	sys_cancels = cancels;
	for (int signo = 1; signo < (int)SYS_SIGNALS; signo++)
		if (begins && sys_is_libcs((uint64_t)signo))
			put_one(signo, true);
		else if (changes && sys_may_deliver((uint64_t)signo))
			put_one(signo, delivers);
}

/* As if the thread were at the program's own `syscall` still, as far as it can be. */
static void go_back(ucontext_t *context, const struct calls_frame *call)
{
	static const int args[CALLS_ARGS] = { REG_RDI, REG_RSI, REG_RDX, REG_R10, REG_R8, REG_R9 };
	greg_t *regs = context->uc_mcontext.gregs;

	/* Nobody looks at those that are patched, and some are begun once. */
	if (call->after != call->shown || (sys_is_special(call->number) && call->notes))
		return;
	for (uint32_t i = 0; i < CALLS_ARGS; i++)
		regs[args[i]] = (greg_t)call->args[i];
	regs[REG_RAX] = call->number;
	regs[REG_EFL] = (regs[REG_EFL] & ~(greg_t)FLAGS) | (greg_t)((call->flags >> 8 & 0xff) | (call->flags & 1) << 11);
	regs[REG_RIP] = (greg_t)(call->shown - SYSCALL_SIZE);
	regs[REG_RSP] = (greg_t)((uintptr_t)(call + 1) + CALLS_RED_ZONE);
	sys_coming = 0;
	/* It will begin again, as the kernel says of such a call. */
	sys_put_exit(call->number, -RESTARTS);
}

static void cancel(int signo, ucontext_t *context)
{
	const uintptr_t at = (uintptr_t)context->uc_mcontext.gregs[REG_RIP];

	if ((at >= (uintptr_t)sys_going && at < (uintptr_t)sys_within) || at == (uintptr_t)sys_sent)
		go_back(context, (const void *)(uintptr_t)context->uc_mcontext.gregs[REG_RSP]);
	else if (sys_coming || func_is_own(at))
		sys_coming = (uint8_t)signo;
}

uint64_t sys_deliver_note(int signo, const siginfo_t *info, void *context)
{
	const struct kernel_action *act = &sys_handlers[(uint32_t)signo % SYS_SIGNALS];
	const struct view *view = LOAD_ACQUIRE(wiped.view);
	const struct state_calls *calls = view ? LOAD(view->calls) : NULL;
	const uint32_t id = calls ? LOAD(calls->deliver_id) : 0;
	struct record_deliver record = {
		.sig = signo, .error = info->si_errno, .code = info->si_code, .handler = act->handler,
		/* What the kernel knows of it. */
		.flags = act->flags & UINT32_MAX,
	};
	int saved = errno;

	if (sys_is_libcs((uint64_t)signo))
		cancel(signo, context);
	else if (id >= EVENT_ID_FIRST && id < EVENT_ID_END && LOAD(view->mask[id])) {
		sys_adopt(id);
		runtime_write(id, &record, sizeof(record));
	}
	errno = saved;
	return act->handler;
}

#endif
