/*
 * runtime/bytes: bytes of call frame tables, taken one after the other and never beyond their end.
 */
#ifndef RUNTIME_BYTES_H
#define RUNTIME_BYTES_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/sevens.h"
#include "runtime/unwind.h"

struct bytes {
	const unsigned char *at, *end;
	bool bad;
};

/* Little-endian, as all CPUs here. */
static inline uint64_t take(struct bytes *bytes, uint32_t size)
{
	uint64_t value = 0;

	if (bytes->bad || (size_t)(bytes->end - bytes->at) < size) {
		bytes->bad = true;
		return 0;
	}
	memcpy(&value, bytes->at, size);
	bytes->at += size;
	return value;
}

static inline struct sevens take_sevens(struct bytes *bytes)
{
	struct sevens sevens = { 0 };

	while (sevens_add(&sevens, take(bytes, 1)) && !bytes->bad)
		;
	return sevens;
}

static inline uint64_t take_unsigned(struct bytes *bytes)
{
	return take_sevens(bytes).value;
}

static inline int64_t take_signed(struct bytes *bytes)
{
	const struct sevens sevens = take_sevens(bytes);

	return sevens_signed(&sevens);
}

static inline void skip(struct bytes *bytes, uint64_t n)
{
	if (bytes->bad || n > (uint64_t)(bytes->end - bytes->at))
		bytes->bad = true;
	else
		bytes->at += n;
}

/* The tables of a module, from there on. */
static inline struct bytes bytes_at(const struct module *module, uintptr_t at)
{
	struct bytes bytes = { (const unsigned char *)at, (const unsigned char *)module->frames_end, false };

	if (at < module->frames_start || at >= module->frames_end) {
		bytes.at = bytes.end;
		bytes.bad = true;
	}
	return bytes;
}

/* expression.c: the value of the expression at `at` of a module's tables; `initial`, if not 0, is on its stack. */
bool runtime_expression(struct unwind *unwind, const struct module *module, int32_t at, uintptr_t initial, uintptr_t *value);

#endif
