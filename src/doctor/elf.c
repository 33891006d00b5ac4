/*
 * doctor/elf: see elf.h. Files in another byte order are not looked into: no program here is made of them.
 */
#include "doctor/elf.h"

#include <elf.h>
#include <errno.h>
#include <ringside/abi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

#define IMAGE_MAX (1ull << 30)

const char *elf_machine(const struct elf *elf, char text[32])
{
	switch (elf->machine) {
	case EM_X86_64:
		return elf->is64 ? "x86_64" : "x32";
	case EM_386:
		return "i386";
	case EM_AARCH64:
		return "aarch64";
	case EM_ARM:
		return "arm";
	case EM_RISCV:
		return "riscv";
	case EM_PPC64:
		return "powerpc";
	case EM_S390:
		return "s390";
	default:
		snprintf(text, 32, "machine %u", elf->machine);
		return text;
	}
}

bool elf_runs_here(const struct elf *elf)
{
#if defined(__aarch64__)
	return elf->native && elf->is64 && elf->machine == EM_AARCH64;
#else
	struct utsname name;

	if (!elf->native)
		return false;
	if (!elf->is64)
		return elf->machine == EM_386;
	return elf->machine == EM_X86_64 && !uname(&name) && !strcmp(name.machine, "x86_64");
#endif
}

/*
 * What a semaphore that a note names is part of: Ringside's is the second member of an event, which tells the
 * version of its layout and is otherwise untouched; others' stand alone.
 */
static bool is_event(const struct elf *elf, uint64_t semaphore)
{
	const uint64_t word = elf->is64 ? 8 : 4;
	uint32_t abi, id;
	uint64_t offset, room;

	/* hint, semaphore and flags, id, write, fields, nothing, abi: see struct ringside_event. */
	if (semaphore < word || !elf_place(elf, semaphore - word, &offset, &room) || room < 3 * word + 16)
		return false;
	return !elf_read(elf, &id, sizeof(id), offset + word + 4) && !id &&
	       !elf_read(elf, &abi, sizeof(abi), offset + 3 * word + 12) && abi >= 1 &&
	       abi <= RINGSIDE_ABI;
}

/* A note's three addresses and three strings. `base`: where .stapsdt.base is now; the note tells where it was. */
static bool site_take(const struct elf *elf, const char *bytes, uint64_t len, uint64_t base,
		      void (*put)(void *ctx, const char *system, const char *name, bool ours), void *ctx)
{
	const uint64_t word = elf->is64 ? 8 : 4;
	uint64_t semaphore = 0, told = 0;
	const char *system, *name;

	if (len < 3 * word)
		return false;
	memcpy(&told, bytes + word, word);
	memcpy(&semaphore, bytes + 2 * word, word);
	system = bytes + 3 * word;
	len -= 3 * word;
	if (!memchr(system, '\0', len))
		return false;
	name = system + strlen(system) + 1;
	len -= (uint64_t)(name - system);
	if (!memchr(name, '\0', len))
		return false;
	if (semaphore && base && told)
		semaphore += base - told;
	put(ctx, system, name, semaphore && is_event(elf, semaphore));
	return true;
}

int elf_sites(const struct elf *elf,
		  void (*put)(void *ctx, const char *system, const char *name, bool ours), void *ctx)
{
	struct elf_section section, base;
	uint64_t at = 0, len;
	char *bytes;
	int r;

	r = elf_section_find(elf, ".note.stapsdt", &section);
	if (r)
		return r == -ENOENT ? 0 : r;
	if (elf_section_find(elf, ".stapsdt.base", &base))
		base.addr = 0;
	bytes = elf_section_take(elf, &section, &len);
	if (!bytes)
		return -EBADMSG;
	while (!r && len - at >= 12) {
		uint32_t head[3];
		uint64_t name_len, desc_len;

		memcpy(head, bytes + at, sizeof(head));
		at += sizeof(head);
		name_len = ((uint64_t)head[0] + 3) & ~3ull;
		desc_len = ((uint64_t)head[1] + 3) & ~3ull;
		if (name_len > len - at || head[1] > len - at - name_len)
			r = -EBADMSG;
		else if (head[2] == 3 && head[0] == 8 && !memcmp(bytes + at, "stapsdt", 8) &&
			 !site_take(elf, bytes + at + name_len, head[1], base.addr, put, ctx))
			r = -EBADMSG;
		else
			at += name_len + (desc_len < len - at - name_len ? desc_len : len - at - name_len);
	}
	free(bytes);
	return r;
}

static bool table_defines(struct elf_symbols *symbols, const char *name)
{
	struct elf_symbol symbol;

	while (elf_symbols_next(symbols, &symbol))
		if (symbol.section != SHN_UNDEF && !strcmp(symbol.name, name))
			return true;
	return false;
}

int elf_defines(const struct elf *elf, const char *symbol)
{
	static const uint32_t kinds[] = { SHT_SYMTAB, SHT_DYNSYM };
	int found = -ENODATA;

	for (int i = 0; i < 2 && found != 1; i++) {
		struct elf_symbols symbols;

		if (elf_symbols_open(&symbols, elf, kinds[i]))
			continue;
		if (table_defines(&symbols, symbol))
			found = 1;
		else if (kinds[i] == SHT_SYMTAB)
			found = 0;
		elf_symbols_close(&symbols);
	}
	return found;
}

static int load_holds(const struct elf *elf, const struct elf_piece *load, char *piece,
		      size_t piece_size, const void *bytes, size_t len)
{
	uint64_t at = 0;

	while (load->filesz - at >= len) {
		uint64_t n = load->filesz - at < piece_size ? load->filesz - at : piece_size;
		int r = elf_read(elf, piece, n, load->offset + at);

		if (r)
			return r;
		if (memmem(piece, n, bytes, len))
			return 1;
		/* One that begins in this piece may end in the next. */
		at += n - len + 1;
	}
	return 0;
}

int elf_holds(const struct elf *elf, const void *bytes, size_t len)
{
	const size_t piece_size = 1u << 20;
	uint64_t all = 0;
	char *piece;
	int r = 0;

	for (uint32_t i = 0; i < elf->nloads; i++)
		all += elf->loads[i].filesz < IMAGE_MAX ? elf->loads[i].filesz : IMAGE_MAX;
	if (all > IMAGE_MAX)
		return -EFBIG;
	piece = malloc(piece_size);
	if (!piece)
		return -ENOMEM;
	for (uint32_t i = 0; i < elf->nloads && !r; i++)
		r = load_holds(elf, &elf->loads[i], piece, piece_size, bytes, len);
	free(piece);
	return r;
}

int elf_carries_runtime(const struct elf *elf)
{
	/* Words that the runtime looks for its directory by, for files without symbols. */
	static const char variable[] = "RINGSIDE_DIR", place[] = "/dev/shm/ringside-%u";
	int r = elf_defines(elf, "ringside_event_register");

	if (r == 1)
		return 1;
	r = elf_holds(elf, place, sizeof(place));
	return r == 1 ? elf_holds(elf, variable, sizeof(variable)) : r;
}
