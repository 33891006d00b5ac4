/*
 * record/formats: what pages and records look like, as trace files tell it: texts of the tree, each behind its length.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "control/enable.h"
#include "record/local.h"

static int out_of_memory(struct err *err)
{
	return err_set(err, -ENOMEM, "out of memory");
}

/* A count or a length that is known only when what it counts is there. */
static size_t word_hold(struct buf *out, size_t size)
{
	size_t at = out->len;

	buf_add(out, "\0\0\0\0\0\0\0", size);
	return at;
}

static void length_set(struct buf *out, size_t at)
{
	uint64_t len = out->len - at - sizeof(len);

	if (!buf_failed(out))
		memcpy(out->data + at, &len, sizeof(len));
}

static void count_set(struct buf *out, size_t at, uint32_t count)
{
	if (!buf_failed(out))
		memcpy(out->data + at, &count, sizeof(count));
}

/* Back to what it was: what was added is of no use. */
static void cut_back(struct buf *out, size_t len)
{
	if (!buf_failed(out))
		out->len = len;
}

static int add_text(struct source *source, const char *path, struct buf *out, struct err *err)
{
	size_t at = word_hold(out, sizeof(uint64_t));
	int r = source_read(source, path, out, err);

	if (r)
		cut_back(out, at);
	else
		length_set(out, at);
	return r;
}

int record_formats_header(struct record_meta *meta, struct buf *out, struct err *err)
{
	int r;

	buf_add(out, "header_page", sizeof("header_page"));
	r = add_text(meta->parts[0].source, "events/header_page", out, err);
	if (r)
		return r;
	buf_add(out, "header_event", sizeof("header_event"));
	r = add_text(meta->parts[0].source, "events/header_event", out, err);
	if (r)
		return r;
	return buf_failed(out) ? out_of_memory(err) : 0;
}

/* The next line of a list that names a directory, less its slash; NULL behind the last. */
static char *next_dir(char **list)
{
	char *name;

	while ((name = strsep(list, "\n"))) {
		size_t len = strlen(name);

		if (len < 2 || name[len - 1] != '/')
			continue;
		name[len - 1] = '\0';
		return name;
	}
	return NULL;
}

/* Events come and go with the modules that bring them. */
static bool is_gone(int r)
{
	return r == -ENOENT || r == -ENODEV || r == -ENOTDIR;
}

/* Has the event been on in one of the buffers that count, if only some do? */
static bool is_wanted(const struct record_part *part, const char *system, const char *name)
{
	char both[256];
	int len = snprintf(both, sizeof(both), "%s:%s", system, name);

	return !part->some || !strcmp(system, "ftrace") ||
	       (len < (int)sizeof(both) && map_find(&part->on, both, (size_t)len));
}

int record_formats_list(struct record_part *part, const char *system, struct buf *out, struct err *err)
{
	struct buf list = BUF_INIT;
	char path[512], *at, *name;
	int r;

	snprintf(path, sizeof(path), "events/%s", system);
	r = source_list(part->source, path, &list, err);
	for (at = list.data; !r && (name = next_dir(&at));)
		if (is_wanted(part, system, name))
			buf_printf(out, "%s\n", name);
	buf_fini(&list);
	return !r && buf_failed(out) ? out_of_memory(err) : r;
}

/* All formats of a system, behind their number: how many, or -errno. */
static int add_system(struct record_part *part, const char *system, struct buf *out, struct err *err)
{
	struct buf list = BUF_INIT;
	struct err own = ERR_INIT;
	char path[512], *at, *name;
	size_t count = word_hold(out, sizeof(uint32_t));
	uint32_t n = 0;
	int r;

	r = record_formats_list(part, system, &list, &own);
	for (at = list.data; !r && (name = strsep(&at, "\n"));) {
		if (!*name ||
		    snprintf(path, sizeof(path), "events/%s/%s/format", system, name) >= (int)sizeof(path))
			continue;
		r = add_text(part->source, path, out, &own);
		n += !r;
		if (is_gone(r)) {
			own = (struct err)ERR_INIT;
			r = 0;
		}
	}
	if (is_gone(r))
		r = 0;
	buf_fini(&list);
	count_set(out, count, n);
	return r ? err_set(err, r, "%s", own.text) : (int)n;
}

