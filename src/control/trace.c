/*
 * control/trace: the tree's files that show or take what was recorded.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "capture/stream.h"
#include "control/buffer.h"
#include "control/clock.h"
#include "control/node.h"
#include "control/rows.h"
#include "report/trace.h"

/* Text is handed on in pieces of about this size. */
#define PIECE 65536

static void put_header(struct node_request *request, const struct stream_stats *stats)
{
	long online = sysconf(_SC_NPROCESSORS_ONLN);
	struct report_trace_head head = {
		.tracer = "nop",
		.entries = stats->entries,
		.written = stats->entries + stats->overrun,
		.cpus = online > 0 ? (unsigned int)online : 1,
	};

	report_trace_header(&request->out, &head);
}

/* Lines that stand before a record: gaps, and where a CPU's older records were overwritten. */
static void put_gap(struct node_request *request, const struct control_row *row, bool overrun,
		    uint64_t n)
{
	if (row->lost && !row->first)
		report_trace_lost(&request->out, row->row.cpu, row->lost);
	if (row->first && overrun && n > 1)
		report_trace_started(&request->out, row->row.cpu);
}

static int show(struct node_request *request, int cpu, struct err *err)
{
	struct control_rows_how how = { .buffer = request->buffer, .cpu = cpu };
	struct control_rows *rows;
	struct control_row row;
	uint64_t n = 0;
	int r;

	r = control_rows_open(&rows, request->control, &how, err);
	if (r)
		return r;
	put_header(request, control_rows_stats(rows));
	while (!r && (r = control_rows_next(rows, &row, err)) == 1) {
		put_gap(request, &row, control_rows_stats(rows)->overrun != 0, n++);
		report_trace_line(&request->out, &row.row, control_rows_ctx(rows), 0);
		r = request->out.len >= PIECE ? node_flush(request) : 0;
	}
	control_rows_close(rows);
	return r;
}

int node_trace_read(struct node_request *request, struct err *err)
{
	return show(request, -1, err);
}

int node_cpu_trace_read(struct node_request *request, struct err *err)
{
	return show(request, (int)request->cpu, err);
}

/* What is written does not matter, and without `>` it does nothing at all. */
int node_trace_write(struct node_request *request, struct err *err)
{
	struct control *control = request->control;
	int r;

	if (!request->trunc)
		return 0;
	r = control_begin(control, err);
	if (r)
		return r;
	r = control_buffer_clear(control, node_buffer(request), err);
	return control_end(control, r, err);
}

/* A consumer's rings are locked first; after that the state must still be the same (rows.c). */
static int open_consumer(struct node_request *request, struct stream **stream, struct err *err)
{
	struct control *control = request->control;
	int r;

	r = stream_open(stream, control->dir.fd[SEGMENT_RINGS], node_buffer(request),
			control->dir.ncpu, request->cpu, true, err);
	if (r)
		return r;
	for (int i = 0; !r && i < 100; i++) {
		if (control_state_current(&control->state, &control->dir))
			return 0;
		r = control_refresh(control, err);
		if (!r)
			r = stream_update(*stream, node_buffer(request), err);
	}
	stream_close(*stream);
	return r ? r : err_set(err, -EBUSY, "the buffer changes too often to be read");
}

/*
 * Consumes the pages of a CPU, until all that was there at the beginning is read: more may come all
 * the time. Each page is handed on before it counts as read.
 */
static int drain(struct node_request *request, bool keep, struct err *err)
{
	struct stream_stats stats = { 0 };
	struct stream_page info;
	struct stream *stream;
	uint64_t taken = 0;
	uint32_t size;
	char *page;
	int r;

	r = open_consumer(request, &stream, err);
	if (r)
		return r;
	size = stream_page_size(stream);
	page = aligned_alloc(64, (size + 63u) & ~63u);
	r = page ? stream_stats(stream, &stats) : -ENOMEM;
	while (!r && taken < stats.entries && (r = stream_next(stream, page, &info)) == 1) {
		taken += info.events;
		if (keep)
			buf_add(&request->out, page, size);
		r = buf_failed(&request->out) ? -ENOMEM : node_flush(request);
		if (!r)
			stream_accept(stream);
	}
	/* What it passed by on the way counts, too: see rows.c. */
	if (!r)
		stream_accept(stream);
	free(page);
	stream_close(stream);
	return r ? err_set(err, r, "cannot be read: %s", strerror(-r)) : 0;
}

int node_pipe_raw_read(struct node_request *request, struct err *err)
{
	return drain(request, true, err);
}

/* One CPU alone is emptied by reading it. */
int node_cpu_trace_write(struct node_request *request, struct err *err)
{
	int r;

	if (!request->trunc)
		return 0;
	r = control_refresh(request->control, err);
	return r ? r : drain(request, false, err);
}

static void put_time(struct node_request *request, const char *what, uint64_t ns)
{
	uint64_t us = ns / 1000 + (ns % 1000 >= 500);

	buf_printf(&request->out, "%s: %5" PRIu64 ".%06" PRIu64 "\n", what, us / 1000000,
		   us % 1000000);
}

int node_stats_read(struct node_request *request, struct err *err)
{
	struct control *control = request->control;
	const struct state_buffer *buffer = node_buffer(request);
	struct stream_stats stats;
	struct stream *stream;
	int r;

	r = stream_open(&stream, control->dir.fd[SEGMENT_RINGS], buffer, control->dir.ncpu,
			request->cpu, false, err);
	if (r)
		return r;
	r = stream_stats(stream, &stats);
	stream_close(stream);
	if (r)
		return err_set(err, r, "cannot be read: %s", strerror(-r));
	buf_printf(&request->out, "entries: %" PRIu64 "\n", stats.entries);
	buf_printf(&request->out, "overrun: %" PRIu64 "\n", stats.overrun);
	buf_puts(&request->out, "commit overrun: 0\n");
	buf_printf(&request->out, "bytes: %" PRIu64 "\n", stats.bytes);
	put_time(request, "oldest event ts", stats.oldest_ts);
	put_time(request, "now ts", control_clock_now(&buffer->live.clock));
	buf_printf(&request->out, "dropped events: %" PRIu64 "\n", stats.dropped);
	buf_printf(&request->out, "read events: %" PRIu64 "\n", stats.read);
	return 0;
}
