/*
 * cmd/setup: see setup.h.
 *
 * In order: the line is read; what it names is looked for; then instances are made, settings written,
 * events switched on, recording switched on. In a tracing directory sizes, events and the last step
 * are one change, and the events are patterns that also hold for programs to come.
 */
#include "cmd/setup.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/events.h"
#include "cmd/scope.h"
#include "control/buffer.h"
#include "control/enable.h"

const struct opt setup_opts[] = {
	{ 'e', "event", "SYSTEM[:EVENT]", "events to switch on; again for more" },
	{ 'f', "filter", "FILTER", "of the -e before it, only records for which this holds" },
	{ 'R', "trigger", "TRIGGER", "what the -e before it sets off" },
	{ 'p', "tracer", "TRACER", "the tracer" },
	{ 'O', "option", "OPTION", "a trace option on, or with no before it off; again for more" },
	{ 'C', "clock", "CLOCK", "the clock" },
	{ 'b', "buffer-size", "KB", "size of the buffer for each CPU in KiB" },
	{ 0, "subbuf-size", "KB", "size of its pages in KiB" },
	{ 'M', "cpumask", "MASK", "only these CPUs, as a hexadecimal mask" },
	{ 'P', "pid", "PID", "only these threads, separated by commas; again for more" },
	{ 'l', "function", "FUNCTION", "of the function tracer, only these; again for more" },
	{ 'n', "no-function", "FUNCTION", "of the function tracer, not these; again for more" },
	{ 'g', "graph", "FUNCTION", "of the graph tracer, these and what they call" },
	{ 'B', "instance", "INSTANCE", "what follows is about this instance, made if there is none" },
	{ 0, NULL, NULL, NULL },
};

/* Options that are no more than a text for a file, in the order in which they are written. */
static const struct setting {
	const char *word;
	const char *file;
	bool is_list;	/* the first replaces what is there, others are added */
} settings[] = {
	{ "clock", "trace_clock", false },
	{ "subbuf-size", "buffer_subbuf_size_kb", false },
	{ "option", "trace_options", false },
	{ "cpumask", "tracing_cpumask", false },
	{ "pid", "set_event_pid", true },
	{ "function", "set_ftrace_filter", true },
	{ "no-function", "set_ftrace_notrace", true },
	{ "graph", "set_graph_function", true },
	{ "tracer", "current_tracer", false },
};

#define NSETTINGS (sizeof(settings) / sizeof(settings[0]))

/* Options whose word has to be one of a file's. */
static const struct choice {
	const char *word;
	const char *file;
	const char *what;
	const char *list;
} choices[] = {
	{ "clock", "trace_clock", "clock", "-C" },
	{ "option", "trace_options", "option", "-o" },
	{ "tracer", "available_tracers", "tracer", "-t" },
};

#define NCHOICES (sizeof(choices) / sizeof(choices[0]))

struct plan {
	const struct cmd *cmd;
	const struct opts *opts;
	bool on;
	struct scopes scopes;
	bool *made;			/* of each scope: its instance was made by this command */
	struct source *source;
	struct events events;
	struct err err;
};

static bool parse_number(const char *text, uint64_t *number)
{
	char *end;

	errno = 0;
	*number = strtoull(text, &end, 10);
	return *text >= '0' && *text <= '9' && !*end && !errno && *number;
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
	    !parse_number(item->value, &number))
		return "a number of KiB is needed";
	if (scope_is(item, "cpumask") && !is_of(item->value, "0123456789abcdefABCDEF,"))
		return "a hexadecimal mask of CPUs is needed";
	if (scope_is(item, "pid") && !is_of(item->value, "0123456789,"))
		return "numbers of threads are needed, separated by commas";
	return item->opt && item->opt->arg && !*item->value ? "something is needed there" : NULL;
}

/* What can be told without a source. An exit status. */
static int check_line(struct plan *plan)
{
	const struct opts_item *items = plan->opts->items;

	for (int s = 0; s < plan->scopes.n; s++) {
		bool event = false;

		for (int i = plan->scopes.scope[s].first; i < plan->scopes.scope[s].end; i++) {
			const char *wrong = wrong_with(&items[i]);
			char name[32] = "";

			if (items[i].opt && items[i].opt->letter)
				snprintf(name, sizeof(name), "-%c", items[i].opt->letter);
			else if (items[i].opt)
				snprintf(name, sizeof(name), "--%s", items[i].opt->word);
			if (wrong)
				return cmd_misuse(plan->cmd, "%s: %s '%s': %s", plan->cmd->name, name,
						  items[i].value, wrong);
			event |= scope_is(&items[i], "event");
			if (!event && (scope_is(&items[i], "filter") || scope_is(&items[i], "trigger")))
				return cmd_misuse(plan->cmd, "%s: %s belongs behind an -e",
						  plan->cmd->name, name);
		}
	}
	return CMD_DONE;
}

