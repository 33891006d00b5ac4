/*
 * trigger/probe: the reading of one event probe. Private to the room.
 *
 *   probe.c  the line: names, condition, arguments' names -> probe_fetch.c  what an argument fetches, and its type
 */
#ifndef TRIGGER_PROBE_H
#define TRIGGER_PROBE_H

#include "trigger/read.h"

struct probe_read {
	const struct spec_world *world;
	struct read_mem *mem;
	struct spec_error *error;
	struct spec_probe *probe;
	const struct decode_format *format;	/* NULL: all fields are believed */
	uint32_t nwords;
	char **words;
	uint32_t at;		/* the word that is looked at */
	size_t offset;		/* and where in it */
	uint32_t ops;		/* steps of the argument: the kernel has room for so many */
};

/* The caret is `offset` behind the beginning of the current word; behind the last word where there is none. */
int probe_refuse(struct probe_read *read, int code, const char *message, size_t offset);

/* arg->body -> all else of it but names and place. */
int probe_read_body(struct probe_read *read, struct spec_arg *arg);

#endif
