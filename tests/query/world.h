/*
 * The formats of formats.h as a world for statements.
 */
#ifndef QUERY_WORLD_H
#define QUERY_WORLD_H

#include <string.h>

#include "insist.h"
#include "query/formats.h"
#include "query/sql.h"

#define WORLD_EVENTS (sizeof(query_formats) / sizeof(query_formats[0]))

static struct decode_format *world_events[WORLD_EVENTS];

static void world_open(void)
{
	struct err err = ERR_INIT;

	for (size_t i = 0; i < WORLD_EVENTS; i++)
		CHECK(decode_format_parse(query_formats[i].system, query_formats[i].text, strlen(query_formats[i].text), NULL,
					  &world_events[i], &err) == 0, "%s: %s", query_formats[i].text, err.text);
}

static void world_close(void)
{
	for (size_t i = 0; i < WORLD_EVENTS; i++)
		decode_format_free(world_events[i]);
}

static const struct decode_format *world_event(void *arg, const char *system, const char *name, unsigned int nth)
{
	(void)arg;
	for (size_t i = 0; i < WORLD_EVENTS; i++) {
		if (!strcmp(world_events[i]->name, name) && (!system || !strcmp(world_events[i]->system, system)) && !nth--)
			return world_events[i];
	}
	return NULL;
}

static const struct sql_world world = { NULL, world_event };

#endif
