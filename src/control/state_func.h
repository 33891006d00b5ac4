/*
 * control/state_func: the lines about functions in a state: the part of control/state that knows them. Private to the two.
 */
#ifndef CONTROL_STATE_FUNC_H
#define CONTROL_STATE_FUNC_H

#include "control/state.h"

void state_funcs_drop(struct control_state *state);

/* Are its numbers possible? Whether its buffer is there, the caller knows. */
bool state_func_valid(const struct state_func *func);

/* Takes them over from a state's bytes, whose table lies inside. NULL, or what is wrong. */
const char *state_funcs_take(struct control_state *state, const struct state_head *head, const char *bytes);

/* The bytes that their texts take, and writing them, the texts from `at` on. */
uint32_t state_funcs_texts(const struct control_state *state);
void state_funcs_put(const struct control_state *state, const struct state_head *head, uint32_t at, char *bytes);

#endif
