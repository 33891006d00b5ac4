/*
 * cmd/stream_lines: see stream_lines.h. One thread.
 */
#include "cmd/stream_lines.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/map.h"
#include "cmd/line.h"
#include "control/rows.h"
#include "decode/args.h"
#include "decode/page.h"
#include "report/graph.h"

#define PIECE 65536
#define PACE_MS 100
/* Of a hundred pages of a CPU: those who fill them so fast are read sooner. */
#define MUCH 25
/* Rows between two questions whether it is over. */
#define ROWS 256
#define COMMS 1024	/* a power of two */

struct source_buffer {
	struct stream_lines *lines;
	struct control_rows *rows;
	const char *title;
	struct control_row row;		/* the next one, if it has one */
	bool has_row;
	struct buf held;		/* the bytes of the one that is printed, while the next one is looked at */
	struct decode_ctx ctx;		/* its arg is this */
	const struct decode_ctx *names;	/* of the rows */
	struct decode_carry **carries;	/* by CPU, made when needed */
	uint64_t *lost;			/* by CPU: that are not ours to tell, or were told */
	bool lost_more;
};

struct comm_slot {
	int pid;
	uint64_t turn;		/* it was looked up in; 0: never */
	const char *comm;
};

struct stream_lines {
	struct control *control;
	struct pager *pager;
	struct line_look look;
	struct source_buffer *buffers;
	struct control_rows **rows;	/* of the buffers */
	size_t n;
	size_t prefix;
	struct line_entry *entries[EVENT_ID_END];
	struct tracecmd_memory columns;
	struct decode_memo memo;
	struct map names;		/* all that were ever printed: columns tell them by their place */
	struct comm_slot comms[COMMS];
	uint64_t turn;
	uint64_t lost, unknown;
	struct buf out;
};

int stream_lines_open(struct stream_lines **out, struct control *control, struct pager *pager, size_t max,
		      struct err *err)
{
	struct stream_lines *lines = calloc(1, sizeof(*lines));
	int r = -ENOMEM;

	if (lines) {
		lines->control = control;
		lines->pager = pager;
		lines->look.columns = TRACECMD_FLAGS;
		lines->look.decode = DECODE_TEP | (isatty(STDOUT_FILENO) ? DECODE_ESCAPE : 0);
		lines->buffers = calloc(max, sizeof(*lines->buffers));
		lines->rows = calloc(max, sizeof(struct control_rows *));
		r = lines->buffers && lines->rows ? decode_plugins_new(&lines->look.plugins, 0) : -ENOMEM;
	}
	if (r) {
		stream_lines_close(lines);
		return err_set(err, r, "out of memory");
	}
	*out = lines;
	return 0;
}

static void buffer_fini(struct source_buffer *buffer, uint32_t ncpu)
{
	for (uint32_t i = 0; buffer->carries && i < ncpu; i++)
		decode_carry_free(buffer->carries[i]);
	free(buffer->carries);
	free(buffer->lost);
	buf_fini(&buffer->held);
	control_rows_close(buffer->rows);
}

void stream_lines_close(struct stream_lines *lines)
{
	if (!lines)
		return;
	for (size_t i = 0; i < lines->n; i++)
		buffer_fini(&lines->buffers[i], lines->control->dir.ncpu);
	for (size_t i = 0; i < EVENT_ID_END; i++)
		free(lines->entries[i]);
	decode_plugins_free(lines->look.plugins);
	map_fini(&lines->names);
	buf_fini(&lines->out);
	free(lines->buffers);
	free(lines->rows);
	free(lines);
}

/* Everything so far goes out. The pager has the words if it does not. */
static int flush(void *ctx)
{
	struct stream_lines *lines = ctx;
	int r;

	if (buf_failed(&lines->out))
		return err_set(lines->pager->err, -ENOMEM, "out of memory");
	r = lines->out.len ? pager_put(lines->pager, lines->out.data, lines->out.len) : 0;
	buf_reset(&lines->out);
	return r;
}

/* A thread is asked once in a turn; its name stays where it is for good. */
static const char *find_comm(void *arg, int pid)
{
	struct source_buffer *buffer = arg;
	struct stream_lines *lines = buffer->lines;
	struct comm_slot *slot = &lines->comms[(unsigned int)pid & (COMMS - 1)];
	const char *comm;
	char *kept;

	if (slot->turn == lines->turn && slot->pid == pid)
		return slot->comm;
	comm = control_rows_comm(buffer->rows, pid);
	kept = comm ? map_get(&lines->names, comm, strlen(comm), strlen(comm) + 1) : NULL;
	if (kept)
		memcpy(kept, comm, strlen(comm) + 1);
	*slot = (struct comm_slot){ pid, lines->turn, kept };
	return kept;
}

