/*
 * cmd/stream_text: what comes into buffers of a tree of files, in the tree's own lines, those of several buffers in the order of
 * time as far as they come together. What is printed is taken out of the buffers.
 */
#ifndef CMD_STREAM_TEXT_H
#define CMD_STREAM_TEXT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "cmd/pager.h"
#include "source/source.h"

struct stream_text;

/* Lines go to the pager, which stays the caller's. At most `max` buffers are added. */
int stream_text_open(struct stream_text **out, struct source *source, struct pager *pager, size_t max, struct err *err);
void stream_text_close(struct stream_text *text);

/* `instance` NULL: the top buffer; `title` stands before its lines where there are several, and outlives them. */
int stream_text_add(struct stream_text *text, const char *instance, const char *title, struct err *err);

/* Prints what comes, until `over`, which is asked ten times a second and after each piece, says so, or all have ended. */
int stream_text_follow(struct stream_text *text, bool (*over)(void *arg), void *arg, struct err *err);
/* What there still is, of buffers that are off by now. */
int stream_text_rest(struct stream_text *text, struct err *err);

#endif
