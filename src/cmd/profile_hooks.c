/*
 * cmd/profile_hooks: see profile_hooks.h.
 */
#include "cmd/profile_hooks.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "decode/format.h"

/* "[SYSTEM:]EVENT,MATCH[,REST]", cut up in place. */
static bool parse_side(struct profile_side *side, char *text, char **rest)
{
	char *save, *event = strtok_r(text, ",", &save), *colon;

	side->match = event ? strtok_r(NULL, ",", &save) : NULL;
	*rest = side->match ? strtok_r(NULL, ",", &save) : NULL;
	if (!side->match || (*rest && strtok_r(NULL, ",", &save)))
		return false;
	colon = strchr(event, ':');
	if (colon) {
		*colon = '\0';
		side->system = event;
		event = colon + 1;
	}
	side->event = event;
	return *event && (!side->system || *side->system);
}

static bool parse_flags(struct profile_hook *hook, const char *flags)
{
	for (; flags && *flags; flags++) {
		if (!strncasecmp(flags, "p", 1))
			hook->pinned = true;
		else if (!strncasecmp(flags, "g", 1))
			hook->global = true;
		/* s is a wish to the recorder: to trace stacks, too. */
		else if (strncasecmp(flags, "s", 1))
			return false;
	}
	return true;
}

int profile_hook_parse(struct profile_hook *hook, const char *text, struct err *err)
{
	char *copy = strdup(text), *slash = copy ? strchr(copy, '/') : NULL, *pid, *flags;

	*hook = (struct profile_hook){ .text = copy };
	if (!copy)
		return err_set(err, -ENOMEM, "out of memory");
	if (slash) {
		*slash = '\0';
		if (parse_side(&hook->start, copy, &pid) &&
		    parse_side(&hook->end, slash + 1, &flags) && parse_flags(hook, flags)) {
			hook->pid = hook->global ? NULL : pid;
			return 0;
		}
	}
	profile_hook_fini(hook);
	return err_set(err, -EINVAL, "'%.100s': a hook is EVENT,FIELD[,PIDFIELD]/"
		       "EVENT,FIELD[,FLAGS], and flags are p, s and g", text);
}

void profile_hook_fini(struct profile_hook *hook)
{
	free(hook->text);
	hook->text = NULL;
}

bool profile_side_is(const struct profile_side *side, const char *system, const char *event)
{
	return !strcmp(side->event, event) && (!side->system || !strcmp(side->system, system));
}

/* The event's place among those of the file; their number: not there. */
static size_t find(const struct profile_side *side, const struct dat *dat)
{
	const char *system, *name;
	size_t i;

	for (i = 0; i < dat_nr_events(dat); i++) {
		dat_event_name(dat, i, &system, &name, NULL);
		if (profile_side_is(side, system, name))
			break;
	}
	return i;
}

bool profile_hook_works(const struct profile_hook *hook, const struct dat *dat)
{
	return find(&hook->start, dat) < dat_nr_events(dat) &&
	       find(&hook->end, dat) < dat_nr_events(dat);
}

static int check_field(const struct profile_side *side, const char *field, struct dat *dat,
		       struct err *err)
{
	size_t i = find(side, dat);
	const struct decode_format *format;

	if (i == dat_nr_events(dat))
		return 0;
	format = dat_event_format(dat, i, NULL);
	if (!format || decode_format_find(format, field))
		return 0;
	return err_set(err, -EINVAL, "%s has no field %s", side->event, field);
}

int profile_hook_check(const struct profile_hook *hook, struct dat *dat, struct err *err)
{
	int r = check_field(&hook->start, hook->start.match, dat, err);

	if (!r && hook->pid)
		r = check_field(&hook->start, hook->pid, dat, err);
	return r ? r : check_field(&hook->end, hook->end.match, dat, err);
}
