/*
 * cmd/probe_words: `[[GROUP:]NAME=]PLACE [ARGUMENT...]` taken apart, and arguments put together again under names that differ.
 */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/probe_local.h"

/* ---- reading ---- */

bool probe_is_name(const char *text, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if (!isalnum((unsigned char)text[i]) && text[i] != '_')
			return false;
	return len && len < 64 && !isdigit((unsigned char)*text);
}

/* [GROUP:]NAME= or GROUP/NAME= before a place. */
static int read_name(struct probe_words *words, struct err *err)
{
	const char *equals = strchr(words->place, '='), *stop = strpbrk(words->place, ";"), *colon;
	size_t len;

	/* A pattern of source may have any character. */
	if (!equals || (stop && stop < equals))
		return 0;
	colon = memchr(words->place, ':', (size_t)(equals - words->place));
	if (!colon)
		colon = memchr(words->place, '/', (size_t)(equals - words->place));
	if (colon) {
		len = (size_t)(colon - words->place);
		if (!probe_is_name(words->place, len))
			return err_set(err, -EINVAL, "'%.*s' is no name of a group: letters, digits and _, 63 at most", (int)len,
				       words->place);
		memcpy(words->group, words->place, len);
		words->place = colon + 1;
	}
	len = (size_t)(equals - words->place);
	if (!probe_is_name(words->place, len))
		return err_set(err, -EINVAL, "'%.*s' is no name of an event: letters, digits and _, 63 at most", (int)len,
			       words->place);
	memcpy(words->name, words->place, len);
	words->place = equals + 1;
	return 0;
}

/* The next word; with `casts` a blank within parentheses does not end it. NULL: there is none. */
static char *next_word(char **at, bool casts)
{
	char *word = *at + strspn(*at, " \t\n"), *end = word;

	for (int depth = 0; *end && ((casts && depth > 0) || !strchr(" \t\n", *end)); end++)
		depth += *end == '(' ? 1 : *end == ')' ? -1 : 0;
	*at = *end ? end + 1 : end;
	*end = '\0';
	return *word ? word : NULL;
}

int probe_words_read(struct probe_words *words, const char *text, struct err *err)
{
	char *at, *word;

	*words = (struct probe_words){ .text = strdup(text) };
	if (!words->text)
		return err_set(err, -ENOMEM, "out of memory");
	at = words->text;
	words->place = next_word(&at, false);
	if (!words->place)
		return err_set(err, -EINVAL, "which place? FUNCTION, FUNCTION:LINE, FILE:LINE");
	while ((word = next_word(&at, true))) {
		if (words->nargs == PROBE_ARGS_MAX)
			return err_set(err, -E2BIG, "more than %u arguments", PROBE_ARGS_MAX);
		words->args[words->nargs++] = word;
	}
	return read_name(words, err);
}

void probe_words_fini(struct probe_words *words)
{
	free(words->text);
	*words = (struct probe_words){ 0 };
}

int probe_word_name(const struct probe_put *put, const char *text, char name[PROBE_NAME_MAX], const char **expr, struct err *err)
{
	const char *equals = strchr(text, '=');
	size_t len = equals ? (size_t)(equals - text) : 0;

	*name = '\0';
	*expr = equals ? equals + 1 : text;
	if (equals) {
		if (!probe_is_name(text, len) || len > PROBE_ARG_MAX)
			return err_set(err, -EINVAL, "'%.*s' is no name of an argument: letters, digits and _, %u at most", (int)len,
				       text, PROBE_ARG_MAX);
		memcpy(name, text, len);
		name[len] = '\0';
		if (probe_put_has(put, name))
			return err_set(err, -EINVAL, "two arguments are called '%s'", name);
	}
	return **expr ? 0 : err_set(err, -EINVAL, "'%s' is nothing: NAME=EXPRESSION", text);
}

/* ---- arguments ---- */

void probe_put_fini(struct probe_put *put)
{
	buf_fini(&put->args);
	buf_fini(&put->with);
	buf_fini(&put->types);
}

bool probe_put_has(const struct probe_put *put, const char *name)
{
	const char *at = put->with.data;
	size_t len = strlen(name);

	while (at && (at = strstr(at, name))) {
		if (at[-1] == ' ' && (!at[len] || at[len] == ' '))
			return true;
		at += len;
	}
	return false;
}

/* Two that end in the same word are called by all of their words; else by a number. */
void probe_put_free_name(const struct probe_put *put, const char *expr, char name[PROBE_NAME_MAX])
{
	size_t n = 0, len = strcspn(expr, ":");

	/* Members and parameters may have longer names than arguments. */
	name[strnlen(name, PROBE_ARG_MAX)] = '\0';
	if (!probe_put_has(put, name))
		return;
	for (size_t i = 0; i < len && n + 1 < 32; i++) {
		if (isalnum((unsigned char)expr[i]) || expr[i] == '_')
			name[n++] = expr[i];
		else if (n && name[n - 1] != '_')
			name[n++] = '_';
	}
	while (n && name[n - 1] == '_')
		n--;
	name[n] = '\0';
	for (int i = 2; probe_put_has(put, name) && i < 1000; i++)
		snprintf(name + (n > 27 ? 27 : n), 5, "_%d", i);
}

void probe_put_one(struct probe_put *put, const char *name, const char *body)
{
	const char *type = strrchr(body, ':');

	if (*name) {
		buf_printf(&put->args, " %s=%s", name, body);
		buf_printf(&put->with, " %s", name);
	} else {
		buf_printf(&put->args, " %s", body);
		buf_printf(&put->with, " %s", body);
	}
	buf_printf(&put->types, " %s%s", name, type ? type : "");
}

/* ---- events ---- */

void probe_events_fini(struct probe_events *events)
{
	for (size_t i = 0; i < events->n; i++) {
		buf_fini(&events->all[i].lines);
		buf_fini(&events->all[i].with);
		buf_fini(&events->all[i].where);
		free(events->all[i].path);
	}
	free(events->all);
	*events = (struct probe_events){ 0 };
}

int probe_events_add(struct probe_events *events, const struct probe_point *point, struct err *err)
{
	struct probe_event *event = NULL, *more;

	for (size_t i = 0; !event && i < events->n; i++)
		if (!strcmp(events->all[i].group, point->group) && !strcmp(events->all[i].name, point->name))
			event = &events->all[i];
	if (!event) {
		more = reallocarray(events->all, events->n + 1, sizeof(*more));
		if (!more)
			return err_set(err, -ENOMEM, "out of memory");
		events->all = more;
		event = &more[events->n++];
		*event = (struct probe_event){ .lines = BUF_INIT, .with = BUF_INIT, .where = BUF_INIT, .file = point->file,
					       .path = strdup(point->path), .one_of_many = point->one_of_many };
		snprintf(event->group, sizeof(event->group), "%s", point->group);
		snprintf(event->name, sizeof(event->name), "%s", point->name);
		buf_puts(&event->with, point->with);
		buf_puts(&event->where, point->where);
	}
	buf_puts(&event->lines, point->line);
	return !event->path || buf_failed(&event->lines) || buf_failed(&event->with) || buf_failed(&event->where)
		       ? err_set(err, -ENOMEM, "out of memory") : 0;
}
