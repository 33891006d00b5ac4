/*
 * cmd/attached: which programs have a tracing directory mapped now.
 */
#ifndef CMD_ATTACHED_H
#define CMD_ATTACHED_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "control/control.h"

/*
 * A line "    PID NAME" for each: a process whose maps show the directory's files or, where they cannot be
 * seen, one whose threads told their names there.
 */
int attached_put(struct buf *out, const struct control *control, struct err *err);

/* Is that one of them, as far as its maps can be seen? */
bool attached_is(int32_t pid, const struct control *control);

#endif
