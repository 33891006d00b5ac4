/*
 * cmd/reach: see reach.h.
 */
#include "cmd/reach.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cmd/launch.h"
#include "cmd/scope.h"
#include "control/control.h"
#include "control/plans.h"
#include "control/poke.h"
#include "inject/inject.h"
#include "inject/process.h"

/* Has it joined the directory by itself? Then it is recorded, whether it can be called or not. */
static bool has_joined(pid_t pid, const char *dir)
{
	struct attachment *attachment = calloc(1, sizeof(*attachment));
	char path[PATH_MAX + 16];
	struct stat st;
	bool joined;

	snprintf(path, sizeof(path), "%s/control", dir);
	joined = attachment && !process_attachment(attachment, pid) && attachment->attached && !stat(path, &st) &&
		 st.st_ino == attachment->inode;
	free(attachment);
	return joined;
}

static bool is_known(const struct reach *reach, pid_t pid)
{
	for (size_t i = 0; i < reach->n; i++)
		if (reach->pids[i] == pid)
			return true;
	return false;
}

/* Attached, and its functions as the state wants them; as inject_attach(). */
static int attach(pid_t pid, const char *dir, const char *library, struct err *err)
{
	struct control *control;
	int r = inject_attach(pid, dir, library, err), p;

	if (r < 0)
		return r;
	p = control_open(&control, dir, false, err);
	if (!p) {
		p = control_refresh(control, err);
		if (!p)
			p = control_traced(&control->state) ? control_plans_file(control, err) : 1;
		control_close(control);
	}
	/* No functions are traced. */
	if (p > 0)
		return r;
	if (!p)
		p = inject_poke(pid, dir, err);
	return p < 0 ? p : r;
}

static int reach_one(struct reach *reach, pid_t tid, const char *library, bool quiet)
{
	struct err err = ERR_INIT;
	struct process process;
	pid_t *more;
	int r;

	/* Gone by now. */
	if (process_read(&process, tid) || is_known(reach, process.tgid))
		return 0;
	r = attach(process.tgid, reach->dir, library, &err);
	if (r < 0 && !quiet && !has_joined(process.tgid, reach->dir))
		cmd_say("%s", err.text);
	if (r <= 0)
		return 0;
	more = realloc(reach->pids, (reach->n + 1) * sizeof(*more));
	if (!more)
		return -ENOMEM;
	reach->pids = more;
	reach->pids[reach->n++] = process.tgid;
	return 0;
}

struct asked {
	struct reach *reach;	/* NULL: they are only looked for */
	const char *library;
	bool quiet;
	size_t there;
	long missing;		/* one that is not there */
};

static int ask_one(struct asked *asked, long tid)
{
	struct process process;

	if (tid <= 0 || tid > INT_MAX || process_read(&process, (pid_t)tid) == -ESRCH)
		asked->missing = tid;
	else if (asked->reach)
		return reach_one(asked->reach, (pid_t)tid, asked->library, asked->quiet);
	else
		asked->there++;
	return 0;
}

/* Of one -P. */
static int ask_list(struct asked *asked, const char *list)
{
	char *end;
	int r = 0;

	for (; !r && *list; list = *end == ',' ? end + 1 : end) {
		long tid = strtol(list, &end, 10);

		if (end == list)
			break;
		r = ask_one(asked, tid);
	}
	return r;
}

/* Of all. */
static int ask(struct asked *asked, const struct opts *opts)
{
	int r = 0;

	for (int i = 0; !r && i < opts->nitems; i++)
		if (scope_is(&opts->items[i], "pid"))
			r = ask_list(asked, opts->items[i].value);
	return r;
}

int reach_open(struct reach *reach, const struct opts *opts, const char *dir, bool quiet, struct err *err)
{
	char library[PATH_MAX];
	struct asked asked = { .library = library, .quiet = quiet, .missing = -1 };

	*reach = (struct reach)REACH_NONE;
	ask(&asked, opts);
	if (asked.missing >= 0 && !asked.there)
		return err_set(err, -ESRCH, "there is no process %ld", asked.missing);
	if (asked.missing >= 0 && !quiet)
		cmd_say("there is no process %ld", asked.missing);
	/* Without a library those that have it are recorded, as ever. */
	if (!asked.there || launch_library(library, NULL))
		return 0;
	reach->dir = strdup(dir);
	asked.reach = reach;
	if (!reach->dir || ask(&asked, opts))
		return err_set(err, -ENOMEM, "out of memory");
	return 0;
}

void reach_close(struct reach *reach)
{
	/* Those that ended have nothing to be taken back. */
	for (size_t i = 0; i < reach->n; i++)
		inject_detach(reach->pids[i], reach->dir, NULL);
	free(reach->pids);
	free(reach->dir);
	*reach = (struct reach)REACH_NONE;
}

/* ---- the commands ---- */

static bool is_pid(const char *text)
{
	char *end;
	long pid = strtol(text, &end, 10);

	return *text >= '0' && *text <= '9' && !*end && pid > 0 && pid <= INT_MAX;
}

static int each(const struct opts *opts, const char *dir, const char *library)
{
	int status = CMD_DONE;

	for (int i = 0; i < opts->nargs; i++) {
		pid_t pid = (pid_t)strtol(opts_arg(opts, i), NULL, 10);
		struct err err = ERR_INIT;

		if ((library ? attach(pid, dir, library, &err) : inject_detach(pid, dir, &err)) < 0)
			status = cmd_fail(&err);
	}
	return status;
}

int reach_run(const struct cmd *cmd, const struct opts *opts, bool join)
{
	struct err err = ERR_INIT;
	struct control *control;
	char library[PATH_MAX];
	int r;

	for (int i = 0; i < opts->nargs; i++)
		if (!is_pid(opts_arg(opts, i)))
			return cmd_misuse(cmd, "%s: '%s' is no number of a process", cmd->name, opts_arg(opts, i));
	r = join ? launch_library(library, &err) : 0;
	if (!r)
		r = cmd_open_directory(&control, opts, join, &err);
	if (r)
		return cmd_fail(&err);
	r = each(opts, control->dir.path, join ? library : NULL);
	control_close(control);
	return r;
}
