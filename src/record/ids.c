/*
 * record/ids: a kernel and a tracing directory in one file, which has one number for each kind of record.
 *
 * Declared events cannot meet: directories deal numbers from EVENT_ID_FIRST up. ftrace's own records have fixed ones, and those
 * differ from kernel to kernel, as do some layouts. The kernel's stay, since its pages are not looked at on their way. Those of
 * the directory get the number of the kernel's record of that name if both lie in memory alike, else their own if it is free, or
 * one that nobody has. Stock readers know one layout of graph records: a kernel's are not told where its tracer is another.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "record/local.h"

/* One format, and what is compared of it. */
struct shape {
	char name[64];
	uint32_t id;
	struct buf text, fields;
};

struct shapes {
	struct shape all[64];
	size_t n;
};

/* "\tfield:TYPE NAME[N];\toffset:8;\tsize:4;...": name, place and size, without what is common to all. */
static void put_field(struct buf *out, const char *line, size_t len)
{
	const char *end = memchr(line, ';', len), *name, *brackets, *offset, *size;
	char copy[512];

	snprintf(copy, sizeof(copy), "%.*s", (int)len, line);
	offset = strstr(copy, "offset:");
	size = strstr(copy, "size:");
	if (!end || !offset || !size || strstr(copy, " common_"))
		return;
	copy[end - line] = '\0';
	brackets = strchr(copy, '[');
	for (name = brackets ? brackets : copy + strlen(copy); name > copy && name[-1] != ' '; name--)
		;
	buf_printf(out, "%s %ld %ld\n", name, strtol(offset + 7, NULL, 10), strtol(size + 5, NULL, 10));
}

static int read_shape(struct record_part *part, const char *name, struct shape *shape, struct err *err)
{
	char path[256];
	const char *at;
	int r;

	*shape = (struct shape){ .text = BUF_INIT, .fields = BUF_INIT };
	snprintf(shape->name, sizeof(shape->name), "%s", name);
	snprintf(path, sizeof(path), "events/ftrace/%s/format", shape->name);
	r = source_read(part->source, path, &shape->text, err);
	if (r || !shape->text.data)
		return r;
	at = strstr(shape->text.data, "\nID: ");
	shape->id = at ? (uint32_t)strtoul(at + 5, NULL, 10) : 0;
	for (at = shape->text.data; *at;) {
		size_t len = strcspn(at, "\n");

		put_field(&shape->fields, at, len);
		at += len + (at[len] == '\n');
	}
	return buf_failed(&shape->text) || buf_failed(&shape->fields) ? err_set(err, -ENOMEM, "out of memory") : 0;
}

static int read_shapes(struct record_part *part, struct shapes *shapes, struct err *err)
{
	struct buf list = BUF_INIT;
	char *at, *name;
	int r = record_formats_list(part, "ftrace", &list, err);

	for (at = list.data; !r && (name = strsep(&at, "\n"));)
		if (*name && shapes->n < sizeof(shapes->all) / sizeof(shapes->all[0]))
			r = read_shape(part, name, &shapes->all[shapes->n++], err);
	buf_fini(&list);
	return r;
}

static void shapes_fini(struct shapes *shapes)
{
	for (size_t i = 0; i < shapes->n; i++) {
		buf_fini(&shapes->all[i].text);
		buf_fini(&shapes->all[i].fields);
	}
}

static bool is_alike(const struct shape *a, const struct shape *b)
{
	return !strcmp(a->name, b->name) && a->fields.len == b->fields.len &&
	       (!a->fields.len || !memcmp(a->fields.data, b->fields.data, a->fields.len));
}

static void put_text(struct buf *out, const char *text, size_t len)
{
	uint64_t size = len;

	buf_add(out, &size, sizeof(size));
	buf_add(out, text, len);
}

/* The same text with another number. */
static void put_renumbered(struct buf *out, const struct shape *shape, uint32_t id)
{
	const char *line = strstr(shape->text.data, "\nID: "), *rest = line ? line + 1 + strcspn(line + 1, "\n") : NULL;
	struct buf text = BUF_INIT;

	if (rest)
		buf_printf(&text, "%.*s\nID: %" PRIu32 "%s", (int)(line - shape->text.data), shape->text.data, id, rest);
	if (text.len)
		put_text(out, text.data, text.len);
	buf_fini(&text);
}

/* Are there graph records in one of its buffers, now? */
static bool has_graph(const struct record_part *part)
{
	struct buf text = BUF_INIT;
	bool has = false;

	for (size_t i = 0; i < part->nr_buffers && !has; i++) {
		const char *instance = part->buffers[i];
		char path[256];

		buf_reset(&text);
		snprintf(path, sizeof(path), "%s%.100s%scurrent_tracer", *instance ? "instances/" : "", instance,
			 *instance ? "/" : "");
		/* Latency tracers may have them, too. */
		has = source_read(part->source, path, &text, NULL) || !text.data ||
		      (strncmp(text.data, "nop", 3) && strcmp(text.data, "function\n") && strncmp(text.data, "blk", 3));
	}
	buf_fini(&text);
	return has;
}

static void drop_graph(struct shapes *shapes)
{
	size_t n = 0;

	for (size_t i = 0; i < shapes->n; i++) {
		if (!strncmp(shapes->all[i].name, "funcgraph_", 10)) {
			buf_fini(&shapes->all[i].text);
			buf_fini(&shapes->all[i].fields);
		} else {
			shapes->all[n++] = shapes->all[i];
		}
	}
	shapes->n = n;
}

/* Which number a record of the directory has in the file; *more: its format has to be told, too. */
static uint32_t number_for(const struct shapes *kernel, const struct shape *shape, uint32_t *unused, bool *more)
{
	*more = false;
	for (size_t i = 0; i < kernel->n; i++)
		if (is_alike(&kernel->all[i], shape))
			return kernel->all[i].id;
	*more = true;
	for (size_t i = 0; i < kernel->n; i++)
		if (kernel->all[i].id == shape->id)
			return --*unused;
	return shape->id;
}

int record_ids_merge(struct record_meta *meta, struct record_part *kernel, struct record_part *directory, struct buf *out,
		     struct err *err)
{
	struct shapes theirs = { .n = 0 }, ours = { .n = 0 };
	uint32_t count, unused = EVENT_ID_FIRST;
	int r = read_shapes(kernel, &theirs, err);

	if (!r)
		r = read_shapes(directory, &ours, err);
	if (!r && !has_graph(kernel))
		drop_graph(&theirs);
	count = (uint32_t)theirs.n;
	buf_add(out, &count, sizeof(count));
	for (size_t i = 0; !r && i < theirs.n; i++)
		put_text(out, theirs.all[i].text.data, theirs.all[i].text.len);
	for (uint32_t id = 0; id < EVENT_ID_BUILTIN_END; id++)
		meta->ids[id] = (uint16_t)id;
	meta->renumbers = false;
	for (size_t i = 0; !r && i < ours.n; i++) {
		const struct shape *shape = &ours.all[i];
		bool more;
		uint32_t id;

		if (!shape->id || shape->id >= EVENT_ID_BUILTIN_END)
			continue;
		id = number_for(&theirs, shape, &unused, &more);
		if (more) {
			put_renumbered(out, shape, id);
			count++;
		}
		meta->ids[shape->id] = (uint16_t)id;
		meta->renumbers |= id != shape->id;
	}
	if (!buf_failed(out))
		memcpy(out->data, &count, sizeof(count));
	shapes_fini(&theirs);
	shapes_fini(&ours);
	return r;
}
