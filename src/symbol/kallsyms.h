/*
 * symbol/kallsyms: the running kernel's symbols, line by line: "ADDRESS TYPE NAME", and "[MODULE]" behind a tab.
 */
#ifndef SYMBOL_KALLSYMS_H
#define SYMBOL_KALLSYMS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"

#define KALLSYMS "/proc/kallsyms"

struct kallsyms_symbol {
	uint64_t address;	/* 0 to who may not see it */
	char type;
	const char *name;
	const char *module;	/* or NULL */
};

/* The whole text. */
int kallsyms_read(struct buf *text, struct err *err);
/* Takes the line at *at apart, in place, and goes behind it. False: that was the last. */
bool kallsyms_next(char **at, struct kallsyms_symbol *symbol);
bool kallsyms_is_code(const struct kallsyms_symbol *symbol);

#endif
