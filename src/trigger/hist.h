/*
 * trigger/hist: the reading of one histogram's line, in the kernel's order of things: cut at colons, actions' syntax,
 * values, variables, keys, sort, and at last what actions need. Private to the room.
 *
 *   hist.c  the line and its lists -> hist_expr.c  one expression -> hist_var.c  who sets a variable
 *                                  -> hist_action.c  handlers and what they do
 */
#ifndef TRIGGER_HIST_H
#define TRIGGER_HIST_H

#include "trigger/read.h"

enum {
	HIST_AS_KEY = 1,
	HIST_AS_VAR = 2,
};

struct hist_def {
	char *name;
	char *expr;
};

struct hist_read {
	const struct spec_world *world;
	struct read_mem *mem;
	struct spec_error *error;
	struct spec_hist *hist;
	const char *system, *event;
	const struct decode_format *format;	/* NULL: all names are believed */
	bool remove;
	/* Pieces of the line, in the copy that is worked on. */
	char *keys, *vals, *sort;
	uint32_t nassigns, nactions, ndefs;
	char *assigns[HOOK_VARS_MAX];
	char *actions[HOOK_ACTIONS_MAX];
	struct hist_def defs[HOOK_VARS_MAX];
	/* Variables of others, each once. */
	uint32_t nrefs;
	const struct spec_term *refs[HOOK_REFS_MAX];
	bool saves;
	bool own_refs;		/* variables of this line may be referred to: those that stand before */
};

/* The line behind `hist:`, which is cut up; fills read->hist. */
int hist_read_line(struct hist_read *read, char *line);
/* What meets it in the world, itself not yet in it: see spec_hist_meet(). */
int hist_meet(const struct spec_hist *hist, const struct spec_world *world, const char *system, const char *event,
	      uint32_t *old, struct spec_error *error);

/* .sym-offset has a dash that is no operator: expressions are read with an X in its place. */
void hist_change_dash(char *text, char from, char to);
/* An expression: its text is cut up. */
int hist_read_expr(struct hist_read *read, char *text, unsigned int as, const struct spec_term **out);
/* A field, a variable or a literal. */
int hist_read_atom(struct hist_read *read, char *text, unsigned int as, const struct spec_term **out);
/* A field of an event by its name alone; NULL: there is none that could be counted. */
struct spec_term *hist_field_term(struct read_mem *mem, const struct decode_format *format, const char *name, int *code);
bool hist_is_usecs(const struct spec_term *term);

/* Who sets $name: of that event, or (system NULL) as onmatch() and uniqueness say. NULL: nobody. */
struct hist_owner {
	const struct spec_hist *hist;
	uint32_t number;
	const char *system, *event;
};
bool hist_find_var(struct hist_read *read, const char *system, const char *event, const char *name,
		   struct hist_owner *owner);
/* Does a histogram of this event set it? */
bool hist_event_sets(struct hist_read *read, const char *system, const char *event, const char *name,
		     struct hist_owner *owner);
int hist_own_var(const struct hist_read *read, const char *name);
/* NULL: too many. */
const struct spec_term *hist_refer(struct hist_read *read, const struct hist_owner *owner, bool full);
const struct spec_term *hist_refer_own(struct hist_read *read, uint32_t number);

/* Before values and keys are read, and after. */
int hist_read_actions(struct hist_read *read);
int hist_make_actions(struct hist_read *read);

/* As listings show it: an expression, a key with its modifier. */
void hist_echo(const struct spec_hist *hist, bool paused, struct buf *out);
void hist_echo_name(const struct spec_term *term, struct buf *out);
void hist_echo_term(const struct spec_term *term, bool is_key, struct buf *out);

#endif
