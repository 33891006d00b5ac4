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
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/map.h"
#include "cmd/interrupt.h"
#include "cmd/live.h"
#include "cmd/planner.h"
#include "cmd/reach.h"
#include "cmd/trace_args.h"
#include "cmd/trace_count.h"
#include "cmd/trace_lines.h"
#include "cmd/trace_open.h"
#include "control/registry.h"
#include "control/rows.h"

#define BUFFER_KB "32768"
#define BYTES_SHOWN 32u
#define BYTES_MAX 1024u
#define PIECE 65536u
#define PACE_MS 20
#define NR_SIGRETURN 15u
#define NR_CLONE 56u
#define NR_FORK 57u
#define NR_VFORK 58u
#define NR_EXECVE 59u
#define NR_EXIT 60u
#define NR_EXIT_GROUP 231u
#define NR_EXECVEAT 322u
#define NR_CLONE3 435u

static const struct opt trace_opts[] = {
	{ 'e', "expr", "trace=LIST", "only these calls: names, and file, network, process, memory, signal, desc; !LIST: not these" },
	{ 'c', "count", NULL, "count calls, errors and time instead" },
	{ 'S', "sort", "COLUMN", "of -c: by time, calls, errors or name" },
	{ 'r', "relative", NULL, "the time since the line before" },
	{ 't', "time", NULL, "the time of day; twice with microseconds" },
	{ 'T', "spent", NULL, "how long each call took" },
	{ 's', "size", "N", "show so many bytes of a buffer, instead of 32" },
	{ 'f', "follow", NULL, "children, too (this is so anyway)" },
	{ 'P', "pid", "PID", "processes that run already; again for more" },
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
	struct map threads;		/* struct trace_open by tid */
	const char *list;		/* of calls; NULL: all */
	bool counts_only;
	int sort;
	int fd;
	uint64_t lost;
	struct trace_counts *counts;
	struct trace_lines lines;
};

static int flush(struct session *session)
{
	size_t at = 0;

	while (at < session->lines.out.len) {
		ssize_t n = write(session->fd, session->lines.out.data + at, session->lines.out.len - at);

		if (n < 0 && errno != EINTR)
			return err_set(&session->live.err, -errno, "cannot write: %s", strerror(errno));
		at += n > 0 ? (size_t)n : 0;
	}
	buf_reset(&session->lines.out);
	return 0;
}

/* ---- Records ---- */

static bool is_meant(const struct session *session, uint64_t number)
{
	return !session->list || trace_list_has(session->list, number);
}

/* The beginnings of the first `n` open calls, as far as they are not shown yet: what is next happens in them. */
static void show_begun(struct session *session, int32_t tid, struct trace_open *open, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		if (!open->calls[i].begun && is_meant(session, open->calls[i].number))
			trace_lines_begun(&session->lines, tid, &open->calls[i]);
}

/* Something else came before the end of the call that a handler returned to. */
static void show_back(struct session *session, int32_t tid, struct trace_open *open)
{
	if (!open->has_back)
		return;
	open->has_back = false;
	show_begun(session, tid, open, open->n);
	trace_lines_call(&session->lines, tid, &open->back, open->back_end);
}

/* Calls from the `from`th on, before the `end`th, never end: a handler that ran in them did not return. */
static void leave(struct session *session, int32_t tid, struct trace_open *open, uint32_t from, uint32_t end)
{
	if (!session->counts_only) {
		if (from < end)
			show_begun(session, tid, open, end);
		return;
	}
	for (uint32_t i = from; i < end; i++)
		if (is_meant(session, open->calls[i].number))
			trace_count_add(session->counts, open->calls[i].number, 0, 0);
}

static void take_last(struct session *session, int32_t tid, struct trace_open *open)
{
	const struct trace_call *call = &open->calls[open->n - 1];

	leave(session, tid, open, 0, open->n - 1);
	if (session->counts_only || !is_meant(session, call->number))
		return;
	trace_lines_last(&session->lines, tid, call);
	if (call->number == NR_EXIT_GROUP)
		trace_lines_exited(&session->lines, tid, call->ts, (uint32_t)call->args[0]);
}

