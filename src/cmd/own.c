/*
 * cmd/own: see own.h.
 */
#include "cmd/own.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cmd/scope.h"

#define FIRST_PID_NAMESPACE 0xEFFFFFFCu

static const char *const kinds[] = { "record", "hist", "latency", "profile", "trace" };

#define NKINDS (sizeof(kinds) / sizeof(kinds[0]))

/* The number of our pid namespace, 0 for the first one. False when that cannot be had. */
static bool namespace_of(unsigned long *number)
{
	struct stat st;

	if (stat("/proc/self/ns/pid", &st))
		return false;
	*number = st.st_ino == FIRST_PID_NAMESPACE ? 0 : (unsigned long)st.st_ino;
	return true;
}

/* When the process began, in ticks since boot: field 22 of its stat. 0: there is none, -1: who knows. */
static long long start_of(long pid)
{
	char path[64], text[1024], *at;
	long long start = -1;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%ld/stat", pid);
	file = fopen(path, "re");
	if (!file)
		return errno == ENOENT ? 0 : -1;
	if (fgets(text, sizeof(text), file) && (at = strrchr(text, ')'))) {
		at++;
		for (int field = 3; at && field < 22; field++)
			at = strchr(at + 1, ' ');
		if (at)
			start = strtoll(at, NULL, 10);
	}
	fclose(file);
	return start;
}

int own_name(char *out, size_t size, const char *kind, struct err *err)
{
	long long start = start_of(getpid());
	unsigned long space;

	if (start <= 0 || !namespace_of(&space))
		return err_set(err, -ESRCH, "/proc tells nothing about this process");
	if (space)
		snprintf(out, size, "%s-%d-%lld-%lu", kind, (int)getpid(), start, space);
	else
		snprintf(out, size, "%s-%d-%lld", kind, (int)getpid(), start);
	return 0;
}

/* What is behind the kind, or NULL: the name is none of ours. */
static const char *behind_kind(const char *name)
{
	for (size_t i = 0; i < NKINDS; i++)
		if (!strncmp(name, kinds[i], strlen(kinds[i])) && name[strlen(kinds[i])] == '-')
			return name + strlen(kinds[i]) + 1;
	return NULL;
}

/* Does the name tell of a maker who is no more? */
static bool is_dead(const char *name)
{
	unsigned long space = 0, ours;
	long long start, now;
	int end = 0;
	long pid;

	name = behind_kind(name);
	if (!name || sscanf(name, "%ld-%lld%n", &pid, &start, &end) != 2 || pid <= 0 || start <= 0)
		return false;
	if (name[end] == '-') {
		int more = 0;

		if (sscanf(name + end, "-%lu%n", &space, &more) != 1)
			return false;
		end += more;
	}
	if (name[end] || !namespace_of(&ours) || space != ours)
		return false;
	/* Not every process is shown to everybody. */
	if (!kill((pid_t)pid, 0) || errno != ESRCH) {
		now = start_of(pid);
		return now > 0 && now != start;
	}
	return true;
}

int own_sweep(struct source *source)
{
	struct scopes scopes;
	char path[SCOPE_PATH];
	int n = 0;

	if (scopes_all(&scopes, source, NULL))
		return 0;
	for (int i = 0; i < scopes.n; i++)
		if (scopes.scope[i].instance && is_dead(scopes.scope[i].instance) &&
		    !source_rmdir(source, scope_path(path, &scopes.scope[i], ""), NULL))
			n++;
	scopes_fini(&scopes);
	own_sweep_synth(source);
	return n;
}

/* The instance that a synthetic event belongs to, if it is one of those; is it there? */
static bool is_forsaken(struct source *source, const char *synth)
{
	char path[SCOPE_PATH];

	if (strncmp(synth, OWN_SYNTH, strlen(OWN_SYNTH)) || strlen(synth) > 100)
		return false;
	synth += strlen(OWN_SYNTH);
	snprintf(path, sizeof(path), "instances/%s", synth);
	for (char *p = path + strlen("instances/"); *p; p++)
		*p = *p == '_' ? '-' : *p;
	return behind_kind(path + strlen("instances/")) && !source_exists(source, path);
}

void own_sweep_synth(struct source *source)
{
	struct buf list = BUF_INIT;
	char undo[128], *save = NULL;

	if (source_exists(source, "synthetic_events") && !source_read(source, "synthetic_events", &list, NULL) && list.data)
		for (char *line = strtok_r(list.data, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
			line[strcspn(line, " \t")] = '\0';
			if (!is_forsaken(source, line))
				continue;
			snprintf(undo, sizeof(undo), "!%s", line);
			source_write(source, "synthetic_events", undo, strlen(undo), true, NULL);
		}
	buf_fini(&list);
}
