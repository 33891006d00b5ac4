/*
 * cmd/latency: the time from one event to another, for everyday.
 *
 *	START: hist:keys=FIELD:ts0=common_timestamp
 *	END:   hist:keys=FIELD2:lat=common_timestamp-$ts0,key=0+FIELD2:onmatch(START).trace(SYNTH,$lat,$key)
 *	       hist:keys=common_cpu		all of them, for those that met no start are in none of the others
 *	       (where FIELD is a text, or nobody knows yet what it is, key=FIELD2.string)
 *	SYNTH: hist:keys=lat.log2:vals=lat,lat.quantiles:m=lat:onmax($m).save(key,common_pid)
 *
 * A kernel has no quantiles: there SYNTH gets histograms that count ranges as fine (latency_files.c).
 *
 * All of it hangs in an instance of our own. The synthetic event is of the whole source: it has the instance's name in its
 * own, and whoever comes later removes those whose instance is gone. That instance also records the synthetic event, from
 * some time on only those that are as long as the longest so far: these are the worst ones that are listed.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/latency_local.h"
#include "cmd/own.h"

#define READ_MAX (1u << 20)

static const struct opt latency_opts[] = {
	{ 0, "on", "FIELD[=FIELD2]", "what START and END have in common; FIELD2 is END's name for it" },
	{ 0, "if-start", "FILTER", "only starts for which this holds" },
	{ 0, "if-end", "FILTER", "only ends for which this holds" },
	{ 0, "size", "KEYS", "how many starts can wait for their ends at once (at least 4096)" },
	LIVE_OPTS,
	{ 0, NULL, NULL, NULL },
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

static void name_synth(struct latency *l)
{
	snprintf(l->synth, sizeof(l->synth), OWN_SYNTH "%.48s", l->live.instance);
	for (char *p = l->synth; *p; p++)
		if (*p == '-')
			*p = '_';
}

/* In a tree of files: by its path. What has variables holds the instance, and has to go before it. */
static int hang_in_files(struct latency *l, const char *system, const char *event, const char *text)
{
	char path[LATENCY_PATH];
	int r;

	if (system)
		snprintf(path, sizeof(path), "instances/%s/events/%s/%s/trigger", l->live.instance, system, event);
	else
		snprintf(path, sizeof(path), "synthetic_events");
	r = source_write(l->live.source, path, text, strlen(text), true, &l->live.err);
	if (!r && system && strstr(text, "=common_timestamp") && l->nholds < LATENCY_HOLDS) {
		strcpy(l->holds[l->nholds].path, path);
		buf_printf(&l->holds[l->nholds++].undo, "!%s", text);
	}
	return r;
}

/* One line where it belongs, and away with it; without a system, a synthetic event. */
static int hang_line(struct latency *l, const char *system, const char *event, struct buf *text)
{
	struct control_line line = { system, event, text->data };
	int r;

	if (buf_failed(text)) {
		r = err_set(&l->live.err, -ENOMEM, "out of memory");
	} else if (l->live.control) {
		r = control_hang(l->live.control, l->live.instance, &line, 1, &l->live.err);
		if (r)
			err_prefix(&l->live.err, "%s%s%s: %s: ", system ? system : "", system ? ":" : "",
				   system ? event : "synthetic_events", text->data);
	} else {
		r = hang_in_files(l, system, event, text->data);
	}
	l->hung |= !r;
	buf_fini(text);
	return r;
}

static void put_if(struct latency *l, const char *word, struct buf *text)
{
	if (opts_value(l->opts, word))
		buf_printf(text, " if %s", opts_value(l->opts, word));
}

static int hang_start(struct latency *l, const char *size)
{
	struct buf text = BUF_INIT;

	buf_puts(&text, "hist:keys=");
	live_put_keys(&text, l->keys[0], l->known);
	buf_printf(&text, ":ts0=common_timestamp:size=%s", size);
	put_if(l, "if-start", &text);
	return hang_line(l, l->system[0], l->event[0], &text);
}

static int hang_end(struct latency *l, const char *size)
{
	bool files = !l->live.control;
	struct buf text = BUF_INIT;
	int r;

	buf_puts(&text, "hist:keys=");
	live_put_keys(&text, l->keys[1], l->known);
	buf_printf(&text, ":lat=common_timestamp-$ts0,key=%s%.*s%s", files || l->is_text ? "" : "0+", (int)strcspn(l->keys[1], ",."),
		   l->keys[1], !files && l->is_text ? ".string" : "");
	/* In a kernel a row is taken by each value that ever was. */
	if (files)
		buf_printf(&text, ":size=%s", size);
	buf_printf(&text, ":onmatch(%s.%s).trace(%s,$lat,$key)", l->system[0], l->event[0], l->synth);
	put_if(l, "if-end", &text);
	r = hang_line(l, l->system[1], l->event[1], &text);
	if (r)
		return r;
	buf_puts(&text, "hist:keys=common_cpu:size=4096");
	put_if(l, "if-end", &text);
	return hang_line(l, l->system[1], l->event[1], &text);
}