static int take_enter(struct session *session, int32_t tid, const uint64_t *words, uint64_t ts)
{
	struct trace_open *open = map_get(&session->threads, &tid, sizeof(tid), sizeof(*open));
	struct trace_call *call;

	if (!open)
		return -ENOMEM;
	show_back(session, tid, open);
	if (open->n == TRACE_OPEN_MAX) {
		leave(session, tid, open, 0, 1);
		trace_open_drop(open);
	}
	call = trace_open_add(open);
	if (!call)
		return -ENOMEM;
	call->number = words[0];
	memcpy(call->args, words + 1, sizeof(call->args));
	call->ts = ts;
	if (words[0] == NR_EXIT || words[0] == NR_EXIT_GROUP) {
		take_last(session, tid, open);
		trace_open_fini(open);
		map_remove(&session->threads, &tid, sizeof(tid));
	}
	return 0;
}

static int set_data(struct trace_call *call, uint32_t arg, uint32_t size, const void *bytes, uint32_t len)
{
	struct trace_data **to = &call->data[arg];

	if (!*to)
		*to = calloc(1, sizeof(**to));
	if (!*to)
		return -ENOMEM;
	(*to)->size = size;
	(*to)->len = len;
	memcpy((*to)->bytes, bytes, len);
	return 0;
}

static int take_data(struct session *session, int32_t tid, const struct record_call_data *record, uint32_t len)
{
	struct trace_open *open = map_find(&session->threads, &tid, sizeof(tid));
	struct trace_call *call = open ? trace_open_find(open, (uint64_t)record->number) : NULL;
	const uint32_t at = record->data & 0xffff, n = record->data >> 16;

	if (!call || record->arg < 0 || record->arg >= (int32_t)CALLS_ARGS || at > len || n > len - at || n > CALLS_DATA_MAX)
		return 0;
	return set_data(call, (uint32_t)record->arg, record->size, (const char *)record + at, n);
}

/* Is the call a handler's return, which is to be shown behind the end of the call it returns to? Not if that is begun again: then its
 * number is what the kernel makes of the result. */
static bool is_back(const struct session *session, const struct trace_call *call, const struct trace_call *outer)
{
	return call->number == NR_SIGRETURN && outer && !outer->begun && is_meant(session, outer->number) &&
	       call->result != (int64_t)outer->number;
}

/* It ended as the innermost one. */
static void show_ended(struct session *session, int32_t tid, struct trace_open *open, uint64_t ts)
{
	const struct trace_call *call = &open->calls[open->n - 1], *outer = open->n > 1 ? call - 1 : NULL;

	if (session->counts_only) {
		if (is_meant(session, call->number))
			trace_count_add(session->counts, call->number, call->result, ts > call->ts ? ts - call->ts : 0);
		return;
	}
	if (!is_meant(session, call->number))
		return;
	if (is_back(session, call, outer)) {
		open->back = *call;
		open->back_end = ts;
		open->has_back = true;
		return;
	}
	show_begun(session, tid, open, open->n - 1);
	trace_lines_call(&session->lines, tid, call, ts);
	if (open->has_back)
		trace_lines_call(&session->lines, tid, &open->back, open->back_end);
	open->has_back = false;
}

/* In a new thread or program nothing of before goes on: its first record is the end of the call that made it. */
static bool is_first(uint64_t number, int64_t result)
{
	return !result && (number == NR_CLONE || number == NR_FORK || number == NR_VFORK || number == NR_CLONE3 || number == NR_EXECVE ||
			   number == NR_EXECVEAT);
}

static void take_exit(struct session *session, int32_t tid, const uint64_t *words, uint64_t ts)
{
	struct trace_open *open = map_find(&session->threads, &tid, sizeof(tid));
	struct trace_call *call = open ? trace_open_find(open, words[0]) : NULL;

	/* Not of one that began before we came, or in another program, or in the thread that made this one. */
	if (call) {
		const uint32_t at = (uint32_t)(call - open->calls);

		if (at + 1 < open->n)
			show_back(session, tid, open);
		leave(session, tid, open, at + 1, open->n);
		trace_open_cut(open, at + 1);
		call->result = (int64_t)words[1];
		show_ended(session, tid, open, ts);
		trace_open_cut(open, at);
	}
	if (open && is_first(words[0], (int64_t)words[1])) {
		leave(session, tid, open, 0, open->n);
		trace_open_cut(open, 0);
	}
}

