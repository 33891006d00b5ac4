/*
 * plan/looks: functions that look at their own return address, by what they do. Within this room.
 */
#ifndef PLAN_LOOKS_H
#define PLAN_LOOKS_H

#include <stdbool.h>
#include <stdint.h>

#include "plan/image.h"

/* Does it read or write where its return address is? Where it cannot be told, no. */
bool looks_back(const struct image *image, uint64_t address, uint64_t size);

#endif
