/*
 * control/items: filters, triggers, synthetic events and probes of a directory, understood: the texts of the state's items,
 * each with its spec, and the world of names that such texts are read in.
 *
 *   state's items -> specs -> change one -> control_items_lower() -> state's hooks and code -> publish
 *
 * Made of the state as it was last read; whoever changes items does so in a transaction, through here, so that specs and
 * items stay side by side. One thread.
 */
#ifndef CONTROL_ITEMS_H
#define CONTROL_ITEMS_H

#include "control/control.h"
#include "control/plans.h"
#include "control/registry.h"
#include "trigger/lower.h"

/* What an item was understood as; nothing of it is set where its text makes no sense any more. */
struct item_spec {
	struct spec_trigger *trigger;
	struct spec_synth *synth;
	struct spec_probe *probe;
};

struct items_format {
	struct decode_format *format;
	char system[64];
	char name[64];
};

struct control_items {
	struct control *control;
	const struct control_registry *events;
	struct item_spec *specs;	/* of the state's items, in their order */
	uint32_t cap;
	uint32_t first_new;		/* items of this serial and above were added here */
	uint32_t buffer;		/* whose histograms the world has */
	uint32_t before;		/* only those whose serial is below this; 0: all */
	struct spec_world world;
	struct items_format *formats;
	uint32_t nformats;
	struct control_functions functions;	/* control/probe_world reads them when it is asked */
	bool has_functions;
	struct buf member;		/* what it said last of one */
};

int control_items_open(struct control_items **out, struct control *control, struct err *err);
void control_items_close(struct control_items *items);

/* How far counting is spread in this directory. */
uint32_t control_items_parts(const struct control *control);

/* The world of a buffer. It stays the items'; `anything`: for programs that are still to come. */
const struct spec_world *control_items_world(struct control_items *items, uint32_t buffer, bool anything);

/* The format of an event, one of ftrace's own included; NULL: there is none. */
const struct decode_format *control_items_format(struct control_items *items, const char *system, const char *name);

static inline struct state_item *items_at(struct control_items *items, uint32_t i)
{
	return &items->control->state.items[i].item;
}

/* One more, of that kind and on that event; `spec` is taken over, whatever comes of it. */
int control_items_add(struct control_items *items, enum state_item_kind kind, uint32_t buffer, const char *system,
		      const char *event, const char *text, size_t len, const struct item_spec *spec, struct err *err);
/* With what it had in the tables file, and the hidden ones that it owns. */
int control_items_remove(struct control_items *items, uint32_t i, struct err *err);

/* The first item of that kind on that event; UINT32_MAX: none. */
uint32_t control_items_find(const struct control_items *items, enum state_item_kind kind, uint32_t buffer,
			    const char *system, const char *event);

/* Makes hooks and code of all of them. */
int control_items_lower(struct control_items *items, struct spec_error *error, struct err *err);

/* Does the i-th item use variables of the histogram of that serial, or make that synthetic event? */
bool control_items_uses(const struct control_items *items, uint32_t i, uint32_t serial, const char *synth);

/* Without the specs: is there anything of that kind on that event? */
bool control_state_has_item(const struct control_state *state, enum state_item_kind kind, uint32_t buffer,
			    const char *system, const char *event);

/* A buffer goes, and with it what hangs on its events. */
int control_items_drop_buffer(struct control *control, uint32_t buffer, struct err *err);

/* The text without blanks around it. */
void control_items_trim(const char **text, size_t *len);

/* Words for people out of a refusal. */
int control_items_refuse(const struct spec_error *error, int r, struct err *err);

#endif
