/*
 * cmd/beside: see beside.h.
 */
#include "cmd/beside.h"

#include <stddef.h>
#include <sys/prctl.h>

volatile sig_atomic_t beside_stop;

static void on_term(int signal)
{
	(void)signal;
	beside_stop = 1;
}

/* Ctrl-C is for the one that has it, which then ends it. */
void beside_begin(const char *name)
{
	struct sigaction term = { .sa_handler = on_term };
	sigset_t none;

	for (int n = 1; n < NSIG; n++)
		signal(n, n == SIGINT || n == SIGHUP || n == SIGUSR1 || n == SIGPIPE ? SIG_IGN : SIG_DFL);
	sigaction(SIGTERM, &term, NULL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	prctl(PR_SET_NAME, name);
}
