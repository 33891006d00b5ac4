/*
 * cmd/apply_check: whether the source has what a profile names. Reads, and changes nothing.
 *
 * A name that nobody knows is a mistake, and refused. One that other trees have, and this one has not, is told, and its step left out
 * with all that depends on it: so are files that are not there.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/near.h"
#include "cmd/apply_local.h"
#include "cmd/defaults.h"
#include "cmd/nearest.h"

/* Files that list the words they take, and words that some kernel takes there. */
static const struct choice {
	const char *what;
	const char *list;
	const char *const *others;
} clocks = { "clock", "trace_clock", (const char *const[]){ "local", "global", "counter", "uptime", "perf", "mono", "mono_raw", "boot", "tai",
							    "x86-tsc", "ppc-tb", NULL } },
  tracers = { "tracer", "available_tracers", (const char *const[]){ "nop", "function", "function_graph", "blk", "hwlat", "osnoise",
								     "timerlat", "irqsoff", "preemptoff", "preemptirqsoff", "wakeup",
								     "wakeup_rt", "wakeup_dl", "mmiotrace", "branch", NULL } };

static void leave_out(struct apply *apply, size_t i, const char *words)
{
	apply_say(apply, &apply->profile.steps[i], "%s: left out", words);
	apply->out[i] = true;
}

bool apply_has_word(const char *text, const char *word)
{
	size_t len = strlen(word);

	for (const char *at = text; (at = strstr(at, word)); at += len)
		if ((at == text || strchr(" [\t\n", at[-1])) && strchr(" ]\t\n", at[len]))
			return true;
	return false;
}

static int check_choice(struct apply *apply, size_t i, const struct choice *choice, struct err *err)
{
	const struct boot_step *step = &apply->profile.steps[i];
	struct near near = { .to = step->text };
	struct buf text = BUF_INIT;
	bool found = true, other = false;
	const char *best;
	char words[160];

	/* A source that does not say is asked by writing it. */
	if (!source_read(apply->source, choice->list, &text, NULL) && text.data)
		found = apply_has_word(text.data, step->text);
	buf_fini(&text);
	for (size_t j = 0; choice->others[j]; j++) {
		other |= !strcmp(choice->others[j], step->text);
		near_see(&near, choice->others[j]);
	}
	if (found)
		return 0;
	best = near_best(&near);
	if (!other)
		return apply_refuse(apply, step, -EINVAL, err, "there is no %s '%.60s'%s%s%s", choice->what, step->text,
				    best ? ": is '" : "", best ? best : "", best ? "' meant?" : "");
	snprintf(words, sizeof(words), "there is no %s '%.60s' here", choice->what, step->text);
	leave_out(apply, i, words);
	return 0;
}

static int check_option(struct apply *apply, size_t i, struct err *err)
{
	const struct boot_step *step = &apply->profile.steps[i];
	struct buf text = BUF_INIT;
	char path[128], words[160], other[80];
	bool found;

	snprintf(path, sizeof(path), "options/%.100s", step->text);
	found = source_exists(apply->source, path) || !source_exists(apply->source, "trace_options");
	snprintf(path, sizeof(path), "no%.100s", step->text);
	if (!found && !source_read(apply->source, "trace_options", &text, NULL) && text.data)
		found = apply_has_word(text.data, step->text) || apply_has_word(text.data, path);
	buf_fini(&text);
	/* Instances have options that the top has not. */
	if (found || step->instance)
		return 0;
	if (defaults_option(step->text, other, sizeof(other)) && defaults_option(path, other, sizeof(other)))
		return apply_refuse(apply, step, -EINVAL, err, "there is no option '%.60s': `ringside list%s -o` lists those there are",
				    step->text, source_option(apply->source));
	snprintf(words, sizeof(words), "there is no option '%.60s' here", step->text);
	leave_out(apply, i, words);
	return 0;
}

