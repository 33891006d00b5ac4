/*
 * Every kind of field: the text of `format` line by line, and every byte of the record, whether the
 * site puts it together or the library does.
 */
#define MOCK_MAIN
#include "event/mock.h"

#include "event/every_field.h"

#define FIXED 136u

static uint32_t at;	/* where the next dynamic part is expected */

static void check_part(const struct mock_record *r, uint32_t offset, const void *bytes, uint32_t size)
{
	CHECK(mock_u32(r, offset) == (size << 16 | at), "offset %u: %#x", offset, mock_u32(r, offset));
	CHECK(at + size <= r->len && !memcmp(r->data + at, bytes, size), "part at %u", at);
	for (at += size; at % 4; at++)
		CHECK(!r->data[at], "byte %u is not 0", at);
}

static void check_number(const struct mock_record *r, uint32_t offset, uint32_t size, const void *value)
{
	CHECK(!memcmp(r->data + offset, value, size), "offset %u", offset);
}

#define NUMBER(type, offset, value) check_number(r, offset, sizeof(type), &(type){ value })

static void check_record(const struct mock_record *r)
{
	static const unsigned char cpus[16] = { 0x21, 0, 0, 0, 0, 0, 0, 0, 0x20 };
	static const unsigned char holes[] = { 41, 60, 61, 62, 63 };
	char comm[16] = "sh";

	NUMBER(uint8_t, 8, 1);
	NUMBER(char, 9, 'z');
	NUMBER(int8_t, 10, -5);
	NUMBER(uint8_t, 11, 250);
	NUMBER(int16_t, 12, -1234);
	NUMBER(uint16_t, 14, 54321);
	NUMBER(int32_t, 16, -70000);
	NUMBER(uint32_t, 20, 4000000000u);
	NUMBER(int64_t, 24, -5000000000ll);
	NUMBER(uint64_t, 32, 18000000000000000000ull);
	NUMBER(int8_t, 40, -8);
	NUMBER(uint16_t, 42, 65000);
	NUMBER(int32_t, 44, -3);
	NUMBER(uint64_t, 48, 0x123456789abcdef0ull);
	NUMBER(float, 56, 1.5f);
	NUMBER(double, 64, -2.25);
	NUMBER(uint32_t, 72, 2);
	NUMBER(int32_t, 76, -3);
	NUMBER(uint32_t, 80, 100);
	NUMBER(uint32_t, 84, 0x80000001u);
	check_number(r, 88, 6, every_mac);
	check_number(r, 94, 6, every_shorts);
	check_number(r, 100, 16, comm);
	for (size_t i = 0; i < sizeof(holes); i++)
		CHECK(!r->data[holes[i]], "hole at %u", holes[i]);
	at = FIXED;
	check_part(r, 116, "some text", 10);
	check_part(r, 120, "piece", 6);
	check_part(r, 124, every_lines, 12);
	check_part(r, 128, every_bytes, 5);
	check_part(r, 132, cpus, 16);
	CHECK(r->len == at, "%u bytes, where %u were expected", r->len, at);
}

int main(void)
{
	struct mock_event *event = mock_find("every", "field");

	mock_compare("format", event->body, MOCK_COMMON EVERY_FIELD_TEXT);
	EVERY_TRACE();
	CHECK(!mock_nrecords && !trace_every_field_enabled(), "traced while nobody wants it");
	event->hint = 1;
	CHECK(trace_every_field_enabled(), "nobody wants it");
	EVERY_TRACE();
	CHECK(mock_records[0].id == event->id, "%#x", mock_records[0].id);
	check_record(mock_take());
	/* With a rider wanted, the library puts the record together. */
	event->hint = 3;
	EVERY_TRACE();
	check_record(mock_take());
	event->hint = 2;
	EVERY_TRACE();
	CHECK(!mock_nrecords, "traced for a rider that is not there");
	return mock_failures != 0;
}
