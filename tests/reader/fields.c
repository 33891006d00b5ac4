/*
 * Fields of every kind by their names, of a machine of either byte order; what the file describes of
 * them; and what a record is besides.
 */
#include <errno.h>

#include "reader/lab.h"
#include "reader/made.h"

static const char *make(bool big)
{
	static struct made made;

	made.big = big;
	made.trace_id = MADE_TRACE_ID;
	made_record(&made, 0, 1000, 7, 42, 0);
	made_record(&made, 1, 1500, 8, 43, 0);
	made_write(&made, lab_scratch("made.dat"));
	return lab_scratch("made.dat");
}

static void numbers(const struct ringside_dat_record *record)
{
	unsigned long long u;
	long long v;
	double d;

	CHECK(!ringside_dat_record_number(record, "small", &v) && v == -7, "%lld", v);
	CHECK(!ringside_dat_record_number(record, "yes", &v) && v == 1, "%lld", v);
	CHECK(!ringside_dat_record_number(record, "half_word", &v) && v == 0xfffe, "%lld", v);
	CHECK(!ringside_dat_record_number(record, "n", &v) && v == 7, "%lld", v);
	CHECK(!ringside_dat_record_unsigned(record, "big", &u) && u == UINT64_MAX - 7, "%llu", u);
	CHECK(!ringside_dat_record_number(record, "big", &v) && v == -8, "%lld", v);
	CHECK(!ringside_dat_record_unsigned(record, "ptr", &u) && u == 0xffffffff81000104, "%llx", u);
	CHECK(!ringside_dat_record_number(record, "common_pid", &v) && v == 42, "%lld", v);
	CHECK(!ringside_dat_record_double(record, "half", &d) && d == 3.5, "%g", d);
	CHECK(!ringside_dat_record_double(record, "quarter", &d) && d == 1.75, "%g", d);
}

static void texts(const struct ringside_dat_record *record)
{
	const char *name, *tag;
	const void *bytes;
	size_t len;

	CHECK(!ringside_dat_record_string(record, "name", &name) && !strcmp(name, "ann"), "name");
	/* No NUL behind it in the record. */
	CHECK(!ringside_dat_record_string(record, "tag", &tag) && !strcmp(tag, "abcd"), "tag");
	CHECK(!strcmp(name, "ann"), "the first text stays");
	CHECK(!ringside_dat_record_bytes(record, "box", &bytes, &len) && len == 8 &&
	      !memcmp(bytes, "boxboxbo", 8), "box");
	CHECK(ringside_dat_record_data(record, &len) && len == 100, "%zu bytes", len);
	CHECK(ringside_dat_record_data(record, NULL), "bytes without their number");
}

static void arrays(const struct ringside_dat_record *record)
{
	size_t count;
	long long v;
	double d;

	CHECK(!ringside_dat_record_count(record, "list", &count) && count == 3, "%zu", count);
	for (size_t i = 0; i < count; i++)
		CHECK(!ringside_dat_record_element(record, "list", i, &v) && v == 7 + (int)i, "%lld", v);
	CHECK(ringside_dat_record_element(record, "list", 3, &v) == -ERANGE, "behind the last");
	CHECK(!ringside_dat_record_count(record, "pair", &count) && count == 2, "%zu", count);
	CHECK(!ringside_dat_record_element(record, "pair", 1, &v) && v == -1, "%lld", v);
	CHECK(!ringside_dat_record_element_double(record, "halves", 1, &d) && d == -1.5, "%g", d);
	CHECK(ringside_dat_record_element(record, "halves", 0, &v) == -EINVAL, "a double");
	CHECK(ringside_dat_record_element_double(record, "pair", 0, &d) == -EINVAL, "an int");
	CHECK(ringside_dat_record_count(record, "n", &count) == -EINVAL, "no array");
}

