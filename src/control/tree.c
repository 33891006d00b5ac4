/*
 * control/tree: see tree.h.
 *
 * One table holds every file: nodes.c. A part of a pattern matches one part of a path: a word itself, `*` a
 * system or an event that programs brought, `#` at the end of one a CPU that the directory knows, `@` an option. The table
 * describes the top; instances/NAME/ shows all of it but what is marked TOP. remotes/ is a tree of another kind: remotes.c.
 */
#include "control/tree.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "control/buffer.h"
#include "control/errors.h"
#include "control/file.h"
#include "control/registry.h"
#include "control/remotes.h"
#include "control/table.h"

#define PARTS_MAX 8
#define INSTANCES "instances"

struct parts {
	char text[512];
	const char *part[PARTS_MAX];
	int n;
};

/* Cuts a path at its slashes; empty parts and "." count for nothing. */
static bool cut(struct parts *parts, const char *path)
{
	char *save, *part;

	parts->n = 0;
	if (strlen(path) >= sizeof(parts->text))
		return false;
	strcpy(parts->text, path);
	for (part = strtok_r(parts->text, "/", &save); part; part = strtok_r(NULL, "/", &save)) {
		if (!strcmp(part, "."))
			continue;
		if (parts->n == PARTS_MAX)
			return false;
		parts->part[parts->n++] = part;
	}
	return true;
}

/* Can the pattern match a path that begins with that part? No pattern begins with a wild one. Most can not. */
static bool may_match(const char *pattern, const struct parts *path)
{
	size_t len = path->n ? strlen(path->part[0]) : 0;

	return !path->n || (!strncmp(pattern, path->part[0], len) &&
			    (!pattern[len] || pattern[len] == '/'));
}

/* The length of what stands before the number of a CPU in a pattern's part; 0: there is none. */
static size_t before_cpu(const char *part)
{
	size_t len = strlen(part);

	return len && part[len - 1] == '#' ? len - 1 : 0;
}

/* N of "cpuN", if that is the pattern, written as the kernel writes it. */
static bool is_cpu(const char *part, const char *pattern, uint32_t ncpu, uint32_t *cpu)
{
	size_t len = before_cpu(pattern);
	char again[16];
	unsigned int n;

	if (strncmp(part, pattern, len) || sscanf(part + len, "%9u", &n) != 1 || n >= ncpu)
		return false;
	snprintf(again, sizeof(again), "%u", n);
	*cpu = n;
	return !strcmp(part + len, again);
}

static bool is_option(const char *part, bool top)
{
	const char *name;

	for (uint32_t i = 0; (name = node_option_name(i, top)); i++)
		if (!strcmp(name, part))
			return true;
	return false;
}

static bool is_wild(const char *part)
{
	return !strcmp(part, "*") || before_cpu(part) || !strcmp(part, "@");
}

/* Matches the first `n` parts of a pattern; fills in what its wild parts stand for. */
static bool match(struct node_request *request, const struct parts *pattern,
		  const struct parts *path, int n)
{
	int star = 0;

	memset(request->part, 0, sizeof(request->part));
	request->one_cpu = false;
	for (int i = 0; i < n; i++) {
		const char *have = pattern->part[i], *want = path->part[i];

		if (before_cpu(have)) {
			if (!is_cpu(want, have, request->control->dir.ncpu, &request->cpu))
				return false;
			request->one_cpu = true;
		} else if (!is_wild(have)) {
			if (strcmp(have, want))
				return false;
		} else {
			if (strlen(want) >= sizeof(request->part[0]) ||
			    (*have == '@' && !is_option(want, !request->buffer)))
				return false;
			strcpy(request->part[star++], want);
		}
	}
	return true;
}

/* Is the system or the event that the path names, if it names one, among those that there are? 1, 0, -errno. */
static int is_known(struct node_request *request, const struct parts *pattern, struct err *err)
{
	const struct control_registry *events;
	const char *system = request->part[0], *event = request->part[1];
	uint32_t i;

	if (!*system || strcmp(pattern->part[0], "events"))
		return 1;
	events = control_events(request->control, err);
	if (!events)
		return err ? err->code : -EIO;
	i = control_registry_system(events, system);
	/* A system may go with its last event. */
	request->fleeting = i < events->nevents && events->events[i].dynamic;
	if (*event) {
		const struct control_event *found = control_registry_find(events, system, event);

		request->fleeting = found && found->dynamic;
		return found != NULL;
	}
	return i < events->nevents && !strcmp(events->events[i].system, system);
}

static int no_such_file(const char *path, struct err *err)
{
	return err_set(err, -ENOENT, "%.200s: there is no such file in the tree: `ringside cat .` "
		       "lists it", path);
}

/* Takes instances/NAME off the front of the path; the rest is in that buffer's tree. */
static int enter(struct node_request *request, struct parts *parts, const char *path, struct err *err)
{
	int place;

	request->buffer = 0;
	if (parts->n >= 2 && !strcmp(parts->part[0], INSTANCES)) {
		place = control_state_buffer(&request->control->state, parts->part[1]);
		if (place <= 0)
			return err_set(err, -ENOENT, "%.200s: there is no instance '%.64s'", path,
				       parts->part[1]);
		request->buffer = (uint32_t)place;
		parts->n -= 2;
		memmove(parts->part, parts->part + 2, (size_t)parts->n * sizeof(parts->part[0]));
	}
	request->born = request->control->state.buffers[request->buffer].born;
	return 0;
}

