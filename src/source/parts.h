/*
 * source/parts: what a kernel's tracing consists of, and the option of its configuration that each part takes: so that who
 * misses something is told what mends it.
 */
#ifndef SOURCE_PARTS_H
#define SOURCE_PARTS_H

#include <stdbool.h>
#include <stddef.h>

#include "source/source.h"

struct source_part {
	const char *word;	/* a short name */
	const char *name;	/* for people */
	const char *file;	/* by which it shows, if not NULL; "EVENT/..." below the directory of any event */
	const char *tracer;	/* and the word in available_tracers, if not NULL */
	const char *config;	/* CONFIG_... */
	const char *use;	/* what it is good for */
};

/* The i-th, NULL behind the last. */
const struct source_part *source_part_at(size_t i);

/* 0: the tree has it. -ENOENT: it has not. Else why it cannot be used, or only by others. Nothing is changed by that. */
int source_part_try(struct source *source, const struct source_part *part);

/* The option that brings a file of that path; NULL when there is none that would. */
const char *source_part_config(const char *path);

#endif
