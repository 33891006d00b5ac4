/*
 * control/space: the tables file as the tool deals it out: words and extents. In a transaction, but for reading words.
 *
 * What is in use is what the state's items name, so nothing is marked in the file itself: who dies half-way has taken nothing.
 */
#ifndef CONTROL_SPACE_H
#define CONTROL_SPACE_H

#include <stdint.h>

#include "base/err.h"
#include "control/control.h"

/* 0 when it cannot be read; what the transaction under way makes of it. */
uint64_t control_word(const struct control *control, uint32_t word);
/* At once: of words that no published state looks at. */
int control_word_set(struct control *control, uint32_t word, uint64_t value, struct err *err);
/* When the transaction is committed, or not at all: of words that programs look at. */
int control_word_change(struct control *control, uint32_t word, uint64_t value, struct err *err);

/* For control.c: what was changed so, behind the state that was published. */
int control_words_apply(struct control *control, struct err *err);
void control_words_forget(struct control *control);

/* A word that no item has, with that value. It is the caller's only once an item names it. */
int control_word_deal(struct control *control, uint64_t value, uint32_t *word, struct err *err);

/* Bytes that no item has: backed by memory, zero. -ENOSPC. */
int control_extent_make(struct control *control, uint64_t size, uint64_t *offset, struct err *err);

/* Gives up what the item has in the tables file, but for what another one shares. Not the item itself. */
int control_extents_drop(struct control *control, const struct state_item *item, struct err *err);
/* One extent, which becomes none. */
int control_extent_drop(struct control *control, uint64_t *offset, uint64_t *size, struct err *err);

/* All of the file, whatever the state says. */
void control_space_drop(struct control *control);

#endif
