/*
 * cmd/interrupt: see interrupt.h.
 */
#include "cmd/interrupt.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <signal.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Handlers have no other place to leave word. */
static uint32_t word;
static int ending;
static unsigned int endings;
static int requested;

static void handle(int sig)
{
	int saved = errno;

	if (sig == SIGUSR1)
		__atomic_store_n(&requested, 1, __ATOMIC_RELEASE);
	else if (sig != SIGCHLD)
		__atomic_store_n(&ending, sig, __ATOMIC_RELEASE);
	if (sig != SIGUSR1 && sig != SIGCHLD)
		__atomic_fetch_add(&endings, 1, __ATOMIC_RELAXED);
	__atomic_fetch_add(&word, 1, __ATOMIC_RELEASE);
	syscall(SYS_futex, &word, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
	errno = saved;
}

void interrupt_catch(void)
{
	static const int signals[] = { SIGINT, SIGTERM, SIGHUP, SIGUSR1, SIGCHLD };
	struct sigaction action = { .sa_handler = handle }, before;

	sigemptyset(&action.sa_mask);
	for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++) {
		sigaction(signals[i], NULL, &before);
		/* nohup means it. */
		if (signals[i] != SIGHUP || before.sa_handler != SIG_IGN)
			sigaction(signals[i], &action, NULL);
	}
}

const uint32_t *interrupt_word(void)
{
	return &word;
}

int interrupt_end(void)
{
	return __atomic_load_n(&ending, __ATOMIC_ACQUIRE);
}

unsigned int interrupt_ends(void)
{
	return __atomic_load_n(&endings, __ATOMIC_RELAXED);
}

bool interrupt_request(void)
{
	return __atomic_exchange_n(&requested, 0, __ATOMIC_ACQ_REL);
}
