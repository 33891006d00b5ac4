/*
 * control/tree: see tree.h.
 *
 * One table holds every file. A part of a pattern matches one part of a path: a word itself, `*` a
 * system or an event that programs brought, `cpu#` a CPU that the directory knows.
 */
#include "control/tree.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "control/node.h"
#include "control/registry.h"

typedef int node_function(struct node_request *request, struct err *err);

static const struct node {
	const char *path;
	node_function *read;
	node_function *write;
} nodes[] = {
	{ "available_events", node_available_read, NULL },
	{ "available_tracers", node_tracer_read, NULL },
	{ "buffer_size_kb", node_size_read, node_size_write },
	{ "buffer_total_size_kb", node_total_size_read, NULL },
	{ "current_tracer", node_tracer_read, node_tracer_write },
	{ "events/enable", node_enable_read, node_enable_write },
	{ "events/ftrace/bprint/format", node_bprint_format_read, NULL },
	{ "events/ftrace/print/format", node_print_format_read, NULL },
	{ "events/header_event", node_header_event_read, NULL },
	{ "events/header_page", node_header_page_read, NULL },
	{ "events/*/enable", node_enable_read, node_enable_write },
	{ "events/*/*/enable", node_enable_read, node_enable_write },
	{ "events/*/*/format", node_format_read, NULL },
	{ "events/*/*/id", node_id_read, NULL },
	{ "per_cpu/cpu#/stats", node_stats_read, NULL },
	{ "per_cpu/cpu#/trace", node_cpu_trace_read, node_cpu_trace_write },
	{ "per_cpu/cpu#/trace_pipe_raw", node_pipe_raw_read, NULL },
	{ "printk_formats", node_printk_formats_read, NULL },
	{ "saved_cmdlines", node_cmdlines_read, NULL },
	{ "set_event", node_set_event_read, node_set_event_write },
	{ "trace", node_trace_read, node_trace_write },
	{ "trace_clock", node_clock_read, node_clock_write },
	{ "trace_marker", NULL, node_marker_write },
	{ "tracing_on", node_tracing_on_read, node_tracing_on_write },
};

#define NNODES (sizeof(nodes) / sizeof(nodes[0]))
#define PARTS_MAX 8

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

/* N of "cpuN", written as the kernel writes it. */
static bool is_cpu(const char *part, uint32_t ncpu, uint32_t *cpu)
{
	char again[32];
	unsigned int n;

	if (sscanf(part, "cpu%9u", &n) != 1 || n >= ncpu)
		return false;
	snprintf(again, sizeof(again), "cpu%u", n);
	*cpu = n;
	return !strcmp(part, again);
}

/* Matches the first `n` parts of a pattern; fills in what its wild parts stand for. */
static bool match(struct node_request *request, const struct parts *pattern,
		  const struct parts *path, int n)
{
	int star = 0;

	for (int i = 0; i < n; i++) {
		if (!strcmp(pattern->part[i], "*")) {
			if (strlen(path->part[i]) >= sizeof(request->part[0]))
				return false;
			strcpy(request->part[star++], path->part[i]);
		} else if (!strcmp(pattern->part[i], "cpu#")) {
			if (!is_cpu(path->part[i], request->control->dir.ncpu, &request->cpu))
				return false;
		} else if (strcmp(pattern->part[i], path->part[i])) {
			return false;
		}
	}
	return true;
}

/* Is the system or the event that the path names, if it names one, among those that there are? */
static bool is_known(const struct node_request *request, const struct control_registry *registry)
{
	bool known = !request->part[0][0];

	for (uint32_t i = 0; i < registry->nevents && !known; i++)
		known = !strcmp(registry->events[i].system, request->part[0]) &&
			(!request->part[1][0] ||
			 !strcmp(registry->events[i].name, request->part[1]));
	return known;
}

static int check_names(const struct node_request *request, bool *known, struct err *err)
{
	struct control_registry registry = { 0 };
	int r = 0;

	if (request->part[0][0])
		r = control_registry_read(&registry, &request->control->dir,
					  CONTROL_REGISTRY_EVENTS, err);
	if (r)
		return r;
	*known = is_known(request, &registry);
	control_registry_fini(&registry);
	return 0;
}

static int no_such_file(const char *path, struct err *err)
{
	return err_set(err, -ENOENT, "%.200s: there is no such file in the tree: `ringside cat .` "
		       "lists it", path);
}

/* The node of a file. -EISDIR for a directory. */
static int find(struct node_request *request, const char *path, const struct node **found,
		struct err *err)
{
	struct parts want, have;
	bool is_dir = false, known;
	int r;

