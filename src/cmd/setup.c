/*
 * cmd/setup: see setup.h. The life of a setup, and the whole of `start` and `set`.
 */
#include "cmd/setup.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/setup_local.h"
#include "cmd/switches.h"

size_t setup_buffers(const struct setup *setup)
{
	return (size_t)setup->scopes.n;
}

const char *setup_instance(const struct setup *setup, size_t i)
{
	return setup->scopes.scope[i].instance;
}

const char *setup_title(const struct setup *setup, size_t i)
{
	const char *name = setup->buffers[i].fresh ? NULL : setup->scopes.scope[i].instance;

	return name ? name : "";
}

bool setup_is_quiet(const struct setup *setup)
{
	return opts_value(setup->opts, "quiet") != NULL;
}

bool setup_is_by_plans(const char *event)
{
	static const char *const begins[] = { "syscalls", "raw_syscalls", "sched:sched_process_", "kmem", "kmalloc", "kfree" };

	for (size_t i = 0; i < sizeof(begins) / sizeof(begins[0]); i++)
		if (!strncmp(event, begins[i], strlen(begins[i])))
			return true;
	return false;
}

bool setup_wants_functions(const struct setup *setup)
{
	static const char *const words[] = { "tracer", "function", "no-function", "graph", "module" };

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (opts_value(setup->opts, words[i]))
			return true;
	for (int i = 0; i < setup->opts->nitems; i++)
		if (scope_is(&setup->opts->items[i], "event") && setup_is_by_plans(setup->opts->items[i].value))
			return true;
	return false;
}

void setup_use_clock(struct setup *setup, const char *clock)
{
	setup->how.clock = clock;
}

void setup_only(struct setup *setup, pid_t tid)
{
	setup->only = tid;
}

void setup_close(struct setup *setup)
{
	if (!setup)
		return;
	for (int s = 0; setup->buffers && s < setup->scopes.n; s++) {
		free(setup->buffers[s].before.rule);
		free(setup->buffers[s].after.rule);
		free(setup->buffers[s].events);
	}
	for (size_t i = 0; i < setup->nkept; i++) {
		free(setup->kept[i].file);
		free(setup->kept[i].text);
	}
	setup_journal_end(setup);
	free(setup->kept);
	free(setup->buffers);
	events_fini(&setup->events);
	scopes_fini(&setup->scopes);
	free(setup);
}

int setup_lend(struct setup **out, struct source *source, struct err *err)
{
	static const struct opts nothing;
	struct setup *setup = calloc(1, sizeof(*setup));

	if (!setup)
		return err_set(err, -ENOMEM, "out of memory");
	*setup = (struct setup){ .opts = &nothing, .how = { .fresh = true }, .source = source, .files = !source_control(source),
				 .journal = -1 };
	setup_journal_begin(setup);
	setup_watch_begin(setup);
	*out = setup;
	return 0;
}

int setup_put(struct setup *setup, const char *file, const char *text, bool lines, struct err *err)
{
	int r = setup_keep(setup, SETUP_TOP, file, lines ? KEEP_LIST : KEEP_WORD, err);

	return r ? r : scope_write(setup_scope(setup, SETUP_TOP), setup->source, file, text, false, err);
}

int setup_refused(const struct cmd *cmd, int r, const struct err *err)
{
	return r == -EINVAL ? cmd_misuse(cmd, "%s: %s", cmd->name, err->text) : cmd_fail(err);
}

int setup_run(const struct cmd *cmd, const struct opts *opts, bool on)
{
	struct setup_how how = { .on = on, .deletes = !on };
	struct source *source = NULL;
	struct err err = ERR_INIT;
	struct setup *setup;
	int r;

	r = setup_parse(&setup, opts, &how, &err);
	if (r)
		return setup_refused(cmd, r, &err);
	r = cmd_open(&source, opts, true, &err);
	if (!r)
		r = setup_apply(setup, source, &err);
	if (!r)
		switches_stay(source);
	setup_close(setup);
	source_close(source);
	return r ? cmd_fail(&err) : CMD_DONE;
}
