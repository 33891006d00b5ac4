/*
 * control/remotes: see remotes.h. Files of remotes/NAME/, each with the kernel's text and rules; the remote itself is remote/.
 *
 *   tracing_on buffer_size_kb trace trace_pipe clock           [write_event]
 *   per_cpu/cpuN/{trace,trace_pipe}
 *   events/{enable,header_page,header_event}  events/NAME/EVENT/{enable,id,format}
 *
 * Each access opens the remote anew; one that shows or takes events keeps it for as long as it is open.
 */
#include "control/remotes.h"

#include <errno.h>
#include <inttypes.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "decode/print.h"
#include "layout/page.h"
#include "remote/clock.h"

/* Nobody tells that something came: it is looked at so often, as the kernel does. */
#define WAIT_MS 100
#define NAP_MS 5
#define MATCH_NS 100000000ull

/* Does `act` with the request's remote. */
typedef int remote_act(struct node_request *request, struct remote *remote, struct err *err);
typedef int remote_opener(struct remote **remote, int dir, const char *name, struct err *err);
static int with_remote(struct node_request *request, remote_opener *open, remote_act *act, struct err *err)
{
	struct remote *remote;
	int r = open(&remote, request->control->dir.dir, request->part[0], err);

	if (!r)
		r = act(request, remote, err);
	remote_close(remote);
	return r;
}

#define REMOTE_FILE_(name, open)                                                                   \
	static int name##_node(struct node_request *request, struct err *err)                      \
	{                                                                                          \
		return with_remote(request, open, name, err);                                      \
	}
#define REMOTE_FILE(name) REMOTE_FILE_(name, remote_open)
/* That tell what an event is called. */
#define REMOTE_TEXT_FILE(name) REMOTE_FILE_(name, remote_open_blind)

/* ---- switches ---- */

static int on_read(struct node_request *request, struct remote *remote, struct err *err)
{
	bool on;
	int r = remote_tracing_on(remote, &on, err);

	buf_printf(&request->out, "%d\n", on);
	return r;
}
REMOTE_FILE(on_read)

static int on_write(struct node_request *request, struct remote *remote, struct err *err)
{
	uint64_t value;
	int r = node_number(request, &value, err);

	return r ? r : remote_enable_tracing(remote, value, err);
}
REMOTE_FILE(on_write)

static int size_read(struct node_request *request, struct remote *remote, struct err *err)
{
	uint64_t kb;
	bool loaded;
	int r = remote_size(remote, &kb, &loaded, err);

	if (!r)
		buf_printf(&request->out, "%" PRIu64 " (%s)\n", kb, loaded ? "loaded" : "unloaded");
	return r;
}
REMOTE_FILE(size_read)

static int size_write(struct node_request *request, struct remote *remote, struct err *err)
{
	uint64_t value;
	int r = node_number(request, &value, err);

	return r == -ERANGE ? -EINVAL : r ? r : remote_set_size(remote, value, err);
}
REMOTE_FILE(size_write)

static int trace_write(struct node_request *request, struct remote *remote, struct err *err)
{
	return remote_reset(remote, request->one_cpu ? (int)request->cpu : -1, err);
}
REMOTE_FILE(trace_write)

static int event_write(struct node_request *request, struct remote *remote, struct err *err)
{
	uint64_t value;
	int r = node_number(request, &value, err), cpu = sched_getcpu();

	return r ? r : remote_write_test(remote, cpu < 0 ? 0 : (uint32_t)cpu, value, err);
}
REMOTE_FILE(event_write)

/* What the target's clock is, and how well it was matched to the host's in the time that a person waits. */
static int clock_read(struct node_request *request, struct remote *remote, struct err *err)
{
	const struct remote_target *target;
	struct err why = ERR_INIT;
	struct remote_clock clock;

	target = remote_target(remote, &why);
	if (!target && why.code != -ENODEV)
		return err_set(err, why.code, "%s", why.text);
	if (!target) {
		buf_puts(&request->out, "(unloaded)\n");
		return 0;
	}
	remote_clock_init(&clock);
	remote_clock_match(&clock, remote, MATCH_NS, false);
	remote_clock_describe(&clock, remote_clock_error(&clock), target, &request->out);
	buf_putc(&request->out, '\n');
	return 0;
}
REMOTE_FILE(clock_read)

/* ---- events ---- */

static int enable_read(struct node_request *request, struct remote *remote, struct err *err)
{
	const struct remote_texts *texts = remote_texts(remote);
	uint32_t some = 0, all = 0;

	for (uint32_t i = 0; i < texts->nr; i++) {
		bool on;
		int r;

		if (*request->part[1] && strcmp(texts->events[i].name, request->part[1]))
			continue;
		r = remote_event_is_on(remote, texts->events[i].id, &on, err);
		if (r)
			return r;
		some += on;
		all++;
	}
	buf_printf(&request->out, "%c\n", !all ? '?' : !some ? '0' : some == all ? '1' : 'X');
	return 0;
}
REMOTE_FILE(enable_read)

