/*
 * cmd/setup_undo: what buffers were like before a setup, and everything back to that.
 *
 * Kept is a text for each file that is changed, which brings it back; of events, what was on. Instances that the setup made
 * have nothing to keep: they go. What others changed meanwhile stays where it is not in the way.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/setup_local.h"
#include "control/control.h"
#include "control/hooks.h"
#include "control/own.h"
#include "control/rules.h"

static int out_of_memory(struct err *err)
{
	return err_set(err, -ENOMEM, "out of memory");
}

/* What would have to be written for the file to say what it says. */
static int read_back(struct setup *setup, int s, const char *file, enum setup_keep kind, struct buf *out, struct err *err)
{
	return keep_read(setup->source, setup_scope(setup, s), file, kind, out, err);
}

static bool is_kept(const struct setup *setup, int s, const char *file)
{
	for (size_t i = 0; i < setup->nkept; i++)
		if (setup->kept[i].scope == s && !strcmp(setup->kept[i].file, file))
			return true;
	return false;
}

static int add(struct setup *setup, int s, const char *file, const char *text, enum setup_keep kind,
	       struct err *err)
{
	struct setup_kept *more = realloc(setup->kept, (setup->nkept + 1) * sizeof(*more));

	if (!more)
		return out_of_memory(err);
	setup->kept = more;
	more[setup->nkept] = (struct setup_kept){ s, strdup(file), strdup(text), kind };
	if (more[setup->nkept].file && more[setup->nkept].text) {
		setup_journal_keep(setup, &more[setup->nkept]);
		setup->nkept++;
		return 0;
	}
	free(more[setup->nkept].file);
	free(more[setup->nkept].text);
	return out_of_memory(err);
}

int setup_keep(struct setup *setup, int s, const char *file, enum setup_keep kind, struct err *err)
{
	struct buf text = BUF_INIT;
	int r = 0;

	/* A source without the file says so when it is written. */
	if (setup_made(setup, s) || is_kept(setup, s, file) ||
	    !scope_has(setup_scope(setup, s), setup->source, file))
		return 0;
	/* What can only be written cannot be brought back. */
	if (!read_back(setup, s, file, kind, &text, NULL))
		r = add(setup, s, file, text.data ? text.data : "", kind, err);
	buf_fini(&text);
	return r;
}

int setup_keep_size(struct setup *setup, int s, struct err *err)
{
	const struct scope *scope = setup_scope(setup, s);
	struct buf size = BUF_INIT, names = BUF_INIT;
	char path[SCOPE_PATH], file[128], *save;
	int r = 0;

	if (read_back(setup, s, "buffer_size_kb", KEEP_WORD, &size, NULL) || !size.data || *size.data != 'X') {
		buf_fini(&size);
		return setup_keep(setup, s, "buffer_size_kb", KEEP_WORD, err);
	}
	/* Each CPU has its own. */
	if (!source_list(setup->source, scope_path(path, scope, "per_cpu"), &names, NULL) && names.data)
		for (char *name = strtok_r(names.data, "\n", &save); !r && name;
		     name = strtok_r(NULL, "\n", &save)) {
			snprintf(file, sizeof(file), "per_cpu/%.40sbuffer_size_kb", name);
			r = setup_keep(setup, s, file, KEEP_WORD, err);
		}
	buf_fini(&names);
	buf_fini(&size);
	return r;
}

/* Is this a line of the text? */
static bool has_line(const char *text, const char *line, size_t len)
{
	while (text && *text) {
		size_t n = strcspn(text, "\n");

		if (n == len && !memcmp(text, line, n))
			return true;
		text += n + (text[n] == '\n');
	}
	return false;
}

bool setup_says_option(struct setup *setup, int s, const char *word)
{
	struct buf text = BUF_INIT;
	bool says;

	says = !scope_read(setup_scope(setup, s), setup->source, "trace_options", &text, NULL) &&
	       has_line(text.data, word, strlen(word));
	buf_fini(&text);
	return says;
}

