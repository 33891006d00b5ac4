/*
 * control/pause: a buffer takes nothing while somebody reads its `trace` under pause-on-trace.
 *
 * Who reads holds a lock for as long, which the kernel drops with its last breath; a pause that nobody holds is ended
 * by the next transaction.
 */
#ifndef CONTROL_PAUSE_H
#define CONTROL_PAUSE_H

#include "control/control.h"

int control_pause(struct control *control, uint32_t place, struct err *err);
/* Ends ours; the buffer goes on when it was the last one. */
void control_resume(struct control *control, uint32_t place);

/* In a transaction: ends the pauses that nobody holds. */
void control_pause_check(struct control *control);

#endif
