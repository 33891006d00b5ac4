/*
 * library/instances: named buffers of a tree. A handle is a name; whether the instance is still
 * there shows when it is used.
 */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "library/library.h"

void ringside_control_instance_free(struct ringside_control_instance *instance)
{
	if (!instance)
		return;
	free(instance->name);
	free(instance->prefix);
	free(instance);
}

static int make_handle(struct ringside_control *tree, const char *name,
		       struct ringside_control_instance **out)
{
	struct ringside_control_instance *instance = calloc(1, sizeof(*instance));

	if (instance) {
		instance->name = strdup(name);
		if (asprintf(&instance->prefix, "instances/%s/", name) < 0)
			instance->prefix = NULL;
	}
	if (!instance || !instance->name || !instance->prefix) {
		ringside_control_instance_free(instance);
		return err_set(&tree->err, -ENOMEM, "out of memory");
	}
	*out = instance;
	return 0;
}

/* The handle, and the instance's path without a slash at the end. */
static int begin(struct ringside_control *tree, const char *name,
		 struct ringside_control_instance **instance, char path[PATH_MAX])
{
	int r;

	*instance = NULL;
	r = library_begin(tree);
	if (!r)
		r = library_check_name(tree, name, "an instance");
	if (!r)
		r = library_path(tree, NULL, path, "instances/%s", name);
	return r ? r : make_handle(tree, name, instance);
}

int ringside_control_instance_create(struct ringside_control *tree, const char *name,
				     struct ringside_control_instance **instance)
{
	char path[PATH_MAX];
	int r = begin(tree, name, instance, path);

	if (r)
		return r;
	r = source_mkdir(tree->source, path, &tree->err);
	if (r) {
		ringside_control_instance_free(*instance);
		*instance = NULL;
	}
	return r;
}

int ringside_control_instance_find(struct ringside_control *tree, const char *name,
				   struct ringside_control_instance **instance)
{
	char path[PATH_MAX];
	int r = begin(tree, name, instance, path);

	if (r)
		return r;
	if (source_exists(tree->source, path))
		return 0;
	ringside_control_instance_free(*instance);
	*instance = NULL;
	return err_set(&tree->err, -ENOENT, "there is no instance '%.80s'", name);
}

int ringside_control_instance_destroy(struct ringside_control *tree,
				      const struct ringside_control_instance *instance)
{
	char path[PATH_MAX];
	int r = library_begin(tree);

	if (!r && !instance)
		r = err_set(&tree->err, -EINVAL, "the top of a tree is no instance");
	if (!r)
		r = library_path(tree, NULL, path, "instances/%s", instance->name);
	return r ? r : source_rmdir(tree->source, path, &tree->err);
}

const char *ringside_control_instance_name(const struct ringside_control_instance *instance)
{
	return instance ? instance->name : "";
}

int ringside_control_instances(struct ringside_control *tree, char ***names)
{
	int r;

	*names = NULL;
	r = library_begin(tree);
	return r ? r : library_list(tree, "instances", LIBRARY_DIRECTORIES, names);
}
