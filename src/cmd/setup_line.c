/*
 * cmd/setup_line: what a command line asks for, and whether that can be, as far as the line alone tells. Nothing is opened.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/setup_local.h"

const struct opt setup_opts[] = {
	SETUP_BUFFER_OPTS,
	SETUP_LINE_OPTS,
	{ 0, NULL, NULL, NULL },
};

static const struct opt buffer_opts[] = { SETUP_BUFFER_OPTS, { 0, NULL, NULL, NULL } };

bool setup_number(const char *text, uint64_t *number)
{
	char *end;

	errno = 0;
	*number = strtoull(text, &end, 10);
	return *text >= '0' && *text <= '9' && !*end && !errno && *number;
}

const char *setup_value(const struct setup *setup, const struct scope *scope, const char *word)
{
	for (int i = scope->end; i-- > scope->first;)
		if (scope_is(&setup->opts->items[i], word))
			return setup->opts->items[i].value;
	return NULL;
}

const char *setup_clock(const char *said)
{
	return strcmp(said, "tsc2nsec") ? said : "x86-tsc";
}

bool setup_negated(const struct setup *setup, int i)
{
	while (i-- > 0)
		if (scope_is(&setup->opts->items[i], "negate"))
			return true;
	return false;
}

static bool names_events(const struct setup *setup, const struct scope *scope)
{
	for (int i = scope->first; i < scope->end; i++)
		if (scope_is(&setup->opts->items[i], "event") && !setup_negated(setup, i))
			return true;
	return false;
}

bool setup_wants_all(const struct setup *setup, const struct scope *scope)
{
	return setup->how.on && !setup->files && !names_events(setup, scope) &&
	       !setup_value(setup, scope, "tracer");
}

/* Is the text made of these characters only, and of something? */
static bool is_of(const char *text, const char *chars)
{
	return *text && strspn(text, chars) == strlen(text);
}

/* One option by itself. NULL, or what it should be. */
static const char *wrong_with(const struct opts_item *item)
{
	struct events_wish wish;
	uint64_t number;

	if (scope_is(item, "event") && !events_wish_parse(&wish, item->value))
		return "neither SYSTEM nor SYSTEM:EVENT";
	if ((scope_is(item, "buffer-size") || scope_is(item, "subbuf-size")) &&
	    !setup_number(item->value, &number))
		return "a number of KiB is needed";
	if (scope_is(item, "cpumask") && strcmp(item->value, "-1") &&
	    !is_of(item->value, "0123456789abcdefABCDEF,"))
		return "a hexadecimal mask of CPUs is needed";
	if (scope_is(item, "pid") && !is_of(item->value, "0123456789,"))
		return "numbers of threads are needed, separated by commas";
	if (scope_is(item, "max-graph-depth") && !is_of(item->value, "0123456789"))
		return "a number of calls is needed";
	return item->opt && item->opt->arg && !*item->value ? "something is needed there" : NULL;
}

static int check_scope(const struct setup *setup, int s, struct err *err)
{
	const struct scope *scope = &setup->scopes.scope[s];
	bool event = false;

	for (int i = scope->first; i < scope->end; i++) {
		const struct opts_item *item = &setup->opts->items[i];
		const char *wrong = wrong_with(item);
		char name[32] = "";

		if (item->opt && item->opt->letter)
			snprintf(name, sizeof(name), "-%c", item->opt->letter);
		else if (item->opt)
			snprintf(name, sizeof(name), "--%s", item->opt->word);
		if (wrong)
			return err_set(err, -EINVAL, "%s '%s': %s", name, item->value, wrong);
		if (scope_is(item, "event"))
			event = !setup_negated(setup, i);
		if (!event && (scope_is(item, "filter") || scope_is(item, "trigger")))
			return err_set(err, -EINVAL, "%s belongs behind an -e that is switched on", name);
		for (const struct opt *opt = buffer_opts; setup->buffers[s].removed && opt->word; opt++)
			if (scope_is(item, opt->word))
				return err_set(err, -EINVAL, "%s: the instance %s is to be removed", name,
					       scope->instance);
	}
	return 0;
}

/* On files, `start` has to be told what: a kernel has too much to switch it all on by mistake. */
static int check_nothing(const struct setup *setup, const struct scope *scope, struct err *err)
{
	if (!setup->how.on || !setup->files || names_events(setup, scope) ||
	    setup_value(setup, scope, "tracer"))
		return 0;
	return err_set(err, -EINVAL, "which events (-e, all of them with -e all), or which tracer (-p)? "
		       "`ringside restart` only goes on");
}

/* Two scopes of one buffer would be two recordings of the same. */
static int check_twice(const struct setup *setup, int s, struct err *err)
{
	for (int i = 0; setup->how.fresh && i < s; i++)
		if (setup->scopes.scope[i].instance &&
		    !strcmp(setup->scopes.scope[i].instance, setup->scopes.scope[s].instance))
			return err_set(err, -EINVAL, "-B %s is there twice", setup->scopes.scope[s].instance);
	return 0;
}

static int check_line(const struct setup *setup, struct err *err)
{
	bool picks = opts_value(setup->opts, "pid") || opts_value(setup->opts, "only-command");
	int r = 0;

	if (opts_value(setup->opts, "children") && !picks)
		return err_set(err, -EINVAL, "-c: whose children? Threads have to be named");
	for (int s = 0; !r && s < setup->scopes.n; s++) {
		r = check_scope(setup, s, err);
		if (!r)
			r = check_nothing(setup, &setup->scopes.scope[s], err);
		if (!r)
			r = check_twice(setup, s, err);
	}
	return r;
}

/* What each scope's buffer is. */
static int fill_buffers(struct setup *setup, struct err *err)
{
	setup->buffers = calloc((size_t)setup->scopes.n + 1, sizeof(*setup->buffers));
	if (!setup->buffers)
		return err_set(err, -ENOMEM, "out of memory");
	for (int s = 0; s < setup->scopes.n; s++) {
		struct scope *scope = &setup->scopes.scope[s];

		/* The first item of a scope stands behind its -B. */
		setup->buffers[s].removed = setup->how.deletes && scope->instance &&
					    setup_negated(setup, scope->first - 1);
		setup->buffers[s].fresh = setup->how.fresh && !scope->instance &&
					  !opts_value(setup->opts, "top");
	}
	return 0;
}

/* What it measures are nanoseconds, and the times of its records have to go with them. */
bool setup_wants_nanoseconds(const struct setup *setup)
{
	for (int i = 0; i < setup->opts->nitems; i++)
		if (scope_is(&setup->opts->items[i], "tracer") && !strcmp(setup->opts->items[i].value, "function_graph"))
			return true;
	return false;
}

int setup_parse(struct setup **out, const struct opts *opts, const struct setup_how *how, struct err *err)
{
	struct setup *setup = calloc(1, sizeof(*setup));
	int r;

	if (!setup)
		return err_set(err, -ENOMEM, "out of memory");
	setup->opts = opts;
	setup->journal = -1;
	setup->how = *how;
	if (setup->how.clock && setup_wants_nanoseconds(setup))
		setup->how.clock = "local";
	setup->files = opts_value(opts, "kernel") || opts_value(opts, "tracefs");
	r = scopes_split(&setup->scopes, opts, buffer_opts, err);
	if (!r)
		r = fill_buffers(setup, err);
	if (!r)
		r = check_line(setup, err);
	if (r)
		setup_close(setup);
	else
		*out = setup;
	return r;
}
