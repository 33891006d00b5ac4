/*
 * cmd/own: instances in a tree of files that go with the process which made them.
 *
 * Nobody there knows whose an instance is: its name has to tell. KIND-PID-START, with the time at which the process began, since
 * numbers come again; and with the number of its pid namespace behind it when that is not the first one, because a process of
 * another cannot be looked for.
 */
#ifndef CMD_OWN_H
#define CMD_OWN_H

#include <stddef.h>

#include "base/err.h"
#include "source/source.h"

/* Before the instance's name, with _ for -, the name of a synthetic event that belongs to it. */
#define OWN_SYNTH "ringside_"

/* The name of an instance of ours, of one of the kinds that own.c knows. */
int own_name(char *out, size_t size, const char *kind, struct err *err);

/* Removes those whose makers died. How many. */
int own_sweep(struct source *source);

/* Removes synthetic events whose instances are gone. */
void own_sweep_synth(struct source *source);

#endif
