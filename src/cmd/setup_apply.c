/*
 * cmd/setup_apply: a command line put in force, in order: instances are made, settings written, events switched on, and
 * recording with them.
 *
 * In a tracing directory sizes, events and the last step are one change, and the events are patterns that also hold for
 * programs to come. Before anything is changed, setup_undo.c is told what it was; what fails is taken back.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/coming.h"
#include "cmd/defaults.h"
#include "cmd/setup_local.h"
#include "control/buffer.h"
#include "control/clock.h"
#include "control/enable.h"
#include "control/hooks.h"

/* Options that are no more than a text for a file, in the order in which they are written. */
static const struct setting {
	const char *word;
	const char *file;
	enum setup_keep kind;	/* of a list the first replaces what is there, others are added */
	bool of_tracer;		/* only with a tracer, and where there is such a file */
	bool of_top;		/* where an instance has no such file, the top buffer's is for all */
} settings[] = {
	{ "clock", "trace_clock", KEEP_WORD, false, false },
	{ "subbuf-size", "buffer_subbuf_size_kb", KEEP_WORD, false, false },
	{ "cpumask", "tracing_cpumask", KEEP_WORD, false, false },
	{ "pid", "set_event_pid", KEEP_LIST, false, false },
	{ "pid", "set_ftrace_pid", KEEP_LIST, true, false },
	{ "function", "set_ftrace_filter", KEEP_LIST, false, false },
	{ "no-function", "set_ftrace_notrace", KEEP_LIST, false, false },
	{ "graph", "set_graph_function", KEEP_LIST, false, true },
	{ "max-graph-depth", "max_graph_depth", KEEP_WORD, false, true },
	{ "tracer", "current_tracer", KEEP_WORD, false, false },
};

/* Of buffers that are made for a recorder: how full they are when it is woken. */
#define WAKE_PERCENT "25"

#define NSETTINGS (sizeof(settings) / sizeof(settings[0]))

static int out_of_memory(struct err *err)
{
	return err_set(err, -ENOMEM, "out of memory");
}

static const struct scope *scope_at(const struct setup *setup, int s)
{
	return setup_scope(setup, s);
}

/* Words of a list, each of which ends. `behind` goes behind each of them. */
static int write_list(struct setup *setup, int s, const char *file, const char *value, const char *behind,
		      bool append, struct err *err)
{
	struct buf text = BUF_INIT;
	int r;

	for (;; value++) {
		if (*value && *value != ',') {
			buf_putc(&text, *value);
			continue;
		}
		buf_puts(&text, behind);
		if (!*value)
			break;
		buf_putc(&text, ' ');
	}
	buf_putc(&text, '\n');
	r = buf_failed(&text) ? out_of_memory(err)
			      : scope_write(scope_at(setup, s), setup->source, file, text.data, append, err);
	buf_fini(&text);
	return r;
}

static int write_mask(struct setup *setup, int s, const char *mask, struct err *err)
{
	struct buf all = BUF_INIT;
	int r = 0;

	if (!strcmp(mask, "-1")) {
		r = defaults_cpumask(setup->source, &all);
		if (r)
			err_set(err, r, "%s does not tell which CPUs it has", source_name(setup->source));
	}
	if (!r)
		r = scope_write(scope_at(setup, s), setup->source, "tracing_cpumask",
				all.data ? all.data : mask, false, err);
	buf_fini(&all);
	return r;
}

/* `module`: of that file alone; NULL: of any. */
static int write_value(struct setup *setup, int s, const struct setting *setting, const char *value, const char *module,
		       bool again, struct err *err)
{
	char behind[128] = "";

	if (module && !strcmp(setting->word, "function"))
		snprintf(behind, sizeof(behind), ":mod:%.100s", module);
	if (setting->kind == KEEP_LIST)
		return write_list(setup, s, setting->file, value, behind, again, err);
	if (!strcmp(setting->word, "cpumask"))
		return write_mask(setup, s, value, err);
	if (!strcmp(setting->word, "clock"))
		value = setup_clock(value);
	return scope_write(scope_at(setup, s), setup->source, setting->file, value, false, err);
}

