/*
 * plan/sequences: restartable sequences (rseq) of the file: the kernel takes a thread out of them whenever it likes, and knows
 * them by their addresses. Within this room.
 */
#ifndef PLAN_SEQUENCES_H
#define PLAN_SEQUENCES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "plan/image.h"

struct sequence {
	uint64_t start, end;
};

struct sequences {
	struct sequence *all;
	size_t n;
};

/* Marks where they are left for, too. */
int sequences_init(struct sequences *sequences, const struct image *image, struct err *err);
void sequences_fini(struct sequences *sequences);
bool sequences_meet(const struct sequences *sequences, uint64_t start, uint64_t end);
/* How far what is around an address, which is in none, goes without meeting any. */
void sequences_between(const struct sequences *sequences, uint64_t address, uint64_t *start, uint64_t *end);

#endif
