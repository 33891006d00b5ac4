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

#define SYSCALLS_MAX 65536u
#define TABLE_MORE 1024u	/* bytes */

struct addresses {
	uint64_t *all;
	size_t n, cap;
};

static int keep(struct addresses *addresses, uint64_t address)
{
	if (addresses->n == addresses->cap) {
		size_t cap = addresses->cap ? addresses->cap * 2 : 4096;
		uint64_t *more = realloc(addresses->all, cap * sizeof(*more));

		if (!more)
			return -ENOMEM;
		addresses->all = more;
		addresses->cap = cap;
	}
	addresses->all[addresses->n++] = address;
	return 0;
}

/* All code, from its first byte on. */
struct sweep {
	struct image *image;
	const struct image_text *text;
	struct addresses taken;		/* that code takes, of what may be tables, and labels in code */
	struct addresses syscalls, unsures;
	uint64_t start;			/* where what we are in begins */
	size_t first;			/* what it has taken */
	bool follows;			/* each instruction so far followed another from there on */
	bool jumps;			/* by a register */
};

/* A place in code where nothing begins that is known. */
static bool is_label(const struct image *image, uint64_t address)
{
	const struct image_text *text = image_text(image, address);

	return text && !image_has(text, address, IMAGE_START);
}

static int number(struct sweep *sweep, uint64_t number)
{
	image_mark(sweep->image, number, IMAGE_ENTERED);
	return is_label(sweep->image, number) ? keep(&sweep->taken, number) : 0;
}

static int instruction(struct sweep *sweep, const struct x86 *x86, uint64_t address)
{
	const uint64_t to = address + (uint64_t)x86->to;
	int r = 0;

	if (x86->direct || x86->near_at)
		image_mark(sweep->image, to, IMAGE_ENTERED);
	if (sweep->image->elf.type == ET_EXEC)
		for (int i = 0; !r && i < 2; i++)
			r = number(sweep, x86->numbers[i]);
	if (!r && x86->lea && x86->near_at)
		r = keep(&sweep->taken, to);
	sweep->jumps |= x86->kind == X86_JMP && !x86->direct && !x86->near_at;
	if (!sweep->follows)
		return r;
	image_mark(sweep->image, address, IMAGE_STEP);
	if (!r && x86->syscall && sweep->syscalls.n < SYSCALLS_MAX)
		r = keep(&sweep->syscalls, address);
	return r;
}

/* What we were in is over. */
static int leave(struct sweep *sweep)
{
	bool unsure = false;
	int r = 0;

	for (size_t i = sweep->first; !r && sweep->jumps && i < sweep->taken.n; i++) {
		if (!is_label(sweep->image, sweep->taken.all[i]))
			continue;
		r = keep(&sweep->unsures, sweep->taken.all[i]);
		unsure = true;
	}
	return r || !unsure ? r : keep(&sweep->unsures, sweep->start);
}

static int enter(struct sweep *sweep, uint64_t address)
{
	int r = leave(sweep);

	sweep->start = address;
	sweep->first = sweep->taken.n;
	sweep->follows = true;
	sweep->jumps = false;
	return r;
}

/* Where decoding goes on: behind the instruction, or where something begins or ends within it. */
static uint64_t next(struct sweep *sweep, uint64_t at, uint8_t len)
{
	for (uint64_t i = at + 1; i < at + len; i++)
		if (image_has(sweep->text, i, IMAGE_START) || image_has(sweep->text, i, IMAGE_END)) {
			sweep->follows = false;
			return i;
		}
	return at + len;
}

static int sweep(struct sweep *sweep, const struct image_text *text)
{
	uint64_t at = text->start;
	struct x86 x86;
	int r = 0;

	sweep->text = text;
	sweep->follows = false;
	while (!r && at < text->end) {
		if (image_has(text, at, IMAGE_START))
			r = enter(sweep, at);
		if (r)
			break;
		if (!x86_decode(&x86, text->bytes + (at - text->start), text->end - at)) {
			sweep->follows = false;
			at++;
			continue;
		}
		r = instruction(sweep, &x86, at);
		at = next(sweep, at, x86.len);
	}
	return r ? r : leave(sweep);
}

static int compare(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

/*
 * As far as its numbers lead to code. Where another one seems to begin this one may go on all the same, since what takes an address
 * may be no instruction at all.
 */
static void table(const struct image *image, uint64_t address, uint64_t end)
{
	uint64_t room;
	const uint8_t *bytes = image_at(image, address, &room);

	if (!bytes)
		return;
	end = end - address < UINT64_MAX - TABLE_MORE ? end - address + TABLE_MORE : UINT64_MAX;
	room = room < end ? room : end;
	for (uint64_t i = 0; room - i >= 4; i += 4) {
		uint64_t to = address + (uint64_t)(int64_t)(int32_t)image_get(bytes + i, 4);

		if (!image_text(image, to))
			return;
		image_mark(image, to, IMAGE_ENTERED);
	}
}

static void sort(struct addresses *addresses)
{
	if (addresses->n)
		qsort(addresses->all, addresses->n, sizeof(*addresses->all), compare);
}

static void tables(const struct image *image, struct addresses *taken)
{
	sort(taken);
	for (size_t i = 0; i < taken->n; i++) {
		uint64_t end = i + 1 < taken->n ? taken->all[i + 1] : UINT64_MAX;

		if (end != taken->all[i])
			table(image, taken->all[i], end);
	}
}

int entries_of_code(struct image *image, struct err *err)
{
	struct sweep all = { .image = image };
	int r = 0;

	for (size_t i = 0; !r && i < image->ntexts; i++)
		r = sweep(&all, &image->texts[i]);
	if (!r)
		tables(image, &all.taken);
	free(all.taken.all);
	sort(&all.unsures);
	image->unsures = all.unsures.all;
	image->nunsures = all.unsures.n;
	image->syscalls = all.syscalls.all;
	image->nsyscalls = all.syscalls.n;
	return r ? err_set(err, r, "out of memory") : 0;
}
