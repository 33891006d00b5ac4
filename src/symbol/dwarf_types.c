/*
 * symbol/dwarf_types: see dwarf_types.h.
 *
 * Of structures up to 16 bytes each half goes where all fields in it can go: to a general register if any of them has to. Larger
 * ones are in memory, as are those with fields that are not aligned or of the x87. What C++ has to construct is passed by its address:
 * some compilers tell which ones, and one without functions of its own, nor bases that have some, is none.
 */
#include "symbol/dwarf_types.h"

#include "symbol/dwarf_numbers.h"

#define HOPS_MAX 32
#define DEPTH_MAX 8
#define FIELDS_MAX 64
#define HALF 8u

static bool is_plus_plus(uint32_t language)
{
	return language == DW_LANG_C_plus_plus || language == DW_LANG_C_plus_plus_03 || language == DW_LANG_C_plus_plus_11 ||
	       language == DW_LANG_C_plus_plus_14 || language == DW_LANG_C_plus_plus_17 || language == DW_LANG_C_plus_plus_20;
}

bool type_is_aggregate(const struct dwarf_die *die)
{
	const uint32_t tag = die->tag;

	return tag == DW_TAG_structure_type || tag == DW_TAG_class_type || tag == DW_TAG_union_type;
}

int type_strip(struct dwarf *dwarf, uint64_t ref, struct dwarf_die *die)
{
	for (int i = 0; i < HOPS_MAX; i++) {
		if (!ref)
			return 0;
		if (!dwarf_die_at(dwarf, ref, die) || die->unsure)
			return -1;
		switch (die->tag) {
		case DW_TAG_typedef: case DW_TAG_const_type: case DW_TAG_volatile_type: case DW_TAG_restrict_type:
		case DW_TAG_atomic_type:
			ref = die->type;
			break;
		default:
			return 1;
		}
	}
	return -1;
}

static struct type integer(char kind, uint64_t size)
{
	if (!size || size > 16 || size & (size - 1))
		return (struct type){ .kind = '?' };
	return (struct type){ kind, (uint32_t)size, TYPE_GENERAL, size > HALF ? 2 : 1, 0 };
}

static struct type base_type(const struct dwarf_die *die)
{
	switch (die->encoding) {
	case DW_ATE_boolean: return integer('b', die->size);
	case DW_ATE_signed: case DW_ATE_signed_char: return integer('i', die->size);
	case DW_ATE_unsigned: case DW_ATE_unsigned_char: case DW_ATE_UTF: return integer('u', die->size);
	case DW_ATE_float: case DW_ATE_complex_float: case DW_ATE_imaginary_float: case DW_ATE_decimal_float:
		return (struct type){ 'f', (uint32_t)die->size, TYPE_ELSEWHERE, 0, 1 };
	default: return (struct type){ .kind = '?' };
	}
}

/* ---- structures ---- */

struct halves {
	bool general[2], vector[2];
	bool memory;		/* fields lie where registers have none */
	bool unsure;
	bool simple;		/* that nothing has to be constructed is to be seen by its having no functions */
	uint32_t fields;
};

static void add_fields(struct dwarf *dwarf, uint64_t ref, uint64_t at, struct halves *halves, int depth);

static void add_scalar(struct halves *halves, const struct type *type, uint64_t at, bool bits)
{
	uint32_t align = type->size < HALF ? type->size : HALF;

	halves->fields++;
	if (!type->size || at >= 16 || type->size > 16 - at) {
		halves->unsure = true;
		return;
	}
	if (!bits && align && at % align)
		halves->memory = true;
	/* long double, complex numbers and vectors: their rules are their own. */
	if (type->kind == 'f' && type->size > HALF)
		halves->unsure = true;
	for (uint64_t i = at / HALF; i <= (at + type->size - 1) / HALF; i++)
		*(type->kind == 'f' ? &halves->vector[i] : &halves->general[i]) = true;
}

static void add_members(struct dwarf *dwarf, const struct dwarf_die *die, uint64_t at, struct halves *halves, int depth)
{
	struct dwarf_die child;
	bool more;

	for (more = dwarf_die_child(dwarf, die, &child); more && !halves->unsure; ) {
		struct dwarf_die member = child;

		if (member.tag == DW_TAG_subprogram && halves->simple)
			halves->unsure = true;
		else if (member.tag == DW_TAG_member && (member.has_bits || member.unsure || !member.type))
			/* Their place is told in several ways: a structure with them is left alone. */
			halves->unsure = true;
		else if (member.tag == DW_TAG_inheritance ||
			 (member.tag == DW_TAG_member && !member.declaration && !member.external))
			add_fields(dwarf, member.type, at + member.at, halves, depth + 1);
		more = dwarf_die_next(dwarf, &member, &child);
	}
}

