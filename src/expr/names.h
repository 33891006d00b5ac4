/*
 * expr/names: which events the first part of a filter's text names. Private to the room.
 */
#ifndef EXPR_NAMES_H
#define EXPR_NAMES_H

#include "expr/filter.h"

/* More names than that are not read: each is looked for among all events. */
#define NAMES_MAX 1024

/*
 * Reads text[0, len) and sets picked[i] for each event of the world that it names. 0; -ENOENT when 
 * a name in it is none of any event; -E2BIG; -EBADMSG; -ENOMEM.
 */
int expr_names_pick(const char *text, size_t len, const struct filter_world *world, bool *picked,
		    struct err *err);

#endif
