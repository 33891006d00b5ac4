/*
 * Cases of bad files run in a child with a bounded address space and bounded CPU time for each; it notes what
 * it is at, so a crash or a hang names its case.
 */
#ifndef TESTS_DAT_CHILD_H
#define TESTS_DAT_CHILD_H

#include <errno.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "dat/walk.h"
#include "insist.h"

#define CHILD_SPACE ((rlim_t)512 << 20)
#define CHILD_SECONDS (SANITIZED ? 40 : 10)

struct child {
	char words[200];
	uint64_t cases, opened;
};

static struct child *child;
static int child_file = -1;
static char child_path[64];

#define HERE(...) snprintf(child->words, sizeof(child->words), __VA_ARGS__)

static inline void child_put(const void *bytes, size_t len, size_t at)
{
	CHECK(pwrite(child_file, bytes, len, (off_t)at) == (ssize_t)len, "%s", strerror(errno));
}

static inline void child_put_all(const struct buf *image)
{
	CHECK(!ftruncate(child_file, 0), "%s", strerror(errno));
	child_put(image->data, image->len, 0);
}

/* From now on. What others do on the machine does not count. */
static inline void child_limit(int seconds)
{
	struct itimerval limit = { .it_value.tv_sec = seconds };

	CHECK(!setitimer(ITIMER_PROF, &limit, NULL), "%s", strerror(errno));
}

/* The file as it is now, with all that can be asked of it. */
static inline struct walk_count child_look(void)
{
	struct walk_count n;

	child_limit(CHILD_SECONDS);
	walk_file(child_path, &n);
	child->cases++;
	child->opened += !n.opened;
	return n;
}

/* Runs `cases` and ends the test if it does not come back. */
static inline void child_run(const char *name, void (*cases)(void *arg), void *arg)
{
	struct rlimit limit = { CHILD_SPACE, CHILD_SPACE };
	int status;
	pid_t pid;

	if (!child)
		child = mmap(NULL, sizeof(*child), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
			     -1, 0);
	CHECK(child != MAP_FAILED, "%s", strerror(errno));
	memset(child, 0, sizeof(*child));
	fflush(stdout);
	pid = fork();
	if (!pid) {
		child_file = memfd_create("bad", MFD_CLOEXEC);
		snprintf(child_path, sizeof(child_path), "/proc/self/fd/%d", child_file);
		CHECK(child_file >= 0, "%s", strerror(errno));
		/* A sanitizer's shadow takes more than that. */
		CHECK(SANITIZED || !setrlimit(RLIMIT_AS, &limit), "%s", strerror(errno));
		cases(arg);
		child_limit(0);
		alarm(0);
		exit(0);
	}
	CHECK(waitpid(pid, &status, 0) == pid, "%s", strerror(errno));
	CHECK(!status, "%s: %s: ended with %x", name, child->words, status);
	printf("%s: %llu cases, %llu opened\n", name, (unsigned long long)child->cases,
	       (unsigned long long)child->opened);
}

#endif
