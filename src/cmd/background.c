/*
 * cmd/background: see background.h.
 */
#include "cmd/background.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* Until the other has begun: then the terminal is free again. If it ends before, its status is ours. */
static int wait_for(pid_t pid, int from)
{
	ssize_t n;
	char byte;
	int status = 0;

	do
		n = read(from, &byte, 1);
	while (n < 0 && errno == EINTR);
	close(from);
	if (n == 1)
		return 0;
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

int background_fork(struct background *background, struct err *err)
{
	int pipes[2];
	pid_t pid;

	*background = (struct background){ .tell = -1 };
	if (pipe2(pipes, O_CLOEXEC))
		return err_set(err, -errno, "cannot go to the background: %s", strerror(errno));
	pid = fork();
	if (pid < 0) {
		close(pipes[0]);
		close(pipes[1]);
		return err_set(err, -errno, "cannot go to the background: %s", strerror(errno));
	}
	if (pid) {
		close(pipes[1]);
		return wait_for(pid, pipes[0]) + 1;
	}
	close(pipes[0]);
	setsid();
	background->tell = pipes[1];
	return 0;
}

int background_begin(struct background *background, const char *path, struct err *err)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	FILE *file = NULL;

	if (asprintf(&background->pidfile, "%s.pid", path) < 0)
		background->pidfile = NULL;
	else
		file = fopen(background->pidfile, "we");
	if (null < 0 || !file || fprintf(file, "%d\n", (int)getpid()) < 0 || fclose(file))
		return err_set(err, -errno, "cannot write %.300s.pid: %s", path, strerror(errno));
	printf("%d\n", (int)getpid());
	fflush(stdout);
	for (int fd = 0; fd <= STDERR_FILENO; fd++)
		dup2(null, fd);
	close(null);
	if (write(background->tell, "", 1) != 1)
		return err_set(err, -EPIPE, "nobody waits for this any more");
	close(background->tell);
	background->tell = -1;
	return 0;
}

void background_end(struct background *background)
{
	if (background->pidfile)
		unlink(background->pidfile);
	free(background->pidfile);
	background->pidfile = NULL;
}