/* Does the buffer have the file? One that is still to be made will have what the top buffer has, or less: that is seen then. */
static bool has_file(const struct apply *apply, const struct boot_step *step, const char *file)
{
	struct scope scope = apply_scope(step);
	char path[SCOPE_PATH];

	if (step->instance && !source_exists(apply->source, scope_path(path, &scope, "")))
		scope.instance = NULL;
	return scope_has(&scope, apply->source, file);
}

static void check_file(struct apply *apply, size_t i)
{
	const struct boot_step *step = &apply->profile.steps[i];
	char words[160];

	/* Events are brought by files of the top, whichever instance names them. */
	if (step->act == BOOT_DEFINE ? source_exists(apply->source, step->file) : has_file(apply, step, step->file))
		return;
	snprintf(words, sizeof(words), "there is no %.100s here", step->file);
	leave_out(apply, i, words);
}

/* ---- events ---- */

/* Was it to be brought by the profile, but cannot? Then what is said about it goes, too. */
static bool is_left_out(const struct apply *apply, const char *system, const char *event)
{
	for (size_t i = 0; i < apply->profile.n; i++) {
		const struct boot_step *step = &apply->profile.steps[i];

		if (step->act == BOOT_DEFINE && apply->out[i] && !strcmp(step->system, system) && !strcmp(step->event, event))
			return true;
	}
	return false;
}

/* Of what is in no list: 0 where programs may still bring it. */
static int check_unknown(struct apply *apply, size_t i, const char *system, const char *event, bool bare, struct err *err)
{
	const struct boot_step *step = &apply->profile.steps[i];
	struct nearest nearest = { .system = bare ? NULL : system, .event = event };
	struct err judged = ERR_INIT;
	char words[160];

	for (size_t e = 0; e < apply->events.n; e++)
		nearest_offer(&nearest, apply->events.item[e].system, apply->events.item[e].name);
	if (apply->control && nearest_judge(&nearest, &judged) >= 0)
		return 0;
	nearest_words(&nearest, words);
	if (!apply->ignore)
		return apply_refuse(apply, step, -ENOENT, err, "there is no event %.60s%s%.64s%s", bare ? "" : system, bare ? "" : ":",
				    event, words);
	leave_out(apply, i, "there is no such event here");
	return 0;
}

/* Where no system is named: the first that has it. */
static int find_system(struct apply *apply, size_t i, struct err *err)
{
	struct boot_step *step = &apply->profile.steps[i];

	for (size_t e = 0; !step->system && e < apply->events.n; e++)
		if (!strcmp(apply->events.item[e].name, step->event))
			step->system = strdup(apply->events.item[e].system);
	if (step->system)
		return 0;
	if (!apply->ignore)
		return apply_refuse(apply, step, -ENOENT, err, "there is no event %.64s", step->event);
	leave_out(apply, i, "there is no such event here");
	return 0;
}

static int check_system(struct apply *apply, size_t i, struct err *err)
{
	const struct boot_step *step = &apply->profile.steps[i];
	char file[256];

	snprintf(file, sizeof(file), "events/%.80s/filter", step->system);
	if (has_file(apply, step, file))
		return 0;
	if (!apply->ignore)
		return apply_refuse(apply, step, -ENOENT, err, "there are no events of %.60s", step->system);
	leave_out(apply, i, "there are no such events here");
	return 0;
}

/* What hangs on an event. */
static int check_condition(struct apply *apply, size_t i, struct err *err)
{
	const struct boot_step *step = &apply->profile.steps[i];
	const char *word = step->act == BOOT_FILTER ? "filter" : !strncmp(step->text, "hist:", 5) ? "hist" : "trigger";
	char file[256], words[160];
	int r = step->system ? 0 : find_system(apply, i, err);

	if (!step->event)
		return check_system(apply, i, err);
	if (r || apply->out[i])
		return r;
	if (is_left_out(apply, step->system, step->event)) {
		apply->out[i] = true;
		return 0;
	}
	if (!apply_knows(apply, step->system, step->event))
		return apply_defines(apply, step->system, step->event) ? 0
								       : check_unknown(apply, i, step->system, step->event, false, err);
	snprintf(file, sizeof(file), "events/%.80s/%.80s/%s", step->system, step->event, word);
	if (!has_file(apply, step, file)) {
		snprintf(words, sizeof(words), "events have no %s here", word);
		leave_out(apply, i, words);
	}
	return 0;
}

