/*
 * cmd/split: parts of a trace file as files of their own.
 *
 * First all that is wanted is found (stretch.c), then the files are written one after the other.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/cmd.h"
#include "cmd/files.h"
#include "cmd/stretch.h"
#include "dat/cut.h"

static const struct opt split_opts[] = {
	{ 'i', "input", "PATH", "the file to be split, instead of trace.dat" },
	{ 'o', "output", "PATH", "what the new files' names begin with, instead of the input's" },
	{ 's', "seconds", "N", "so many seconds into each file" },
	{ 'm', "milliseconds", "N", "so many milliseconds" },
	{ 'u', "microseconds", "N", "so many microseconds" },
	{ 'e', "events", "N", "so many events" },
	{ 'p', "pages", "N", "so many pages of each CPU" },
	{ 'r', "repeat", NULL, "one file after the other, instead of one" },
	{ 'c', "per-cpu", NULL, "so much of each CPU, instead of in all" },
	{ 'C', "cpu", "CPU", "only what happened on this CPU" },
	{ 'B', "buffer", "NAME", "only this buffer; again for more" },
	{ 't', "promote", NULL, "the buffer just named becomes the top one" },
	{ 0, "top", NULL, "only the top buffer, beside those of -B" },
	{ 'b', "name", "NAME", "with --top: it becomes a buffer of this name" },
	{ 0, NULL, NULL, NULL },
};

#define BUFFERS_MAX 256

struct split {
	const char *input, *output;
	struct dat *dat;
	struct stretch_how how;
	struct stretches stretches;
	struct dat_cut **cuts;		/* one for each lane */
	int cpu;			/* -1: all */

	/* What -B, -t, --top and -b say. */
	const char *names[BUFFERS_MAX];
	size_t nr_names;
	const char *promoted, *new_name;
	bool top;

	/* Buffers of the new files: the number of each in the old one, or NOWHERE. */
	struct dat_write_buffer buffers[BUFFERS_MAX + 1];
	size_t from[BUFFERS_MAX + 1];
	size_t nr_buffers;
	struct err err;
};

#define NOWHERE SIZE_MAX

/* A decimal number with at most nine places, times a billion. */
static bool parse_nano(const char *text, uint64_t *value, int *places)
{
	uint64_t whole = 0, unit = 1000000000;
	bool digits = false;

	*places = -1;
	for (; *text; text++) {
		if (*text == '.' && *places < 0) {
			*places = 0;
			continue;
		}
		if (*text < '0' || *text > '9' || *places == 9 ||
		    whole > UINT64_MAX / 10 / unit - 1)
			return false;
		digits = true;
		whole = whole * 10 + (uint64_t)(*text - '0');
		if (*places >= 0) {
			++*places;
			unit /= 10;
		}
	}
	*value = whole * unit;
	return digits;
}

static bool parse_count(const char *text, uint64_t *value)
{
	char *end;

	errno = 0;
	*value = strtoull(text, &end, 10);
	return *text >= '0' && *text <= '9' && !*end && !errno && *value;
}

/* Clocks whose times are printed as they are. */
static bool ticks(const struct dat *dat)
{
	static const char *const seconds[] = { "local", "global", "uptime", "perf", "mono",
					       "mono_raw", "boot", "tai", "tsc2nsec" };
	const char *clock = dat_info(dat)->clock;

	if (!clock || dat_info(dat)->tsc2nsec.is_set)
		return false;
	for (size_t i = 0; i < sizeof(seconds) / sizeof(*seconds); i++)
		if (!strcmp(clock, seconds[i]))
			return false;
	return true;
}

/*
 * A time as a report prints it. With six places, as many as a report has, it stands for all times
 * that are printed so, which are half a microsecond to either side.
 */
