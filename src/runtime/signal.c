/*
 * runtime/signal: see signal.h. The handler of SIGBUS runs wherever an access to our mappings faulted, inside sections too: the
 * kernel has then sent the thread to the section's abort handler, which begins the event again.
 */
#include "runtime/signal.h"

#include <errno.h>
#include <string.h>

#include "runtime/local.h"

typedef int sigaction_fn(int signo, const struct sigaction *act, struct sigaction *old);
extern sigaction_fn __sigaction __attribute__((weak));

/* The program's handlers may be read by ours while they are being replaced. */
struct ours {
	struct sigaction program[2];
	uint32_t current;	/* which of them, by its last bit */
	bool installed;
};
static struct ours bus, traps, calls;
static bool (*trap_hit)(void *context);
static bool (*call_hit)(const siginfo_t *info, void *context);

static struct ours *ours_of(int signo)
{
	return signo == SIGBUS ? &bus : signo == SIGTRAP ? &traps : signo == SIGSYS ? &calls : NULL;
}

static int real_sigaction(int signo, const struct sigaction *act, struct sigaction *old)
{
	/* Our own wrapper stands before sigaction; libc's other name for it goes past that. */
	return __sigaction ? __sigaction(signo, act, old) : -1;
}

static void chain(const struct ours *ours, int signo, siginfo_t *info, void *context)
{
	const struct sigaction act = ours->program[LOAD_ACQUIRE(ours->current) & 1];
	const struct sigaction dfl = { .sa_handler = SIG_DFL };

	/* Once, as the program asked: it may count on the second fault to end it. */
	if (act.sa_flags & (int)SA_RESETHAND)
		runtime_signal_program(signo, &dfl, NULL);
	if (act.sa_handler != SIG_DFL && act.sa_handler != SIG_IGN) {
		if (act.sa_flags & SA_SIGINFO)
			act.sa_sigaction(signo, info, context);
		else
			act.sa_handler(signo);
	} else if (info->si_code > 0 || act.sa_handler == SIG_DFL) {
		/* Not the program's own wish, which would be kept beside our handler. */
		const uintptr_t own = runtime_own_begin();

		/* A fault happens again when we return, but a trap is behind its instruction; what was sent does not, either. */
		real_sigaction(signo, &dfl, NULL);
		if (info->si_code <= 0 || signo == SIGTRAP || signo == SIGSYS)
			raise(signo);
		runtime_own_end(own);
	}
}

static void on_bus(int signo, siginfo_t *info, void *context)
{
	int saved = errno;

	if (info->si_code > 0 && runtime_owns(info->si_addr))
		runtime_detach();
	else
		chain(&bus, signo, info, context);
	errno = saved;
}

static void on_trap(int signo, siginfo_t *info, void *context)
{
	int saved = errno;

	if (info->si_code <= 0 || !trap_hit(context))
		chain(&traps, signo, info, context);
	errno = saved;
}

/* Nothing of libc's, errno included, before the call is known to be one: see sys/start.c. */
static void on_call(int signo, siginfo_t *info, void *context)
{
	int saved;

	if (info->si_code > 0 && call_hit(info, context))
		return;
	saved = errno;
	chain(&calls, signo, info, context);
	errno = saved;
}

static bool install(int signo, void (*handler)(int signo, siginfo_t *info, void *context))
{
	struct ours *ours = ours_of(signo);
	struct sigaction act;
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, signo);
	sigprocmask(SIG_UNBLOCK, &set, NULL);
	memset(&act, 0, sizeof(act));
	act.sa_sigaction = handler;
	act.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER | SA_RESTART;
	sigemptyset(&act.sa_mask);
	STORE(ours->installed, !real_sigaction(signo, &act, &ours->program[0]));
	return ours->installed;
}

void runtime_signal_init(void)
{
	install(SIGBUS, on_bus);
}

/* Handlers that were there before ours hold it off no more. */
static void strip_handlers(int ours)
{
	struct sigaction act;

	for (int signo = 1; signo < NSIG; signo++)
		if (!real_sigaction(signo, NULL, &act) && sigismember(&act.sa_mask, ours) > 0) {
			sigdelset(&act.sa_mask, ours);
			real_sigaction(signo, &act, NULL);
		}
}

bool runtime_signal_traps(bool (*hit)(void *context))
{
	if (LOAD(traps.installed))
		return true;
	/* Loaded behind the program's libc we would not see what it does about signals. */
	if (!LOAD(runtime.asked))
		return false;
	trap_hit = hit;
	if (!install(SIGTRAP, on_trap))
		return false;
	strip_handlers(SIGTRAP);
	return true;
}

bool runtime_signal_calls(bool (*hit)(const siginfo_t *info, void *context))
{
	if (LOAD(calls.installed))
		return true;
	call_hit = hit;
	if (!install(SIGSYS, on_call))
		return false;
	strip_handlers(SIGSYS);
	return true;
}

bool runtime_signal_ours(int signo)
{
	const struct ours *ours = ours_of(signo);

	return ours && LOAD(ours->installed);
}

bool runtime_signal_strip(sigset_t *set)
{
	static const int all[] = { SIGBUS, SIGTRAP, SIGSYS };
	bool any = false;

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		if (runtime_signal_ours(all[i]) && sigismember(set, all[i]) > 0) {
			sigdelset(set, all[i]);
			any = true;
		}
	return any;
}

int runtime_signal_program(int signo, const struct sigaction *act, struct sigaction *old)
{
	struct ours *ours = ours_of(signo);
	uint32_t now = LOAD(ours->current);

	/* The new one first: `old` may be the same place. */
	if (act)
		ours->program[(now + 1) & 1] = *act;
	if (old)
		*old = ours->program[now & 1];
	if (act)
		STORE_RELEASE(ours->current, now + 1);
	return 0;
}
