/*
 * source/reason: why a tree refused a text: the words of its own log.
 *
 *	[  244.201755] hist:sched:sched_switch: error: Couldn't find field
 *	  Command: hist:keys=nosuch
 *	                     ^
 *
 * Others may be refused something at the same time: an entry counts when its command is part of what was written. Triggers that a
 * kernel was built without are not in its log, and neither are snapshots of one CPU and sizes of histograms.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "source/kind.h"
#include "source/parts.h"

#define COMMAND "\n  Command: "

/* Of a histogram: powers of two from 128 on, to which a size is rounded up. */
#define ROWS_MIN 65u
#define ROWS_MAX 131072u

/* The log of the buffer that the path is in, else that of all. */
static void log_of(const char *path, char *out, size_t size)
{
	const char *name, *end;

	path += strspn(path, "/");
	name = strncmp(path, "instances/", 10) ? NULL : path + 10;
	end = name ? strchr(name, '/') : NULL;
	if (end)
		snprintf(out, size, "instances/%.*s/error_log", (int)(end - name), name);
	else
		snprintf(out, size, "error_log");
}

/* Where the last entry begins. */
static char *last_entry(char *log)
{
	char *command = NULL, *at;

	for (at = strstr(log, COMMAND); at; at = strstr(at + 1, COMMAND))
		command = at;
	if (!command)
		return NULL;
	for (at = command; at > log && at[-1] != '\n'; at--)
		;
	return at;
}

/* What the caret points at, up to where it ends. */
static void put_place(char *reason, size_t size, const char *command, size_t len, const char *carets)
{
	const char *caret = carets ? strchr(carets, '^') : NULL;
	size_t used = strlen(reason), skip = sizeof(COMMAND) - 2, at, n;

	if (!caret || strcspn(carets, "\n") < (size_t)(caret - carets) || (size_t)(caret - carets) < skip)
		return;
	at = (size_t)(caret - carets) - skip;
	if (at >= len)
		return;
	n = strcspn(command + at, ",:() \n");
	if (n)
		snprintf(reason + used, size - used, ": '%.*s'", n < 40 ? (int)n : 40, command + at);
}

/* A trigger that this kernel does not know at all is nothing to its log. */
static bool is_missing(struct source *source, const char *path, const char *text, char *reason, size_t size)
{
	size_t len = strlen(path), n;
	char file[512];

	text += *text == '!';
	n = strcspn(text, ": \n");
	if (!source->is_kernel || len < 8 || strcmp(path + len - 8, "/trigger"))
		return false;
	if (n == 4 && !strncmp(text, "hist", n))
		snprintf(file, sizeof(file), "%.*s/hist", (int)(len - 8), path);
	else if (n == 8 && !strncmp(text, "snapshot", n))
		snprintf(file, sizeof(file), "snapshot");
	else
		return false;
	if (source_exists(source, file))
		return false;
	snprintf(reason, size, "this kernel was built without %s", source_part_config(file));
	return true;
}

/* One CPU cannot be put aside by itself: nothing else is wrong with that, ever. */
static bool is_whole(const struct source *source, const char *path, const char *text, char *reason, size_t size)
{
	const char *name = strrchr(path, '/');

	if (!source->is_kernel || !name || strcmp(name, "/snapshot") || !strstr(path, "per_cpu/") || *text != '1')
		return false;
	snprintf(reason, size, "this kernel puts all CPUs aside or none: it was built without CONFIG_RING_BUFFER_ALLOW_SWAP");
	return true;
}

/* A size that no histogram of a kernel has. */
static bool is_no_size(const struct source *source, const char *path, const char *text, size_t len, char *reason, size_t size)
{
	const char *at = memmem(text, len, ":size=", 6), *name = strrchr(path, '/');
	unsigned long rows;
	char word[16];

	snprintf(word, sizeof(word), "%.*s", at ? (int)(len - (size_t)(at + 6 - text)) : 0, at ? at + 6 : "");
	rows = strtoul(word, NULL, 10);
	if (!at || !source->is_kernel || !name || strcmp(name, "/trigger") || (rows >= ROWS_MIN && rows <= ROWS_MAX))
		return false;
	snprintf(reason, size, "a kernel's histograms have %u to %u rows", ROWS_MIN, ROWS_MAX);
	return true;
}

void source_reason(struct source *source, const char *path, const char *text, size_t len, char *reason, size_t size)
{
	static const char mark[] = " error: ";
	struct buf log = BUF_INIT;
	char file[512], *entry, *words = NULL, *command;
	size_t n;

	*reason = '\0';
	if (is_missing(source, path, text, reason, size) || is_whole(source, path, text, reason, size) ||
	    is_no_size(source, path, text, len, reason, size))
		return;
	log_of(path, file, sizeof(file));
	if (source_read(source, file, &log, NULL) || !log.data || !(entry = last_entry(log.data))) {
		buf_fini(&log);
		return;
	}
	command = strstr(entry, COMMAND) + sizeof(COMMAND) - 1;
	for (char *at = entry; (at = strstr(at, mark)) && at < command; at++)
		words = at + sizeof(mark) - 1;
	n = strcspn(command, "\n");
	if (words && n && memmem(text, len, command, n)) {
		snprintf(reason, size, "%.*s", (int)strcspn(words, "\n"), words);
		/* That of a filter points somewhere behind what is wrong. */
		if (!memmem(entry, (size_t)(words - entry), "filter", 6))
			put_place(reason, size, command, n, command[n] ? command + n + 1 : NULL);
	}
	buf_fini(&log);
}
