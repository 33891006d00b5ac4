/*
 * record/local: what the files of record/meta share. Private to the room.
 */
#ifndef RECORD_LOCAL_H
#define RECORD_LOCAL_H

#include "base/buf.h"
#include "base/map.h"
#include "control/registry.h"
#include "record/meta.h"

/* What the sections of meta.c are kept by, to tell what has changed. */
enum { KEPT_HEADER, KEPT_FTRACE, KEPT_EVENTS, KEPT_PRINTK, KEPT_NAMES, KEPT_NR };

struct record_meta {
	struct source *source;
	struct control *control;	/* of a tracing directory, else NULL */
	char *kallsyms;
	bool all_formats;
	bool prototypes;		/* those of functions are wanted: see prototypes.c */
	struct buf kept[KEPT_NR];	/* as last put */
	bool put[KEPT_NR];
	struct control_moment moment;	/* that the formats in the file are of */
	struct map names;		/* tid -> struct record_name */
	uint32_t names_mark;		/* of control_registry_names(), when they were last put */
	uint64_t names_at;		/* when they were last looked at; 0: never */
};

/* formats.c: payloads, added to `out`. */
int record_formats_header(struct record_meta *meta, struct buf *out, struct err *err);
int record_formats_ftrace(struct record_meta *meta, struct buf *out, struct err *err);
/* `registry` NULL: from the tree. */
int record_formats_events(struct record_meta *meta, const struct control_registry *registry, struct buf *out,
			  struct err *err);

/* prototypes.c: are they wanted, as of now or before? */
void record_prototypes_look(struct record_meta *meta);
int record_prototypes_put(struct record_meta *meta, struct buf *out, struct err *err);

/* names.c: what there is now joins what was there; `registry` NULL: from the tree. The payload is that of all. */
int record_names_gather(struct record_meta *meta, const struct control_registry *registry, struct err *err);
int record_names_text(struct record_meta *meta, struct buf *out, struct err *err);

#endif