static int enable_write(struct node_request *request, struct remote *remote, struct err *err)
{
	const struct remote_texts *texts = remote_texts(remote);
	bool on;
	int r = node_switch(request, &on, err);

	if (!r && !texts->nr)
		r = err_set(err, -EINVAL, "nothing is known of its events: it was added without --elf, or with one that has none");
	for (uint32_t i = 0; !r && i < texts->nr; i++)
		if (!*request->part[1] || !strcmp(texts->events[i].name, request->part[1]))
			r = remote_enable_event(remote, texts->events[i].id, on, err);
	return r;
}
REMOTE_FILE(enable_write)

static int id_read(struct node_request *request, struct remote *remote, struct err *err)
{
	const struct remote_event *event = remote_texts_name(remote_texts(remote), request->part[1]);

	if (!event)
		return err_set(err, -ENODEV, "the event is gone");
	buf_printf(&request->out, "%u\n", event->id);
	return 0;
}
REMOTE_TEXT_FILE(id_read)

static int format_read(struct node_request *request, struct remote *remote, struct err *err)
{
	const struct remote_event *event = remote_texts_name(remote_texts(remote), request->part[1]);

	if (!event)
		return err_set(err, -ENODEV, "the event is gone");
	remote_texts_format(event, event->id, 0, &request->out);
	return 0;
}
REMOTE_TEXT_FILE(format_read)

/* Of pages as the target lays them out. */
static int page_read(struct node_request *request, struct remote *remote, struct err *err)
{
	const struct remote_target *target = remote_target(remote, NULL);
	uint32_t size = remote_abi(remote)->long_size, page = target ? target->page_size : PAGE_SIZE_MIN;

	(void)err;
	buf_printf(&request->out,
		   "\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n"
		   "\tfield: local_t commit;\toffset:8;\tsize:%" PRIu32 ";\tsigned:1;\n"
		   "\tfield: int overwrite;\toffset:8;\tsize:1;\tsigned:1;\n"
		   "\tfield: char data;\toffset:%" PRIu32 ";\tsize:%" PRIu32 ";\tsigned:0;\n", size, 8 + size, page - 8 - size);
	return 0;
}
REMOTE_FILE(page_read)

/* ---- what was recorded ---- */

struct show {
	struct remote *remote;
	struct remote_reader *reader;
};

static void put_row(struct buf *out, const struct remote *remote, const struct remote_row *row)
{
	const struct remote_target *target = remote_target(remote, NULL);
	const struct decode_abi *abi = remote_abi(remote);
	const struct remote_event *event;
	uint64_t ns = target ? remote_ns(target, row->ts) : row->ts;
	uint32_t id = row->len >= 2 ? (uint32_t)decode_abi_load(row->data, 2, abi->big_endian) : 0;

	if (row->restarted)
		buf_printf(out, "CPU:%" PRIu32 " [TARGET RESTARTED]\n", row->cpu);
	if (row->lost)
		buf_printf(out, "CPU:%" PRIu32 " [LOST %" PRIu64 " EVENTS]\n", row->cpu, row->lost);
	buf_printf(out, "[%03" PRIu32 "]\t%5" PRIu64 ".%06" PRIu64 ": ", row->cpu, ns / 1000000000u, ns % 1000000000u / 1000);
	event = remote_texts_id(remote_texts(remote), id);
	if (event) {
		buf_printf(out, "%s ", event->name);
		decode_print(event->format, row->data, row->len, NULL, out);
	} else {
		buf_printf(out, "UNKNOWN id=%" PRIu32, id);
	}
	buf_putc(out, '\n');
}

static int show_open(struct node_request *request, void **flow, bool consume, struct err *err)
{
	struct remote_how how = { .cpu = request->one_cpu ? (int)request->cpu : -1, .consume = consume,
				  .once = !consume || request->once };
	struct show *show = calloc(1, sizeof(*show));
	int r;

	if (!show)
		return err_set(err, -ENOMEM, "out of memory");
	r = remote_open(&show->remote, request->control->dir.dir, request->part[0], err);
	if (!r)
		r = remote_reader_open(&show->reader, show->remote, &how, err);
	if (r) {
		remote_close(show->remote);
		free(show);
		return r;
	}
	*flow = show;
	return 0;
}

static int trace_open(struct node_request *request, void **flow, struct err *err)
{
	return show_open(request, flow, false, err);
}

static int pipe_open(struct node_request *request, void **flow, struct err *err)
{
	return show_open(request, flow, true, err);
}

