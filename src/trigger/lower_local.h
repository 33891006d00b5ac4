/*
 * trigger/lower_local: what the files of lowering share. Private to them.
 */
#ifndef TRIGGER_LOWER_LOCAL_H
#define TRIGGER_LOWER_LOCAL_H

#include "program/program.h"
#include "trigger/lower.h"

struct lowering {
	const struct lower_item *items;
	size_t n;
	const struct spec_world *world;
	uint32_t parts;
	struct buf *hooks;
	struct buf *probes;	/* NULL: nobody asks for points */
	struct buf *code;
	struct spec_error *error;
	int failed;		/* the first -errno */
};

/* What is new cannot be: why, for error_log. The first refusal counts. */
void lower_refuse(struct lowering *low, int code, const char *message);

/* Puts bytes into the code area, at a multiple of 8, and tells where; 0 of nothing. */
uint32_t lower_put(struct lowering *low, const void *bytes, size_t len);
uint32_t lower_program(struct lowering *low, struct program_build *build);

static inline enum program_class lower_class(uint8_t form)
{
	return form == HOOK_TEXT ? PROGRAM_TEXT : form == HOOK_STACK ? PROGRAM_WORDS : form == HOOK_REAL ? PROGRAM_REAL
													  : PROGRAM_INT;
}

/* lower_hist.c: a struct hook_hist; 0: cannot be. */
uint32_t lower_hist(struct lowering *low, const struct lower_item *item);
/* lower_probe.c: a struct hook_emit, of an event probe or a point; 0: cannot be. */
uint32_t lower_probe(struct lowering *low, const struct lower_item *item);
/* lower_point.c: a struct state_probe. */
void lower_point(struct lowering *low, const struct lower_item *item);

#endif