static bool is_shown(const struct node_request *request, const struct node *node)
{
	return !request->buffer || !(node->flags & NODE_TOP);
}

/* Cuts the path, and finds the buffer it is about in the state as of now. */
static int locate(struct node_request *request, const char *path, struct parts *parts, struct err *err)
{
	int r = control_follow(request->control, err);

	if (r)
		return r;
	if (!cut(parts, path))
		return no_such_file(path, err);
	return enter(request, parts, path, err);
}

int node_find(struct node_request *request, const char *path, const struct node **found,
	      struct err *err)
{
	struct parts want, have;
	bool is_dir;
	int r = locate(request, path, &want, err);

	if (r)
		return r;
	if (!request->buffer && want.n && !strcmp(want.part[0], REMOTES)) {
		r = control_remotes_find(request, want.part, want.n, found, err);
		if (r == -ENOENT)
			return no_such_file(path, err);
		return r == -EISDIR ? err_set(err, r, "%.200s: is a directory of the tree", path) : r;
	}
	is_dir = !want.n || (!request->buffer && want.n == 1 && !strcmp(want.part[0], INSTANCES));
	for (size_t i = 0; i < control_nodes_nr; i++) {
		if (!may_match(control_nodes[i].path, &want))
			continue;
		cut(&have, control_nodes[i].path);
		if (!is_shown(request, &control_nodes[i]) || want.n > have.n ||
		    !match(request, &have, &want, want.n))
			continue;
		r = is_known(request, &have, err);
		if (r < 0)
			return r;
		if (r && want.n == have.n) {
			*found = &control_nodes[i];
			return 0;
		}
		is_dir |= r;
	}
	if (is_dir)
		return err_set(err, -EISDIR, "%.200s: is a directory of the tree", path);
	return no_such_file(path, err);
}

int tree_stat(struct control *control, const char *path, struct tree_stat *stat, struct err *err)
{
	struct node_request request = { .control = control };
	const struct node *node;
	struct err found = ERR_INIT;
	int r = node_find(&request, path, &node, &found);

	if (r == -EISDIR) {
		*stat = (struct tree_stat){ .is_dir = true, .mode = 0755, .is_fleeting = request.fleeting };
		return 0;
	}
	if (r)
		return err_set(err, r, "%s", found.text);
	*stat = (struct tree_stat){ .is_fleeting = request.fleeting };
	stat->is_pages = node->flow == &node_raw_flow || node->flow == &node_snapshot_raw_flow;
	stat->mode = (node_reads(node) ? 0440 : 0) | (node_writes(node) ? 0220 & ~020 : 0);
	/* As the kernel's: what can only be written, its group may write. */
	if (!node_reads(node))
		stat->mode = 0220;
	return 0;
}

const struct node *node_at(uint32_t i)
{
	return i < control_nodes_nr ? &control_nodes[i] : NULL;
}

struct names {
	char **name;
	size_t n, cap;
	bool failed;
};

static void names_add(struct names *names, const char *name, bool is_dir)
{
	size_t len = strlen(name);
	char *copy;

	if (names->n == names->cap) {
		size_t cap = names->cap ? names->cap * 2 : 64;
		char **more = realloc(names->name, cap * sizeof(*more));

		if (!more) {
			names->failed = true;
			return;
		}
		names->name = more;
		names->cap = cap;
	}
	copy = malloc(len + 2);
	if (!copy) {
		names->failed = true;
		return;
	}
	snprintf(copy, len + 2, "%s%s", name, is_dir ? "/" : "");
	names->name[names->n++] = copy;
}

static void put_name(void *names, const char *name, bool is_dir)
{
	names_add(names, name, is_dir);
}

