/*
 * Several files are read as one, each with its own times; events that were lost are told with the
 * next record that is handed out, whatever filters leave out.
 */
#include <errno.h>

#include "reader/lab.h"
#include "reader/made.h"

static const char *make(const char *name, uint64_t start)
{
	static struct made made;
	const char *path = lab_scratch(name);

	made.trace_id = start;
	for (int i = 0; i < 40; i++)
		made_record(&made, i % 2, start + 10 * (uint64_t)i, i, 42, 0);
	made_write(&made, path);
	return path;
}

static struct ringside_dat *a, *b;

/* They lie 5 apart, so that their records alternate. */
static void alternate(void)
{
	struct ringside_dat_records *records = lab_read(a);
	const struct ringside_dat_record *record;
	long long n;

	FINE(records, ringside_dat_records_add(records, b, -995, 0));
	for (int i = 0; i < 80; i++) {
		CHECK(ringside_dat_records_next(records, &record) == 1, "%d", i);
		CHECK(ringside_dat_record_file(record) == (i % 2 ? b : a), "%d", i);
		CHECK(ringside_dat_record_time(record) == 1000 + 5 * (uint64_t)i, "%d", i);
		CHECK(ringside_dat_record_raw_time(record) ==
		      (i % 2 ? 2000 : 1000) + 10 * (uint64_t)(i / 2), "%d", i);
		CHECK(!ringside_dat_record_number(record, "n", &n) && n == i / 2, "%d", i);
	}
	CHECK(ringside_dat_records_next(records, &record) == 0, "the end");
	FINE(records, ringside_dat_records_seek(records, 1195));
	CHECK(lab_count(records) == 41, "from the middle");
}

static void raw(void)
{
	struct ringside_dat_records *records = lab_read(NULL);
	const struct ringside_dat_record *record;

	REFUSED(records, ringside_dat_records_next(records, &record), EINVAL);
	REFUSED(records, ringside_dat_records_add(records, NULL, 0, 0), EBADF);
	REFUSED(records, ringside_dat_records_add(records, a, 0, 64), EINVAL);
	FINE(records, ringside_dat_records_add(records, b, 12345, RINGSIDE_DAT_RAW_TIMES));
	CHECK(ringside_dat_records_next(records, &record) == 1 &&
	      ringside_dat_record_time(record) == 2000, "raw");
	ringside_dat_records_close(records);
}

static void filtered(void)
{
	struct ringside_dat_records *records = lab_read(a);

	FINE(records, ringside_dat_records_add(records, b, 0, 0));
	FINE(records, ringside_dat_records_filter(records, "lab/all: n < 3"));
	REFUSED(records, ringside_dat_records_add(records, b, 0, 0), EBUSY);
	CHECK(lab_count(records) == 6, "three of each");
}

/* Both at once, and one after the other. */
static void twice(void)
{
	struct ringside_dat_records *records = lab_read(a);

	FINE(records, ringside_dat_records_add(records, a, 1000, 0));
	CHECK(lab_count(records) == 80, "one file twice");
}

static void lost(void)
{
	static struct made made;
	struct ringside_dat_records *records;
	const struct ringside_dat_record *record;
	struct ringside_dat *file;
	uint64_t count, unknown;

	made_record(&made, 0, 100, 0, 42, 0);
	made_record(&made, 0, 200, 1, 42, 5);
	made_record(&made, 0, 300, 2, 42, 7);
	made_record(&made, 1, 250, 3, 42, 0);
	made_write(&made, lab_scratch("lost.dat"));
	file = lab_open(lab_scratch("lost.dat"));
	records = lab_read(file);
	for (int i = 0; i < 4; i++) {
		static const uint64_t expected[] = { 0, 5, 0, 7 };

		CHECK(ringside_dat_records_next(records, &record) == 1, "%d", i);
		CHECK(ringside_dat_record_lost(record) == expected[i], "%d: %llu", i,
		      (unsigned long long)ringside_dat_record_lost(record));
	}
	ringside_dat_records_lost(records, &count, &unknown);
	CHECK(count == 12 && !unknown, "in all");
	ringside_dat_records_close(records);

	records = lab_read(file);
	FINE(records, ringside_dat_records_filter(records, "all: n >= 2"));
	CHECK(ringside_dat_records_next(records, &record) == 1 && !ringside_dat_record_lost(record),
	      "the other CPU");
	CHECK(ringside_dat_records_next(records, &record) == 1 &&
	      ringside_dat_record_lost(record) == 12, "both losses");
	ringside_dat_records_close(records);
	ringside_dat_close(file);
}

int main(void)
{
	a = lab_open(make("a.dat", 1000));
	b = lab_open(make("b.dat", 2000));
	alternate();
	raw();
	filtered();
	twice();
	lost();
	ringside_dat_close(a);
	ringside_dat_close(b);
	return 0;
}
