/*
 * cmd/setup_own: the instances that a setup makes, and those that dead recorders left behind.
 *
 * A tracing directory knows itself whose instance it is and whether he lives (control/own). In other trees the name tells
 * (own.h). What else was changed there is in setup_journal.c.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd/own.h"
#include "cmd/setup_local.h"
#include "control/own.h"

#define NAMES_MAX 1000

/* A name that nobody has, in a tracing directory; whoever else looks for one finds another. */
static int make_fresh(struct setup *setup, struct control *control, struct err *err)
{
	struct err refused;
	int r;

	for (int i = 1; i < NAMES_MAX; i++) {
		refused = (struct err)ERR_INIT;
		if (i > 1)
			snprintf(setup->name, sizeof(setup->name), "record-%d-%d", (int)getpid(), i);
		else
			snprintf(setup->name, sizeof(setup->name), "record-%d", (int)getpid());
		r = control_own_add(control, setup->name, &refused);
		if (r != -EEXIST)
			return r ? err_set(err, r, "%s", refused.text) : 0;
	}
	return err_set(err, -EEXIST, "there are too many recordings");
}

/* Does the scope's buffer have the tracer that the line wants? What does not say has it. */
static bool has_tracer(struct setup *setup, const struct scope *scope)
{
	const char *tracer = setup_value(setup, scope, "tracer");
	struct buf text = BUF_INIT;
	bool has = true;

	if (tracer && !scope_read(scope, setup->source, "available_tracers", &text, NULL) && text.data) {
		char *save, *word = strtok_r(text.data, " \n", &save);

		while (word && strcmp(word, tracer))
			word = strtok_r(NULL, " \n", &save);
		has = word;
	}
	buf_fini(&text);
	return has;
}

/* Some tracers of a kernel are for its top buffer only: then that is what is recorded. */
static int go_to_top(struct setup *setup, int s, struct err *err)
{
	struct scope *scope = &setup->scopes.scope[s];
	char path[SCOPE_PATH];
	int r = source_rmdir(setup->source, scope_path(path, scope, ""), err);

	if (r)
		return r;
	setup_journal_top(setup, s);
	scope->instance = NULL;
	setup->buffers[s].made = false;
	if (!setup_is_quiet(setup))
		cmd_say("the tracer '%s' is for the top buffer only, which is recorded", setup_value(setup, scope, "tracer"));
	return 0;
}

int setup_make(struct setup *setup, int s, struct err *err)
{
	struct control *control = source_control(setup->source);
	struct scope *scope = &setup->scopes.scope[s];
	struct setup_buffer *mine = &setup->buffers[s];
	char path[SCOPE_PATH];
	int r = 0;

	if (mine->fresh) {
		r = control ? make_fresh(setup, control, err) :
			      own_name(setup->name, sizeof(setup->name), setup->how.stays ? "kept" : "record", err);
		if (r)
			return r;
		scope->instance = setup->name;
		mine->made = control;
	}
	if (!scope->instance || mine->made || source_exists(setup->source, scope_path(path, scope, "")))
		return 0;
	if (control && setup->how.fresh) {
		r = control_own_add(control, scope->instance, err);
	} else {
		setup_journal_made(setup, s);
		r = source_mkdir(setup->source, path, err);
	}
	mine->made = !r;
	if (!r && mine->fresh && !control && !has_tracer(setup, scope))
		r = go_to_top(setup, s, err);
	return r;
}

int setup_sweep(struct source *source, struct err *err)
{
	struct control *control = source_control(source);

	if (control)
		return control_own_sweep(control, err);
	return setup_journal_sweep(source) + own_sweep(source);
}
