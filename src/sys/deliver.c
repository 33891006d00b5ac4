/*
 * sys/deliver: signal:signal_deliver, when a handler of the program begins.
 *
 *   signal --kernel--> sys_deliver (thunk.S) --jump--> the program's handler --> back, as if we had not been there
 *
 * While somebody wants the event all handlers are ours, and the program's are in a table. It does not notice: the system call that
 * sets and asks for handlers comes to us (special.c), the handler finds stack and arguments as the kernel made them. What it asks
 * for once only (SA_RESETHAND) the kernel takes away by itself. Signals that have a handler of the runtime's own are left out.
 */
#include <errno.h>
#include <sys/syscall.h>

#include "runtime/runtime.h"
#include "sys/local.h"

#if defined(__x86_64__) && !defined(__ILP32__)

static long ask(int signo, const struct kernel_action *act, struct kernel_action *old)
{
	return sys_raw(SYS_rt_sigaction, signo, (long)act, (long)old, sizeof(act->mask), 0, 0);
}

static void put_one(int signo, bool on)
{
	struct kernel_action act;

	if (!sys_may_deliver((uint64_t)signo) || ask(signo, NULL, &act) || act.handler <= (uintptr_t)SIG_IGN ||
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

void sys_deliver_update(bool on)
{
	if (on == sys_delivers)
		return;
	sys_delivers = on;
	for (int signo = 1; signo < (int)SYS_SIGNALS; signo++)
		put_one(signo, on);
}

uint64_t sys_deliver_note(int signo, const siginfo_t *info)
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

	if (id >= EVENT_ID_FIRST && id < EVENT_ID_END && LOAD(view->mask[id])) {
		sys_adopt(id);
		runtime_write(id, &record, sizeof(record));
	}
	errno = saved;
	return act->handler;
}

#endif
