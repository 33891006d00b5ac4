/*
 * What tests of the control library share. They see nothing but the public header, and are no
 * traced programs: tests/library/traced.c is, and is run from here.
 */
#ifndef TESTS_LIBRARY_LAB_H
#define TESTS_LIBRARY_LAB_H

#include <errno.h>
#include <fcntl.h>
#include <ringside/control.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "insist.h"

/* The call went well. */
#define FINE(tree, call)                                                                           \
	do {                                                                                       \
		int fine_ = (call);                                                                \
		CHECK(fine_ >= 0, "%d: %s", fine_, ringside_control_error(tree));                  \
		CHECK(!*ringside_control_error(tree), "says %s", ringside_control_error(tree));    \
	} while (0)

/* The call was refused, with that result and with words. */
#define REFUSED(tree, call, want)                                                                  \
	do {                                                                                       \
		int got_ = (call);                                                                 \
		CHECK(got_ == -(want), "%d (%s), not %d", got_, ringside_control_error(tree),      \
		      -(want));                                                                    \
		CHECK(*ringside_control_error(tree) &&                                             \
		      ringside_control_error(tree)[strlen(ringside_control_error(tree)) - 1] !=    \
		      '\n', "%d without words", got_);                                             \
	} while (0)

static inline struct ringside_control *lab_open(void)
{
	struct ringside_control *tree;
	int r = ringside_control_open(&tree, NULL, RINGSIDE_CONTROL_CREATE);

	CHECK(!r && tree, "%d: %s", r, ringside_control_error(tree));
	return tree;
}

/* Starts the traced program; with `in` it waits for a byte from there. */
static inline pid_t lab_start(const char *count, int in)
{
	const char *program = getenv("RINGSIDE_TRACED");
	pid_t pid;

	CHECK(program, "RINGSIDE_TRACED is not set");
	pid = fork();
	CHECK(pid >= 0, "fork");
	if (!pid) {
		if (in >= 0)
			dup2(in, STDIN_FILENO);
		execl(program, program, count, in >= 0 ? "wait" : NULL, NULL);
		_exit(127);
	}
	return pid;
}

static inline void lab_end(pid_t pid)
{
	int status;

	CHECK(waitpid(pid, &status, 0) == pid && !status, "the traced program: %#x", status);
}

static inline pid_t lab_run(const char *count)
{
	pid_t pid = lab_start(count, -1);

	lab_end(pid);
	return pid;
}

static inline int lab_has(char **names, const char *name)
{
	for (; *names; names++)
		if (!strcmp(*names, name))
			return 1;
	return 0;
}

/* Reads a file of the tree and compares. */
static inline void lab_expect(struct ringside_control *tree,
			      const struct ringside_control_instance *instance, const char *path,
			      const char *want)
{
	size_t len;
	char *text;

	FINE(tree, ringside_control_file_read(tree, instance, path, &text, &len));
	CHECK(!strcmp(text, want) && len == strlen(want), "%s reads '%s', not '%s'", path, text, want);
	free(text);
}

/* A file of a plain directory. */
static inline void lab_put(const char *root, const char *path, const void *bytes, size_t len)
{
	char whole[4096];
	FILE *file;

	snprintf(whole, sizeof(whole), "%s/%s", root, path);
	for (char *at = whole + strlen(root); (at = strchr(at, '/')); at++) {
		*at = '\0';
		CHECK(!mkdir(whole, 0755) || errno == EEXIST, "%s: %s", whole, strerror(errno));
		*at = '/';
	}
	file = fopen(whole, "w");
	CHECK(file && fwrite(bytes, 1, len, file) == len && !fclose(file), "%s", whole);
}

static inline void lab_puts(const char *root, const char *path, const char *text)
{
	lab_put(root, path, text, strlen(text));
}

#endif
