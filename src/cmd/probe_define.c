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

#define ARGS_MAX 128u

struct define {
	const struct opts *opts;
	char *text;		/* the person's, cut into words */
	char group[64], name[64];	/* "": they are made up */
	const char *place_text;
	const char *args[ARGS_MAX];
	size_t nargs;
	struct debug_place place;
	struct probe_file file;
	struct debug_points points;
	struct err *err;
};

/* ---- reading ---- */

static bool is_name(const char *text, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if (!isalnum((unsigned char)text[i]) && text[i] != '_')
			return false;
	return len && len < 64 && !isdigit((unsigned char)*text);
}

/* [GROUP:]NAME= or GROUP/NAME= before a place. */
static int read_name(struct define *define, const char **place)
{
	const char *equals = strchr(*place, '='), *stop = strpbrk(*place, ";"), *colon;
	size_t len;

	/* A pattern of source may have any character. */
	if (!equals || (stop && stop < equals))
		return 0;
	colon = memchr(*place, ':', (size_t)(equals - *place));
	if (!colon)
		colon = memchr(*place, '/', (size_t)(equals - *place));
	if (colon) {
		len = (size_t)(colon - *place);
		if (!is_name(*place, len))
			return err_set(define->err, -EINVAL, "'%.*s' is no name of a group: letters, digits and _, 63 at most",
				       (int)len, *place);
		memcpy(define->group, *place, len);
		*place = colon + 1;
	}
	len = (size_t)(equals - *place);
	if (!is_name(*place, len))
		return err_set(define->err, -EINVAL, "'%.*s' is no name of an event: letters, digits and _, 63 at most", (int)len,
			       *place);
	memcpy(define->name, *place, len);
	*place = equals + 1;
	return 0;
}

static int read_words(struct define *define, const char *text)
{
	char *save, *word;

	define->text = strdup(text);
	if (!define->text)
		return err_set(define->err, -ENOMEM, "out of memory");
	word = strtok_r(define->text, " \t\n", &save);
	if (!word)
		return err_set(define->err, -EINVAL, "which place? FUNCTION, FUNCTION:LINE, FILE:LINE");
	define->place_text = word;
	while ((word = strtok_r(NULL, " \t\n", &save))) {
		if (define->nargs == ARGS_MAX)
			return err_set(define->err, -E2BIG, "more than %u arguments", ARGS_MAX);
		define->args[define->nargs++] = word;
	}
	return read_name(define, &define->place_text);
}

/* ---- where ---- */

static int find_points(struct define *define)
{
	const struct debug_place *place = &define->place;
	struct probe_file *file = &define->file;
	struct err why = ERR_INIT;
	int r;

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

struct put {
	struct buf args;	/* " o=%di:x64" */
	struct buf with;	/* " o" */
	struct buf types;	/* " o:x64": what points of one event have in common */
};

static void put_fini(struct put *put)
{
	buf_fini(&put->args);
	buf_fini(&put->with);
	buf_fini(&put->types);
}

static bool is_taken(const struct put *put, const char *name)
{
	const char *at = put->with.data;
	size_t len = strlen(name);

	while (at && (at = strstr(at, name))) {
		if (at[-1] == ' ' && (!at[len] || at[len] == ' '))
			return true;
		at += len;
	}
	return false;
}

/* Two that end in the same word are called by all of their words; else by a number. */
static void free_name(const struct put *put, const char *expr, char name[DEBUG_NAME_MAX])
{
	size_t n = 0, len = strcspn(expr, ":");

	if (!is_taken(put, name))
		return;
	for (size_t i = 0; i < len && n + 1 < 32; i++) {
		if (isalnum((unsigned char)expr[i]) || expr[i] == '_')
			name[n++] = expr[i];
		else if (n && name[n - 1] != '_')
			name[n++] = '_';
	}
	while (n && name[n - 1] == '_')
		n--;
	name[n] = '\0';
	for (int i = 2; is_taken(put, name) && i < 1000; i++)
		snprintf(name + (n > 27 ? 27 : n), 5, "_%d", i);
}

static void put_one(struct put *put, const char *name, const char *body)
{
	const char *type = strrchr(body, ':');

	if (*name) {
		buf_printf(&put->args, " %s=%s", name, body);
		buf_printf(&put->with, " %s", name);
	} else {
		buf_printf(&put->args, " %s", body);
		buf_printf(&put->with, " %s", body);
	}
	buf_printf(&put->types, " %s%s", name, type ? type : "");
}

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

static int put_raw(struct define *define, const struct debug_point *point, struct put *put, const char *name, const char *expr,
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
	else if ((*expr == '$' || *expr == '%') && len < sizeof(own) && is_name(expr + 1, len))
		memcpy(own, expr + 1, len);
	if (!name && *own)
		free_name(put, expr + 1, own);
	if (!r)
		put_one(put, own, body.data);
	buf_fini(&body);
	return r;
}

static int put_variable(struct define *define, const struct debug_point *point, struct put *put, const char *name,
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
		free_name(put, expr, arg.name);
	put_one(put, name ? name : arg.name, arg.body.data);
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
static int put_all(struct define *define, const struct debug_point *point, struct put *put, bool params, struct err *err)
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

		if (one->function || (params && !one->parameter) || is_taken(put, one->name))
			continue;
		if (is_everywhere(define, one->name))
			r = put_variable(define, point, put, NULL, one->name, err);
		else
			left_out++;
	}
	if (!r && left_out && point == define->points.all)
		cmd_say("%zu of the variables at %s have no value there, or none that is one word: -V lists them", left_out,
			define->place_text);
	debug_variables_fini(&variables);
	return r;
}

