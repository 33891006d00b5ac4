/*
 * symbol/prototype: what the functions of an ELF file take and give, by its debug information.
 *
 * In: a file that may hold anything, or one beside it that has only its debug information. Out: for functions written in C and C++ for
 * x86-64 a text (layout/prototype.h), with the registers that parameters are in when a function begins.
 */
#ifndef SYMBOL_PROTOTYPE_H
#define SYMBOL_PROTOTYPE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "layout/prototype.h"
#include "symbol/symbol.h"

struct prototype {
	uint64_t address;
	const char *text;
	uint8_t nregs;		/* so many registers have all of its parameters that are in some; 0: none is */
};

/* -ENODATA: there is no debug information. -ESTALE: the file's build-id is another. */
struct prototypes;
int prototypes_open(struct prototypes **out, const struct symbol_file *file, struct err *err);
void prototypes_close(struct prototypes *prototypes);
/* Of the function that begins there, in the memory image. False: it is not known. */
bool prototypes_at(const struct prototypes *prototypes, uint64_t address, struct prototype *out);
/*
 * What a path leads to that begins with a parameter of that function, or with $retval: MEMBER of layout/prototype.h. The file is the one
 * that they were read from, and read again. -ENOENT: there is no such function or parameter.
 */
int prototypes_member(const struct prototypes *prototypes, const struct symbol_file *file, uint64_t address, const char *path,
		      struct buf *out);

#endif
