/*
 * Format texts: what each field becomes, reads of fields, and texts that are refused.
 */
#include <errno.h>

#include "event.h"

static void kinds(void)
{
	static const struct {
		const char *name, *type;
		int kind, place;
		uint32_t elem_size, count;
		bool is_array, is_string;
	} want[] = {
		{"s8", "s8", DECODE_INT, DECODE_INLINE, 1, 1, false, false},
		{"u64", "unsigned long", DECODE_INT, DECODE_INLINE, 8, 1, false, false},
		{"f", "float", DECODE_FLOAT, DECODE_INLINE, 4, 1, false, false},
		{"flags", "xfs_flags_t", DECODE_INT, DECODE_INLINE, 4, 1, false, false},
		{"d", "double", DECODE_FLOAT, DECODE_INLINE, 8, 1, false, false},
		{"ptr", "const void *", DECODE_POINTER, DECODE_INLINE, 8, 1, false, false},
		{"name", "char", DECODE_INT, DECODE_INLINE, 1, 16, true, true},
		{"arr", "unsigned int", DECODE_INT, DECODE_INLINE, 4, 4, true, false},
		{"mac", "unsigned char", DECODE_INT, DECODE_INLINE, 1, 6, true, false},
		{"yes", "bool", DECODE_BOOL, DECODE_INLINE, 1, 1, false, false},
		{"text", "__data_loc char[]", DECODE_INT, DECODE_LOC, 1, 0, true, true},
		{"mask", "__rel_loc unsigned long[]", DECODE_INT, DECODE_REL_LOC, 8, 0, true,
		 false},
		{"nums", "__data_loc u16[]", DECODE_INT, DECODE_LOC, 2, 0, true, false},
	};
	struct decode_format *f = sample_format("\"\"");
	const struct decode_field *field;

	check(!strcmp(f->system, "test") && !strcmp(f->name, "sample") && f->id == 32768);
	check(!strcmp(f->print_fmt, "\"\"") && f->prog);
	check(f->nr_fields == 23 && f->fields[3].is_common && !f->fields[4].is_common);
	for (size_t i = 0; i < sizeof(want) / sizeof(want[0]); i++) {
		field = decode_format_find(f, want[i].name);
		check(field && !strcmp(field->type, want[i].type));
		check(field && field->kind == want[i].kind && field->place == want[i].place);
		check(field && field->elem_size == want[i].elem_size &&
		      field->count == want[i].count);
		check(field && field->is_array == want[i].is_array &&
		      field->is_string == want[i].is_string);
	}
	check(!decode_format_find(f, "nobody"));
	decode_format_free(f);
	decode_format_free(NULL);
}

static void reads(void)
{
	struct decode_format *f = sample_format("\"\"");
	struct sample r = sample_record();
	struct decode_bytes b;
	const struct decode_field *field;
	struct record_head head;

#define INT(name) decode_field_int(f, decode_format_find(f, name), &r, sizeof(r))
	check(INT("s8") == (uint64_t)-8 && INT("u8") == 200 && INT("s16") == (uint64_t)-1600);
	check(INT("u16") == 60000 && INT("s32") == (uint64_t)-320000 && INT("u32") == 4000000000u);
	check(INT("s64") == (uint64_t)-64000000000ll && INT("u64") == 0xfedcba9876543210ull);
	check(decode_field_double(f, decode_format_find(f, "f"), &r, sizeof(r)) == 1.5);
	check(decode_field_double(f, decode_format_find(f, "d"), &r, sizeof(r)) == -2.25);

	field = decode_format_find(f, "text");
	b = decode_bytes_text(decode_field_bytes(f, field, &r, sizeof(r)));
	check(b.len == 9 && !memcmp(b.data, "green tea", 9));
	field = decode_format_find(f, "mask");
	b = decode_field_bytes(f, field, &r, sizeof(r));
	check(decode_elem_count(field, b) == 2 && decode_elem_int(f, field, b, 0) == 15 &&
	      decode_elem_int(f, field, b, 1) == 1);
	field = decode_format_find(f, "nums");
	b = decode_field_bytes(f, field, &r, sizeof(r));
	check(decode_elem_count(field, b) == 3 && decode_elem_int(f, field, b, 2) == 65535);

	check(decode_record_head(&f->abi, &r, sizeof(r), &head) && head.pid == 4242 &&
	      head.type == 32768 && head.flags == 5 && head.preempt_count == 0x21);
	check(!decode_record_head(&f->abi, &r, 7, &head));
	decode_format_free(f);
}

