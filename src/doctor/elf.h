/*
 * doctor/elf: a program's file, as far as it tells whether and how the program can be traced.
 *
 * The file may hold anything and may change while it is read. It is never mapped; what its headers say is
 * checked against its size, tables are bounded, and strings are copied out with their ends.
 */
#ifndef DOCTOR_ELF_H
#define DOCTOR_ELF_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

#define CMD_ELF_LOADS_MAX 128
#define CMD_ELF_NEEDED_MAX 256

struct elf {
	int fd;			/* the caller's */
	uint64_t size;
	bool is64;
	bool native;		/* the bytes are in our order; if not, nothing below `machine` is known */
	uint16_t type;		/* ET_* */
	uint16_t machine;	/* EM_* */
	bool dynamic;		/* has a dynamic section */
	bool pie;		/* says that it is a program, not a library */
	char *interp;		/* the loader that it asks for, or NULL */
	char *rpath, *runpath;	/* or NULL */
	char *needed[CMD_ELF_NEEDED_MAX];
	uint32_t nneeded;
	/* Where it lies in the file. */
	struct elf_load {
		uint64_t vaddr, offset, filesz;
	} loads[CMD_ELF_LOADS_MAX];
	uint32_t nloads;
	uint64_t sections;	/* offset of the section headers, 0: none */
	uint32_t nsections;
	uint32_t names;		/* index of the section with their names */
};

/* -ENOEXEC: no ELF file at all. -EBADMSG: one that cannot be run, with words. Others: it cannot be read. */
int elf_open(struct elf *elf, int fd, struct err *err);
void elf_close(struct elf *elf);

/* "x86_64", or a number in `text`. */
const char *elf_machine(const struct elf *elf, char text[32]);

/* Is it code that programs on this machine are made of? */
bool elf_runs_here(const struct elf *elf);

/*
 * Calls `put` for each USDT note. `ours`: it stands for a site of one of Ringside's events. -ENODATA: the file
 * has no section headers, so there is no telling. -EBADMSG: the notes are damaged; those before were put.
 */
int elf_sites(const struct elf *elf,
		  void (*put)(void *ctx, const char *system, const char *name, bool ours), void *ctx);

/* Does it define this symbol? 1, 0, -ENODATA when it has no symbols of its own, as stripped files. */
int elf_defines(const struct elf *elf, const char *symbol);

/* Are these bytes in what is loaded of it? 1, 0, -EFBIG when there is too much to look at. */
int elf_holds(const struct elf *elf, const void *bytes, size_t len);

#endif
