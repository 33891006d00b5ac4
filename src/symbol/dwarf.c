/*
 * symbol/dwarf: see dwarf.h. Numbers of tags, attributes and forms are those of the standard's tables.
 */
#include "symbol/dwarf.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/sevens.h"
#include "symbol/dwarf_numbers.h"
#include "symbol/inflate.h"

#define STEPS_MAX (400ull << 20)
#define UNITS_MAX (1u << 20)
#define CODES_MAX (1u << 16)
#define ATTRS_MAX (1u << 20)
#define HOPS_MAX 4	/* DW_FORM_indirect */

/* ---- bytes ---- */

struct dwarf_cursor dwarf_cursor(const struct dwarf_bytes *bytes, uint64_t from, uint64_t to)
{
	to = to < bytes->len ? to : bytes->len;
	if (!bytes->data || from > to)
		return (struct dwarf_cursor){ .bad = true };
	return (struct dwarf_cursor){ bytes->data + from, bytes->data + to, false };
}

static uint64_t left(const struct dwarf_cursor *cursor)
{
	return cursor->bad ? 0 : (uint64_t)(cursor->end - cursor->at);
}

void dwarf_skip(struct dwarf_cursor *cursor, uint64_t n)
{
	if (n > left(cursor))
		cursor->bad = true;
	else
		cursor->at += n;
}

uint64_t dwarf_word(struct dwarf_cursor *cursor, uint32_t size)
{
	uint64_t value = 0;

	if (size > sizeof(value) || size > left(cursor)) {
		cursor->bad = true;
		return 0;
	}
	for (uint32_t i = 0; i < size; i++)
		value |= (uint64_t)cursor->at[i] << i * 8;
	cursor->at += size;
	return value;
}

static struct sevens take_sevens(struct dwarf_cursor *cursor)
{
	struct sevens sevens = { 0 };

	while (sevens_add(&sevens, dwarf_word(cursor, 1)) && !cursor->bad)
		;
	return sevens;
}

uint64_t dwarf_uleb(struct dwarf_cursor *cursor)
{
	return take_sevens(cursor).value;
}

int64_t dwarf_sleb(struct dwarf_cursor *cursor)
{
	const struct sevens sevens = take_sevens(cursor);

	return sevens_signed(&sevens);
}

bool dwarf_step(struct dwarf *dwarf)
{
	if (!dwarf->steps)
		return false;
	dwarf->steps--;
	return true;
}

/* A text of a section; NULL: it lies outside, or has no end. */
static const char *text_at(const struct dwarf_bytes *bytes, uint64_t offset)
{
	if (!bytes->data || offset >= bytes->len)
		return NULL;
	/* The section has a NUL behind it. */
	return (const char *)bytes->data + offset;
}

static uint64_t word_at(const struct dwarf_bytes *bytes, uint64_t offset, uint32_t size, bool *ok)
{
	struct dwarf_cursor cursor = dwarf_cursor(bytes, offset, UINT64_MAX);
	uint64_t value = dwarf_word(&cursor, size);

	*ok = !cursor.bad;
	return value;
}

/* ---- abbreviations ---- */

static void table_drop(struct dwarf_table *table)
{
	free(table->all);
	free(table->attrs);
	*table = (struct dwarf_table){ 0 };
}

static bool add_attr(struct dwarf_table *table, const struct dwarf_attr *attr)
{
	/* Room doubles. */
	if (!(table->nattrs & (table->nattrs - 1))) {
		size_t room = table->nattrs ? table->nattrs * 2u : 1;
		struct dwarf_attr *more = realloc(table->attrs, room * sizeof(*more));

		if (!more)
			return false;
		table->attrs = more;
	}
	table->attrs[table->nattrs++] = *attr;
	return true;
}

static bool add_abbrev(struct dwarf_table *table, uint64_t code, const struct dwarf_abbrev *abbrev)
{
	if (!code || code >= CODES_MAX)
		return false;
	if (code >= table->n) {
		uint32_t n = (uint32_t)code * 2 < 64 ? 64 : (uint32_t)code * 2;
		struct dwarf_abbrev *more = realloc(table->all, n * sizeof(*more));

		if (!more)
			return false;
		memset(more + table->n, 0, (n - table->n) * sizeof(*more));
		table->all = more;
		table->n = n;
	}
	table->all[code] = *abbrev;
	return true;
}

