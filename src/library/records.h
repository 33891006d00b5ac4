/*
 * library/records: what the two ways to read live records provide, and what they fill in. Private
 * to the room.
 */
#ifndef LIBRARY_RECORDS_H
#define LIBRARY_RECORDS_H

#include <stdbool.h>
#include <stdint.h>

#include "library/library.h"
#include "report/trace.h"

/* How long to wait at a time: so soon it is seen that somebody stopped us. */
#define RECORDS_WAIT_MS 100

struct records_kind {
	void (*close)(struct ringside_control_records *records);
	/* 1 and a row with what was lost before it; 0 when there is none now. */
	int (*next)(struct ringside_control_records *records, struct report_row *row,
		    uint64_t *lost);
	/* 1, 0 on timeout, -EINTR. */
	int (*wait)(struct ringside_control_records *records, int timeout_ms);
	/*
	 * From now on nothing more is taken out of the buffer; what is in hand is still handed
	 * out.
	 */
	void (*end)(struct ringside_control_records *records);
	/* Names for printing, and whether times are no nanoseconds. */
	const struct decode_ctx *(*names)(struct ringside_control_records *records);
	bool (*ticks)(struct ringside_control_records *records);
};

/* Texts that were made for a record and go with it. */
struct records_texts {
	char *line;
	char *text;
	char **copies;
	size_t ncopies;
};

struct ringside_control_record {
	struct ringside_control_records *records;
	struct report_row row;
	uint64_t lost;
};

struct ringside_control_records {
	const struct records_kind *kind;
	void *state;			/* of the kind */
	struct source *source;		/* of its own: the tree may be used meanwhile */
	const char *prefix;		/* of the instance in it: ours */
	char *instance;
	int cpu;			/* -1: all */
	unsigned int flags;		/* RINGSIDE_CONTROL_PEEK, ... */
	int stopped;			/* set by anybody at any time */
	bool ending;
	struct err err;
	struct ringside_control_record record;
	struct records_texts texts;
};

int records_rows_open(struct ringside_control_records *records);
int records_pipes_open(struct ringside_control_records *records);

/* Frees the record's texts. */
void records_texts_drop(struct records_texts *texts);

#endif