/* Of buffers that are made here, all by one clock if the line does not say otherwise; beside programs, of all of a kernel's. */
static const char *usual_clock(const struct setup *setup, int s)
{
	const char *said = opts_value(setup->opts, "clock");

	if ((!setup->buffers[s].made && !(setup->files && setup->how.clock)) || setup_value(setup, scope_at(setup, s), "clock"))
		return NULL;
	return said ? said : setup->how.clock;
}

/* What the command line implies beside what it says, or NULL. */
static const char *implied(const struct setup *setup, int s, const struct setting *setting, char text[16])
{
	const struct scope *scope = scope_at(setup, s);

	if (!strcmp(setting->word, "clock"))
		return usual_clock(setup, s);
	if (!strcmp(setting->word, "pid") && setup->only &&
	    opts_value(setup->opts, "only-command")) {
		snprintf(text, 16, "%d", (int)setup->only);
		return text;
	}
	if (!strcmp(setting->word, "function") && setup_value(setup, scope, "module") &&
	    !setup_value(setup, scope, "function"))
		return "*";
	return NULL;
}

/* Commands among functions stay when the file is emptied: like triggers they are taken away by themselves. `n`: of how many. */
static int keep_commands(struct setup *setup, int s, const char *file, const char *value, int *n, struct err *err)
{
	int r = 0;

	while (!r && *value) {
		size_t len = strcspn(value, ",");
		char word[256];

		snprintf(word, sizeof(word), "%.*s", (int)len, value);
		if (len < sizeof(word) && *word != '!' && strchr(word, ':') && !strstr(word, ":mod:")) {
			r = setup_keep_effects(setup, s, word, err);
			if (!r)
				r = setup_keep_trigger(setup, s, file, word, err);
			*n += !r && !setup_made(setup, s);
		}
		value += len + (value[len] == ',');
	}
	return r;
}

/* Written where it belongs: `at`, which may be the top buffer for all. */
static int write_values(struct setup *setup, int s, int at, const struct setting *setting, struct err *err)
{
	const struct scope *scope = scope_at(setup, s);
	char text[16], path[SCOPE_PATH];
	const char *more = implied(setup, s, setting, text), *module = setup_value(setup, scope, "module");
	bool again = false;
	int r;

	if (!scope_has(scope_at(setup, at), setup->source, setting->file))
		return err_set(err, -ENOENT, "--%s: there is no %s here", setting->word,
			       setup->buffers[s].fresh ? setting->file : scope_path(path, scope, setting->file));
	r = setup_keep(setup, at, setting->file, setting->kind, err);
	for (int i = scope->first; !r && i < scope->end; i++) {
		const struct opts_item *item = &setup->opts->items[i];
		int commands = 0;

		if (!scope_is(item, setting->word))
			continue;
		if (!strcmp(setting->word, "function"))
			r = keep_commands(setup, at, setting->file, item->value, &commands, err);
		if (!r)
			r = write_value(setup, at, setting, item->value, module, again, err);
		/* What is refused because there is one already is not ours to take away. */
		for (; r && commands; commands--)
			setup_forget(setup);
		again = true;
	}
	if (!r && more)
		r = write_value(setup, at, setting, more, module, again, err);
	return r;
}

/*
 * What a kernel has no file for, or does not let us write, is left as it is, and told: the rest is recorded as well as ever. A
 * value that it does not take is a mistake of the line. Who only sets something wants to have just that.
 */
static int soften(const struct setup *setup, int r, const struct err *why, struct err *err)
{
	if (!setup->files || !setup->how.on || (r != -ENOENT && r != -EPERM && r != -EACCES && r != -EOPNOTSUPP && r != -ENODEV))
		return r ? err_set(err, r, "%s", why->text) : 0;
	cmd_say("%s; this goes on without", why->text);
	return 0;
}

static int write_setting(struct setup *setup, int s, const struct setting *setting, struct err *err)
{
	const struct scope *scope = scope_at(setup, s);
	int at = setting->of_top && !scope_has(scope, setup->source, setting->file) ? SETUP_TOP : s, r;
	struct err why = ERR_INIT;
	char text[16];

	if ((!implied(setup, s, setting, text) && !setup_value(setup, scope, setting->word)) ||
	    (setting->of_tracer && (!setup_value(setup, scope, "tracer") ||
				    !scope_has(scope, setup->source, setting->file))))
		return 0;
	r = write_values(setup, s, at, setting, &why);
	/* A tracer alone is all there was to record. */
	if (!strcmp(setting->word, "tracer") && !setup_value(setup, scope, "event"))
		return r ? err_set(err, r, "%s", why.text) : 0;
	return soften(setup, r, &why, err);
}

