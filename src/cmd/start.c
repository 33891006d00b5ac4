/*
 * cmd/start: events on, recording on.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/glob.h"
#include "cmd/cmd.h"
#include "control/buffer.h"
#include "control/enable.h"
#include "control/registry.h"

/* What an -e names. */
struct wish {
	char system[64];	/* of a bare name both are that name */
	char event[64];
	bool bare;
};

static const struct opt start_opts[] = {
	{ 'e', "event", "SYSTEM[:EVENT]", "events to switch on; again for more" },
	{ 'b', "buffer-size", "KB", "size of the buffer for each CPU in KiB" },
	{ 0, NULL, NULL, NULL },
};

static bool parse_wish(struct wish *wish, const char *text)
{
	const char *colon = strchr(text, ':');
	size_t len = colon ? (size_t)(colon - text) : strlen(text);
	const char *event = colon ? colon + 1 : "";

	if (!strcmp(text, "all")) {
		*wish = (struct wish){ "*", "*", false };
		return true;
	}
	/* The longest that a rule holds: layout/control.h. */
	if (!*text || len >= 60 || strlen(event) >= 60 || strchr(event, ':') ||
	    strpbrk(text, " \t\n/"))
		return false;
	wish->bare = !colon;
	snprintf(wish->system, sizeof(wish->system), "%.*s", (int)len, len ? text : "*");
	snprintf(wish->event, sizeof(wish->event), "%s",
		 !colon ? wish->system : *event ? event : "*");
	return true;
}

static bool matches(const struct wish *wish, const struct control_event *event)
{
	bool system = glob_match(wish->system, event->system);
	bool name = glob_match(wish->event, event->name);

	return wish->bare ? system || name : system && name;
}

/* Patterns for programs to come are fine, but a person may have mistyped one. */
static void tell_unknown(const struct control *control, const struct wish *wishes, int n)
{
	struct control_registry registry;

	if (control_registry_read(&registry, &control->dir, CONTROL_REGISTRY_EVENTS, NULL))
		return;
	for (int i = 0; i < n; i++) {
		bool found = !strcmp(wishes[i].system, "*") && !strcmp(wishes[i].event, "*");

		for (uint32_t j = 0; j < registry.nevents && !found; j++)
			found = matches(&wishes[i], &registry.events[j]);
		if (!found)
			cmd_say("no program has brought %s%s%s yet: it is on for those to come",
				wishes[i].system, wishes[i].bare ? "" : ":",
				wishes[i].bare ? "" : wishes[i].event);
	}
	control_registry_fini(&registry);
}

static int change(struct control *control, const struct wish *wishes, int n, uint64_t kb,
		  struct err *err)
{
	struct state_buffer *top = &control->state.buffers[0];
	int r = 0;

	if (kb)
		r = control_buffer_resize(control, top, control_pages_from_kb(kb, top->page_size),
					  err);
	if (!r && !n)
		r = control_enable(control, 0, "*", "*", true, err);
	for (int i = 0; !r && i < n; i++)
		r = wishes[i].bare ? control_enable_name(control, 0, wishes[i].system, true, err)
				   : control_enable(control, 0, wishes[i].system, wishes[i].event,
						    true, err);
	top->flags |= BUFFER_ON;
	return r;
}

static int start(const struct opts *opts, const struct wish *wishes, int n, uint64_t kb)
{
	struct control *control;
	struct err err = ERR_INIT;
	int r;

	r = cmd_open(&control, opts, true, &err);
	if (r)
		return cmd_fail(&err);
	r = control_begin(control, &err);
	if (!r) {
		r = change(control, wishes, n, kb, &err);
		if (r)
			control_cancel(control);
		else
			r = control_commit(control, &err);
	}
	if (!r)
		tell_unknown(control, wishes, n);
	control_close(control);
	return r ? cmd_fail(&err) : CMD_DONE;
}

static int run(const struct opts *opts)
{
	struct wish *wishes = calloc((size_t)opts->nitems + 1, sizeof(*wishes));
	const char *size = opts_value(opts, "buffer-size");
	unsigned long long kb = 0;
	char *end = NULL;
	int n = 0, r;

	if (!wishes)
		return cmd_fail(&(struct err){ -ENOMEM, -1, "out of memory" });
	if (size) {
		errno = 0;
		kb = strtoull(size, &end, 10);
		if (*size < '0' || *size > '9' || *end || errno || !kb) {
			free(wishes);
			return cmd_misuse(&cmd_start, "start: -b %s: a number of KiB is needed",
					  size);
		}
	}
	for (int i = 0; i < opts->nitems; i++) {
		if (!opts->items[i].opt || strcmp(opts->items[i].opt->word, "event"))
			continue;
		if (!parse_wish(&wishes[n++], opts->items[i].value)) {
			free(wishes);
			return cmd_misuse(&cmd_start, "start: -e '%s': neither SYSTEM nor "
					  "SYSTEM:EVENT", opts->items[i].value);
		}
	}
	r = start(opts, wishes, n, kb);
	free(wishes);
	return r;
}

const struct cmd cmd_start = {
	.name = "start",
	.synopsis = "[-e SYSTEM[:EVENT]]... [-b KB]",
	.summary = "switch events on and record",
	.text = "Switches events on, beside those that are on already, and records. SYSTEM and EVENT\n"
		"may be patterns (* ? []); a name without a colon is a system or an event; without -e\n"
		"every event is on. What is switched on also holds for programs that start later.\n"
		"The tracing directory is made if there is none.\n",
	.opts = start_opts,
	.run = run,
};
