/*
 * cmd/setup_own: the instances that a setup makes, and those that dead recorders left behind.
 *
 * A tracing directory knows itself whose instance it is and whether he lives (control/own). In other trees the name has to
 * tell: record-PID-START, with the time at which the process began, since numbers come again; and with the number of its
 * pid namespace behind it when that is not the first one, because a process of another cannot be looked for.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cmd/setup_local.h"
#include "control/own.h"

#define FIRST_PID_NAMESPACE 0xEFFFFFFCu
#define NAMES_MAX 1000

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

static int name_for_files(struct setup *setup, struct err *err)
{
	long long start = start_of(getpid());
	unsigned long space;

	if (start <= 0 || !namespace_of(&space))
		return err_set(err, -ESRCH, "/proc tells nothing about this process");
	if (space)
		snprintf(setup->name, sizeof(setup->name), "record-%d-%lld-%lu", (int)getpid(), start, space);
	else
		snprintf(setup->name, sizeof(setup->name), "record-%d-%lld", (int)getpid(), start);
	return 0;
}

/* A name that nobody has, in a tracing directory; whoever else looks for one finds another. */
static int make_fresh(struct setup *setup, struct control *control, struct err *err)
{
	struct err refused;
	int r;

	for (int i = 1; i < NAMES_MAX; i++) {
		refused = (struct err)ERR_INIT;
		if (i > 1)
			snprintf(setup->name, sizeof(setup->name), "record-%d-%d", (int)getpid(), i);
		else
			snprintf(setup->name, sizeof(setup->name), "record-%d", (int)getpid());
		r = control_own_add(control, setup->name, &refused);
		if (r != -EEXIST)
			return r ? err_set(err, r, "%s", refused.text) : 0;
	}
	return err_set(err, -EEXIST, "there are too many recordings");
}

int setup_make(struct setup *setup, int s, struct err *err)
{
	struct control *control = source_control(setup->source);
	struct scope *scope = &setup->scopes.scope[s];
	struct setup_buffer *mine = &setup->buffers[s];
	char path[SCOPE_PATH];
	int r = 0;

	if (mine->fresh) {
		r = control ? make_fresh(setup, control, err) : name_for_files(setup, err);
		if (r)
			return r;
		scope->instance = setup->name;
		mine->made = control;
	}
	if (!scope->instance || mine->made || source_exists(setup->source, scope_path(path, scope, "")))
		return 0;
	if (control && setup->how.fresh)
		r = control_own_add(control, scope->instance, err);
	else
		r = source_mkdir(setup->source, path, err);
	mine->made = !r;
	return r;
}

/* Does the name tell of a recorder that is no more? */
static bool is_dead(const char *name)
{
	unsigned long space = 0, ours;
	long long start, now;
	int end = 0;
	long pid;

	if (sscanf(name, "record-%ld-%lld%n", &pid, &start, &end) != 2 || pid <= 0 || start <= 0)
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

static int sweep_files(struct source *source)
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
	return n;
}

int setup_sweep(struct source *source, struct err *err)
{
	struct control *control = source_control(source);

	return control ? control_own_sweep(control, err) : sweep_files(source);
}