static int hang_synth(struct latency *l)
{
	bool files = !l->live.control;
	struct buf text = BUF_INIT;
	char path[LATENCY_PATH];
	int r;

	buf_printf(&text, "hist:keys=lat.log2:vals=lat%s:m=lat:size=128:onmax($m).save(key,common_pid)", files ? "" : ",lat.quantiles");
	r = hang_line(l, "synthetic", l->synth, &text);
	for (uint32_t i = 0; !r && files && latency_files_line(i, &text); i++)
		r = hang_line(l, "synthetic", l->synth, &text);
	snprintf(path, sizeof(path), "instances/%s/events/synthetic/%s/enable", l->live.instance, l->synth);
	return r ? r : source_write(l->live.source, path, "1", 1, false, &l->live.err);
}

/* What ends are made of comes last: each one is then counted wherever it belongs. */
static int hang(struct latency *l)
{
	const char *size = opts_value(l->opts, "size");
	struct buf text = BUF_INIT;
	int r;

	if (!size)
		size = l->live.control ? "2048" : "8192";
	buf_printf(&text, "%s u64 lat; %s key%s", l->synth, l->is_text ? "char" : l->type, l->is_text ? "[]" : "");
	r = hang_line(l, NULL, NULL, &text);
	if (!r)
		r = hang_synth(l);
	if (!r)
		r = hang_start(l, size);
	return r ? r : hang_end(l, size);
}

/* ---- Looking ---- */

/* "   NAME-PID   [001] .....   12.345678: SYNTH: lat=123 key=5" */
static void read_line(struct latency *l, char *line)
{
	struct latency_one one = { .ns = 0 };
	char mark[100], *at, *cpu = NULL, *time, *key;

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
	char path[LATENCY_PATH], text[64];

	if (least <= l->floor)
		return;
	snprintf(path, sizeof(path), "instances/%s/events/synthetic/%s/filter", l->live.instance, l->synth);
	snprintf(text, sizeof(text), "lat > %" PRIu64, least);
	if (!source_write(l->live.source, path, text, strlen(text), false, NULL))
		l->floor = least;
}

/* What we do to read may be what is read: there is an end to it. */
static int gather(void *arg, const void *bytes, size_t len)
{
	struct buf *text = arg;

	buf_add(text, bytes, len);
	return buf_failed(text) ? -ENOMEM : text->len > READ_MAX ? -E2BIG : 0;
}

static int tick(struct live *live)
{
	struct latency *l = live->arg;
	struct buf text = BUF_INIT;
	char path[LATENCY_PATH], *save = NULL;
	int r;

	snprintf(path, sizeof(path), "instances/%s/trace_pipe", live->instance);
	r = source_pump(live->source, path, gather, &text, &live->err);
	if (r == -E2BIG)
		r = 0;
	else if (r == -ENOMEM)
		err_set(&live->err, r, "out of memory");
	for (char *line = !r && text.data ? strtok_r(text.data, "\n", &save) : NULL; line; line = strtok_r(NULL, "\n", &save))
		read_line(l, line);
	buf_fini(&text);
	if (!r)
		raise_floor(l);
	return r;
}

static int draw(struct live *live, uint32_t width, uint32_t height, struct buf *out)
{
	struct latency *l = live->arg;
	int r = live->control ? latency_rows_look(l) : latency_files_look(l);

	if (!r)
		latency_show(&l->sums, width, height, out);
	return r;
}

/* ---- All of it ---- */

static void take_down(struct latency *l)
{
	struct err err = ERR_INIT;
	char text[100];

	for (int i = l->nholds; i-- > 0;) {
		if (!buf_failed(&l->holds[i].undo))
			source_write(l->live.source, l->holds[i].path, l->holds[i].undo.data, l->holds[i].undo.len, true, NULL);
		buf_fini(&l->holds[i].undo);
	}
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
	own_sweep_synth(live->source);
	name_synth(l);
	snprintf(l->title, sizeof(l->title), "%s:%s -> %s:%s by %s", l->system[0], l->event[0], l->system[1], l->event[1],
		 l->keys[0]);
	l->sums.title = l->title;
	l->sums.key = l->keys[1];
	r = live->control ? latency_rows_key(l) : latency_files_key(l);
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
