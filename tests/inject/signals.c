/*
 * A thread that is stopped, run from system call to system call, interrupted in that and let go, again and again, gets each signal
 * that is sent to it meanwhile, once.
 */
#include <stdio.h>

#if defined(__x86_64__)

#include <errno.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include "inject/x86_64/tracee.h"
#include "insist.h"

#define STOPS 500

static struct {
	uint32_t over, rounds;
} *shared;

static volatile sig_atomic_t seen;

static void on_signal(int sig)
{
	(void)sig;
	seen++;
}

/* Sends itself one after the other: hardly ever is there none on its way. */
static int be_target(void)
{
	struct sigaction act = { .sa_handler = on_signal };
	int sent = 0;

	sigaction(SIGRTMIN, &act, NULL);
	while (!__atomic_load_n(&shared->over, __ATOMIC_RELAXED)) {
		raise(SIGRTMIN);
		if (seen != ++sent) {
			fprintf(stderr, "%d signals were sent and %d came\n", sent, (int)seen);
			return 1;
		}
		__atomic_store_n(&shared->rounds, (uint32_t)sent, __ATOMIC_RELAXED);
	}
	return 0;
}

/* Between two stops it comes round, or has ended. */
static void wait_for_round(pid_t pid)
{
	uint32_t before = __atomic_load_n(&shared->rounds, __ATOMIC_RELAXED);
	siginfo_t info = { 0 };

	while (__atomic_load_n(&shared->rounds, __ATOMIC_RELAXED) == before && !info.si_pid)
		if (waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT))
			return;
}

/* Until it has not stopped yet when somebody looks. */
static int run(struct tracee *tracee)
{
	int status, r;

	do
		r = tracee_run(tracee, PTRACE_SYSCALL, tracee->signal, tracee_deadline(0), &status);
	while (!r);
	return r;
}

int main(void)
{
	static struct tracee tracee;
	int status, stopped = 0, r;
	pid_t pid;

	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	CHECK(shared != MAP_FAILED, "mmap: %s", strerror(errno));
	pid = fork();
	CHECK(pid >= 0, "fork: %s", strerror(errno));
	if (!pid)
		_exit(be_target());
	for (int i = 0; i < STOPS; i++) {
		wait_for_round(pid);
		r = tracee_stop(&tracee, pid, pid);
		if (!r)
			r = run(&tracee);
		if (r == -ETIMEDOUT)
			r = tracee_interrupt(&tracee);
		if (r == -ESRCH)
			break;
		stopped += !r;
		tracee_let_go(&tracee);
	}
	__atomic_store_n(&shared->over, 1, __ATOMIC_RELAXED);
	CHECK(waitpid(pid, &status, 0) == pid && WIFEXITED(status) && !WEXITSTATUS(status), "it ended with %x",
	      (unsigned int)status);
	CHECK(stopped == STOPS, "of %d stops %d", STOPS, stopped);
	return 0;
}

#else

int main(void)
{
	printf("processes that run already are reached on x86-64 alone\n");
	return 77;
}

#endif
