/*
 * ring/segment: the tracing directory on disk: finding it, making it, and opening its five files safely.
 *
 * Used by the tool and by the runtime in traced programs, so: no malloc, no stdio, descriptors are O_CLOEXEC, and words
 * for people only go into `err`, which the runtime passes as NULL.
 */
#ifndef RING_SEGMENT_H
#define RING_SEGMENT_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"
#include "layout/segment.h"

enum segment_kind { SEGMENT_CONTROL, SEGMENT_REGISTRY, SEGMENT_RINGS, SEGMENT_TABLES, SEGMENT_PLANS, SEGMENT_KINDS };

struct segment_dir {
	char path[PATH_MAX];
	int dir;			/* the directory */
	uid_t uid;			/* whose it is */
	int fd[SEGMENT_KINDS];		/* its files; -1 when not open */
	uint64_t size[SEGMENT_KINDS];	/* as of opening */
	uint32_t ncpu;
};

/* Path of the directory: $RINGSIDE_DIR (unless `secure`), else the per-user place. -errno when it does not fit. */
int segment_path(char *path, size_t size, bool secure);

/*
 * Opens the directory at `path`, checks owner and modes, opens and checks the files. With `create`, makes what is not
 * there. Fails with one line in `err` that names the file and says what to do.
 */
int segment_open(struct segment_dir *dir, const char *path, bool create, struct err *err);
/* The same directory once more, of the same owner, whoever we are now. */
int segment_again(struct segment_dir *dir, const struct segment_dir *other, struct err *err);
void segment_close(struct segment_dir *dir);

#endif
