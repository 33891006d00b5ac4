/*
 * cmd/latency: the time from one event to another, for everyday.
 *
 *	START: hist:keys=FIELD:ts0=common_timestamp
 *	END:   hist:keys=FIELD2:lat=common_timestamp-$ts0,key=0+FIELD2:onmatch(START).trace(SYNTH,$lat,$key)
 *	       hist:keys=common_cpu		all of them, for those that met no start are in none of the others
 *	       (where FIELD is a text, or nobody knows yet what it is, key=FIELD2.string)
 *	SYNTH: hist:keys=lat.log2:vals=lat,lat.quantiles:m=lat:onmax($m).save(key,common_pid)
 *
 * All of it hangs in an instance of our own. The synthetic event is of the whole directory: it has the instance's name in its
 * own, and whoever comes later removes those whose instance is gone. That instance also records the synthetic event, from
 * some time on only those that are as long as the longest so far: these are the worst ones that are listed.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/latency_show.h"
#include "cmd/live.h"
#include "decode/format.h"

#define SYNTH_PREFIX "ringside_"
#define LINES 5

static const struct opt latency_opts[] = {
	{ 0, "on", "FIELD[=FIELD2]", "what START and END have in common; FIELD2 is END's name for it" },
	{ 0, "if-start", "FILTER", "only starts for which this holds" },
	{ 0, "if-end", "FILTER", "only ends for which this holds" },
	{ 0, "size", "KEYS", "how many starts can wait for their ends at once (at least 4096)" },
	LIVE_OPTS,
	{ 0, NULL, NULL, NULL },
};

struct latency {
	struct live live;
	const struct opts *opts;
	char system[2][64], event[2][64];
	char keys[2][256];
	char synth[64];
	char title[640];
	bool known;		/* both events */
	bool is_text;		/* the key */
	bool is_signed;
	bool hung;
	uint64_t floor;		/* what is shorter is not recorded */
	struct latency_sums sums;
};

/* ---- Setting up ---- */

/* FIELD[=FIELD2],... -> the keys of both. */
static int split_keys(struct latency *l, const char *on)
{
	for (const char *at = on; *at; at += strcspn(at, ","), at += *at == ',') {
		size_t len = strcspn(at, ","), left = strcspn(at, "=,");
		const char *right = left < len ? at + left + 1 : at;
		size_t right_len = left < len ? len - left - 1 : len;

		if (!left || !right_len || strlen(l->keys[0]) + left + 2 > sizeof(l->keys[0]) ||
		    strlen(l->keys[1]) + right_len + 2 > sizeof(l->keys[1]))
			return err_set(&l->live.err, -EINVAL, "--on %s: FIELD or FIELD=FIELD2 is needed", on);
		for (int i = 0; i < 2; i++) {
			char *to = l->keys[i] + strlen(l->keys[i]);

			sprintf(to, "%s%.*s", to > l->keys[i] ? "," : "", (int)(i ? right_len : left), i ? right : at);
		}
	}
	return *l->keys[0] ? 0 : err_set(&l->live.err, -EINVAL, "--on: FIELD or FIELD=FIELD2 is needed");
}

/* The first of END's keys is the one that is shown: what is it? Of an event that is still to come, a text. */
static int look_at_key(struct latency *l)
{
	const struct decode_format *format;
	const struct decode_field *field;
	struct control_items *items = NULL;
	char name[64];
	int r = control_refresh(l->live.control, &l->live.err);

	if (!r)
		r = control_items_open(&items, l->live.control, &l->live.err);
	if (r)
		return r;
	snprintf(name, sizeof(name), "%.*s", (int)strcspn(l->keys[1], ",."), l->keys[1]);
	format = control_items_format(items, l->system[1], l->event[1]);
	field = format ? decode_format_find(format, name) : NULL;
	l->known = live_knows(&l->live, l->system[0], l->event[0]) && live_knows(&l->live, l->system[1], l->event[1]);
	l->is_text = !l->known || (field && field->is_array && field->is_string);
	l->is_signed = field && field->is_signed;
	control_items_close(items);
	return 0;
}

static void name_synth(struct latency *l)
{
	snprintf(l->synth, sizeof(l->synth), SYNTH_PREFIX "%.40s", l->live.instance);
	for (char *p = l->synth; *p; p++)
		if (*p == '-')
			*p = '_';
}