static int parse_time(struct split *split, const char *text, uint64_t *from, uint64_t *to)
{
	uint64_t t;
	int places;

	if (ticks(split->dat) && !strchr(text, '.')) {
		if (!parse_count(text, &t))
			return err_set(&split->err, -EINVAL, "'%s' is no time", text);
		*from = *to = t;
		return 0;
	}
	if (!parse_nano(text, &t, &places))
		return err_set(&split->err, -EINVAL, "'%s' is no time in seconds", text);
	*from = places == 6 && t >= 500 ? t - 500 : t;
	*to = places == 6 ? t + 499 : t;
	return 0;
}

static int parse_range(struct split *split, const struct opts *opts)
{
	const char *from = opts_arg(opts, 0), *to = opts_arg(opts, 1);
	uint64_t unused;
	int r = 0;

	split->how.to = UINT64_MAX;
	split->how.has_from = from != NULL;
	if (from)
		r = parse_time(split, from, &split->how.from, &unused);
	if (!r && to)
		r = parse_time(split, to, &unused, &split->how.to);
	if (!r && split->how.from > split->how.to)
		r = err_set(&split->err, -EINVAL, "the end, %s, is before the beginning, %s", to,
			    from);
	if (!r && split->how.unit == STRETCH_TIME && ticks(split->dat))
		r = err_set(&split->err, -EINVAL, "%.300s has times of the clock %.60s, which "
			    "counts no seconds", split->input, dat_info(split->dat)->clock);
	return r;
}

/* -s, -m, -u, -e and -p: how much, of what. False: not so. */
static bool parse_size(struct split *split, const struct opts_item *item)
{
	static const struct {
		char letter;
		enum stretch_unit unit;
		uint64_t factor;
	} units[] = {
		{ 's', STRETCH_TIME, 1000000000 }, { 'm', STRETCH_TIME, 1000000 },
		{ 'u', STRETCH_TIME, 1000 }, { 'e', STRETCH_EVENTS, 1 }, { 'p', STRETCH_PAGES, 1 },
	};
	uint64_t n;

	for (size_t i = 0; i < sizeof(units) / sizeof(*units); i++) {
		if (units[i].letter != item->opt->letter)
			continue;
		if (split->how.unit || !parse_count(item->value, &n) ||
		    n > UINT64_MAX / units[i].factor)
			return false;
		split->how.unit = units[i].unit;
		split->how.size = n * units[i].factor;
		split->how.per_cpu |= units[i].unit == STRETCH_PAGES;
	}
	return true;
}

/* Those whose place among the others matters. NULL, or what is wrong. */
static const char *parse_buffers(struct split *split, const struct opts_item *item)
{
	switch (item->opt->letter) {
	case 'B':
		if (split->nr_names == BUFFERS_MAX)
			return "too many buffers";
		split->names[split->nr_names++] = item->value;
		return NULL;
	case 't':
		if (!split->nr_names)
			return "-t stands behind the -B of the buffer that it is about";
		if (split->promoted)
			return "-t: only one buffer can be the top one";
		split->promoted = split->names[split->nr_names - 1];
		return NULL;
	case 'b':
		split->new_name = item->value;
		return *item->value ? NULL : "-b needs a name";
	}
	return NULL;
}

/* All that can be said without a look into the file. NULL, or what is wrong. */
static const char *parse(struct split *split, const struct opts *opts)
{
	const char *wrong = NULL, *cpu = opts_value(opts, "cpu");

	for (int i = 0; !wrong && i < opts->nitems; i++) {
		if (!opts->items[i].opt)
			continue;
		if (!parse_size(split, &opts->items[i]))
			return "one of -s, -m, -u, -e and -p, with a number";
		wrong = parse_buffers(split, &opts->items[i]);
	}
	if (wrong)
		return wrong;
	if (split->new_name && !split->top)
		return "-b goes with --top";
	if (split->promoted && split->top && !split->new_name)
		return "two top buffers: give the old one a name with -b";
	if (split->how.repeat && !split->how.unit)
		return "-r: how much into each file? -s, -m, -u, -e or -p";
	if (cpu && !cmd_parse_cpu(cpu, &split->cpu))
		return "-C: the number of a CPU is needed";
	return NULL;
}