/* About as much as is asked for: 1, 0 when there is nothing, -errno. */
static int put_rows(struct node_request *request, struct show *show, size_t want, struct err *err)
{
	size_t start = request->out.len;
	struct err own = ERR_INIT;
	struct remote_row row;
	int r = 1;

	while (request->out.len - start < want && (r = remote_reader_next(show->reader, &row, &own)) == 1)
		put_row(&request->out, show->remote, &row);
	if (request->out.len > start) {
		/* What is wrong comes with the next look, which finds it again. */
		r = remote_reader_accept(show->reader, err);
		return r ? r : 1;
	}
	return r < 0 ? err_set(err, r, "%s", own.text) : 0;
}

static int trace_more(struct node_request *request, void *flow, size_t want, struct err *err)
{
	return put_rows(request, flow, want, err);
}

static int pipe_more(struct node_request *request, void *flow, size_t want, struct err *err)
{
	int r = put_rows(request, flow, want, err);

	return r ? r : -EAGAIN;
}

static void show_close(struct node_request *request, void *flow)
{
	struct show *show = flow;

	(void)request;
	remote_reader_close(show->reader);
	remote_close(show->remote);
	free(show);
}

static bool pipe_ready(struct node_request *request, void *flow)
{
	struct show *show = flow;

	(void)request;
	return remote_reader_ready(show->reader);
}

static int pipe_wait(struct node_request *request, void *flow, int timeout_ms, struct err *err)
{
	int left = timeout_ms < 0 || timeout_ms > WAIT_MS ? WAIT_MS : timeout_ms;

	(void)err;
	while (!pipe_ready(request, flow)) {
		if (left <= 0)
			return 0;
		if (usleep(NAP_MS * 1000))
			return -EINTR;
		left -= NAP_MS;
	}
	return 1;
}

static const struct node_flow trace_flow = { trace_open, trace_more, show_close, NULL, NULL, NULL, NULL };
static const struct node_flow pipe_flow = { pipe_open, pipe_more, show_close, pipe_wait, pipe_ready, NULL, NULL };

/* ---- where they are ---- */

static const struct node plain[] = {
	{ "buffer_size_kb", size_read_node, size_write_node, NULL, NODE_QUIET, NULL },
	{ "clock", clock_read_node, NULL, NULL, NODE_QUIET, NULL },
	{ "trace", NULL, trace_write_node, &trace_flow, NODE_QUIET | NODE_AT_OPEN, NULL },
	{ "trace_pipe", NULL, NULL, &pipe_flow, NODE_QUIET, NULL },
	{ "tracing_on", on_read_node, on_write_node, NULL, NODE_QUIET, NULL },
	{ NULL, NULL, NULL, NULL, 0, NULL },
}, only_test[] = {
	{ "write_event", NULL, event_write_node, NULL, NODE_QUIET, NULL },
	{ NULL, NULL, NULL, NULL, 0, NULL },
}, of_cpu[] = {
	{ "trace", NULL, trace_write_node, &trace_flow, NODE_QUIET | NODE_AT_OPEN, NULL },
	{ "trace_pipe", NULL, NULL, &pipe_flow, NODE_QUIET, NULL },
	{ NULL, NULL, NULL, NULL, 0, NULL },
}, of_events[] = {
	{ "enable", enable_read_node, enable_write_node, NULL, NODE_QUIET, NULL },
	{ "header_event", node_header_event_read, NULL, NULL, NODE_QUIET, NULL },
	{ "header_page", page_read_node, NULL, NULL, NODE_QUIET, NULL },
	{ NULL, NULL, NULL, NULL, 0, NULL },
}, of_event[] = {
	{ "enable", enable_read_node, enable_write_node, NULL, NODE_QUIET, NULL },
	{ "format", format_read_node, NULL, NULL, NODE_QUIET, NULL },
	{ "id", id_read_node, NULL, NULL, NODE_QUIET, NULL },
	{ NULL, NULL, NULL, NULL, 0, NULL },
};

static int pick(const struct node *table, const char *name, const struct node **found)
{
	for (; table->path; table++) {
		if (strcmp(table->path, name))
			continue;
		*found = table;
		return 0;
	}
	return -ENOENT;
}

/* per_cpu: a CPU that the remote has, or any that is asked for by number, which its files then say it has not. */
static int find_cpu(struct node_request *request, const char *const parts[], int n, const struct node **found)
{
	char again[16];
	unsigned int cpu;

	if (!n)
		return -EISDIR;
	if (sscanf(parts[0], "cpu%9u", &cpu) != 1 || snprintf(again, sizeof(again), "cpu%u", cpu) < 0 || strcmp(again, parts[0]))
		return -ENOENT;
	request->cpu = cpu;
	request->one_cpu = true;
	return n == 1 ? -EISDIR : n == 2 ? pick(of_cpu, parts[1], found) : -ENOENT;
}