/* The word of the option in its buffer's list, or, of a tracer that is not chosen yet, its file. */
static int write_word(struct setup *setup, int s, const char *option, struct err *err)
{
	bool off = !strncmp(option, "no", 2);
	char file[128];

	snprintf(file, sizeof(file), "options/%.100s", option + (off ? 2 : 0));
	if (!setup_says_option(setup, s, option) && !setup_says_other(setup, s, option) &&
	    scope_has(scope_at(setup, s), setup->source, file))
		return scope_write(scope_at(setup, s), setup->source, file, off ? "0" : "1", false, err);
	return scope_write(scope_at(setup, s), setup->source, "trace_options", option, false, err);
}

/* Those lists grow by themselves then: also what a person has in them, as long as it is so. */
static int keep_lists(struct setup *setup, int s, const char *option, struct err *err)
{
	static const char *const lists[][2] = { { "set_event_pid", "set_event_notrace_pid" }, { "set_ftrace_pid", "set_ftrace_notrace_pid" } };
	bool functions = !strcmp(option, "function-fork");
	int r = 0;

	for (int i = 0; !r && setup->files && i < 2 && (functions || !strcmp(option, "event-fork")); i++)
		r = setup_keep(setup, s, lists[functions][i], KEEP_LIST, err);
	return r;
}

/* A kernel's tracers have one set of options for all buffers: what an instance of our own does to it would stay behind. */
static int write_option(struct setup *setup, int s, const char *option, struct err *err)
{
	char file[128];
	size_t kept;
	int r;

	r = keep_lists(setup, s, option, err);
	if (r)
		return r;
	kept = setup->nkept;
	snprintf(file, sizeof(file), "options/%.100s", option + (strncmp(option, "no", 2) ? 0 : 2));
	if (setup_made(setup, s) && setup->files)
		r = setup_keep(setup, SETUP_TOP, file, KEEP_WORD, err);
	else
		r = setup_keep_option(setup, s, option, err);
	if (!r)
		r = write_word(setup, s, option, err);
	if (setup_made(setup, s) && setup->nkept > kept && setup_is_as_kept(setup))
		setup_forget(setup);
	return r;
}

static int write_options(struct setup *setup, int s, struct err *err)
{
	const struct scope *scope = scope_at(setup, s);
	bool picks = setup_value(setup, scope, "pid") ||
		     (setup->only && opts_value(setup->opts, "only-command"));
	bool functions;
	int r = 0;

	/* It stands for the top buffer, where programs mark and print. */
	if (setup->buffers[s].fresh && !setup->files)
		r = scope_write(scope, setup->source, "trace_options", "copy_trace_marker", false, err);
	for (int i = scope->first; !r && i < scope->end; i++)
		if (scope_is(&setup->opts->items[i], "option"))
			r = write_option(setup, s, setup->opts->items[i].value, err);
	if (!r && setup_value(setup, scope, "stacktrace"))
		r = write_option(setup, s, "stacktrace", err);
	if (r || !picks || !opts_value(setup->opts, "children"))
		return r;
	functions = setup_has_option(setup, "function-fork") && (!setup->files || setup_value(setup, scope, "tracer"));
	r = write_option(setup, s, "event-fork", err);
	return r || !functions ? r : write_option(setup, s, "function-fork", err);
}

static int write_settings(struct setup *setup, int s, struct err *err)
{
	int r = write_options(setup, s, err);

	for (size_t n = 0; !r && n < NSETTINGS; n++)
		r = write_setting(setup, s, &settings[n], err);
	/* The tracer's own: it is there when the tracer is. */
	if (!r && setup_value(setup, scope_at(setup, s), "func-stack"))
		r = write_option(setup, s, "func_stack_trace", err);
	return r;
}

static int write_trigger(struct setup *setup, int s, const char *file, const char *text, struct err *err)
{
	int r = setup_keep_effects(setup, s, text, err);

	if (!r)
		r = setup_keep_trigger(setup, s, file, text, err);
	if (r)
		return r;
	r = scope_write(scope_at(setup, s), setup->source, file, text, true, err);
	if (r && !setup_made(setup, s))
		setup_forget(setup);
	return r;
}