static int name_compare(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Sorted, each once; frees them. */
static int names_put(struct names *names, struct buf *out, struct err *err)
{
	if (names->n)
		qsort(names->name, names->n, sizeof(*names->name), name_compare);
	for (size_t i = 0; i < names->n; i++)
		if (!i || strcmp(names->name[i - 1], names->name[i]))
			buf_printf(out, "%s\n", names->name[i]);
	for (size_t i = 0; i < names->n; i++)
		free(names->name[i]);
	free(names->name);
	return names->failed || buf_failed(out) ? err_set(err, -ENOMEM, "out of memory") : 0;
}

/* Systems, or the events of the one that the request names. */
static void expand_events(struct names *names, const struct node_request *request,
			  const struct control_registry *events, bool is_dir)
{
	const char *system = request->part[0], *last = "";
	uint32_t i = control_registry_system(events, system);

	for (; i < events->nevents; i++) {
		const struct control_event *event = &events->events[i];

		if (*system && strcmp(event->system, system))
			break;
		if (strcmp(last, *system ? event->name : event->system))
			names_add(names, *system ? event->name : event->system, is_dir);
		last = *system ? event->name : event->system;
	}
}

/* Adds what a wild part of a pattern stands for in the directory that the request names. */
static void names_expand(struct names *names, const struct node_request *request,
			 const struct control_registry *events, const char *part, bool is_dir)
{
	const char *option;
	char name[32];

	if (before_cpu(part)) {
		for (uint32_t cpu = 0; cpu < request->control->dir.ncpu; cpu++) {
			snprintf(name, sizeof(name), "%.*s%" PRIu32, (int)before_cpu(part), part, cpu);
			names_add(names, name, is_dir);
		}
	} else if (!strcmp(part, "@")) {
		for (uint32_t i = 0; (option = node_option_name(i, !request->buffer)); i++)
			names_add(names, option, is_dir);
	} else {
		expand_events(names, request, events, is_dir);
	}
}

/* Do two patterns have the same first `n` parts? The second one would list the same again. */
static bool same_start(const struct parts *a, const struct parts *b, int n)
{
	if (a->n < n || b->n < n)
		return false;
	for (int i = 0; i < n; i++)
		if (strcmp(a->part[i], b->part[i]))
			return false;
	return true;
}

static int names_collect(struct names *names, struct node_request *request, const struct parts *dir,
			 struct err *err)
{
	const struct control_registry *events = control_events(request->control, err);
	struct parts have, before = { .n = 0 };

	if (!events)
		return err ? err->code : -EIO;
	for (size_t i = 0; i < control_nodes_nr; i++) {
		const char *next;
		bool is_dir;

		if (!may_match(control_nodes[i].path, dir))
			continue;
		cut(&have, control_nodes[i].path);
		is_dir = dir->n + 1 < have.n;
		if (dir->n >= have.n || !is_shown(request, &control_nodes[i]) ||
		    (is_dir && same_start(&before, &have, dir->n + 1)) ||
		    !match(request, &have, dir, dir->n) || is_known(request, &have, err) != 1)
			continue;
		next = have.part[dir->n];
		if (is_wild(next))
			names_expand(names, request, events, next, is_dir);
		else
			names_add(names, next, is_dir);
		if (is_dir)
			cut(&before, control_nodes[i].path);
	}
	return 0;
}

int tree_list(struct control *control, const char *path, struct buf *out, struct err *err)
{
	struct node_request request = { .control = control };
	struct names names = { 0 };
	struct err found = ERR_INIT;
	const struct node *node;
	struct parts dir;
	int r;

	/* Asked once: an instance may come or go before the same question is asked again. */
	r = node_find(&request, path, &node, &found);
	if (!r)
		return err_set(err, -ENOTDIR, "%.200s: is a file", path);
	if (r != -EISDIR)
		return err_set(err, r, "%s", found.text);
	r = locate(&request, path, &dir, err);
	if (r)
		return r;
	if (!request.buffer && !dir.n) {
		names_add(&names, INSTANCES, true);
		names_add(&names, REMOTES, true);
	}
	if (!request.buffer && dir.n == 1 && !strcmp(dir.part[0], INSTANCES)) {
		for (uint32_t i = 1; i < control->state.nbuffers; i++)
			if (control->state.buffers[i].born)
				names_add(&names, control->state.buffers[i].name, true);
	} else if (!request.buffer && dir.n && !strcmp(dir.part[0], REMOTES)) {
		r = control_remotes_list(&request, dir.part, dir.n, put_name, &names, err);
	} else {
		r = names_collect(&names, &request, &dir, err);
	}
	return names_put(&names, out, err) ? -ENOMEM : r;
}

/* The NAME of instances/NAME, or NULL with words. */
static const char *instance_name(struct parts *parts, const char *path, struct err *err)
{
	if (cut(parts, path) && parts->n == 2 && !strcmp(parts->part[0], INSTANCES))
		return parts->part[1];
	err_set(err, -EPERM, "%.200s: only %s/NAME can be made and removed", path, INSTANCES);
	return NULL;
}

int tree_mkdir(struct control *control, const char *path, struct err *err)
{
	struct parts parts;
	const char *name = instance_name(&parts, path, err);
	int r = name ? control_begin(control, err) : -EPERM;

	if (r)
		return r;
	r = control_end(control, control_buffer_add(control, name, err), err);
	if (r)
		err_prefix(err, "%.200s: ", path);
	return r;
}

int tree_rmdir(struct control *control, const char *path, struct err *err)
{
	struct parts parts;
	const char *name = instance_name(&parts, path, err);
	int place, r = name ? control_begin(control, err) : -EPERM;
	uint64_t born = 0;

	if (r)
		return r;
	place = control_state_buffer(&control->state, name);
	if (place > 0) {
		born = control->state.buffers[place].born;
		r = control_buffer_remove(control, (uint32_t)place, err);
	} else {
		r = err_set(err, -ENOENT, "there is no such instance");
	}
	r = control_end(control, r, err);
	if (r)
		err_prefix(err, "%.200s: ", path);
	else
		control_errors_clear(control, born);
	return r;
}