static bool read_attrs(struct dwarf *dwarf, struct dwarf_table *table, struct dwarf_cursor *cursor, struct dwarf_abbrev *abbrev)
{
	abbrev->first = table->nattrs;
	for (;;) {
		uint64_t name = dwarf_uleb(cursor), form = dwarf_uleb(cursor);
		struct dwarf_attr attr = { (uint16_t)name, (uint16_t)form, 0 };

		if (form == DW_FORM_implicit_const)
			attr.implicit = dwarf_sleb(cursor);
		if (cursor->bad || !dwarf_step(dwarf) || table->nattrs >= ATTRS_MAX)
			return false;
		if (!name && !form)
			return true;
		if (form > UINT16_MAX || name > UINT16_MAX || !add_attr(table, &attr))
			return false;
		abbrev->n++;
	}
}

static bool read_table(struct dwarf *dwarf, struct dwarf_table *table, uint64_t offset)
{
	struct dwarf_cursor cursor = dwarf_cursor(&dwarf->abbrev, offset, UINT64_MAX);
	uint64_t code;

	while ((code = dwarf_uleb(&cursor)) && !cursor.bad) {
		struct dwarf_abbrev abbrev = { .tag = (uint32_t)dwarf_uleb(&cursor) };

		abbrev.children = dwarf_word(&cursor, 1);
		if (!read_attrs(dwarf, table, &cursor, &abbrev) || !add_abbrev(table, code, &abbrev))
			return false;
	}
	return !cursor.bad;
}

static const struct dwarf_table *table_of(struct dwarf *dwarf, uint64_t offset)
{
	struct dwarf_table *table;

	for (uint32_t i = 0; i < DWARF_TABLES; i++)
		if (dwarf->tables[i].offset == offset + 1)
			return &dwarf->tables[i];
	table = &dwarf->tables[dwarf->next_table++ % DWARF_TABLES];
	table_drop(table);
	if (offset >= dwarf->abbrev.len || !read_table(dwarf, table, offset)) {
		table_drop(table);
		return NULL;
	}
	table->offset = offset + 1;
	return table;
}

/* ---- attributes ---- */

/* A value as its form has it. */
struct value {
	uint64_t number;
	enum { OTHER, NUMBER, ADDRESS, ADDRESS_INDEX, TEXT, TEXT_INDEX, REFERENCE, BLOCK, OFFSET, INDEX } kind;
	struct dwarf_cursor block;
	const char *text;
};

static void take_block(struct value *value, struct dwarf_cursor *cursor, uint64_t len)
{
	value->kind = BLOCK;
	value->block = *cursor;
	dwarf_skip(cursor, len);
	value->block.end = cursor->at;
	value->block.bad = cursor->bad;
}

static void take_number(struct value *value, struct dwarf_cursor *cursor, int kind, uint32_t size)
{
	value->number = size ? dwarf_word(cursor, size) : dwarf_uleb(cursor);
	value->kind = kind;
}

static void take_string(const struct dwarf *dwarf, struct value *value, struct dwarf_cursor *cursor, uint32_t size)
{
	const unsigned char *end;

	value->kind = TEXT;
	if (size) {
		value->text = text_at(&dwarf->str, dwarf_word(cursor, size));
		return;
	}
	end = left(cursor) ? memchr(cursor->at, '\0', left(cursor)) : NULL;
	value->text = end ? (const char *)cursor->at : NULL;
	cursor->bad = cursor->bad || !end;
	if (end)
		cursor->at = end + 1;
}

/* References within the unit become those of the section. */
static void take_reference(struct value *value, struct dwarf_cursor *cursor, const struct dwarf_unit *unit, uint32_t size)
{
	uint64_t at = size ? dwarf_word(cursor, size) : dwarf_uleb(cursor);

	value->kind = REFERENCE;
	value->number = at < unit->end - unit->offset ? unit->offset + at : 0;
}