static void add_elements(struct dwarf *dwarf, const struct dwarf_die *die, uint64_t at, struct halves *halves, int depth)
{
	struct dwarf_die range, element;
	uint64_t size = 0, n;

	if (die->vector || !dwarf_die_child(dwarf, die, &range) || range.tag != DW_TAG_subrange_type || !range.count ||
	    type_strip(dwarf, die->type, &element) <= 0) {
		halves->unsure = true;
		return;
	}
	n = range.count;
	size = element.tag == DW_TAG_pointer_type ? HALF : element.size;
	/* Of more than one dimension. */
	if (dwarf_die_next(dwarf, &range, &range) || !size || n > 16 / size) {
		halves->unsure = true;
		return;
	}
	for (uint64_t i = 0; i < n && !halves->unsure; i++)
		add_fields(dwarf, die->type, at + i * size, halves, depth + 1);
}

static void add_fields(struct dwarf *dwarf, uint64_t ref, uint64_t at, struct halves *halves, int depth)
{
	struct dwarf_die die;

	if (depth > DEPTH_MAX || halves->fields > FIELDS_MAX || at > 16 || type_strip(dwarf, ref, &die) <= 0) {
		halves->unsure = true;
	} else if (type_is_aggregate(&die)) {
		if (!die.size)
			halves->unsure = true;
		add_members(dwarf, &die, at, halves, depth);
	} else if (die.tag == DW_TAG_array_type) {
		add_elements(dwarf, &die, at, halves, depth);
	} else {
		struct type type = type_at(dwarf, ref);

		if (type.way == TYPE_UNSURE)
			halves->unsure = true;
		else
			add_scalar(halves, &type, at, false);
	}
}

static struct type aggregate(struct dwarf *dwarf, const struct dwarf_die *die, uint64_t ref)
{
	struct type type = { .kind = 's', .size = (uint32_t)die->size };
	struct halves halves = { 0 };

	if (die->declaration || !die->has_size || die->size >> 31)
		return type;
	if (is_plus_plus(die->unit->language) && die->calling == DW_CC_pass_by_reference) {
		type.way = TYPE_ADDRESS;
		type.nregs = 1;
		return type;
	}
	halves.simple = is_plus_plus(die->unit->language) && die->calling != DW_CC_pass_by_value;
	/* One of 17 to 64 bytes may be nothing but a large vector. */
	if (die->size > 64 && !halves.simple) {
		type.way = TYPE_ELSEWHERE;
		return type;
	}
	if (die->size > 16 || !die->size)
		return type;
	add_fields(dwarf, ref, 0, &halves, 0);
	if (halves.unsure || !halves.fields)
		return type;
	type.way = TYPE_ELSEWHERE;
	if (halves.memory)
		return type;
	type.nregs = (uint8_t)(halves.general[0] + halves.general[1]);
	type.nvectors = (uint8_t)((halves.vector[0] && !halves.general[0]) + (halves.vector[1] && !halves.general[1]));
	if (type.nregs)
		type.way = TYPE_GENERAL;
	return type;
}

/* A member's address is a number, a function's two. */
static struct type member_pointer(struct dwarf *dwarf, const struct dwarf_die *die)
{
	struct dwarf_die to;

	if (type_strip(dwarf, die->type, &to) <= 0)
		return (struct type){ .kind = '?' };
	return to.tag == DW_TAG_subroutine_type ? (struct type){ 's', 16, TYPE_GENERAL, 2, 0 } : integer('i', 8);
}

struct type type_at(struct dwarf *dwarf, uint64_t ref)
{
	struct dwarf_die die, of;
	struct type type;
	int found = type_strip(dwarf, ref, &die);

	if (found <= 0)
		return (struct type){ .kind = found ? '?' : 'v' };
	switch (die.tag) {
	case DW_TAG_base_type: return base_type(&die);
	case DW_TAG_pointer_type: case DW_TAG_reference_type: case DW_TAG_rvalue_reference_type:
		return (struct type){ 'p', 8, TYPE_GENERAL, 1, 0 };
	case DW_TAG_enumeration_type:
		/* Without a sign only if what it is made of says so. */
		type = integer('e', die.size);
		if (die.type && type_strip(dwarf, die.type, &of) > 0 && of.tag == DW_TAG_base_type && type.way != TYPE_UNSURE)
			type.kind = of.encoding == DW_ATE_unsigned && die.size < 4 ? 'u' : 'e';
		return type;
	case DW_TAG_ptr_to_member_type: return member_pointer(dwarf, &die);
	case DW_TAG_structure_type: case DW_TAG_class_type: case DW_TAG_union_type: return aggregate(dwarf, &die, ref);
	case DW_TAG_array_type:
		if (die.vector)
			return (struct type){ 'f', (uint32_t)die.size, TYPE_ELSEWHERE, 0, 1 };
		return (struct type){ .kind = '?' };
	default: return (struct type){ .kind = '?' };
	}
}
