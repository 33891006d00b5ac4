/*
 * expr/names: which events the first part of a filter's text names. Private to the room.
 */
#ifndef EXPR_NAMES_H
#define EXPR_NAMES_H

#include "expr/filter.h"

/*
 * Reads text[0, len) and sets picked[i] for each event of the world that it names. 0; -ENOENT when 
 * a name in it is none of any event; -EBADMSG; -ENOMEM.
 */
int expr_names_pick(const char *text, size_t len, const struct filter_world *world, bool *picked,
		    struct err *err);

#endif
