/*
 * runtime/module: the ELF files that are mapped here, by address: their call frame tables and their place in the directory's
 * symbol space.
 *
 * Any thread, any signal handler: glibc 2.35 and later tell without a lock which file an address belongs to. Elsewhere there
 * is a table, taken at start and again in ordinary code (runtime_modules_learn). What was found out about a file is kept for
 * good; a file that another has replaced since is told apart by its build-id.
 */
#ifndef RUNTIME_MODULE_H
#define RUNTIME_MODULE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct module {
	uint32_t state;
	uint32_t number;	/* of its place, from 1 */
	uintptr_t start, end;	/* all of it, holes included */
	uintptr_t load;		/* less than an address of it, an offset in the file's memory image */
	const void *key;	/* the loader's */
	const char *name;	/* the loader's: "" for the program. Only while it is loaded */
	const unsigned char *frames;	/* .eh_frame_hdr, NULL none */
	uintptr_t frames_start, frames_end;	/* the mapped part that it and .eh_frame lie in */
	const unsigned char *build_id;	/* in the file's memory */
	uint32_t build_id_len;
	uint32_t build_id_first;	/* bytes of it */
	bool go;		/* a Go program: code that runs on stacks of a few hundred bytes */
	uint64_t base;		/* in the symbol space; 0 not asked for yet */
};

#define MODULE_NOWHERE 1u	/* a base: the directory has no place for it */

/* The file that `address` belongs to, NULL: none that is known. */
const struct module *runtime_module(uintptr_t address);
/* `address`, which is in that module or in none, in the symbol space; itself where it has no place there. */
uint64_t runtime_module_address(const struct module *module, uintptr_t address);

/* Where an address of the symbol space is in this process; 0: no file is known here that has it. [any] */
uintptr_t runtime_module_place(uint64_t symbol);

/* One that the loader has mapped and not told yet, by its own list: with its own memory for a description. */
struct link_map;
bool runtime_module_loading(struct module *module, const struct link_map *map);

/* In ordinary code: takes note of what is loaded where nobody can be asked later. `places`: and gives all of it a place in the
 * symbol space, for programs that are about to give up system calls. */
void runtime_modules_learn(bool places);

/* registry.c: the base of an ELF file, 0 when it cannot be had now, MODULE_NOWHERE when never. [any] */
uint64_t runtime_elf_intern(const char *name, const unsigned char *build_id, uint32_t build_id_len);

#endif