static void take(const struct dwarf *dwarf, const struct dwarf_unit *unit, struct dwarf_cursor *cursor, uint64_t form,
		 const struct dwarf_attr *attr, struct value *value)
{
	const uint32_t offset = unit->offset_size;

	*value = (struct value){ .kind = OTHER };
	for (int i = 0; form == DW_FORM_indirect && i < HOPS_MAX; i++)
		form = dwarf_uleb(cursor);
	switch (form) {
	case DW_FORM_addr: take_number(value, cursor, ADDRESS, unit->address_size); break;
	case DW_FORM_addrx: case DW_FORM_GNU_addr_index: take_number(value, cursor, ADDRESS_INDEX, 0); break;
	case DW_FORM_addrx1: case DW_FORM_addrx2: case DW_FORM_addrx3: case DW_FORM_addrx4:
		take_number(value, cursor, ADDRESS_INDEX, (uint32_t)(form - DW_FORM_addrx1 + 1));
		break;
	case DW_FORM_data1: take_number(value, cursor, NUMBER, 1); break;
	case DW_FORM_data2: take_number(value, cursor, NUMBER, 2); break;
	/* Before version 4 these may be offsets of other sections. */
	case DW_FORM_data4: take_number(value, cursor, unit->version < 4 ? OFFSET : NUMBER, 4); break;
	case DW_FORM_data8: take_number(value, cursor, unit->version < 4 ? OFFSET : NUMBER, 8); break;
	case DW_FORM_udata: take_number(value, cursor, NUMBER, 0); break;
	case DW_FORM_sdata:
		value->kind = NUMBER;
		value->number = (uint64_t)dwarf_sleb(cursor);
		break;
	case DW_FORM_implicit_const:
		value->kind = NUMBER;
		value->number = (uint64_t)attr->implicit;
		break;
	case DW_FORM_flag: take_number(value, cursor, NUMBER, 1); break;
	case DW_FORM_flag_present:
		value->kind = NUMBER;
		value->number = 1;
		break;
	case DW_FORM_string: take_string(dwarf, value, cursor, 0); break;
	case DW_FORM_strp: take_string(dwarf, value, cursor, offset); break;
	case DW_FORM_strx: case DW_FORM_GNU_str_index: take_number(value, cursor, TEXT_INDEX, 0); break;
	case DW_FORM_strx1: case DW_FORM_strx2: case DW_FORM_strx3: case DW_FORM_strx4:
		take_number(value, cursor, TEXT_INDEX, (uint32_t)(form - DW_FORM_strx1 + 1));
		break;
	case DW_FORM_ref1: take_reference(value, cursor, unit, 1); break;
	case DW_FORM_ref2: take_reference(value, cursor, unit, 2); break;
	case DW_FORM_ref4: take_reference(value, cursor, unit, 4); break;
	case DW_FORM_ref8: take_reference(value, cursor, unit, 8); break;
	case DW_FORM_ref_udata: take_reference(value, cursor, unit, 0); break;
	case DW_FORM_ref_addr: take_number(value, cursor, REFERENCE, unit->version < 3 ? unit->address_size : offset); break;
	case DW_FORM_sec_offset: take_number(value, cursor, OFFSET, offset); break;
	case DW_FORM_loclistx: case DW_FORM_rnglistx: take_number(value, cursor, INDEX, 0); break;
	case DW_FORM_exprloc: case DW_FORM_block: take_block(value, cursor, dwarf_uleb(cursor)); break;
	case DW_FORM_block1: take_block(value, cursor, dwarf_word(cursor, 1)); break;
	case DW_FORM_block2: take_block(value, cursor, dwarf_word(cursor, 2)); break;
	case DW_FORM_block4: take_block(value, cursor, dwarf_word(cursor, 4)); break;
	/* Of other files, or not needed: they are only stepped over. */
	case DW_FORM_line_strp: case DW_FORM_strp_sup: case DW_FORM_GNU_ref_alt: case DW_FORM_GNU_strp_alt:
		dwarf_skip(cursor, offset);
		break;
	case DW_FORM_ref_sup4: dwarf_skip(cursor, 4); break;
	case DW_FORM_ref_sig8: case DW_FORM_ref_sup8: dwarf_skip(cursor, 8); break;
	case DW_FORM_data16: dwarf_skip(cursor, 16); break;
	default: cursor->bad = true;
	}
}

bool dwarf_address(const struct dwarf *dwarf, const struct dwarf_unit *unit, uint64_t index, uint64_t *address)
{
	bool ok = index < UINT32_MAX;

	if (ok)
		*address = word_at(&dwarf->addr, unit->addr + index * unit->address_size, unit->address_size, &ok);
	return ok;
}