bool setup_says_other(struct setup *setup, int s, const char *word)
{
	char other[128];

	snprintf(other, sizeof(other), "%s%.100s", strncmp(word, "no", 2) ? "no" : "", word + (strncmp(word, "no", 2) ? 0 : 2));
	return setup_says_option(setup, s, other);
}

int setup_keep_option(struct setup *setup, int s, const char *option, struct err *err)
{
	char on[128], off[128];

	if (setup_made(setup, s))
		return 0;
	snprintf(on, sizeof(on), "%.100s", option + (strncmp(option, "no", 2) ? 0 : 2));
	snprintf(off, sizeof(off), "no%.100s", on);
	if (setup_says_option(setup, s, on))
		return add(setup, s, "trace_options", on, KEEP_OPTION, err);
	if (setup_says_option(setup, s, off))
		return add(setup, s, "trace_options", off, KEEP_OPTION, err);
	snprintf(off, sizeof(off), "options/%.100s", on);
	return setup_keep(setup, s, off, KEEP_WORD, err);
}

int setup_keep_trigger(struct setup *setup, int s, const char *file, const char *trigger, struct err *err)
{
	struct buf text = BUF_INIT;
	int r = 0;

	if (setup_made(setup, s))
		return 0;
	buf_printf(&text, "!%s", trigger);
	r = buf_failed(&text) ? out_of_memory(err) : setup_keep_writing(setup, s, file, text.data, err);
	buf_fini(&text);
	return r;
}

int setup_keep_writing(struct setup *setup, int s, const char *file, const char *text, struct err *err)
{
	return add(setup, s, file, text, KEEP_TRIGGER, err);
}

void setup_forget(struct setup *setup)
{
	struct setup_kept *kept = &setup->kept[--setup->nkept];

	setup_journal_forget(setup);
	free(kept->file);
	free(kept->text);
}

int setup_keep_ahead(struct setup *setup, int s, const char *event, const char *text, struct err *err)
{
	struct buf undo = BUF_INIT;
	int r = 0;

	if (setup->buffers[s].made)
		return 0;
	buf_printf(&undo, "%s%s", text ? "!" : "0", text ? text : "");
	r = buf_failed(&undo) ? out_of_memory(err) : add(setup, s, event, undo.data, KEEP_AHEAD, err);
	buf_fini(&undo);
	return r;
}

int setup_keep_events(struct setup *setup, int s, struct err *err)
{
	struct buf on = BUF_INIT;
	int r;

	if (setup->buffers[s].made)
		return 0;
	r = keep_events(setup->source, setup_scope(setup, s), &on, err);
	if (!r) {
		setup->buffers[s].events = buf_take(&on);
		r = setup->buffers[s].events ? 0 : out_of_memory(err);
		if (!r)
			setup_journal_on(setup, s);
	}
	buf_fini(&on);
	return r;
}

int setup_keep_rules(struct setup_rules *rules, const struct control_state *state, uint32_t buffer,
		     struct err *err)
{
	rules->rule = calloc(state->nrules + 1, sizeof(*rules->rule));
	rules->n = 0;
	if (!rules->rule)
		return out_of_memory(err);
	for (uint32_t i = 0; i < state->nrules; i++)
		if (state->rules[i].buffer == buffer)
			rules->rule[rules->n++] = state->rules[i];
	return 0;
}

/* Rules of one buffer are the same if they say the same, wherever it is now. */
static bool has_rule(const struct setup_rules *rules, const struct state_rule *rule)
{
	for (size_t i = 0; i < rules->n; i++)
		if (rules->rule[i].on == rule->on && !strcmp(rules->rule[i].system, rule->system) &&
		    !strcmp(rules->rule[i].event, rule->event))
			return true;
	return false;
}

static int put_rule(struct control_state *state, uint32_t buffer, const struct state_rule *rule,
		    struct err *err)
{
	return control_rules_set(state, buffer, rule->system, rule->event, rule->on, err);
}

