/*
 * cmd/save_events: events of a source as keys of a profile: which are brought, which are on, what hangs on them.
 *
 * Histograms that use variables of others come behind those, wherever they are: they can only be made in that order.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "boot/profile.h"
#include "cmd/cmd.h"
#include "cmd/keep.h"
#include "cmd/save_local.h"
#include "control/control.h"
#include "control/hooks.h"
#include "control/state.h"

/* ---- events that are brought ---- */

/* p:kprobes/NAME PLACE ARGUMENTS, or r:, without a number: the rest of it, as a key has it; yours to free. NULL: it is no such line. */
static char *kprobe_of(const char *line, char name[64])
{
	static const char group[] = ":kprobes/";
	const char *at = line + 1 + sizeof(group) - 1;
	size_t len = strcspn(at, " "), place;
	struct buf rest = BUF_INIT;

	if ((*line != 'p' && *line != 'r') || strncmp(line + 1, group, sizeof(group) - 1) || at[len] != ' ' || !len || len >= 64)
		return NULL;
	snprintf(name, 64, "%.*s", (int)len, at);
	at += len + 1;
	/* A place in a file is another matter. */
	if (*at == '/')
		return NULL;
	place = strcspn(at, " ");
	buf_printf(&rest, "%.*s%s%s", (int)place, at, *line == 'r' ? "%return" : "", at + place);
	return buf_take(&rest);
}

/* s:synthetic/NAME FIELDS, or s:NAME: FIELDS as lines; yours to free. NULL: it is no such line. */
static char *synth_of(const char *line, char name[64])
{
	static const char group[] = "synthetic/";
	const char *at = line + 2;
	struct buf fields = BUF_INIT;
	size_t len;

	if (strncmp(line, "s:", 2))
		return NULL;
	if (!strncmp(at, group, sizeof(group) - 1))
		at += sizeof(group) - 1;
	len = strcspn(at, " \t");
	if (!len || len >= 64 || !at[len])
		return NULL;
	snprintf(name, 64, "%.*s", (int)len, at);
	for (at += len; *at;) {
		at += strspn(at, " \t;");
		len = strcspn(at, ";");
		while (len && strchr(" \t", at[len - 1]))
			len--;
		if (len)
			buf_printf(&fields, "%.*s\n", (int)len, at);
		at += strcspn(at, ";");
	}
	return buf_take(&fields);
}

/* Is one of that name among the lines before? Then it is one more place of it. */
static bool was_before(char *const *lines, size_t n, const char *name)
{
	char other[64];

	for (size_t i = 0; i < n; i++) {
		char *rest = kprobe_of(lines[i], other);
		bool same = rest && !strcmp(other, name);

		free(rest);
		if (same)
			return true;
	}
	return false;
}

static void put_dynamic_line(struct save *save, char *const *lines, size_t n, struct buf *others)
{
	char name[64], key[128], *text;

	if ((text = kprobe_of(lines[n], name))) {
		snprintf(key, sizeof(key), "event.kprobes.%s.probes", name);
		save_put(save, key, was_before(lines, n, name) ? "+=" : "=", text);
	} else if ((text = synth_of(lines[n], name))) {
		snprintf(key, sizeof(key), "event.synthetic.%s.fields", name);
		save_put_lines(save, key, text);
	} else {
		buf_printf(others, "%s\n", lines[n]);
	}
	free(text);
}

/* Cuts a text into its lines. */
static size_t cut(char *text, char ***lines)
{
	size_t n = 0, cap = 1;
	char *save;

	for (const char *at = text; (at = strchr(at, '\n')); at++)
		cap++;
	*lines = calloc(cap, sizeof(**lines));
	for (char *line = *lines ? strtok_r(text, "\n", &save) : NULL; line; line = strtok_r(NULL, "\n", &save))
		(*lines)[n++] = line;
	return n;
}

void save_put_dynamic(struct save *save)
{
	static const struct scope top;
	char *text = save_text(save, &top, "dynamic_events"), **lines = NULL;
	size_t n = text ? cut(text, &lines) : 0;
	struct buf others = BUF_INIT;

	buf_puts(&others, "");
	for (size_t i = 0; i < n; i++)
		put_dynamic_line(save, lines, i, &others);
	save_put_lines(save, "dynamic_events", others.data);
	buf_fini(&others);
	free(lines);
	free(text);
}

/* ---- events that are on ---- */

/* Is there a rule only so that a trigger can switch the event on? */
static bool waits(const struct save *save, const struct state_rule *rule)
{
	return rule->on && control_soft_word(&save->control->state, rule->buffer, rule->system, rule->event) &&
	       !control_event_is_on(save->control, rule->buffer, rule->system, rule->event, NULL);
}

/* In a tracing directory these are patterns, the last of which decides. */
static void put_rules(struct save *save, const struct scope *scope)
{
	const struct control_state *state = &save->control->state;
	int index = control_state_buffer(state, scope->instance ? scope->instance : "");
	struct buf list = BUF_INIT;

	buf_puts(&list, "");
	for (uint32_t i = 0; i < state->nrules; i++) {
		const struct state_rule *rule = &state->rules[i];

		if (rule->buffer == index && !waits(save, rule))
			buf_printf(&list, "%s%s:%s\n", rule->on ? "" : "!", rule->system, rule->event);
	}
	save_put_lines(save, "events", list.data);
	buf_fini(&list);
}

