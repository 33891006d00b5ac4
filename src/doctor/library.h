/*
 * doctor/library: where the loader finds a library that a program asks for.
 *
 * As glibc and musl look for them: the paths in the file, LD_LIBRARY_PATH, the loader's cache, the default
 * places; not what LD_PRELOAD, LD_AUDIT or variants for particular CPUs would change.
 */
#ifndef DOCTOR_LIBRARY_H
#define DOCTOR_LIBRARY_H

#include <limits.h>
#include <stdbool.h>

#include "doctor/elf.h"

/* Who asks. */
struct library_for {
	const struct elf *elf;
	const char *path;	/* of the file, for $ORIGIN */
	bool secure;		/* runs with more rights than its caller: fewer places count */
	bool musl;
};

/* True and its path when there is one that is made for the same machine. */
bool library_find(const struct library_for *asker, const char *name, char found[PATH_MAX]);

/* Does it ask for a library of that name, which may be a pattern? */
bool library_needs(const char *path, const char *name);

/* Opens a library for reading; a descriptor, or -errno. */
int library_open(const char *path, struct elf *elf);

#endif
