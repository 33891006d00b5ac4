/*
 * symbol/lines: a file of source that debug information names, line by line.
 *
 * The name may lead anywhere, and so only regular files are read, and no more of them than somebody would write.
 */
#ifndef SYMBOL_LINES_H
#define SYMBOL_LINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct lines {
	FILE *file;
	size_t left;		/* bytes that may still be read */
};

/* -ENOEXEC: it is no regular file. */
int lines_open(struct lines *lines, const char *path);
void lines_close(struct lines *lines);
/* The next one without its newline, cut where it does not fit. False: that was all. */
bool lines_next(struct lines *lines, char *line, size_t size);

#endif
