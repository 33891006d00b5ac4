/*
 * control/stamp: which file it was: a text that is another one when a file was built again. Probes by path and offset keep it
 * (probe_world.h), since an offset means nothing in another build.
 */
#ifndef CONTROL_STAMP_H
#define CONTROL_STAMP_H

#include "base/buf.h"
#include "control/control.h"

/* "b" and its build-id, or, without one, "s" and its size and when it was last written; nothing of a file that cannot be read. */
void control_stamp_put(struct buf *out, const char *path);

/* Has such a probe a point in `file` (without links; NULL: in any) that has changed since it was set? Of the state as read. */
bool control_probe_is_stale(const struct control *control, const char *system, const char *event, const char *file);

#endif
