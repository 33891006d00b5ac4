/*
 * library/events: which events there are, and which are on.
 *
 * In a tracing directory a pattern is switched as it is, so that it holds for programs to come.
 * Trees of files know no patterns: there each event that matches is switched by its own file.
 */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/glob.h"
#include "control/enable.h"
#include "library/library.h"

static bool is_any(const char *pattern)
{
	return !strcmp(pattern, "*");
}

static bool is_plain(const char *pattern)
{
	return !strpbrk(pattern, "*?[\\");
}

/* The two words of the caller, checked; NULL is "*". */
static int begin(struct ringside_control *tree, const char **system, const char **event)
{
	int r = library_begin(tree);

	if (r)
		return r;
	*system = *system ? *system : "*";
	*event = *event ? *event : "*";
	r = library_check_name(tree, *system, "a system");
	return r ? r : library_check_name(tree, *event, "an event");
}

static int no_match(struct ringside_control *tree, const char *system, const char *event)
{
	return err_set(&tree->err, -ENOENT, "no event matches '%.60s:%.60s'", system, event);
}

/* ---- one `enable` file after the other ---- */

typedef int visit(struct ringside_control *tree, const char *path, void *ctx);

struct wish {
	const struct ringside_control_instance *instance;
	const char *system;
	const char *event;
	visit *visit;
	void *ctx;
	int visited;
};

/* The file may be missing: events/ftrace is always on. */
static int visit_file(struct ringside_control *tree, struct wish *wish, const char *system,
		      const char *event)
{
	char path[PATH_MAX];
	int r;

	r = library_path(tree, wish->instance, path, "events/%s%s%s%senable", system ? system : "",
			 system ? "/" : "", event ? event : "", event ? "/" : "");
	if (r || !source_exists(tree->source, path))
		return r;
	wish->visited++;
	return wish->visit(tree, path, wish->ctx);
}

static int visit_system(struct ringside_control *tree, struct wish *wish, const char *system)
{
	char path[PATH_MAX], **events;
	int n, r;

	if (is_any(wish->event))
		return visit_file(tree, wish, system, NULL);
	if (is_plain(wish->event))
		return visit_file(tree, wish, system, wish->event);
	r = library_path(tree, wish->instance, path, "events/%s", system);
	n = r ? r : library_list(tree, path, LIBRARY_DIRECTORIES, &events);
	if (n < 0)
		return n;
	for (int i = 0; i < n && !r; i++)
		if (glob_match(wish->event, events[i]))
			r = visit_file(tree, wish, system, events[i]);
	ringside_control_names_free(events);
	return r;
}

/* Visits as few files as say it all. -ENOENT when there was none. */
static int visit_all(struct ringside_control *tree, struct wish *wish)
{
	char path[PATH_MAX], **systems;
	int n, r = 0;

	if (is_any(wish->system) && is_any(wish->event)) {
		r = visit_file(tree, wish, NULL, NULL);
	} else if (is_plain(wish->system)) {
		r = visit_system(tree, wish, wish->system);
	} else {
		r = library_path(tree, wish->instance, path, "events");
		n = r ? r : library_list(tree, path, LIBRARY_DIRECTORIES, &systems);
		if (n < 0)
			return n;
		for (int i = 0; i < n && !r; i++)
			if (glob_match(wish->system, systems[i]))
				r = visit_system(tree, wish, systems[i]);
		ringside_control_names_free(systems);
	}
	if (!r && !wish->visited)
		r = no_match(tree, wish->system, wish->event);
	return r;
}

/* ---- on and off ---- */

static int write_switch(struct ringside_control *tree, const char *path, void *ctx)
{
	return library_write(tree, path, ctx, 1, false);
}

static int switch_directory(struct ringside_control *tree,
			    const struct ringside_control_instance *instance, const char *system,
			    const char *event, bool on)
{
	struct control *control = source_control(tree->source);
	int place, r;

	r = control_begin(control, &tree->err);
	if (r)
		return r;
	place = control_state_buffer(&control->state, instance ? instance->name : "");
	if (place < 0)
		r = err_set(&tree->err, -ENOENT, "there is no instance '%.80s'", instance->name);
	else
		r = control_enable(control, (uint32_t)place, system, event, on, &tree->err);
	return control_end(control, r, &tree->err);
}

static int switch_events(struct ringside_control *tree,
			 const struct ringside_control_instance *instance, const char *system,
			 const char *event, bool on)
{
	struct wish wish = { instance, NULL, NULL, write_switch, on ? "1" : "0", 0 };
	int r = begin(tree, &system, &event);

	if (r)
		return r;
	if (!tree->files)
		return switch_directory(tree, instance, system, event, on);
	wish.system = system;
	wish.event = event;
	return visit_all(tree, &wish);
}

int ringside_control_event_enable(struct ringside_control *tree,
				  const struct ringside_control_instance *instance,
				  const char *system, const char *event)
{
	return switch_events(tree, instance, system, event, true);
}

int ringside_control_event_disable(struct ringside_control *tree,
				   const struct ringside_control_instance *instance,
				   const char *system, const char *event)
{
	return switch_events(tree, instance, system, event, false);
}

struct seen {
	int on;
	int off;
};

/*
 * "1", "0", "X" for some, "?" for none at all; a '*' behind it says that a trigger may switch it.
 */
static int look(struct ringside_control *tree, const char *path, void *ctx)
{
	struct seen *seen = ctx;
	char *text;
	int r = library_read(tree, path, &text, NULL);

	if (r)
		return r;
	seen->on += *text == '1' || *text == 'X';
	seen->off += *text == '0' || *text == 'X';
	free(text);
	return 0;
}

int ringside_control_event_is_enabled(struct ringside_control *tree,
				      const struct ringside_control_instance *instance,
				      const char *system, const char *event)
{
	struct seen seen = { 0, 0 };
	struct wish wish = { instance, NULL, NULL, look, &seen, 0 };
	int r = begin(tree, &system, &event);

	if (r)
		return r;
	wish.system = system;
	wish.event = event;
	r = visit_all(tree, &wish);
	if (r)
		return r;
	if (!seen.on && !seen.off)
		return no_match(tree, system, event);
	if (seen.on && seen.off)
		return RINGSIDE_CONTROL_MIXED;
	return seen.on ? RINGSIDE_CONTROL_ON : RINGSIDE_CONTROL_OFF;
}

/* ---- names and formats ---- */

int ringside_control_systems(struct ringside_control *tree, char ***names)
{
	int r;

	*names = NULL;
	r = library_begin(tree);
	return r ? r : library_list(tree, "events", LIBRARY_DIRECTORIES, names);
}

int ringside_control_events(struct ringside_control *tree, const char *system, char ***names)
{
	char path[PATH_MAX];
	int r;

	*names = NULL;
	r = library_begin(tree);
	if (!r)
		r = library_check_name(tree, system, "a system");
	if (!r)
		r = library_path(tree, NULL, path, "events/%s", system);
	return r ? r : library_list(tree, path, LIBRARY_DIRECTORIES, names);
}

int ringside_control_event_format(struct ringside_control *tree, const char *system,
				  const char *event, char **text)
{
	char path[PATH_MAX];
	int r;

	*text = NULL;
	r = library_begin(tree);
	if (!r)
		r = library_check_name(tree, system, "a system");
	if (!r)
		r = library_check_name(tree, event, "an event");
	if (!r)
		r = library_path(tree, NULL, path, "events/%s/%s/format", system, event);
	return r ? r : library_read(tree, path, text, NULL);
}
