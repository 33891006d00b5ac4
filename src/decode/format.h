/*
 * decode/format: an event's `format` text, as in tracefs and in trace files, turned into fields.
 *
 * In: the text (it may come from a file or another program and hold anything). Out: an immutable
 * description that any number of threads may use at once, and reads of fields from records that
 * stay within the record whatever it holds. A text that cannot be used is refused as a whole; a
 * print format that cannot be used only costs its beauty: such an event prints as raw fields
 * (decode/print.h) and print_err tells why.
 */
#ifndef DECODE_FORMAT_H
#define DECODE_FORMAT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "decode/abi.h"
#include "decode/type.h"
#include "layout/page.h"

/* Where a field's bytes lie. */
enum decode_place {
	DECODE_INLINE,	/* at offset, size bytes */
	DECODE_TAIL,	/* an array from offset to the end of the record */
	DECODE_LOC,	/* __data_loc: length and offset in the record are in a word at offset */
	DECODE_REL_LOC,	/* __rel_loc: as before, but the offset counts from behind that word */
};

struct decode_field {
	const char *name;
	const char *type;	/* as written, without name and bounds: "__data_loc char[]" */
	uint32_t offset;
	uint32_t size;		/* in the fixed part: 4 for a location, 0 for a tail */
	uint32_t elem_size;	/* of an array, else as size */
	uint32_t count;		/* elements in the fixed part; 0: each record has its own */
	uint8_t kind;		/* enum decode_kind, of an element */
	uint8_t place;		/* enum decode_place */
	bool is_signed;
	bool is_array;
	bool is_string;		/* an array of char */
	bool is_common;		/* one of those that every record begins with */
};

struct decode_prog;
struct decode_special;
struct tep_prog;

struct decode_format {
	const char *system;
	const char *name;
	uint32_t id;
	const struct decode_field *fields;
	uint32_t nr_fields;
	const char *print_fmt;			/* "" when there is none */
	struct decode_abi abi;
	const struct decode_prog *prog;		/* print_fmt compiled, or NULL and print_err */
	const struct tep_prog *tep;		/* the same for DECODE_TEP, or NULL */
	const struct decode_special *special;	/* ftrace's own record with its own printer */
	const struct decode_field *own[3];	/* the fields that one needs, in its order */
	struct err print_err;			/* pos counts from the start of print_fmt */
};

/* Longest text that is looked at. */
#define DECODE_FORMAT_MAX (1u << 20)

/*
 * `system` names the directory the text came from and `abi` the writer's machine (NULL: this one).
 * 0 and a format, or -E2BIG, -EBADMSG (err->pos is the place in the text), -ENOMEM.
 */
int decode_format_parse(const char *system, const char *text, size_t len,
			const struct decode_abi *abi, struct decode_format **out, struct err *err);
void decode_format_free(struct decode_format *format);

/* NULL when there is no such field. */
const struct decode_field *decode_format_find(const struct decode_format *format, const char *name);

/* The common fields of a record; false when it is too short to have them. */
static inline bool decode_record_head(const struct decode_abi *abi, const void *rec, size_t len,
				      struct record_head *out)
{
	const uint8_t *p = rec;

	if (len < sizeof(*out))
		return false;
	out->type = (uint16_t)decode_abi_load(p, 2, abi->big_endian);
	out->flags = p[2];
	out->preempt_count = p[3];
	out->pid = (int32_t)decode_abi_load(p + 4, 4, abi->big_endian);
	return true;
}

/* A piece of a record. data is NULL only when the record does not hold any of it. */
struct decode_bytes {
	const uint8_t *data;
	uint32_t len;
};

/*
 * A scalar's value, extended with its sign; 0 when the record is too short. A float's bits come as
 * they are.
 */
uint64_t decode_field_int(const struct decode_format *format, const struct decode_field *field,
			  const void *rec, size_t len);
double decode_field_double(const struct decode_format *format, const struct decode_field *field,
			   const void *rec, size_t len);

/* The bytes of any field, an array above all, cut to what lies within the record. */
struct decode_bytes decode_field_bytes(const struct decode_format *format,
				       const struct decode_field *field, const void *rec,
				       size_t len);

/* Of a string's bytes, those before its first NUL. */
struct decode_bytes decode_bytes_text(struct decode_bytes bytes);

/* Elements in `bytes` of an array field, and one of them. `i` must be below the count. */
uint32_t decode_elem_count(const struct decode_field *field, struct decode_bytes bytes);
uint64_t decode_elem_int(const struct decode_format *format, const struct decode_field *field,
			 struct decode_bytes bytes, uint32_t i);
double decode_elem_double(const struct decode_format *format, const struct decode_field *field,
			  struct decode_bytes bytes, uint32_t i);

#endif