/* A trigger is added, a filter replaces another. */
static int write_file(struct setup *setup, int s, const char *file, bool trigger, const char *text,
		      struct err *err)
{
	int r;

	if (trigger)
		return write_trigger(setup, s, file, text, err);
	r = setup_keep(setup, s, file, KEEP_FILTER, err);
	return r ? r : scope_write(scope_at(setup, s), setup->source, file, text, false, err);
}

/* Is there one file for what is wished? Its events are kept one by one. */
static int write_system(struct setup *setup, int s, const struct events_wish *wish, const char *file,
			const char *text, struct err *err)
{
	char own[256];
	int r = 0;

	for (size_t i = 0; !r && i < setup->events.n; i++) {
		const struct events_item *item = &setup->events.item[i];

		if (strcmp(item->system, wish->system))
			continue;
		snprintf(own, sizeof(own), "events/%.80s/%.80s/filter", item->system, item->name);
		r = setup_keep(setup, s, own, KEEP_FILTER, err);
	}
	return r ? r : scope_write(scope_at(setup, s), setup->source, file, text, false, err);
}

/* Names of an event that no program has brought yet: what is written for it holds when one does. */
static int write_ahead(struct setup *setup, int s, const struct events_wish *wish, bool trigger, const char *text,
		       struct err *err)
{
	const struct scope *scope = scope_at(setup, s);
	char event[160];
	int r = control_condition_set(source_control(setup->source), scope->instance ? scope->instance : "", wish->system,
				      wish->event, trigger, text, err);

	snprintf(event, sizeof(event), "%.64s:%.64s", wish->system, wish->event);
	if (r)
		err_prefix(err, "the %s of %s: ", trigger ? "trigger" : "filter", event);
	return r ? r : setup_keep_ahead(setup, s, event, trigger ? text : NULL, err);
}

static bool is_one(const struct events_wish *wish)
{
	return !wish->bare && !strpbrk(wish->system, "*?[") && !strpbrk(wish->event, "*?[");
}

/* The same where the system is not said, of the command's own events. */
static int write_coming(struct setup *setup, int s, const struct events_wish *wish, bool trigger, const char *text,
			bool *found, struct err *err)
{
	struct events_wish *events = NULL;
	size_t n = wish->bare && setup->opts->nargs ? coming_events(opts_arg(setup->opts, 0), wish->event, &events) : 0;
	int r = is_one(wish) ? write_ahead(setup, s, wish, trigger, text, err) : 0;

	for (size_t i = 0; !r && i < n; i++)
		r = write_ahead(setup, s, &events[i], trigger, text, err);
	*found = is_one(wish) || n;
	free(events);
	return r;
}

/* A filter or a trigger: a filter for a whole system at once where that is meant, else for each event. */
static int write_condition(struct setup *setup, int s, const char *event, const char *word, const char *text,
			   struct err *err)
{
	bool trigger = !strcmp(word, "trigger"), found = false;
	struct events_wish wish;
	char file[256];
	int r = 0;

	events_wish_parse(&wish, event);
	snprintf(file, sizeof(file), "events/%s/%s", wish.system, word);
	if (!trigger && (wish.bare || !strcmp(wish.event, "*")) &&
	    scope_has(scope_at(setup, s), setup->source, file))
		return write_system(setup, s, &wish, file, text, err);
	for (size_t i = 0; !r && i < setup->events.n; i++) {
		const struct events_item *item = &setup->events.item[i];

		if (!events_wish_matches(&wish, item))
			continue;
		found = true;
		snprintf(file, sizeof(file), "events/%.80s/%.80s/%s", item->system, item->name, word);
		if (scope_has(scope_at(setup, s), setup->source, file))
			r = write_file(setup, s, file, trigger, text, err);
		else
			r = err_set(err, -ENOENT, "%.80s:%.80s has no %s here", item->system, item->name, word);
	}
	if (!r && !found && !setup->files)
		r = write_coming(setup, s, &wish, trigger, text, &found, err);
	if (!r && !found && !opts_value(setup->opts, "ignore-unknown"))
		r = err_set(err, -ENOENT, "a %s is for events that are known, and no program has "
			    "brought %.120s yet: name one as SYSTEM:EVENT", word, event);
	return r;
}

