/*
 * cmd/hist_live: see hist_live.h.
 *
 *	the options -> the line that `trigger` would get -> an instance of our own -> rows -> bars
 *
 * In an instance that somebody else has the trigger is taken away in the end; ours goes as a whole. Of a tracing directory rows are
 * read as they lie in memory, of other trees, the kernel's above all, out of the text of `hist`.
 */
#include "cmd/hist_live.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "cmd/live.h"
#include "decode/format.h"
#include "hist/bars.h"

struct counting {
	struct live live;
	char system[64], event[64];
	struct buf line;
	uint32_t number;	/* of the histogram among those of the event */
	bool hung;
	struct decode_format *format;	/* in a tree of files; NULL: not known */
};

/* More of a head than rows, on a small terminal. */
#define LINES_OTHER 4u

static uint32_t rows_in(uint32_t height)
{
	return !height ? 0 : height > LINES_OTHER + 1 ? height - LINES_OTHER : 1;
}

static int draw_directory(struct counting *counting, uint32_t width, uint32_t height, struct buf *out)
{
	struct live *live = &counting->live;
	struct control_look look;
	int r = control_look_open(&look, live->control, live->instance, counting->system, counting->event, counting->number,
				  &live->err);

	if (r)
		return r;
	hist_bars(&look.rows, look.hist, &look.asking.ask, width, rows_in(height), out);
	control_look_close(&look);
	return 0;
}

static void path_of(const struct counting *counting, const char *file, char path[320])
{
	snprintf(path, 320, "instances/%s/events/%s/%s/%s", counting->live.instance, counting->system, counting->event, file);
}

static int read_hist(struct counting *counting, struct buf *text)
{
	char path[320];

	path_of(counting, "hist", path);
	return source_read(counting->live.source, path, text, &counting->live.err);
}

/* Numbers have a sign or not as the format says. */
static void learn_signs(const struct counting *counting, struct hist_text_name *names, unsigned int n)
{
	for (unsigned int i = 0; counting->format && i < n; i++) {
		const struct decode_field *field = decode_format_find(counting->format, names[i].text);

		names[i].is_signed = field && field->is_signed && !field->is_array;
	}
}

static int draw_files(struct counting *counting, uint32_t width, uint32_t height, struct buf *out)
{
	struct buf text = BUF_INIT;
	struct hist_text hist;
	int r = read_hist(counting, &text);

	if (!r) {
		r = hist_text_read(&hist, text.data ? text.data : "", counting->number);
		if (r) {
			err_set(&counting->live.err, r, "%s:%s: its histogram is gone, or cannot be read", counting->system,
				counting->event);
		} else {
			learn_signs(counting, hist.keys, hist.nkeys);
			learn_signs(counting, hist.values, hist.nvalues);
			hist_bars_text(&hist, width, rows_in(height), out);
		}
		hist_text_fini(&hist);
	}
	buf_fini(&text);
	return r;
}

static int draw(struct live *live, uint32_t width, uint32_t height, struct buf *out)
{
	struct counting *counting = live->arg;

	if (height)
		buf_printf(out, "%.*s\n", (int)width, counting->line.data);
	return live->control ? draw_directory(counting, width, height, out) : draw_files(counting, width, height, out);
}

/* The largest first, unless somebody says otherwise: what does not fit the screen is the rest. */
static void put_line(struct counting *counting, const struct opts *opts)
{
	static const char *const parts[][2] = { { "vals", ":vals=" }, { "size", ":size=" } };
	const char *value = opts_value(opts, "sort");
	struct buf *line = &counting->line;

	buf_puts(line, "hist:keys=");
	live_put_keys(line, opts_value(opts, "keys"), live_knows(&counting->live, counting->system, counting->event));
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
		if (opts_value(opts, parts[i][0]))
			buf_printf(line, "%s%s", parts[i][1], opts_value(opts, parts[i][0]));
	buf_printf(line, ":sort=%s", value ? value : "hitcount.descending");
	value = opts_value(opts, "if");
	if (value)
		buf_printf(line, " if %s", value);
}

