/*
 * symbol: names of what lies in ELF files.
 *
 * In: a file that may hold anything and may change while it is read (elf.h). Out: its functions, as a kallsyms text or as a
 * table to look things up in.
 */
#ifndef SYMBOL_SYMBOL_H
#define SYMBOL_SYMBOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"

/* What stands for code of which no name is known, not even that of its file: else [FILE], or [FILE+0xADDRESS]. */
#define SYMBOL_UNKNOWN "??"
static inline bool symbol_is_unknown(const char *name)
{
	return *name == '[' || (name[0] == '?' && name[1] == '?' && !name[2]);
}

/* A file, and where its memory image is in a space of addresses. */
struct symbol_file {
	const char *path;
	const void *build_id;	/* NULL: not known */
	size_t build_id_len;
	uint64_t base;
	uint64_t span;		/* so many bytes from there are the file's */
	const char *module;	/* what it is called there */
	bool program;		/* its functions have no module, as the kernel's own have none */
};

/*
 * Adds a line of /proc/kallsyms for each function of the file, by address: "ADDRESS TYPE NAME\t[MODULE]", of a program
 * without the module; of stripped files what their dynamic symbols tell. Readers take an address for one of the function
 * before it, however far that is: so wherever no function is there is a line for what is unknown, with the module. That is
 * the only one when the file cannot be read: -ESTALE when its build-id is another.
 */
int symbol_put_functions(struct buf *out, const struct symbol_file *file, struct err *err);

#define SYMBOL_NAME_MAX 700u

/* A function: where in the file's memory image, and what it is called, without blanks and the like. */
struct symbol_function {
	uint64_t address, size;	/* size 0: not known */
	char name[SYMBOL_NAME_MAX + 1];
};

/* Of a file that cannot be read there is no table; -ESTALE as above. */
struct symbol_table;
int symbol_table_open(struct symbol_table **out, const struct symbol_file *file, struct err *err);
void symbol_table_close(struct symbol_table *table);
/* `offset` in the memory image. False: no function is known there. */
bool symbol_table_at(const struct symbol_table *table, uint64_t offset, struct symbol_function *out);
bool symbol_table_find(const struct symbol_table *table, const char *name, struct symbol_function *out);

/* Data of that name: where in the memory image. The file is read each time. */
bool symbol_find_data(const struct symbol_file *file, const char *name, uint64_t *address, uint64_t *size);

#endif