static const char *indexed_text(const struct dwarf *dwarf, const struct dwarf_unit *unit, uint64_t index)
{
	bool ok = index < UINT32_MAX;
	uint64_t at = 0;

	if (ok)
		at = word_at(&dwarf->str_offsets, unit->str_offsets + index * unit->offset_size, unit->offset_size, &ok);
	return ok ? text_at(&dwarf->str, at) : NULL;
}

static void take_place(const struct value *value, enum dwarf_place *place, uint64_t *list, struct dwarf_cursor *expression)
{
	if (value->kind == BLOCK && expression) {
		*place = DWARF_HERE;
		*expression = value->block;
	} else if (value->kind == OFFSET || value->kind == INDEX) {
		*place = value->kind == INDEX ? DWARF_LISTED_INDEX : DWARF_LISTED;
		*list = value->number;
	}
}

/* Numbers may come as what could be an offset in old versions. */
static bool is_number(const struct value *value)
{
	return value->kind == NUMBER || value->kind == OFFSET;
}

static void note_reference(struct dwarf_die *die, const struct value *value, uint64_t *to)
{
	if (value->kind == REFERENCE)
		*to = value->number;
	if (value->kind != REFERENCE || !value->number)
		die->unsure = true;
}

static void note_low_pc(const struct dwarf *dwarf, struct dwarf_die *die, const struct value *value)
{
	if (value->kind == ADDRESS) {
		die->low_pc = value->number;
		die->has_low_pc = true;
	} else if (value->kind == ADDRESS_INDEX) {
		die->has_low_pc = dwarf_address(dwarf, die->unit, value->number, &die->low_pc);
	}
}

static void note_number(struct dwarf_die *die, uint32_t attr, uint64_t number)
{
	switch (attr) {
	case DW_AT_artificial: die->artificial = number; break;
	case DW_AT_external: die->external = number; break;
	case DW_AT_declaration: die->declaration = number; break;
	case DW_AT_GNU_vector: die->vector = number; break;
	case DW_AT_encoding: die->encoding = (uint32_t)number; break;
	case DW_AT_calling_convention: die->calling = (uint32_t)number; break;
	case DW_AT_byte_size:
		die->size = number;
		die->has_size = true;
		break;
	case DW_AT_bit_size:
		die->bits = number;
		die->has_bits = true;
		break;
	case DW_AT_bit_offset: case DW_AT_data_bit_offset:
		die->bit_at = number;
		die->old_bits = attr == DW_AT_bit_offset;
		die->has_bits = true;
		break;
	case DW_AT_data_member_location: die->at = number; break;
	case DW_AT_upper_bound: die->count = number < UINT32_MAX ? number + 1 : 0; break;
	case DW_AT_count: die->count = number; break;
	}
}

static void note(const struct dwarf *dwarf, struct dwarf_die *die, uint32_t attr, const struct value *value)
{
	switch (attr) {
	case DW_AT_name:
		if (value->kind == TEXT)
			die->name = value->text;
		else if (value->kind == TEXT_INDEX)
			die->name = indexed_text(dwarf, die->unit, value->number);
		break;
	case DW_AT_type: note_reference(die, value, &die->type); break;
	case DW_AT_abstract_origin: note_reference(die, value, &die->origin); break;
	case DW_AT_specification: note_reference(die, value, &die->specification); break;
	case DW_AT_signature: die->unsure = true; break;
	case DW_AT_sibling:
		if (value->kind == REFERENCE)
			die->sibling = value->number;
		break;
	case DW_AT_low_pc: note_low_pc(dwarf, die, value); break;
	case DW_AT_location: take_place(value, &die->place, &die->list, &die->expression); break;
	case DW_AT_ranges: take_place(value, &die->range_place, &die->ranges, NULL); break;
	default:
		if (is_number(value))
			note_number(die, attr, value->number);
		else if (attr == DW_AT_data_member_location || attr == DW_AT_byte_size)
			die->unsure = true;
	}
}

/* Of the root entry: where the unit's parts of other sections are. */
static void note_base(struct dwarf_unit *unit, uint32_t attr, const struct value *value)
{
	switch (attr) {
	case DW_AT_str_offsets_base: unit->str_offsets = value->number; break;
	case DW_AT_addr_base: case DW_AT_GNU_addr_base: unit->addr = value->number; break;
	case DW_AT_loclists_base: unit->loclists = value->number; break;
	case DW_AT_rnglists_base: unit->rnglists = value->number; break;
	case DW_AT_language: unit->language = (uint32_t)value->number; break;
	}
}

