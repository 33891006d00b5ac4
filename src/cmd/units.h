/*
 * cmd/units: times and sizes as people write them: 30s, 1.5ms, 100M. False: it is none, or too large.
 */
#ifndef CMD_UNITS_H
#define CMD_UNITS_H

#include <stdbool.h>
#include <stdint.h>

/* Nanoseconds; a number alone is of seconds. */
bool units_time(const char *text, uint64_t *ns);
/* A number with a letter. */
bool units_size(const char *text, uint64_t *bytes);
/* A number alone, of KiB. */
bool units_kilobytes(const char *text, uint64_t *bytes);

#endif