static void refused(struct ringside_dat_records *records, const struct ringside_dat_record *record)
{
	const char *text;
	long long v;
	double d;

	REFUSED(records, ringside_dat_record_number(record, "none", &v), ENOENT);
	CHECK(strstr(ringside_dat_records_error(records), "lab:all has no field 'none'"), "%s",
	      ringside_dat_records_error(records));
	REFUSED(records, ringside_dat_record_number(record, NULL, &v), ENOENT);
	REFUSED(records, ringside_dat_record_number(record, "half", &v), EINVAL);
	REFUSED(records, ringside_dat_record_number(record, "pair", &v), EINVAL);
	REFUSED(records, ringside_dat_record_number(record, "box", &v), EINVAL);
	REFUSED(records, ringside_dat_record_double(record, "n", &d), EINVAL);
	REFUSED(records, ringside_dat_record_string(record, "n", &text), EINVAL);
}

static void head(const struct ringside_dat_record *record, struct ringside_dat *file)
{
	const char *line;

	CHECK(ringside_dat_record_time(record) == 1000 && ringside_dat_record_raw_time(record) == 1000,
	      "time");
	CHECK(ringside_dat_record_cpu(record) == 0 && ringside_dat_record_pid(record) == 42, "where");
	CHECK(!strcmp(ringside_dat_record_comm(record), "lab"), "%s", ringside_dat_record_comm(record));
	CHECK(ringside_dat_record_id(record) == MADE_ID, "id");
	CHECK(!strcmp(ringside_dat_record_system(record), "lab") &&
	      !strcmp(ringside_dat_record_name(record), "all"), "names");
	CHECK(ringside_dat_record_event(record) == ringside_dat_event_find(file, "lab", "all"), "event");
	CHECK(ringside_dat_record_flags(record) == (RINGSIDE_DAT_IRQS_OFF | RINGSIDE_DAT_IN_SOFTIRQ),
	      "flags");
	CHECK(ringside_dat_record_preempt_count(record) == 3 &&
	      ringside_dat_record_migrate_count(record) == 2, "counts");
	CHECK(!*ringside_dat_record_buffer(record)->name && ringside_dat_record_file(record) == file,
	      "from where");
	CHECK(!strcmp(ringside_dat_record_text(record, RINGSIDE_DAT_KERNEL), "n=7 name=ann"), "%s",
	      ringside_dat_record_text(record, RINGSIDE_DAT_KERNEL));
	line = ringside_dat_record_line(record, RINGSIDE_DAT_KERNEL);
	CHECK(!strcmp(line, "             lab-42      [000] d.s32     0.000001: all: n=7 name=ann"),
	      "'%s'", line);
	CHECK(line == ringside_dat_record_line(record, RINGSIDE_DAT_KERNEL), "made once");
	line = ringside_dat_record_line(record, RINGSIDE_DAT_TRACE_CMD);
	CHECK(strstr(line, "lab-42 ") && strstr(line, "all:                  n=7 name=ann"), "'%s'", line);
}

/* What a field must be. */
struct expected {
	const char *name, *type;
	int kind;
	unsigned int flags;
	size_t size, count;
};

