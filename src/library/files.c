/*
 * library/files: a tree's files as text, and what the rest of the room makes of them.
 */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "library/library.h"

static int no_memory(struct ringside_control *tree)
{
	return err_set(&tree->err, -ENOMEM, "out of memory");
}

int library_read(struct ringside_control *tree, const char *path, char **text, size_t *len)
{
	struct buf out = BUF_INIT;
	int r = source_read(tree->source, path, &out, &tree->err);

	if (len)
		*len = out.len;
	if (!r) {
		*text = buf_take(&out);
		r = *text ? 0 : no_memory(tree);
	}
	buf_fini(&out);
	return r;
}

int library_number(struct ringside_control *tree, const char *path, long long *number)
{
	char *text, *end;
	int r = library_read(tree, path, &text, NULL);

	if (r)
		return r;
	errno = 0;
	*number = strtoll(text, &end, 0);
	if (end == text || errno)
		r = err_set(&tree->err, -EINVAL, "%.200s: '%.*s' is no number", path,
			    (int)strcspn(text, "\n"), text);
	free(text);
	return r;
}

int library_write(struct ringside_control *tree, const char *path, const void *bytes, size_t len,
		  bool append)
{
	return source_write(tree->source, path, bytes, len, append, &tree->err);
}

int library_split(struct ringside_control *tree, char *text, const char *between, char ***names)
{
	size_t n = 0, cap = 0;
	char **list = NULL, *save;

	for (char *name = strtok_r(text, between, &save);; name = strtok_r(NULL, between, &save)) {
		if (n == cap) {
			char **more = realloc(list, (cap += 32) * sizeof(*list));

			if (!more)
				goto fail;
			list = more;
			memset(list + n, 0, (cap - n) * sizeof(*list));
		}
		if (!name)
			break;
		list[n] = strdup(name);
		if (!list[n++])
			goto fail;
	}
	if (n > INT_MAX)
		goto fail;
	*names = list;
	return (int)n;
fail:
	for (size_t i = 0; i < n; i++)
		free(list[i]);
	free(list);
	return no_memory(tree);
}

/* Leaves the names of directories, without their slashes. */
static void only_directories(char *text)
{
	char *to = text, *save;

	for (char *name = strtok_r(text, "\n", &save); name; name = strtok_r(NULL, "\n", &save)) {
		size_t len = strlen(name);

		if (name[len - 1] != '/')
			continue;
		memmove(to, name, len);
		to[len - 1] = '\n';
		to += len;
	}
	*to = '\0';
}

int library_list(struct ringside_control *tree, const char *path, enum library_listing which,
		 char ***names)
{
	struct buf out = BUF_INIT;
	int r;

	*names = NULL;
	r = source_list(tree->source, path, &out, &tree->err);
	buf_puts(&out, "");
	if (!r && buf_failed(&out))
		r = no_memory(tree);
	if (!r && which == LIBRARY_DIRECTORIES)
		only_directories(out.data);
	if (!r)
		r = library_split(tree, out.data, "\n", names);
	buf_fini(&out);
	return r;
}

void ringside_control_names_free(char **names)
{
	for (size_t i = 0; names && names[i]; i++)
		free(names[i]);
	free(names);
}

/* The path that a user gave, behind the instance's. */
static int begin_path(struct ringside_control *tree,
		      const struct ringside_control_instance *instance, const char *path, char *out)
{
	int r = library_begin(tree);

	if (r)
		return r;
	if (!path)
		return err_set(&tree->err, -EINVAL, "a path is missing");
	return library_path(tree, instance, out, "%s", path);
}

int ringside_control_file_exists(struct ringside_control *tree,
				 const struct ringside_control_instance *instance, const char *path)
{
	char whole[PATH_MAX];
	int r = begin_path(tree, instance, path, whole);

	return r ? r : source_exists(tree->source, whole);
}

int ringside_control_file_read(struct ringside_control *tree,
			       const struct ringside_control_instance *instance, const char *path,
			       char **text, size_t *len)
{
	char whole[PATH_MAX];
	int r;

	*text = NULL;
	r = begin_path(tree, instance, path, whole);
	return r ? r : library_read(tree, whole, text, len);
}

int ringside_control_file_read_number(struct ringside_control *tree,
				      const struct ringside_control_instance *instance,
				      const char *path, long long *number)
{
	char whole[PATH_MAX];
	int r = begin_path(tree, instance, path, whole);

	return r ? r : library_number(tree, whole, number);
}

static int put_text(struct ringside_control *tree, const struct ringside_control_instance *instance,
		    const char *path, const char *text, bool append)
{
	char whole[PATH_MAX];
	int r = begin_path(tree, instance, path, whole);

	if (!r && !text)
		r = err_set(&tree->err, -EINVAL, "%.200s: a text is missing", path);
	return r ? r : library_write(tree, whole, text, strlen(text), append);
}

int ringside_control_file_write(struct ringside_control *tree,
				const struct ringside_control_instance *instance, const char *path,
				const char *text)
{
	return put_text(tree, instance, path, text, false);
}

int ringside_control_file_append(struct ringside_control *tree,
				 const struct ringside_control_instance *instance, const char *path,
				 const char *text)
{
	return put_text(tree, instance, path, text, true);
}

int ringside_control_file_list(struct ringside_control *tree,
			       const struct ringside_control_instance *instance, const char *path,
			       char ***names)
{
	char whole[PATH_MAX];
	int r;

	*names = NULL;
	r = begin_path(tree, instance, path, whole);
	return r ? r : library_list(tree, whole, LIBRARY_ALL, names);
}