static const char *value_or(const struct opts *opts, const char *word, const char *otherwise)
{
	const char *value = opts_value(opts, word);

	return value ? value : otherwise;
}

static int hang(struct latency *l)
{
	const char *if_start = opts_value(l->opts, "if-start"), *if_end = opts_value(l->opts, "if-end");
	const char *size = value_or(l->opts, "size", "2048");
	struct buf text[LINES] = { BUF_INIT, BUF_INIT, BUF_INIT, BUF_INIT, BUF_INIT };
	struct control_line lines[LINES];
	char path[256];
	int r;

	buf_printf(&text[0], "%s u64 lat; %s", l->synth, l->is_text ? "char key[]" : "u64 key");
	buf_puts(&text[1], "hist:keys=");
	live_put_keys(&text[1], l->keys[0], l->known);
	buf_printf(&text[1], ":ts0=common_timestamp:size=%s%s%s", size, if_start ? " if " : "", if_start ? if_start : "");
	buf_puts(&text[2], "hist:keys=");
	live_put_keys(&text[2], l->keys[1], l->known);
	buf_printf(&text[2], ":lat=common_timestamp-$ts0,key=%s%.*s%s", l->is_text ? "" : "0+", (int)strcspn(l->keys[1], ",."),
		   l->keys[1], l->is_text ? ".string" : "");
	buf_printf(&text[2], ":onmatch(%s.%s).trace(%s,$lat,$key)%s%s", l->system[0], l->event[0], l->synth, if_end ? " if " : "",
		   if_end ? if_end : "");
	buf_printf(&text[3], "hist:keys=common_cpu:size=4096%s%s", if_end ? " if " : "", if_end ? if_end : "");
	buf_puts(&text[4], "hist:keys=lat.log2:vals=lat,lat.quantiles:m=lat:size=128:onmax($m).save(key,common_pid)");
	lines[0] = (struct control_line){ NULL, NULL, text[0].data };
	lines[1] = (struct control_line){ l->system[0], l->event[0], text[1].data };
	lines[2] = (struct control_line){ l->system[1], l->event[1], text[2].data };
	lines[3] = (struct control_line){ l->system[1], l->event[1], text[3].data };
	lines[4] = (struct control_line){ "synthetic", l->synth, text[4].data };
	r = 0;
	for (int i = 0; i < LINES; i++)
		if (buf_failed(&text[i]))
			r = err_set(&l->live.err, -ENOMEM, "out of memory");
	for (int i = 0; i < LINES; i++) {
		if (!r) {
			r = control_hang(l->live.control, l->live.instance, &lines[i], 1, &l->live.err);
			if (r)
				err_prefix(&l->live.err, "%s%s%s: %s: ", lines[i].system ? lines[i].system : "",
					   lines[i].system ? ":" : "", lines[i].system ? lines[i].event : "synthetic_events",
					   lines[i].text);
			l->hung |= !r;
		}
	}
	for (int i = 0; i < LINES; i++)
		buf_fini(&text[i]);
	snprintf(path, sizeof(path), "instances/%s/events/synthetic/%s/enable", l->live.instance, l->synth);
	return r ? r : source_write(l->live.source, path, "1", 1, false, &l->live.err);
}