/* Locations that point outside, and records that end anywhere: always within the record. */
static void cut_records(void)
{
	struct decode_format *f = sample_format("\"\"");
	struct sample r = sample_record();
	static const uint32_t locations[] = {0xffffffff,
					     0xffff0000,
					     0x0000ffff,
					     0x00010000 | sizeof(r),
					     0xffff0000 | (sizeof(r) - 1),
					     0x80008000};

	for (size_t l = 0; l < sizeof(locations) / sizeof(locations[0]); l++) {
		r.text = r.mask = r.nums = locations[l];
		for (size_t len = 0; len <= sizeof(r); len++) {
			uint8_t *copy = malloc(len ? len : 1);

			memcpy(copy, &r, len);
			for (uint32_t i = 0; i < f->nr_fields; i++) {
				struct decode_bytes b = decode_field_bytes(f, &f->fields[i], copy,
									   len);

				if (b.len && (b.data < copy || b.data + b.len > copy + len))
					check(!"bytes outside the record");
				decode_field_int(f, &f->fields[i], copy, len);
			}
			free(copy);
		}
	}
	decode_format_free(f);
}

static void big_endian(void)
{
	static const struct decode_abi be = {.big_endian = true, .long_size = 4};
	static const char text[] =
		"name: e\nID: 7\nformat:\n" COMMON
		"\tfield:unsigned long l;\toffset:8;\tsize:4;\tsigned:0;\n"
		"\tfield:__data_loc long[] a;\toffset:12;\tsize:4;\tsigned:1;\n\n"
		"print fmt: \"%lu %s %p\", REC->l, "
		"__print_array(__get_dynamic_array(a), 2, 4), REC->l\n";
	static const uint8_t rec[] = {0, 7, 0, 0,  0, 0, 0, 9, 0, 1, 0, 2,
				      0, 8, 0, 16, 0, 0, 0, 3, 0, 0, 1, 0};
	struct decode_format *f;
	struct buf out = BUF_INIT;
	struct record_head head;

	check(!decode_format_parse("s", text, strlen(text), &be, &f, NULL));
	check(f->fields[5].elem_size == 4);
	check(decode_record_head(&be, rec, sizeof(rec), &head) && head.type == 7 && head.pid == 9);
	decode_print(f, rec, sizeof(rec), NULL, &out);
	check_text(__FILE__, __LINE__, "big endian", out.data, "65538 {0x3,0x100} 00010002");
	buf_fini(&out);
	decode_format_free(f);
}

static void refused(const char *text, int code, int pos)
{
	struct decode_format *f = (struct decode_format *)1;
	struct err err = ERR_INIT;
	int r = decode_format_parse("s", text, strlen(text), NULL, &f, &err);

	if (r != code || f || err.code != code || err.pos != pos) {
		printf("|%s|: %d, %s at %d\n", text, r, err.text, err.pos);
		failures++;
	}
}

static void refusals(void)
{
	char *big = malloc(DECODE_FORMAT_MAX + 2);
	struct decode_format *f;

	refused("", -EBADMSG, 0);
	refused("name: a\n", -EBADMSG, 0);
	refused("name: a\nID: x\n", -EBADMSG, 8);
	refused("name: a\nID: 99999999999\n", -EBADMSG, 8);
	refused("name: a\nID: 1\nwhat: 3\n", -EBADMSG, 14);
	refused("name: a\nID: 1\nformat:\n\tfield:int a\n", -EBADMSG, 23);
	refused("name: a\nID: 1\nformat:\n\tfield:int a;\toffset:0;\n", -EBADMSG, 45);
	refused("name: a\nID: 1\nformat:\n\tfield:int a;\toffset:-1;\tsize:4;\n", -EBADMSG, 36);
	refused("name: a\nID: 1\nformat:\n\tfield:int a;\toffset:0;\tsize:4294967295;\n", -EBADMSG,
		62);
	refused("name: a\nID: 1\nformat:\n\tfield:;\toffset:0;\tsize:4;\n", -EBADMSG, 29);
	memset(big, ' ', DECODE_FORMAT_MAX + 1);
	big[DECODE_FORMAT_MAX + 1] = '\0';
	refused(big, -E2BIG, -1);
	check(decode_format_parse("s", "name: a\0b", 9, NULL, &f, NULL) == -EBADMSG);
	free(big);
}

int main(void)
{
	kinds();
	reads();
	cut_records();
	big_endian();
	refusals();
	return failures ? 1 : 0;
}
