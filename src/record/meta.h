/*
 * record/meta: what a trace file tells beside its pages: headers, formats, names, symbols, and how it was recorded.
 *
 * In: a source: a tracing directory (its registry, which also knows layouts that the tree shows no more), or any tree of
 * files; or one of each. Out: payloads of sections and values of options, in the byte order of this machine, to a sink: dat/live while
 * recording, dat/write for a file that is put together afterwards.
 *
 *   meta.c	what has changed since it was put, and when to look
 *   formats.c	headers and formats		names.c		threads
 *   symbols.c	the symbol space, kallsyms	machine.c	options
 *   ids.c	what two sources number differently	apart.c		what remotes bring
 */
#ifndef RECORD_META_H
#define RECORD_META_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "dat/dat.h"
#include "record/record.h"
#include "source/source.h"

/* A tracing directory, and the kernel. Remotes are beside these. */
#define RECORD_SOURCES 2

struct record_meta;

struct record_sink {
	int (*section)(void *ctx, enum dat_id id, const void *payload, size_t len);
	int (*option)(void *ctx, enum dat_id id, const void *value, size_t len);
	void *ctx;
};

struct record_meta_how {
	const char *kallsyms;	/* a file to take symbols from, instead of the source's own; NULL: those */
	bool all_formats;	/* also of events of a directory that nobody brought, and of which there can be no records */
};

/* `source` is used until record_meta_close(), and stays the caller's. `how` may be NULL. */
int record_meta_open(struct record_meta **out, struct source *source, const struct record_meta_how *how,
		     struct err *err);
/* One more source, of the other kind, in the same file: its events, threads and symbols come beside the first one's. */
int record_meta_add(struct record_meta *meta, struct source *source, struct err *err);
/*
 * Of a source of files: formats of those events only that are on in this buffer, or in another one of which that was said,
 * whenever something is put. Without all formats being wanted.
 */
int record_meta_limit(struct record_meta *meta, struct source *source, const char *instance, struct err *err);
/* The events of a remote, in a place of their own; it outlives this. `i`: it is the i-th buffer of these. */
int record_meta_add_remote(struct record_meta *meta, const struct record_buffer *buffers, size_t i, struct err *err);
void record_meta_close(struct record_meta *meta);

/*
 * Numbers of ftrace's own records in the file, by those that a tracing directory has; NULL: they are the same. They differ where
 * a kernel in the same file numbers them otherwise, or has another layout. Known once something was put.
 */
const uint16_t *record_meta_ids(const struct record_meta *meta);

/* HEADER_INFO, FTRACE_EVENTS, EVENT_FORMATS, PRINTK, CMDLINES, each if it is new or has changed since it was last put. */
int record_meta_put(struct record_meta *meta, const struct record_sink *sink, struct err *err);
/*
 * CMDLINES alone, if they have changed: all names that were ever seen, since trees forget those of long ago. Of
 * files that takes far less than to read all formats anew.
 */
int record_meta_put_names(struct record_meta *meta, const struct record_sink *sink, struct err *err);

/*
 * Has something been brought that records may refer to (an event, a printf format), since it was last put? Costs one small
 * read: it is asked for each batch of pages. Of files that cannot say: false.
 */
bool record_meta_is_stale(struct record_meta *meta);
/* The same for names of threads, which may wait: true about once a second, if there may be some. May be asked often. */
bool record_meta_has_names(struct record_meta *meta);

/* KALLSYMS: takes a while. Of a tracing directory the symbol space. */
int record_meta_put_symbols(struct record_meta *meta, const struct record_sink *sink, struct err *err);

/* UNAME, VERSION (ours) and TRACEID; 0: any. */
int record_meta_put_machine(struct record_meta *meta, uint64_t traceid, const struct record_sink *sink, struct err *err);
/*
 * CPUSTAT for each CPU of a buffer: `instance` is its name in the source, NULL or "" for the top one, `name` its name in the
 * file, which stands before them if it has one.
 */
int record_meta_put_stats(struct source *source, const char *instance, const char *name,
			  const struct record_sink *sink, struct err *err);

/* PROCMAPS of the process, as of now. -ENOENT: there is no such process. */
int record_meta_put_maps(struct record_meta *meta, int pid, const struct record_sink *sink, struct err *err);

#endif
