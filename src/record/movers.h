/*
 * record/movers: threads that take full pages out of a kernel's buffers, into hoses, as soon as they are worth it.
 *
 * Each CPU has one of its own, on that CPU, for all hoses of it: a virtual CPU that its host takes away for a while, or one that is
 * busy with interrupts, then stops the mover together with those who fill the buffer, and no mover's stop is felt by another CPU.
 * Where the caller may not run, none is put: it stays where the caller is.
 */
#ifndef RECORD_MOVERS_H
#define RECORD_MOVERS_H

#include "record/hose.h"

struct movers;

/* For these, which stay the caller's; those that get no thread are not `served`. NULL: there is none at all. */
struct movers *movers_begin(struct hose **hoses, size_t nr);
void movers_end(struct movers *movers);

/* The i-th one's thread; 0: there are not so many. */
pid_t movers_tid(const struct movers *movers, size_t i);
/* A word that changes when pages were moved, for those who wait to write them. */
const uint32_t *movers_bell(const struct movers *movers);
/* It was heard, and what there was is taken. */
void movers_hush(struct movers *movers);

#endif
