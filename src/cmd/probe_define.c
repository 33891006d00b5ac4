/*
 * cmd/probe_define: `[[GROUP:]NAME=]PLACE [ARGUMENT...]` -> lines of uprobe_events.
 *
 * A place that is in several spots of the code becomes as many points of one event; the kernel and we ask that all points of an
 * event have the same arguments, so a spot where one of them has no value is left out, with a word about it.
 */
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/probe_local.h"
#include "symbol/debug_place.h"

struct define {
	const struct opts *opts;
	const struct probe_words *words;
	struct debug_place place;
	struct probe_file file;
	struct debug_points points;
	struct err *err;
};

/* ---- where ---- */

static int find_points(struct define *define)
{
	const struct debug_place *place = &define->place;
	struct probe_file *file = &define->file;
	struct err why = ERR_INIT;
	struct debug_point chosen = { .entry = true };
	int r;

	if (probe_file_chosen(file, place, &chosen.address)) {
		cmd_say("%s of %s is chosen out of several when a program starts (IFUNC): it is the one that is chosen on this machine",
			place->function, file->path);
		r = debug_points_add(&define->points, &chosen, place->function);
		return r ? err_set(define->err, r, "out of memory") : 0;
	}
	if (file->debug) {
		r = debug_points_find(&define->points, file->debug, place, &why);
		if (!r)
			return 0;
		/* Functions of other languages, and of files that were compiled without. */
		if (r != -ENOENT || !place->function || place->has_line || place->pattern || place->file ||
		    debug_points_by_symbols(&define->points, file->path, place, NULL))
			return err_set(define->err, r, "%s", why.text);
		return 0;
	}
	if (place->has_address) {
		struct debug_point point = { .address = place->address };

		r = debug_points_add(&define->points, &point, "");
		return r ? err_set(define->err, r, "out of memory") : 0;
	}
	if (!place->function || (place->has_line && place->line) || place->pattern || place->file)
		return err_set(define->err, -ENODATA, "%.300s: source files and lines need it (%s)", file->why.text,
			       probe_file_hint(file));
	return debug_points_by_symbols(&define->points, file->path, place, define->err);
}

/* ---- arguments ---- */

/* What a probe takes as it is: %di, +8(%sp):u64, $arg1, @+0x40, \5. */
static bool is_raw(const char *expr)
{
	return strchr("%+-@\\$", *expr) || isdigit((unsigned char)*expr);
}

/* What a function was given is not there any more when it returns, as far as uprobe_events goes. */
static int gone(const struct define *define, const char *expr)
{
	bool own = !opts_value(define->opts, "kernel") && !opts_value(define->opts, "tracefs");

	return err_set(define->err, -EINVAL,
		       "%.60s: parameters and variables are gone when a function returns: probe its entry or a line%s", expr,
		       own ? "; kprobe_events keeps parameters, by r:NAME FILE:FUNCTION $arg1" : "");
}

static int put_raw(struct define *define, const struct debug_point *point, struct probe_put *put, const char *name, const char *expr,
		   struct err *err)
{
	char own[DEBUG_NAME_MAX] = "";
	size_t len = strcspn(expr + 1, ":");
	struct buf body = BUF_INIT;
	int r = 0;

	if (!strncmp(expr, "$retval", 7) && !define->place.returns)
		return err_set(define->err, -EINVAL, "%.60s: what a function returns is there when it does: FUNCTION%%return",
			       expr);
	if (isdigit((unsigned char)*expr))
		return err_set(define->err, -EINVAL, "%.60s: a number is written \\%.60s", expr, expr);
	if (probe_is_given(expr) && define->place.returns)
		return gone(define, expr);
	if (probe_is_given(expr))
		r = probe_put_given(&body, &define->file, point, expr, err);
	else
		buf_puts(&body, expr);
	if (!r && buf_failed(&body))
		r = err_set(define->err, -ENOMEM, "out of memory");
	if (name)
		memcpy(own, name, strlen(name) + 1);
	else if ((*expr == '$' || *expr == '%') && len < sizeof(own) && probe_is_name(expr + 1, len))
		memcpy(own, expr + 1, len);
	if (!name && *own)
		probe_put_free_name(put, expr + 1, own);
	if (!r)
		probe_put_one(put, own, body.data);
	buf_fini(&body);
	return r;
}

