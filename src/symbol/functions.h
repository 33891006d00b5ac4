/*
 * symbol/functions: the functions of an ELF file, by address, with their names. Within this room.
 */
#ifndef SYMBOL_FUNCTIONS_H
#define SYMBOL_FUNCTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "symbol/elf.h"
#include "symbol/symbol.h"

struct function {
	uint64_t address, size;
	const char *name;	/* in the table that it is from; maybe "name@VERSION" */
	char type;		/* as in /proc/kallsyms */
	bool chooses;		/* it is none, but chooses one when the program starts (STT_GNU_IFUNC) */
};

struct functions {
	struct elf_symbols symbols;
	struct function *all;	/* by address, of one address global ones first */
	size_t n, cap;
	bool stripped;		/* these are what others may call; its own names are gone */
};

/* -ESTALE when the file's build-id is another. */
int functions_init(struct functions *functions, const struct symbol_file *file, struct err *err);
void functions_fini(struct functions *functions);

#endif