/* `base`: of the root entry only what others are found by. */
static bool read_die(struct dwarf *dwarf, struct dwarf_unit *unit, uint64_t offset, struct dwarf_die *die, bool base)
{
	const struct dwarf_table *table = table_of(dwarf, unit->abbrev);
	struct dwarf_cursor cursor = dwarf_cursor(&dwarf->info, offset, unit->end);
	const struct dwarf_abbrev *abbrev;
	uint64_t code;

	*die = (struct dwarf_die){ .unit = unit, .offset = offset };
	if (!table || offset < unit->first || !left(&cursor) || !dwarf_step(dwarf))
		return false;
	code = dwarf_uleb(&cursor);
	if (cursor.bad || code >= table->n || (code && !table->all[code].tag))
		return false;
	abbrev = &table->all[code];
	for (uint32_t i = 0; code && i < abbrev->n && !cursor.bad; i++) {
		const struct dwarf_attr *attr = &table->attrs[abbrev->first + i];
		struct value value;

		if (!dwarf_step(dwarf))
			return false;
		take(dwarf, unit, &cursor, attr->form, attr, &value);
		if (cursor.bad)
			return false;
		if (base)
			note_base(unit, attr->name, &value);
		else
			note(dwarf, die, attr->name, &value);
	}
	if (cursor.bad)
		return false;
	die->tag = code ? abbrev->tag : 0;
	die->children = code && abbrev->children;
	die->next = (uint64_t)(cursor.at - dwarf->info.data);
	return true;
}

bool dwarf_unit_known(struct dwarf *dwarf, struct dwarf_unit *unit)
{
	struct dwarf_die die;

	if (unit->known)
		return unit->language;
	unit->known = true;
	if (!read_die(dwarf, unit, unit->first, &die, true) || !read_die(dwarf, unit, unit->first, &die, false)) {
		unit->language = 0;
		return false;
	}
	unit->base = die.low_pc;
	return unit->language;
}

bool dwarf_die_read(struct dwarf *dwarf, struct dwarf_unit *unit, uint64_t offset, struct dwarf_die *die)
{
	dwarf_unit_known(dwarf, unit);
	return read_die(dwarf, unit, offset, die, false);
}

bool dwarf_die_at(struct dwarf *dwarf, uint64_t offset, struct dwarf_die *die)
{
	size_t low = 0, high = dwarf->nunits;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (dwarf->units[middle].offset <= offset)
			low = middle + 1;
		else
			high = middle;
	}
	if (!offset || !low || offset >= dwarf->units[low - 1].end)
		return false;
	return dwarf_die_read(dwarf, &dwarf->units[low - 1], offset, die) && die->tag;
}

bool dwarf_die_next(struct dwarf *dwarf, const struct dwarf_die *die, struct dwarf_die *next)
{
	uint64_t at = die->next;
	uint32_t depth = die->children;

	if (depth && die->sibling > at && die->sibling < die->unit->end) {
		at = die->sibling;
		depth = 0;
	}
	while (depth) {
		if (!dwarf_die_read(dwarf, die->unit, at, next))
			return false;
		at = next->next;
		depth = next->tag ? depth + next->children : depth - 1;
	}
	return dwarf_die_read(dwarf, die->unit, at, next) && next->tag;
}

bool dwarf_die_child(struct dwarf *dwarf, const struct dwarf_die *die, struct dwarf_die *child)
{
	return die->children && dwarf_die_read(dwarf, die->unit, die->next, child) && child->tag;
}

/* ---- units ---- */

static bool read_head(struct dwarf_cursor *cursor, struct dwarf_unit *unit, uint64_t *len)
{
	uint32_t type = DW_UT_compile;

	*len = dwarf_word(cursor, 4);
	unit->offset_size = 4;
	if (*len == UINT32_MAX) {
		*len = dwarf_word(cursor, 8);
		unit->offset_size = 8;
	}
	if (cursor->bad || *len > left(cursor))
		return false;
	unit->end = (uint64_t)*len;
	unit->version = (uint16_t)dwarf_word(cursor, 2);
	if (unit->version >= 5) {
		type = (uint32_t)dwarf_word(cursor, 1);
		unit->address_size = (uint8_t)dwarf_word(cursor, 1);
		unit->abbrev = dwarf_word(cursor, unit->offset_size);
	} else {
		unit->abbrev = dwarf_word(cursor, unit->offset_size);
		unit->address_size = (uint8_t)dwarf_word(cursor, 1);
	}
	if (type == DW_UT_skeleton || type == DW_UT_split_compile)
		dwarf_skip(cursor, 8);
	else if (type != DW_UT_compile && type != DW_UT_partial)
		unit->version = 0;
	return !cursor->bad;
}

