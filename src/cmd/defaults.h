/*
 * cmd/defaults: how a fresh buffer is set, for those who tell what is not so, or make it so again.
 */
#ifndef CMD_DEFAULTS_H
#define CMD_DEFAULTS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "source/source.h"

/*
 * Is a line of trace_options as in a fresh buffer? If not, `other` says what would be. Options that
 * are not known count as fresh.
 */
bool defaults_option(const char *line, char *other, size_t size);

/* The mask of all CPUs, as the source writes it. -ENOENT when it does not tell which there are. */
int defaults_cpumask(struct source *source, struct buf *mask);

#endif
