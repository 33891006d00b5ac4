/*
 * library: the public face of control and of reading live records, <ringside/control.h>. Private
 * to the room.
 *
 *   ringside_control_* --> source --> a tracing directory (control), or files
 *   records --> rows.c (a tracing directory) or pipes.c (files: pages, with names.c for what is in them)
 *
 * Every public function about a tree begins with library_begin(), which forgets the last error,
 * and leaves its own in tree->err. Threads: see the header.
 */
#ifndef LIBRARY_LIBRARY_H
#define LIBRARY_LIBRARY_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "base/err.h"
#include "ringside/control.h"
#include "source/source.h"

struct ringside_control {
	struct source *source;	/* NULL: could not be opened, and err says why */
	bool files;		/* not a tracing directory */
	struct err err;
};

struct ringside_control_instance {
	char *name;
	char *prefix;		/* "instances/NAME/" */
};

/* 0, or why nothing can be done: the tree is not open, or the words are missing. */
int library_begin(struct ringside_control *tree);

/* `prefix` of the instance, "" of the top. */
const char *library_prefix(const struct ringside_control_instance *instance);

/* May it be one part of a path? Words in tree->err if not; `what` it would be the name of. */
int library_check_name(struct ringside_control *tree, const char *name, const char *what);

/* The file's path in the tree, in `out` of PATH_MAX bytes. */
int library_path(struct ringside_control *tree, const struct ringside_control_instance *instance,
		 char *out, const char *format, ...) __attribute__((format(printf, 4, 5)));

/*
 * The rest is about a path of the tree: reads to a text that is yours to free, writes, and lists
 * names.
 */
int library_read(struct ringside_control *tree, const char *path, char **text, size_t *len);
int library_number(struct ringside_control *tree, const char *path, long long *number);
int library_write(struct ringside_control *tree, const char *path, const void *bytes, size_t len,
		  bool append);

enum library_listing {
	LIBRARY_ALL,		/* as the tree lists them */
	LIBRARY_DIRECTORIES,	/* these only, without the slash */
};
/* How many, or -errno. */
int library_list(struct ringside_control *tree, const char *path, enum library_listing which,
		 char ***names);

/* The words of a text as a list of names. `text` is cut up. */
int library_split(struct ringside_control *tree, char *text, const char *between, char ***names);

#endif
