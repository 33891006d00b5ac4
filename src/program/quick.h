/*
 * program/quick: telling in a few instructions that a program will answer no.
 *
 * Most filters begin with one comparison of a field with a constant, and most records fail it. What that takes is worked out
 * when the program is linked. Like the rest of a view it may change under whoever reads it: reads stay within the record.
 */
#ifndef PROGRAM_QUICK_H
#define PROGRAM_QUICK_H

#include <string.h>

#include "program/program.h"

enum program_quick_kind {
	PROGRAM_QUICK_NONE,
	PROGRAM_QUICK_FOUR,	/* a number of 4 bytes */
	PROGRAM_QUICK_NUMBER,	/* of `size` */
	PROGRAM_QUICK_BITS,	/* has none of the bits `low` */
	PROGRAM_QUICK_TEXT,	/* its first bytes, where `span` has ones, are not those of `low` */
};

/* A number holds when number - low, as its type has it, is at most `span`: so all comparisons can be put, signed or not. */
struct program_quick {
	uint64_t low;
	uint64_t span;
	uint16_t end;		/* of the field, or of a text's place */
	uint8_t kind;
	uint8_t size;		/* 1, 2, 4, 8 */
	uint32_t reserved[3];
};

/* Works it out; PROGRAM_QUICK_NONE when there is no such short way. For records of this machine's byte order. */
void program_quick_make(const void *program, size_t size, const struct program_field *fields, struct program_quick *quick);

/* Whether what is built at `root` is a number's field and nothing else; that field. */
bool program_quick_field(const void *program, size_t size, uint32_t root, const struct program_field *fields,
			 struct program_field *field);

/* A number's field of a record, signs extended; 0 when the record ends before it. */
uint64_t program_quick_load(const struct program_field *field, const void *record, uint32_t len);

/* True: program_test() would say false. `len` is at least 8. */
bool program_quick_look(const struct program_quick *quick, const void *record, uint32_t len);

/* The same for PROGRAM_QUICK_FOUR. */
static inline __attribute__((always_inline)) bool program_quick_four(const struct program_quick *quick, const void *record,
								     uint32_t len)
{
	uint32_t end = __atomic_load_n(&quick->end, __ATOMIC_RELAXED), word;

	if (__builtin_expect(end > len, 0))
		return false;
	/* Just these bytes: they were stored a moment ago, and the CPU hands on what it is asked for as a whole. */
	memcpy(&word, (const char *)record + end - 4, 4);
	return word - (uint32_t)quick->low > (uint32_t)quick->span;
}

/* And for PROGRAM_QUICK_TEXT. */
static inline __attribute__((always_inline)) bool program_quick_text(const struct program_quick *quick, const void *record,
								     uint32_t len)
{
	const unsigned char *bytes = record;
	uint32_t place = __atomic_load_n(&quick->end, __ATOMIC_RELAXED), loc, at, end;
	uint64_t first;

	if (place > len)
		return false;
	memcpy(&loc, bytes + place - 4, 4);
	at = loc & 0xffff;
	end = at + (loc >> 16);
	/* Without its NUL, or where it should not be: that takes a closer look. */
	if (at < 8 || at >= end || end > len || bytes[end - 1])
		return false;
	if (__builtin_expect(at + 8 <= len, 1)) {
		memcpy(&first, bytes + at, 8);
	} else {
		memcpy(&first, bytes + len - 8, 8);
		first >>= 8 * (8 - (len - at));
	}
	return (first ^ quick->low) & quick->span;
}

#endif
