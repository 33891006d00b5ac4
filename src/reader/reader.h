/*
 * reader: the public face of trace files, <ringside/dat.h>. Private to the room.
 *
 *   ringside_dat --> dat		open.c, events.c, names.c
 *   ringside_dat_records --> replay	records.c: what is read;  steps.c: from record to record
 *   ringside_dat_record		record.c: fields;  text.c: texts and lines
 *
 * An open file is never changed, so that threads can share it: what is handed out as a struct is
 * made when it is opened. Every public function about records begins by forgetting their last
 * error.
 */
#ifndef READER_READER_H
#define READER_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "dat/dat.h"
#include "decode/plugin.h"
#include "expr/filter.h"
#include "replay/replay.h"
#include "report/tracecmd.h"
#include "ringside/dat.h"

#define READER_IDS 65536
#define READER_STYLES 2

struct ringside_dat_event {
	struct dat *dat;
	size_t nr;		/* in the file */
};

/* Public by another name: never looked into by that. */
struct ringside_dat_field {
	struct decode_field field;
};

struct ringside_dat {
	struct dat *dat;	/* NULL: could not be opened, and err says why */
	struct err err;
	struct ringside_dat_info info;
	struct ringside_dat_buffer *buffers;
	size_t nr_buffers;
	struct ringside_dat_guest *guests;
	size_t nr_guests;
	struct ringside_dat_event *events;
	size_t nr_events;
};

/* What is known of an event while its records are read: found once. */
struct reader_entry {
	bool found;
	bool carries;				/* its records leave something behind */
	const struct ringside_dat_event *event;	/* NULL: the file does not describe it */
	const struct decode_format *format;	/* NULL also when its text cannot be used */
	const struct decode_plugin *plugin;	/* NULL: trace-cmd has none */
};

struct reader_file {
	struct ringside_dat *file;
	struct replay_times times;
	bool ticks;
	struct filter *only, *without;		/* NULL: none */
	struct reader_entry *entries;		/* by the event's place in the file */
	uint8_t *marks;				/* by ID: may leave something behind; see replay_job */
};

/* What is kept of a CPU of a buffer of a file. */
struct reader_lane {
	uint64_t lost;				/* before records that were not handed out */
	const void *joined;			/* the record that trace-cmd prints with the last one */
};

/* A record as names and plugins see it. */
struct reader_view {
	struct ringside_dat_records *records;
	const struct replay_record *rec;
	struct decode_ctx ctx;
};

struct ringside_dat_record {
	struct ringside_dat_records *records;
	struct replay_record rec;
	struct reader_file *file;
	const struct reader_entry *entry;
	struct record_head head;
	uint64_t lost;
	bool joined;
	bool passed;		/* the carry is that behind it */
};

/* Texts that were made for a record and go with it. */
struct reader_texts {
	struct buf text[READER_STYLES], line[READER_STYLES];
	bool has_text[READER_STYLES], has_line[READER_STYLES];
	char **copies;
	size_t nr_copies;
};

struct ringside_dat_records {
	struct err err;
	struct reader_file *files;
	size_t nr_files;
	int *cpus;
	size_t nr_cpus;
	char **buffers;
	size_t nr_buffers;
	bool filtered, only;	/* by any text; by one that lets through */

	struct replay *replay;	/* NULL: not begun */
	struct decode_plugins *plugins;
	struct replay_job job;
	const uint8_t **passes;
	struct reader_lane *lanes;
	size_t nr_lanes;
	uint64_t lost, lost_unknown;
	uint64_t to;

	bool has_record;	/* `record` is one */
	bool held;		/* and was not handed out: it lies behind `to` */
	struct ringside_dat_record record;
	struct reader_view reading, passing;
	struct tracecmd_memory columns;
	struct reader_texts texts;
};

/* events.c: NULL when its text cannot be used. */
const struct decode_format *reader_format(const struct ringside_dat_event *event, struct err *err);

/* steps.c: the job of the replay, and what plugins see of a record. */
void reader_views_init(struct ringside_dat_records *records);
const struct reader_entry *reader_entry(struct ringside_dat_records *records,
					const struct replay_record *rec);
struct decode_moment reader_moment(struct ringside_dat_record *record);
/* Filled in from record.rec; false: it is not wanted. */
bool reader_arrive(struct ringside_dat_records *records);
/* Before the next one: what it leaves behind, printed or not. */
void reader_leave(struct ringside_dat_records *records);

/* text.c: forgets the texts of a record and keeps their memory; frees it. */
void reader_texts_drop(struct reader_texts *texts);
void reader_texts_free(struct reader_texts *texts);

#endif
