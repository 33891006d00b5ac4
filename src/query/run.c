/*
 * query/run: see run.h. One thread; the host of hook.h is here.
 */
#include "query/run.h"

#include <endian.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "hist/show.h"
#include "query/ready.h"
#include "replay/replay.h"
#include "report/trace.h"
#include "symbol/symbol.h"

#define PUT_BYTES 65536

struct run {
	const struct query_ask *ask;
	struct ready ready;
	struct replay *replay;
	const struct replay_record *rec;	/* under way */
	int32_t pid;
	struct buf out;
	struct decode_ctx ctx;
	unsigned int look;	/* REPORT_* */
	int stopped;		/* what put() said */
	void *stages[2 * HOOK_DEPTH_MAX + 2];	/* free ones */
	int nstages;
};

/* ---- Names ---- */

static const char *comm_of(const struct run *run, int32_t pid)
{
	const char *comm = run->rec ? replay_comm(run->rec, pid) : NULL;

	if (!pid)
		return "<idle>";
	if (!comm)
		comm = dat_comm(run->ask->dat, pid);
	return comm ? comm : "<...>";
}

static const char *ctx_comm(void *arg, int pid)
{
	return comm_of(arg, pid);
}

static const char *shown_comm(void *arg, int32_t pid)
{
	return comm_of(arg, pid);
}

static bool shown_symbol(void *arg, uint64_t address, bool offset, struct buf *out)
{
	const struct run *run = arg;
	struct decode_symbol symbol;

	if (!dat_symbol(run->ask->dat, 0, address, &symbol) || symbol_is_unknown(symbol.name))
		return false;
	decode_symbol_text(&symbol, offset, out);
	return true;
}

/* ---- What hooks ask of their host ---- */

static void run_hooks(struct run *run, uint32_t id, const void *record, uint32_t len, uint32_t depth);

static uint64_t host_now(const struct hook_host *host, uint64_t buffer)
{
	const struct run *run = host->arg;

	(void)buffer;
	return run->rec->ts;
}

static const char *host_comm(const struct hook_host *host)
{
	const struct run *run = host->arg;

	return comm_of(run, run->pid);
}

/* A stack was recorded behind the event, if at all. */
static uint32_t host_stack(const struct hook_host *host, uint64_t *addresses, uint32_t max)
{
	const struct run *run = host->arg;
	const struct decode_format *format;
	const struct decode_field *caller;
	struct replay_record next;
	uint32_t n = 0, word, at;

	if (!replay_peek(run->rec, &next) || next.lane != run->rec->lane)
		return 0;
	format = dat_format(run->ask->dat, next.id);
	caller = format && strstr(format->name, "_stack") ? decode_format_find(format, "caller") : NULL;
	if (!caller)
		return 0;
	word = caller->elem_size;
	for (at = caller->offset; n < max && (word == 8 || word == 4) && at + word <= next.len; at += word) {
		uint64_t address = decode_abi_load(next.data + at, word, format->abi.big_endian);

		if (!address || address == (word == 8 ? UINT64_MAX : UINT32_MAX))
			break;
		addresses[n++] = address;
	}
	return n;
}

/* A synthetic event: for the histograms on it, and for people if there is none. */
static void host_emit(const struct hook_host *host, uint32_t event, void *record, uint32_t len)
{
	struct run *run = host->arg;
	const struct ready_item *item = query_ready_synth(&run->ready, event);
	struct record_head head = { .type = (uint16_t)event, .pid = run->pid };
	struct report_row row = { .ts = run->rec->ts, .cpu = host->cpu, .data = record, .len = len };

	if (!item || len < sizeof(head))
		return;
	memcpy(record, &head, sizeof(head));
	if (!item->wanted) {
		row.format = item->format;
		report_trace_line(&run->out, &row, &run->ctx, run->look);
	} else if (host->depth < HOOK_DEPTH_MAX) {
		run_hooks(run, event, record, len, host->depth + 1);
	}
}

static void *host_stage(const struct hook_host *host)
{
	struct run *run = host->arg;

	return run->nstages ? run->stages[--run->nstages] : malloc(HOOK_STAGE_SIZE);
}

static void host_unstage(const struct hook_host *host, void *stage)
{
	struct run *run = host->arg;

	if (run->nstages < (int)(sizeof(run->stages) / sizeof(run->stages[0])))
		run->stages[run->nstages++] = stage;
	else
		free(stage);
}

static void host_write_stack(const struct hook_host *host, uint64_t buffer)
{
	(void)host;
	(void)buffer;
}

static bool host_snapshot(const struct hook_host *host, uint64_t buffer)
{
	(void)host;
	(void)buffer;
	return false;
}

static uint32_t host_peek(void *to, uint64_t address, uint32_t len, bool text)
{
	(void)to;
	(void)address;
	(void)len;
	(void)text;
	return 0;
}

static void host_lose(const struct hook_host *host, uint32_t event)
{
	(void)host;
	(void)event;
}

static const struct hook_calls calls = {
	.now = host_now, .comm = host_comm, .stack = host_stack, .emit = host_emit, .stage = host_stage,
	.unstage = host_unstage, .write_stack = host_write_stack, .snapshot = host_snapshot, .peek = host_peek,
	.lose = host_lose,
};