/* Not one argument, but as many as there are. */
static bool is_all(const char *expr)
{
	return !strcmp(expr, "$vars") || !strcmp(expr, "$params") || !strcmp(expr, "$args");
}

/* [NAME=]EXPRESSION */
static int put_arg(struct define *define, const struct debug_point *point, struct put *put, const char *text, struct err *err)
{
	const char *equals = strchr(text, '='), *expr = equals ? equals + 1 : text;
	char name[DEBUG_NAME_MAX] = "";

	if (equals) {
		if (!is_name(text, (size_t)(equals - text)) || equals - text > 32)
			return err_set(define->err, -EINVAL,
				       "'%.*s' is no name of an argument: letters, digits and _, 32 at most",
				       (int)(equals - text), text);
		memcpy(name, text, (size_t)(equals - text));
		if (is_taken(put, name))
			return err_set(define->err, -EINVAL, "two arguments are called '%s'", name);
	}
	if (!*expr)
		return err_set(define->err, -EINVAL, "'%s' is nothing: NAME=EXPRESSION", text);
	if (!equals && is_all(expr))
		return put_all(define, point, put, strcmp(expr, "$vars"), err);
	if (is_raw(expr) && !(define->place.returns && point->described && !strncmp(expr, "$retval", 7)))
		return put_raw(define, point, put, equals ? name : NULL, expr, err);
	return put_variable(define, point, put, equals ? name : NULL, expr, err);
}

