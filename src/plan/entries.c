/*
 * plan/entries: see entries.h. To mark too much costs a jump; to mark too little would cost a program its life.
 */
#include "plan/entries.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "plan/x86.h"

/* ---- relocations ---- */

/* Code is left as it is in the file: that is what will be compared. */
static void store(const struct image *image, uint64_t address, uint64_t value)
{
	for (uint32_t i = 0; i < image->nloads; i++) {
		const struct image_load *load = &image->loads[i];

		if (address < load->start || address >= load->end)
			continue;
		if (!(load->flags & PF_X) && load->end - address >= sizeof(value))
			memcpy(load->bytes + (address - load->start), &value, sizeof(value));
		return;
	}
}

static void relocation(const struct image *image, const char *raw, const char *symbols, uint64_t symbols_len)
{
	uint64_t at = image_get(raw + offsetof(Elf64_Rela, r_offset), 8);
	uint64_t info = image_get(raw + offsetof(Elf64_Rela, r_info), 8);
	uint64_t value = image_get(raw + offsetof(Elf64_Rela, r_addend), 8);
	uint64_t symbol = ELF64_R_SYM(info) * sizeof(Elf64_Sym);

	switch (ELF64_R_TYPE(info)) {
	case R_X86_64_64:
		if (!symbols || symbol >= symbols_len || symbols_len - symbol < sizeof(Elf64_Sym))
			return;
		value += image_get(symbols + symbol + offsetof(Elf64_Sym, st_value), 8);
		break;
	case R_X86_64_RELATIVE:
	case R_X86_64_RELATIVE64:
	case R_X86_64_IRELATIVE:
		break;
	default:
		return;
	}
	image_mark(image, value, IMAGE_ENTERED);
	store(image, at, value);
}

static int relocations(const struct image *image, const struct elf_section *section, struct err *err)
{
	struct elf_section of;
	uint64_t len, symbols_len = 0;
	char *all = elf_section_take(&image->elf, section, &len), *symbols = NULL;

	if (!all)
		return err_set(err, -EBADMSG, "has relocations that cannot be read");
	if (!elf_section_read(&image->elf, section->link, &of) && (of.type == SHT_DYNSYM || of.type == SHT_SYMTAB))
		symbols = elf_section_take(&image->elf, &of, &symbols_len);
	for (uint64_t at = 0; len - at >= sizeof(Elf64_Rela); at += sizeof(Elf64_Rela))
		relocation(image, all + at, symbols, symbols_len);
	free(symbols);
	free(all);
	return 0;
}

#ifndef SHT_RELR
#define SHT_RELR 19
#endif

/* The word there is an address already. */
static void packed_word(const struct image *image, uint64_t address)
{
	uint64_t room;
	const uint8_t *bytes = image_at(image, address, &room);

	if (bytes && room >= 8)
		image_mark(image, image_get(bytes, 8), IMAGE_ENTERED);
}

/* Even: an address; odd: which of the 63 words behind it, too. */
static int packed_relocations(const struct image *image, const struct elf_section *section, struct err *err)
{
	uint64_t len, next = 0;
	char *all = elf_section_take(&image->elf, section, &len);

	if (!all)
		return err_set(err, -EBADMSG, "has relocations that cannot be read");
	for (uint64_t at = 0; len - at >= 8; at += 8) {
		uint64_t word = image_get(all + at, 8);

		if (!(word & 1)) {
			packed_word(image, word);
			next = word + 8;
			continue;
		}
		for (uint64_t i = 0; i < 63; i++)
			if (word >> (i + 1) & 1)
				packed_word(image, next + i * 8);
		next += 63 * 8ull;
	}
	free(all);
	return 0;
}

/* In a program that stays where it was linked any word may be an address. */
static void words(const struct image *image)
{
	for (uint32_t i = 0; i < image->nloads; i++) {
		const struct image_load *load = &image->loads[i];
		uint64_t at = (8 - load->start % 8) % 8;

		for (; load->end - load->start > at && load->end - load->start - at >= 8; at += 8) {
			uint64_t word = image_get(load->bytes + at, 8);

			if (word && !image_text(image, load->start + at))
				image_mark(image, word, IMAGE_ENTERED);
		}
	}
}

