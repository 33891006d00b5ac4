/*
 * symbol/dwarf_lists: lists of ranges and of locations in debug information; see dwarf.h. The ones of version 5 begin each line
 * with its kind, the older ones are pairs of words.
 */
#include "symbol/dwarf.h"
#include "symbol/dwarf_numbers.h"

/* A list while it is read. */
struct list {
	struct dwarf *dwarf;
	const struct dwarf_unit *unit;
	struct dwarf_cursor at;
	uint64_t base;
	bool locations;
};

struct range {
	uint64_t start, end;
	struct dwarf_cursor expression;	/* of locations */
};

/* Where in the section that list is. */
static bool place_of(const struct dwarf_unit *unit, enum dwarf_place place, const struct dwarf_bytes *section, uint64_t base,
		     uint64_t list, uint64_t *offset)
{
	struct dwarf_cursor cursor;

	*offset = list;
	if (place == DWARF_LISTED)
		return true;
	if (place != DWARF_LISTED_INDEX || list > section->len)
		return false;
	cursor = dwarf_cursor(section, base + list * unit->offset_size, UINT64_MAX);
	*offset = base + dwarf_word(&cursor, unit->offset_size);
	return !cursor.bad;
}

static void take_expression(struct list *list, struct range *range, uint64_t len)
{
	range->expression = list->at;
	dwarf_skip(&list->at, len);
	range->expression.end = list->at.at;
}

/* The next line; false: it was the last. */
static bool next_old(struct list *list, struct range *range)
{
	for (;;) {
		uint64_t start = dwarf_word(&list->at, 8), end = dwarf_word(&list->at, 8);

		if (list->at.bad || (!start && !end) || !dwarf_step(list->dwarf))
			return false;
		if (start == UINT64_MAX) {
			list->base = end;
			continue;
		}
		*range = (struct range){ .start = list->base + start, .end = list->base + end };
		if (list->locations)
			take_expression(list, range, dwarf_word(&list->at, 2));
		return !list->at.bad;
	}
}

static bool indexed(struct list *list, uint64_t *address)
{
	if (!dwarf_address(list->dwarf, list->unit, dwarf_uleb(&list->at), address))
		list->at.bad = true;
	return !list->at.bad;
}

/* The kinds of both lists are the same up to offset_pair; behind it locations have one more. */
static bool take_range(struct list *list, uint32_t kind, struct range *range)
{
	if (list->locations && kind > DW_LLE_default_location)
		kind--;
	else if (list->locations && kind == DW_LLE_default_location)
		kind = UINT32_MAX;
	switch (kind) {
	case DW_RLE_base_addressx:
		indexed(list, &list->base);
		return false;
	case DW_RLE_base_address:
		list->base = dwarf_word(&list->at, 8);
		return false;
	case DW_RLE_startx_endx:
		indexed(list, &range->start);
		indexed(list, &range->end);
		return true;
	case DW_RLE_startx_length:
		indexed(list, &range->start);
		range->end = range->start + dwarf_uleb(&list->at);
		return true;
	case DW_RLE_offset_pair:
		range->start = list->base + dwarf_uleb(&list->at);
		range->end = list->base + dwarf_uleb(&list->at);
		return true;
	case DW_RLE_start_end:
		range->start = dwarf_word(&list->at, 8);
		range->end = dwarf_word(&list->at, 8);
		return true;
	case DW_RLE_start_length:
		range->start = dwarf_word(&list->at, 8);
		range->end = range->start + dwarf_uleb(&list->at);
		return true;
	case UINT32_MAX:
		*range = (struct range){ .start = 0, .end = UINT64_MAX };
		return true;
	default:
		list->at.bad = true;
		return false;
	}
}

static bool next_new(struct list *list, struct range *range)
{
	while (dwarf_step(list->dwarf)) {
		uint32_t kind = (uint32_t)dwarf_word(&list->at, 1);
		bool ranged;

		if (list->at.bad || !kind)
			return false;
		if (list->locations && kind == DW_LLE_view_pair) {
			dwarf_uleb(&list->at);
			dwarf_uleb(&list->at);
			continue;
		}
		*range = (struct range){ 0 };
		ranged = take_range(list, kind, range);
		if (list->at.bad)
			return false;
		if (ranged && list->locations)
			take_expression(list, range, dwarf_uleb(&list->at));
		if (ranged)
			return !list->at.bad;
	}
	return false;
}

static bool next(struct list *list, struct range *range)
{
	return list->unit->version >= 5 ? next_new(list, range) : next_old(list, range);
}

bool dwarf_first_range(struct dwarf *dwarf, const struct dwarf_die *die, uint64_t *address)
{
	const struct dwarf_unit *unit = die->unit;
	const struct dwarf_bytes *section = unit->version >= 5 ? &dwarf->rnglists : &dwarf->ranges;
	struct list list = { .dwarf = dwarf, .unit = unit, .base = unit->base };
	struct range range;
	uint64_t offset;

	if (!place_of(unit, die->range_place, section, unit->rnglists, die->ranges, &offset))
		return false;
	list.at = dwarf_cursor(section, offset, UINT64_MAX);
	while (next(&list, &range)) {
		if (range.start >= range.end)
			continue;
		*address = range.start;
		return true;
	}
	return false;
}

bool dwarf_location(struct dwarf *dwarf, const struct dwarf_die *die, uint64_t address, struct dwarf_cursor *expression)
{
	const struct dwarf_unit *unit = die->unit;
	const struct dwarf_bytes *section = unit->version >= 5 ? &dwarf->loclists : &dwarf->loc;
	struct list list = { .dwarf = dwarf, .unit = unit, .base = unit->base, .locations = true };
	struct range range;
	uint64_t offset;

	if (die->place == DWARF_HERE) {
		*expression = die->expression;
		return true;
	}
	if (!place_of(unit, die->place, section, unit->loclists, die->list, &offset))
		return false;
	list.at = dwarf_cursor(section, offset, UINT64_MAX);
	while (next(&list, &range)) {
		if (address < range.start || address >= range.end)
			continue;
		*expression = range.expression;
		return true;
	}
	return false;
}