static void described(const struct ringside_dat_event *event)
{
	enum { SIGNED = RINGSIDE_DAT_SIGNED, ARRAY = RINGSIDE_DAT_ARRAY, DYNAMIC = RINGSIDE_DAT_DYNAMIC };
	static const struct expected expected[] = {
		{ "common_pid", "int", RINGSIDE_DAT_INTEGER, SIGNED | RINGSIDE_DAT_COMMON, 4, 1 },
		{ "small", "s8", RINGSIDE_DAT_INTEGER, SIGNED, 1, 1 },
		{ "yes", "bool", RINGSIDE_DAT_BOOL, 0, 1, 1 },
		{ "big", "u64", RINGSIDE_DAT_INTEGER, 0, 8, 1 },
		{ "quarter", "float", RINGSIDE_DAT_FLOAT, 0, 4, 1 },
		{ "tag", "char", RINGSIDE_DAT_STRING, 0, 1, 4 },
		{ "pair", "int", RINGSIDE_DAT_INTEGER, SIGNED | ARRAY, 4, 2 },
		{ "name", "__data_loc char[]", RINGSIDE_DAT_STRING, DYNAMIC, 1, 0 },
		{ "list", "__data_loc u16[]", RINGSIDE_DAT_INTEGER, DYNAMIC | ARRAY, 2, 0 },
		{ "ptr", "void *", RINGSIDE_DAT_POINTER, 0, 8, 1 },
		{ "box", "struct lab_box", RINGSIDE_DAT_BYTES, 0, 8, 1 },
	};

	for (size_t i = 0; i < sizeof(expected) / sizeof(expected[0]); i++) {
		const struct expected *e = &expected[i];
		const struct ringside_dat_field *field = ringside_dat_field_find(event, e->name);

		CHECK(field && !strcmp(ringside_dat_field_name(field), e->name), "%s", e->name);
		CHECK(!strcmp(ringside_dat_field_type(field), e->type), "%s: '%s'", e->name,
		      ringside_dat_field_type(field));
		CHECK(ringside_dat_field_kind(field) == e->kind, "%s: %d", e->name,
		      ringside_dat_field_kind(field));
		CHECK(ringside_dat_field_flags(field) == e->flags, "%s: %#x", e->name,
		      ringside_dat_field_flags(field));
		CHECK(ringside_dat_field_size(field) == e->size, "%s: %zu", e->name,
		      ringside_dat_field_size(field));
		CHECK(ringside_dat_field_count(field) == e->count, "%s: %zu", e->name,
		      ringside_dat_field_count(field));
	}
}

static void events(const struct ringside_dat *file)
{
	const struct ringside_dat_event *event = ringside_dat_event_find(file, "lab", "all");
	size_t len, n = 0;
	const char *text;

	CHECK(event && event == ringside_dat_event_find(file, NULL, "all") &&
	      event == ringside_dat_event_find_id(file, MADE_ID) &&
	      event == ringside_dat_event_at(file, 0), "one event, found in every way");
	CHECK(!ringside_dat_event_at(file, 1) && !ringside_dat_event_find(file, "bar", "all") &&
	      !ringside_dat_event_find(file, "lab", NULL) && !ringside_dat_event_find_id(file, -1) &&
	      !ringside_dat_event_find_id(file, 1 << 20), "and no other");
	CHECK(ringside_dat_event_id(event) == MADE_ID, "id");
	text = ringside_dat_event_format(event, &len);
	CHECK(len == strlen(made_format) && !memcmp(text, made_format, len), "format");
	while (ringside_dat_field_at(event, n))
		n++;
	CHECK(n == 18, "%zu fields", n);
	CHECK(!ringside_dat_field_find(event, "none") && !ringside_dat_field_find(event, NULL), "none");
	described(event);
}

static void both(bool big)
{
	struct ringside_dat *file = lab_open(make(big));
	struct ringside_dat_records *records = lab_read(file);
	const struct ringside_dat_record *record;

	CHECK(ringside_dat_about(file)->big_endian == big, "byte order");
	CHECK(ringside_dat_records_next(records, &record) == 1, "a record");
	head(record, file);
	numbers(record);
	texts(record);
	arrays(record);
	refused(records, record);
	events(file);
	CHECK(ringside_dat_records_next(records, &record) == 1, "another");
	CHECK(ringside_dat_record_cpu(record) == 1 &&
	      !strcmp(ringside_dat_record_comm(record), "<...>"), "a task without a name");
	CHECK(ringside_dat_records_next(records, &record) == 0 && !record, "the end");
	CHECK(ringside_dat_records_next(records, &record) == 0 && !record, "and again");
	ringside_dat_records_close(records);
	ringside_dat_close(file);
}

int main(void)
{
	both(false);
	both(true);
	return 0;
}
