/*
 * cmd/trace: the system calls of a program, a line each as it returns, or counted.
 *
 *	an instance of our own | command at the gate | its events on, for it and its children alone | go | rows -> lines | all undone
 *
 * What the program does is seen by the runtime in it (src/sys): records of a call's beginning, of what its arguments point to, of its
 * end, in this order for each thread.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/mono.h"
#include "cmd/interrupt.h"
#include "cmd/live.h"
#include "cmd/planner.h"
#include "cmd/reach.h"
#include "cmd/scope.h"
#include "cmd/trace_show.h"
#include "control/registry.h"
#include "control/rows.h"
#include "doctor/command.h"

#define BUFFER_KB "32768"
#define BYTES_SHOWN 32u
#define BYTES_MAX 1024u
#define PIECE 65536u
#define PACE_MS 20
#define NR_EXECVE 59u

static const struct opt trace_opts[] = {
	{ 'e', "expr", "trace=LIST", "only these calls: names, and file, network, process, memory, signal, desc; !LIST: not these" },
	{ 'c', "count", NULL, "count calls, errors and time instead" },
	{ 'S', "sort", "COLUMN", "of -c: by time, calls, errors or name" },
	{ 'r', "relative", NULL, "the time since the line before" },
	{ 't', "time", NULL, "the time of day; twice with microseconds" },
	{ 'T', "spent", NULL, "how long each call took" },
	{ 's', "size", "N", "show so many bytes of a buffer, instead of 32" },
	{ 'f', "follow", NULL, "children, too (this is so anyway)" },
	{ 'P', "pid", "PID", "processes that run already, separated by commas; again for more" },
	{ 'p', "pid", "PID", "the same" },
	{ 'o', "output", "FILE", "lines into a file, instead of standard error" },
	LIVE_OPTS,
	{ 0, NULL, NULL, NULL },
};

struct session {
	const struct opts *opts;
	struct live live;
	struct reach reach;
	struct planner planner;
	struct control_rows *rows;
	uint32_t enter, exit, data;	/* ids */
	struct trace_show show;
	int sort;
	int fd;
	uint64_t lost;
};

static int flush(struct session *session)
{
	size_t at = 0;

	while (at < session->show.lines.out.len) {
		ssize_t n = write(session->fd, session->show.lines.out.data + at, session->show.lines.out.len - at);

		if (n < 0 && errno != EINTR)
			return err_set(&session->live.err, -errno, "cannot write: %s", strerror(errno));
		at += n > 0 ? (size_t)n : 0;
	}
	buf_reset(&session->show.lines.out);
	return 0;
}

/* ---- Records ---- */

static int take_data(struct session *session, const struct record_call_data *record, uint32_t len)
{
	const uint32_t at = record->data & 0xffff, n = record->data >> 16;

	if (record->arg < 0 || at > len || n > len - at)
		return 0;
	return trace_show_data(&session->show, record->head.pid, (uint64_t)record->number, (uint32_t)record->arg,
			       (const char *)record + at, n, record->size);
}

static int take_row(struct session *session, const struct control_row *row)
{
	const struct record_head *head = row->row.data;
	const uint32_t len = row->row.len;
	uint64_t words[1 + CALLS_ARGS];
	int r = 0;

	if (!row->first)
		session->lost += row->lost;
	if (len < sizeof(*head))
		return 0;
	memset(words, 0, sizeof(words));
	memcpy(words, head + 1, len - sizeof(*head) < sizeof(words) ? len - sizeof(*head) : sizeof(words));
	if (head->type == session->enter)
		r = trace_show_enter(&session->show, head->pid, words, row->row.ts);
	else if (head->type == session->exit)
		trace_show_exit(&session->show, head->pid, words[0], (int64_t)words[1], row->row.ts);
	else if (head->type == session->data && len >= offsetof(struct record_call_data, bytes))
		r = take_data(session, row->row.data, len);
	return r ? err_set(&session->live.err, r, "out of memory") : 0;
}

static int take_rows(struct session *session)
{
	struct control_row row;
	int r;

	while ((r = control_rows_next(session->rows, &row, &session->live.err)) > 0) {
		r = take_row(session, &row);
		if (!r && session->show.lines.out.len >= PIECE)
			r = flush(session);
		if (r)
			return r;
	}
	return r < 0 ? r : flush(session);
}

