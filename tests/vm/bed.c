/* SPDX-License-Identifier: MIT */
/*
 * bed - does to the test machine what a broken program might.
 *
 * tests/vm/selftest runs it with one word that says what, and looks at what tests/vm/run makes
 * of it. Runs as root in the guest, and nowhere else: `panic`, `stop` and `wedge` bring the
 * machine down.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/reboot.h>
#include <sys/stat.h>
#include <unistd.h>

/* A child that keeps the pipe, a file and a processor after its parent has gone. */
static int orphan(void)
{
	pid_t pid = fork();

	if (pid < 0)
		return 1;
	if (pid == 0) {
		int fd = open("/dev/shm/orphan", O_RDWR | O_CREAT, 0600);

		setsid();
		for (;;)
			if (fd < 0 || lseek(fd, 0, SEEK_SET) < 0)
				_exit(1);
	}
	while (access("/dev/shm/orphan", F_OK) != 0)
		usleep(1000);
	return 0;
}

/* More than a pipe and a console hold at once, and a last line without an end. */
static int flood(void)
{
	for (int i = 0; i < 20000; i++)
		printf("line %05d\n", i);
	printf("last");
	return 0;
}

static int put(const char *file, const char *text)
{
	int fd = open(file, O_WRONLY);
	ssize_t n = write(fd, text, strlen(text));

	close(fd);
	return n == (ssize_t)strlen(text) ? 0 : -1;
}

static int panic(void)
{
	return put("/proc/sysrq-trigger", "c") != 0;
}

/* Freeze the first process, which can be neither stopped nor killed. */
static int wedge(void)
{
	if (mount("cgroup2", "/run", "cgroup2", 0, NULL) != 0 || mkdir("/run/ice", 0755) != 0 ||
	    put("/run/ice/cgroup.procs", "1") != 0 || put("/run/ice/cgroup.freeze", "1") != 0)
		return 1;
	for (;;)
		pause();
}

int main(int argc, char **argv)
{
	const char *what = argc == 2 ? argv[1] : "";

	if (!strcmp(what, "pass"))
		return access("/dev/shm/orphan", F_OK) == 0;
	if (!strcmp(what, "fail"))
		return 1;
	if (!strcmp(what, "skip"))
		return 77;
	if (!strcmp(what, "crash"))
		return raise(SIGSEGV);
	if (!strcmp(what, "loop"))
		for (;;)
			pause();
	if (!strcmp(what, "orphan"))
		return orphan();
	if (!strcmp(what, "flood"))
		return flood();
	if (!strcmp(what, "panic"))
		return panic();
	if (!strcmp(what, "stop"))
		return reboot(RB_POWER_OFF);
	if (!strcmp(what, "wedge"))
		return wedge();
	return 2;
}
