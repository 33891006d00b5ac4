/*
 * BTF made by hand, type by type: a file as the kernel would have one, of a kernel that is not.
 *
 *   struct made made = { 0 };
 *   uint32_t u8 = made_int(&made, "unsigned char", 1, 0);
 */
#ifndef TESTS_SYMBOL_BTF_MADE_H
#define TESTS_SYMBOL_BTF_MADE_H

#include <stdint.h>
#include <string.h>

#include "base/buf.h"
#include "insist.h"
#include "symbol/btf.h"

struct made {
	struct buf types, names;
	uint32_t first, names_first;	/* of what it goes on: its types and the bytes of its names */
	uint32_t n;
};

static inline uint32_t made_name(struct made *made, const char *name)
{
	uint32_t at;

	if (!made->names.len && !made->names_first)
		buf_putc(&made->names, '\0');
	if (!*name)
		return 0;
	at = made->names_first + (uint32_t)made->names.len;
	buf_add(&made->names, name, strlen(name) + 1);
	return at;
}

static inline void made_word(struct made *made, uint32_t word)
{
	buf_add(&made->types, &word, sizeof(word));
}

/* The record; `last` is its size or its type. What follows it is the caller's. */
static inline uint32_t made_type(struct made *made, const char *name, enum btf_kind kind, uint32_t n, int flag, uint32_t last)
{
	made_word(made, made_name(made, name));
	made_word(made, (uint32_t)kind << 24 | n | (uint32_t)flag << 31);
	made_word(made, last);
	return (made->first ? made->first : 1) + made->n++;
}

static inline uint32_t made_int(struct made *made, const char *name, uint32_t size, uint32_t encoding)
{
	uint32_t id = made_type(made, name, BTF_INT, 0, 0, size);

	made_word(made, encoding << 24 | size * 8);
	return id;
}

static inline uint32_t made_array(struct made *made, uint32_t of, uint32_t index, uint32_t n)
{
	uint32_t id = made_type(made, "", BTF_ARRAY, 0, 0, 0);

	made_word(made, of);
	made_word(made, index);
	made_word(made, n);
	return id;
}

/* Behind a struct or union, as often as it said. */
static inline void made_member(struct made *made, const char *name, uint32_t type, uint32_t bit, uint32_t bits)
{
	made_word(made, made_name(made, name));
	made_word(made, type);
	made_word(made, bit | bits << 24);
}

/* Behind a prototype, as often as it said. */
static inline void made_parameter(struct made *made, const char *name, uint32_t type)
{
	made_word(made, made_name(made, name));
	made_word(made, type);
}

static inline struct buf made_file(struct made *made)
{
	struct buf file = BUF_INIT;
	const uint32_t words[] = { 0x0001eb9f, 24, 0, (uint32_t)made->types.len, (uint32_t)made->types.len,
				   (uint32_t)made->names.len };

	buf_add(&file, words, sizeof(words));
	buf_add(&file, made->types.data, made->types.len);
	buf_add(&file, made->names.data, made->names.len);
	CHECK(!buf_failed(&file), "memory");
	return file;
}

static inline struct btf *made_open(struct made *made, const struct btf *base)
{
	struct buf file = made_file(made);
	struct err err = ERR_INIT;
	struct btf *btf;

	CHECK(!btf_open_bytes(&btf, file.data, file.len, base, &err), "%s", err.text);
	buf_fini(&file);
	return btf;
}

static inline void made_fini(struct made *made)
{
	buf_fini(&made->types);
	buf_fini(&made->names);
}

#endif