/* ---- Before and after ---- */

static int put(struct session *session, const char *file, const char *text)
{
	char path[192];

	snprintf(path, sizeof(path), "instances/%s/%s", session->live.instance, file);
	return source_write(session->live.source, path, text, strlen(text), false, &session->live.err);
}

static int find_ids(struct session *session)
{
	const struct control_registry *events = control_events(session->live.control, &session->live.err);
	const struct control_event *enter = events ? control_registry_find(events, "raw_syscalls", "sys_enter") : NULL;
	const struct control_event *exit = events ? control_registry_find(events, "raw_syscalls", "sys_exit") : NULL;
	const struct control_event *data = events ? control_registry_find(events, "ringside", "call_data") : NULL;

	if (!enter || !exit || !data)
		return err_set(&session->live.err, -ENOENT, "the directory has no events of system calls");
	session->enter = enter->id;
	session->exit = exit->id;
	session->data = data->id;
	return 0;
}

static int open_rows(struct session *session)
{
	struct control_rows_how how = { .cpu = -1, .consume = true };
	int r = control_refresh(session->live.control, &session->live.err), b;

	if (r)
		return r;
	b = control_state_buffer(&session->live.control->state, session->live.instance);
	if (b < 0)
		return err_set(&session->live.err, -ENODEV, "the instance %s is gone", session->live.instance);
	how.buffer = (uint32_t)b;
	return control_rows_open(&session->rows, session->live.control, &how, &session->live.err);
}

static int name_threads(struct session *session)
{
	struct buf pids = BUF_INIT;
	int r;

	if (session->live.argv)
		buf_printf(&pids, "%d\n", (int)session->live.launch.pid);
	for (int i = 0; i < session->opts->nitems; i++) {
		if (!scope_is(&session->opts->items[i], "pid"))
			continue;
		for (const char *at = session->opts->items[i].value; *at; at++)
			buf_putc(&pids, *at == ',' ? '\n' : *at);
		buf_putc(&pids, '\n');
	}
	r = buf_failed(&pids) ? -ENOMEM : put(session, "options/event-fork", "1");
	if (!r)
		r = put(session, "set_event_pid", pids.data);
	buf_fini(&pids);
	return r;
}

/* The call that becomes the program is ours to tell: it is made before the runtime is there, which records its end. */
static int take_program(struct session *session)
{
	const struct live *live = &session->live;
	const uint64_t words[1 + CALLS_ARGS] = {
		NR_EXECVE, (uintptr_t)live->argv[0], (uintptr_t)live->argv, (uintptr_t)live->launch.environment,
	};
	const int32_t tid = live->launch.pid;
	char path[PATH_MAX];
	const char *file = command_find(live->argv[0], path) ? path : live->argv[0];
	const uint32_t len = (uint32_t)strlen(file) + 1;
	struct buf texts = BUF_INIT;
	int r = trace_show_enter(&session->show, tid, words, mono_ns());

	for (char *const *arg = live->argv; *arg; arg++)
		buf_add(&texts, *arg, strlen(*arg) + 1);
	if (!r)
		r = buf_failed(&texts) ? -ENOMEM : trace_show_data(&session->show, tid, NR_EXECVE, 0, file, len, len);
	if (!r)
		r = trace_show_data(&session->show, tid, NR_EXECVE, 1, texts.data, (uint32_t)texts.len, (uint32_t)texts.len);
	buf_fini(&texts);
	return r ? err_set(&session->live.err, r, "out of memory") : 0;
}

static int begin(struct session *session)
{
	struct live *live = &session->live;
	struct launch_how how = { .argv = live->argv, .preload = true, .quiet = live->quiet, .dir = source_name(live->source) };
	int r = planner_start(&session->planner, live->source, session->opts, true, &live->err);

	if (!r && live->argv)
		r = launch_start(&live->launch, &how, &live->err);
	if (!r)
		r = put(session, "buffer_size_kb", BUFFER_KB);
	if (!r)
		r = name_threads(session);
	if (!r && !session->show.counts)
		r = put(session, "events/ringside/call_data/enable", "1");
	if (!r)
		r = put(session, "events/raw_syscalls/enable", "1");
	if (!r)
		r = find_ids(session);
	if (!r)
		r = open_rows(session);
	if (!r && opts_value(session->opts, "pid"))
		r = reach_open(&session->reach, session->opts, source_name(live->source), live->quiet, &live->err);
	if (!r && live->argv)
		r = take_program(session);
	if (!r && live->argv)
		r = launch_go(&live->launch, &live->err);
	return r;
}

