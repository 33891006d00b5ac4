/*
 * inject/process: see process.h.
 */
#include "inject/process.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>
#include <unistd.h>


/* Directories with a file that could be one of a tracing directory; more than a few are no program of ours. */
#define CANDIDATES_MAX 16

struct candidate {
	char dir[PATH_MAX];
	unsigned int files;	/* bits: which of the three */
	bool removed;
	uint64_t inode;
	dev_t device;
};

bool process_is_runtime(const char *path)
{
	const char *base = strrchr(path, '/');

	base = base ? base + 1 : path;
	return !strcmp(base, "libringside.so") || !strncmp(base, "libringside.so.", 15);
}

static FILE *open_proc(pid_t pid, const char *name)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, name);
	return fopen(path, "re");
}

static void status_line(struct process *process, const char *line)
{
	static const char name[] = "Name:\t";
	unsigned long uid;

	if (!strncmp(line, name, sizeof(name) - 1))
		snprintf(process->name, sizeof(process->name), "%.*s",
			 (int)strcspn(line + sizeof(name) - 1, "\n"), line + sizeof(name) - 1);
	if (sscanf(line, "Uid: %*u %lu", &uid) == 1)
		process->uid = (uid_t)uid;
	sscanf(line, "State: %c", &process->state);
	sscanf(line, "Tgid: %d", &process->tgid);
	sscanf(line, "Threads: %ld", &process->threads);
	sscanf(line, "TracerPid: %ld", &process->tracer);
	sscanf(line, "Seccomp: %ld", &process->seccomp);
	sscanf(line, "NoNewPrivs: %ld", &process->no_new_privs);
}

static int same_pids(pid_t pid)
{
	char path[64];
	struct stat theirs, ours;

	snprintf(path, sizeof(path), "/proc/%d/ns/pid", (int)pid);
	if (stat(path, &theirs) || stat("/proc/self/ns/pid", &ours))
		return -1;
	return theirs.st_ino == ours.st_ino && theirs.st_dev == ours.st_dev;
}

int process_read(struct process *process, pid_t pid)
{
	FILE *file = open_proc(pid, "status");
	char line[512];

	*process = (struct process){ .pid = pid, .uid = (uid_t)-1, .threads = -1, .tracer = -1,
					 .seccomp = -1, .no_new_privs = -1 };
	if (!file)
		return errno == ENOENT ? -ESRCH : -errno;
	while (fgets(line, sizeof(line), file))
		status_line(process, line);
	fclose(file);
	/* Gone while it was read. */
	if (!process->state)
		return -ESRCH;
	process->same_pids = same_pids(pid);
	return 0;
}

static struct candidate *candidate_of(struct candidate *candidates, const char *dir, size_t len)
{
	for (int i = 0; i < CANDIDATES_MAX; i++) {
		struct candidate *candidate = &candidates[i];

		if (!candidate->files)
			snprintf(candidate->dir, sizeof(candidate->dir), "%.*s", (int)len, dir);
		if (strlen(candidate->dir) == len && !memcmp(candidate->dir, dir, len))
			return candidate;
	}
	return NULL;
}

/* A mapped file by its path, which loses its mark of being removed. */
static void mapping_take(struct attachment *attachment, struct candidate *candidates, char *path,
			 uint64_t inode, dev_t device)
{
	static const char *const files[] = { "control", "registry", "rings", "tables", "plans" };
	static const char mark[] = " (deleted)";
	struct candidate *candidate;
	size_t len = strlen(path);
	bool removed = len >= sizeof(mark) && !strcmp(path + len - (sizeof(mark) - 1), mark);
	char *base;

	if (removed)
		path[len - (sizeof(mark) - 1)] = '\0';
	base = strrchr(path, '/');
	if (!base)
		return;
	if (process_is_runtime(path))
		snprintf(attachment->library, sizeof(attachment->library), "%s", path);
	for (unsigned int i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		if (strcmp(base + 1, files[i]))
			continue;
		candidate = candidate_of(candidates, path, (size_t)(base - path));
		if (!candidate)
			return;
		candidate->files |= 1u << i;
		candidate->removed |= removed;
		if (!i) {
			candidate->inode = inode;
			candidate->device = device;
		}
	}
}

int process_attachment(struct attachment *attachment, pid_t pid)
{
	struct candidate *candidates = calloc(CANDIDATES_MAX, sizeof(*candidates));
	FILE *file = candidates ? open_proc(pid, "maps") : NULL;
	char *line = NULL;
	size_t cap = 0;
	int at, r = 0;

	memset(attachment, 0, sizeof(*attachment));
	if (!file)
		r = candidates ? -errno : -ENOMEM;
	while (!r && getline(&line, &cap, file) > 0) {
		unsigned int major = 0, minor = 0;
		uint64_t inode = 0;

		at = 0;
		line[strcspn(line, "\n")] = '\0';
		if (sscanf(line, "%*s %*s %*s %x:%x %" SCNu64 " %n", &major, &minor, &inode, &at) == 3 &&
		    at && inode && strlen(line + at) < PATH_MAX)
			mapping_take(attachment, candidates, line + at, inode, makedev(major, minor));
	}
	/* The permission to look may end before the lines do. */
	if (!r && ferror(file))
		r = -errno;
	for (int i = 0; !r && i < CANDIDATES_MAX && !attachment->attached; i++) {
		/* Plans are not everybody's. */
		if ((candidates[i].files & 15) != 15)
			continue;
		attachment->attached = true;
		attachment->removed = candidates[i].removed;
		attachment->inode = candidates[i].inode;
		attachment->device = candidates[i].device;
		memcpy(attachment->dir, candidates[i].dir, sizeof(attachment->dir));
	}
	free(line);
	free(candidates);
	if (file)
		fclose(file);
	return r;
}

int process_environment(pid_t pid, const char *variable, char *value, size_t size)
{
	FILE *file = open_proc(pid, "environ");
	size_t cap = 0, len = strlen(variable);
	char *entry = NULL;
	int r = 0;

	if (!file)
		return -errno;
	while (!r && getdelim(&entry, &cap, '\0', file) > 0)
		if (!strncmp(entry, variable, len) && entry[len] == '=')
			r = (size_t)snprintf(value, size, "%s", entry + len + 1) < size ? 1 : -ENAMETOOLONG;
	if (!r && ferror(file))
		r = -EACCES;
	free(entry);
	fclose(file);
	return r;
}

int process_walk(bool (*each)(void *ctx, pid_t pid), void *ctx)
{
	DIR *proc = opendir("/proc");
	struct dirent *entry;
	bool on = true;

	if (!proc)
		return -errno;
	while (on && (entry = readdir(proc))) {
		char *end;
		long pid = strtol(entry->d_name, &end, 10);

		if (pid > 0 && pid <= INT_MAX && !*end)
			on = each(ctx, (pid_t)pid);
	}
	closedir(proc);
	return 0;
}