/* All filters of the event at item `i`, as one. */
static int write_filters(struct setup *setup, int s, int i, struct err *err)
{
	const struct opts_item *items = setup->opts->items;
	const char *only = NULL;
	struct buf all = BUF_INIT;
	int n = 0, r = 0;

	for (int j = i + 1; j < scope_at(setup, s)->end && !scope_is(&items[j], "event"); j++) {
		if (!scope_is(&items[j], "filter"))
			continue;
		buf_printf(&all, "%s(%s)", n++ ? "&&" : "", items[j].value);
		only = items[j].value;
	}
	if (buf_failed(&all))
		r = out_of_memory(err);
	else if (n)
		r = write_condition(setup, s, items[i].value, "filter", n > 1 ? all.data : only, err);
	buf_fini(&all);
	return r;
}

static int write_conditions(struct setup *setup, int s, struct err *err)
{
	const struct scope *scope = scope_at(setup, s);
	const char *event = NULL;
	int r = 0;

	for (int i = scope->first; !r && i < scope->end; i++) {
		const struct opts_item *item = &setup->opts->items[i];

		if (scope_is(item, "event")) {
			event = item->value;
			r = write_filters(setup, s, i, err);
		} else if (scope_is(item, "trigger")) {
			r = write_condition(setup, s, event, "trigger", item->value, err);
		}
	}
	return r;
}

/* Files: the size before all else, since it is what most likely fails; then events. */
static int write_size(struct setup *setup, int s, struct err *err)
{
	const char *size = setup_value(setup, scope_at(setup, s), "buffer-size");
	int r;

	if (!size)
		return 0;
	r = setup_keep_size(setup, s, err);
	if (r || !setup->files)
		return r;
	return scope_write(scope_at(setup, s), setup->source, "buffer_size_kb", size, false, err);
}

static int switch_to(struct setup *setup, int s, bool on, struct err *err)
{
	return scope_write(scope_at(setup, s), setup->source, "tracing_on", on ? "1" : "0", false, err);
}

static int write_name(struct setup *setup, int s, bool on, const char *system, const char *event,
		      struct err *err)
{
	char word[200];

	snprintf(word, sizeof(word), "%s%.80s%s%.80s\n", on ? "" : "!", system, *event ? ":" : "", event);
	return scope_write(scope_at(setup, s), setup->source, "set_event", word, true, err);
}

/* What programs bring, and what becomes of them. System calls would bury it, and cost more than all the rest. */
static int enable_usual(struct control *control, uint32_t index, struct err *err)
{
	static const char *const calls[] = { "raw_syscalls", "syscalls", "ringside" };
	int r = control_enable(control, index, "*", "*", true, err);

	for (size_t i = 0; !r && i < sizeof(calls) / sizeof(calls[0]); i++)
		r = control_enable(control, index, calls[i], "*", false, err);
	return r;
}

/* A kernel knows no patterns but all of a system, and all. */
static bool is_for_us(const struct events_wish *wish)
{
	if (events_wish_is_all(wish))
		return false;
	return strpbrk(wish->system, "*?[") ||
	       (!wish->bare && strcmp(wish->event, "*") && strpbrk(wish->event, "*?["));
}

/* With -i those that are not there are left out; without, they were refused. */
static int write_event(struct setup *setup, int s, int i, struct err *err)
{
	bool on = !setup_negated(setup, i);
	struct events_wish wish;
	int r = 0;

	events_wish_parse(&wish, setup->opts->items[i].value);
	if (!setup_knows(setup, &wish))
		return 0;
	if (!is_for_us(&wish))
		return write_name(setup, s, on, wish.system, wish.bare ? "" : wish.event, err);
	for (size_t e = 0; !r && e < setup->events.n; e++)
		if (events_wish_matches(&wish, &setup->events.item[e]))
			r = write_name(setup, s, on, setup->events.item[e].system,
				       setup->events.item[e].name, err);
	return r;
}

static int write_events(struct setup *setup, int s, struct err *err)
{
	const struct scope *scope = scope_at(setup, s);
	int r = 0;

	for (int i = scope->first; !r && i < scope->end; i++)
		if (scope_is(&setup->opts->items[i], "event"))
			r = write_event(setup, s, i, err);
	if (!r && setup->how.on && !setup->how.fresh)
		r = switch_to(setup, s, true, err);
	return r;
}