static int find_event(struct node_request *request, struct remote *remote, const char *const parts[], int n, const struct node **found)
{
	if (!n)
		return -EISDIR;
	if (n == 1 && !pick(of_events, parts[0], found))
		return 0;
	if (strcmp(parts[0], remote_name(remote)) || !remote_texts(remote)->nr)
		return -ENOENT;
	if (n == 1)
		return -EISDIR;
	if (!remote_texts_name(remote_texts(remote), parts[1]))
		return -ENOENT;
	snprintf(request->part[1], sizeof(request->part[1]), "%s", parts[1]);
	return n == 2 ? -EISDIR : n == 3 ? pick(of_event, parts[2], found) : -ENOENT;
}

int control_remotes_find(struct node_request *request, const char *const parts[], int n, const struct node **found, struct err *err)
{
	struct remote *remote = NULL;
	int r;

	memset(request->part, 0, sizeof(request->part));
	request->one_cpu = false;
	if (n == 1)
		return -EISDIR;
	request->fleeting = true;
	if (strlen(parts[1]) >= sizeof(request->part[0]))
		return -ENOENT;
	strcpy(request->part[0], parts[1]);
	if (n == 2)
		return remote_exists(request->control->dir.dir, parts[1]) ? -EISDIR : -ENOENT;
	if (n > 3 && !strcmp(parts[2], "events"))
		r = remote_open_blind(&remote, request->control->dir.dir, parts[1], err);
	else
		r = remote_exists(request->control->dir.dir, parts[1]) ? 0 : -ENOENT;
	if (r)
		return r;
	if (!strcmp(parts[2], "per_cpu"))
		r = find_cpu(request, parts + 3, n - 3, found);
	else if (!strcmp(parts[2], "events"))
		r = find_event(request, remote, parts + 3, n - 3, found);
	else if (n == 3 && !strcmp(parts[1], REMOTE_TEST) && !pick(only_test, parts[2], found))
		r = 0;
	else
		r = n == 3 ? pick(plain, parts[2], found) : -ENOENT;
	remote_close(remote);
	return r;
}

static void put_table(const struct node *table, control_remotes_put *put, void *ctx)
{
	for (; table->path; table++)
		put(ctx, table->path, false);
}

static int list_names(struct node_request *request, control_remotes_put *put, void *ctx, struct err *err)
{
	struct buf names = BUF_INIT;
	char *save, *name;
	int r = remote_list(request->control->dir.dir, &names, err);

	for (name = r ? NULL : strtok_r(names.data, "\n", &save); name; name = strtok_r(NULL, "\n", &save))
		put(ctx, name, true);
	buf_fini(&names);
	return r;
}

static void list_events(struct remote *remote, int depth, control_remotes_put *put, void *ctx)
{
	const struct remote_texts *texts = remote_texts(remote);

	if (depth == 3)
		put_table(of_event, put, ctx);
	if (depth == 1) {
		put_table(of_events, put, ctx);
		if (texts->nr)
			put(ctx, remote_name(remote), true);
	}
	for (uint32_t i = 0; depth == 2 && i < texts->nr; i++)
		put(ctx, texts->events[i].name, true);
}

static void list_cpus(struct remote *remote, control_remotes_put *put, void *ctx)
{
	char name[16];

	for (uint32_t i = 0; i < remote_cpus(remote); i++) {
		snprintf(name, sizeof(name), "cpu%" PRIu32, remote_cpu(remote, i));
		put(ctx, name, true);
	}
}

int control_remotes_list(struct node_request *request, const char *const parts[], int n, control_remotes_put *put, void *ctx,
			 struct err *err)
{
	struct remote *remote;
	remote_opener *open;
	int r;

	if (n == 1)
		return list_names(request, put, ctx, err);
	/* Who lists keeps all others of a mount waiting. */
	open = n == 3 && !strcmp(parts[2], "per_cpu") ? remote_open_cpus : remote_open_blind;
	r = open(&remote, request->control->dir.dir, parts[1], err);
	if (r)
		return r;
	if (n == 2) {
		put_table(plain, put, ctx);
		if (!strcmp(parts[1], REMOTE_TEST))
			put_table(only_test, put, ctx);
		put(ctx, "per_cpu", true);
		put(ctx, "events", true);
	} else if (!strcmp(parts[2], "events")) {
		list_events(remote, n - 2, put, ctx);
	} else if (n == 3) {
		list_cpus(remote, put, ctx);
	} else {
		put_table(of_cpu, put, ctx);
	}
	remote_close(remote);
	return 0;
}