/* Synthetic events of those that were killed. */
static void sweep(struct latency *l)
{
	struct buf list = BUF_INIT;
	char path[256], *save = NULL;

	if (!source_read(l->live.source, "synthetic_events", &list, NULL) && list.data)
		for (char *line = strtok_r(list.data, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
			line[strcspn(line, " \t")] = '\0';
			if (strncmp(line, SYNTH_PREFIX "latency_", strlen(SYNTH_PREFIX "latency_")) || strlen(line) > 60)
				continue;
			snprintf(path, sizeof(path), "instances/%s", line + strlen(SYNTH_PREFIX));
			for (char *p = path + strlen("instances/"); *p; p++)
				*p = *p == '_' ? '-' : *p;
			if (source_exists(l->live.source, path))
				continue;
			snprintf(path, sizeof(path), "!%s", line);
			source_write(l->live.source, "synthetic_events", path, strlen(path), true, NULL);
		}
	buf_fini(&list);
}

/* ---- Looking ---- */

/* "   NAME-PID   [001] .....   12.345678: SYNTH: lat=123 key=5" */
static void read_line(struct latency *l, char *line)
{
	struct latency_one one = { .ns = 0 };
	char mark[80], *at, *cpu = NULL, *time, *key;

	snprintf(mark, sizeof(mark), ": %s: lat=", l->synth);
	at = strstr(line, mark);
	if (!at)
		return;
	*at = '\0';
	one.ns = strtoull(at + strlen(mark), &key, 10);
	for (char *p = line; (p = strstr(p, " [")); p++)
		cpu = p;
	time = strrchr(line, ' ');
	key = strstr(key, "key=");
	if (!cpu || !time || !key)
		return;
	key += 4;
	snprintf(one.time, sizeof(one.time), "%.31s", time + 1);
	while (cpu > line && cpu[-1] == ' ')
		cpu--;
	*cpu = '\0';
	snprintf(one.task, sizeof(one.task), "%.47s", line + strspn(line, " "));
	if (l->is_text)
		snprintf(one.key, sizeof(one.key), "%.63s", key);
	else if (l->is_signed)
		snprintf(one.key, sizeof(one.key), "%" PRId64, (int64_t)strtoull(key, NULL, 10));
	else
		snprintf(one.key, sizeof(one.key), "%" PRIu64, (uint64_t)strtoull(key, NULL, 10));
	latency_add(&l->sums, &one);
}

/* What is shorter than the shortest of the worst need not be recorded any more. */
static void raise_floor(struct latency *l)
{
	uint64_t least = l->sums.worst[LATENCY_WORST - 1].ns;
	char path[256], text[64];

	if (least <= l->floor)
		return;
	snprintf(path, sizeof(path), "instances/%s/events/synthetic/%s/filter", l->live.instance, l->synth);
	snprintf(text, sizeof(text), "lat > %" PRIu64, least);
	if (!source_write(l->live.source, path, text, strlen(text), false, NULL))
		l->floor = least;
}

static int tick(struct live *live)
{
	struct latency *l = live->arg;
	struct buf text = BUF_INIT;
	char path[256], *save = NULL;
	int r;

	snprintf(path, sizeof(path), "instances/%s/trace_pipe", live->instance);
	r = source_read(live->source, path, &text, &live->err);
	for (char *line = !r && text.data ? strtok_r(text.data, "\n", &save) : NULL; line; line = strtok_r(NULL, "\n", &save))
		read_line(l, line);
	buf_fini(&text);
	if (!r)
		raise_floor(l);
	return r;
}

/* The largest of each power of two was saved with it, also when its record was overwritten. */
static void take_saved(struct latency *l, const struct control_look *look, const struct hist_row *row)
{
	const struct hist_names *names = &look->asking.ask;
	struct latency_one one = { .ns = 0 };
	int32_t pid;

	if (look->rows.shape.ntracks < 1 || look->rows.shape.nsaves < 2 || !row->tracks->is_set)
		return;
	one.ns = row->tracks->value;
	if (one.ns > l->sums.max)
		l->sums.max = one.ns;
	pid = (int32_t)row->saves[1].number;
	if (l->is_text)
		snprintf(one.key, sizeof(one.key), "%.55s", row->saves[0].text);
	else if (l->is_signed)
		snprintf(one.key, sizeof(one.key), "%" PRId64, (int64_t)row->saves[0].number);
	else
		snprintf(one.key, sizeof(one.key), "%" PRIu64, row->saves[0].number);
	snprintf(one.task, sizeof(one.task), "%.16s-%d", names->comm(names->arg, pid) ? names->comm(names->arg, pid) : "<...>",
		 pid);
	latency_add(&l->sums, &one);
}

static int look_at_times(struct latency *l)
{
	struct live *live = &l->live;
	struct control_look look;
	int r = control_look_open(&look, live->control, live->instance, "synthetic", l->synth, 0, &live->err);

	if (r)
		return r;
	l->sums.matched = look.rows.hits + look.rows.drops;
	l->sums.total = 0;
	memset(l->sums.spread, 0, sizeof(l->sums.spread));
	for (uint32_t i = 0; i < look.rows.nrows; i++) {
		const struct hist_row *row = &look.rows.rows[i];
		const uint64_t *spread = hist_spread(row, look.hist, 1);

		l->sums.total += hist_value(row, look.hist, 0);
		for (uint32_t n = 0; spread && n < TABLE_SPREAD; n++)
			l->sums.spread[n] += spread[n];
		take_saved(l, &look, row);
	}
	control_look_close(&look);
	return 0;
}

static int look_at_ends(struct latency *l)
{
	struct live *live = &l->live;
	struct control_look look;
	int r = control_look_open(&look, live->control, live->instance, l->system[0], l->event[0], 0, &live->err);

	if (r)
		return r;
	l->sums.starts = look.rows.hits + look.rows.drops;
	l->sums.waiting = look.waiting;
	l->sums.evicted = look.evicted;
	control_look_close(&look);
	r = control_look_open(&look, live->control, live->instance, l->system[1], l->event[1], 1, &live->err);
	if (r)
		return r;
	l->sums.ends = look.rows.hits + look.rows.drops;
	control_look_close(&look);
	return 0;
}

static int draw(struct live *live, uint32_t width, uint32_t height, struct buf *out)
{
	struct latency *l = live->arg;
	int r = look_at_times(l);

	if (!r)
		r = look_at_ends(l);
	if (!r)
		latency_show(&l->sums, width, height, out);
	return r;
}

/* ---- All of it ---- */

static void take_down(struct latency *l)
{
	struct err err = ERR_INIT;
	char text[80];

	/* With the instance its histograms go; nobody else can have found the event by then. */
	live_close_instance(&l->live);
	snprintf(text, sizeof(text), "!%s", l->synth);
	if (l->hung && source_write(l->live.source, "synthetic_events", text, strlen(text), true, &err))
		cmd_say("the synthetic event %s stays: %s", l->synth, err.text);
}

static int begin(struct latency *l)
{
	struct live *live = &l->live;
	int r = live_open(live, l->opts, "latency", NULL);

	for (int i = 0; !r && i < 2; i++)
		r = live_event(live, opts_arg(l->opts, i), l->system[i], l->event[i]);
	if (!r && !strcmp(l->system[0], l->system[1]) && !strcmp(l->event[0], l->event[1]))
		r = err_set(&live->err, -EINVAL, "START and END are the same event: every one would be its own start");
	if (r)
		return r;
	sweep(l);
	name_synth(l);
	snprintf(l->title, sizeof(l->title), "%s:%s -> %s:%s by %s", l->system[0], l->event[0], l->system[1], l->event[1],
		 l->keys[0]);
	l->sums.title = l->title;
	l->sums.key = l->keys[1];
	r = look_at_key(l);
	return r ? r : hang(l);
}

static int run(const struct opts *opts)
{
	struct latency *l = calloc(1, sizeof(*l));
	struct err err = ERR_INIT;
	const char *on = opts_value(opts, "on");
	int status, r;

	if (!l) {
		err_set(&err, -ENOMEM, "out of memory");
		return cmd_fail(&err);
	}
	l->opts = opts;
	l->live = (struct live){ .err = ERR_INIT, .draw = draw, .tick = tick, .arg = l };
	if (!on)
		status = cmd_misuse(&cmd_latency, "latency: --on FIELD is needed: what START and END have in common");
	else if (split_keys(l, on))
		status = cmd_misuse(&cmd_latency, "latency: %s", l->live.err.text);
	else
		status = live_ask(&l->live, &cmd_latency, opts, 2);
	if (status) {
		free(l->live.argv);
		free(l);
		return status;
	}
	r = begin(l);
	status = r ? cmd_fail(&l->live.err) : live_run(&l->live);
	if (l->live.source)
		take_down(l);
	live_close(&l->live);
	free(l);
	return status;
}

const struct cmd cmd_latency = {
	.name = "latency",
	.synopsis = "START END --on FIELD[=FIELD2] [--if-start FILTER] [--if-end FILTER] [--for TIME]\n"
		    "                [-- COMMAND [ARGUMENT]...]",
	.summary = "show how long it takes from one event to another",
	.text = "From an event START to the next END with the same FIELD, in whatever threads and\n"
		"programs they happen: a histogram of the times, p50, p90, p99, p99.9, the longest, and\n"
		"the worst ten with their task and moment. Redrawn on a terminal until Ctrl-C; with a\n"
		"command, or elsewhere, printed once at the end. Nothing stays behind.\n",
	.opts = latency_opts,
	.arg = "SYSTEM[:EVENT]",
	.args_min = 2,
	.args_max = -1,
	.run = run,
};