/* The same in a tracing directory, within a transaction. */
static int change_rules(struct setup *setup, struct control *control, uint32_t index, int s, struct err *err)
{
	const struct scope *scope = scope_at(setup, s);
	int r = 0;

	if (setup_wants_all(setup, scope))
		r = enable_usual(control, index, err);
	for (int i = scope->first; !r && i < scope->end; i++) {
		bool on = !setup_negated(setup, i);
		struct events_wish wish;

		if (!scope_is(&setup->opts->items[i], "event"))
			continue;
		events_wish_parse(&wish, setup->opts->items[i].value);
		if (wish.bare)
			r = control_enable_name(control, index, wish.system, on, err);
		else
			r = control_enable(control, index, wish.system, wish.event, on, err);
	}
	return r;
}

static int change_events(struct setup *setup, struct control *control, int s, struct err *err)
{
	const struct scope *scope = scope_at(setup, s);
	int index = control_state_buffer(&control->state, scope->instance ? scope->instance : "");
	const char *size = setup_value(setup, scope, "buffer-size");
	struct setup_buffer *mine = &setup->buffers[s];
	struct state_buffer *buffer;
	uint64_t kb;
	int r;

	if (index < 0)
		return scope_check(scope, setup->source, err);
	buffer = &control->state.buffers[index];
	r = setup_keep_rules(&mine->before, &control->state, (uint32_t)index, err);
	if (!size || !setup_number(size, &kb))
		kb = mine->made ? setup->how.size_kb : 0;
	if (!r && kb)
		r = control_buffer_resize(control, buffer, control_pages_from_kb(kb, buffer->page_size), err);
	if (!r)
		r = change_rules(setup, control, (uint32_t)index, s, err);
	if (!r)
		r = setup_keep_rules(&mine->after, &control->state, (uint32_t)index, err);
	if (!r && setup->how.on && !setup->how.fresh)
		r = control_buffer_switch(control, (uint32_t)index, true, err);
	return r;
}

static int change_all(struct setup *setup, struct control *control, struct err *err)
{
	int r = control_begin(control, err);

	if (r)
		return r;
	for (int s = 0; !r && s < setup->scopes.n; s++)
		if (!setup->buffers[s].removed)
			r = change_events(setup, control, s, err);
	return control_end(control, r, err);
}

/* What is recorded is what comes: a reader takes everything out anyway. One who wakes up early has time. */
static int ready_files(struct setup *setup, int s, struct err *err)
{
	if (!setup->buffers[s].made)
		return scope_write(setup_scope(setup, s), setup->source, "trace", "", false, err);
	/* Older kernels have none, and wake with the first event. */
	scope_write(setup_scope(setup, s), setup->source, "buffer_percent", WAKE_PERCENT, false, NULL);
	return 0;
}

/* Whether it records is kept first of all, which tells others that it is ours: of two who begin at once one sees the other at least. */
static int claim(struct setup *setup, int s, struct err *err)
{
	size_t kept = setup->nkept;
	int r = setup_keep(setup, s, "tracing_on", KEEP_WORD, err);

	if (r || setup->nkept == kept)
		return r;
	r = setup_journal_alone(setup, s, err);
	if (r)
		setup_forget(setup);
	return r;
}

/* Made, held if it is to be, and set. */
static int prepare(struct setup *setup, int s, struct err *err)
{
	int r = setup_make(setup, s, err);

	if (!r && setup->how.on)
		r = claim(setup, s, err);
	if (!r && setup->how.fresh)
		r = switch_to(setup, s, false, err);
	if (!r && setup->how.fresh && setup->files)
		r = ready_files(setup, s, err);
	if (!r)
		r = write_size(setup, s, err);
	if (!r)
		r = write_settings(setup, s, err);
	/* Before there are triggers, which switch events on in their way. */
	if (!r && setup->files && setup_value(setup, scope_at(setup, s), "event"))
		r = setup_keep_events(setup, s, err);
	if (!r)
		r = write_conditions(setup, s, err);
	return r;
}

