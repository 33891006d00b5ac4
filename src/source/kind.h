/*
 * source/kind: what every kind of source provides. Private to the room.
 */
#ifndef SOURCE_KIND_H
#define SOURCE_KIND_H

#include "source/source.h"

/* Each does what the function of its name in source.h says. */
struct source_kind {
	void (*close)(struct source *source);
	bool (*exists)(struct source *source, const char *path);
	int (*read)(struct source *source, const char *path, struct buf *out, struct err *err);
	int (*pump)(struct source *source, const char *path, source_put *put, void *ctx,
		    struct err *err);
	int (*follow)(struct source *source, const char *path, source_put *put,
		      bool (*over)(void *ctx), void *ctx, struct err *err);
	int (*raw)(struct source *source, const char *path, struct err *err);
	int (*write)(struct source *source, const char *path, const char *text, size_t len,
		     bool append, struct err *err);
	int (*list)(struct source *source, const char *path, struct buf *out, struct err *err);
	int (*mkdir)(struct source *source, const char *path, struct err *err);
	int (*rmdir)(struct source *source, const char *path, struct err *err);
};

struct source {
	const struct source_kind *kind;
	char *name;
	bool escape;
	struct control *control;	/* of a tracing directory */
	int root;			/* of files: their directory */
	bool is_kernel;			/* which is the kernel's tracefs */
};

/* Both fill in a source that is zeroed; on failure it stays closed. */
int source_directory_open(struct source *source, const struct source_how *how, struct err *err);
int source_files_open(struct source *source, const struct source_how *how, struct err *err);

/*
 * What the tree itself says of a text that it has just refused to take from us: its last entry in error_log, if that is about it.
 * "Couldn't find field: 'nosuch'"; "" when it says nothing.
 */
void source_reason(struct source *source, const char *path, const char *text, size_t len, char *reason, size_t size);

/* Bytes at a time. */
#define SOURCE_PIECE 65536

/* How long to wait for more before somebody is asked whether it is over. */
#define SOURCE_WAIT_MS 100

#endif
