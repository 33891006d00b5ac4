/*
 * library/hooks: filters, triggers, synthetic events, and statements that are made of them. All of it is text in files of
 * the tree.
 */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "library/library.h"
#include "query/apply.h"

/* The path of an event's file, of a system's where `event` is NULL. */
static int event_path(struct ringside_control *tree, const struct ringside_control_instance *instance, const char *system,
		      const char *event, const char *file, char out[PATH_MAX])
{
	int r = library_begin(tree);

	if (!r && !system)
		r = err_set(&tree->err, -EINVAL, "a system is missing");
	if (!r)
		r = library_check_name(tree, system, "a system");
	if (!r && event)
		r = library_check_name(tree, event, "an event");
	return r ? r : library_path(tree, instance, out, "events/%s/%s%s%s", system, event ? event : "", event ? "/" : "", file);
}

int ringside_control_filter_set(struct ringside_control *tree, const struct ringside_control_instance *instance,
				const char *system, const char *event, const char *filter)
{
	char path[PATH_MAX];
	int r = event_path(tree, instance, system, event, "filter", path);

	/* A 0 takes the filter away. */
	if (!filter || !*filter)
		filter = "0";
	return r ? r : library_write(tree, path, filter, strlen(filter), false);
}

int ringside_control_filter_get(struct ringside_control *tree, const struct ringside_control_instance *instance,
				const char *system, const char *event, char **filter)
{
	char path[PATH_MAX];
	int r = event_path(tree, instance, system, event, "filter", path);

	*filter = NULL;
	if (!r)
		r = library_read(tree, path, filter, NULL);
	if (!r)
		(*filter)[strcspn(*filter, "\n")] = '\0';
	return r;
}

/* "!" and the text, or what else there is to put before it. */
static int write_trigger(struct ringside_control *tree, const struct ringside_control_instance *instance, const char *system,
			 const char *event, const char *before, const char *trigger)
{
	struct buf text = BUF_INIT;
	char path[PATH_MAX];
	int r = event_path(tree, instance, system, event ? event : "", "trigger", path);

	if (!r && !trigger)
		r = err_set(&tree->err, -EINVAL, "a trigger is missing");
	if (!r)
		buf_printf(&text, "%s%s", before, trigger);
	if (!r && buf_failed(&text))
		r = err_set(&tree->err, -ENOMEM, "out of memory");
	if (!r)
		r = library_write(tree, path, text.data, text.len, true);
	buf_fini(&text);
	return r;
}

int ringside_control_trigger_add(struct ringside_control *tree, const struct ringside_control_instance *instance,
				 const char *system, const char *event, const char *trigger)
{
	return write_trigger(tree, instance, system, event, "", trigger);
}

int ringside_control_trigger_remove(struct ringside_control *tree, const struct ringside_control_instance *instance,
				    const char *system, const char *event, const char *trigger)
{
	return write_trigger(tree, instance, system, event, "!", trigger);
}

int ringside_control_hist_start(struct ringside_control *tree, const struct ringside_control_instance *instance,
				const char *system, const char *event, const char *keys)
{
	return write_trigger(tree, instance, system, event, "hist:", keys);
}

int ringside_control_hist_stop(struct ringside_control *tree, const struct ringside_control_instance *instance,
			       const char *system, const char *event, const char *keys)
{
	return write_trigger(tree, instance, system, event, "!hist:", keys);
}

int ringside_control_trigger_list(struct ringside_control *tree, const struct ringside_control_instance *instance,
				  const char *system, const char *event, char ***triggers)
{
	char path[PATH_MAX], *text = NULL;
	int r = event_path(tree, instance, system, event ? event : "", "trigger", path);

	*triggers = NULL;
	if (!r)
		r = library_read(tree, path, &text, NULL);
	/* Where there are none it says which ones there could be. */
	if (!r && *text == '#')
		*text = '\0';
	if (!r)
		r = library_split(tree, text, "\n", triggers);
	free(text);
	return r;
}

/* ---- synthetic events ---- */

static int write_synth(struct ringside_control *tree, const char *format, const char *name, const char *fields)
{
	struct buf text = BUF_INIT;
	int r = library_begin(tree);

	if (!r && (!name || !fields))
		r = err_set(&tree->err, -EINVAL, "a synthetic event needs a name and fields");
	if (!r)
		r = library_check_name(tree, name, "a synthetic event");
	if (!r && strpbrk(name, " \t\n;"))
		r = err_set(&tree->err, -EINVAL, "'%.60s' is no name for a synthetic event", name);
	if (!r)
		buf_printf(&text, "%s%s %s", format, name, fields);
	if (!r && buf_failed(&text))
		r = err_set(&tree->err, -ENOMEM, "out of memory");
	if (!r)
		r = library_write(tree, "dynamic_events", text.data, text.len, true);
	buf_fini(&text);
	return r;
}

int ringside_control_synth_create(struct ringside_control *tree, const char *name, const char *fields)
{
	return write_synth(tree, "s:synthetic/", name, fields);
}

int ringside_control_synth_destroy(struct ringside_control *tree, const char *name)
{
	return write_synth(tree, "-:synthetic/", name, "");
}

/* ---- statements ---- */

/* The place in the statement is part of what an error says. */
static void show_place(struct ringside_control *tree, const char *statement)
{
	struct buf out = BUF_INIT;

	if (tree->err.pos < 0)
		return;
	buf_printf(&out, "%s\n", tree->err.text);
	sql_error_show(statement, &tree->err, &out);
	if (!buf_failed(&out)) {
		/* Behind the caret the words come again: they are in front already. */
		char *caret = strrchr(out.data, '^');

		if (caret)
			caret[1] = '\0';
		snprintf(tree->err.text, sizeof(tree->err.text), "%s", out.data);
	}
	buf_fini(&out);
}

static int translate(struct ringside_control *tree, const struct ringside_control_instance *instance, const char *statement,
		     const char *names, struct sql_lines *lines)
{
	struct sql_options options = { .name = names, .instance = instance ? instance->name : NULL };
	struct sql_tree_world *world;
	int r = library_begin(tree);

	if (!r && !statement)
		r = err_set(&tree->err, -EINVAL, "a statement is missing");
	if (r)
		return r;
	world = sql_tree_world_new(tree->source);
	if (!world)
		return err_set(&tree->err, -ENOMEM, "out of memory");
	r = sql_translate(lines, sql_tree_world(world), statement, &options, &tree->err);
	if (r)
		show_place(tree, statement);
	sql_tree_world_free(world);
	return r;
}

int ringside_control_sql_translate(struct ringside_control *tree, const struct ringside_control_instance *instance,
				   const char *statement, const char *names, char **text)
{
	struct buf out = BUF_INIT;
	struct sql_lines lines;
	int r;

	*text = NULL;
	r = translate(tree, instance, statement, names, &lines);
	if (r)
		return r;
	for (size_t i = 0; i < lines.n; i++)
		sql_line_show(&lines.line[i], "", &out);
	sql_lines_fini(&lines);
	*text = buf_take(&out);
	return *text ? 0 : err_set(&tree->err, -ENOMEM, "out of memory");
}

int ringside_control_sql_execute(struct ringside_control *tree, const struct ringside_control_instance *instance,
				 const char *statement, const char *names)
{
	struct sql_lines lines;
	int r = translate(tree, instance, statement, names, &lines);

	if (r)
		return r;
	r = sql_apply(&lines, tree->source, instance ? instance->name : NULL, NULL, &tree->err);
	sql_lines_fini(&lines);
	return r;
}
