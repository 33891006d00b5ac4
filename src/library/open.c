/*
 * library/open: trees, from open to close.
 */
#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

#include "library/library.h"
#include "ring/segment.h"

/* A path that still means the same when the program goes elsewhere. */
static int absolute(struct ringside_control *tree, const char *path, char out[PATH_MAX])
{
	char here[PATH_MAX] = "";
	int n;

	if (!*path)
		return err_set(&tree->err, -EINVAL, "an empty path names no tree");
	if (*path != '/' && !getcwd(here, sizeof(here)))
		return err_set(&tree->err, -errno, "%.200s: %s", path, strerror(errno));
	n = snprintf(out, PATH_MAX, "%s%s%s", here, *here ? "/" : "", path);
	if (n >= PATH_MAX)
		return err_set(&tree->err, -ENAMETOOLONG, "%.200s...: is too long for a path", path);
	return 0;
}

/* Whoever runs with more rights than its caller is not told by that where to go. */
static int usual(struct ringside_control *tree, char out[PATH_MAX])
{
	char found[PATH_MAX];
	int r = segment_path(found, sizeof(found), getauxval(AT_SECURE) != 0);

	if (r)
		return err_set(&tree->err, r, "RINGSIDE_DIR is too long for a path");
	return absolute(tree, found, out);
}

static int open_tree(struct ringside_control **out, const char *path, struct source_how how)
{
	struct ringside_control *tree = calloc(1, sizeof(*tree));
	char whole[PATH_MAX];
	int r = 0;

	*out = tree;
	if (!tree)
		return -ENOMEM;
	tree->err = (struct err)ERR_INIT;
	tree->files = how.kernel;
	if (path)
		r = absolute(tree, path, whole);
	else if (!how.kernel)
		r = usual(tree, whole);
	if (!how.kernel) {
		how.dir = whole;
	} else if (path) {
		how.kernel = false;
		how.tracefs = whole;
	}
	return r ? r : source_open(&tree->source, &how, &tree->err);
}

int ringside_control_open(struct ringside_control **tree, const char *directory, unsigned int flags)
{
	struct source_how how = { .create = flags & RINGSIDE_CONTROL_CREATE };

	return open_tree(tree, directory, how);
}

int ringside_control_open_tracefs(struct ringside_control **tree, const char *path)
{
	struct source_how how = { .kernel = true };

	return open_tree(tree, path, how);
}

void ringside_control_close(struct ringside_control *tree)
{
	if (!tree)
		return;
	source_close(tree->source);
	free(tree);
}

const char *ringside_control_name(const struct ringside_control *tree)
{
	return tree && tree->source ? source_name(tree->source) : "";
}

const char *ringside_control_error(const struct ringside_control *tree)
{
	return tree ? tree->err.text : "out of memory";
}

int library_begin(struct ringside_control *tree)
{
	if (!tree)
		return -EINVAL;
	if (!tree->source)
		return -EBADF;
	tree->err = (struct err)ERR_INIT;
	return 0;
}

const char *library_prefix(const struct ringside_control_instance *instance)
{
	return instance ? instance->prefix : "";
}

int library_check_name(struct ringside_control *tree, const char *name, const char *what)
{
	if (name && *name && !strchr(name, '/') && !strchr(name, '\n') && strcmp(name, ".") &&
	    strcmp(name, "..") && strlen(name) <= NAME_MAX)
		return 0;
	return err_set(&tree->err, -EINVAL, "'%.80s' is no name for %s", name ? name : "", what);
}

int library_path(struct ringside_control *tree, const struct ringside_control_instance *instance,
		 char *out, const char *format, ...)
{
	int n = snprintf(out, PATH_MAX, "%s", library_prefix(instance)), more;
	va_list ap;

	va_start(ap, format);
	more = vsnprintf(out + n, (size_t)(PATH_MAX - n), format, ap);
	va_end(ap);
	if (more < 0 || n + more >= PATH_MAX)
		return err_set(&tree->err, -ENAMETOOLONG, "%.200s...: is too long for a path", out);
	return 0;
}
