/*
 * In the jail: what it is there for works, and all else does not: nothing is opened, started, signalled, looked at or run, memory has its
 * end, the terminal is out of reach, and who made it takes it along.
 */
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "insist.h"
#include "net/jail.h"

#define MEMORY ((size_t)64 << 20)

static int pair[2], file, listening;
static pid_t self;

enum { DONE, REFUSED = 10, FAILED };

/* What a call came to; one that is none of the jail's kills. */
static int came_to(long r)
{
	return r >= 0 ? DONE : errno == EPERM ? REFUSED : FAILED;
}

/* ---- what it needs ---- */

static int passes_descriptors(void)
{
	union {
		struct cmsghdr head;
		char room[CMSG_SPACE(sizeof(int))];
	} control = { .head = { .cmsg_len = CMSG_LEN(sizeof(int)), .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS } };
	struct iovec iov = { (char *)"x", 1 };
	struct msghdr message = { .msg_iov = &iov, .msg_iovlen = 1, .msg_control = control.room, .msg_controllen = sizeof(control.room) };
	char byte;

	memcpy(CMSG_DATA(&control.head), &file, sizeof(file));
	if (sendmsg(pair[0], &message, 0) != 1)
		return FAILED;
	iov.iov_base = &byte;
	return recvmsg(pair[1], &message, 0) == 1 && message.msg_controllen ? DONE : FAILED;
}

static int works(void)
{
	struct pollfd wait = { .fd = pair[1], .events = POLLIN };
	struct timespec now, nap = { .tv_nsec = 1000 };
	struct stat st;
	char bytes[8], *memory = malloc(MEMORY / 4);
	int yes = 1, i;

	if (!memory || send(pair[0], "12345678", 8, MSG_NOSIGNAL) != 8 || poll(&wait, 1, 1000) != 1 || recv(pair[1], bytes, 8, MSG_DONTWAIT) != 8)
		return 1;
	memset(memory, 1, MEMORY / 4);
	free(memory);
	if (write(file, bytes, 8) != 8 || pwrite(file, bytes, 8, 4096) != 8 || pread(file, bytes, 8, 0) != 8 || lseek(file, 0, SEEK_SET) ||
	    fstat(file, &st) || st.st_size != 4104 || ftruncate(file, 100) || fdatasync(file))
		return 2;
	if (clock_gettime(CLOCK_MONOTONIC, &now) || nanosleep(&nap, NULL) || time(NULL) < 1000)
		return 3;
	if (passes_descriptors())
		return 4;
	i = accept4(listening, NULL, NULL, SOCK_CLOEXEC);
	if (i < 0 || setsockopt(i, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof(yes)) || send(i, "x", 1, MSG_NOSIGNAL) != 1)
		return 5;
	return close(i) || dup(file) < 0 ? 6 : DONE;
}

/* ---- what it must not ---- */

static int opens(void)
{
	return came_to(open("/etc/passwd", O_RDONLY));
}

static int opens_another_way(void)
{
	return came_to(syscall(SYS_openat, AT_FDCWD, "/dev/null", O_RDONLY, 0));
}

static int looks_at_a_path(void)
{
	struct stat st;

	return came_to(stat("/etc/passwd", &st));
}

static int makes_a_socket(void)
{
	return came_to(socket(AF_INET, SOCK_STREAM, 0));
}

static int makes_a_netlink(void)
{
	return came_to(socket(AF_NETLINK, SOCK_RAW, 0));
}

static int connects(void)
{
	struct sockaddr_in at = { .sin_family = AF_INET, .sin_port = htons(1), .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };

	return came_to(connect(pair[0], (struct sockaddr *)&at, sizeof(at)));
}

static int binds(void)
{
	struct sockaddr_in at = { .sin_family = AF_INET };

	return came_to(bind(listening, (struct sockaddr *)&at, sizeof(at)));
}

static int runs(void)
{
	return came_to(execl("/bin/true", "true", (char *)NULL));
}

static int forks(void)
{
	return came_to(fork());
}

static int kills(void)
{
	return came_to(kill(getppid(), SIGUSR1));
}

static int kills_a_thread(void)
{
	return came_to(syscall(SYS_tgkill, self, self, 0));
}

static int traces(void)
{
	return came_to(ptrace(PTRACE_TRACEME, 0, NULL, NULL));
}

static int unlinks(void)
{
	return came_to(unlink("/tmp/nothing"));
}

static int becomes_root(void)
{
	return came_to(setuid(0));
}

static int sets_a_filter(void)
{
	return came_to(setsockopt(pair[0], SOL_SOCKET, SO_RCVBUF, &(int){ 1 << 20 }, sizeof(int)));
}

static int maps_code(void)
{
	void *at = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	return came_to(at == MAP_FAILED ? -1 : 0);
}

static int makes_code(void)
{
	void *at = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	return at == MAP_FAILED ? DONE : came_to(mprotect(at, 4096, PROT_READ | PROT_EXEC));
}

