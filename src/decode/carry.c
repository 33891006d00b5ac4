/*
 * decode/carry: the functions that a CPU is in, guessed from who calls whom; see handler.h. Names
 * are kept, not addresses: two functions of one name count as one. A stack never shrinks: what once
 * was deeper is found again, as trace-cmd finds it.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "decode/handler.h"

/* Longer names are cut; nobody sees them, they are only compared. */
#define NAME_MAX 127
/* Deeper than any indentation helps. */
#define DEPTH_MAX 1024

struct carry_name {
	uint8_t len;
	char text[NAME_MAX];
};

struct decode_carry *decode_carry_new(void)
{
	return calloc(1, sizeof(struct decode_carry));
}

void decode_carry_free(struct decode_carry *carry)
{
	if (!carry)
		return;
	free(carry->names);
	free(carry);
}

static bool reserve(struct decode_carry *carry, uint32_t nr)
{
	uint32_t cap = carry->cap ? carry->cap : 16;
	struct carry_name *more;

	while (cap < nr)
		cap *= 2;
	if (cap == carry->cap)
		return true;
	more = realloc(carry->names, cap * sizeof(*more));
	if (!more)
		return false;
	carry->names = more;
	carry->cap = cap;
	return true;
}

int decode_carry_copy(struct decode_carry *to, const struct decode_carry *from)
{
	if (!reserve(to, from->nr))
		return -ENOMEM;
	if (from->nr)
		memcpy(to->names, from->names, from->nr * sizeof(*from->names));
	to->nr = from->nr;
	return 0;
}

static size_t length(const char *name)
{
	return strnlen(name, NAME_MAX);
}

static bool is_name(const struct carry_name *entry, const char *name, size_t len)
{
	return entry->len == len && !memcmp(entry->text, name, len);
}

/*
 * Puts a name at a depth; without memory or name, or deeper than is kept, the stack stays as it
 * was.
 */
static void put(struct decode_carry *carry, uint32_t depth, const char *name)
{
	struct carry_name *entry;

	if (!name || depth >= DEPTH_MAX || !reserve(carry, depth + 1))
		return;
	entry = &carry->names[depth];
	entry->len = (uint8_t)length(name);
	memcpy(entry->text, name, entry->len);
	if (carry->nr <= depth)
		carry->nr = depth + 1;
}

uint32_t carry_call(struct decode_carry *carry, const char *parent, const char *child)
{
	size_t len = length(parent);

	for (uint32_t i = 0; i < carry->nr; i++) {
		if (!is_name(&carry->names[i], parent, len))
			continue;
		put(carry, i + 1, child);
		return i;
	}
	put(carry, 0, parent);
	put(carry, 1, child);
	return 0;
}
