/*
 * cmd/party: see party.h.
 */
#include "cmd/party.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/scope.h"

/* Does the item name a source? 1: of files, 0: a tracing directory, -1: it does not. */
static int source_of(const struct opts_item *item)
{
	if (scope_is(item, "kernel") || scope_is(item, "tracefs"))
		return 1;
	return scope_is(item, "programs") || scope_is(item, "dir") ? 0 : -1;
}

/* Options that mean the buffer, or the -e, where they stand. */
static bool has_place(const struct opts_item *item)
{
	static const struct opt buffers[] = { SETUP_BUFFER_OPTS, { 0, NULL, NULL, NULL } };

	if (scope_is(item, "instance") || scope_is(item, "negate"))
		return true;
	for (const struct opt *opt = buffers; opt->word; opt++)
		if (scope_is(item, opt->word))
			return true;
	return false;
}

/* -c of a line is about the threads of -F, and about those of -P where that stands. */
static void drop_idle(struct opts *opts)
{
	int n = 0;

	if (opts_value(opts, "pid") || opts_value(opts, "only-command"))
		return;
	for (int i = 0; i < opts->nitems; i++)
		if (!scope_is(&opts->items[i], "children"))
			opts->items[n++] = opts->items[i];
	opts->nitems = n;
}

static int check_sources(const struct opts *opts, struct err *err)
{
	if (opts_value(opts, "kernel") && opts_value(opts, "tracefs"))
		return err_set(err, -EINVAL, "--kernel and --tracefs: there is room for one of them");
	return 0;
}

/* Is all of it about one source? Then which: 1 or 0; -1: it is not. */
static int only_source(const struct opts *opts)
{
	bool before = false, after = false, files = false, programs = false;

	for (int i = 0; i < opts->nitems; i++) {
		int kind = source_of(&opts->items[i]);

		files |= kind == 1;
		programs |= kind == 0;
		if (has_place(&opts->items[i]))
			*(files ? &after : &before) = true;
	}
	if (files && (programs || (before && after)))
		return -1;
	return files;
}

static int add(struct parties *parties, const struct opts *opts, int kind, bool whole, struct err *err)
{
	struct party *party = &parties->party[parties->n];
	int now = 0;

	party->opts.items = calloc((size_t)opts->nitems + 1, sizeof(*party->opts.items));
	if (!party->opts.items)
		return err_set(err, -ENOMEM, "out of memory");
	parties->n++;
	party->opts.nargs = opts->nargs;
	for (int i = 0; i < opts->nitems; i++) {
		const struct opts_item *item = &opts->items[i];
		int named = source_of(item);

		now = named >= 0 ? named : now;
		if (whole || (named < 0 && !has_place(item)) || (named >= 0 ? named == kind : now == kind))
			party->opts.items[party->opts.nitems++] = *item;
	}
	if (!whole)
		drop_idle(&party->opts);
	return 0;
}

int parties_split(struct parties *parties, const struct opts *opts, struct err *err)
{
	int only = only_source(opts), first = 0, r = check_sources(opts, err);

	if (r || only >= 0)
		return r ? r : add(parties, opts, only, true, err);
	/* Who is meant first: what stands before all names is about programs. */
	for (int i = 0; i < opts->nitems; i++) {
		int named = source_of(&opts->items[i]);

		if (named < 0 && !has_place(&opts->items[i]))
			continue;
		first = named == 1;
		break;
	}
	r = add(parties, opts, first, false, err);
	return r ? r : add(parties, opts, !first, false, err);
}

void parties_fini(struct parties *parties)
{
	for (size_t i = 0; i < parties->n; i++) {
		setup_close(parties->party[i].setup);
		source_close(parties->party[i].source);
		opts_fini(&parties->party[i].opts);
	}
	parties->n = 0;
}

static struct party *find(struct parties *parties, bool files)
{
	for (size_t i = 0; i < parties->n; i++) {
		const struct opts *opts = &parties->party[i].opts;

		if ((opts_value(opts, "kernel") || opts_value(opts, "tracefs")) == files)
			return &parties->party[i];
	}
	return NULL;
}

struct party *parties_programs(struct parties *parties)
{
	return find(parties, false);
}

struct party *parties_files(struct parties *parties)
{
	return find(parties, true);
}

const char *party_word(const struct party *party)
{
	return opts_value(&party->opts, "kernel") || opts_value(&party->opts, "tracefs") ? "kernel" : "programs";
}
