/*
 * mount/caller: see caller.h.
 */
#include "mount/caller.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Fields of /proc/TID/stat, counted from 1 as proc(5) does. */
enum { STAT_STATE = 3, STAT_PROCESSOR = 39 };

static bool read_proc(char *text, size_t size, pid_t tid, const char *name)
{
	char path[64];
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/%s", (int)tid, name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	n = read(fd, text, size - 1);
	close(fd);
	text[n > 0 ? n : 0] = '\0';
	return n > 0;
}

/* "TID (comm) S ...": the name may hold anything, parentheses too. */
static int parse_stat(char *text, struct tree_caller *caller)
{
	char *open = strchr(text, '('), *close = strrchr(text, ')'), *at = close;

	if (!open || !close || close < open)
		return -1;
	*close = '\0';
	snprintf(caller->comm, sizeof(caller->comm), "%s", open + 1);
	for (int field = STAT_STATE; at && field <= STAT_PROCESSOR; field++)
		at = strchr(at + 1, ' ');
	return at ? atoi(at) : -1;
}

int caller_read(struct tree_caller *caller, pid_t tid)
{
	char text[4096];
	const char *tgid;
	int cpu = -1;

	*caller = (struct tree_caller){ .tid = tid, .tgid = tid, .comm = "<...>" };
	if (tid <= 0)
		return -1;
	if (read_proc(text, sizeof(text), tid, "stat"))
		cpu = parse_stat(text, caller);
	if (read_proc(text, sizeof(text), tid, "status")) {
		tgid = strstr(text, "\nTgid:");
		if (tgid)
			caller->tgid = atoi(tgid + strlen("\nTgid:"));
	}
	return cpu;
}
