/*
 * net/pump: see pump.h.
 */
#include "net/pump.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#define SOME ((size_t)64 << 10)

static bool write_all(int fd, const char *bytes, size_t len)
{
	while (len) {
		ssize_t n = write(fd, bytes, len);

		if (n < 0 && errno != EINTR)
			return false;
		bytes += n > 0 ? n : 0;
		len -= n > 0 ? (size_t)n : 0;
	}
	return true;
}

/* One piece: false: that was the end. */
static bool carry(int from, int to)
{
	char bytes[SOME];
	ssize_t n = read(from, bytes, sizeof(bytes));

	return n < 0 ? errno == EINTR : n && write_all(to, bytes, (size_t)n);
}

/* One process for one way: whoever does not read holds up nothing but that. */
static void pump(int from, int to)
{
	while (carry(from, to))
		;
	shutdown(to, SHUT_WR);
	shutdown(from, SHUT_RD);
}

static pid_t start(int from, int to, int other)
{
	pid_t self = getpid(), pid = fork();

	if (pid)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	prctl(PR_SET_NAME, "pump");
	signal(SIGPIPE, SIG_IGN);
	signal(SIGINT, SIG_IGN);
	close(other);
	if (getppid() == self)
		pump(from, to);
	_exit(0);
}

int pump_stdio(struct err *err)
{
	struct stat st;
	int ends[2];

	if (!fstat(STDIN_FILENO, &st) && S_ISSOCK(st.st_mode))
		return STDIN_FILENO;
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends))
		return err_set(err, -errno, "standard input cannot be read: %s", strerror(errno));
	if (start(STDIN_FILENO, ends[1], ends[0]) < 0 || start(ends[1], STDOUT_FILENO, ends[0]) < 0) {
		int code = -errno;

		close(ends[0]);
		close(ends[1]);
		return err_set(err, code, "standard input cannot be read: %s", strerror(-code));
	}
	close(ends[1]);
	return ends[0];
}
