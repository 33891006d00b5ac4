/*
 * symbol: names of what lies in ELF files.
 *
 * In: a file that may hold anything and may change while it is read (elf.h). Out: its functions, as a kallsyms text.
 */
#ifndef SYMBOL_SYMBOL_H
#define SYMBOL_SYMBOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"

/* What stands for code of which no name is known. */
#define SYMBOL_UNKNOWN "??"

/* A file, and where its memory image is in a space of addresses. */
struct symbol_file {
	const char *path;
	const void *build_id;	/* NULL: not known */
	size_t build_id_len;
	uint64_t base;
	uint64_t span;		/* so many bytes from there are the file's */
	const char *module;	/* what it is called there */
};

/*
 * Adds a line of /proc/kallsyms for each function of the file, by address: "ADDRESS TYPE NAME\t[MODULE]"; of stripped
 * files what their dynamic symbols tell. Readers take an address for one of the function before it, however far that is: so
 * wherever no function is there is a line for SYMBOL_UNKNOWN. That is the only one when the file cannot be read: -ESTALE
 * when its build-id is another.
 */
int symbol_put_functions(struct buf *out, const struct symbol_file *file, struct err *err);

#endif
