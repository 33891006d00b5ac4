/*
 * cmd/setup_names: whether what a command line names is there in the source: clocks, options, tracers, events, instances.
 * Reads, and changes nothing.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "cmd/nearest.h"
#include "cmd/setup_local.h"
#include "control/stamp.h"

/* Options whose word has to be one of a file's. */
static const struct choice {
	const char *word;
	const char *file;
	const char *what;
	const char *list;
	const char *is;		/* of options without a word: it */
} choices[] = {
	{ "clock", "trace_clock", "clock", "-C", NULL },
	{ "option", "trace_options", "option", "-o", NULL },
	{ "stacktrace", "trace_options", "option", "-o", "stacktrace" },
	{ "children", "trace_options", "option", "-o", "event-fork" },
	{ "tracer", "available_tracers", "tracer", "-t", NULL },
};

#define NCHOICES (sizeof(choices) / sizeof(choices[0]))

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
static bool is_option_file(struct setup *setup, const char *word)
{
	char path[128];

	if (!strncmp(word, "no", 2))
		word += 2;
	if (!*word || strlen(word) > 100 || strchr(word, '/'))
		return false;
	snprintf(path, sizeof(path), "options/%s", word);
	return source_exists(setup->source, path);
}

/* 1: it is there, 0: it is not, -errno: the source does not say. */
static int has_word(struct setup *setup, const char *file, const char *word)
{
	bool is_option = !strcmp(file, "trace_options");
	struct buf text = BUF_INIT;
	int r = -ENOENT;

	if (source_exists(setup->source, file) && !source_read(setup->source, file, &text, NULL) &&
	    text.data)
		r = is_word(text.data, word, is_option) || (is_option && is_option_file(setup, word));
	buf_fini(&text);
	return r;
}

bool setup_has_option(struct setup *setup, const char *word)
{
	return has_word(setup, "trace_options", word) == 1;
}

/* A source that does not say is asked by writing it. */
static int check_choice(struct setup *setup, const struct choice *choice, const char *word, struct err *err)
{
	if (!strcmp(choice->word, "clock"))
		word = setup_clock(word);
	if (has_word(setup, choice->file, word))
		return 0;
	/* Instances have options that the top has not: they say so themselves. */
	if (!strcmp(choice->word, "option") && opts_value(setup->opts, "instance"))
		return 0;
	return err_set(err, -EINVAL, "there is no %s '%.60s': `ringside list%s %s` lists those there are",
		       choice->what, word, source_option(setup->source), choice->list);
}

bool setup_knows(const struct setup *setup, const struct events_wish *wish)
{
	bool found = events_wish_is_all(wish);

	for (size_t i = 0; i < setup->events.n && !found; i++)
		found = events_wish_matches(wish, &setup->events.item[i]);
	return found;
}

static struct nearest nearest_to(const struct setup *setup, const struct events_wish *wish)
{
	struct nearest nearest = { .system = wish->bare ? NULL : wish->system, .event = wish->event };

	for (size_t i = 0; i < setup->events.n; i++)
		nearest_offer(&nearest, setup->events.item[i].system, setup->events.item[i].name);
	return nearest;
}

/* Files know nothing of events to come. */
static int check_event(struct setup *setup, const char *text, struct err *err)
{
	struct events_wish wish;
	struct nearest nearest;
	char words[160];
	int r;

	events_wish_parse(&wish, text);
	if (opts_value(setup->opts, "ignore-unknown") || setup_knows(setup, &wish))
		return 0;
	nearest = nearest_to(setup, &wish);
	if (setup->files)
		return nearest.near_event ?
			       err_set(err, -EINVAL, "no event matches '%.120s'%s", text, nearest_words(&nearest, words)) :
			       err_set(err, -EINVAL, "no event matches '%.120s': `ringside list%s` lists those there are", text,
				       source_option(setup->source));
	r = nearest_judge(&nearest, err);
	return r < 0 ? r : 0;
}

static int check_item(struct setup *setup, const struct opts_item *item, struct err *err)
{
	int r = 0;

	for (size_t c = 0; !r && c < NCHOICES; c++)
		if (scope_is(item, choices[c].word))
			r = check_choice(setup, &choices[c], choices[c].is ? choices[c].is : item->value,
					 err);
	if (!r && scope_is(item, "event"))
		r = check_event(setup, item->value, err);
	return r;
}

int setup_check_names(struct setup *setup, struct err *err)
{
	int r = 0;

	for (int i = 0; !r && i < setup->opts->nitems; i++)
		r = check_item(setup, &setup->opts->items[i], err);
	for (int s = 0; !r && s < setup->scopes.n; s++)
		if (setup->buffers[s].removed)
			r = scope_check(&setup->scopes.scope[s], setup->source, err);
	return r;
}

/* Does it name events that something records? */
static bool has_source(const struct setup *setup, const struct events_wish *wish)
{
	bool found = events_wish_is_all(wish);

	for (size_t i = 0; i < setup->events.n && !found; i++)
		found = setup->events.item[i].has_source && events_wish_matches(wish, &setup->events.item[i]);
	return found;
}

/* Their offsets are those of a file that is not there any more. */
void setup_tell_stale(const struct setup *setup)
{
	const struct control *control = source_control(setup->source);

	for (size_t i = 0; i < setup->events.n && !setup_is_quiet(setup); i++) {
		const struct events_item *item = &setup->events.item[i];
		bool meant = false;

		for (int j = 0; !meant && j < setup->opts->nitems; j++) {
			struct events_wish wish;

			meant = scope_is(&setup->opts->items[j], "event") && !setup_negated(setup, j) &&
				events_wish_parse(&wish, setup->opts->items[j].value) && events_wish_matches(&wish, item);
		}
		if (meant && control_probe_is_stale(control, item->system, item->name, NULL))
			cmd_say("the probe %s:%s was set in a file that has changed since, and is wherever its offset leads now: "
				"set it again", item->system, item->name);
	}
}

static void tell_unknown(const struct setup *setup, const struct events_wish *wish)
{
	struct nearest nearest = nearest_to(setup, wish);
	struct err err = ERR_INIT;
	char words[160];

	if (!setup_knows(setup, wish) && nearest_judge(&nearest, &err))
		cmd_say("%s: it is on for programs that bring one", err.text);
	else
		cmd_say("no program has brought %s%s%s yet: it is on for those to come%s", wish->system, wish->bare ? "" : ":",
			wish->bare ? "" : wish->event, setup_knows(setup, wish) ? "" : nearest_words(&nearest, words));
}

/* Patterns for programs to come are fine, but a person may have mistyped one. */
void setup_tell_unknown(const struct setup *setup)
{
	if (opts_value(setup->opts, "ignore-unknown") || setup_is_quiet(setup))
		return;
	for (int i = 0; i < setup->opts->nitems; i++) {
		struct events_wish wish;

		if (!scope_is(&setup->opts->items[i], "event") || setup_negated(setup, i))
			continue;
		events_wish_parse(&wish, setup->opts->items[i].value);
		if (!has_source(setup, &wish))
			tell_unknown(setup, &wish);
	}
}
