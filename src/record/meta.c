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

int record_meta_open(struct record_meta **out, struct source *source, const struct record_meta_how *how,
		     struct err *err)
{
	struct record_meta *meta = calloc(1, sizeof(*meta));

	if (!meta)
		return err_set(err, -ENOMEM, "out of memory");
	meta->source = source;
	meta->control = source_control(source);
	meta->all_formats = how && how->all_formats;
	if (how && how->kallsyms) {
		meta->kallsyms = strdup(how->kallsyms);
		if (!meta->kallsyms) {
			free(meta);
			return err_set(err, -ENOMEM, "out of memory");
		}
	}
	*out = meta;
	return 0;
}

void record_meta_close(struct record_meta *meta)
{
	if (!meta)
		return;
	for (int i = 0; i < KEPT_NR; i++)
		buf_fini(&meta->kept[i]);
	map_fini(&meta->names);
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

static int make(struct record_meta *meta, int which, const struct control_registry *registry, struct buf *out,
		struct err *err)
{
	int r;

	switch (which) {
	case KEPT_HEADER:
		return record_formats_header(meta, out, err);
	case KEPT_FTRACE:
		return record_formats_ftrace(meta, out, err);
	case KEPT_EVENTS:
		return record_formats_events(meta, registry, out, err);
	case KEPT_PRINTK:
		r = source_exists(meta->source, "printk_formats") ?
			source_read(meta->source, "printk_formats", out, err) : 0;
		return r;
	default:
		r = record_names_gather(meta, registry, err);
		return r ? r : record_names_text(meta, out, err);
	}
}

static int make_and_put(struct record_meta *meta, int which, const struct control_registry *registry,
			const struct record_sink *sink, struct err *err)
{
	struct buf payload = BUF_INIT;
	int r = make(meta, which, registry, &payload, err);

	if (!r && (r = put(meta, which, &payload, sink)))
		err_set(err, r, "what records look like cannot be put into the file: %s", strerror(-r));
	buf_fini(&payload);
	return r;
}

/* The registry's mark before its names are read: those told later make another. */
static void names_look(struct record_meta *meta, uint32_t *mark)
{
	meta->names_at = mono_ns();
	if (meta->control && control_registry_names(&meta->control->dir, mark, NULL))
		*mark = 0;
}

int record_meta_put(struct record_meta *meta, const struct record_sink *sink, struct err *err)
{
	struct control_registry registry = { 0 };
	uint32_t mark = 0;
	int r = 0;

	names_look(meta, &mark);
	record_prototypes_look(meta);
	if (meta->control)
		r = control_registry_read(&registry, &meta->control->dir,
					  CONTROL_REGISTRY_ALL & ~CONTROL_REGISTRY_ELFS, err);
	if (r)
		return r;
	for (int i = 0; !r && i < KEPT_NR; i++)
		r = make_and_put(meta, i, meta->control ? &registry : NULL, sink, err);
	if (!r) {
		meta->names_mark = mark;
		meta->moment = registry.moment;
	}
	control_registry_fini(&registry);
	return r;
}

int record_meta_put_names(struct record_meta *meta, const struct record_sink *sink, struct err *err)
{
	struct control_registry registry = { 0 };
	uint32_t mark = 0;
	int r = 0;

	names_look(meta, &mark);
	if (meta->control)
		r = control_registry_read(&registry, &meta->control->dir, CONTROL_REGISTRY_TASKS, err);
	if (!r)
		r = make_and_put(meta, KEPT_NAMES, meta->control ? &registry : NULL, sink, err);
	if (!r)
		meta->names_mark = mark;
	control_registry_fini(&registry);
	return r;
}

bool record_meta_is_stale(struct record_meta *meta)
{
	if (!meta->control)
		return false;
	return !meta->put[KEPT_PRINTK] || control_registry_has_more(&meta->moment, &meta->control->dir);
}

bool record_meta_has_names(struct record_meta *meta)
{
	uint64_t now = mono_ns();
	uint32_t mark;

	if (meta->names_at && now - meta->names_at < NAMES_NS)
		return false;
	meta->names_at = now;
	if (!meta->control)
		return source_exists(meta->source, "saved_cmdlines");
	return !meta->put[KEPT_NAMES] || (!control_registry_names(&meta->control->dir, &mark, NULL) &&
					  mark != meta->names_mark);
}
