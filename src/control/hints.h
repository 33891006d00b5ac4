/*
 * control/hints: the words that event sites test.
 *
 * Bit 0 of an event's word: some buffer wants it. Bit 1: some buffer wants an event that rides on
 * its sites. A program that brings an event sets its word by itself, from the state that is then
 * published; everybody else's words are set here, after a new state was published.
 */
#ifndef CONTROL_HINTS_H
#define CONTROL_HINTS_H

#include "base/err.h"
#include "control/control.h"

enum { CONTROL_HINT_ON = 1, CONTROL_HINT_RELATED = 2 };

int control_hints_sync(struct control *control, struct err *err);

#endif
