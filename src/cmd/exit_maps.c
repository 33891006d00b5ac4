/*
 * cmd/exit_maps: see exit_maps.h.
 */
#include "cmd/exit_maps.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/wait.h>

/* It stands still: for its end, because somebody stopped it, or for a signal that is its own. */
static void go_on(pid_t pid, int status, void (*save)(void *ctx, int pid), void *ctx)
{
	int event = status >> 16, sig = WSTOPSIG(status);

	if (event == PTRACE_EVENT_EXIT) {
		save(ctx, pid);
		ptrace(PTRACE_CONT, pid, NULL, 0);
	} else if (event == PTRACE_EVENT_STOP && sig != SIGTRAP) {
		ptrace(PTRACE_LISTEN, pid, NULL, 0);
	} else {
		ptrace(PTRACE_CONT, pid, NULL, event ? 0 : (long)sig);
	}
}

int exit_maps_poll(struct launch *launch, int *status, void (*save)(void *ctx, int pid), void *ctx)
{
	pid_t pid;

	if (launch->ended)
		return launch_poll(launch, status);
	while ((pid = waitpid(launch->pid, status, WNOHANG | __WALL)) == launch->pid && WIFSTOPPED(*status))
		go_on(pid, *status, save, ctx);
	if (pid < 0)
		return -errno;
	if (!pid)
		return 0;
	launch->ended = true;
	launch->status = *status;
	return 1;
}

int exit_maps_watch(struct launch *launch, struct err *err)
{
	if (ptrace(PTRACE_SEIZE, launch->pid, NULL, PTRACE_O_TRACEEXIT))
		return err_set(err, -errno, "the command cannot be watched for --proc-map: %s", strerror(errno));
	return 0;
}
