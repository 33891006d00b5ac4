/*
 * control/pipe: taking events out of a buffer. Private to the room.
 */
#ifndef CONTROL_PIPE_H
#define CONTROL_PIPE_H

#include "control/node.h"

/* Takes out, for nobody, all that the request's CPU has now, or had when it was set aside. */
int control_pipe_drain(struct node_request *request, bool snapshot, struct err *err);

#endif
