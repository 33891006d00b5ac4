/*
 * What tests of control/ share: a check, an opened directory, an event of their own.
 */
#ifndef TESTS_CONTROL_ROOM_H
#define TESTS_CONTROL_ROOM_H

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/err.h"
#include "control/control.h"
#include "control/tree.h"
#include "insist.h"

static inline struct control *room_open(void)
{
	struct control *control;
	struct err err = ERR_INIT;
	int r = control_open(&control, NULL, true, &err);

	CHECK(!r, "%s", err.text);
	return control;
}

static inline void room_begin(struct control *control)
{
	struct err err = ERR_INIT;
	int r = control_begin(control, &err);

	CHECK(!r, "%s", err.text);
}

static inline void room_commit(struct control *control)
{
	struct err err = ERR_INIT;
	int r = control_commit(control, &err);

	CHECK(!r, "%s", err.text);
}

/* Writes as `> path` would and wants that result; every refusal comes with words. */
static inline void room_write(struct control *control, const char *path, const char *text, int want)
{
	struct err err = ERR_INIT;
	int r = tree_write(control, path, text, strlen(text), TREE_TRUNC, &err);

	CHECK(r == want, "%s <- '%.40s': %d (%s), not %d", path, text, r, err.text, want);
	CHECK(!r == !err.text[0], "%s <- '%.40s': %d says '%s'", path, text, r, err.text);
}

/* The same as `>> path` would. */
static inline void room_add(struct control *control, const char *path, const char *text, int want)
{
	struct err err = ERR_INIT;
	int r = tree_write(control, path, text, strlen(text), 0, &err);

	CHECK(r == want, "%s <<- '%.60s': %d (%s), not %d", path, text, r, err.text, want);
	CHECK(!r == !err.text[0], "%s <<- '%.60s': %d says '%s'", path, text, r, err.text);
}

/* The text of a file; the caller frees it. */
static inline char *room_read(struct control *control, const char *path)
{
	struct buf out = BUF_INIT;
	struct err err = ERR_INIT;
	int r = tree_read(control, path, &out, &err);

	CHECK(!r, "%s: %s", path, err.text);
	return buf_take(&out);
}

static inline void room_expect(struct control *control, const char *path, const char *want)
{
	char *text = room_read(control, path);

	CHECK(!strcmp(text, want), "%s reads '%s', not '%s'", path, text, want);
	free(text);
}

/* Does the file's text hold this? */
static inline void room_expect_part(struct control *control, const char *path, const char *part, bool want)
{
	char *text = room_read(control, path);

	CHECK(!strstr(text, part) == !want, "%s reads '%s', %s '%s'", path, text, want ? "without" : "with", part);
	free(text);
}

/* Of a file with a line for each event: the lines of events that have none of the kernel's names, which are always there. */
static inline void room_expect_events(struct control *control, const char *path, const char *want)
{
	static const char *const systems[] = { "kmem", "raw_syscalls", "ringside", "sched", "signal", "syscalls", "timer" };
	char *text = room_read(control, path), *to = text;

	for (char *line = text, *next; *line; line = next) {
		size_t len = strcspn(line, "\n"), system = strcspn(line, ":");
		bool named = false;

		next = line + len + (line[len] == '\n');
		for (size_t i = 0; i < sizeof(systems) / sizeof(systems[0]); i++)
			named |= strlen(systems[i]) == system && !memcmp(line, systems[i], system);
		if (!named) {
			memmove(to, line, (size_t)(next - line));
			to += next - line;
		}
	}
	*to = '\0';
	CHECK(!strcmp(text, want), "%s reads '%s', not '%s'", path, text, want);
	free(text);
}

/* Numbers that look random and are the same each time. */
static inline uint32_t room_random(uint32_t *seed)
{
	*seed = *seed * 1664525u + 1013904223u;
	return *seed >> 8;
}

#endif
