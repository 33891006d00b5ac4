/*
 * decode/field: reads fields of records; see format.h. Pure functions on bytes, for any thread.
 *
 * A record may be shorter than its format says, and the locations in it may point anywhere: every
 * read is cut to the record's bytes first.
 */
#include "decode/format.h"

#include <string.h>

#include "base/real.h"

/* [offset, offset + want) cut to the record. */
static struct decode_bytes cut(const void *rec, size_t len, uint64_t offset, uint64_t want)
{
	if (offset > len)
		return (struct decode_bytes){ NULL, 0 };
	if (want > len - offset)
		want = len - offset;
	return (struct decode_bytes){ (const uint8_t *)rec + offset, (uint32_t)want };
}

struct decode_bytes decode_field_bytes(const struct decode_format *format,
				       const struct decode_field *field, const void *rec,
				       size_t len)
{
	uint32_t word, offset;

	switch (field->place) {
	case DECODE_INLINE:
		return cut(rec, len, field->offset, field->size);
	case DECODE_TAIL:
		return cut(rec, len, field->offset, UINT32_MAX);
	}
	if ((uint64_t)field->offset + 4 > len)
		return (struct decode_bytes){ NULL, 0 };
	word = (uint32_t)decode_abi_load((const uint8_t *)rec + field->offset, 4,
					 format->abi.big_endian);
	offset = word & 0xffff;
	if (field->place == DECODE_REL_LOC)
		offset += field->offset + 4;
	return cut(rec, len, offset, word >> 16);
}

struct decode_bytes decode_bytes_text(struct decode_bytes bytes)
{
	const void *nul = bytes.len ? memchr(bytes.data, '\0', bytes.len) : NULL;

	if (nul)
		bytes.len = (uint32_t)((const uint8_t *)nul - bytes.data);
	return bytes;
}

uint64_t decode_field_int(const struct decode_format *format, const struct decode_field *field,
			  const void *rec, size_t len)
{
	uint64_t v;

	if ((uint64_t)field->offset + field->size > len)
		return 0;
	v = decode_abi_load((const uint8_t *)rec + field->offset, field->size,
			    format->abi.big_endian);
	if (field->kind == DECODE_FLOAT)
		return v;
	return decode_abi_extend(v, field->size, field->is_signed);
}

double decode_field_double(const struct decode_format *format, const struct decode_field *field,
			   const void *rec, size_t len)
{
	return real_by_bits(decode_field_int(format, field, rec, len), field->size);
}

uint32_t decode_elem_count(const struct decode_field *field, struct decode_bytes bytes)
{
	return field->elem_size ? bytes.len / field->elem_size : 0;
}

uint64_t decode_elem_int(const struct decode_format *format, const struct decode_field *field,
			 struct decode_bytes bytes, uint32_t i)
{
	uint64_t v = decode_abi_load(bytes.data + (size_t)i * field->elem_size, field->elem_size,
				     format->abi.big_endian);

	if (field->kind == DECODE_FLOAT)
		return v;
	return decode_abi_extend(v, field->elem_size, field->is_signed);
}

double decode_elem_double(const struct decode_format *format, const struct decode_field *field,
			  struct decode_bytes bytes, uint32_t i)
{
	return real_by_bits(decode_elem_int(format, field, bytes, i), field->elem_size);
}
