/*
 * source/source: see source.h. Finds out which kind is wanted, and passes everything on to it.
 */
#include "source/source.h"

#include <errno.h>
#include <stdlib.h>

#include "source/kind.h"

int source_open(struct source **out, const struct source_how *how, struct err *err)
{
	struct source *source = calloc(1, sizeof(*source));
	int r;

	if (!source)
		return err_set(err, -ENOMEM, "out of memory");
	source->root = -1;
	source->escape = how->escape;
	if (how->tracefs || how->kernel)
		r = source_files_open(source, how, err);
	else
		r = source_directory_open(source, how, err);
	if (r)
		free(source);
	else
		*out = source;
	return r;
}

void source_close(struct source *source)
{
	if (!source)
		return;
	source->kind->close(source);
	free(source->name);
	free(source);
}

const char *source_name(const struct source *source)
{
	return source->name;
}

struct control *source_control(struct source *source)
{
	return source->control;
}

bool source_is_kernel(const struct source *source)
{
	return source->is_kernel;
}

const char *source_option(const struct source *source)
{
	return source->is_kernel ? " --kernel" : "";
}

bool source_exists(struct source *source, const char *path)
{
	return source->kind->exists(source, path);
}

int source_read(struct source *source, const char *path, struct buf *out, struct err *err)
{
	return source->kind->read(source, path, out, err);
}

int source_pump(struct source *source, const char *path, source_put *put, void *ctx, struct err *err)
{
	return source->kind->pump(source, path, put, ctx, err);
}

int source_follow(struct source *source, const char *path, source_put *put,
		  bool (*over)(void *ctx), void *ctx, struct err *err)
{
	return source->kind->follow(source, path, put, over, ctx, err);
}

int source_raw(struct source *source, const char *path, struct err *err)
{
	return source->kind->raw(source, path, err);
}

int source_write(struct source *source, const char *path, const char *text, size_t len, bool append,
		 struct err *err)
{
	return source->kind->write(source, path, text, len, append, err);
}

int source_list(struct source *source, const char *path, struct buf *out, struct err *err)
{
	return source->kind->list(source, path, out, err);
}

int source_mkdir(struct source *source, const char *path, struct err *err)
{
	return source->kind->mkdir(source, path, err);
}

int source_rmdir(struct source *source, const char *path, struct err *err)
{
	return source->kind->rmdir(source, path, err);
}