/* Those from before that nobody has taken away since, then those that others have added. */
static int undo_rules(struct setup *setup, struct control *control, int s, struct err *err)
{
	const char *name = setup->scopes.scope[s].instance;
	int index = control_state_buffer(&control->state, name ? name : "");
	const struct setup_buffer *mine = &setup->buffers[s];
	struct setup_rules now = { NULL, 0 };
	int r = 0;

	if (index < 0)
		return 0;
	r = setup_keep_rules(&now, &control->state, (uint32_t)index, err);
	if (r)
		return r;
	control_rules_clear(&control->state, (uint32_t)index);
	for (size_t i = 0; !r && i < mine->before.n; i++)
		if (has_rule(&now, &mine->before.rule[i]) || !has_rule(&mine->after, &mine->before.rule[i]))
			r = put_rule(&control->state, (uint32_t)index, &mine->before.rule[i], err);
	for (size_t i = 0; !r && i < now.n; i++)
		if (!has_rule(&mine->after, &now.rule[i]))
			r = put_rule(&control->state, (uint32_t)index, &now.rule[i], err);
	free(now.rule);
	return r;
}

static int undo_directory(struct setup *setup, struct control *control, struct err *err)
{
	bool any = false;
	int r = 0;

	for (int s = 0; s < setup->scopes.n; s++)
		any |= setup->buffers[s].after.rule && !setup->buffers[s].made;
	if (!any)
		return 0;
	r = control_begin(control, err);
	if (r)
		return r;
	for (int s = 0; !r && s < setup->scopes.n; s++)
		if (setup->buffers[s].after.rule && !setup->buffers[s].made)
			r = undo_rules(setup, control, s, err);
	return control_end(control, r, err);
}

/* Was or is the event one that the scope's line names? */
static bool is_wished(const struct setup *setup, const struct scope *scope, const char *line, size_t len)
{
	char text[160];
	char *colon;

	snprintf(text, sizeof(text), "%.*s", (int)len, line);
	colon = strchr(text, ':');
	if (!colon)
		return false;
	*colon = '\0';
	for (int i = scope->first; i < scope->end; i++) {
		struct events_item item = { .system = text, .name = colon + 1 };
		struct events_wish wish;

		if (scope_is(&setup->opts->items[i], "event") &&
		    events_wish_parse(&wish, setup->opts->items[i].value) && events_wish_matches(&wish, &item))
			return true;
	}
	return false;
}

/* Every event of `these` that the line names and that is not in `those`, with `sign` before it; or that is there, but off. */
static int write_difference(struct setup *setup, int s, const char *these, const char *those,
			    const char *sign, struct err *err)
{
	const struct scope *scope = setup_scope(setup, s);
	char word[170];
	int first = 0;

	while (these && *these) {
		size_t len = strcspn(these, "\n");
		int r = 0;

		if (is_wished(setup, scope, these, len) &&
		    (!has_line(those, these, len) || (!*sign && !keep_is_on(setup->source, scope, these, len)))) {
			snprintf(word, sizeof(word), "%s%.*s\n", sign, (int)len, these);
			r = scope_write(scope, setup->source, "set_event", word, true, err);
		}
		first = first ? first : r;
		these += len + (these[len] == '\n');
	}
	return first;
}

/* Does the scope's line name every one of these events? */
static bool is_all_wished(const struct setup *setup, const struct scope *scope, const char *events)
{
	while (events && *events) {
		size_t len = strcspn(events, "\n");

		if (!is_wished(setup, scope, events, len))
			return false;
		events += len + (events[len] == '\n');
	}
	return true;
}