/* Processes that -P names may end, all of them: then there is nothing to wait for. */
static bool is_gone(const struct session *session)
{
	const struct opts *opts = session->opts;

	if (session->live.argv)
		return false;
	for (int i = 0; i < opts->nitems; i++) {
		const char *at = scope_is(&opts->items[i], "pid") ? opts->items[i].value : "";

		for (; *at; at += strcspn(at, ","), at += *at == ',')
			if (!kill((pid_t)atoi(at), 0) || errno != ESRCH)
				return false;
	}
	return true;
}

static int watch(struct session *session)
{
	struct stream_sleep how = { .percent = 10, .timeout_ms = PACE_MS, .also = interrupt_word() };
	int r = 0;

	live_count_down(&session->live);
	while (r >= 0) {
		bool over;

		how.seen = __atomic_load_n(interrupt_word(), __ATOMIC_ACQUIRE);
		over = live_over(&session->live) || is_gone(session);
		r = take_rows(session);
		if (r < 0 || over)
			break;
		r = control_rows_sleep(&session->rows, 1, &how, &session->live.err);
		if (r == -EINTR)
			r = 0;
	}
	return r < 0 ? r : 0;
}

static int end(struct session *session)
{
	const struct live *live = &session->live;
	struct trace_show *show = &session->show;

	if (trace_show_rest(show))
		return err_set(&session->live.err, -ENOMEM, "out of memory");
	if (show->counts)
		trace_count_put(&show->lines.out, show->counts, (enum trace_sort)session->sort);
	else if (live->ended && WIFSIGNALED(live->status))
		trace_lines_killed(&show->lines, live->launch.pid, WTERMSIG(live->status));
	return flush(session);
}

/* ---- All of it ---- */

/* Numbers, separated by commas. */
static bool is_list_of_pids(const char *list)
{
	for (;; list++) {
		char *end;
		unsigned long pid = *list >= '0' && *list <= '9' ? strtoul(list, &end, 10) : 0;

		if (!pid || pid > INT_MAX)
			return false;
		list = end;
		if (*list != ',')
			return !*list;
	}
}

static int ask_pids(const struct opts *opts)
{
	if (!opts->nargs && !opts_value(opts, "pid"))
		return cmd_misuse(&cmd_trace, "trace: a program is needed, or -P");
	for (int i = 0; i < opts->nitems; i++)
		if (scope_is(&opts->items[i], "pid") && !is_list_of_pids(opts->items[i].value))
			return cmd_misuse(&cmd_trace, "trace: -P '%s': numbers of processes are needed, separated by commas",
					  opts->items[i].value);
	return CMD_DONE;
}

/* What would say nothing is refused. */
static int ask_counts(struct session *session, const struct opts *opts)
{
	static const char *const of_lines[] = { "relative", "time", "spent", "size" };
	const char *sort = opts_value(opts, "sort");
	const bool counts = opts_value(opts, "count");

	session->sort = sort ? trace_sort_find(sort) : TRACE_BY_TIME;
	if (session->sort < 0)
		return cmd_misuse(&cmd_trace, "trace: -S '%s': by time, calls, errors or name", sort);
	if (sort && !counts)
		return cmd_misuse(&cmd_trace, "trace: -S sorts what -c counts: -c is needed");
	for (size_t i = 0; counts && i < sizeof(of_lines) / sizeof(of_lines[0]); i++)
		if (opts_value(opts, of_lines[i]))
			return cmd_misuse(&cmd_trace, "trace: --%s is about lines, and with -c there are none", of_lines[i]);
	return CMD_DONE;
}

