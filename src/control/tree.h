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

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/buf.h"
#include "base/err.h"
#include "control/control.h"

enum {
	TREE_TRUNC = 1,		/* opened with O_TRUNC, which is an action of its own in some files */
	TREE_READ = 2,
	TREE_WRITE = 4,
};

/* What a path names. `mode` is the kernel's for such a file, without the type. */
struct tree_stat {
	bool is_dir;
	bool is_pages;		/* a file of pages: clients splice it */
	bool is_fleeting;	/* of an event that somebody may remove: not to be remembered */
	uint32_t mode;
};
int tree_stat(struct control *control, const char *path, struct tree_stat *stat, struct err *err);

/*
 * Appends the file's text. Files that are followed (trace_pipe, trace_pipe_raw) give what is there now,
 * all of it. -ENOENT, -EISDIR, -EACCES (not to be read), or what the file says.
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

/* instances/NAME, and nothing else. -EEXIST, -EPERM; -EBUSY: its events are being taken out. */
int tree_mkdir(struct control *control, const char *path, struct err *err);
int tree_rmdir(struct control *control, const char *path, struct err *err);

/*
 * A file that is open. It uses the handle for as long as it is, alone; control_again() gives another.
 * One thread at a time.
 */
struct tree_file;

/* `flags`: TREE_READ, TREE_WRITE, TREE_TRUNC, which acts here. -EBUSY: somebody else takes these events out. */
int tree_open(struct tree_file **out, struct control *control, const char *path, unsigned int flags,
	      struct err *err);
/* Some files act when they are closed; what the last one says is for whoever listens. */
int tree_close(struct tree_file *file, struct err *err);

/*
 * Bytes, 0 at the end, -EAGAIN: nothing now, tree_wait() tells when. The text is that of the moment at
 * which it was first read, or read from offset 0 again; followed files have no offsets. -ENODEV: gone.
 */
ssize_t tree_file_read(struct tree_file *file, void *bytes, size_t len, uint64_t offset,
		       struct err *err);

/* For followed files: 1 when a read is worth it, 0 on timeout, -EINTR. Others are always ready. */
int tree_wait(struct tree_file *file, int timeout_ms, struct err *err);
/* What poll(2) should say about reading: unlike a read it waits for buffer_percent. */
bool tree_ready(struct tree_file *file);
/* Is that worth to be asked again and again? Histograms are such, too: readable when there were hits since the last read. */
bool tree_is_polled(const struct tree_file *file);
/* Of a histogram: were there hits since this was last asked for good? */
bool tree_has_news(struct tree_file *file, bool for_good);
/* Is it one of those that are followed, and block when there is nothing? */
bool tree_is_followed(const struct tree_file *file);

/*
 * For files of pages: puts into `fd`, a file in memory of the caller's, what the kernel shows to those who map such
 * a file. tree_map_turn() turns to the reader's next page there, if there is one. -ENODEV: no such file.
 */
int tree_map(struct tree_file *file, int fd, struct err *err);
int tree_map_turn(struct tree_file *file, struct err *err);

/* Who writes, when that is not this process: markers carry it. */
struct tree_caller {
	int32_t tid;
	int32_t tgid;
	char comm[16];
};

/* Bytes taken, all of them or, of a long marker, some. `caller` NULL: this thread. */
ssize_t tree_file_write(struct tree_file *file, const char *text, size_t len,
			const struct tree_caller *caller, struct err *err);

#endif