/* The same in files. Where nothing was on and nothing else is, all can go at once, which spares a kernel much. */
static int undo_events(struct setup *setup, int s, struct err *err)
{
	const struct scope *scope = setup_scope(setup, s);
	const char *before = setup->buffers[s].events;
	struct buf now = BUF_INIT;
	int r, more;

	r = read_back(setup, s, "set_event", KEEP_LIST, &now, err);
	if (!r && !*before && is_all_wished(setup, scope, now.data)) {
		r = scope_write(scope, setup->source, "set_event", "", false, err);
	} else if (!r) {
		r = write_difference(setup, s, now.data, before, "!", err);
		more = write_difference(setup, s, before, now.data, "", err);
		r = r ? r : more;
	}
	buf_fini(&now);
	return r;
}

/* What has no file yet. */
static int undo_ahead(struct setup *setup, const struct setup_kept *kept, struct err *err)
{
	const struct scope *scope = setup_scope(setup, kept->scope);
	struct events_wish wish;

	events_wish_parse(&wish, kept->file);
	return control_condition_set(source_control(setup->source), scope->instance ? scope->instance : "", wish.system,
				     wish.event, kept->text[0] == '!', kept->text, err);
}

/* Does the file say what it said? */
/* A filter that was refused is no filter, but it is shown, with what is wrong with it, until it is written over. */
static bool shows_refusal(struct setup *setup, const struct setup_kept *kept)
{
	struct buf text = BUF_INIT;
	bool shows;

	shows = !scope_read(setup_scope(setup, kept->scope), setup->source, kept->file, &text, NULL) && text.data &&
		strstr(text.data, "\nparse_error: ");
	buf_fini(&text);
	return shows;
}

static bool is_as_kept(struct setup *setup, const struct setup_kept *kept)
{
	struct buf now = BUF_INIT;
	bool same;

	if (kept->kind == KEEP_OPTION)
		return setup_says_option(setup, kept->scope, kept->text);
	if (kept->kind == KEEP_TRIGGER || (kept->kind == KEEP_FILTER && shows_refusal(setup, kept)))
		return false;
	same = !read_back(setup, kept->scope, kept->file, kept->kind, &now, NULL) && now.data && !strcmp(now.data, kept->text);
	buf_fini(&now);
	return same;
}

bool setup_is_as_kept(struct setup *setup)
{
	return is_as_kept(setup, &setup->kept[setup->nkept - 1]);
}

static int undo_file(struct setup *setup, const struct setup_kept *kept, struct err *err)
{
	if (is_as_kept(setup, kept))
		return 0;
	return scope_write(setup_scope(setup, kept->scope), setup->source, kept->file, kept->text, kept->kind == KEEP_TRIGGER, err);
}

static int unmake(struct setup *setup, int s, struct err *err)
{
	const struct scope *scope = setup_scope(setup, s);
	char path[SCOPE_PATH];
	int r = 0;

	if (setup->buffers[s].made && source_exists(setup->source, scope_path(path, scope, "")))
		r = source_rmdir(setup->source, path, err);
	setup->buffers[s].made = false;
	return r;
}

/* The first failure counts, and what it says; `err` keeps it by itself. */
static void then(int *first, int r)
{
	if (!*first)
		*first = r;
}

int setup_undo(struct setup *setup, struct err *err)
{
	struct control *control = setup->source ? source_control(setup->source) : NULL;
	int r = 0;

	if (!setup->source)
		return 0;
	if (control)
		then(&r, undo_directory(setup, control, err));
	for (int s = 0; s < setup->scopes.n; s++)
		if (setup->buffers[s].events)
			then(&r, undo_events(setup, s, err));
	while (setup->nkept) {
		struct setup_kept *kept = &setup->kept[--setup->nkept];

		then(&r, kept->kind == KEEP_AHEAD ? undo_ahead(setup, kept, err) : undo_file(setup, kept, err));
		free(kept->file);
		free(kept->text);
	}
	for (int s = 0; s < setup->scopes.n; s++)
		then(&r, unmake(setup, s, err));
	setup_journal_end(setup);
	setup->source = NULL;
	return r;
}

int setup_leave(struct setup *setup, struct err *err)
{
	struct control *control = setup->source ? source_control(setup->source) : NULL;

	setup_journal_end(setup);
	return control ? control_own_release(control, err) : 0;
}
