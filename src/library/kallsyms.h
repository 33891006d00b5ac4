/*
 * library/kallsyms: names of the running kernel's addresses, for records of its own tracefs.
 * Private to the room.
 */
#ifndef LIBRARY_KALLSYMS_H
#define LIBRARY_KALLSYMS_H

#include <stdbool.h>
#include <stdint.h>

#include "decode/print.h"

struct library_kallsyms;

/* NULL when they cannot be read. Takes a tenth of a second. */
struct library_kallsyms *library_kallsyms_open(void);
void library_kallsyms_close(struct library_kallsyms *symbols);

bool library_kallsyms_find(const struct library_kallsyms *symbols, uint64_t addr,
			   struct decode_symbol *out);

#endif
