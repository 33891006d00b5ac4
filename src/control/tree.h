/*
 * control/tree: a tracing directory as the kernel's tracefs: path and text in, text and errno out.
 *
 * This is what commands, a mount and everything else that controls tracing go through. Paths are
 * relative to the tree's root ("events/shop/enable"). Every write is checked as a whole before any of
 * it is applied. Files, grammars, texts and errnos are the kernel's; words for people are in `err`
 * and begin with the file's path.
 */
#ifndef CONTROL_TREE_H
#define CONTROL_TREE_H

#include <stddef.h>

#include "base/buf.h"
#include "base/err.h"
#include "control/control.h"

/* The file was opened with O_TRUNC, which is an action of its own in some. */
enum { TREE_TRUNC = 1 };

/*
 * Appends the file's text. Files that consume (trace_pipe_raw) give what is there now, all of it.
 * -ENOENT, -EISDIR, -EACCES (not to be read), or what the file says.
 */
int tree_read(struct control *control, const char *path, struct buf *out, struct err *err);

/* The same for files that may be large: `put` gets piece after piece and ends it all with -errno. */
typedef int tree_put(void *ctx, const void *bytes, size_t len);
int tree_pump(struct control *control, const char *path, tree_put *put, void *ctx, struct err *err);

/* 0 when all of it was accepted. */
int tree_write(struct control *control, const char *path, const char *text, size_t len,
	       unsigned int flags, struct err *err);

/* Names in a directory, sorted, each with a newline; those of directories end in '/'. */
int tree_list(struct control *control, const char *path, struct buf *out, struct err *err);

#endif
