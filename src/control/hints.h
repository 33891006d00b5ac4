/*
 * control/hints: the words that event sites test.
 *
 * Bit 0 of an event's word: some buffer wants it. Bit 1: some buffer wants an event that rides on
 * its sites. A program that brings an event sets its word by itself, from the state that is then
 * published; everybody else's words are set here. What a new state wants is set before it is published and
 * the rest cleared behind that: a word that is set for nothing costs a look at the state, one that is missing
 * costs events, and whoever publishes may be killed in between.
 */
#ifndef CONTROL_HINTS_H
#define CONTROL_HINTS_H

#include "base/err.h"
#include "control/control.h"

enum { CONTROL_HINT_ON = 1, CONTROL_HINT_RELATED = 2 };

struct control_hints;

/* Before publishing: nobody misses what the state in memory wants. NULL: it could not be done, and is tried again below. */
struct control_hints *control_hints_raise(struct control *control);
/* After publishing: the words say what the state says. Frees `hints`, which may be NULL. */
int control_hints_settle(struct control *control, struct control_hints *hints, struct err *err);
void control_hints_free(struct control_hints *hints);

#endif