int entries_of_data(struct image *image, struct err *err)
{
	struct elf_section section;
	int r = 0;

	for (uint32_t i = 1; !r && i < image->elf.nsections && !elf_section_read(&image->elf, i, &section); i++) {
		if (!(section.flags & SHF_ALLOC))
			continue;
		if (section.type == SHT_RELA)
			r = relocations(image, &section, err);
		else if (section.type == SHT_RELR)
			r = packed_relocations(image, &section, err);
	}
	if (image->elf.type == ET_EXEC)
		words(image);
	return r;
}

/* ---- instructions ---- */

/* Addresses that code takes, of what may be tables. */
struct taken {
	uint64_t *all;
	size_t n, cap;
};

static int take(struct taken *taken, uint64_t address)
{
	if (taken->n && taken->all[taken->n - 1] == address)
		return 0;
	if (taken->n == taken->cap) {
		size_t cap = taken->cap ? taken->cap * 2 : 4096;
		uint64_t *more = realloc(taken->all, cap * sizeof(*more));

		if (!more)
			return -ENOMEM;
		taken->all = more;
		taken->cap = cap;
	}
	taken->all[taken->n++] = address;
	return 0;
}

static int instruction(const struct image *image, struct taken *taken, const struct x86 *x86, uint64_t address)
{
	if (x86->direct || x86->near_at)
		image_mark(image, address + (uint64_t)x86->to, IMAGE_ENTERED);
	if (image->elf.type == ET_EXEC) {
		image_mark(image, x86->numbers[0], IMAGE_ENTERED);
		image_mark(image, x86->numbers[1], IMAGE_ENTERED);
	}
	return x86->lea && x86->near_at ? take(taken, address + (uint64_t)x86->to) : 0;
}

/* Where decoding goes on: behind the instruction, or where something begins within it. */
static uint64_t next(const struct image_text *text, uint64_t at, uint8_t len)
{
	for (uint64_t i = at + 1; i < at + len; i++)
		if (image_has(text, i, IMAGE_START) || image_has(text, i, IMAGE_END))
			return i;
	return at + len;
}

static int sweep(const struct image *image, const struct image_text *text, struct taken *taken)
{
	uint64_t at = text->start;
	struct x86 x86;
	int r = 0;

	while (!r && at < text->end) {
		if (!x86_decode(&x86, text->bytes + (at - text->start), text->end - at)) {
			at++;
			continue;
		}
		r = instruction(image, taken, &x86, at);
		at = next(text, at, x86.len);
	}
	return r;
}

static int compare(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

/* As far as its numbers lead to code, and no other table begins. */
static void table(const struct image *image, uint64_t address, uint64_t end)
{
	uint64_t room;
	const uint8_t *bytes = image_at(image, address, &room);

	if (!bytes)
		return;
	room = room < end - address ? room : end - address;
	for (uint64_t i = 0; room - i >= 4; i += 4) {
		uint64_t to = address + (uint64_t)(int64_t)(int32_t)image_get(bytes + i, 4);

		if (!image_text(image, to))
			return;
		image_mark(image, to, IMAGE_ENTERED);
	}
}

int entries_of_code(const struct image *image, struct err *err)
{
	struct taken taken = { NULL, 0, 0 };
	int r = 0;

	for (size_t i = 0; !r && i < image->ntexts; i++)
		r = sweep(image, &image->texts[i], &taken);
	if (taken.n)
		qsort(taken.all, taken.n, sizeof(*taken.all), compare);
	for (size_t i = 0; !r && i < taken.n; i++) {
		uint64_t end = i + 1 < taken.n ? taken.all[i + 1] : UINT64_MAX;

		if (end != taken.all[i])
			table(image, taken.all[i], end);
	}
	free(taken.all);
	return r ? err_set(err, r, "out of memory") : 0;
}
