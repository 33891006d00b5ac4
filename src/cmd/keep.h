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

/* Is the event of that line of set_event on? One with a trigger is there, too, on or not; its own file tells: 0*. */
bool keep_is_on(struct source *source, const struct scope *scope, const char *line, size_t len);
/* Lines of set_event of those that are. */
int keep_events(struct source *source, const struct scope *scope, struct buf *out, struct err *err);

#endif
