/*
 * symbol/dwarf: debug information of an ELF file, as entries (DIEs) of units. Within this room.
 *
 * Versions 2 to 5, of 64-bit files in this machine's byte order. All of it may be damaged on purpose: nothing is read outside its
 * section, references may lead anywhere and are followed a few times only, and the work is bounded as a whole (`steps`).
 */
#ifndef SYMBOL_DWARF_H
#define SYMBOL_DWARF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "symbol/elf.h"

#define DWARF_TABLES 8u	/* of abbreviations that are kept */

struct dwarf_bytes {
	unsigned char *data;	/* NULL: there is none */
	uint64_t len;
};

/* Reads on as long as there are bytes; then `bad`, and zeros. */
struct dwarf_cursor {
	const unsigned char *at, *end;
	bool bad;
};

struct dwarf_unit {
	uint64_t offset, end;	/* in .debug_info */
	uint64_t first;		/* its first entry */
	uint64_t abbrev;	/* in .debug_abbrev */
	uint64_t base;		/* lowest address, which lists count from */
	uint64_t str_offsets, addr, loclists, rnglists;	/* where its part of each section begins */
	uint16_t version;
	uint8_t offset_size, address_size;
	bool known;		/* the root entry was looked at */
	uint32_t language;
};

struct dwarf_attr {
	uint16_t name, form;
	int64_t implicit;
};

struct dwarf_abbrev {
	uint32_t tag;
	uint32_t first, n;	/* attributes */
	bool children;
};

struct dwarf_table {
	uint64_t offset;	/* of the section, and one: 0 is none */
	struct dwarf_abbrev *all;	/* by code */
	uint32_t n;
	struct dwarf_attr *attrs;
	uint32_t nattrs;
};

struct dwarf {
	struct dwarf_bytes info, abbrev, str, str_offsets, addr, loc, loclists, ranges, rnglists;
	struct dwarf_unit *units;
	size_t nunits;
	struct dwarf_table tables[DWARF_TABLES];
	uint32_t next_table;
	uint64_t steps;		/* that are left */
};

enum dwarf_place { DWARF_NOWHERE, DWARF_HERE, DWARF_LISTED, DWARF_LISTED_INDEX };

/* What is of interest in an entry. References are offsets in .debug_info, 0: none. */
struct dwarf_die {
	struct dwarf_unit *unit;
	uint64_t offset;
	uint64_t next;		/* behind its attributes: its first child, or what follows it */
	uint32_t tag;		/* 0: the end of a list of children */
	bool children;
	const char *name;	/* or NULL */
	uint64_t type, origin, specification, sibling;
	uint64_t low_pc;
	bool has_low_pc, artificial, external, declaration, vector, has_size, has_bits, old_bits;
	bool unsure;		/* something was told in a way that is not read here */
	uint32_t encoding, calling;
	uint64_t size;		/* bytes */
	uint64_t at;		/* of a member */
	uint64_t bits, bit_at;	/* how many, and where they begin; `old_bits`: counted from the upper end of the type */
	uint64_t count;		/* of a subrange: how many; 0: not known */
	enum dwarf_place place;	/* its location: an expression, or a list of them */
	struct dwarf_cursor expression;
	uint64_t list;
	uint64_t ranges;
	enum dwarf_place range_place;
};

/* -ENODATA: there is none. -EBADMSG: it makes no sense at all. */
int dwarf_open(struct dwarf *dwarf, const struct elf *elf);
void dwarf_close(struct dwarf *dwarf);

/* The entry at that place of a unit; false: there is none. */
bool dwarf_die_read(struct dwarf *dwarf, struct dwarf_unit *unit, uint64_t offset, struct dwarf_die *die);
/* That a reference leads to, in whichever unit. */
bool dwarf_die_at(struct dwarf *dwarf, uint64_t offset, struct dwarf_die *die);
/* The entry behind it and all that is in it; false: it was the last one. */
bool dwarf_die_next(struct dwarf *dwarf, const struct dwarf_die *die, struct dwarf_die *next);
/* Its first child; false: there is none. */
bool dwarf_die_child(struct dwarf *dwarf, const struct dwarf_die *die, struct dwarf_die *child);
/* Looks at its root entry: false, it makes no sense. */
bool dwarf_unit_known(struct dwarf *dwarf, struct dwarf_unit *unit);

/* The address of that index of the unit's. */
bool dwarf_address(const struct dwarf *dwarf, const struct dwarf_unit *unit, uint64_t index, uint64_t *address);

/* dwarf_lists.c: where the first of its ranges begins. */
bool dwarf_first_range(struct dwarf *dwarf, const struct dwarf_die *die, uint64_t *address);
/* The expression that tells where it is at that address; false: nothing is told of then. */
bool dwarf_location(struct dwarf *dwarf, const struct dwarf_die *die, uint64_t address, struct dwarf_cursor *expression);

/* ---- bytes ---- */

struct dwarf_cursor dwarf_cursor(const struct dwarf_bytes *bytes, uint64_t from, uint64_t to);
uint64_t dwarf_word(struct dwarf_cursor *cursor, uint32_t size);
uint64_t dwarf_uleb(struct dwarf_cursor *cursor);
int64_t dwarf_sleb(struct dwarf_cursor *cursor);
void dwarf_skip(struct dwarf_cursor *cursor, uint64_t n);
/* One step less to go; false: that was the last. */
bool dwarf_step(struct dwarf *dwarf);

#endif
