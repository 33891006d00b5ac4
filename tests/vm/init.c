/* SPDX-License-Identifier: MIT */
/*
 * init - the first and only process of the test machine.
 *
 * tests/vm/run packs it as /init of an initramfs, beside the programs under test. In comes
 * /list, one program a line with its arguments separated by blanks, and two words that the
 * kernel hands on from its command line as environment: vm_token and vm_limit. Out goes a text
 * on the virtio console, which carries nothing else (the kernel talks on the serial one):
 *
 *	TOKEN begin NAME
 *	what the program printed, both streams, with a line end added where the last one lacks it
 *	TOKEN end NAME exit 0 | signal 11 | limit 60
 *	...
 *	TOKEN done
 *
 * TOKEN is drawn anew for each run, so that no program can print a result by accident. A text
 * without its last line means that the machine died, and run says so.
 *
 * More words make it another machine. vm_streams: a program's own text goes to two ports instead, its
 * errors apart. vm_out: what lies in /out in the end goes to a third, as an archive. vm_shell: there is no list but a shell, on
 * the serial console. A program /setup comes before all of them.
 *
 * Each program starts in an empty /tmp, /run and /dev/shm, with the same RINGSIDE_DIR and
 * RINGSIDE_SCRATCH that tests/scratch gives on the host; whatever processes it leaves behind
 * are killed before the next one begins, so no result depends on the order. One thread, no
 * signals.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/reboot.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#define MAX_ARGS 32
#define SCRATCH	 "/tmp/test"
#define SETUP	 "/setup"

static const char *const scratch[] = {"/tmp", "/run", "/dev/shm"};

static int out = -1;

/* What a program prints, from its pipe to the console or a port. */
struct stream {
	int from;
	int to;
	bool midline;
};

static void emit(int to, const char *data, size_t len)
{
	while (len > 0) {
		ssize_t n = write(to, data, len);

		if (n < 0 && errno != EINTR)
			return;
		if (n > 0) {
			data += n;
			len -= (size_t)n;
		}
	}
}

__attribute__((format(printf, 1, 2))) static void say(const char *format, ...)
{
	char line[512];
	va_list ap;

	va_start(ap, format);
	vsnprintf(line, sizeof(line), format, ap);
	va_end(ap);
	emit(out, line, strlen(line));
}

/* Ending pid 1 panics the kernel, which run reports together with this line. */
static void die(const char *what)
{
	fprintf(stderr, "vm init: %s: %s\n", what, strerror(errno));
	exit(1);
}

static void mount_fresh(const char *type, const char *where, const char *options)
{
	mkdir(where, 0755);
	if (mount(type, where, type, 0, options) != 0)
		die(where);
}

/* Raw, so that the host gets the bytes as the program wrote them. */
static void console_open(void)
{
	struct termios tio;
	int fd = open("/dev/console", O_RDWR);

	if (fd >= 0) {
		dup2(fd, 0);
		dup2(fd, 1);
		dup2(fd, 2);
		if (fd > 2)
			close(fd);
	}
	out = open("/dev/hvc0", O_RDWR | O_NOCTTY | O_CLOEXEC);
	if (out < 0)
		die("/dev/hvc0");
	if (tcgetattr(out, &tio) != 0)
		die("tcgetattr");
	cfmakeraw(&tio);
	tcsetattr(out, TCSANOW, &tio);
}

static void machine_setup(void)
{
	mount_fresh("devtmpfs", "/dev", "mode=0755");
	console_open();
	mount_fresh("proc", "/proc", NULL);
	mount_fresh("sysfs", "/sys", NULL);
}

static void scratch_mount(void)
{
	for (size_t i = 0; i < sizeof(scratch) / sizeof(*scratch); i++)
		mount_fresh("tmpfs", scratch[i], "mode=1777");
	if (mkdir(SCRATCH, 0700) != 0)
		die(SCRATCH);
}

/* What still holds a file there is dead already: see leftovers_kill(). */
static void scratch_unmount(void)
{
	for (size_t i = 0; i < sizeof(scratch) / sizeof(*scratch); i++)
		umount2(scratch[i], MNT_DETACH);
}

static int64_t now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (int64_t)ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

static pid_t program_start(char **argv, const int fd[2])
{
	pid_t pid = fork();

	if (pid < 0)
		die("fork");
	if (pid == 0) {
		int null = open("/dev/null", O_RDONLY);

		setsid();
		dup2(null, 0);
		dup2(fd[0], 1);
		dup2(fd[1], 2);
		if (chdir(SCRATCH) == 0)
			execv(argv[0], argv);
		dprintf(2, "cannot start %s: %s\n", argv[0], strerror(errno));
		_exit(127);
	}
	return pid;
}

/* Hand on whatever is there; false once every writer has closed its end. */
static bool output_pass(struct stream *s)
{
	char buf[4096];
	ssize_t n = read(s->from, buf, sizeof(buf));

	if (n <= 0)
		return n < 0 && (errno == EAGAIN || errno == EINTR);
	emit(s->to, buf, (size_t)n);
	s->midline = buf[n - 1] != '\n';
	return true;
}

/*
 * Follow a program until it has ended, not until its pipes are closed: a child that it left
 * behind may hold them open for ever. False when the limit came first.
 */
static bool program_follow(pid_t pid, struct stream *s, int64_t deadline, int *status)
{
	struct pollfd p[] = {{.fd = s[0].from, .events = POLLIN}, {.fd = s[1].from, .events = POLLIN}};

	while (waitpid(pid, status, WNOHANG) != pid) {
		if (now_ms() > deadline)
			return false;
		if (poll(p, 2, 20) <= 0)
			continue;
		for (int i = 0; i < 2; i++)
			if (p[i].revents && !output_pass(&s[i]))
				p[i].fd = -1;
	}
	return true;
}

