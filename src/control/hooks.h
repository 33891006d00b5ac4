/*
 * control/hooks: changes of what hangs on events: filters, triggers, synthetic events, event probes. Each of these is part of
 * a transaction that has begun; whatever is refused, the caller cancels it. `error` says what error_log shows.
 */
#ifndef CONTROL_HOOKS_H
#define CONTROL_HOOKS_H

#include "control/items.h"

/*
 * A filter of an event, as it is written to its file; "0" takes it away. One that is refused takes the place of the one that was
 * there, and is shown with what is wrong with it: returns 1 then, *error says why, and the transaction is to be committed.
 * `ahead`: for programs that are still to come.
 */
int control_filter_set(struct control_items *items, uint32_t buffer, const char *system, const char *event,
		       const char *text, size_t len, bool ahead, struct spec_error *error, struct err *err);
/* The same for all events of a system that have its fields. -EINVAL: none has. */
int control_filter_set_system(struct control_items *items, uint32_t buffer, const char *system, const char *text,
			      size_t len, struct spec_error *error, struct err *err);

/* The text of the system's filter if that is the event's, too, as long as it has none of its own; else NULL. */
const char *control_filter_wide(struct control_items *items, uint32_t buffer, const char *system, const char *event);

/* One line of `trigger`. */
int control_trigger_set(struct control_items *items, uint32_t buffer, const char *system, const char *event,
			const char *text, size_t len, bool ahead, struct spec_error *error, struct err *err);
/* Those that are histograms, all of that event. -EBUSY. */
int control_triggers_clear(struct control_items *items, uint32_t buffer, const char *system, const char *event,
			   struct err *err);

/* A change of its own, for programs that are still to come or here already: what `filter` or `trigger` of that event takes. */
int control_condition_set(struct control *control, const char *instance, const char *system, const char *event, bool trigger,
			  const char *text, struct err *err);

/* Files that list events which the directory itself brings: synthetic_events, kprobe_events, uprobe_events; dynamic_events has all. */
enum dynamic_list { DYNAMIC_SYNTH = 's', DYNAMIC_CODE = 'k', DYNAMIC_FILE = 'u', DYNAMIC_ALL = 'd' };

/* One line of synthetic_events; one of the others, which may remove. */
int control_synth_set(struct control_items *items, const char *text, size_t len, struct spec_error *error, struct err *err);
int control_dynamic_set(struct control_items *items, enum dynamic_list list, const char *text, size_t len,
			struct spec_error *error, struct err *err);
/* All of that file; -EBUSY when one is in use. */
int control_dynamic_clear(struct control_items *items, enum dynamic_list list, struct err *err);
/* The i-th item's line of that file, if it has one. */
void control_dynamic_show(const struct control_items *items, uint32_t i, enum dynamic_list list, struct buf *out);

/* One more event, or one more point of it: an item, and a place in the registry. `spec` is taken over. */
int control_dynamic_add(struct control_items *items, enum state_item_kind kind, const char *system, const char *event,
			const char *text, size_t len, const struct item_spec *spec, const struct buf *body, struct err *err);
/* probes.c: one line that makes a probe. `file`: see spec_probe_parse(). */
int control_probe_set(struct control_items *items, char file, const char *text, size_t len, struct spec_error *error,
		      struct err *err);
/* points.c: can it be there? Makes sure of plans. */
int control_point_check(struct control_items *items, const struct spec_probe *probe, struct spec_error *error, struct err *err);
/* Of all these lines at once, so that checking them one by one is quick. */
void control_points_foresee(struct control_items *items, char file, const char *text, size_t len);

/* For whoever switches an event or a buffer: from now on a word says whether the event is on, or whether the buffer is off. */
int control_soft_begin(struct control_items *items, uint32_t buffer, const char *system, const char *event, struct err *err);
int control_off_begin(struct control_items *items, uint32_t buffer, struct err *err);
/* The event's word; 0: it has none. The buffer's is in its `off`. */
uint32_t control_soft_word(const struct control_state *state, uint32_t buffer, const char *system, const char *event);
/* Words that nobody switches any more become what they say. */
int control_fold(struct control_items *items, struct err *err);

/* Does the buffer record, as people see it: what tracing_on says? And switching it. */
bool control_buffer_is_on(const struct control *control, uint32_t buffer);
int control_buffer_switch(struct control *control, uint32_t buffer, bool on, struct err *err);

/* Is the event on, as people see it: what rules and triggers say? `soft`: triggers have a say. */
bool control_event_is_on(const struct control *control, uint32_t buffer, const char *system, const char *event,
			 bool *soft);

#endif