static size_t find_buffer(const struct dat *dat, const char *name)
{
	const struct dat_buffer *buffer;

	for (size_t i = 0; (buffer = dat_buffer(dat, i)); i++)
		if (!strcmp(buffer->name, name))
			return i;
	return NOWHERE;
}

/* Buffer number `from` of the old file, or none, under a name in the new ones. */
static int add_buffer(struct split *split, size_t from, const char *name)
{
	const struct dat_buffer *old = from == NOWHERE ? NULL : dat_buffer(split->dat, from);
	size_t to = *name ? split->nr_buffers : 0;

	for (size_t i = 1; *name && i < split->nr_buffers; i++)
		if (!strcmp(split->buffers[i].name, name))
			return err_set(&split->err, -EINVAL, "two buffers called '%.200s'", name);
	if (to > BUFFERS_MAX)
		return err_set(&split->err, -E2BIG, "%.300s has too many buffers", split->input);
	if (old && old->is_text)
		return err_set(&split->err, -ENOTSUP, "%.300s holds what a latency tracer printed, "
			       "which cannot be split", split->input);
	split->buffers[to] = (struct dat_write_buffer){
		.name = name, .clock = old ? old->clock : dat_info(split->dat)->clock,
		.page_size = old ? old->page_size : 0,
	};
	split->from[to] = from;
	split->nr_buffers += to == split->nr_buffers;
	return 0;
}

static int add_named(struct split *split, const char *name)
{
	size_t from = find_buffer(split->dat, name);
	bool top = split->promoted && !strcmp(split->promoted, name);

	if (from == NOWHERE)
		return err_set(&split->err, -ENOENT, "%.300s has no buffer '%.200s'", split->input,
			       name);
	return add_buffer(split, from, top ? "" : name);
}

/* Which buffers the new files have; there is always a top one. */
static int choose_buffers(struct split *split)
{
	bool all = !split->top && !split->nr_names;
	size_t top = find_buffer(split->dat, "");
	int r = add_buffer(split, NOWHERE, "");

	if (!r && (all || (split->top && !split->new_name)))
		r = add_buffer(split, top, "");
	if (!r && split->new_name)
		r = add_buffer(split, top, split->new_name);
	for (size_t i = 0; !r && all && dat_buffer(split->dat, i); i++)
		if (*dat_buffer(split->dat, i)->name)
			r = add_buffer(split, i, dat_buffer(split->dat, i)->name);
	for (size_t i = 0; !r && i < split->nr_names; i++)
		r = add_named(split, split->names[i]);
	return r;
}

/* The new number of a buffer, NOWHERE if it is not wanted. */
static size_t new_number(const struct split *split, size_t old)
{
	for (size_t i = 0; i < split->nr_buffers; i++)
		if (split->from[i] == old)
			return i;
	return NOWHERE;
}

static bool wanted(void *arg, const struct dat_buffer *buffer, int cpu)
{
	const struct split *split = arg;
	size_t old = 0;

	while (dat_buffer(split->dat, old) != buffer)
		old++;
	return (split->cpu < 0 || split->cpu == cpu) && new_number(split, old) != NOWHERE;
}

static int put_lane(struct split *split, size_t lane, size_t file, struct dat_write *write)
{
	const struct stretch_lane *l = &split->stretches.lanes[lane];
	const struct dat_buffer *buffer = dat_buffer(split->dat, l->buffer);
	uint32_t i = 0;
	int r = 0;

	if (file >= l->nr_pieces)
		return 0;
	while (buffer->cpus[i].cpu != l->cpu)
		i++;
	if (!split->cuts[lane])
		r = dat_cut_open(&split->cuts[lane], split->dat, buffer, i, &split->err);
	if (!r)
		r = dat_write_cpu(write, (uint32_t)l->cpu);
	if (!r)
		r = dat_cut_copy(split->cuts[lane], l->pieces[file].first, l->pieces[file].end,
				 write, &split->err);
	return r;
}

