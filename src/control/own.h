/*
 * control/own: instances that somebody made for himself, and that are not to outlive him: a recorder's.
 *
 * Who made one holds a lock for as long as he has his handle, which the kernel drops with his last breath; an instance whose
 * lock nobody holds any more is an orphan, and whoever is asked to removes those.
 */
#ifndef CONTROL_OWN_H
#define CONTROL_OWN_H

#include "control/control.h"

/* As control_buffer_add() in a transaction of its own; the instance is this handle's. */
int control_own_add(struct control *control, const char *name, struct err *err);

/* Those of this handle stay when it is closed. */
int control_own_release(struct control *control, struct err *err);

/* Removes orphans, but for those that somebody reads. How many, or -errno. */
int control_own_sweep(struct control *control, struct err *err);

#endif
