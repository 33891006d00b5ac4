/*
 * symbol/dwarf_types: types in debug information, and which registers values of them are passed in. Within this room.
 */
#ifndef SYMBOL_DWARF_TYPES_H
#define SYMBOL_DWARF_TYPES_H

#include "symbol/dwarf.h"

/* How a value is passed, by the System V ABI for x86-64. */
enum type_way {
	TYPE_UNSURE,		/* cannot be told: then nothing can be told of what follows it */
	TYPE_GENERAL,		/* in `nregs` general registers, or on the stack when there are not as many */
	TYPE_ELSEWHERE,		/* in no general register: vector registers, the stack */
	TYPE_ADDRESS,		/* its address is, which the caller gives */
};

struct type {
	char kind;		/* as in layout/prototype.h */
	uint32_t size;
	enum type_way way;
	uint8_t nregs;
	uint8_t nvectors;	/* vector registers: when there are not as many it is all on the stack */
};

/* The type itself, without names and qualifiers. 0: it is void, 1: it was found, -1: it cannot be told. */
int type_strip(struct dwarf *dwarf, uint64_t ref, struct dwarf_die *die);
/* Is it a structure, a union, a class? */
bool type_is_aggregate(const struct dwarf_die *die);
/* `ref` 0: there is no type, which is void. */
struct type type_at(struct dwarf *dwarf, uint64_t ref);

#endif
