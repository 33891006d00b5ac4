/*
 * An instance of our own in this machine's tracefs, for tests that compare with the kernel. The
 * file system is mounted in a mount namespace of the test's own, and the instance goes away with
 * the test. Whoever cannot have one (no root, no tracefs) skips and says why.
 */
#ifndef TESTS_DECODE_TRACEFS_H
#define TESTS_DECODE_TRACEFS_H

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/buf.h"

struct tracefs {
	char root[128];
	char instance[192];
};

static __attribute__((noreturn)) void skip(const char *why)
{
	printf("skip: %s: %s\n", why, strerror(errno));
	exit(77);
}

static __attribute__((noreturn, format(printf, 1, 2))) void fail(const char *fmt, ...)
{
	va_list ap;

	printf("FAIL: ");
	va_start(ap, fmt);
	vprintf(fmt, ap);
	va_end(ap);
	printf("\n");
	exit(1);
}

static inline void tracefs_mount(struct tracefs *t)
{
	const char *scratch = getenv("RINGSIDE_SCRATCH");

	snprintf(t->root, sizeof(t->root), "%s/tracefs", scratch ? scratch : "/tmp");
	if (geteuid() != 0) {
		errno = EPERM;
		skip("tracefs is for root");
	}
	if (unshare(CLONE_NEWNS) || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL))
		skip("no mount namespace of our own");
	if (mkdir(t->root, 0700) && errno != EEXIST)
		skip("no directory for tracefs");
	if (mount("nodev", t->root, "tracefs", 0, NULL))
		skip("tracefs cannot be mounted");
}

/* All of a file of tracefs, which has no size. NULL when it cannot be opened. */
static inline char *tracefs_read(const char *dir, const char *name, size_t *len)
{
	struct buf b = BUF_INIT;
	char path[1024];
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return NULL;
	for (;;) {
		char *room = buf_room(&b, 65536);

		if (!room)
			fail("out of memory");
		n = read(fd, room, 65536);
		if (n <= 0)
			break;
		b.len += (size_t)n;
		b.data[b.len] = '\0';
	}
	close(fd);
	if (len)
		*len = b.len;
	return buf_take(&b);
}

static inline bool tracefs_write(const char *dir, const char *name, const void *data, size_t len)
{
	char path[1024];
	bool ok;
	int fd;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	ok = write(fd, data, len) == (ssize_t)len;
	close(fd);
	return ok;
}

static inline bool tracefs_set(const char *dir, const char *name, const char *text)
{
	return tracefs_write(dir, name, text, strlen(text));
}

/*
 * Runs `work` in a child with an instance, and takes the instance away however the child ends.
 * Returns what the test is to exit with.
 */
static inline int tracefs_with_instance(int (*work)(const struct tracefs *t))
{
	struct tracefs t;
	int status;
	pid_t pid;

	tracefs_mount(&t);
	snprintf(t.instance, sizeof(t.instance), "%s/instances/ringside-test-%d", t.root, getpid());
	if (mkdir(t.instance, 0700))
		skip("no instance can be made");
	fflush(NULL);
	pid = fork();
	if (!pid)
		exit(work(&t));
	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		status = 1 << 8;
	tracefs_set(t.instance, "events/enable", "0");
	if (rmdir(t.instance)) {
		printf("FAIL: the instance %s stays: %s\n", t.instance, strerror(errno));
		return 1;
	}
	/* Whoever wants a second one mounts again. */
	umount2(t.root, MNT_DETACH);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

#endif