/* Is the word among those of the text? Brackets mark one of them, a `no` goes before some. */
static bool is_word(char *text, const char *word, bool with_no)
{
	char *save;

	if (with_no && !strncmp(word, "no", 2))
		word += 2;
	for (char *one = strtok_r(text, " \t\n[]", &save); one; one = strtok_r(NULL, " \t\n[]", &save)) {
		if (with_no && !strncmp(one, "no", 2))
			one += 2;
		if (!strcmp(one, word))
			return true;
	}
	return false;
}

/* Options of tracers that are not the present one have a file, but no word. */
static bool is_option_file(struct plan *plan, const char *word)
{
	char path[128];

	if (!strncmp(word, "no", 2))
		word += 2;
	if (!*word || strlen(word) > 100 || strchr(word, '/'))
		return false;
	snprintf(path, sizeof(path), "options/%s", word);
	return source_exists(plan->source, path);
}

static int check_choice(struct plan *plan, const struct choice *choice, const char *word)
{
	bool is_option = !strcmp(choice->word, "option");
	struct buf text = BUF_INIT;
	bool known;

	/* A source that does not say is asked by writing it. */
	if (!source_exists(plan->source, choice->file) ||
	    source_read(plan->source, choice->file, &text, NULL) || !text.data) {
		buf_fini(&text);
		return 0;
	}
	known = is_word(text.data, word, is_option) || (is_option && is_option_file(plan, word));
	buf_fini(&text);
	return known ? 0 : err_set(&plan->err, -EINVAL, "there is no %s '%.60s': `ringside list %s` lists "
				   "those there are", choice->what, word, choice->list);
}

static bool is_known(const struct plan *plan, const struct events_wish *wish)
{
	bool found = events_wish_is_all(wish);

	for (size_t i = 0; i < plan->events.n && !found; i++)
		found = events_wish_matches(wish, &plan->events.item[i]);
	return found;
}

/* Files know nothing of events to come. */
static int check_event(struct plan *plan, const char *text)
{
	struct events_wish wish;

	events_wish_parse(&wish, text);
	if (source_control(plan->source) || is_known(plan, &wish))
		return 0;
	return err_set(&plan->err, -EINVAL, "no event matches '%.120s': `ringside list` lists those there "
		       "are", text);
}

/* Everything that the line names is there, as far as can be told before anything is changed. */
static int check_names(struct plan *plan)
{
	int r = 0;

	for (int i = 0; !r && i < plan->opts->nitems; i++) {
		const struct opts_item *item = &plan->opts->items[i];

		for (size_t c = 0; !r && c < NCHOICES; c++)
			if (scope_is(item, choices[c].word))
				r = check_choice(plan, &choices[c], item->value);
		if (!r && scope_is(item, "event"))
			r = check_event(plan, item->value);
	}
	return r;
}

/* The last option of that word in the scope, or NULL. */
static const char *value_in(const struct plan *plan, const struct scope *scope, const char *word)
{
	for (int i = scope->end; i-- > scope->first;)
		if (scope_is(&plan->opts->items[i], word))
			return plan->opts->items[i].value;
	return NULL;
}

/* Where nothing else is named, programs are recorded with everything they have. */
static bool wants_all(const struct plan *plan, const struct scope *scope)
{
	return plan->on && source_control(plan->source) && !value_in(plan, scope, "event") &&
	       !value_in(plan, scope, "tracer");
}

static int make_instances(struct plan *plan)
{
	char path[SCOPE_PATH];
	int r = 0;

	for (int s = 0; !r && s < plan->scopes.n; s++) {
		const struct scope *scope = &plan->scopes.scope[s];

		if (!scope->instance || source_exists(plan->source, scope_path(path, scope, "")))
			continue;
		r = source_mkdir(plan->source, path, &plan->err);
		plan->made[s] = !r;
	}
	return r;
}

