/*
 * cmd/hist_live: see hist_live.h.
 *
 *	the options -> the line that `trigger` would get -> an instance of our own -> rows -> bars
 *
 * In an instance that somebody else has the trigger is taken away in the end; ours goes as a whole.
 */
#include "cmd/hist_live.h"

#include <errno.h>
#include <string.h>

#include "cmd/live.h"
#include "hist/bars.h"

struct counting {
	struct live live;
	char system[64], event[64];
	struct buf line;
	uint32_t number;	/* of the histogram among those of the event */
	bool hung;
};

/* More of a head than rows, on a small terminal. */
#define LINES_OTHER 4u

static int draw(struct live *live, uint32_t width, uint32_t height, struct buf *out)
{
	struct counting *counting = live->arg;
	struct control_look look;
	int r = control_look_open(&look, live->control, live->instance, counting->system, counting->event, counting->number,
				  &live->err);

	if (r)
		return r;
	if (height)
		buf_printf(out, "%.*s\n", (int)width, counting->line.data);
	hist_bars(&look.rows, look.hist, &look.asking.ask, width,
		  !height ? 0 : height > LINES_OTHER + 1 ? height - LINES_OTHER : 1, out);
	control_look_close(&look);
	return 0;
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

static int hang(struct counting *counting)
{
	struct control_line line = { counting->system, counting->event, counting->line.data };
	struct live *live = &counting->live;
	int r;

	counting->number = live->owned ? 0 : count_before(counting);
	r = control_hang(live->control, live->instance, &line, 1, &live->err);
	if (r)
		err_prefix(&live->err, "%s:%s: %s: ", counting->system, counting->event, counting->line.data);
	counting->hung = !r;
	return r;
}

/* The trigger, where the instance does not take it along. */
static void take_down(struct counting *counting)
{
	struct control_line line = { counting->system, counting->event, NULL };
	struct live *live = &counting->live;
	struct err err = ERR_INIT;
	struct buf text = BUF_INIT;

	buf_printf(&text, "!%s", counting->line.data);
	line.text = text.data;
	if (counting->hung && !live->owned && (buf_failed(&text) || control_hang(live->control, live->instance, &line, 1, &err)))
		cmd_say("the histogram of %s:%s stays in %s: %s", counting->system, counting->event, live->instance, err.text);
	buf_fini(&text);
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
