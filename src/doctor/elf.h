/*
 * doctor/elf: a program's file, as far as it tells whether and how the program can be traced.
 */
#ifndef DOCTOR_ELF_H
#define DOCTOR_ELF_H

#include "symbol/elf.h"

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

/* Is Ringside's runtime a part of it? 1, 0, -errno when that could not be looked at. */
int elf_carries_runtime(const struct elf *elf);

/* Are these bytes in what is loaded of it? 1, 0, -EFBIG when there is too much to look at. */
int elf_holds(const struct elf *elf, const void *bytes, size_t len);

#endif
