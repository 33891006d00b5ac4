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
#include "control/registry.h"
#include "control/rows.h"

#define BUFFER_KB "32768"
#define BYTES_SHOWN 32u
#define BYTES_MAX 1024u
#define PIECE 65536u
#define PACE_MS 20
#define NR_EXIT 60u
#define NR_EXIT_GROUP 231u

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

struct thread {
	struct trace_call call;
};

struct session {
	const struct opts *opts;
	struct live live;
	struct reach reach;
	struct planner planner;
	struct control_rows *rows;
	uint32_t enter, exit, data;	/* ids */
	struct map threads;		/* struct thread by tid */
	const char *list;		/* of calls; NULL: all */
	bool counts_only, relative, spent;
	int clock;			/* how often -t */
	uint32_t limit;
	int sort;
	int fd;
	int32_t first;			/* the one thread so far */
	bool several;
	uint64_t last;			/* time of the line before */
	int64_t offset;			/* from our clock to the time of day */
	uint64_t lost;
	struct trace_counts *counts;
	struct buf out;
};

/* ---- Lines ---- */

static int flush(struct session *session)
{
	size_t at = 0;

	while (at < session->out.len) {
		ssize_t n = write(session->fd, session->out.data + at, session->out.len - at);

		if (n < 0 && errno != EINTR)
			return err_set(&session->live.err, -errno, "cannot write: %s", strerror(errno));
		at += n > 0 ? (size_t)n : 0;
	}
	buf_reset(&session->out);
	return 0;
}

static void put_clock(struct session *session, uint64_t ts)
{
	uint64_t now = ts + (uint64_t)session->offset;
	time_t seconds = (time_t)(now / 1000000000);
	struct tm tm;

	if (session->relative) {
		uint64_t since = session->last && ts > session->last ? ts - session->last : 0;

		buf_printf(&session->out, "%6" PRIu64 ".%06" PRIu64 " ", since / 1000000000, since % 1000000000 / 1000);
	}
	session->last = ts;
	if (!session->clock || !localtime_r(&seconds, &tm))
		return;
	buf_printf(&session->out, "%02d:%02d:%02d", tm.tm_hour, tm.tm_min, tm.tm_sec);
	if (session->clock > 1)
		buf_printf(&session->out, ".%06u", (unsigned int)(now % 1000000000 / 1000));
	buf_putc(&session->out, ' ');
}

/* Whose it is, as soon as there are several. */
static void put_begin(struct session *session, int32_t tid, uint64_t ts)
{
	if (session->first && session->first != tid)
		session->several = true;
	session->first = session->first ? session->first : tid;
	if (session->several)
		buf_printf(&session->out, "[pid %5d] ", tid);
	put_clock(session, ts);
}

/* Results stand below each other. */
static void put_equals(struct buf *out, size_t from)
{
	while (out->len - from < 39)
		buf_putc(out, ' ');
	buf_puts(out, " = ");
}

static void put_line(struct session *session, int32_t tid, const struct trace_call *call, uint64_t end)
{
	const uint64_t ns = end - call->ts;
	size_t from;

	put_begin(session, tid, call->ts);
	from = session->out.len;
	trace_put_call(&session->out, call, session->limit);
	put_equals(&session->out, from);
	trace_put_result(&session->out, call);
	if (session->spent)
		buf_printf(&session->out, " <%" PRIu64 ".%06" PRIu64 ">", ns / 1000000000, ns % 1000000000 / 1000);
	buf_putc(&session->out, '\n');
}

/* One that does not return. */
static void put_last(struct session *session, int32_t tid, const struct trace_call *call)
{
	size_t from;

	put_begin(session, tid, call->ts);
	from = session->out.len;
	trace_put_call(&session->out, call, session->limit);
	put_equals(&session->out, from);
	buf_puts(&session->out, "?\n");
	if (call->number != NR_EXIT_GROUP)
		return;
	put_begin(session, tid, call->ts);
	buf_printf(&session->out, "+++ exited with %u +++\n", (unsigned int)call->args[0] & 0xff);
}

/* ---- Records ---- */

static void forget(struct thread *thread)
{
	for (uint32_t i = 0; i < CALLS_ARGS; i++)
		free(thread->call.data[i]);
	thread->call = (struct trace_call){ 0 };
}

static bool is_meant(const struct session *session, uint64_t number)
{
	return !session->list || trace_list_has(session->list, number);
}

static int take_enter(struct session *session, int32_t tid, const uint64_t *words, uint64_t ts)
{
	struct thread *thread = map_get(&session->threads, &tid, sizeof(tid), sizeof(*thread));

	if (!thread)
		return -ENOMEM;
	forget(thread);
	thread->call.number = words[0];
	memcpy(thread->call.args, words + 1, sizeof(thread->call.args));
	thread->call.ts = ts;
	thread->call.running = true;
	if (words[0] == NR_EXIT || words[0] == NR_EXIT_GROUP) {
		if (!session->counts_only && is_meant(session, words[0]))
			put_last(session, tid, &thread->call);
		map_remove(&session->threads, &tid, sizeof(tid));
	}
	return 0;
}