/* Pid 1 itself is spared by kill(-1). */
static void leftovers_kill(void)
{
	kill(-1, SIGKILL);
	while (waitpid(-1, NULL, 0) > 0 || errno == EINTR)
		;
}

/* The pipe holds at most one buffer now, since all writers are dead. */
static void output_drain(struct stream *s)
{
	struct pollfd p = {.fd = s->from, .events = POLLIN};

	while (p.fd >= 0 && poll(&p, 1, 0) > 0 && (p.revents & POLLIN))
		if (!output_pass(s))
			break;
}

/* The writer's end of a new pipe. */
static int stream_open(struct stream *s, int to)
{
	int fd[2];

	if (pipe2(fd, O_CLOEXEC) != 0)
		die("pipe2");
	fcntl(fd[0], F_SETFL, O_NONBLOCK);
	*s = (struct stream){.from = fd[0], .to = to};
	return fd[1];
}

static void program_run(char **argv, const char *token, long limit, const int ports[2])
{
	struct stream s[2] = {{.from = -1}, {.from = -1}};
	int status = 0;
	int fd[2];
	bool ended;
	pid_t pid;

	scratch_mount();
	say("%s begin %s\n", token, argv[0]);
	fd[0] = stream_open(&s[0], ports[0]);
	fd[1] = ports[0] == ports[1] ? fd[0] : stream_open(&s[1], ports[1]);
	pid = program_start(argv, fd);
	close(fd[0]);
	if (fd[1] != fd[0])
		close(fd[1]);
	ended = program_follow(pid, s, now_ms() + limit * 1000, &status);
	leftovers_kill();
	output_drain(&s[0]);
	output_drain(&s[1]);
	if (s[0].midline && s[0].to == out)
		say("\n");
	if (!ended)
		say("%s end %s limit %ld\n", token, argv[0], limit);
	else if (WIFSIGNALED(status))
		say("%s end %s signal %d\n", token, argv[0], WTERMSIG(status));
	else
		say("%s end %s exit %d\n", token, argv[0], WEXITSTATUS(status));
	close(s[0].from);
	if (s[1].from >= 0)
		close(s[1].from);
	scratch_unmount();
}

static int port_open(const char *name)
{
	int fd = open(name, O_WRONLY | O_CLOEXEC);

	if (fd < 0)
		die(name);
	return fd;
}

static void list_run(const char *token, long limit)
{
	int ports[2] = {out, out};
	char line[4096];
	FILE *list = fopen("/list", "re");

	if (!list)
		die("/list");
	if (getenv("vm_streams")) {
		ports[0] = port_open("/dev/vport0p1");
		ports[1] = port_open("/dev/vport0p2");
	}
	while (fgets(line, sizeof(line), list)) {
		char *argv[MAX_ARGS + 1];
		int argc = 0;

		for (char *s = strtok(line, " \t\n"); s && argc < MAX_ARGS;
		     s = strtok(NULL, " \t\n"))
			argv[argc++] = s;
		argv[argc] = NULL;
		if (argc > 0)
			program_run(argv, token, limit, ports);
	}
	fclose(list);
}

/* One that belongs to the machine and not to what is tested: it talks on the serial console. */
static void helper_run(char **argv)
{
	int status = 0;
	pid_t pid = fork();

	if (pid == 0) {
		execv(argv[0], argv);
		die(argv[0]);
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid || status != 0) {
		errno = ECHILD;
		die(argv[0]);
	}
}

/* A person's shell, with job control and Ctrl-C, in a terminal as large as the one outside. */
static void shell_run(void)
{
	struct winsize size = {0};
	pid_t pid;

	if (getenv("vm_rows") && getenv("vm_columns")) {
		size.ws_row = (unsigned short)atoi(getenv("vm_rows"));
		size.ws_col = (unsigned short)atoi(getenv("vm_columns"));
	}
	scratch_mount();
	pid = fork();
	if (pid == 0) {
		int fd;

		setsid();
		fd = open("/dev/ttyS0", O_RDWR);
		ioctl(fd, TIOCSCTTY, 0);
		ioctl(fd, TIOCSWINSZ, &size);
		dup2(fd, 0);
		dup2(fd, 1);
		dup2(fd, 2);
		if (chdir(SCRATCH) == 0)
			execl("/bin/bash", "-bash", NULL);
		die("/bin/bash");
	}
	waitpid(pid, NULL, 0);
}

static void work(void)
{
	const char *token = getenv("vm_token");
	const char *limit = getenv("vm_limit");

	if (!token || !limit) {
		errno = EINVAL;
		die("vm_token and vm_limit");
	}
	list_run(token, strtol(limit, NULL, 10));
	if (getenv("vm_out"))
		helper_run((char *[]){"/bin/tar", "-cf", "/dev/vport0p3", "-C", "/out", ".", NULL});
	say("%s done\n", token);
	tcdrain(out);
}

int main(void)
{
	machine_setup();
	setenv("PATH", "/bin", 1);
	setenv("HOME", "/tmp", 1);
	setenv("RINGSIDE_SCRATCH", SCRATCH, 1);
	setenv("RINGSIDE_DIR", SCRATCH "/trace", 1);
	if (access(SETUP, X_OK) == 0)
		helper_run((char *[]){SETUP, NULL});
	if (getenv("vm_shell"))
		shell_run();
	else
		work();
	sync();
	reboot(RB_POWER_OFF);
	return 1;
}
