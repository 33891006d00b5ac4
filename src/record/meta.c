/*
 * record/meta: see meta.h.
 *
 * Each section is made anew and compared with what was last put, so that whatever changed is put and nothing else.
 * Whether it is worth looking: programs take a number when they bring something, before records of it can be seen.
 * The number that was there before the registry was read, and the slots that were half-way then, tell whether
 * there is more by now.
 */
#include "record/meta.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/mono.h"
#include "control/control.h"
#include "record/local.h"

#define NAMES_NS 1000000000ull

static const enum dat_id ids[KEPT_NR] = {
	[KEPT_HEADER] = DAT_HEADER_INFO,
	[KEPT_FTRACE] = DAT_FTRACE_EVENTS,
	[KEPT_EVENTS] = DAT_EVENT_FORMATS,
	[KEPT_PRINTK] = DAT_PRINTK,
	[KEPT_NAMES] = DAT_CMDLINES,
};

static int out_of_memory(struct err *err)
{
	return err_set(err, -ENOMEM, "out of memory");
}

int record_meta_open(struct record_meta **out, struct source *source, const struct record_meta_how *how,
		     struct err *err)
{
	struct record_meta *meta = calloc(1, sizeof(*meta));

	if (!meta)
		return out_of_memory(err);
	meta->all_formats = how && how->all_formats;
	if (how && how->kallsyms) {
		meta->kallsyms = strdup(how->kallsyms);
		if (!meta->kallsyms) {
			free(meta);
			return out_of_memory(err);
		}
	}
	*out = meta;
	return record_meta_add(meta, source, err);
}

int record_meta_add(struct record_meta *meta, struct source *source, struct err *err)
{
	for (size_t i = 0; i < meta->nr_parts; i++)
		if (!source_control(meta->parts[i].source) == !source_control(source))
			return err_set(err, -EINVAL, "%.200s and %.200s: one file cannot tell the events of both apart",
				       source_name(meta->parts[i].source), source_name(source));
	meta->parts[meta->nr_parts++] = (struct record_part){ .source = source, .control = source_control(source) };
	return 0;
}

int record_meta_limit(struct record_meta *meta, struct source *source, const char *instance, struct err *err)
{
	for (size_t i = 0; i < meta->nr_parts; i++) {
		struct record_part *part = &meta->parts[i];
		char **more;

		if (part->source != source || part->control)
			continue;
		more = realloc(part->buffers, (part->nr_buffers + 1) * sizeof(*more));
		if (!more)
			return out_of_memory(err);
		part->buffers = more;
		more[part->nr_buffers] = strdup(instance);
		if (!more[part->nr_buffers])
			return out_of_memory(err);
		part->nr_buffers++;
		part->some = !meta->all_formats;
	}
	return 0;
}

const uint16_t *record_meta_ids(const struct record_meta *meta)
{
	return meta->renumbers ? meta->ids : NULL;
}

void record_meta_close(struct record_meta *meta)
{
	if (!meta)
		return;
	for (int i = 0; i < KEPT_NR; i++)
		buf_fini(&meta->kept[i]);
	for (size_t i = 0; i < meta->nr_parts; i++) {
		struct record_part *part = &meta->parts[i];

		for (size_t b = 0; b < part->nr_buffers; b++)
			free(part->buffers[b]);
		free(part->buffers);
		map_fini(&part->on);
	}
	map_fini(&meta->names);
	free(meta->aparts);
	free(meta->kallsyms);
	free(meta);
}

/* Takes the payload over. */
static int put(struct record_meta *meta, int which, struct buf *payload, const struct record_sink *sink)
{
	struct buf *kept = &meta->kept[which];
	int r = 0;

	if (!meta->put[which] || kept->len != payload->len ||
	    (kept->len && memcmp(kept->data, payload->data, kept->len)))
		r = sink->section(sink->ctx, ids[which], payload->data ? payload->data : "", payload->len);
	if (!r) {
		buf_fini(kept);
		*kept = *payload;
		*payload = (struct buf)BUF_INIT;
		meta->put[which] = true;
	}
	return r;
}

static int make_printk(struct record_meta *meta, struct buf *out, struct err *err)
{
	int r = 0;

	for (size_t i = 0; !r && i < meta->nr_parts; i++)
		if (source_exists(meta->parts[i].source, "printk_formats"))
			r = source_read(meta->parts[i].source, "printk_formats", out, err);
	return r;
}