static int put_variable(struct define *define, const struct debug_point *point, struct probe_put *put, const char *name,
			const char *expr, struct err *err)
{
	struct debug_arg arg;
	int r;

	if (!define->file.debug)
		return err_set(define->err, -ENODATA,
			       "%.200s: variables need it (%s); without it there are $arg1, $retval, %%di "
			       "and such",
			       define->file.why.text, probe_file_hint(&define->file));
	if (!point->described)
		return err_set(define->err, -ENODATA,
			       "%.60s: debug information of %.200s does not tell of %.60s; there are $arg1, $retval, %%di "
			       "and such",
			       expr, define->file.path, point->name);
	if (define->place.returns && strncmp(expr, "$retval", 7))
		return gone(define, expr);
	r = debug_argument(define->file.debug, point, expr, &arg, err);
	if (r)
		return r;
	if (!name)
		probe_put_free_name(put, expr, arg.name);
	probe_put_one(put, name ? name : arg.name, arg.body.data);
	debug_arg_fini(&arg);
	return 0;
}

/* Is it there as something that can be fetched, at all points? */
static bool is_everywhere(struct define *define, const char *name)
{
	bool all = true;

	for (size_t i = 0; all && i < define->points.n; i++) {
		struct debug_arg arg;

		all = !debug_argument(define->file.debug, &define->points.all[i], name, &arg, NULL);
		if (all)
			debug_arg_fini(&arg);
	}
	return all;
}

/* $vars: all variables; $params: those that the function is given. */
static int put_all(struct define *define, const struct debug_point *point, struct probe_put *put, bool params, struct err *err)
{
	struct debug_variables variables;
	size_t left_out = 0;
	int r;

	if (!define->file.debug || !point->described || define->place.returns)
		return put_variable(define, point, put, NULL, params ? "$params" : "$vars", err);
	r = debug_variables_find(&variables, define->file.debug, point, err);
	if (r)
		return r;
	for (size_t i = 0; !r && i < variables.n; i++) {
		const struct debug_variable *one = &variables.all[i];

		if (one->function || (params && !one->parameter) || probe_put_has(put, one->name))
			continue;
		if (is_everywhere(define, one->name))
			r = put_variable(define, point, put, NULL, one->name, err);
		else
			left_out++;
	}
	if (!r && left_out && point == define->points.all)
		cmd_say("%zu of the variables at %s have no value there, or none that is one word: -V lists them", left_out,
			define->words->place);
	debug_variables_fini(&variables);
	return r;
}

/* Not one argument, but as many as there are. */
static bool is_all(const char *expr)
{
	return !strcmp(expr, "$vars") || !strcmp(expr, "$params") || !strcmp(expr, "$args");
}

/* [NAME=]EXPRESSION */
static int put_arg(struct define *define, const struct debug_point *point, struct probe_put *put, const char *text, struct err *err)
{
	char name[PROBE_NAME_MAX];
	const char *expr, *given;
	int r = probe_word_name(put, text, name, &expr, define->err);

	if (r)
		return r;
	given = *name ? name : NULL;
	if (!given && is_all(expr))
		return put_all(define, point, put, strcmp(expr, "$vars"), err);
	if (is_raw(expr) && !(define->place.returns && point->described && !strncmp(expr, "$retval", 7)))
		return put_raw(define, point, put, given, expr, err);
	return put_variable(define, point, put, given, expr, err);
}

static int put_args(struct define *define, const struct debug_point *point, struct probe_put *put, struct err *err)
{
	int r = 0;

	for (size_t i = 0; !r && i < define->words->nargs; i++)
		r = put_arg(define, point, put, define->words->args[i], err);
	if (!r && (buf_failed(&put->args) || buf_failed(&put->with) || buf_failed(&put->types)))
		r = err_set(define->err, -ENOMEM, "out of memory");
	return r;
}

/* ---- names ---- */

