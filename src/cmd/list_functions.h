/*
 * cmd/list_functions: the part of `list` that is about functions.
 */
#ifndef CMD_LIST_FUNCTIONS_H
#define CMD_LIST_FUNCTIONS_H

#include <regex.h>
#include <stdbool.h>

#include "base/buf.h"
#include "base/err.h"
#include "cmd/opts.h"
#include "source/source.h"

struct list_ask {
	const struct opts *opts;
	const char *pattern;	/* a glob, or, if it is plain, a part of the name; NULL: all */
	bool why;		/* instead those that cannot be traced, or only by a trap, and the reason */
	bool proto;		/* as C declares them */
	bool json;
};

int list_functions(struct buf *out, struct source *source, const struct list_ask *ask, struct err *err);

/* One of them, where `how` and `why` may be NULL, and `proto` is what C declares or NULL. */
void list_put_function(struct buf *out, const char *name, const char *module, const char *how, const char *why, const char *proto,
		       bool json);

/* list_kernel.c: those of the kernel's own tree. */
int list_kernel_functions(struct buf *out, struct source *source, const struct list_ask *ask, struct err *err);

#endif
