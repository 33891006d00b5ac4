/*
 * symbol/fetch: words of the probe grammar, for what makes them of names: debug information (debug_fetch.c) and BTF (btf_fetch.c).
 */
#ifndef SYMBOL_FETCH_H
#define SYMBOL_FETCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

#define FETCH_MAX 63		/* bytes of a body that a probe takes */
#define FETCH_ARRAY_MAX 64	/* elements */
#define FETCH_TYPES "u8 to u64, s8 to s64, x8 to x64, char, string, ustring, symbol, bWIDTH@SHIFT/SIZE"

/* Letters, digits and _ that a text begins with: how many. */
size_t fetch_word(const char *text);

/* Is it a type of values? Texts are none: they are read where a value leads to. */
bool fetch_is_value(const char *type);

/* The type for some bits of a word of `unit` bytes. */
void fetch_put_bits(struct buf *out, uint32_t bits, uint32_t shift, uint32_t unit);

/* What is read by so many steps from `base` on: +add[1](+add[0](base)). `user`: a bit for each step that reads memory of programs. */
void fetch_put_loads(struct buf *out, const char *base, const int64_t *add, uint32_t n, uint32_t user);

#endif