/* probe_ and the file's name up to the first mark in it. */
static void group_of(const char *path, char group[64])
{
	const char *base = strrchr(path, '/');
	int n;

	base = base ? base + 1 : path;
	n = (int)strcspn(base, "-._+@");
	snprintf(group, 64, "probe_%.*s", n > 57 ? 57 : n, base);
	for (char *c = group; *c; c++)
		if (!isalnum((unsigned char)*c))
			*c = '_';
}

static void name_of(const struct define *define, const struct debug_point *point, char name[64])
{
	const struct debug_place *place = &define->place;
	int n = 0;

	if (!*point->name)
		snprintf(name, 64, "abs_%" PRIx64, point->address);
	else if (place->returns)
		n = snprintf(name, 64, "%.50s__return", point->name);
	else if (place->function && place->has_line && place->line)
		n = snprintf(name, 64, "%.50s_L%u", point->name, place->line);
	else
		n = snprintf(name, 64, "%.63s", point->name);
	(void)n;
	for (char *c = name; *c; c++)
		if (!isalnum((unsigned char)*c))
			*c = '_';
	if (isdigit((unsigned char)*name))
		*name = '_';
}

/* ---- points ---- */

static int add_point(struct define *define, struct probe_events *events, const struct debug_point *point, const struct probe_put *put)
{
	const struct probe_words *words = define->words;
	char group[64], name[64];
	struct buf line = BUF_INIT;
	uint64_t offset;
	int r = 0;

	if (!probe_file_offset(&define->file, point->address, &offset))
		return err_set(define->err, -EINVAL, "%#" PRIx64 " is no place in the code of %.200s", point->address,
			       define->file.path);
	group_of(define->file.path, group);
	name_of(define, point, name);
	if (*words->group)
		memcpy(group, words->group, sizeof(group));
	if (*words->name)
		memcpy(name, words->name, sizeof(name));
	buf_printf(&line, "%c:%s/%s %s:0x%" PRIx64 "%s\n", define->place.returns ? 'r' : 'p', group, name, define->file.path, offset,
		   put->args.data ? put->args.data : "");
	if (buf_failed(&line))
		r = err_set(define->err, -ENOMEM, "out of memory");
	else
		r = probe_events_add(events,
				     &(struct probe_point){ .group = group, .name = name, .file = "uprobe_events",
							    .path = define->file.path, .where = words->place, .line = line.data,
							    .with = put->with.data ? put->with.data : "" },
				     define->err);
	buf_fini(&line);
	return r;
}

/* Points at which an argument has no value, or another type than at the first, are left out. */
static int add_points(struct define *define, struct probe_events *events)
{
	struct probe_put first = { BUF_INIT, BUF_INIT, BUF_INIT };
	struct err why = ERR_INIT;
	size_t done = 0, left_out = 0;
	int r = 0;

	for (size_t i = 0; !r && i < define->points.n; i++) {
		struct probe_put put = { BUF_INIT, BUF_INIT, BUF_INIT };
		struct err err = ERR_INIT;

		r = put_args(define, &define->points.all[i], &put, &err);
		if (!r && done && strcmp(put.types.data ? put.types.data : "", first.types.data ? first.types.data : ""))
			r = err_set(&err, -ENODATA, "an argument has another type there");
		if (!r) {
			r = add_point(define, events, &define->points.all[i], &put);
			if (!done++) {
				first = put;
				put = (struct probe_put){ BUF_INIT, BUF_INIT, BUF_INIT };
			}
		} else if (r == -ENODATA || r == -EOPNOTSUPP || r == -ENOENT) {
			if (!define->err->code) {
				r = 0;
				left_out++;
				if (!why.code)
					why = err;
			}
		} else {
			err_set(define->err, r, "%s", err.text);
		}
		probe_put_fini(&put);
	}
	probe_put_fini(&first);
	if (!r && !done)
		return err_set(define->err, why.code ? why.code : -ENOENT, "%s", why.text);
	if (!r && left_out)
		cmd_say("%s: %zu of %zu points are left out: %s", define->words->place, left_out, define->points.n, why.text);
	return r;
}

