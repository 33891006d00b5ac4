/*
 * symbol/beside: which file has the debug information of another: one that has its build-id. Within this room.
 *
 * Looked for without the network: /usr/lib/debug by build-id and by path, the name that .gnu_debuglink has beside the file, and
 * what debuginfod clients have fetched before.
 */
#ifndef SYMBOL_BESIDE_H
#define SYMBOL_BESIDE_H

#include <stdbool.h>

#include "symbol/elf.h"

bool symbol_has_debug(const struct elf *elf);
/* The other file, to be freed; NULL: there is none. `path`: of the file itself. */
char *symbol_beside(const struct elf *elf, const char *path);

#endif