static bool find_printk(void *arg, uint64_t addr, struct decode_printk *out)
{
	const struct decode_ctx *names = ((struct source_buffer *)arg)->names;

	return names->printk && names->printk(names->arg, addr, out);
}

static bool find_symbol(void *arg, int pid, uint64_t addr, struct decode_symbol *out)
{
	const struct decode_ctx *names = ((struct source_buffer *)arg)->names;

	return names->symbol && names->symbol(names->arg, pid, addr, out);
}

static const char *find_prototype(void *arg, uint64_t func)
{
	return decode_prototype(((struct source_buffer *)arg)->names, func);
}

/* What is kept beside the rows. */
static int buffer_init(struct stream_lines *lines, struct source_buffer *buffer, const char *title)
{
	uint32_t ncpu = lines->control->dir.ncpu;

	buffer->lines = lines;
	buffer->title = title;
	buffer->names = control_rows_ctx(buffer->rows);
	buffer->ctx = (struct decode_ctx){ .arg = buffer, .memo = &lines->memo, .comm = find_comm,
					   .printk = find_printk, .symbol = find_symbol, .prototype = find_prototype };
	buffer->carries = calloc(ncpu, sizeof(struct decode_carry *));
	buffer->lost = calloc(ncpu, sizeof(*buffer->lost));
	if (!buffer->carries || !buffer->lost)
		return -ENOMEM;
	for (uint32_t cpu = 0; cpu < ncpu; cpu++)
		buffer->lost[cpu] = control_rows_lost(buffer->rows, cpu);
	return 0;
}

int stream_lines_add(struct stream_lines *lines, const char *instance, const char *title, struct err *err)
{
	struct source_buffer *buffer = &lines->buffers[lines->n];
	struct control *control = lines->control;
	struct control_rows_how how = { .cpu = -1, .consume = true, .settle = flush, .ctx = lines };
	int index, r = control_refresh(control, err);

	if (r)
		return r;
	index = control_state_buffer(&control->state, instance ? instance : "");
	if (index < 0)
		return err_set(err, -ENODEV, "%s: the instance is gone", instance);
	how.buffer = (uint32_t)index;
	r = control_rows_open(&buffer->rows, control, &how, err);
	if (r)
		return r;
	lines->rows[lines->n++] = buffer->rows;
	if (strlen(title) > lines->prefix)
		lines->prefix = strlen(title);
	return buffer_init(lines, buffer, title) ? err_set(err, -ENOMEM, "out of memory") : 0;
}

/* What is known of the row's event. NULL: nothing, or no memory is left. */
static const struct line_entry *find_entry(struct stream_lines *lines, const struct decode_format *format)
{
	if (!format || format->id >= EVENT_ID_END)
		return NULL;
	/* All buffers' events are the directory's. */
	if (!lines->entries[format->id])
		lines->entries[format->id] = line_entry_new(&lines->look, format);
	return lines->entries[format->id];
}

static struct decode_carry *find_carry(struct source_buffer *buffer, const struct line_entry *entry, int cpu)
{
	if (!entry->carries)
		return NULL;
	if (!buffer->carries[cpu])
		buffer->carries[cpu] = decode_carry_new();
	return buffer->carries[cpu];
}

static void put_lost(struct stream_lines *lines, struct source_buffer *buffer, int cpu, uint64_t lost)
{
	tracecmd_lost(&lines->out, cpu, lost);
	if (lost == PAGE_LOST_UNKNOWN) {
		lines->unknown++;
		buffer->lost_more = true;
		return;
	}
	lines->lost += lost;
	buffer->lost[cpu] += lost;
}

/* The row that comes next, which is still to be printed: what was lost before it is said in between. */
static bool next_row(void *arg, struct decode_moment *out)
{
	struct source_buffer *buffer = arg;
	const struct report_row *row = &buffer->row.row;

	if (!buffer->has_row || !row->format || buffer->row.lost)
		return false;
	*out = (struct decode_moment){ .format = row->format, .rec = row->data, .len = row->len, .ts = row->ts, .cpu = row->cpu };
	return true;
}

static void take_row(void *arg)
{
	((struct source_buffer *)arg)->has_row = false;
}