	if (!cut(&want, path))
		return no_such_file(path, err);
	for (size_t i = 0; i < NNODES; i++) {
		cut(&have, nodes[i].path);
		memset(request->part, 0, sizeof(request->part));
		if (want.n > have.n || !match(request, &have, &want, want.n))
			continue;
		r = check_names(request, &known, err);
		if (r)
			return r;
		if (known && want.n == have.n) {
			*found = &nodes[i];
			return 0;
		}
		is_dir |= known;
	}
	if (is_dir)
		return err_set(err, -EISDIR, "%.200s: is a directory of the tree", path);
	return no_such_file(path, err);
}

static int name_compare(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
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

/* Adds what a wild part of a pattern stands for in the directory that the request names. */
static void names_expand(struct names *names, const struct node_request *request,
			 const struct control_registry *registry, const char *part, bool is_dir)
{
	char name[32];

	if (!strcmp(part, "cpu#")) {
		for (uint32_t cpu = 0; cpu < request->control->dir.ncpu; cpu++) {
			snprintf(name, sizeof(name), "cpu%" PRIu32, cpu);
			names_add(names, name, is_dir);
		}
		return;
	}
	for (uint32_t i = 0; i < registry->nevents; i++) {
		const struct control_event *event = &registry->events[i];

		if (!request->part[0][0])
			names_add(names, event->system, is_dir);
		else if (!strcmp(request->part[0], event->system))
			names_add(names, event->name, is_dir);
	}
}

static void names_collect(struct names *names, struct node_request *request,
			  const struct control_registry *registry, const struct parts *dir)
{
	struct parts have;

	for (size_t i = 0; i < NNODES; i++) {
		const char *next;

		cut(&have, nodes[i].path);
		memset(request->part, 0, sizeof(request->part));
		if (dir->n >= have.n || !match(request, &have, dir, dir->n) ||
		    !is_known(request, registry))
			continue;
		next = have.part[dir->n];
		if (!strcmp(next, "*") || !strcmp(next, "cpu#"))
			names_expand(names, request, registry, next, dir->n + 1 < have.n);
		else
			names_add(names, next, dir->n + 1 < have.n);
	}
}

int tree_list(struct control *control, const char *path, struct buf *out, struct err *err)
{
	struct node_request request = { .control = control };
	struct control_registry registry;
	struct names names = { 0 };
	const struct node *node;
	struct parts dir;
	int r;

	r = find(&request, path, &node, NULL);
	if (!r)
		return err_set(err, -ENOTDIR, "%.200s: is a file", path);
	if (r != -EISDIR)
		return find(&request, path, &node, err);
	r = control_registry_read(&registry, &control->dir, CONTROL_REGISTRY_EVENTS, err);
	if (r)
		return r;
	cut(&dir, path);
	names_collect(&names, &request, &registry, &dir);
	control_registry_fini(&registry);
	if (names.n)
		qsort(names.name, names.n, sizeof(*names.name), name_compare);
	for (size_t i = 0; i < names.n; i++)
		if (!i || strcmp(names.name[i - 1], names.name[i]))
			buf_printf(out, "%s\n", names.name[i]);
	for (size_t i = 0; i < names.n; i++)
		free(names.name[i]);
	free(names.name);
	return names.failed || buf_failed(out) ? err_set(err, -ENOMEM, "out of memory") : 0;
}

static int read_request(struct node_request *request, const char *path, struct err *err)
{
	const struct node *node;
	int r;

	r = find(request, path, &node, err);
	if (r)
		return r;
	if (!node->read)
		return err_set(err, -EACCES, "%.200s: can only be written", path);
	r = control_refresh(request->control, err);
	if (!r) {
		r = node->read(request, err);
		if (r)
			err_prefix(err, "%.200s: ", path);
	}
	if (!r && buf_failed(&request->out))
		r = err_set(err, -ENOMEM, "out of memory");
	return r;
}

int tree_read(struct control *control, const char *path, struct buf *out, struct err *err)
{
	struct node_request request = { .control = control, .out = *out };
	int r = read_request(&request, path, err);

	*out = request.out;
	return r;
}

int tree_pump(struct control *control, const char *path, tree_put *put, void *ctx, struct err *err)
{
	struct node_request request = { .control = control, .out = BUF_INIT, .put = put, .ctx = ctx };
	int r = read_request(&request, path, err);

	if (!r)
		r = node_flush(&request);
	buf_fini(&request.out);
	return r;
}

int tree_write(struct control *control, const char *path, const char *text, size_t len,
	       unsigned int flags, struct err *err)
{
	struct node_request request = { .control = control, .text = text, .len = len,
					.trunc = flags & TREE_TRUNC };
	const struct node *node;
	int r;

	r = find(&request, path, &node, err);
	if (r)
		return r;
	if (!node->write)
		return err_set(err, -EACCES, "%.200s: can only be read", path);
	r = node->write(&request, err);
	if (r)
		err_prefix(err, "%.200s: ", path);
	return r;
}