static void run_hooks(struct run *run, uint32_t id, const void *record, uint32_t len, uint32_t depth)
{
	struct ready *ready = &run->ready;
	struct hook_host host = {
		.calls = &calls, .code = { (unsigned char *)ready->code.data, (uint32_t)ready->code.len },
		.fields = ready->room.fields, .room = ready->room.fields_max, .links = ready->room.links,
		.links_max = ready->room.links_max, .tables = ready->tables, .words = ready->words,
		.cpu = run->rec->lane->cpu, .pid = run->pid, .depth = depth, .arg = run,
	};

	for (uint32_t at = id < 65536 ? ready->first[id] : 0; at; at = ready->bounds[at - 1].next) {
		hook_before(&host, &ready->bounds[at - 1], record, len);
		hook_after(&host, &ready->bounds[at - 1], record, len);
	}
}

/* ---- The walk ---- */

static int flush(struct run *run, size_t from)
{
	if (buf_failed(&run->out))
		return -ENOMEM;
	if (run->out.len > from && !run->stopped)
		run->stopped = run->ask->put(run->ask->arg, run->out.data, run->out.len);
	if (run->out.len > from)
		buf_reset(&run->out);
	return run->stopped;
}

static bool is_wanted(void *arg, const struct dat_buffer *buffer, int cpu)
{
	const struct query_ask *ask = arg;

	(void)cpu;
	return !strcmp(buffer->name, ask->buffer ? ask->buffer : "");
}

static int walk(struct run *run, struct err *err)
{
	const struct replay_times times = { .no_date = true };
	struct record_head head;
	struct replay_record rec;
	int r = replay_new(&run->replay);

	if (r)
		return err_set(err, r, "%s", strerror(-r));
	r = replay_add(run->replay, run->ask->dat, &times, is_wanted, (void *)run->ask, err);
	if (r)
		return r;
	if (replay_times_are_ticks(run->ask->dat, &times))
		run->look |= REPORT_TICKS;
	while ((r = replay_next(run->replay, &rec, err)) > 0) {
		if (rec.id >= 65536 || !run->ready.first[rec.id] ||
		    !decode_record_head(&dat_info(run->ask->dat)->abi, rec.data, rec.len, &head))
			continue;
		run->rec = &rec;
		run->pid = head.pid;
		run_hooks(run, rec.id, rec.data, rec.len, 0);
		run->rec = NULL;
		r = flush(run, PUT_BYTES);
		if (r)
			return r;
	}
	return r;
}

/* ---- The answers ---- */

static int show_hist(struct run *run, const struct ready_item *item, struct err *err)
{
	const struct hist_names names = { .arg = run, .symbol = shown_symbol, .comm = shown_comm };
	const struct spec_hist *hist = item->trigger->hist;
	struct hook_key keys[HOOK_KEYS_MAX];
	struct table_shape shape;
	struct hist_rows rows;
	struct buf info = BUF_INIT;
	uint32_t hash_size;
	int r;

	lower_hist_shape(hist, 1, &shape);
	lower_hist_keys(hist, keys, &hash_size);
	r = hist_rows_read(&rows, run->ready.tables.base + item->item.table, &shape, hash_size);
	if (r)
		return err_set(err, r, "%s", strerror(-r));
	spec_trigger_show(item->trigger, 0, false, &info);
	hist_sort(&rows, hist);
	hist_show(&rows, hist, info.data ? info.data : "", &names, &run->out);
	buf_fini(&info);
	hist_rows_fini(&rows);
	return flush(run, 0);
}

static int show_all(struct run *run, struct err *err)
{
	bool tracks = run->ask->options->max || run->ask->options->change;
	uint32_t shown = 0;
	int r = 0;

	for (size_t i = 0; i < run->ready.nitems && !r; i++) {
		const struct ready_item *item = &run->ready.items[i];

		if (item->line->what != SQL_ANSWER && !(tracks && item->line->what == SQL_SECOND))
			continue;
		if (shown++)
			buf_puts(&run->out, "\n\n");
		r = show_hist(run, item, err);
	}
	return r;
}

static int check(const struct query_ask *ask, struct err *err)
{
	size_t i = 0;

	if (ask->options->snapshot)
		return err_set(err, -EOPNOTSUPP, "a file has no snapshots to take");
	if (dat_info(ask->dat)->abi.big_endian != (__BYTE_ORDER == __BIG_ENDIAN))
		return err_set(err, -EOPNOTSUPP, "%s was recorded on a machine of another byte order", dat_info(ask->dat)->path);
	for (const struct dat_buffer *buffer; (buffer = dat_buffer(ask->dat, i)); i++)
		if (!strcmp(buffer->name, ask->buffer ? ask->buffer : ""))
			return 0;
	return err_set(err, -ENOENT, "%s has no buffer '%s'", dat_info(ask->dat)->path, ask->buffer ? ask->buffer : "");
}

int query_run(const struct query_ask *ask, struct err *err)
{
	struct run *run = calloc(1, sizeof(*run));
	int r = run ? check(ask, err) : err_set(err, -ENOMEM, "out of memory");

	if (run) {
		run->ask = ask;
		run->ctx = (struct decode_ctx){ .arg = run, .comm = ctx_comm };
		if (!r)
			r = query_ready(&run->ready, ask, err);
		if (!r)
			r = walk(run, err);
		if (!r)
			r = flush(run, 0);
		if (!r)
			r = show_all(run, err);
		query_ready_fini(&run->ready);
		replay_free(run->replay);
		buf_fini(&run->out);
		while (run->nstages)
			free(run->stages[--run->nstages]);
	}
	free(run);
	return r;
}
