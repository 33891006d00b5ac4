/*
 * plan/entries: where code is come to from elsewhere than the byte before: what is marked IMAGE_ENTERED. Within this room.
 *
 *   branches     every instruction of the code is decoded once, from each symbol and frame on
 *   addresses    that instructions take, that relocations bring, that data hold where the program stays where it was linked
 *   tables       of a switch: numbers that count from the table's own address, as far as they lead to code
 *   landing pads of exceptions: plan/frames.h
 *
 * A function may also compute where in itself it goes on from numbers that nothing tells the meaning of: distances from a label, steps
 * of an unrolled loop. Whoever takes the address of a label within code and jumps by a register is kept as unsure, with what he takes.
 *
 * Instructions are marked IMAGE_STEP, as far as each follows another from where something begins; system calls are kept.
 */
#ifndef PLAN_ENTRIES_H
#define PLAN_ENTRIES_H

#include "base/err.h"
#include "plan/image.h"

/* Brings relocations into the image's data, too: frames and restartable sequences are read after it. */
int entries_of_data(struct image *image, struct err *err);
/* Frames are known by then. */
int entries_of_code(struct image *image, struct err *err);

#endif
