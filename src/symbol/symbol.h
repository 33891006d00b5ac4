/*
 * symbol: names of what lies in ELF files.
 *
 * In: a file that may hold anything and may change while it is read. Out: its symbols, each with its address in the file's
 * memory image. The file is never mapped, and what it says is checked against its size.
 */
#ifndef SYMBOL_SYMBOL_H
#define SYMBOL_SYMBOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"

/*
 * Adds a line of /proc/kallsyms for each function of the file, by address: "ADDRESS TYPE NAME\t[MODULE]", addresses with
 * `base` added. `build_id`, if there is one, must be the file's: -ESTALE when it has changed. Of stripped files what their
 * dynamic symbols tell.
 */
int symbol_put_functions(struct buf *out, const char *path, const void *build_id, size_t build_id_len, uint64_t base,
			 const char *module, struct err *err);

#endif
