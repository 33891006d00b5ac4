/*
 * cmd/pager: what a person at a terminal gets beside the text: a pager for long output, and colour.
 * Elsewhere, and where they said no, nothing is added to the text.
 */
#ifndef CMD_PAGER_H
#define CMD_PAGER_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "base/buf.h"
#include "base/err.h"
#include "cmd/opts.h"

enum {
	PAGER_TRACE = 1,	/* the text is a trace: its lines may be coloured */
	PAGER_STRAIGHT = 2,	/* no pager, for what has no end */
};

/* The way of text to standard output. A pager is begun when there is something to read. */
struct pager {
	char *command;		/* NULL: none */
	pid_t pid;		/* 0: not begun */
	bool colour;
	struct buf rest;	/* of a line whose end has not come yet, to be coloured */
	struct buf out;
	struct err *err;
};
void pager_begin(struct pager *pager, const struct opts *opts, unsigned int flags, struct err *err);

/* A source_put; `ctx` is the pager. */
int pager_put(void *ctx, const void *bytes, size_t len);

/* Until the person has seen enough. `r`, or what became of the rest. */
int pager_end(struct pager *pager, int r);

/* All three for a text that is at hand. */
int pager_show(const struct opts *opts, const struct buf *text, struct err *err);

#endif
