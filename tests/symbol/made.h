/*
 * An ELF file made by hand, of either word size and byte order: a build-id and a few symbols.
 */
#ifndef TESTS_SYMBOL_MADE_H
#define TESTS_SYMBOL_MADE_H

#include <elf.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "dat/store.h"
#include "insist.h"

#define MADE_ID "0123456789abcdef0123"
#define MADE_SIZE 4096u

struct made {
	bool is64, big;
	uint8_t bytes[MADE_SIZE];
};

#define MADE_SET(made, at, kind, field, value)                                                              \
	dat_store((made)->bytes + (at) + ((made)->is64 ? offsetof(Elf64_##kind, field) : offsetof(Elf32_##kind, field)), \
		  (made)->is64 ? sizeof(((Elf64_##kind *)0)->field) : sizeof(((Elf32_##kind *)0)->field),    \
		  (uint64_t)(value), (made)->big)
#define MADE_LEN(made, kind) ((made)->is64 ? sizeof(Elf64_##kind) : sizeof(Elf32_##kind))

/* Where its parts are. */
enum { MADE_PHDRS = 64, MADE_NOTE = 256, MADE_STRINGS = 512, MADE_SYMBOLS = 1024, MADE_SHDRS = 2048 };

static inline void made_symbol(struct made *made, int i, uint32_t name, uint64_t value, uint64_t size, int bind, int type)
{
	size_t at = MADE_SYMBOLS + (size_t)i * MADE_LEN(made, Sym);

	MADE_SET(made, at, Sym, st_name, name);
	MADE_SET(made, at, Sym, st_value, value);
	MADE_SET(made, at, Sym, st_size, size);
	MADE_SET(made, at, Sym, st_info, ELF64_ST_INFO(bind, type));
	MADE_SET(made, at, Sym, st_shndx, i ? 1 : 0);
}

static inline void made_section(struct made *made, int i, uint32_t type, uint64_t offset, uint64_t size, uint32_t link)
{
	size_t at = MADE_SHDRS + (size_t)i * MADE_LEN(made, Shdr);

	MADE_SET(made, at, Shdr, sh_type, type);
	MADE_SET(made, at, Shdr, sh_offset, offset);
	MADE_SET(made, at, Shdr, sh_size, size);
	MADE_SET(made, at, Shdr, sh_link, link);
}

static inline void made_segment(struct made *made, int i, uint32_t type, uint64_t offset, uint64_t size)
{
	size_t at = MADE_PHDRS + (size_t)i * MADE_LEN(made, Phdr);

	MADE_SET(made, at, Phdr, p_type, type);
	MADE_SET(made, at, Phdr, p_offset, offset);
	MADE_SET(made, at, Phdr, p_vaddr, offset);
	MADE_SET(made, at, Phdr, p_filesz, size);
	MADE_SET(made, at, Phdr, p_memsz, size);
}

static inline void made_head(struct made *made)
{
	uint8_t *ident = made->bytes;

	memcpy(ident, ELFMAG, SELFMAG);
	ident[EI_CLASS] = made->is64 ? ELFCLASS64 : ELFCLASS32;
	ident[EI_DATA] = made->big ? ELFDATA2MSB : ELFDATA2LSB;
	ident[EI_VERSION] = EV_CURRENT;
	MADE_SET(made, 0, Ehdr, e_type, ET_DYN);
	MADE_SET(made, 0, Ehdr, e_machine, made->is64 ? EM_X86_64 : EM_386);
	MADE_SET(made, 0, Ehdr, e_phoff, MADE_PHDRS);
	MADE_SET(made, 0, Ehdr, e_phentsize, MADE_LEN(made, Phdr));
	MADE_SET(made, 0, Ehdr, e_phnum, 2);
	MADE_SET(made, 0, Ehdr, e_shoff, MADE_SHDRS);
	MADE_SET(made, 0, Ehdr, e_shentsize, MADE_LEN(made, Shdr));
	MADE_SET(made, 0, Ehdr, e_shnum, 4);
	MADE_SET(made, 0, Ehdr, e_shstrndx, 3);
}

/* `kind` is SHT_SYMTAB or SHT_DYNSYM. */
static inline void made_elf(struct made *made, bool is64, bool big, uint32_t kind)
{
	static const char strings[] = "\0first\0second@VERSION_1\0third\0data\0weak name";

	memset(made, 0, sizeof(*made));
	made->is64 = is64;
	made->big = big;
	made_head(made);
	made_segment(made, 0, PT_LOAD, 0, MADE_SIZE);
	made_segment(made, 1, PT_NOTE, MADE_NOTE, 12 + 4 + 20);
	dat_store(made->bytes + MADE_NOTE, 4, 4, big);
	dat_store(made->bytes + MADE_NOTE + 4, 4, 20, big);
	dat_store(made->bytes + MADE_NOTE + 8, 4, NT_GNU_BUILD_ID, big);
	memcpy(made->bytes + MADE_NOTE + 12, "GNU", 4);
	memcpy(made->bytes + MADE_NOTE + 16, MADE_ID, 20);
	memcpy(made->bytes + MADE_STRINGS, strings, sizeof(strings));
	/* Not in the order of their addresses. */
	made_symbol(made, 1, 7, 0x1100, 0x40, STB_LOCAL, STT_FUNC);	/* second@VERSION_1 */
	made_symbol(made, 2, 1, 0x1000, 0x100, STB_GLOBAL, STT_FUNC);	/* first */
	made_symbol(made, 3, 24, 0x2000, 0, STB_GLOBAL, STT_FUNC);	/* third, of no size */
	made_symbol(made, 4, 30, 0x3000, 8, STB_GLOBAL, STT_OBJECT);	/* data */
	made_symbol(made, 5, 35, 0x2800, 0x10, STB_WEAK, STT_GNU_IFUNC);	/* weak name */
	made_symbol(made, 6, 1, 0x5000, 0x10, STB_GLOBAL, STT_FUNC);	/* beyond what is the file's */
	made_section(made, 1, kind, MADE_SYMBOLS, 7 * MADE_LEN(made, Sym), 2);
	made_section(made, 2, SHT_STRTAB, MADE_STRINGS, sizeof(strings), 0);
	made_section(made, 3, SHT_STRTAB, MADE_STRINGS, sizeof(strings), 0);
}

#endif
