/*
 * Where files are, and what every test of the reader does with them.
 */
#ifndef TESTS_READER_LAB_H
#define TESTS_READER_LAB_H

#include <ringside/dat.h>
#include <stdbool.h>
#include <string.h>

#include "insist.h"

/* The call went well. */
#define FINE(records, call)                                                                        \
	do {                                                                                       \
		int r_ = (call);                                                                   \
		CHECK(!r_, "%s: %d: %s", #call, r_, ringside_dat_records_error(records));          \
	} while (0)

/* It failed with this error, and has words for it. */
#define REFUSED(records, call, error)                                                              \
	do {                                                                                       \
		int r_ = (call);                                                                   \
		CHECK(r_ == -(error), "%s: %d: %s", #call, r_,                                     \
		      ringside_dat_records_error(records));                                        \
		CHECK(*ringside_dat_records_error(records), "%s: no words", #call);                \
	} while (0)

/* The path of a file that comes with the source, in memory that nobody frees. */
static inline const char *lab_data(const char *name)
{
	static char path[4][4096];
	static int i;

	i = (i + 1) % 4;
	snprintf(path[i], sizeof(path[i]), "%s/tests/data/dat/%s", getenv("RINGSIDE_SOURCE"), name);
	return path[i];
}

static inline const char *lab_scratch(const char *name)
{
	static char path[4][4096];
	static int i;

	i = (i + 1) % 4;
	snprintf(path[i], sizeof(path[i]), "%s/%s", getenv("RINGSIDE_SCRATCH"), name);
	return path[i];
}

/* Whether this build reads what zstd has packed. */
static inline bool lab_unpacks(void)
{
	return atoi(getenv("RINGSIDE_ZSTD"));
}

/* For tests that are nothing without files that are packed. */
static inline void lab_need_unpacking(void)
{
	if (lab_unpacks())
		return;
	printf("this build was made without zstd\n");
	exit(77);
}

static inline struct ringside_dat *lab_open(const char *path)
{
	struct ringside_dat *file;

	CHECK(!ringside_dat_open(&file, path), "%s", ringside_dat_error(file));
	CHECK(!*ringside_dat_error(file), "words without an error");
	return file;
}

static inline struct ringside_dat_records *lab_read(struct ringside_dat *file)
{
	struct ringside_dat_records *records;

	CHECK(!ringside_dat_records_open(&records, file), "%s", ringside_dat_records_error(records));
	return records;
}

/* The rest of the records, which must be in order; closes them. */
static inline int lab_count(struct ringside_dat_records *records)
{
	const struct ringside_dat_record *record;
	uint64_t before = 0;
	int n = 0, r;

	while ((r = ringside_dat_records_next(records, &record)) == 1) {
		CHECK(ringside_dat_record_time(record) >= before, "record %d is before the last", n);
		before = ringside_dat_record_time(record);
		n++;
	}
	CHECK(!r, "%s", ringside_dat_records_error(records));
	ringside_dat_records_close(records);
	return n;
}

#endif
