/*
 * query/apply: see apply.h.
 */
#include "query/apply.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/map.h"

struct sql_tree_world {
	struct sql_world world;
	struct source *source;
	struct map formats;	/* "system/event" to struct decode_format */
	struct buf systems;
};

static const struct decode_format *tree_format(struct sql_tree_world *tree, const char *system, const char *name)
{
	struct buf path = BUF_INIT, text = BUF_INIT;
	struct decode_format *format = NULL;
	const char *key;
	struct decode_format **slot;

	buf_printf(&path, "events/%s/%s/format", system, name);
	key = path.data ? path.data : "";
	slot = map_find(&tree->formats, key, strlen(key));
	if (slot) {
		format = *slot;
	} else if (*key && source_exists(tree->source, key) && !source_read(tree->source, key, &text, NULL) &&
		   !decode_format_parse(system, text.data, text.len, NULL, &format, NULL)) {
		slot = map_get(&tree->formats, key, strlen(key), sizeof(*slot));
		if (slot) {
			*slot = format;
		} else {
			decode_format_free(format);
			format = NULL;
		}
	}
	buf_fini(&path);
	buf_fini(&text);
	return format;
}

static const struct decode_format *tree_event(void *arg, const char *system, const char *name, unsigned int nth)
{
	struct sql_tree_world *tree = arg;
	const struct decode_format *format;
	char each[128];

	if (strchr(name, '/') || (system && strchr(system, '/')))
		return NULL;
	if (system)
		return nth ? NULL : tree_format(tree, system, name);
	if (!tree->systems.len && source_list(tree->source, "events", &tree->systems, NULL))
		return NULL;
	for (const char *at = tree->systems.data; at && *at; at += strcspn(at, "\n"), at += *at == '\n') {
		size_t len = strcspn(at, "/\n");

		if (at[len] != '/' || len >= sizeof(each))
			continue;
		memcpy(each, at, len);
		each[len] = '\0';
		format = tree_format(tree, each, name);
		if (format && !nth--)
			return format;
	}
	return NULL;
}

struct sql_tree_world *sql_tree_world_new(struct source *source)
{
	struct sql_tree_world *tree = calloc(1, sizeof(*tree));

	if (tree) {
		tree->source = source;
		tree->world = (struct sql_world){ tree, tree_event };
	}
	return tree;
}

const struct sql_world *sql_tree_world(const struct sql_tree_world *tree)
{
	return &tree->world;
}

void sql_tree_world_free(struct sql_tree_world *tree)
{
	const struct map_entry **all;

	if (!tree)
		return;
	if (!map_list(&tree->formats, &all)) {
		for (size_t i = 0; i < tree->formats.nr; i++)
			decode_format_free(*(struct decode_format **)all[i]->value);
		free(all);
	}
	map_fini(&tree->formats);
	buf_fini(&tree->systems);
	free(tree);
}

/* ---- Writing ---- */

static int make_instance(struct source *source, const char *name, bool *made, struct err *err)
{
	struct buf path = BUF_INIT;
	int r = 0;

	buf_printf(&path, "instances/%s", name ? name : "");
	if (name && *name && path.data && !source_exists(source, path.data)) {
		r = source_mkdir(source, path.data, err);
		*made = !r;
	}
	buf_fini(&path);
	return r;
}

static void remove_instance(struct source *source, const char *name, sql_left *left)
{
	struct buf path = BUF_INIT;

	buf_printf(&path, "instances/%s", name);
	if (path.data && source_rmdir(source, path.data, NULL) && left)
		left(path.data, "the instance itself");
	buf_fini(&path);
}

int sql_apply(const struct sql_lines *lines, struct source *source, const char *instance, sql_left *left, struct err *err)
{
	bool made = false;
	size_t i = 0;
	int r = make_instance(source, instance, &made, err);

	for (; i < lines->n && !r; i++) {
		const struct sql_line *line = &lines->line[i];

		r = source_write(source, line->file, line->text, strlen(line->text), true, err);
	}
	if (!r)
		return 0;
	for (i = i ? i - 1 : 0; i-- > 0;) {
		const struct sql_line *line = &lines->line[i];

		if (source_write(source, line->file, line->undo, strlen(line->undo), true, NULL) && left)
			left(line->file, line->text);
	}
	if (made)
		remove_instance(source, instance, left);
	return r;
}
