/*
 * runtime/signal: see signal.h. The handler runs wherever an access to our mappings faulted, inside sections too: the
 * kernel has then sent the thread to the section's abort handler, which begins the event again.
 */
#include "runtime/signal.h"

#include <errno.h>
#include <string.h>

#include "runtime/local.h"

typedef int sigaction_fn(int signo, const struct sigaction *act, struct sigaction *old);
extern sigaction_fn __sigaction __attribute__((weak));

/* Even: `program` is whole. The program's handlers may be read by our handler while they are being replaced. */
static struct sigaction program[2];
static uint32_t current;
static bool installed;

static int real_sigaction(int signo, const struct sigaction *act, struct sigaction *old)
{
	/* Our own wrapper stands before sigaction; libc's other name for it goes past that. */
	return __sigaction ? __sigaction(signo, act, old) : -1;
}

static void chain(int signo, siginfo_t *info, void *context)
{
	const struct sigaction act = program[LOAD_ACQUIRE(current) & 1];
	const struct sigaction dfl = { .sa_handler = SIG_DFL };

	/* Once, as the program asked: it may count on the second fault to end it. */
	if (act.sa_flags & (int)SA_RESETHAND)
		runtime_signal_program(&dfl, NULL);
	if (act.sa_handler != SIG_DFL && act.sa_handler != SIG_IGN) {
		if (act.sa_flags & SA_SIGINFO)
			act.sa_sigaction(signo, info, context);
		else
			act.sa_handler(signo);
	} else if (info->si_code > 0 || act.sa_handler == SIG_DFL) {
		/* A fault happens again when we return; a SIGBUS that was sent does not. */
		real_sigaction(signo, &dfl, NULL);
		if (info->si_code <= 0)
			raise(signo);
	}
}

static void on_bus(int signo, siginfo_t *info, void *context)
{
	int saved = errno;

	if (info->si_code > 0 && runtime_owns(info->si_addr))
		runtime_detach();
	else
		chain(signo, info, context);
	errno = saved;
}

void runtime_signal_init(void)
{
	struct sigaction act;
	sigset_t bus;

	sigemptyset(&bus);
	sigaddset(&bus, SIGBUS);
	sigprocmask(SIG_UNBLOCK, &bus, NULL);
	memset(&act, 0, sizeof(act));
	act.sa_sigaction = on_bus;
	act.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER | SA_RESTART;
	sigemptyset(&act.sa_mask);
	STORE(installed, !real_sigaction(SIGBUS, &act, &program[0]));
}

bool runtime_signal_installed(void)
{
	return LOAD(installed);
}

int runtime_signal_program(const struct sigaction *act, struct sigaction *old)
{
	uint32_t now = LOAD(current);

	/* The new one first: `old` may be the same place. */
	if (act)
		program[(now + 1) & 1] = *act;
	if (old)
		*old = program[now & 1];
	if (act)
		STORE_RELEASE(current, now + 1);
	return 0;
}
