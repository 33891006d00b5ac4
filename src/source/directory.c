/*
 * source/directory: a tracing directory, in this process: the tree of control/tree under another name.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "control/tree.h"
#include "source/kind.h"

static void close_directory(struct source *source)
{
	control_close(source->control);
}

static bool exists(struct source *source, const char *path)
{
	struct tree_stat stat;

	return !tree_stat(source->control, path, &stat, NULL);
}

static int collect(void *ctx, const void *bytes, size_t len)
{
	buf_add(ctx, bytes, len);
	return buf_failed(ctx) ? -ENOMEM : 0;
}

static int read_text(struct source *source, const char *path, struct buf *out, struct err *err)
{
	int r = tree_pump(source->control, path, collect, out, err);

	return r == -ENOMEM ? err_set(err, r, "out of memory") : r;
}

static int pump(struct source *source, const char *path, source_put *put, void *ctx, struct err *err)
{
	return tree_pump(source->control, path, put, ctx, err);
}

/* One turn: a piece handed on, or a wait for one. 1 at the end. */
static int turn(struct tree_file *file, char *piece, uint64_t *offset, ssize_t *n, source_put *put,
		void *ctx, struct err *err)
{
	struct err refused = ERR_INIT;
	int r;

	*n = tree_file_read(file, piece, SOURCE_PIECE, *offset, &refused);
	if (*n > 0) {
		*offset += (uint64_t)*n;
		return put(ctx, piece, (size_t)*n);
	}
	if (!*n)
		return 1;
	if (*n != -EAGAIN)
		return err_set(err, (int)*n, "%s", refused.text);
	r = tree_wait(file, SOURCE_WAIT_MS, err);
	return r >= 0 || r == -EINTR ? 0 : r;
}

static int follow(struct source *source, const char *path, source_put *put,
		  bool (*over)(void *ctx), void *ctx, struct err *err)
{
	char *piece = malloc(SOURCE_PIECE);
	struct tree_file *file;
	uint64_t offset = 0;
	ssize_t n;
	int r;

	if (!piece)
		return err_set(err, -ENOMEM, "out of memory");
	r = tree_open(&file, source->control, path, TREE_READ, err);
	if (!r) {
		/* What was taken out belongs out: behind a full piece the rest of its last line may wait. */
		do
			r = turn(file, piece, &offset, &n, put, ctx, err);
		while (!r && (n == SOURCE_PIECE || !over(ctx)));
		tree_close(file, NULL);
	}
	free(piece);
	return r < 0 ? r : 0;
}

static int raw(struct source *source, const char *path, struct err *err)
{
	return err_set(err, -EOPNOTSUPP, "%.200s: %.200s is no file", path, source->name);
}

static int write_text(struct source *source, const char *path, const char *text, size_t len,
		      bool append, struct err *err)
{
	return tree_write(source->control, path, text, len, append ? 0 : TREE_TRUNC, err);
}

static int list(struct source *source, const char *path, struct buf *out, struct err *err)
{
	return tree_list(source->control, path, out, err);
}

static int make(struct source *source, const char *path, struct err *err)
{
	return tree_mkdir(source->control, path, err);
}

static int drop(struct source *source, const char *path, struct err *err)
{
	return tree_rmdir(source->control, path, err);
}

static const struct source_kind kind = {
	close_directory, exists, read_text, pump, follow, raw, write_text, list, make, drop,
};

int source_directory_open(struct source *source, const struct source_how *how, struct err *err)
{
	int r;

	r = control_open(&source->control, how->dir, how->create, err);
	if (r)
		return r;
	source->name = strdup(source->control->dir.path);
	if (!source->name) {
		control_close(source->control);
		return err_set(err, -ENOMEM, "out of memory");
	}
	source->control->escape = how->escape;
	source->kind = &kind;
	return 0;
}