/* Lists of units without a base of their own lie behind their section's first head. */
static void default_bases(struct dwarf_unit *unit)
{
	const uint64_t head = unit->offset_size == 8 ? 16 : 8;

	if (unit->version < 5)
		return;
	unit->str_offsets = unit->addr = head;
	unit->loclists = unit->rnglists = head + 4;
}

static int read_units(struct dwarf *dwarf)
{
	uint64_t at = 0, len;

	while (at < dwarf->info.len && dwarf->nunits < UINT32_MAX) {
		struct dwarf_cursor cursor = dwarf_cursor(&dwarf->info, at, UINT64_MAX);
		struct dwarf_unit unit = { .offset = at };

		if (!read_head(&cursor, &unit, &len) || !dwarf_step(dwarf))
			break;
		unit.first = (uint64_t)(cursor.at - dwarf->info.data);
		at += len + (unit.offset_size == 8 ? 12 : 4);
		unit.end = at;
		/* Units of types, and of versions to come, are stepped over. */
		if (unit.version < 2 || unit.version > 5 || unit.address_size != 8)
			continue;
		default_bases(&unit);
		if (dwarf->nunits == UNITS_MAX)
			return -EBADMSG;
		if (!(dwarf->nunits & (dwarf->nunits - 1))) {
			size_t room = dwarf->nunits ? dwarf->nunits * 2 : 1;
			struct dwarf_unit *more = realloc(dwarf->units, room * sizeof(*more));

			if (!more)
				return -ENOMEM;
			dwarf->units = more;
		}
		dwarf->units[dwarf->nunits++] = unit;
	}
	return dwarf->nunits ? 0 : -ENODATA;
}

/* ---- sections ---- */

static void take_section(const struct elf *elf, const char *name, struct dwarf_bytes *bytes)
{
	struct elf_section section;
	char *data;

	if (elf_section_find(elf, name, &section))
		return;
	data = elf_section_take(elf, &section, &bytes->len);
	if (data && section.flags & SHF_COMPRESSED)
		data = inflate_section(data, &bytes->len);
	bytes->data = (unsigned char *)data;
	if (!data)
		bytes->len = 0;
}

int dwarf_open(struct dwarf *dwarf, const struct elf *elf)
{
	int r;

	*dwarf = (struct dwarf){ .steps = STEPS_MAX };
	if (!elf->is64 || !elf->native)
		return -ENODATA;
	take_section(elf, ".debug_info", &dwarf->info);
	take_section(elf, ".debug_abbrev", &dwarf->abbrev);
	if (!dwarf->info.data || !dwarf->abbrev.data) {
		dwarf_close(dwarf);
		return -ENODATA;
	}
	take_section(elf, ".debug_str", &dwarf->str);
	take_section(elf, ".debug_str_offsets", &dwarf->str_offsets);
	take_section(elf, ".debug_addr", &dwarf->addr);
	take_section(elf, ".debug_loc", &dwarf->loc);
	take_section(elf, ".debug_loclists", &dwarf->loclists);
	take_section(elf, ".debug_ranges", &dwarf->ranges);
	take_section(elf, ".debug_rnglists", &dwarf->rnglists);
	r = read_units(dwarf);
	if (r)
		dwarf_close(dwarf);
	return r;
}

void dwarf_close(struct dwarf *dwarf)
{
	struct dwarf_bytes *const sections[] = {
		&dwarf->info, &dwarf->abbrev, &dwarf->str, &dwarf->str_offsets, &dwarf->addr, &dwarf->loc, &dwarf->loclists,
		&dwarf->ranges, &dwarf->rnglists,
	};

	for (size_t i = 0; i < sizeof(sections) / sizeof(sections[0]); i++)
		free(sections[i]->data);
	for (uint32_t i = 0; i < DWARF_TABLES; i++)
		table_drop(&dwarf->tables[i]);
	free(dwarf->units);
	*dwarf = (struct dwarf){ 0 };
}