/* How many the event has there already: ours comes behind them. */
static uint32_t count_before(struct counting *counting)
{
	struct control_look look;
	uint32_t n = 0;

	while (!control_look_open(&look, counting->live.control, counting->live.instance, counting->system, counting->event, n,
				  NULL)) {
		control_look_close(&look);
		n++;
	}
	return n;
}

static int write_trigger(struct counting *counting, const char *text, struct err *err)
{
	struct control_line line = { counting->system, counting->event, text };
	struct live *live = &counting->live;
	char path[320];

	if (live->control)
		return control_hang(live->control, live->instance, &line, 1, err);
	path_of(counting, "trigger", path);
	return source_write(live->source, path, text, strlen(text), true, err);
}

/* What only our own histograms have a kernel need not be asked for. */
static int check_line(struct counting *counting)
{
	static const char *const ours[] = { ".quantiles", ".string" };
	struct live *live = &counting->live;

	for (size_t i = 0; i < sizeof(ours) / sizeof(ours[0]); i++)
		if (source_is_kernel(live->source) && strstr(counting->line.data, ours[i]))
			return err_set(&live->err, -EOPNOTSUPP, "%s is for events of programs: a kernel has .log2 and .buckets=N", ours[i]);
	return 0;
}

/* How it is printed; and whether the tree has histograms at all. */
static int look_at_event(struct counting *counting)
{
	struct live *live = &counting->live;
	struct buf text = BUF_INIT;
	char path[320];
	int r = read_hist(counting, &text);

	for (const char *at = r ? NULL : text.data; at && (at = strstr(at, "# event histogram\n")); at++)
		counting->number++;
	buf_reset(&text);
	path_of(counting, "format", path);
	if (!r && !source_read(live->source, path, &text, NULL) && text.data)
		decode_format_parse(counting->system, text.data, text.len, NULL, &counting->format, NULL);
	buf_fini(&text);
	return r ? r : check_line(counting);
}

static int hang(struct counting *counting)
{
	struct live *live = &counting->live;
	int r = 0;

	if (live->control)
		counting->number = live->owned ? 0 : count_before(counting);
	else
		r = look_at_event(counting);
	if (r)
		return r;
	r = write_trigger(counting, counting->line.data, &live->err);
	if (r && live->control)
		err_prefix(&live->err, "%s:%s: %s: ", counting->system, counting->event, counting->line.data);
	counting->hung = !r;
	return r;
}

/* The trigger, where the instance does not take it along. */
static void take_down(struct counting *counting)
{
	struct live *live = &counting->live;
	struct err err = ERR_INIT;
	struct buf text = BUF_INIT;

	buf_printf(&text, "!%s", counting->line.data);
	if (counting->hung && !live->owned && (buf_failed(&text) || write_trigger(counting, text.data, &err)))
		cmd_say("the histogram of %s:%s stays in %s: %s", counting->system, counting->event, live->instance, err.text);
	buf_fini(&text);
	decode_format_free(counting->format);
}

int hist_live_run(const struct cmd *cmd, const struct opts *opts)
{
	struct counting counting = { .live = { .err = ERR_INIT, .draw = draw }, .line = BUF_INIT };
	struct live *live = &counting.live;
	int status, r;

	live->arg = &counting;
	status = live_ask(live, cmd, opts, 1);
	if (status)
		return status;
	r = live_open(live, opts, "hist", opts_value(opts, "instance"));
	if (!r)
		r = live_event(live, opts_arg(opts, 0), counting.system, counting.event);
	if (!r) {
		put_line(&counting, opts);
		r = buf_failed(&counting.line) ? err_set(&live->err, -ENOMEM, "out of memory") : hang(&counting);
	}
	status = r ? cmd_fail(&live->err) : live_run(live);
	take_down(&counting);
	live_close(live);
	buf_fini(&counting.line);
	return status;
}
