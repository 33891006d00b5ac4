/*
 * symbol/member: see member.h.
 *
 * Members of what has no name are members of what it is in; a structure that is only declared here may be defined in another unit. Types
 * may lead to each other in circles: how deep is looked, and at how much, is bounded.
 */
#include "symbol/member.h"

#include <string.h>

#include "symbol/dwarf_numbers.h"
#include "symbol/dwarf_types.h"

#define DEPTH_MAX 8
#define LOOKS_MAX (1u << 20)

struct place {
	uint64_t type;
	uint64_t offset;	/* in what was pointed to last */
	struct dwarf_die die;	/* the member */
};

struct walk {
	struct dwarf *dwarf;
	const char *name;	/* that is looked for */
	size_t len;
	uint32_t looks;
};

static bool is_called(const struct walk *walk, const char *name)
{
	return name && strlen(name) == walk->len && !memcmp(name, walk->name, walk->len);
}

/* ---- structures ---- */

/* In whichever unit it is told what it is made of. */
static bool find_definition(struct walk *walk, const struct dwarf_die *declared, struct dwarf_die *die)
{
	for (size_t i = 0; declared->name && i < walk->dwarf->nunits; i++) {
		struct dwarf_die root, next;
		bool more = dwarf_die_read(walk->dwarf, &walk->dwarf->units[i], walk->dwarf->units[i].first, &root) &&
			    dwarf_die_child(walk->dwarf, &root, die);

		for (; more && ++walk->looks < LOOKS_MAX; *die = next) {
			if (die->tag == declared->tag && !die->declaration && die->name && !strcmp(die->name, declared->name))
				return true;
			more = dwarf_die_next(walk->dwarf, die, &next);
		}
	}
	return false;
}

static bool take_aggregate(struct walk *walk, uint64_t type, struct dwarf_die *die)
{
	struct dwarf_die declared;

	if (type_strip(walk->dwarf, type, die) <= 0 || !type_is_aggregate(die))
		return false;
	declared = *die;
	return !declared.declaration || find_definition(walk, &declared, die);
}

static bool find_member(struct walk *walk, const struct dwarf_die *of, uint64_t offset, int depth, struct place *place)
{
	struct dwarf_die member, inner, next;
	bool more;

	for (more = dwarf_die_child(walk->dwarf, of, &member); more && ++walk->looks < LOOKS_MAX; member = next) {
		bool is_member = member.tag == DW_TAG_member && !member.external && !member.unsure;

		if (is_member && is_called(walk, member.name)) {
			*place = (struct place){ member.type, offset + member.at, member };
			return true;
		}
		if (((is_member && !member.name) || (member.tag == DW_TAG_inheritance && !member.unsure)) && depth < DEPTH_MAX &&
		    take_aggregate(walk, member.type, &inner) && find_member(walk, &inner, offset + member.at, depth + 1, place))
			return true;
		more = dwarf_die_next(walk->dwarf, &member, &next);
	}
	return false;
}

/* ---- what it is ---- */

/* Several of them, each a byte. */
static bool is_bytes(struct dwarf *dwarf, uint64_t type)
{
	struct dwarf_die die, element;

	return type_strip(dwarf, type, &die) > 0 && die.tag == DW_TAG_array_type && !die.vector &&
	       type_strip(dwarf, die.type, &element) > 0 && element.tag == DW_TAG_base_type && element.size == 1;
}

/* Bits are of a number of the member's type that lies where it would lie. False: they are not within one. */
static bool put_bits(struct buf *out, struct place *place, uint64_t size)
{
	const struct dwarf_die *die = &place->die;
	const uint64_t unit = size * 8;
	uint64_t shift;

	if (!unit || unit > 64 || !die->bits || die->bits > unit || die->bit_at > UINT32_MAX)
		return false;
	if (die->old_bits) {
		if (die->bit_at + die->bits > unit)
			return false;
		shift = unit - die->bit_at - die->bits;
	} else {
		place->offset += die->bit_at / unit * size;
		shift = die->bit_at % unit;
	}
	buf_printf(out, ":%u@%u", (unsigned int)die->bits, (unsigned int)shift);
	return shift + die->bits <= unit;
}

static bool put_kind(struct dwarf *dwarf, struct buf *out, struct place *place)
{
	struct type type = type_at(dwarf, place->type);

	buf_putc(out, is_bytes(dwarf, place->type) ? 'a' : type.kind);
	if (strchr("iuefs", type.kind))
		buf_printf(out, "%u", type.size);
	return !place->die.has_bits || put_bits(out, place, type.size);
}

/* ---- the path ---- */

static void refuse(struct buf *out, char why, size_t at)
{
	buf_reset(out);
	buf_printf(out, "%c%u", why, (unsigned int)at);
}

/* One step, to the member at `at`. 0: it is found. */
static char step(struct walk *walk, struct place *place, bool arrow)
{
	struct dwarf_die die;

	if (arrow) {
		if (type_strip(walk->dwarf, place->type, &die) <= 0 ||
		    (die.tag != DW_TAG_pointer_type && die.tag != DW_TAG_reference_type))
			return '!';
		place->type = die.type;
		place->offset = 0;
	}
	if (!take_aggregate(walk, place->type, &die))
		return '!';
	return find_member(walk, &die, place->offset, 0, place) ? 0 : '?';
}

void dwarf_member(struct dwarf *dwarf, uint64_t type, const char *path, size_t at, struct buf *out)
{
	struct walk walk = { .dwarf = dwarf };
	struct place place = { .type = type };
	struct buf offsets = BUF_INIT;
	bool first = true;
	char why = 0;

	while (!why && path[at]) {
		bool arrow = path[at] == '-';

		if (arrow && !first)
			buf_printf(&offsets, "+%llu", (unsigned long long)place.offset);
		first = false;
		at += arrow && path[at + 1] ? 2 : 1;
		walk.name = path + at;
		walk.len = strcspn(path + at, "-.");
		why = step(&walk, &place, arrow);
		if (!why)
			at += walk.len;
	}
	if (!why && !put_kind(dwarf, out, &place))
		why = '*';
	if (why)
		refuse(out, why, why == '*' ? (size_t)(walk.name - path) : at);
	else
		buf_printf(out, "%s+%llu", offsets.len ? offsets.data : "", (unsigned long long)place.offset);
	buf_fini(&offsets);
}