/* The end of a call may stand in the line of its beginning: that waits for a look at the next row, by which its own bytes go. */
static int look_ahead(struct source_buffer *buffer, struct control_row *one, struct decode_moment *m, struct err *err)
{
	int r;

	if (!report_graph_is_entry(&one->row))
		return 0;
	buf_reset(&buffer->held);
	buf_add(&buffer->held, one->row.data, one->row.len);
	if (buf_failed(&buffer->held))
		return err_set(err, -ENOMEM, "out of memory");
	one->row.data = buffer->held.data;
	m->next = next_row;
	m->take = take_row;
	m->arg = buffer;
	r = control_rows_next(buffer->rows, &buffer->row, err);
	buffer->has_row = r == 1;
	return r < 0 ? r : 0;
}

static int put_row(struct stream_lines *lines, struct source_buffer *buffer, struct err *err)
{
	static const struct decode_abi native = DECODE_ABI_NATIVE;
	struct decode_moment m = { .ctx = &buffer->ctx };
	struct control_row one = buffer->row;
	const struct report_row *row = &one.row;
	const struct line_entry *entry = find_entry(lines, row->format);
	struct record_head head = { 0 };
	int r = look_ahead(buffer, &one, &m, err);

	if (r)
		return r;
	m.rec = row->data;
	m.len = row->len;
	m.ts = row->ts;
	m.cpu = row->cpu;
	if (lines->prefix)
		line_prefix(&lines->out, lines->prefix, buffer->title);
	if (one.lost)
		put_lost(lines, buffer, row->cpu, one.lost);
	if (!entry) {
		decode_record_head(&native, row->data, row->len, &head);
		line_unknown(&lines->look, &native, &m, head.type, &lines->columns, &lines->out);
		return 0;
	}
	m.format = entry->format;
	m.carry = find_carry(buffer, entry, row->cpu);
	buffer->ctx.flags = entry->flags;
	line_columns(&lines->look, entry, &m, !control_rows_is_ns(buffer->rows), NULL, &lines->columns,
		     &lines->out);
	line_info(entry, &m, &lines->out);
	line_end(&lines->out);
	return 0;
}

/* The next row of each buffer; as with CPUs, one that had none may get an older one than another that is asked later. */
static int fill(struct stream_lines *lines, struct err *err)
{
	bool fresh = true;

	while (fresh) {
		fresh = false;
		for (size_t i = 0; i < lines->n; i++) {
			struct source_buffer *buffer = &lines->buffers[i];
			int r = buffer->has_row ? 0 : control_rows_next(buffer->rows, &buffer->row, err);

			if (r < 0)
				return r;
			buffer->has_row |= r == 1;
			fresh |= r == 1 && lines->n > 1;
		}
	}
	return 0;
}

int stream_lines_take(struct stream_lines *lines, bool (*over)(void *arg), void *arg, struct err *err)
{
	uint64_t n = 0;
	int r;

	lines->turn++;
	while (!(r = fill(lines, err))) {
		struct source_buffer *first = NULL;

		for (size_t i = 0; i < lines->n; i++)
			if (lines->buffers[i].has_row && (!first || lines->buffers[i].row.row.ts < first->row.row.ts))
				first = &lines->buffers[i];
		if (!first)
			break;
		first->has_row = false;
		r = put_row(lines, first, err);
		if (r)
			break;
		if (lines->out.len >= PIECE && (r = flush(lines)))
			break;
		if (!(++n % ROWS) && over && over(arg))
			break;
	}
	if (!r)
		r = flush(lines);
	return r ? r : n > 0;
}

int stream_lines_sleep(struct stream_lines *lines, bool paced, const uint32_t *also, uint32_t seen, struct err *err)
{
	struct stream_sleep how = { .percent = paced ? MUCH : 0, .timeout_ms = paced ? PACE_MS : -1, .also = also,
				    .seen = seen };

	return control_rows_sleep(lines->rows, lines->n, &how, err);
}

int stream_lines_end(struct stream_lines *lines, bool quiet)
{
	int r;

	for (size_t i = 0; i < lines->n; i++) {
		struct source_buffer *buffer = &lines->buffers[i];

		for (uint32_t cpu = 0; !buffer->lost_more && cpu < lines->control->dir.ncpu; cpu++) {
			uint64_t lost = control_rows_lost(buffer->rows, cpu);

			if (lost <= buffer->lost[cpu])
				continue;
			if (lines->prefix)
				line_prefix(&lines->out, lines->prefix, buffer->title);
			put_lost(lines, buffer, (int)cpu, lost - buffer->lost[cpu]);
		}
	}
	r = flush(lines);
	if (!quiet)
		line_tell_lost(lines->lost, lines->unknown);
	return r;
}
