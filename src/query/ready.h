/*
 * query/ready: a statement made ready to run on a file: its specs lowered, and bound to the file's formats. Private to the
 * room.
 */
#ifndef QUERY_READY_H
#define QUERY_READY_H

#include "hook/hook.h"
#include "layout/control.h"
#include "query/run.h"
#include "trigger/lower.h"

/* One line. */
struct ready_item {
	const struct sql_line *line;
	struct state_item item;
	struct spec_trigger *trigger;
	struct spec_synth *synth;
	struct decode_format *format;	/* of a synthetic event, with its id here */
	struct buf body;		/* its format's text */
	bool wanted;			/* a later line is about it */
};

struct ready {
	struct dat *dat;
	struct sql_lines lines;
	struct ready_item *items;
	size_t nitems;
	size_t nparsed;
	struct spec_world world;
	struct buf hooks, code;
	struct hist_tables tables;
	uint64_t *words;
	struct hook_bound *bounds;
	size_t nbounds;
	struct hook_room room;
	uint32_t first[65536];	/* bound hooks of an event: number + 1, chained by `next` */
};

/* To be finished whatever it returns; begins as zeros. */
int query_ready(struct ready *ready, const struct query_ask *ask, struct err *err);
void query_ready_fini(struct ready *ready);

/* The item that makes this synthetic event; NULL: none. */
struct ready_item *query_ready_synth(struct ready *ready, uint32_t id);

#endif
