/*
 * control/look: histograms for those who draw them themselves, and hanging them up without a file of the tree: on events of
 * programs that are still to come, several in one transaction.
 */
#ifndef CONTROL_LOOK_H
#define CONTROL_LOOK_H

#include "control/items.h"
#include "control/names.h"
#include "hist/show.h"

/* Names for numbers, as a directory knows them. Stays where it is while somebody asks. */
struct control_asking {
	struct control *control;
	struct control_names *names;
	struct hist_names ask;
};
int control_ask(struct control_asking *asking, struct control *control, struct err *err);
void control_ask_fini(struct control_asking *asking);

/* The rows of the i-th item, in no order. */
int control_look_rows(const struct control_items *items, uint32_t i, struct hist_rows *rows, struct err *err);

/* One histogram at one moment. */
struct control_look {
	struct control_items *items;
	struct control_asking asking;
	const struct spec_hist *hist;	/* the items' */
	struct hist_rows rows;		/* sorted */
	uint64_t waiting;		/* of its first variable: values that nobody took yet */
	uint64_t evicted;		/* and those that had to make room */
};

/* The number-th that was written on that event, in that instance ("": the top one). -ENOENT. */
int control_look_open(struct control_look *look, struct control *control, const char *instance, const char *system,
		      const char *event, uint32_t number, struct err *err);
void control_look_close(struct control_look *look);

/* What to hang up: a line of synthetic_events (`system` NULL), or a line of `trigger` on an event. */
struct control_line {
	const char *system;
	const char *event;
	const char *text;
};

/* All of them, in their order, or none; triggers in that instance. */
int control_hang(struct control *control, const char *instance, const struct control_line *lines, size_t n,
		 struct err *err);

#endif
