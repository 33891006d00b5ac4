/*
 * Whatever bytes are wrong in a file, reading it ends: it is refused with words, or read as far as
 * it makes sense, and nothing outside of it is looked at (the sanitizers' suite sees that).
 */
#include "reader/lab.h"
#include "reader/made.h"

#define ROUNDS 1500

static unsigned char *bytes;
static size_t size;
static uint32_t seed = 1;

static uint32_t chance(uint32_t below)
{
	seed = seed * 1664525 + 1013904223;
	return (uint32_t)((uint64_t)seed * below >> 32);
}

static void load(const char *path)
{
	FILE *f = fopen(path, "r");

	CHECK(f && !fseek(f, 0, SEEK_END), "%s", path);
	size = (size_t)ftell(f);
	bytes = malloc(size);
	rewind(f);
	CHECK(bytes && fread(bytes, 1, size, f) == size, "%s", path);
	fclose(f);
}

static void save(const char *path)
{
	FILE *f = fopen(path, "w");

	CHECK(f && fwrite(bytes, 1, size, f) == size && !fclose(f), "%s", path);
}

/* All that can be asked of a record. */
static void ask(const struct ringside_dat_record *record)
{
	const struct ringside_dat_event *event = ringside_dat_record_event(record);
	const struct ringside_dat_field *field;
	const char *text;
	const void *part;
	long long number;
	size_t len;

	CHECK(ringside_dat_record_comm(record) && ringside_dat_record_buffer(record)->name, "names");
	for (int style = 0; style < 2; style++)
		CHECK(ringside_dat_record_text(record, style) && ringside_dat_record_line(record, style),
		      "text");
	for (size_t i = 0; event && (field = ringside_dat_field_at(event, i)); i++) {
		const char *name = ringside_dat_field_name(field);

		ringside_dat_record_number(record, name, &number);
		if (!ringside_dat_record_string(record, name, &text))
			CHECK(strlen(text) < 4096, "a long text");
		if (!ringside_dat_record_bytes(record, name, &part, &len))
			CHECK(len <= 4096, "many bytes");
		if (!ringside_dat_record_count(record, name, &len) && len)
			ringside_dat_record_element(record, name, len - 1, &number);
	}
}

/* 1 when it could be opened. */
static int try(const char *path)
{
	struct ringside_dat_records *records;
	const struct ringside_dat_record *record;
	struct ringside_dat *file;
	uint64_t first, last;
	int n = 0, opened = !ringside_dat_open(&file, path);

	CHECK(opened || *ringside_dat_error(file), "no words");
	if (opened) {
		records = lab_read(file);
		ringside_dat_records_span(records, &first, &last);
		while (ringside_dat_records_next(records, &record) == 1 && n++ < 1000)
			ask(record);
		CHECK(n < 1000, "it does not end");
		ringside_dat_records_seek(records, 1030);
		ringside_dat_records_next(records, &record);
		ringside_dat_records_close(records);
		ringside_dat_symbol(file, 0xffffffff81000104, NULL, NULL);
	}
	ringside_dat_close(file);
	return opened;
}

/* A few bytes are changed and put right again. */
static int damage(const char *path)
{
	size_t at[4];
	unsigned char was[4];
	int nr = 1 + (int)chance(4), opened;

	for (int i = 0; i < nr; i++) {
		at[i] = chance((uint32_t)size);
		was[i] = bytes[at[i]];
		bytes[at[i]] = chance(2) ? (unsigned char)chance(256) : was[i] ^ 1u << chance(8);
	}
	save(path);
	opened = try(path);
	while (nr--)
		bytes[at[nr]] = was[nr];
	return opened;
}

int main(void)
{
	static struct made made;
	const char *path = lab_scratch("made.dat");
	int opened = 0;

	for (int i = 0; i < 60; i++)
		made_record(&made, i % 2, 1000 + (uint64_t)i, i, 42, i == 30 ? 5 : 0);
	made_write(&made, path);
	load(path);
	for (int i = 0; i < ROUNDS; i++)
		opened += damage(path);
	CHECK(opened > ROUNDS / 10 && opened < ROUNDS, "%d of %d were opened", opened, ROUNDS);
	free(bytes);
	return 0;
}
