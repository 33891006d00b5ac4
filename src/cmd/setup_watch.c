/*
 * cmd/setup_watch: a process that waits for the end of one who has changed a kernel's settings.
 *
 * Who ends in good order takes back himself what he changed, and then this one goes, too. Who crashed or was killed could not: this one
 * does what the journal says, as the next recorder would. It lives in a session of its own, so that what is meant for a
 * terminal's processes does not end both.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cmd/beside.h"
#include "cmd/setup_local.h"

/* Files of an instance that stay open would keep it from being removed, and a pipe its reader from the end of it. */
static void let_go(int pidfd)
{
	int null = open("/dev/null", O_RDWR);

	for (int fd = 0; fd <= STDERR_FILENO; fd++)
		dup2(null, fd);
	dup2(pidfd, STDERR_FILENO + 1);
	syscall(SYS_close_range, STDERR_FILENO + 2, ~0u, 0);
}

static _Noreturn void watch(const char *tree, int pidfd)
{
	struct source_how how = { .tracefs = tree };
	struct pollfd end = { .fd = STDERR_FILENO + 1, .events = POLLIN };
	struct source *source;

	beside_begin("undo");
	setsid();
	let_go(pidfd);
	while (poll(&end, 1, -1) <= 0)
		if (errno != EINTR)
			_exit(1);
	if (!source_open(&source, &how, NULL))
		setup_journal_sweep(source);
	_exit(0);
}

/* Where there can be none, the next recorder does it. */
void setup_watch_begin(struct setup *setup)
{
	int pidfd = setup->journal < 0 ? -1 : (int)syscall(SYS_pidfd_open, getpid(), 0);
	sigset_t all, now;

	if (pidfd < 0)
		return;
	/* No handler of ours runs in the child. */
	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, &now);
	setup->watcher = fork();
	if (!setup->watcher)
		watch(source_name(setup->source), pidfd);
	sigprocmask(SIG_SETMASK, &now, NULL);
	close(pidfd);
}

void setup_watch_end(struct setup *setup)
{
	if (setup->watcher <= 0)
		return;
	kill(setup->watcher, SIGKILL);
	while (waitpid(setup->watcher, NULL, 0) < 0 && errno == EINTR)
		;
	setup->watcher = 0;
}