static int put_file(struct split *split, size_t file, struct dat_write *write, const char *path)
{
	int r = files_copy_meta(split->dat, write, path, &split->err);

	for (size_t b = 0; !r && b < split->nr_buffers; b++) {
		r = dat_write_begin(write, b);
		for (size_t i = 0; !r && i < split->stretches.nr_lanes; i++)
			if (split->stretches.lanes[i].buffer == split->from[b])
				r = put_lane(split, i, file, write);
		if (!r)
			r = dat_write_end(write);
	}
	return r;
}

static int write_file(struct split *split, size_t file, const struct dat_write_how *how)
{
	struct dat_write *write;
	char *path;
	int r;

	if (asprintf(&path, split->how.repeat ? "%s.%04zu" : "%s.%zu", split->output, file + 1) < 0)
		return err_set(&split->err, -ENOMEM, "out of memory");
	r = dat_write_open(&write, path, how, &split->err);
	if (!r)
		r = files_finish(write, put_file(split, file, write, path), &split->err);
	free(path);
	return r;
}

static int write_files(struct split *split)
{
	struct dat_copy copy;
	int r = dat_copy_init(&copy, split->dat, &split->err);

	if (r)
		return r;
	copy.how.compression = dat_info(split->dat)->compressor;
	copy.how.buffers = split->buffers;
	copy.how.nr_buffers = split->nr_buffers;
	split->cuts = calloc(split->stretches.nr_lanes + 1, sizeof(*split->cuts));
	if (!split->cuts)
		r = err_set(&split->err, -ENOMEM, "out of memory");
	for (size_t i = 0; !r && i < split->stretches.nr_files; i++)
		r = write_file(split, i, &copy.how);
	for (size_t i = 0; split->cuts && i < split->stretches.nr_lanes; i++)
		dat_cut_close(split->cuts[i]);
	free(split->cuts);
	dat_copy_fini(&copy);
	return r;
}

/* The file is open. */
static int split_file(struct split *split, const struct opts *opts)
{
	int r = parse_range(split, opts);

	if (!r)
		r = choose_buffers(split);
	if (!r)
		r = stretch_find(&split->stretches, split->dat, &split->how, &split->err);
	if (!r)
		r = write_files(split);
	stretch_fini(&split->stretches);
	return r;
}

static int run(const struct opts *opts)
{
	struct split split = {
		.input = opts_value(opts, "input"), .output = opts_value(opts, "output"),
		.cpu = -1, .top = opts_value(opts, "top") != NULL, .err = ERR_INIT,
		.how = { .per_cpu = opts_value(opts, "per-cpu") != NULL,
			 .repeat = opts_value(opts, "repeat") != NULL, .wanted = wanted },
	};
	const char *wrong = parse(&split, opts);
	int r;

	if (wrong)
		return cmd_misuse(&cmd_split, "split: %s", wrong);
	split.how.arg = &split;
	if (!split.input)
		split.input = FILES_DEFAULT;
	if (!split.output)
		split.output = split.input;
	r = files_open(&split.dat, split.input, &split.err);
	if (r)
		return cmd_fail(&split.err);
	r = split_file(&split, opts);
	dat_close(split.dat);
	return r ? cmd_fail(&split.err) : CMD_DONE;
}

const struct cmd cmd_split = {
	.name = "split",
	.synopsis = "[-i PATH] [-o PATH] [-s N | -m N | -u N | -e N | -p N] [-r] [-c] [-C CPU]\n"
		    "                      [-B NAME [-t]]... [--top [-b NAME]] [START [END]]",
	.summary = "make files of parts of a trace file",
	.text = "Writes the part of a trace file between the times START and END, as a report\n"
		"prints them, into a file of its own, PATH.1; or the first so many seconds, events\n"
		"or pages of it, and with -r all of it in files of that size, PATH.0001 and so on.\n"
		"Events that were lost on the way stay marked where they were lost.\n",
	.opts = split_opts,
	.args_max = 2,
	.on_file = true,
	.run = run,
};
