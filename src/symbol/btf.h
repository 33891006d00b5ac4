/*
 * symbol/btf: what the kernel tells of its own types and functions (/sys/kernel/btf/vmlinux, and one file more for each module).
 *
 * In: bytes that may hold anything. Out: types by number or name, as they are or as a declaration of C has them, where members
 * lie, and functions with their parameters. A module's numbers go on where those of the base end. Numbers that a type holds are
 * looked at when somebody follows them: chains end after BTF_DEPTH steps, and whatever could branch has a bound of its own.
 *
 *   [7] FUNC_PROTO of [3] (skb [12])    [12] PTR to [13]    [13] STRUCT 'sk_buff', 'dev' of [20] at bit 128
 *
 * Names are the file's and may hold any byte but NUL. Nothing changes behind btf_open(): threads may share one.
 */
#ifndef SYMBOL_BTF_H
#define SYMBOL_BTF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"

#define BTF_KERNEL "/sys/kernel/btf"
#define BTF_DEPTH 32u

enum btf_kind {
	BTF_VOID, BTF_INT, BTF_PTR, BTF_ARRAY, BTF_STRUCT, BTF_UNION, BTF_ENUM, BTF_FWD, BTF_TYPEDEF, BTF_VOLATILE, BTF_CONST,
	BTF_RESTRICT, BTF_FUNC, BTF_FUNC_PROTO, BTF_VAR, BTF_DATASEC, BTF_FLOAT, BTF_DECL_TAG, BTF_TYPE_TAG, BTF_ENUM64,
	BTF_KINDS,
};

struct btf;

struct btf_type {
	enum btf_kind kind;
	const char *name;	/* "": it has none */
	bool flag;		/* means what it means for the kind */
	uint32_t n;		/* members, parameters, values; elements of an array */
	uint32_t size;		/* bytes, of those that have a size of their own; else 0 */
	uint32_t type;		/* what it is of, points to, returns; else 0 */
	const uint8_t *more;	/* what follows it in the file */
};

/* A type with so many more pointers to it: what somebody wrote need not be in the file. */
struct btf_ref {
	uint32_t id;
	uint32_t stars;
};

/* A whole file, or bytes, which are copied. `base` (NULL: none) has to stay as long as it. -EBADMSG: it is no BTF, or a damaged one. */
int btf_open(struct btf **out, const char *path, const struct btf *base, struct err *err);
int btf_open_bytes(struct btf **out, const void *bytes, size_t size, const struct btf *base, struct err *err);
void btf_close(struct btf *btf);

/* Numbers below this one are types, with those of the base. */
uint32_t btf_count(const struct btf *btf);
/* False: there is no type of that number. */
bool btf_get(const struct btf *btf, uint32_t id, struct btf_type *type);

/* ---- functions ---- */

/* Its number, 0: there is none of that name. Of several the first. */
uint32_t btf_function(const struct btf *btf, const char *name);
/* Functions in the order of their names, without those of the base: the i-th, 0 behind the last. */
uint32_t btf_function_at(const struct btf *btf, size_t i);
/* What FUNC `id` is given and returns: a FUNC_PROTO. False: that is not told. */
bool btf_prototype(const struct btf *btf, uint32_t id, struct btf_type *prototype);
/* The i-th parameter; one of type 0 at the end is "...". */
bool btf_parameter(const struct btf *btf, const struct btf_type *prototype, uint32_t i, const char **name, uint32_t *type);

/* ---- types (btf_type.c) ---- */

/* Of that name and one of these kinds (1 << BTF_STRUCT | ...): its number, or 0. */
uint32_t btf_find(const struct btf *btf, const char *name, uint32_t kinds);
/* Without what does not change where it lies: const, typedef, tags. False: void, or damaged. `tag` (may be NULL): the last one met. */
bool btf_peel(const struct btf *btf, uint32_t id, struct btf_type *type, const char **tag);
/* In bytes. False: nobody knows. */
bool btf_size(const struct btf *btf, uint32_t id, uint64_t *size);
bool btf_is_char(const struct btf *btf, uint32_t id);
/* "s32", "u8", "x64", "symbol", "char", of anything that is one word; false: it is not. */
bool btf_word(const struct btf *btf, uint32_t id, char word[8]);

struct btf_member {
	const char *name;	/* "": a struct or union whose members count as its own */
	uint32_t type;
	uint32_t bit;		/* where it begins */
	uint32_t bits;		/* of a bit field; 0: it is none */
};

bool btf_member_at(const struct btf *btf, const struct btf_type *type, uint32_t i, struct btf_member *member);
/* Also of members without names: `bit` is from the beginning of the outermost. */
bool btf_member_find(const struct btf *btf, const struct btf_type *type, const char *name, size_t len, struct btf_member *member);
/* All names of members, those of members without names in their place; `see` says whether to go on. */
void btf_members(const struct btf *btf, const struct btf_type *type, bool (*see)(void *ctx, const struct btf_member *member), void *ctx);

/* ---- text (btf_put.c) ---- */

/* As in a declaration of that name: "struct sk_buff *skb"; without one "struct sk_buff*". Of what is too long the end is "...". */
void btf_put(const struct btf *btf, struct btf_ref ref, const char *name, struct buf *out);
/* "int ip_rcv_core(struct sk_buff *skb, struct net *net)" of FUNC `id`. */
void btf_put_function(const struct btf *btf, uint32_t id, struct buf *out);

#endif