static int take_row(struct session *session, const struct control_row *row)
{
	const struct record_head *head = row->row.data;
	const uint32_t len = row->row.len;
	uint64_t words[7];
	int r = 0;

	if (!row->first)
		session->lost += row->lost;
	if (len < sizeof(*head))
		return 0;
	memset(words, 0, sizeof(words));
	memcpy(words, head + 1, len - sizeof(*head) < sizeof(words) ? len - sizeof(*head) : sizeof(words));
	if (head->type == session->enter)
		r = take_enter(session, head->pid, words, row->row.ts);
	else if (head->type == session->exit)
		take_exit(session, head->pid, words, row->row.ts);
	else if (head->type == session->data && len >= offsetof(struct record_call_data, bytes))
		r = take_data(session, head->pid, row->row.data, len);
	return r ? err_set(&session->live.err, r, "out of memory") : 0;
}

static int take_rows(struct session *session)
{
	struct control_row row;
	int r;

	while ((r = control_rows_next(session->rows, &row, &session->live.err)) > 0) {
		r = take_row(session, &row);
		if (!r && session->lines.out.len >= PIECE)
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
	for (int i = 0; i < session->opts->nitems; i++)
		if (session->opts->items[i].opt && session->opts->items[i].opt->letter == 'P')
			for (const char *at = session->opts->items[i].value; *at; at++)
				buf_putc(&pids, *at == ',' ? '\n' : *at);
	r = buf_failed(&pids) ? -ENOMEM : put(session, "options/event-fork", "1");
	if (!r)
		r = put(session, "set_event_pid", pids.data);
	buf_fini(&pids);
	return r;
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
	if (!r && !session->counts_only)
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
		r = launch_go(&live->launch, &live->err);
	return r;
}

/* A process that -P names, and no other, may end: then there is nothing to wait for. */
static bool is_gone(const struct session *session)
{
	const char *pid = opts_value(session->opts, "pid");

	return !session->live.argv && pid && kill((pid_t)atoi(pid), 0) && errno == ESRCH;
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

/* Calls that nobody saw the end of: they wait still, or were the end of their thread. */
static void put_open(struct session *session, int32_t tid, struct trace_open *open)
{
	const struct trace_call *call = open->n ? &open->calls[open->n - 1] : NULL;

	show_back(session, tid, open);
	if (!call)
		return;
	leave(session, tid, open, 0, open->n - 1);
	if (!session->counts_only && !call->begun && is_meant(session, call->number))
		trace_lines_last(&session->lines, tid, call);
}

static int put_rest(struct session *session)
{
	const struct map_entry **all;

	if (map_list(&session->threads, &all))
		return err_set(&session->live.err, -ENOMEM, "out of memory");
	for (size_t i = 0; i < session->threads.nr; i++) {
		int32_t tid;

		memcpy(&tid, all[i]->key, sizeof(tid));
		put_open(session, tid, all[i]->value);
	}
	free(all);
	if (!session->counts_only && session->live.ended && WIFSIGNALED(session->live.status))
		trace_lines_killed(&session->lines, session->live.launch.pid, WTERMSIG(session->live.status));
	return 0;
}

static int end(struct session *session)
{
	int r = put_rest(session);

	if (!r && session->counts_only)
		trace_count_put(&session->lines.out, session->counts, (enum trace_sort)session->sort);
	return r ? r : flush(session);
}

/* ---- All of it ---- */

static int ask(struct session *session, const struct opts *opts)
{
	const char *list = opts_value(opts, "expr"), *sort = opts_value(opts, "sort"), *size = opts_value(opts, "size"), *wrong;
	char *rest;
	size_t len;

	session->counts_only = opts_value(opts, "count");
	session->lines.relative = opts_value(opts, "relative");
	session->lines.spent = opts_value(opts, "spent");
	for (int i = 0; i < opts->nitems; i++)
		session->lines.clock += opts->items[i].opt && opts->items[i].opt->letter == 't';
	session->sort = sort ? trace_sort_find(sort) : TRACE_BY_TIME;
	if (session->sort < 0)
		return cmd_misuse(&cmd_trace, "trace: -S '%s': by time, calls, errors or name", sort);
	session->lines.limit = size ? (uint32_t)strtoul(size, &rest, 10) : BYTES_SHOWN;
	if (size && (*rest || !*size || session->lines.limit > BYTES_MAX))
		return cmd_misuse(&cmd_trace, "trace: -s '%s': a number up to %u is needed", size, BYTES_MAX);
	session->list = list && !strncmp(list, "trace=", 6) ? list + 6 : list;
	if (session->list && !trace_list_check(session->list, &wrong, &len))
		return cmd_misuse(&cmd_trace, "trace: -e '%s': there is no system call, and no class of them, '%.*s'", list,
				  (int)len, wrong);
	if (!opts->nargs && !opts_value(opts, "pid"))
		return cmd_misuse(&cmd_trace, "trace: a program is needed, or -P");
	return live_ask(&session->live, &cmd_trace, opts, 0);
}

static int open_output(struct session *session)
{
	const char *path = opts_value(session->opts, "output");
	struct timespec day, mono;

	clock_gettime(CLOCK_REALTIME, &day);
	clock_gettime(CLOCK_MONOTONIC, &mono);
	session->lines.offset = (int64_t)(day.tv_sec - mono.tv_sec) * 1000000000 + (day.tv_nsec - mono.tv_nsec);
	session->fd = path ? open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666) : STDERR_FILENO;
	return session->fd < 0 ? err_set(&session->live.err, -errno, "%s: %s", path, strerror(errno)) : 0;
}

static void forget_all(struct session *session)
{
	const struct map_entry **all;

	if (!map_list(&session->threads, &all)) {
		for (size_t i = 0; i < session->threads.nr; i++)
			trace_open_fini(all[i]->value);
		free(all);
	}
	map_fini(&session->threads);
}

static int trace(struct session *session)
{
	struct live *live = &session->live;
	int r = live_open(live, session->opts, "trace", NULL);

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
	struct session session = {
		.opts = opts, .reach = REACH_NONE, .threads = MAP_INIT, .fd = -1, .lines = { .out = BUF_INIT }, .live = { .err = ERR_INIT },
	};
	int status = ask(&session, opts);

	if (status != CMD_DONE)
		return status;
	session.counts = calloc(1, sizeof(*session.counts));
	if (!session.counts) {
		err_set(&session.live.err, -ENOMEM, "out of memory");
		return cmd_fail(&session.live.err);
	}
	status = trace(&session);
	control_rows_close(session.rows);
	live_close_instance(&session.live);
	reach_close(&session.reach);
	planner_end(&session.planner);
	live_close(&session.live);
	forget_all(&session);
	buf_fini(&session.lines.out);
	free(session.counts);
	if (session.fd > STDERR_FILENO)
		close(session.fd);
	return status;
}

const struct cmd cmd_trace = {
	.name = "trace",
	.synopsis = "[-e trace=LIST] [-c [-S COLUMN]] [-r] [-t] [-T] [-o FILE] -P PID | [--] PROGRAM [ARGUMENT]...",
	.summary = "show the system calls of a program",
	.text = "Runs a program, or joins processes that run, and prints a line for each system call\n"
		"of theirs and of their children as it returns: its arguments, with texts, buffers and\n"
		"flags as people write them, and what it returned. No call stops for it: they are\n"
		"recorded by the runtime in the program, events raw_syscalls:*, in an instance for this\n"
		"alone. What the loader does before the program's own code is not seen. The program's\n"
		"exit status is passed on.\n",
	.opts = trace_opts,
	.args_max = -1,
	.verbatim = -1,
	.run = run,
};
