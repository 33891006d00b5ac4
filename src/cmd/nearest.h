/*
 * cmd/nearest: events of systems that every directory knows, which a person may have mistyped, and what was meant then.
 */
#ifndef CMD_NEAREST_H
#define CMD_NEAREST_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"

struct nearest {
	const char *system, *event;	/* that is wanted; NULL: of any system */
	const char *near_system, *near_event;	/* NULL: nothing is near */
	unsigned int distance;
};

/* One that is known. */
void nearest_offer(struct nearest *nearest, const char *system, const char *event);

/* Words for it, or none: "; the nearest is SYSTEM:EVENT". */
const char *nearest_words(const struct nearest *nearest, char text[160]);

/*
 * Of one that is not known: -ENOENT where programs cannot bring it, as system calls; 1 in other systems that every directory knows,
 * where they hardly will; words are in `err`. 0: it may well come.
 */
int nearest_judge(const struct nearest *nearest, struct err *err);

#endif