/* What cannot be taken back comes last. */
static int remove_instances(struct setup *setup, struct err *err)
{
	char path[SCOPE_PATH];
	int r = 0;

	for (int s = 0; !r && s < setup->scopes.n; s++)
		if (setup->buffers[s].removed)
			r = source_rmdir(setup->source, scope_path(path, scope_at(setup, s), ""), err);
	return r;
}

static int change(struct setup *setup, struct err *err)
{
	struct control *control = source_control(setup->source);
	int r = 0;

	for (int s = 0; !r && s < setup->scopes.n; s++)
		if (!setup->buffers[s].removed)
			r = prepare(setup, s, err);
	if (!r && control)
		r = change_all(setup, control, err);
	for (int s = 0; !r && !control && s < setup->scopes.n; s++)
		if (!setup->buffers[s].removed)
			r = write_events(setup, s, err);
	return r ? r : remove_instances(setup, err);
}

/* One file has times of one kind: buffers that are made go by the clock of those that are there. */
static int follow_clock(struct setup *setup, struct control *control, struct err *err)
{
	int r = control_refresh(control, err);

	for (int s = 0; !r && s < setup->scopes.n; s++) {
		const struct scope *scope = scope_at(setup, s);
		int index = setup->buffers[s].fresh ? -1 :
			    control_state_buffer(&control->state, scope->instance ? scope->instance : "");

		if (index < 0)
			continue;
		setup->how.clock = control_clock_name(control->state.buffers[index].clock);
		break;
	}
	return r;
}

int setup_apply(struct setup *setup, struct source *source, struct err *err)
{
	int r = 0;

	setup->source = source;
	setup->files = !source_control(source);
	/* Whether the line names events at all; reading what there is takes a while. */
	if (opts_value(setup->opts, "event"))
		r = events_load(&setup->events, source, err);
	if (!r)
		r = setup_check_names(setup, err);
	if (!r && setup->how.clock && !setup->files)
		r = follow_clock(setup, source_control(source), err);
	if (r)
		return r;
	setup_journal_begin(setup);
	setup_watch_begin(setup);
	r = change(setup, err);
	if (r)
		setup_undo(setup, NULL);
	else if (!setup->files) {
		setup_tell_unknown(setup);
		setup_tell_stale(setup);
	}
	if (!r && !setup_is_quiet(setup))
		cmd_say_unreached(source);
	return r;
}

static int switch_directory(struct setup *setup, struct control *control, bool on, struct err *err)
{
	int r = control_begin(control, err);

	if (r)
		return r;
	for (int s = 0; !r && s < setup->scopes.n; s++) {
		const struct scope *scope = scope_at(setup, s);
		int index = control_state_buffer(&control->state, scope->instance ? scope->instance : "");

		if (index < 0)
			r = scope_check(scope, setup->source, err);
		else
			r = control_buffer_switch(control, (uint32_t)index, on, err);
	}
	return control_end(control, r, err);
}

static int switch_all(struct setup *setup, bool on, struct err *err)
{
	struct control *control = source_control(setup->source);
	int r = 0;

	if (control)
		return switch_directory(setup, control, on, err);
	for (int s = 0; !r && s < setup->scopes.n; s++)
		r = switch_to(setup, s, on, err);
	return r;
}

int setup_on(struct setup *setup, struct err *err)
{
	return switch_all(setup, true, err);
}

int setup_off(struct setup *setup, struct err *err)
{
	return switch_all(setup, false, err);
}

/* Where that cannot be, the recorder is seen, and no more. */
static int hide_from(struct setup *setup, int s, const char *file, pid_t tid, struct err *err)
{
	char text[16];
	int r;

	if (!scope_has(scope_at(setup, s), setup->source, file))
		return 0;
	snprintf(text, sizeof(text), "%d", (int)tid);
	r = setup_keep(setup, s, file, KEEP_LIST, err);
	if (!r)
		write_list(setup, s, file, text, "", true, NULL);
	return r;
}

int setup_hide(struct setup *setup, pid_t tid, struct err *err)
{
	int r = 0;

	for (int s = 0; !r && setup->files && !opts_value(setup->opts, "no-filter") && s < setup->scopes.n; s++) {
		r = hide_from(setup, s, "set_event_notrace_pid", tid, err);
		if (!r && setup_value(setup, scope_at(setup, s), "tracer"))
			r = hide_from(setup, s, "set_ftrace_notrace_pid", tid, err);
	}
	return r;
}
