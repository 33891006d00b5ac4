/*
 * cmd/apply_same: whether what a profile asks for is there already: then there is nothing to do. A profile may be applied again.
 */
#ifndef CMD_APPLY_SAME_H
#define CMD_APPLY_SAME_H

#include <stdbool.h>

#include "base/err.h"
#include "boot/profile.h"
#include "cmd/scope.h"

bool same_define(struct source *source, const struct boot_step *step);
bool same_trigger(struct source *source, const struct scope *scope, const struct boot_step *step);

/* How much of FUNCTION:COMMAND[:SYSTEM:EVENT][:COUNT] says what functions set off, and not how often. */
size_t same_command_len(const char *text);
bool same_command(struct source *source, const struct scope *scope, const struct boot_step *step);

/* The same of an event that was refused with -EEXIST: does the source say that it is this very one? */
bool same_refused(struct source *source, const struct boot_step *step, const struct err *refused);

/* What error_log says of a text that was refused; "" if it has no word on it. */
void same_why(struct source *source, const struct scope *scope, const char *text, char why[128]);

#endif
