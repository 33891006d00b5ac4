/*
 * symbol/elf: an ELF file of either word size and byte order: its parts, its sections, its symbols.
 *
 * The file may hold anything and may change while it is read. It is never mapped; what its headers say is
 * checked against its size, tables are bounded, and strings are copied out with their ends.
 */
#ifndef SYMBOL_ELF_H
#define SYMBOL_ELF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

#define ELF_LOADS_MAX 128
#define ELF_NOTES_MAX 16
#define ELF_NEEDED_MAX 256
#define ELF_BUILD_ID_MAX 64

/* Some bytes of the file, and where they are in memory. */
struct elf_piece {
	uint64_t vaddr, offset, filesz;
	uint32_t flags;		/* PF_* */
};

struct elf {
	int fd;			/* the caller's, but after elf_open_path() */
	uint64_t size;
	bool is64;
	bool bare;		/* what is loaded of it is in another file */
	bool native;		/* in our byte order; of others that are damaged nothing below `machine` is known */
	uint16_t type;		/* ET_* */
	uint16_t machine;	/* EM_* */
	bool dynamic;		/* has a dynamic section */
	bool pie;		/* says that it is a program, not a library */
	char *interp;		/* the loader that it asks for, or NULL */
	char *rpath, *runpath;	/* or NULL */
	char *soname;		/* what others know it by, or NULL */
	char *needed[ELF_NEEDED_MAX];
	uint32_t nneeded;
	struct elf_piece loads[ELF_LOADS_MAX];
	uint32_t nloads;
	struct elf_piece notes[ELF_NOTES_MAX];	/* the first of them */
	uint32_t nnotes;
	uint64_t sections;	/* offset of the section headers, 0: none */
	uint32_t nsections;
	uint32_t names;		/* index of the section with their names */
};

/* A descriptor to read a regular file by; -ENOEXEC: it is something else. */
int elf_file(const char *path);
/* -ENOEXEC: no ELF file at all. -EBADMSG: one that cannot be run, with words. Others: it cannot be read. */
int elf_open(struct elf *elf, int fd, struct err *err);
/* One that has only the debug information of another: its parts are named, but not in it. */
int elf_open_bare(struct elf *elf, int fd, struct err *err);
void elf_close(struct elf *elf);
/* By its path, with words that begin with that. */
int elf_open_path(struct elf *elf, const char *path, struct err *err);
void elf_close_path(struct elf *elf);

/* Exactly so many bytes; -EBADMSG when the file ends before them. */
int elf_read(const struct elf *elf, void *bytes, uint64_t len, uint64_t offset);
/* A word of `size` bytes out of the file. */
uint64_t elf_word(const struct elf *elf, const void *bytes, size_t size);
/* Where in the file an address of the program lies, and how many bytes of it follow. */
bool elf_place(const struct elf *elf, uint64_t address, uint64_t *offset, uint64_t *room);

struct elf_section {
	uint32_t name, type, link;
	uint64_t flags;		/* SHF_* */
	uint64_t addr, offset, size;
};

int elf_section_read(const struct elf *elf, uint32_t i, struct elf_section *section);
/* -ENOENT: there is none of that name. -ENODATA: there are no sections. */
int elf_section_find(const struct elf *elf, const char *name, struct elf_section *section);
/* All of a section and a NUL, to be freed; NULL: it is damaged, or too large to be looked at. */
char *elf_section_take(const struct elf *elf, const struct elf_section *section, uint64_t *len);

/* The build-id, of which no more than ELF_BUILD_ID_MAX bytes are looked at; 0: there is none. */
uint32_t elf_build_id(const struct elf *elf, unsigned char id[ELF_BUILD_ID_MAX]);

/* A table of symbols. */
struct elf_symbols {
	const struct elf *elf;
	char *table, *names;
	uint64_t len, names_len, at;
};

struct elf_symbol {
	const char *name;
	uint64_t value, size;
	uint16_t section;	/* SHN_UNDEF: of another file */
	uint8_t bind, type;	/* STB_*, STT_* */
};

/* The file's first table of this kind, SHT_SYMTAB or SHT_DYNSYM. -ENODATA: there is none that could be read. */
int elf_symbols_open(struct elf_symbols *symbols, const struct elf *elf, uint32_t kind);
bool elf_symbols_next(struct elf_symbols *symbols, struct elf_symbol *symbol);
void elf_symbols_close(struct elf_symbols *symbols);

#endif