/* What failed leaves no empty instances behind. */
static void unmake_instances(struct plan *plan)
{
	char path[SCOPE_PATH];

	for (int s = 0; s < plan->scopes.n; s++)
		if (plan->made[s])
			source_rmdir(plan->source, scope_path(path, &plan->scopes.scope[s], ""), NULL);
}

/* Words of a list, each of which ends. */
static int write_list(struct plan *plan, const struct scope *scope, const char *file,
		      const char *value, bool append)
{
	struct buf text = BUF_INIT;
	int r;

	for (; *value; value++)
		buf_putc(&text, *value == ',' ? ' ' : *value);
	buf_putc(&text, '\n');
	r = buf_failed(&text) ? err_set(&plan->err, -ENOMEM, "out of memory")
			      : scope_write(scope, plan->source, file, text.data, append, &plan->err);
	buf_fini(&text);
	return r;
}

static int write_settings(struct plan *plan, const struct scope *scope)
{
	int r = 0;

	for (size_t n = 0; !r && n < NSETTINGS; n++) {
		bool again = false;

		for (int i = scope->first; !r && i < scope->end; i++) {
			const struct opts_item *item = &plan->opts->items[i];

			if (!scope_is(item, settings[n].word))
				continue;
			if (settings[n].is_list)
				r = write_list(plan, scope, settings[n].file, item->value, again);
			else
				r = scope_write(scope, plan->source, settings[n].file, item->value, false,
						&plan->err);
			again = true;
		}
	}
	return r;
}

/* A filter or a trigger: for a whole system at once where that is meant, else for each event. */
static int write_condition(struct plan *plan, const struct scope *scope, const char *event,
			   const struct opts_item *item)
{
	bool append = scope_is(item, "trigger"), found = false;
	struct events_wish wish;
	char file[256];
	int r = 0;

	events_wish_parse(&wish, event);
	snprintf(file, sizeof(file), "events/%s/%s", wish.system, item->opt->word);
	if ((wish.bare || !strcmp(wish.event, "*")) && scope_has(scope, plan->source, file))
		return scope_write(scope, plan->source, file, item->value, append, &plan->err);
	for (size_t i = 0; !r && i < plan->events.n; i++) {
		if (!events_wish_matches(&wish, &plan->events.item[i]))
			continue;
		found = true;
		snprintf(file, sizeof(file), "events/%.80s/%.80s/%s", plan->events.item[i].system,
			 plan->events.item[i].name, item->opt->word);
		r = scope_write(scope, plan->source, file, item->value, append, &plan->err);
	}
	if (!r && !found)
		r = err_set(&plan->err, -ENOENT, "a %s is for events that are known, and no program has "
			    "brought %.120s yet", item->opt->word, event);
	return r;
}

static int write_conditions(struct plan *plan, const struct scope *scope)
{
	const char *event = NULL;
	int r = 0;

	for (int i = scope->first; !r && i < scope->end; i++) {
		const struct opts_item *item = &plan->opts->items[i];

		if (scope_is(item, "event"))
			event = item->value;
		else if (scope_is(item, "filter") || scope_is(item, "trigger"))
			r = write_condition(plan, scope, event, item);
	}
	return r;
}

/* Files: the size before all else, since it is what most likely fails; then events. */
static int write_size(struct plan *plan, const struct scope *scope)
{
	const char *size = value_in(plan, scope, "buffer-size");

	if (!size || source_control(plan->source))
		return 0;
	return scope_write(scope, plan->source, "buffer_size_kb", size, false, &plan->err);
}

static int write_events(struct plan *plan, const struct scope *scope)
{
	int r = 0;

	for (int i = scope->first; !r && i < scope->end; i++) {
		const char *event = plan->opts->items[i].value;

		if (scope_is(&plan->opts->items[i], "event"))
			r = write_list(plan, scope, "set_event", strcmp(event, "all") ? event : "*:*",
				       true);
	}
	if (!r && plan->on)
		r = scope_write(scope, plan->source, "tracing_on", "1", false, &plan->err);
	return r;
}

