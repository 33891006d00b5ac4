/*
 * cmd/line: a record as a line of trace-cmd's report, wherever the record comes from: of a trace file in `report`, of a
 * buffer in `stream`.
 *
 *   line_prefix, tracecmd_lost | line_columns | line_info | line_end
 *
 * In: a record, what is known of its event, and how lines are to look. Out: text appended to a buf. Any thread, each with
 * its own buf and memory.
 */
#ifndef CMD_LINE_H
#define CMD_LINE_H

#include <regex.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "decode/plugin.h"
#include "report/tracecmd.h"

struct line_look {
	struct decode_plugins *plugins;
	unsigned int columns;		/* TRACECMD_* */
	unsigned int decode;		/* DECODE_* */
	bool old_layout;		/* --layout 3.2 */
	bool raw;			/* -R */
	bool no_plugins;		/* -N, -L */
	regex_t *raw_events, *plain_events;	/* -r, -n */
};

/* An event, ready to be printed: found once, then used for each of its records. */
struct line_entry {
	const struct decode_format *format;	/* NULL: not known */
	const struct decode_plugin *plugin;	/* NULL: none, or not wanted */
	const struct decode_field *migrate_disable, *lock_depth;
	const struct decode_field *pid, *next_pid;	/* of tasks that the event is about */
	unsigned int flags;			/* DECODE_*: those of the ctx when its records are printed */
	bool raw;				/* as fields */
	bool carries;
	bool learns_odd;			/* its byte arrays are watched: see report_line.c */
	size_t name_len;
	char name[];				/* as tracecmd_name() makes it */
};

/* The line before, for --ts-diff. Begins as zeros. */
struct line_before {
	uint64_t shown;
	bool any;
};

/* `format` NULL: an event that nobody has described. One thread at a time; NULL when memory is out; yours to free. */
struct line_entry *line_entry_new(const struct line_look *look, const struct decode_format *format);

/* The name of a buffer or file in a column of that width, or blanks. */
void line_prefix(struct buf *out, size_t width, const char *name);

/*
 * Up to where the event's own text begins; of an event with a format. `ticks`: its clock counts no nanoseconds. The ctx of
 * the moment says how tasks are called; `before` may be NULL without --ts-diff.
 */
void line_columns(const struct line_look *look, const struct line_entry *entry, const struct decode_moment *moment,
		  bool ticks, struct line_before *before, struct tracecmd_memory *memory, struct buf *out);

/* The text behind the columns; the ctx has the entry's flags. Only what plugins need more than the record may be missing. */
void line_info(const struct line_entry *entry, const struct decode_moment *moment, struct buf *out);

/* A line break, if the text brought none along. */
void line_end(struct buf *out);

/* All of a line about a record that nobody has described: the moment's format is NULL. */
void line_unknown(const struct line_look *look, const struct decode_abi *abi, const struct decode_moment *moment,
		  uint32_t id, struct tracecmd_memory *memory, struct buf *out);

/* On stderr: how many were lost in all, and in how many places nobody knows how many. No word if none were. */
void line_tell_lost(uint64_t count, uint64_t unknown);

#endif