static int take_data(struct session *session, int32_t tid, const struct record_call_data *record, uint32_t len)
{
	struct thread *thread = map_find(&session->threads, &tid, sizeof(tid));
	const uint32_t at = record->data & 0xffff, n = record->data >> 16;
	struct trace_data **to;

	if (!thread || !thread->call.running || record->arg < 0 || record->arg >= (int32_t)CALLS_ARGS ||
	    thread->call.number != (uint64_t)record->number || at > len || n > len - at || n > CALLS_DATA_MAX)
		return 0;
	to = &thread->call.data[record->arg];
	if (!*to)
		*to = calloc(1, sizeof(**to));
	if (!*to)
		return -ENOMEM;
	(*to)->size = record->size;
	(*to)->len = n;
	memcpy((*to)->bytes, (const char *)record + at, n);
	return 0;
}

static void take_exit(struct session *session, int32_t tid, const uint64_t *words, uint64_t ts)
{
	struct thread *thread = map_find(&session->threads, &tid, sizeof(tid));
	bool known = thread && thread->call.running && thread->call.number == words[0];

	/* Of a call that began before we came, or in another program; of a new thread the call that made it. */
	if (session->counts_only && is_meant(session, words[0]) && (known || words[0] == 59))
		trace_count_add(session->counts, words[0], (int64_t)words[1], known && ts > thread->call.ts ? ts - thread->call.ts : 0);
	if (!known)
		return;
	thread->call.result = (int64_t)words[1];
	if (!session->counts_only && is_meant(session, words[0]))
		put_line(session, tid, &thread->call, ts);
	forget(thread);
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
		if (!r && session->out.len >= PIECE)
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

static bool is_over(struct session *session)
{
	struct live *live = &session->live;

	if (live->argv && !live->ended)
		live->ended = launch_poll(&live->launch, &live->status) != 0;
	return live->ended || interrupt_end() || is_gone(session);
}

static int watch(struct session *session)
{
	struct stream_sleep how = { .percent = 10, .timeout_ms = PACE_MS, .also = interrupt_word() };
	int r = 0;

	while (r >= 0) {
		bool over;

		how.seen = __atomic_load_n(interrupt_word(), __ATOMIC_ACQUIRE);
		over = is_over(session);
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
static int put_rest(struct session *session)
{
	const struct map_entry **all;
	const int status = session->live.status;

	if (map_list(&session->threads, &all))
		return err_set(&session->live.err, -ENOMEM, "out of memory");
	for (size_t i = 0; i < session->threads.nr; i++) {
		const struct thread *thread = all[i]->value;
		int32_t tid;

		memcpy(&tid, all[i]->key, sizeof(tid));
		if (thread->call.running && is_meant(session, thread->call.number))
			put_last(session, tid, &thread->call);
	}
	free(all);
	if (session->live.ended && WIFSIGNALED(status)) {
		put_begin(session, session->live.launch.pid, session->last);
		buf_puts(&session->out, "+++ killed by ");
		trace_put_signal(&session->out, (uint64_t)WTERMSIG(status));
		buf_puts(&session->out, " +++\n");
	}
	return 0;
}

static int end(struct session *session)
{
	int r = 0;

	if (session->counts_only)
		trace_count_put(&session->out, session->counts, (enum trace_sort)session->sort);
	else
		r = put_rest(session);
	return r ? r : flush(session);
}

/* ---- All of it ---- */

static int ask(struct session *session, const struct opts *opts)
{
	const char *list = opts_value(opts, "expr"), *sort = opts_value(opts, "sort"), *size = opts_value(opts, "size"), *wrong;
	char *rest;
	size_t len;

	session->counts_only = opts_value(opts, "count");
	session->relative = opts_value(opts, "relative");
	session->spent = opts_value(opts, "spent");
	for (int i = 0; i < opts->nitems; i++)
		session->clock += opts->items[i].opt && opts->items[i].opt->letter == 't';
	session->sort = sort ? trace_sort_find(sort) : TRACE_BY_TIME;
	if (session->sort < 0)
		return cmd_misuse(&cmd_trace, "trace: -S '%s': by time, calls, errors or name", sort);
	session->limit = size ? (uint32_t)strtoul(size, &rest, 10) : BYTES_SHOWN;
	if (size && (*rest || !*size || session->limit > BYTES_MAX))
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
	session->offset = (int64_t)(day.tv_sec - mono.tv_sec) * 1000000000 + (day.tv_nsec - mono.tv_nsec);
	session->fd = path ? open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666) : STDERR_FILENO;
	return session->fd < 0 ? err_set(&session->live.err, -errno, "%s: %s", path, strerror(errno)) : 0;
}

static void forget_all(struct session *session)
{
	const struct map_entry **all;

	if (!map_list(&session->threads, &all)) {
		for (size_t i = 0; i < session->threads.nr; i++)
			forget(all[i]->value);
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
		.opts = opts, .reach = REACH_NONE, .threads = MAP_INIT, .fd = -1, .out = BUF_INIT, .live = { .err = ERR_INIT },
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
	buf_fini(&session.out);
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
