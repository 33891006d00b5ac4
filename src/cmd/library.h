/*
 * cmd/library: where the loader finds a library that a program asks for.
 *
 * As glibc and musl look for them: the paths in the file, LD_LIBRARY_PATH, the loader's cache, the default
 * places; not what LD_PRELOAD, LD_AUDIT or variants for particular CPUs would change.
 */
#ifndef CMD_LIBRARY_H
#define CMD_LIBRARY_H

#include <limits.h>
#include <stdbool.h>

#include "cmd/elf.h"

/* Who asks. */
struct cmd_library_for {
	const struct cmd_elf *elf;
	const char *path;	/* of the file, for $ORIGIN */
	bool secure;		/* runs with more rights than its caller: fewer places count */
	bool musl;
};

/* True and its path when there is one that is made for the same machine. */
bool cmd_library_find(const struct cmd_library_for *asker, const char *name, char found[PATH_MAX]);

/* "libringside.so", "libringside.so.0" and so on. */
bool cmd_library_is_ours(const char *name);

/* Opens a library for reading; a descriptor, or -errno. */
int cmd_library_open(const char *path, struct cmd_elf *elf);

#endif