static int make_names(struct record_meta *meta, bool running, struct buf *out, struct err *err)
{
	int r = 0;

	for (size_t i = 0; !r && i < meta->nr_parts; i++)
		r = record_names_gather(meta, &meta->parts[i], running, err);
	return r ? r : record_names_text(meta, out, err);
}

static int make(struct record_meta *meta, int which, bool running, struct buf *out, struct err *err)
{
	switch (which) {
	case KEPT_HEADER:
		return record_formats_header(meta, out, err);
	case KEPT_FTRACE:
		return record_formats_ftrace(meta, out, err);
	case KEPT_EVENTS:
		return record_formats_events(meta, out, err);
	case KEPT_PRINTK:
		return make_printk(meta, out, err);
	default:
		return make_names(meta, running, out, err);
	}
}

static int make_and_put(struct record_meta *meta, int which, bool running, const struct record_sink *sink, struct err *err)
{
	struct buf payload = BUF_INIT;
	int r = make(meta, which, running, &payload, err);

	if (!r && (r = put(meta, which, &payload, sink)))
		err_set(err, r, "what records look like cannot be put into the file: %s", strerror(-r));
	buf_fini(&payload);
	return r;
}

/* Directories are read, and their marks before them: what is told later makes another. */
static int look(struct record_meta *meta, unsigned int what, uint32_t marks[RECORD_SOURCES], struct err *err)
{
	int r = 0;

	meta->names_at = mono_ns();
	for (size_t i = 0; !r && i < meta->nr_parts; i++) {
		struct record_part *part = &meta->parts[i];

		marks[i] = 0;
		if (!part->control)
			continue;
		if (control_registry_names(&part->control->dir, &marks[i], NULL))
			marks[i] = 0;
		r = control_registry_read(&part->registry, &part->control->dir, what, err);
	}
	return r;
}

/* What was read is put, or could not be. */
static void look_end(struct record_meta *meta, const uint32_t marks[RECORD_SOURCES], bool put_names, bool put_all)
{
	for (size_t i = 0; i < meta->nr_parts; i++) {
		struct record_part *part = &meta->parts[i];

		if (put_names)
			part->names_mark = marks[i];
		if (put_all)
			part->moment = part->registry.moment;
		control_registry_fini(&part->registry);
		part->registry = (struct control_registry){ 0 };
	}
}

int record_meta_put(struct record_meta *meta, const struct record_sink *sink, struct err *err)
{
	uint32_t marks[RECORD_SOURCES];
	int r;

	for (size_t i = 0; i < meta->nr_parts; i++)
		record_prototypes_look(&meta->parts[i]);
	r = look(meta, CONTROL_REGISTRY_ALL & ~CONTROL_REGISTRY_ELFS, marks, err);
	for (int i = 0; !r && i < KEPT_NR; i++)
		r = make_and_put(meta, i, true, sink, err);
	look_end(meta, marks, !r, !r);
	return r;
}

int record_meta_put_names(struct record_meta *meta, const struct record_sink *sink, struct err *err)
{
	uint32_t marks[RECORD_SOURCES];
	int r = look(meta, CONTROL_REGISTRY_TASKS, marks, err);

	if (!r)
		r = make_and_put(meta, KEPT_NAMES, false, sink, err);
	look_end(meta, marks, !r, false);
	return r;
}

bool record_meta_is_stale(struct record_meta *meta)
{
	bool stale = false;

	for (size_t i = 0; i < meta->nr_parts && !stale; i++)
		stale = meta->parts[i].control && (!meta->put[KEPT_PRINTK] ||
			control_registry_has_more(&meta->parts[i].moment, &meta->parts[i].control->dir));
	return stale;
}

static bool has_names(const struct record_meta *meta, const struct record_part *part)
{
	uint32_t mark;

	if (!part->control)
		return source_exists(part->source, "saved_cmdlines");
	return !meta->put[KEPT_NAMES] || (!control_registry_names(&part->control->dir, &mark, NULL) &&
					  mark != part->names_mark);
}

bool record_meta_has_names(struct record_meta *meta)
{
	uint64_t now = mono_ns();
	bool has = false;

	if (meta->names_at && now - meta->names_at < NAMES_NS)
		return false;
	meta->names_at = now;
	for (size_t i = 0; i < meta->nr_parts; i++)
		has |= has_names(meta, &meta->parts[i]);
	return has;
}
