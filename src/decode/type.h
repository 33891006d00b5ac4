/*
 * decode/type: what the C type names in format texts and casts mean. Private to the room but for
 * enum decode_kind.
 */
#ifndef DECODE_TYPE_H
#define DECODE_TYPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "decode/abi.h"

enum decode_kind {
	DECODE_OPAQUE,	/* a struct, or a name that is not known here: bytes */
	DECODE_INT,
	DECODE_BOOL,
	DECODE_FLOAT,
	DECODE_POINTER,
};

struct decode_type {
	uint8_t kind;		/* enum decode_kind */
	uint8_t size;		/* 0: not known */
	bool is_signed;
	bool is_char;		/* plain char: an array of it is text */
	/* What a pointer points at; elem_size 0: not known, or void. */
	uint8_t elem_kind;
	uint8_t elem_size;
	bool elem_signed;
};

/*
 * The type that `len` bytes of C spell: "const unsigned long", "u8 *", "struct page *". Never
 * fails: see OPAQUE.
 */
struct decode_type decode_type_parse(const char *text, size_t len, const struct decode_abi *abi);

#endif