static bool defines_any(const struct apply *apply, const struct events_wish *wish)
{
	for (size_t i = 0; i < apply->profile.n; i++) {
		const struct boot_step *step = &apply->profile.steps[i];
		struct events_item item = { .system = step->system, .name = step->event };

		if (step->act == BOOT_DEFINE && events_wish_matches(wish, &item))
			return true;
	}
	return false;
}

static int check_event(struct apply *apply, size_t i, struct err *err)
{
	const struct boot_step *step = &apply->profile.steps[i];
	struct events_wish wish;

	if (!events_wish_parse(&wish, step->text))
		return apply_refuse(apply, step, -EINVAL, err, "'%.100s' is no event: SYSTEM:EVENT", step->text);
	if (is_left_out(apply, wish.system, wish.event)) {
		apply->out[i] = true;
		return 0;
	}
	if (events_wish_is_all(&wish) || defines_any(apply, &wish))
		return 0;
	for (size_t e = 0; e < apply->events.n; e++)
		if (events_wish_matches(&wish, &apply->events.item[e]))
			return 0;
	return check_unknown(apply, i, wish.system, wish.event, wish.bare, err);
}

/* ---- all ---- */

static void check_sysctl(struct apply *apply, size_t i)
{
	const struct boot_step *step = &apply->profile.steps[i];
	char path[128], words[160];

	snprintf(path, sizeof(path), APPLY_SYSCTL "%.80s", step->file);
	if (!apply->kernel) {
		leave_out(apply, i, "is about the kernel itself");
	} else if (access(path, F_OK)) {
		snprintf(words, sizeof(words), "there is no %.100s here", path);
		leave_out(apply, i, words);
	}
}

static int check_step(struct apply *apply, size_t i, struct err *err)
{
	const struct boot_step *step = &apply->profile.steps[i];

	switch (step->act) {
	case BOOT_OTHER:
		leave_out(apply, i, step->text);
		return 0;
	case BOOT_MAKE:
		if (!source_exists(apply->source, "instances"))
			leave_out(apply, i, "there are no instances here");
		return 0;
	case BOOT_OPTION:
		return check_option(apply, i, err);
	case BOOT_FILTER:
	case BOOT_TRIGGER:
		return check_condition(apply, i, err);
	case BOOT_EVENT:
		return check_event(apply, i, err);
	case BOOT_SYSCTL:
		check_sysctl(apply, i);
		return 0;
	default:
		check_file(apply, i);
	}
	if (apply->out[i])
		return 0;
	if (step->act == BOOT_TRACER)
		return check_choice(apply, i, &tracers, err);
	if (step->act == BOOT_CLOCK)
		return check_choice(apply, i, &clocks, err);
	return 0;
}

/* An instance that cannot be takes along what is said about it. */
static bool is_of_none(const struct apply *apply, const struct boot_step *step)
{
	for (size_t i = 0; step->instance && i < apply->profile.n; i++) {
		const struct boot_step *made = &apply->profile.steps[i];

		if (made->act == BOOT_MAKE && apply->out[i] && made != step && !strcmp(made->instance, step->instance))
			return true;
	}
	return false;
}

int apply_check(struct apply *apply, struct err *err)
{
	int r = 0;

	for (size_t i = 0; !r && i < apply->profile.n; i++) {
		if (is_of_none(apply, &apply->profile.steps[i]))
			apply->out[i] = true;
		else if (apply->source)
			r = check_step(apply, i, err);
		else if (apply->profile.steps[i].act == BOOT_OTHER)
			leave_out(apply, i, apply->profile.steps[i].text);
	}
	return r;
}
