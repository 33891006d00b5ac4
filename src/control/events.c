/*
 * control/events: the tree's files about events: which there are, what they look like, and which
 * of them are on.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/glob.h"
#include "control/buffer.h"
#include "control/enable.h"
#include "control/hooks.h"
#include "control/node.h"
#include "control/registry.h"
#include "control/rules.h"

#define TOKEN_MAX 127

/* The events that there are, or NULL with words and the code in *r. */
static const struct control_registry *load(struct node_request *request, int *r, struct err *err)
{
	struct err own = ERR_INIT;
	const struct control_registry *registry = control_events(request->control, err ? err : &own);

	*r = registry ? 0 : err ? err->code : own.code;
	return registry;
}

int node_available_read(struct node_request *request, struct err *err)
{
	int r;
	const struct control_registry *registry = load(request, &r, err);

	if (!registry)
		return r;
	for (uint32_t i = 0; i < registry->nevents; i++)
		if (registry->events[i].shown)
			buf_printf(&request->out, "%s:%s\n", registry->events[i].system,
				   registry->events[i].name);
	return 0;
}

int node_set_event_read(struct node_request *request, struct err *err)
{
	int r;
	const struct control_registry *registry = load(request, &r, err);

	if (!registry)
		return r;
	for (uint32_t i = 0; i < registry->nevents; i++) {
		const struct control_event *event = &registry->events[i];

		if (event->shown && control_event_is_on(request->control, request->buffer, event->system, event->name,
							NULL))
			buf_printf(&request->out, "%s:%s\n", event->system, event->name);
	}
	return 0;
}

/* A token of set_event as the patterns it stands for. */
struct token {
	char text[TOKEN_MAX + 1];
	bool on;
	bool bare;	/* no colon: a system or an event */
	const char *system;
	const char *event;
};

/* Takes the next token from the text. 1, 0 at the end, -EINVAL. */
static int token_next(const char **at, const char *end, struct token *token, struct err *err)
{
	char *colon, *name;
	size_t len;

	while (*at < end && strchr(" \t\n", **at))
		(*at)++;
	if (*at == end)
		return 0;
	for (len = 0; *at + len < end && (*at)[len] && !strchr(" \t\n", (*at)[len]);)
		len++;
	if (!len || len > TOKEN_MAX)
		return err_set(err, -EINVAL, "'%.*s...' is too long for an event's name",
			       len < 40 ? (int)len : 40, *at);
	memcpy(token->text, *at, len);
	token->text[len] = '\0';
	*at += len;

	token->on = token->text[0] != '!';
	name = token->text + !token->on;
	colon = strchr(name, ':');
	token->bare = !colon;
	if (!colon) {
		token->system = token->event = name;
	} else {
		*colon = '\0';
		token->system = *name ? name : "*";
		token->event = colon[1] ? colon + 1 : "*";
	}
	if (!*name && token->bare)
		return err_set(err, -EINVAL, "a lone '!' names no event");
	return 1;
}

static bool token_matches(const struct token *token, const struct control_event *event)
{
	bool system = glob_match(token->system, event->system);
	bool name = glob_match(token->event, event->name);

	return token->bare ? system || name : system && name;
}

/* Is every token well-formed, and does it match something that is there? */
static int tokens_check(struct node_request *request, struct err *err)
{
	const char *at = request->text, *end = request->text + request->len;
	const struct control_registry *registry;
	struct token token;
	int r;

	registry = load(request, &r, err);
	if (!registry)
		return r;
	while ((r = token_next(&at, end, &token, err)) == 1) {
		/* Everything is always there, even when it is nothing yet. */
		bool found = !strcmp(token.system, "*") && !strcmp(token.event, "*");

		for (uint32_t i = 0; i < registry->nevents && !found; i++)
			found = token_matches(&token, &registry->events[i]);
		if (!found) {
			r = err_set(err, -EINVAL, "no event matches '%.60s%s%.60s': for programs "
				    "to come use `ringside start -e`", token.system,
				    token.bare ? "" : ":", token.bare ? "" : token.event);
			break;
		}
	}
	return r;
}

static int tokens_apply(struct node_request *request, struct err *err)
{
	const char *at = request->text, *end = request->text + request->len;
	struct control *control = request->control;
	struct token token;
	int r;

	while ((r = token_next(&at, end, &token, err)) == 1) {
		if (token.bare)
			r = control_enable_name(control, request->buffer, token.system, token.on,
						err);
		else
			r = control_enable(control, request->buffer, token.system, token.event,
					   token.on, err);
		if (r)
			break;
	}
	return r;
}

int node_set_event_write(struct node_request *request, struct err *err)
{
	struct control *control = request->control;
	int r;

	r = tokens_check(request, err);
	if (!r)
		r = node_begin(request, err);
	if (r)
		return r;
	if (request->trunc)
		control_rules_clear(&control->state, request->buffer);
	r = tokens_apply(request, err);
	return control_end(control, r, err);
}

int node_enable_read(struct node_request *request, struct err *err)
{
	uint32_t on = 0, off = 0;
	bool soft = false, this;
	char answer = 'X';
	int r;
	const struct control_registry *registry = load(request, &r, err);

	if (!registry)
		return r;
	for (uint32_t i = control_registry_system(registry, request->part[0]);
	     i < registry->nevents; i++) {
		const struct control_event *event = &registry->events[i];

		if (request->part[0][0] && strcmp(request->part[0], event->system))
			break;
		if (request->part[1][0] && strcmp(request->part[1], event->name))
			continue;
		if (control_event_is_on(request->control, request->buffer, event->system, event->name, &this))
			on++;
		else
			off++;
		soft |= this;
	}
	if (!on && !off)
		answer = '?';
	else if (!on || !off)
		answer = on ? '1' : '0';
	/* Of one event also whether triggers have a say, or could. */
	buf_printf(&request->out, "%c%s\n", answer, soft && request->part[1][0] ? "*" : "");
	return 0;
}

int node_enable_write(struct node_request *request, struct err *err)
{
	struct control *control = request->control;
	bool on;
	int r;

	r = node_switch(request, &on, err);
	if (!r)
		r = node_begin(request, err);
	if (r)
		return r;
	r = control_enable(control, request->buffer, request->part[0][0] ? request->part[0] : "*",
			   request->part[1][0] ? request->part[1] : "*", on, err);
	return control_end(control, r, err);
}

int node_format_read(struct node_request *request, struct err *err)
{
	const struct control_event *event;
	int r;
	const struct control_registry *registry = load(request, &r, err);

	if (!registry)
		return r;
	event = control_registry_find(registry, request->part[0], request->part[1]);
	if (event)
		control_event_format(event, &request->out);
	else
		r = err_set(err, -ENODEV, "is gone");
	return r;
}

int node_id_read(struct node_request *request, struct err *err)
{
	const struct control_event *event;
	int r;
	const struct control_registry *registry = load(request, &r, err);

	if (!registry)
		return r;
	event = control_registry_find(registry, request->part[0], request->part[1]);
	if (event)
		buf_printf(&request->out, "%" PRIu32 "\n", event->id);
	else
		r = err_set(err, -ENODEV, "is gone");
	return r;
}