static int put_args(struct define *define, const struct debug_point *point, struct put *put, struct err *err)
{
	int r = 0;

	for (size_t i = 0; !r && i < define->nargs; i++)
		r = put_arg(define, point, put, define->args[i], err);
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

/* ---- events ---- */

void probe_events_fini(struct probe_events *events)
{
	for (size_t i = 0; i < events->n; i++) {
		buf_fini(&events->all[i].lines);
		buf_fini(&events->all[i].with);
		buf_fini(&events->all[i].where);
		free(events->all[i].path);
	}
	free(events->all);
	*events = (struct probe_events){ 0 };
}

int probe_events_add(struct probe_events *events, const char *group, const char *name, const char *path, const char *where,
		     const char *line, const char *with, struct err *err)
{
	struct probe_event *event = NULL, *more;

	for (size_t i = 0; !event && i < events->n; i++)
		if (!strcmp(events->all[i].group, group) && !strcmp(events->all[i].name, name))
			event = &events->all[i];
	if (!event) {
		more = reallocarray(events->all, events->n + 1, sizeof(*more));
		if (!more)
			return err_set(err, -ENOMEM, "out of memory");
		events->all = more;
		event = &more[events->n++];
		*event = (struct probe_event){ .lines = BUF_INIT, .with = BUF_INIT, .where = BUF_INIT, .path = strdup(path) };
		snprintf(event->group, sizeof(event->group), "%s", group);
		snprintf(event->name, sizeof(event->name), "%s", name);
		buf_puts(&event->with, with);
		buf_puts(&event->where, where);
	}
	buf_puts(&event->lines, line);
	return !event->path || buf_failed(&event->lines) || buf_failed(&event->with) || buf_failed(&event->where)
		       ? err_set(err, -ENOMEM, "out of memory") : 0;
}

static int add_point(struct define *define, struct probe_events *events, const struct debug_point *point, const struct put *put)
{
	char group[64], name[64];
	struct buf line = BUF_INIT;
	uint64_t offset;
	int r;

	if (!probe_file_offset(&define->file, point->address, &offset))
		return err_set(define->err, -EINVAL, "%#" PRIx64 " is no place in the code of %.200s", point->address,
			       define->file.path);
	group_of(define->file.path, group);
	name_of(define, point, name);
	buf_printf(&line, "%c:%s/%s %s:0x%" PRIx64 "%s\n", define->place.returns ? 'r' : 'p',
		   *define->group ? define->group : group, *define->name ? define->name : name, define->file.path, offset,
		   put->args.data ? put->args.data : "");
	r = buf_failed(&line) ? err_set(define->err, -ENOMEM, "out of memory")
			      : probe_events_add(events, *define->group ? define->group : group,
						 *define->name ? define->name : name, define->file.path, define->place_text,
						 line.data, put->with.data ? put->with.data : "", define->err);
	buf_fini(&line);
	return r;
}

/* Points at which an argument has no value, or another type than at the first, are left out. */
static int add_points(struct define *define, struct probe_events *events)
{
	struct put first = { BUF_INIT, BUF_INIT, BUF_INIT };
	struct err why = ERR_INIT;
	size_t done = 0, left_out = 0;
	int r = 0;

	for (size_t i = 0; !r && i < define->points.n; i++) {
		struct put put = { BUF_INIT, BUF_INIT, BUF_INIT };
		struct err err = ERR_INIT;

		r = put_args(define, &define->points.all[i], &put, &err);
		if (!r && done && strcmp(put.types.data ? put.types.data : "", first.types.data ? first.types.data : ""))
			r = err_set(&err, -ENODATA, "an argument has another type there");
		if (!r) {
			r = add_point(define, events, &define->points.all[i], &put);
			if (!done++) {
				first = put;
				put = (struct put){ BUF_INIT, BUF_INIT, BUF_INIT };
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
		put_fini(&put);
	}
	put_fini(&first);
	if (!r && !done)
		return err_set(define->err, why.code ? why.code : -ENOENT, "%s", why.text);
	if (!r && left_out)
		cmd_say("%s: %zu of %zu points are left out: %s", define->place_text, left_out, define->points.n, why.text);
	return r;
}

/* Expressions that ask for variables, for debug_point_settle(). */
static void settle(struct define *define)
{
	struct debug_variables variables = { 0 };
	const char *exprs[ARGS_MAX];
	bool moved = false;

	for (size_t i = 0; define->file.debug && !define->place.returns && i < define->points.n; i++) {
		struct debug_point *point = &define->points.all[i];
		size_t n = 0;
		bool all = false;

		for (size_t j = 0; j < define->nargs; j++) {
			const char *equals = strchr(define->args[j], '=');

			exprs[n++] = equals ? equals + 1 : define->args[j];
			all |= is_all(exprs[n - 1]);
		}
		if (all && !debug_variables_find(&variables, define->file.debug, point, NULL)) {
			for (n = 0; n < variables.n && n < ARGS_MAX; n++)
				exprs[n] = variables.all[n].name;
		}
		moved |= n && debug_point_settle(define->file.debug, point, exprs, n);
		debug_variables_fini(&variables);
	}
	if (moved)
		cmd_say("%s: the code is not optimised: its first instructions put parameters where they are found, and the probe "
			"is behind them", define->place_text);
}

/* What was counted in bytes by somebody. */
static int check_instructions(struct define *define)
{
	int r = 0;

	for (size_t i = 0; !r && (define->place.offset || define->place.has_address) && i < define->points.n; i++) {
		r = probe_file_instruction(&define->file, define->points.all[i].address, define->err);
		if (r)
			err_prefix(define->err, "%.100s: ", define->place_text);
	}
	return r;
}

static int define_place(struct define *define, struct probe_events *events)
{
	int r = debug_place_parse(&define->place, define->place_text, define->err);

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
		cmd_say("%s: %u instances are inlined and do not return", define->place_text, define->points.inlined);
	settle(define);
	return add_points(define, events);
}

int probe_define(struct probe_events *events, const struct opts *opts, const char *text, struct err *err)
{
	struct define define = { .opts = opts, .err = err, .file = { .why = ERR_INIT } };
	int r = read_words(&define, text);

	if (!r && probe_is_usdt(define.place_text)) {
		if (define.nargs)
			r = err_set(err, -EINVAL, "%s: such a probe has arguments of its own, and no others", define.place_text);
		else
			r = probe_define_usdt(events, opts, define.group, define.name, define.place_text, err);
	} else if (!r) {
		r = define_place(&define, events);
	}
	debug_points_fini(&define.points);
	debug_place_fini(&define.place);
	probe_file_close(&define.file);
	free(define.text);
	return r;
}
