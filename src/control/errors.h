/*
 * control/errors: what was refused, for error_log: the last few of each buffer, whoever wrote them.
 *
 * They lie in a file of their own in the tracing directory, which no program looks at. Losing them harms nobody, so
 * whatever goes wrong here is kept quiet.
 */
#ifndef CONTROL_ERRORS_H
#define CONTROL_ERRORS_H

#include "control/node.h"

/* What was written to `path` was refused, `err` says why. */
void control_errors_add(const struct node_request *request, const char *path, const struct err *err);

/* The same where the node has filled in request->error: nothing is told when that has no message. */
void control_errors_add_spec(const struct node_request *request);

/* The same of what is no file: `where` and `command` are for people. About the top buffer. */
void control_errors_note(struct control *control, const char *where, const char *command, const struct err *err);

/* Forgets all of them. */
void control_errors_forget(const struct control *control);

/* Forgets those of the buffer that was born then. */
void control_errors_clear(const struct control *control, uint64_t born);

#endif
