/*
 * cmd/events: the events of a source, as a list: from the registry of a tracing directory, from the
 * files of any other tree.
 */
#ifndef CMD_EVENTS_H
#define CMD_EVENTS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "base/err.h"
#include "source/source.h"

struct events_item {
	char *system;
	char *name;
	bool has_source;	/* records of it can come from somewhere */
	const void *known;	/* what the source knows of it; for events.c */
};

struct events {
	struct source *source;
	struct events_item *item;	/* by system, then name */
	size_t n;
	struct control_registry *registry;	/* of a tracing directory */
};

int events_load(struct events *events, struct source *source, struct err *err);
void events_fini(struct events *events);

/* Its `format` file. */
int events_format(const struct events *events, const struct events_item *item, struct buf *out,
		  struct err *err);

/* Its number and whether it is on in the top buffer. */
int events_state(const struct events *events, const struct events_item *item, unsigned int *id,
		 bool *on, struct err *err);

/* What an -e names: patterns of a system and an event; `bare`, without a colon, of either. */
struct events_wish {
	char system[64];
	char event[64];
	bool bare;
};
bool events_wish_parse(struct events_wish *wish, const char *text);
bool events_wish_matches(const struct events_wish *wish, const struct events_item *item);
/* Does it name everything, whatever that is? */
bool events_wish_is_all(const struct events_wish *wish);

#endif