static int maps_shared(void)
{
	void *at = mmap(NULL, MEMORY * 4, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	return came_to(at == MAP_FAILED ? -1 : 0);
}

static int maps_too_much(void)
{
	void *at = mmap(NULL, MEMORY + (1 << 20), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	return at == MAP_FAILED && errno == ENOMEM ? REFUSED : DONE;
}

static int opens_files_without_end(void)
{
	for (int i = 0; i < 2000; i++)
		if (dup(file) < 0)
			return errno == EMFILE ? REFUSED : FAILED;
	return DONE;
}

/* Standard input is a pipe with something in it. */
static int reads_the_terminal(void)
{
	char byte;

	return read(0, &byte, 1) == 1 ? DONE : REFUSED;
}

static const struct {
	const char *what;
	int (*try)(void);
	bool dies;	/* of it */
	bool calls;	/* in the jail of those who call */
} attempts[] = {
	{ "opens a file", opens, true, false }, { "opens a device", opens_another_way, true, false },
	{ "looks at a path", looks_at_a_path, false, false }, { "makes a socket", makes_a_socket, true, false },
	{ "makes a netlink socket", makes_a_netlink, false, true }, { "opens a file where it may call", opens, true, true },
	{ "connects", connects, true, false }, { "binds", binds, true, false }, { "runs a program", runs, true, false },
	{ "runs a program where it may call", runs, true, true }, { "forks", forks, true, false }, { "kills", kills, true, false },
	{ "kills a thread of others", kills_a_thread, false, false }, { "traces", traces, true, false }, { "unlinks", unlinks, true, false },
	{ "becomes root", becomes_root, true, false }, { "changes a socket", sets_a_filter, false, false },
	{ "maps code", maps_code, false, false }, { "makes code", makes_code, false, false }, { "shares memory", maps_shared, false, false },
	{ "takes too much memory", maps_too_much, false, false }, { "takes descriptors without end", opens_files_without_end, false, false },
	{ "reads the terminal", reads_the_terminal, false, false },
};

static int in_jail(int (*try)(void), bool calls)
{
	struct err err = ERR_INIT;
	int status;
	pid_t pid = fork();

	if (!pid)
		_exit(jail_enter(MEMORY, calls, &err) ? 99 : try());
	CHECK(pid > 0 && waitpid(pid, &status, 0) == pid, "no child");
	return status;
}

/* On i386 that may be one call for all of a socket, whose refusal is no death; and a libc may ask in another way. */
static void try_all(void)
{
	for (size_t i = 0; i < sizeof(attempts) / sizeof(attempts[0]); i++) {
		int status = in_jail(attempts[i].try, attempts[i].calls);
		bool died = WIFSIGNALED(status) && WTERMSIG(status) == SIGSYS, refused = WIFEXITED(status) && WEXITSTATUS(status) == REFUSED;

#ifdef __NR_socketcall
		if (attempts[i].try == makes_a_netlink || attempts[i].try == sets_a_filter)
			continue;
		died |= refused;
#endif
		/* Sanitizers take what they like. */
		if (SANITIZED && attempts[i].try == maps_too_much)
			continue;
		if (attempts[i].dies ? !died : !refused)
			fprintf(stderr, "%s: %#x\n", attempts[i].what, (unsigned int)status);
		CHECK(attempts[i].dies ? died : refused, "somebody in the jail does what he must not");
	}
}

static void stay(void)
{
	for (;;)
		poll(NULL, 0, 1000);
}

/* Whoever made it is killed: it ends, too. */
static void takes_it_along(void)
{
	int line[2], status;
	char byte;
	pid_t pid;

	CHECK(!pipe2(line, O_CLOEXEC), "no pipe");
	pid = fork();
	if (!pid) {
		close(line[0]);
		if (!fork()) {
			struct err err = ERR_INIT;

			if (jail_enter(MEMORY, false, &err))
				_exit(1);
			send(pair[0], "x", 1, MSG_NOSIGNAL);
			stay();
		}
		close(line[1]);
		stay();
	}
	close(line[1]);
	CHECK(recv(pair[1], &byte, 1, 0) == 1, "it never came");
	kill(pid, SIGKILL);
	waitpid(pid, &status, 0);
	/* The jailed one has the other end. */
	CHECK(poll(&(struct pollfd){ .fd = line[0], .events = POLLIN }, 1, 20000) == 1, "it lives on alone");
	close(line[0]);
}

int main(void)
{
	struct sockaddr_in at = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t len = sizeof(at);
	int terminal[2], status, call;

	self = getpid();
	CHECK(!pipe2(terminal, O_CLOEXEC) && write(terminal[1], "secret", 6) == 6 && dup2(terminal[0], 0) == 0, "no pipe");
	file = memfd_create("file", MFD_CLOEXEC);
	listening = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	call = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	CHECK(file >= 0 && !socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) && !bind(listening, (struct sockaddr *)&at, len) &&
	       !listen(listening, 4) && !getsockname(listening, (struct sockaddr *)&at, &len) && !connect(call, (struct sockaddr *)&at, len),
	       "no sockets");
	status = in_jail(works, false);
	if (status)
		fprintf(stderr, "it ends with %#x\n", (unsigned int)status);
	CHECK(!status, "what it is there for does not work");
	try_all();
	takes_it_along();
	return 0;
}
