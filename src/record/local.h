/*
 * record/local: what the files of record/meta share. Private to the room.
 */
#ifndef RECORD_LOCAL_H
#define RECORD_LOCAL_H

#include "base/buf.h"
#include "base/map.h"
#include "control/registry.h"
#include "layout/page.h"
#include "record/meta.h"

/* What the sections of meta.c are kept by, to tell what has changed. */
enum { KEPT_HEADER, KEPT_FTRACE, KEPT_EVENTS, KEPT_PRINTK, KEPT_NAMES, KEPT_NR };

/* One source of what is told. */
struct record_part {
	struct source *source;
	struct control *control;	/* of a tracing directory, else NULL */
	bool prototypes;		/* those of functions are wanted: see prototypes.c */
	struct control_registry registry;	/* of a directory, while something is put */
	struct control_moment moment;	/* that the formats in the file are of */
	uint32_t names_mark;		/* of control_registry_names(), when they were last put */
	bool some;			/* of events, only those that were on in `buffers` when it was looked */
	char **buffers;			/* instances; "" is the top one */
	size_t nr_buffers;
	struct map on;			/* "SYSTEM:EVENT" */
};

/* A remote: what stands for it in the file. */
struct record_apart {
	const struct remote *remote;
	uint32_t first_id;		/* of its events, in the order of its texts; behind the last, one without a text */
	int32_t pid;
};

/* Fields move: from behind an ID of two bytes to behind the common ones. */
#define RECORD_APART_SHIFT 6u

struct record_meta {
	struct record_apart *aparts;
	size_t nr_aparts;
	struct record_part parts[RECORD_SOURCES];
	size_t nr_parts;
	char *kallsyms;
	bool all_formats;
	struct buf kept[KEPT_NR];	/* as last put */
	bool put[KEPT_NR];
	struct map names;		/* tid -> struct record_name */
	uint64_t names_at;		/* when they were last looked at; 0: never */
	uint16_t ids[EVENT_ID_BUILTIN_END];	/* ids.c: of the directory's own records, beside a kernel's */
	bool renumbers;
};

/* formats.c: payloads, added to `out`. Those of a directory from its registry. */
int record_formats_header(struct record_meta *meta, struct buf *out, struct err *err);
int record_formats_ftrace(struct record_meta *meta, struct buf *out, struct err *err);
int record_formats_events(struct record_meta *meta, struct buf *out, struct err *err);
/* The same of one system of a tree: names of its events that are to be told, a line each. */
int record_formats_list(struct record_part *part, const char *system, struct buf *out, struct err *err);

/* ids.c: the formats of ftrace's own records of two sources, which may number and lay them out differently. */
int record_ids_merge(struct record_meta *meta, struct record_part *kernel, struct record_part *directory, struct buf *out,
		     struct err *err);

/* prototypes.c: are they wanted, as of now or before? */
void record_prototypes_look(struct record_part *part);
int record_prototypes_put(struct record_part *part, struct buf *out, struct err *err);

/* apart.c: numbers that the i-th of these buffers, a remote, has in the file; -EOVERFLOW: there are none left. */
int record_apart_numbers(const struct record_buffer *buffers, size_t i, struct record_apart *apart);
/* A system for each, added to `out`. */
void record_apart_formats(const struct record_meta *meta, struct buf *out, uint32_t *nsystems);

/* names.c: what there is now joins what was there; `running`: of a kernel, also all threads that run, which takes milliseconds. The
 * payload is that of all. */
int record_names_gather(struct record_meta *meta, struct record_part *part, bool running, struct err *err);
int record_names_text(struct record_meta *meta, struct buf *out, struct err *err);

#endif
