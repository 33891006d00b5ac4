/*
 * cmd/list_functions: the part of `list` that is about functions.
 */
#ifndef CMD_LIST_FUNCTIONS_H
#define CMD_LIST_FUNCTIONS_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/err.h"
#include "source/source.h"

/* Those whose name matches the glob, NULL: all. `why`: instead those that cannot be traced, or only by a trap, and the reason. */
int list_functions(struct buf *out, struct source *source, const char *glob, bool why, bool json, struct err *err);

#endif
