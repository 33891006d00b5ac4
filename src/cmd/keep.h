/*
 * cmd/keep: what a file of the tree says, as a text that makes it say so again.
 */
#ifndef CMD_KEEP_H
#define CMD_KEEP_H

#include "base/buf.h"
#include "base/err.h"
#include "cmd/scope.h"
#include "source/source.h"

/* How a file's text is brought back: as it is, without what is for people, or by other means. */
enum setup_keep { KEEP_WORD, KEEP_LIST, KEEP_FILTER, KEEP_OPTION, KEEP_TRIGGER, KEEP_AHEAD };

/* Of the first three kinds; what there is goes behind what `out` has. */
int keep_read(struct source *source, const struct scope *scope, const char *file, enum setup_keep kind, struct buf *out,
	      struct err *err);

#endif