/* The same in a tracing directory, within a transaction. */
static int change_events(struct plan *plan, struct control *control, const struct scope *scope)
{
	int index = control_state_buffer(&control->state, scope->instance ? scope->instance : "");
	const char *size = value_in(plan, scope, "buffer-size");
	struct state_buffer *buffer;
	uint64_t kb;
	int r = 0;

	if (index < 0)
		return scope_check(scope, plan->source, &plan->err);
	buffer = &control->state.buffers[index];
	if (size && parse_number(size, &kb))
		r = control_buffer_resize(control, buffer,
					  control_pages_from_kb(kb, buffer->page_size), &plan->err);
	if (!r && wants_all(plan, scope))
		r = control_enable(control, (uint32_t)index, "*", "*", true, &plan->err);
	for (int i = scope->first; !r && i < scope->end; i++) {
		struct events_wish wish;

		if (!scope_is(&plan->opts->items[i], "event"))
			continue;
		events_wish_parse(&wish, plan->opts->items[i].value);
		if (wish.bare)
			r = control_enable_name(control, (uint32_t)index, wish.system, true, &plan->err);
		else
			r = control_enable(control, (uint32_t)index, wish.system, wish.event, true,
					   &plan->err);
	}
	if (plan->on)
		buffer->flags |= BUFFER_ON;
	return r;
}

static int change_all(struct plan *plan, struct control *control)
{
	int r = control_begin(control, &plan->err);

	if (r)
		return r;
	for (int s = 0; !r && s < plan->scopes.n; s++)
		r = change_events(plan, control, &plan->scopes.scope[s]);
	return control_end(control, r, &plan->err);
}

/* Patterns for programs to come are fine, but a person may have mistyped one. */
static void tell_unknown(const struct plan *plan)
{
	for (int i = 0; i < plan->opts->nitems; i++) {
		struct events_wish wish;

		if (!scope_is(&plan->opts->items[i], "event"))
			continue;
		events_wish_parse(&wish, plan->opts->items[i].value);
		if (!is_known(plan, &wish))
			cmd_say("no program has brought %s%s%s yet: it is on for those to come",
				wish.system, wish.bare ? "" : ":", wish.bare ? "" : wish.event);
	}
}

static int apply(struct plan *plan)
{
	struct control *control = source_control(plan->source);
	int r;

	r = make_instances(plan);
	for (int s = 0; !r && s < plan->scopes.n; s++) {
		const struct scope *scope = &plan->scopes.scope[s];

		r = write_size(plan, scope);
		if (!r)
			r = write_settings(plan, scope);
		if (!r)
			r = write_conditions(plan, scope);
	}
	if (!r && control)
		r = change_all(plan, control);
	for (int s = 0; !r && !control && s < plan->scopes.n; s++)
		r = write_events(plan, &plan->scopes.scope[s]);
	if (r)
		unmake_instances(plan);
	else if (control)
		tell_unknown(plan);
	return r;
}

/* On files, `start` has to be told what: a kernel has too much to switch it all on by mistake. */
static int check_nothing(const struct plan *plan)
{
	for (int s = 0; s < plan->scopes.n; s++) {
		const struct scope *scope = &plan->scopes.scope[s];

		if (plan->on && !source_control(plan->source) && !value_in(plan, scope, "event") &&
		    !value_in(plan, scope, "tracer"))
			return cmd_misuse(plan->cmd, "%s: which events (-e, all of them with -e all), or "
					  "which tracer (-p)? `ringside restart` only goes on",
					  plan->cmd->name);
	}
	return CMD_DONE;
}

/* Whether the line names events at all; reading what there is takes a while. */
static int load_events(struct plan *plan)
{
	if (!opts_value(plan->opts, "event"))
		return 0;
	return events_load(&plan->events, plan->source, &plan->err);
}

int setup_run(const struct cmd *cmd, const struct opts *opts, bool on)
{
	struct plan plan = { .cmd = cmd, .opts = opts, .on = on, .err = ERR_INIT };
	int status, r;

	r = scopes_split(&plan.scopes, opts, setup_opts, &plan.err);
	if (r)
		return r == -EINVAL ? cmd_misuse(cmd, "%s: %s", cmd->name, plan.err.text)
				    : cmd_fail(&plan.err);
	status = check_line(&plan);
	if (!status) {
		r = cmd_open(&plan.source, opts, true, &plan.err);
		plan.made = calloc((size_t)plan.scopes.n + 1, sizeof(*plan.made));
		if (!r && !plan.made)
			r = err_set(&plan.err, -ENOMEM, "out of memory");
		if (!r)
			status = check_nothing(&plan);
		if (!r && !status)
			r = load_events(&plan);
		if (!r && !status)
			r = check_names(&plan);
		if (!r && !status)
			r = apply(&plan);
		events_fini(&plan.events);
		source_close(plan.source);
		free(plan.made);
	}
	scopes_fini(&plan.scopes);
	return r ? cmd_fail(&plan.err) : status;
}
