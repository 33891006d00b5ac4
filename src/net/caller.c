/*
 * net/caller: see caller.h.
 */
#include "net/caller.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "net/jail.h"
#include "net/trust.h"

#define CALL_MS 10000
#define MEMORY ((size_t)256 << 20)

void caller_init(struct caller *caller, const struct caller_how *how)
{
	*caller = (struct caller){ .how = how };
	trust_host(caller->greet.name);
	caller->greet.machine = trust_machine();
	address_print(&how->to, caller->greet.text, sizeof(caller->greet.text));
	snprintf(caller->greet.host, sizeof(caller->greet.host), "%s", how->to.host);
}

/* Whose key the far end has to have. */
static int know(struct caller *caller, struct err *err)
{
	struct trust trust;
	int r = trust_own(&caller->greet.key, caller->how->keys, false, err);

	if (!r)
		r = trust_named(&trust, caller->how->keys, caller->how->to.host, err);
	if (r <= 0)
		return r;
	if (caller->how->needs && !(trust.may & caller->how->needs))
		return err_set(err, -EACCES, "%s may not read what is recorded here: `ringside trust %s %.60s --may read` lets it", trust.name,
			       trust.name, trust.fingerprint);
	strcpy(caller->greet.expected, trust.fingerprint);
	return 0;
}

/* Nobody listens in on the way to ourselves; elsewhere only who said so goes without. What has no host's name has no key to be known by. */
static int choose_tls(struct caller *caller, int fd, struct err *err)
{
	const struct caller_how *how = caller->how;

	if (how->insecure || caller->greet.key || how->line || how->to.kind != ADDRESS_TCP || (address_is_near(fd) && !how->tls))
		return 0;
	return know(caller, err);
}

static pid_t start_ssh(const struct caller_how *how, int end)
{
	pid_t pid = fork();
	char port[12];

	if (pid)
		return pid;
	snprintf(port, sizeof(port), "%u", how->to.port);
	dup2(end, 0);
	dup2(end, 1);
	if (how->to.port)
		execlp("ssh", "ssh", "-T", "-p", port, "--", how->to.host, how->command, (char *)NULL);
	else
		execlp("ssh", "ssh", "-T", "--", how->to.host, how->command, (char *)NULL);
	_exit(127);
}

/* Whoever it is comes when he comes. */
static int await_line(int line, uint32_t *lines, struct err *err)
{
	union {
		struct cmsghdr head;
		char room[CMSG_SPACE(sizeof(int))];
	} control;
	struct pollfd wait = { .fd = line, .events = POLLIN };
	char byte;
	struct iovec iov = { &byte, 1 };
	struct msghdr message = { .msg_iov = &iov, .msg_iovlen = 1, .msg_control = control.room, .msg_controllen = sizeof(control.room) };
	struct cmsghdr *c;
	int fd;

	if (send(line, lines, sizeof(*lines), MSG_NOSIGNAL | MSG_DONTWAIT) < 0 && errno != EAGAIN)
		return err_set(err, -EPIPE, "nobody will be there any more");
	if (poll(&wait, 1, CALL_MS) <= 0)
		return err_set(err, -EAGAIN, "nobody is there");
	if (recvmsg(line, &message, MSG_CMSG_CLOEXEC) <= 0 || !(c = CMSG_FIRSTHDR(&message)) || c->cmsg_type != SCM_RIGHTS)
		return err_set(err, -EPIPE, "nobody will be there any more");
	memcpy(&fd, CMSG_DATA(c), sizeof(fd));
	++*lines;
	return fd;
}

static int call(const struct caller_how *how, uint32_t *lines, pid_t *ssh, struct err *err)
{
	int ends[2];

	*ssh = 0;
	if (how->line)
		return await_line(how->line, lines, err);
	if (how->to.kind != ADDRESS_SSH)
		return address_connect(&how->to, CALL_MS, err);
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends))
		return err_set(err, -errno, "no line to ssh: %s", strerror(errno));
	*ssh = start_ssh(how, ends[1]);
	close(ends[1]);
	fcntl(ends[0], F_SETFL, O_NONBLOCK);
	return ends[0];
}

static void end_ssh(pid_t ssh)
{
	if (ssh <= 0)
		return;
	kill(ssh, SIGTERM);
	while (waitpid(ssh, NULL, 0) < 0 && errno == EINTR)
		;
}

int caller_once(struct caller *caller, int (*talk)(void *ctx, int fd, const struct greet_how *greet), void *ctx, struct err *err)
{
	pid_t ssh, child, self;
	int fd = call(caller->how, caller->lines, &ssh, err), status = 0, r;

	r = fd < 0 ? fd : choose_tls(caller, fd, err);
	if (r < 0) {
		if (fd >= 0)
			close(fd);
		end_ssh(ssh);
		return r;
	}
	self = getpid();
	child = fork();
	if (!child) {
		/* Nobody may take another's place while this one still talks. */
		if (prctl(PR_SET_PDEATHSIG, SIGKILL) || getppid() != self)
			_exit(127);
		_exit(jail_enter(MEMORY, caller->calls, err) ? 127 : talk(ctx, fd, &caller->greet));
	}
	close(fd);
	while (child > 0 && caller->attend && !waitpid(child, &status, WNOHANG))
		caller->attend(ctx);
	while (child > 0 && !caller->attend && waitpid(child, &status, 0) < 0 && errno == EINTR)
		;
	end_ssh(ssh);
	if (child > 0 && WIFEXITED(status) && WEXITSTATUS(status) != 127)
		return WEXITSTATUS(status);
	return err_set(err, -ECHILD, "%s: who talked to it was killed (%s)", caller->greet.text,
		       child > 0 && WIFSIGNALED(status) ? strsignal(WTERMSIG(status)) : "it cannot be locked up");
}

/* Kernels before 5.9 close them one by one. */
static void drop(unsigned int from, unsigned int to)
{
	long most = sysconf(_SC_OPEN_MAX);

	if (!syscall(SYS_close_range, from, to, 0u))
		return;
	for (unsigned int fd = from; fd <= to && (most < 0 || fd < (unsigned long)most) && fd < 65536; fd++)
		close((int)fd);
}

void caller_settle(const char *name)
{
	static const int ignored[] = { SIGINT, SIGQUIT, SIGHUP, SIGPIPE, SIGUSR1 }, usual[] = { SIGTERM, SIGCHLD };

	for (size_t i = 0; i < sizeof(ignored) / sizeof(ignored[0]); i++)
		signal(ignored[i], SIG_IGN);
	for (size_t i = 0; i < sizeof(usual) / sizeof(usual[0]); i++)
		signal(usual[i], SIG_DFL);
	prctl(PR_SET_NAME, name);
}

void caller_drop_files(const int *keep, int n)
{
	int sorted[8];
	unsigned int from = 3;

	for (int i = 0; i < n; i++) {
		int at = i;

		for (; at && sorted[at - 1] > keep[i]; at--)
			sorted[at] = sorted[at - 1];
		sorted[at] = keep[i];
	}
	for (int i = 0; i < n; i++) {
		if (sorted[i] < (int)from)
			continue;
		if ((unsigned int)sorted[i] > from)
			drop(from, (unsigned int)sorted[i] - 1);
		from = (unsigned int)sorted[i] + 1;
	}
	drop(from, ~0u);
}