int record_formats_ftrace(struct record_meta *meta, struct buf *out, struct err *err)
{
	struct record_part *first = &meta->parts[0], *other = &meta->parts[1];
	int r;

	if (meta->nr_parts < 2)
		r = add_system(first, "ftrace", out, err);
	else
		r = record_ids_merge(meta, first->control ? other : first, first->control ? first : other, out, err);
	if (r < 0)
		return r;
	return buf_failed(out) ? out_of_memory(err) : 0;
}

/* Which events are on now joins what was on before. */
static int look_at_buffers(struct record_part *part, struct err *err)
{
	struct buf text = BUF_INIT, path = BUF_INIT;
	char *at, *line;
	int r = 0;

	for (size_t i = 0; !r && i < part->nr_buffers; i++) {
		const char *instance = part->buffers[i];

		buf_reset(&path);
		buf_reset(&text);
		buf_printf(&path, "%s%s%sset_event", *instance ? "instances/" : "", instance, *instance ? "/" : "");
		r = buf_failed(&path) ? out_of_memory(err) : source_read(part->source, path.data, &text, err);
		/* An instance that somebody removed had none that are new. */
		if (is_gone(r))
			r = 0;
		for (at = text.data; !r && (line = strsep(&at, "\n"));)
			if (*line && !map_get(&part->on, line, strlen(line), 1))
				r = out_of_memory(err);
	}
	buf_fini(&text);
	buf_fini(&path);
	return r;
}

static int add_tree(struct record_part *part, struct buf *out, uint32_t *nsystems, struct err *err)
{
	struct buf list = BUF_INIT;
	char *at, *name;
	int r = look_at_buffers(part, err);

	if (!r)
		r = source_list(part->source, "events", &list, err);
	for (at = list.data; r >= 0 && (name = next_dir(&at));) {
		size_t before = out->len;

		if (!strcmp(name, "ftrace"))
			continue;
		buf_add(out, name, strlen(name) + 1);
		r = add_system(part, name, out, err);
		if (r > 0)
			++*nsystems;
		else
			cut_back(out, before);
	}
	buf_fini(&list);
	return r < 0 ? r : 0;
}

/* Every layout of every name: records of each may be in the pages. Of what nobody brought there can be none. */
static void add_registry(const struct control_registry *registry, bool all, struct buf *out, uint32_t *nsystems)
{
	const struct control_event *event = registry->events, *end = event + registry->nevents;

	while (event < end) {
		const char *system = event->system;
		size_t before = out->len, count, at;
		uint32_t n = 0;

		buf_add(out, system, strlen(system) + 1);
		count = word_hold(out, sizeof(uint32_t));
		for (; event < end && !strcmp(event->system, system); event++) {
			if (event->named && !all)
				continue;
			at = word_hold(out, sizeof(uint64_t));
			control_event_format(event, out);
			length_set(out, at);
			n++;
		}
		count_set(out, count, n);
		if (n)
			++*nsystems;
		else
			cut_back(out, before);
	}
}

int record_formats_events(struct record_meta *meta, struct buf *out, struct err *err)
{
	size_t count = word_hold(out, sizeof(uint32_t));
	uint32_t nsystems = 0;
	int r = 0;

	for (size_t i = 0; !r && i < meta->nr_parts; i++) {
		struct record_part *part = &meta->parts[i];

		if (part->control)
			add_registry(&part->registry, meta->all_formats, out, &nsystems);
		else
			r = add_tree(part, out, &nsystems, err);
	}
	record_apart_formats(meta, out, &nsystems);
	count_set(out, count, nsystems);
	return !r && buf_failed(out) ? out_of_memory(err) : r;
}
