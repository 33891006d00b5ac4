/*
 * symbol/btf_type: types of BTF, as a probe fetches them, and where their members lie. See btf.h.
 */
#include <stdio.h>
#include <string.h>

#include "symbol/btf.h"

#define POINTER 8u		/* bytes: the kernel is one of 64 bits */
#define ANONYMOUS_DEPTH 8u	/* members without names, one in the other */
#define LOOKS_MAX 65536u	/* members that are looked at for one question */

enum { IS_SIGNED = 1, IS_CHAR = 2, IS_BOOL = 4 };

static uint32_t encoding(const struct btf_type *type)
{
	uint32_t word;

	memcpy(&word, type->more, sizeof(word));
	return word >> 24 & 15;
}

static bool is_thin(enum btf_kind kind)
{
	return kind == BTF_TYPEDEF || kind == BTF_VOLATILE || kind == BTF_CONST || kind == BTF_RESTRICT || kind == BTF_TYPE_TAG;
}

uint32_t btf_find(const struct btf *btf, const char *name, uint32_t kinds)
{
	const uint32_t n = btf_count(btf);
	struct btf_type type;

	for (uint32_t id = 1; id < n; id++)
		if (btf_get(btf, id, &type) && kinds >> type.kind & 1 && !strcmp(type.name, name))
			return id;
	return 0;
}

bool btf_peel(const struct btf *btf, uint32_t id, struct btf_type *type, const char **tag)
{
	for (uint32_t i = 0; i < BTF_DEPTH; i++) {
		if (!btf_get(btf, id, type))
			return false;
		if (!is_thin(type->kind))
			return true;
		if (tag && type->kind == BTF_TYPE_TAG)
			*tag = type->name;
		id = type->type;
	}
	return false;
}

bool btf_size(const struct btf *btf, uint32_t id, uint64_t *size)
{
	struct btf_type type;
	uint64_t times = 1;

	for (uint32_t i = 0; i < BTF_DEPTH; i++) {
		if (!btf_peel(btf, id, &type, NULL))
			return false;
		if (type.kind == BTF_ARRAY) {
			/* No object is so large. */
			if (__builtin_mul_overflow(times, type.n, &times) || times >> 40)
				return false;
			id = type.type;
			continue;
		}
		*size = times * (type.kind == BTF_PTR ? POINTER : type.size);
		return type.size || type.kind == BTF_PTR || type.kind == BTF_STRUCT || type.kind == BTF_UNION;
	}
	return false;
}

bool btf_is_char(const struct btf *btf, uint32_t id)
{
	struct btf_type type;

	return btf_peel(btf, id, &type, NULL) && type.kind == BTF_INT && type.size == 1 &&
	       (encoding(&type) & IS_CHAR || !strcmp(type.name, "char"));
}

static char style_of(const struct btf_type *type)
{
	if (type->kind == BTF_ENUM || type->kind == BTF_ENUM64)
		return type->flag ? 's' : 'u';
	if (type->kind == BTF_INT)
		return encoding(type) & IS_SIGNED ? 's' : 'u';
	return 'x';
}

bool btf_word(const struct btf *btf, uint32_t id, char word[8])
{
	struct btf_type type, target;

	if (!btf_peel(btf, id, &type, NULL))
		return false;
	if (type.kind == BTF_PTR) {
		bool code = btf_peel(btf, type.type, &target, NULL) && target.kind == BTF_FUNC_PROTO;

		strcpy(word, code ? "symbol" : "x64");
		return true;
	}
	if (type.kind != BTF_INT && type.kind != BTF_ENUM && type.kind != BTF_ENUM64 && type.kind != BTF_FLOAT)
		return false;
	if (type.size != 1 && type.size != 2 && type.size != 4 && type.size != 8)
		return false;
	if (btf_is_char(btf, id))
		strcpy(word, "char");
	else
		snprintf(word, 8, "%c%u", style_of(&type), type.size * 8);
	return true;
}

/* ---- members ---- */

struct walk {
	const struct btf *btf;
	bool (*see)(void *ctx, const struct btf_member *member);
	void *ctx;
	uint32_t left;
};

/* False: `see` has seen enough. */
static bool walk_members(struct walk *walk, const struct btf_type *type, uint32_t from, uint32_t depth)
{
	struct btf_member member;
	struct btf_type inner;

	for (uint32_t i = 0; btf_member_at(walk->btf, type, i, &member); i++) {
		if (!walk->left--) {
			walk->left = 0;
			return false;
		}
		if (__builtin_add_overflow(member.bit, from, &member.bit))
			continue;
		if (*member.name) {
			if (!walk->see(walk->ctx, &member))
				return false;
			continue;
		}
		/* A bit field without a name is a gap. */
		if (depth < ANONYMOUS_DEPTH && btf_peel(walk->btf, member.type, &inner, NULL) &&
		    !walk_members(walk, &inner, member.bit, depth + 1))
			return false;
	}
	return true;
}

void btf_members(const struct btf *btf, const struct btf_type *type, bool (*see)(void *ctx, const struct btf_member *member),
		 void *ctx)
{
	struct walk walk = { .btf = btf, .see = see, .ctx = ctx, .left = LOOKS_MAX };

	walk_members(&walk, type, 0, 0);
}

struct wanted {
	const char *name;
	size_t len;
	struct btf_member *member;
	bool found;
};

static bool is_wanted(void *ctx, const struct btf_member *member)
{
	struct wanted *wanted = ctx;

	if (strncmp(member->name, wanted->name, wanted->len) || member->name[wanted->len])
		return true;
	*wanted->member = *member;
	wanted->found = true;
	return false;
}

bool btf_member_find(const struct btf *btf, const struct btf_type *type, const char *name, size_t len, struct btf_member *member)
{
	struct wanted wanted = { .name = name, .len = len, .member = member };

	btf_members(btf, type, is_wanted, &wanted);
	return wanted.found;
}
