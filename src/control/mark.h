/*
 * control/mark: a marker written by the tool itself.
 */
#ifndef CONTROL_MARK_H
#define CONTROL_MARK_H

#include <stddef.h>

#include "base/err.h"
#include "control/control.h"

/* Puts `text` into the top buffer, which gets its rings first if need be. -EBADF: tracing is off. */
int control_mark(struct control *control, const char *text, size_t len, struct err *err);

#endif