static int compare(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static size_t events_of(const struct save *save, const char *system, size_t len)
{
	size_t n = 0;

	for (size_t i = 0; i < save->events.n; i++)
		n += strlen(save->events.item[i].system) == len && !memcmp(save->events.item[i].system, system, len);
	return n;
}

/* Elsewhere a system all of which is on is one word. */
static void put_set(struct save *save, const struct scope *scope)
{
	struct buf on = BUF_INIT, list = BUF_INIT;
	char **lines = NULL;
	size_t n = keep_events(save->source, scope, &on, NULL) ? 0 : cut(on.data, &lines), same;

	buf_puts(&list, "");
	if (n)
		qsort(lines, n, sizeof(*lines), compare);
	for (size_t i = 0; i < n; i += same) {
		size_t len = strcspn(lines[i], ":");

		for (same = 1; i + same < n && !strncmp(lines[i], lines[i + same], len + 1);)
			same++;
		if (same > 1 && same == events_of(save, lines[i], len))
			buf_printf(&list, "%.*s:*\n", (int)len, lines[i]);
		else
			for (size_t j = i; j < i + same; j++)
				buf_printf(&list, "%s\n", lines[j]);
	}
	save_put_lines(save, "events", list.data);
	buf_fini(&list);
	free(lines);
	buf_fini(&on);
}

void save_put_events(struct save *save, const struct scope *scope)
{
	if (save->control)
		put_rules(save, scope);
	else
		put_set(save, scope);
}

/* ---- what hangs on them ---- */

struct trigger {
	char system[64], event[64];
	char *text;	/* as it is written */
	bool done;
};

struct triggers {
	struct trigger *all;
	size_t n;
};

/* Where the state that is shown behind a histogram begins, or the end of the line. */
static const char *state_of(const char *line)
{
	static const char *const states[] = { " [active]", " [paused]", " [disabled]" };
	size_t len = strlen(line);

	for (size_t i = 0; i < sizeof(states) / sizeof(states[0]); i++)
		if (len > strlen(states[i]) && !strcmp(line + len - strlen(states[i]), states[i]))
			return line + len - strlen(states[i]);
	return line + len;
}

/* A line that is shown, as it is written: without its state, and with counts as numbers. Yours to free. */
static char *written(const char *line)
{
	const char *end = state_of(line), *filter = strstr(line, " if "), *head = filter && filter < end ? filter : end, *last = head;
	struct buf text = BUF_INIT;

	while (last > line && *last != ':')
		last--;
	if (!strncmp(line, "hist:", 5))
		buf_printf(&text, "%.*s%s", (int)(head - line), line, !strcmp(end, " [paused]") ? ":pause" : "");
	else if (!strncmp(last, ":unlimited", 10))
		buf_printf(&text, "%.*s", (int)(last - line), line);
	else if (!strncmp(last, ":count=", 7))
		buf_printf(&text, "%.*s:%.*s", (int)(last - line), line, (int)(head - last - 7), last + 7);
	else
		buf_printf(&text, "%.*s", (int)(head - line), line);
	buf_printf(&text, "%.*s", (int)(end - head), head);
	return buf_take(&text);
}

static void add_trigger(struct triggers *triggers, const char *system, size_t len, const char *name, size_t name_len, const char *line)
{
	struct trigger *more = realloc(triggers->all, (triggers->n + 1) * sizeof(*more));

	if (!more)
		return;
	triggers->all = more;
	more += triggers->n;
	*more = (struct trigger){ .text = written(line) };
	snprintf(more->system, sizeof(more->system), "%.*s", (int)len, system);
	snprintf(more->event, sizeof(more->event), "%.*s", (int)name_len, name);
	triggers->n += more->text != NULL;
}

/* SYSTEM:EVENT<tab>TRIGGER */
static void load_listed(struct triggers *triggers, char *text)
{
	char *save;

	for (char *line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		char *colon = strchr(line, ':'), *tab = strchr(line, '\t');

		if (colon && tab && colon < tab)
			add_trigger(triggers, line, (size_t)(colon - line), colon + 1, (size_t)(tab - colon - 1),
				    tab + strspn(tab, "\t "));
	}
}

static void load_event(struct save *save, const struct scope *scope, struct triggers *triggers, const struct events_item *item)
{
	char file[256], *text, *at;

	snprintf(file, sizeof(file), "events/%.80s/%.80s/trigger", item->system, item->name);
	text = save_text(save, scope, file);
	for (char *line = text ? strtok_r(text, "\n", &at) : NULL; line; line = strtok_r(NULL, "\n", &at))
		if (*line != '#')
			add_trigger(triggers, item->system, strlen(item->system), item->name, strlen(item->name), line);
	free(text);
}

/* Some sources have one file for all of them, those of events to come included. */
static void load_triggers(struct save *save, const struct scope *scope, struct triggers *triggers)
{
	char *all = save_text(save, scope, "show_event_triggers");

	if (all)
		load_listed(triggers, all);
	else
		for (size_t i = 0; i < save->events.n; i++)
			load_event(save, scope, triggers, &save->events.item[i]);
	free(all);
}

static bool is_hist(const struct trigger *trigger)
{
	return !strncmp(trigger->text, "hist:", 5);
}

static bool is_ready(const struct triggers *triggers, const struct trigger *trigger)
{
	for (size_t i = 0; i < triggers->n; i++)
		if (trigger != &triggers->all[i] && !triggers->all[i].done &&
		    boot_hist_needs(trigger->text, triggers->all[i].text, triggers->all[i].system, triggers->all[i].event))
			return false;
	return true;
}

static bool is_hist_of(const struct trigger *trigger, const struct trigger *other)
{
	return is_hist(other) && !strcmp(other->system, trigger->system) && !strcmp(other->event, trigger->event);
}

static void put_trigger(struct save *save, const struct trigger *trigger)
{
	char key[256];

	snprintf(key, sizeof(key), "event.%s.%s.actions", trigger->system, trigger->event);
	save_put(save, key, "+=", trigger->text);
}

/* By keys where they say all of it; with a number where there are several. */
static void put_hist(struct save *save, const struct triggers *triggers, const struct trigger *trigger)
{
	unsigned int number = 0, count = 0;
	struct buf keys = BUF_INIT;
	char inner[16];

	for (const struct trigger *other = triggers->all; other < triggers->all + triggers->n; other++) {
		count += is_hist_of(trigger, other);
		number += other <= trigger && is_hist_of(trigger, other);
	}
	snprintf(inner, sizeof(inner), "%s\t", save->indent);
	if (boot_hist_keys(trigger->text, inner, &keys) && !buf_failed(&keys)) {
		buf_printf(&save->out, "%sevent.%s.%s.hist", save->indent, trigger->system, trigger->event);
		if (count > 1)
			buf_printf(&save->out, ".%u", number);
		buf_printf(&save->out, " {\n%s%s}\n", keys.data, save->indent);
	} else {
		put_trigger(save, trigger);
	}
	buf_fini(&keys);
}

/* Others are shown with the newest first. */
static void put_actions(struct save *save, const struct triggers *triggers)
{
	for (size_t i = triggers->n; i-- > 0;)
		if (!is_hist(&triggers->all[i]))
			put_trigger(save, &triggers->all[i]);
}

static void put_hists(struct save *save, const struct triggers *triggers)
{
	bool stuck = false;

	for (size_t left = triggers->n; left;) {
		size_t before = left;

		for (size_t i = 0; i < triggers->n; i++) {
			struct trigger *trigger = &triggers->all[i];

			if (trigger->done || (is_hist(trigger) && !stuck && !is_ready(triggers, trigger)))
				continue;
			if (is_hist(trigger))
				put_hist(save, triggers, trigger);
			trigger->done = true;
			left--;
		}
		/* Those that need each other are put as they are. */
		stuck = left == before;
	}
}

static void put_triggers(struct save *save, const struct scope *scope)
{
	struct triggers triggers = { NULL, 0 };

	load_triggers(save, scope, &triggers);
	put_actions(save, &triggers);
	put_hists(save, &triggers);
	for (size_t i = 0; i < triggers.n; i++)
		free(triggers.all[i].text);
	free(triggers.all);
}

/* Filters of a tracing directory as they were written: of a whole system, or of events that are still to come. */
static void put_own_filters(struct save *save, const struct scope *scope)
{
	const struct control_state *state = &save->control->state;
	int index = control_state_buffer(state, scope->instance ? scope->instance : "");
	char key[256];

	for (uint32_t i = 0; i < state->nitems; i++) {
		const struct state_item *item = &state->items[i].item;

		if (item->kind != STATE_ITEM_FILTER || item->buffer != index || item->flags & STATE_ITEM_BAD)
			continue;
		if (item->flags & STATE_ITEM_WIDE)
			snprintf(key, sizeof(key), "event.%.64s.filter", item->system);
		else
			snprintf(key, sizeof(key), "event.%.64s.%.64s.filter", item->system, item->event);
		save_put(save, key, "=", item->flags & STATE_ITEM_NONE ? "0" : state->items[i].text);
	}
}

static void put_filters(struct save *save, const struct scope *scope)
{
	for (size_t i = 0; i < save->events.n; i++) {
		const struct events_item *item = &save->events.item[i];
		char file[256], key[256], *text;

		snprintf(file, sizeof(file), "events/%.80s/%.80s/filter", item->system, item->name);
		text = save_text(save, scope, file);
		snprintf(key, sizeof(key), "event.%.80s.%.80s.filter", item->system, item->name);
		/* One that was refused is shown with what is wrong with it. */
		if (text && *text && strcmp(text, "none") && !strchr(text, '\n'))
			save_put(save, key, "=", text);
		free(text);
	}
}

void save_put_conditions(struct save *save, const struct scope *scope)
{
	if (save->control)
		put_own_filters(save, scope);
	else
		put_filters(save, scope);
	put_triggers(save, scope);
}