static int ask(struct session *session, const struct opts *opts)
{
	const char *list = opts_value(opts, "expr"), *size = opts_value(opts, "size"), *wrong;
	int status = ask_counts(session, opts);
	char *rest;
	size_t len;

	if (status == CMD_DONE)
		status = ask_pids(opts);
	if (status != CMD_DONE)
		return status;
	session->show.lines.relative = opts_value(opts, "relative");
	session->show.lines.spent = opts_value(opts, "spent");
	for (int i = 0; i < opts->nitems; i++)
		session->show.lines.clock += scope_is(&opts->items[i], "time");
	session->show.lines.limit = size ? (uint32_t)strtoul(size, &rest, 10) : BYTES_SHOWN;
	if (size && (*rest || !*size || session->show.lines.limit > BYTES_MAX))
		return cmd_misuse(&cmd_trace, "trace: -s '%s': a number up to %u is needed", size, BYTES_MAX);
	session->show.list = list && !strncmp(list, "trace=", 6) ? list + 6 : list;
	if (session->show.list && !trace_list_check(session->show.list, &wrong, &len))
		return cmd_misuse(&cmd_trace, "trace: -e '%s': there is no system call, and no class of them, '%.*s'", list,
				  (int)len, wrong);
	return live_ask(&session->live, &cmd_trace, opts, 0);
}

static int open_output(struct session *session)
{
	const char *path = opts_value(session->opts, "output");
	struct timespec day, mono;

	clock_gettime(CLOCK_REALTIME, &day);
	clock_gettime(CLOCK_MONOTONIC, &mono);
	session->show.lines.offset = (int64_t)(day.tv_sec - mono.tv_sec) * 1000000000 + (day.tv_nsec - mono.tv_nsec);
	session->fd = path ? open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666) : STDERR_FILENO;
	return session->fd < 0 ? err_set(&session->live.err, -errno, "%s: %s", path, strerror(errno)) : 0;
}

static int trace(struct session *session)
{
	struct live *live = &session->live;
	int r = 0;

	/* What arguments point to is told by the runtime in a program. */
	if (opts_value(session->opts, "kernel") || opts_value(session->opts, "tracefs"))
		r = err_set(&live->err, -EOPNOTSUPP, "system calls are recorded by programs themselves: of the kernel, "
			    "`ringside stream --kernel -F -c -e raw_syscalls COMMAND` shows them");
	if (!r)
		r = live_open(live, session->opts, "trace", NULL);

	if (!r)
		r = open_output(session);
	if (!r)
		r = begin(session);
	if (!r)
		r = watch(session);
	if (!r)
		r = end(session);
	if (r)
		return cmd_fail(&live->err);
	if (session->lost)
		cmd_say("%" PRIu64 " records were lost: the program was faster than could be read", session->lost);
	return live->ended ? launch_exit_status(live->status) : CMD_DONE;
}

static int run(const struct opts *opts)
{
	struct session session = { .opts = opts, .reach = REACH_NONE, .fd = -1, .show = TRACE_SHOW_INIT, .live = { .err = ERR_INIT } };
	const bool counts = opts_value(opts, "count");
	int status = ask(&session, opts);

	if (status != CMD_DONE)
		return status;
	session.show.counts = counts ? calloc(1, sizeof(*session.show.counts)) : NULL;
	if (counts && !session.show.counts) {
		err_set(&session.live.err, -ENOMEM, "out of memory");
		return cmd_fail(&session.live.err);
	}
	status = trace(&session);
	control_rows_close(session.rows);
	live_close_instance(&session.live);
	reach_close(&session.reach);
	planner_end(&session.planner);
	live_close(&session.live);
	trace_show_fini(&session.show);
	free(session.show.counts);
	if (session.fd > STDERR_FILENO)
		close(session.fd);
	return status;
}

const struct cmd cmd_trace = {
	.name = "trace",
	.synopsis = "[-e trace=LIST] [-c [-S COLUMN] | [-r] [-t] [-T] [-s N]] [-f] [-o FILE] [--for TIME] [-q] "
		    "-P PID | [--] PROGRAM [ARGUMENT]...",
	.summary = "show the system calls of a program",
	.text = "Runs a program, or joins processes that run, and prints a line for each system call\n"
		"of theirs and of their children as it returns: its arguments, with texts, buffers and\n"
		"flags as people write them, and what it returned. No call stops for it: they are\n"
		"recorded by the runtime in the program, events raw_syscalls:*, in an instance for this\n"
		"alone. A call in which a signal's handler makes others is shown in two parts. What the\n"
		"loader does before the program's own code is not seen. The program's exit status is\n"
		"passed on.\n",
	.opts = trace_opts,
	.args_max = -1,
	.verbatim = -1,
	.run = run,
};