/* Expressions that ask for variables, for debug_point_settle(). */
static void settle(struct define *define)
{
	struct debug_variables variables = { 0 };
	const char *exprs[PROBE_ARGS_MAX];
	bool moved = false;

	for (size_t i = 0; define->file.debug && !define->place.returns && i < define->points.n; i++) {
		struct debug_point *point = &define->points.all[i];
		size_t n = 0;
		bool all = false;

		for (size_t j = 0; j < define->words->nargs; j++) {
			const char *equals = strchr(define->words->args[j], '=');

			exprs[n++] = equals ? equals + 1 : define->words->args[j];
			all |= is_all(exprs[n - 1]);
		}
		if (all && !debug_variables_find(&variables, define->file.debug, point, NULL)) {
			for (n = 0; n < variables.n && n < PROBE_ARGS_MAX; n++)
				exprs[n] = variables.all[n].name;
		}
		moved |= n && debug_point_settle(define->file.debug, point, exprs, n);
		debug_variables_fini(&variables);
	}
	if (moved)
		cmd_say("%s: the code is not optimised: its first instructions put parameters where they are found, and the probe "
			"is behind them", define->words->place);
}

/* What was counted in bytes by somebody. */
static int check_instructions(struct define *define)
{
	int r = 0;

	for (size_t i = 0; !r && (define->place.offset || define->place.has_address) && i < define->points.n; i++) {
		r = probe_file_instruction(&define->file, define->points.all[i].address, define->err);
		if (r)
			err_prefix(define->err, "%.100s: ", define->words->place);
	}
	return r;
}

static int define_place(struct define *define, struct probe_events *events)
{
	int r = debug_place_parse(&define->place, define->words->place, define->err);

	if (!r)
		r = probe_file_open(&define->file, define->opts, &define->place, define->err);
	if (!r)
		r = probe_file_own(&define->file, define->err);
	if (!r)
		r = find_points(define);
	if (!r)
		r = check_instructions(define);
	if (r)
		return r;
	if (define->place.returns && define->points.inlined)
		cmd_say("%s: %u instances are inlined and do not return", define->words->place, define->points.inlined);
	settle(define);
	return add_points(define, events);
}

static int define_file(struct probe_events *events, const struct opts *opts, const struct probe_words *words, struct err *err)
{
	struct define define = { .opts = opts, .words = words, .err = err, .file = { .why = ERR_INIT } };
	int r = define_place(&define, events);

	debug_points_fini(&define.points);
	debug_place_fini(&define.place);
	probe_file_close(&define.file);
	return r;
}

static int define_words(struct probe_events *events, struct probe_world *world, const struct probe_words *words, struct err *err)
{
	const struct opts *opts = world->opts;
	struct probe_target target;
	int r;

	if (probe_is_usdt(words->place)) {
		if (words->nargs)
			return err_set(err, -EINVAL, "%s: such a probe has arguments of its own, and no others", words->place);
		return probe_define_usdt(events, opts, words->group, words->name, words->place, err);
	}
	if (world->source && probe_is_event(&target, world->source, words->place))
		return probe_define_event(events, &world->kernel, &target, words, err);
	r = world->source ? probe_no_event(world->source, words->place, err) : 0;
	if (r)
		return r;
	return probe_is_kernel(opts) ? probe_define_kernel(events, &world->kernel, words, err) : define_file(events, opts, words, err);
}

void probe_world_open(struct probe_world *world, const struct opts *opts)
{
	*world = (struct probe_world){ .opts = opts };
	/* Where nothing can be opened there are no events, and whoever needs the tree says so. */
	if (!opts_value(opts, "exec") && !opts_value(opts, "pid") && !probe_is_elsewhere(opts) &&
	    cmd_open(&world->source, opts, false, NULL))
		world->source = NULL;
	kernel_init(&world->kernel, world->source, opts);
}

void probe_world_close(struct probe_world *world)
{
	kernel_fini(&world->kernel);
	source_close(world->source);
}

int probe_define(struct probe_events *events, struct probe_world *world, const char *text, struct err *err)
{
	struct probe_words words = { 0 };
	int r;

	if (probe_is_line(text))
		return probe_define_line(events, text, err);
	r = probe_words_read(&words, text, err);
	if (!r)
		r = define_words(events, world, &words, err);
	probe_words_fini(&words);
	return r;
}
