/*
 * cmd/attached: see attached.h.
 */
#include "cmd/attached.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "control/registry.h"

/* 1 when the process has the file mapped, 0 when not or when it is gone, -EACCES: not to be seen. */
static int maps(int32_t pid, const struct stat *st)
{
	char path[64], line[4096];
	bool found = false;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%" PRId32 "/maps", pid);
	file = fopen(path, "re");
	if (!file)
		return errno == EACCES || errno == EPERM ? -EACCES : 0;
	while (!found && fgets(line, sizeof(line), file)) {
		unsigned long long inode;

		/* Some file systems show another device here than stat() does: the name has to do. */
		found = sscanf(line, "%*x-%*x %*s %*x %*x:%*x %llu", &inode) == 1 &&
			inode == st->st_ino && strstr(line, "/registry");
	}
	fclose(file);
	return found;
}

bool attached_is(int32_t pid, const struct control *control)
{
	struct stat st;

	return !fstat(control->dir.fd[SEGMENT_REGISTRY], &st) && maps(pid, &st) == 1;
}

static bool told_name(const struct control_registry *registry, int32_t pid)
{
	for (uint32_t i = 0; i < registry->ntasks; i++)
		if (registry->tasks[i].tgid == pid)
			return true;
	return false;
}

static void put_program(struct buf *out, int32_t pid)
{
	char path[64], name[32] = "?";
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%" PRId32 "/comm", pid);
	file = fopen(path, "re");
	if (file) {
		if (fgets(name, sizeof(name), file))
			name[strcspn(name, "\n")] = '\0';
		fclose(file);
	}
	for (char *c = name; *c; c++)
		if ((unsigned char)*c < ' ' || *c == 0x7f)
			*c = '?';
	buf_printf(out, "    %" PRId32 " %s\n", pid, name);
}

static int compare(const struct dirent **a, const struct dirent **b)
{
	long x = atol((*a)->d_name), y = atol((*b)->d_name);

	return x < y ? -1 : x > y;
}

static int is_process(const struct dirent *entry)
{
	return entry->d_name[0] >= '1' && entry->d_name[0] <= '9';
}

int attached_put(struct buf *out, const struct control *control, struct err *err)
{
	struct control_registry registry;
	struct dirent **list = NULL;
	struct stat st;
	int n, r;

	if (fstat(control->dir.fd[SEGMENT_REGISTRY], &st))
		return err_set(err, -errno, "%.300s/registry: %s", control->dir.path, strerror(errno));
	r = control_registry_read(&registry, &control->dir, CONTROL_REGISTRY_TASKS, err);
	if (r)
		return r;
	n = scandir("/proc", &list, is_process, compare);
	for (int i = 0; i < n; i++) {
		int32_t pid = atoi(list[i]->d_name);

		r = maps(pid, &st);
		if (r == 1 || (r == -EACCES && told_name(&registry, pid)))
			put_program(out, pid);
		free(list[i]);
	}
	free(list);
	control_registry_fini(&registry);
	return 0;
}
