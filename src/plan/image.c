/*
 * plan/image: see image.h.
 */
#include "plan/image.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define LOADS_SIZE_MAX (1ull << 30)
#define TEXTS_MAX 65536u

static int no_memory(struct err *err)
{
	return err_set(err, -ENOMEM, "out of memory");
}

static int load_take(struct image *image, const struct elf_piece *piece, struct err *err)
{
	struct image_load *load = &image->loads[image->nloads];
	int r;

	if (!piece->filesz || piece->vaddr + piece->filesz < piece->vaddr)
		return 0;
	load->bytes = malloc(piece->filesz);
	if (!load->bytes)
		return no_memory(err);
	image->nloads++;
	load->start = piece->vaddr;
	load->end = piece->vaddr + piece->filesz;
	load->flags = piece->flags;
	r = elf_read(&image->elf, load->bytes, piece->filesz, piece->offset);
	return r ? err_set(err, r, "cannot be read: %s", strerror(-r)) : 0;
}

static int loads_take(struct image *image, struct err *err)
{
	uint64_t sum = 0;
	int r = 0;

	for (uint32_t i = 0; !r && i < image->elf.nloads; i++) {
		/* Each is within the file. */
		sum += image->elf.loads[i].filesz;
		if (sum > LOADS_SIZE_MAX || sum > image->elf.size * 2)
			return err_set(err, -EFBIG, "is too large to be planned for");
		r = load_take(image, &image->elf.loads[i], err);
	}
	return r;
}

uint8_t *image_at(const struct image *image, uint64_t address, uint64_t *room)
{
	for (uint32_t i = 0; i < image->nloads; i++) {
		const struct image_load *load = &image->loads[i];

		if (address < load->start || address >= load->end)
			continue;
		*room = load->end - address;
		return load->bytes + (address - load->start);
	}
	return NULL;
}

static bool can_run(const struct image *image, uint64_t address)
{
	for (uint32_t i = 0; i < image->nloads; i++)
		if (address >= image->loads[i].start && address < image->loads[i].end)
			return image->loads[i].flags & PF_X;
	return false;
}

/* ---- code ---- */

static bool is_text(const struct image *image, const struct elf_section *section)
{
	const uint64_t need = SHF_ALLOC | SHF_EXECINSTR;

	return section->type == SHT_PROGBITS && (section->flags & need) == need && section->size && can_run(image, section->addr);
}

static int text_add(struct image *image, const struct elf_section *section, struct err *err)
{
	struct image_text *text = &image->texts[image->ntexts];
	uint64_t room, size;
	const uint8_t *bytes = image_at(image, section->addr, &room);

	if (!bytes || section->size > room)
		return err_set(err, -EBADMSG, "has a damaged section of code");
	*text = (struct image_text){ .start = section->addr, .end = section->addr + section->size, .bytes = bytes };
	image->ntexts++;
	size = (section->size + 7) / 8;
	for (int i = 0; i < IMAGE_MARKS; i++) {
		text->marks[i] = calloc(1, size);
		if (!text->marks[i])
			return no_memory(err);
	}
	return 0;
}

static int text_compare(const void *a, const void *b)
{
	const struct image_text *x = a, *y = b;

	return x->start < y->start ? -1 : x->start > y->start;
}

static int texts_take(struct image *image, struct err *err)
{
	struct elf_section section;
	size_t n = 0;
	int r = 0;

	for (uint32_t i = 1; i < image->elf.nsections && !elf_section_read(&image->elf, i, &section); i++)
		n += is_text(image, &section);
	if (n > TEXTS_MAX)
		return err_set(err, -EBADMSG, "has too many sections of code");
	image->texts = calloc(n + 1, sizeof(*image->texts));
	if (!image->texts)
		return no_memory(err);
	for (uint32_t i = 1; !r && image->ntexts < n && i < image->elf.nsections; i++)
		if (!elf_section_read(&image->elf, i, &section) && is_text(image, &section))
			r = text_add(image, &section, err);
	qsort(image->texts, image->ntexts, sizeof(*image->texts), text_compare);
	for (size_t i = 1; !r && i < image->ntexts; i++)
		if (image->texts[i].start < image->texts[i - 1].end)
			r = err_set(err, -EBADMSG, "has sections of code that overlap");
	return r;
}

const struct image_text *image_text(const struct image *image, uint64_t address)
{
	size_t low = 0, high = image->ntexts;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (image->texts[middle].end <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low < image->ntexts && address >= image->texts[low].start ? &image->texts[low] : NULL;
}

void image_mark(const struct image *image, uint64_t address, enum image_mark mark)
{
	const struct image_text *text = image_text(image, address);
	uint64_t i;

	if (!text)
		return;
	i = address - text->start;
	text->marks[mark][i / 8] |= (uint8_t)(1u << i % 8);
}

/* ---- symbols ---- */

static int symbol_add(struct image *image, const struct elf_symbol *symbol)
{
	if (image->nsymbols == image->cap) {
		size_t cap = image->cap ? image->cap * 2 : 1024;
		struct image_symbol *more = realloc(image->symbols, cap * sizeof(*more));

		if (!more)
			return -ENOMEM;
		image->symbols = more;
		image->cap = cap;
	}
	image->symbols[image->nsymbols++] =
		(struct image_symbol){ symbol->value, symbol->size, symbol->name, symbol->bind, symbol->type };
	return 0;
}

static bool is_place(const struct image *image, const struct elf_symbol *symbol)
{
	return (symbol->type == STT_FUNC || symbol->type == STT_GNU_IFUNC || symbol->type == STT_NOTYPE ||
		symbol->type == STT_OBJECT) &&
	       symbol->section != SHN_UNDEF && symbol->section != SHN_ABS && image_text(image, symbol->value);
}

static bool is_function(const struct image_symbol *symbol)
{
	return (symbol->type == STT_FUNC || symbol->type == STT_GNU_IFUNC) && *symbol->name;
}

static int symbols_from(struct image *image, uint32_t kind)
{
	struct elf_symbol symbol;
	int r = elf_symbols_open(&image->table, &image->elf, kind);
	bool any = false;

	if (r)
		return 0;
	while (!r && elf_symbols_next(&image->table, &symbol)) {
		if (!is_place(image, &symbol))
			continue;
		r = symbol_add(image, &symbol);
		any |= !r && is_function(&image->symbols[image->nsymbols - 1]);
	}
	if (!any) {
		elf_symbols_close(&image->table);
		image->nsymbols = 0;
	}
	return r ? r : any;
}

static int symbol_compare(const void *a, const void *b)
{
	const struct image_symbol *x = a, *y = b;

	return x->address < y->address ? -1 : x->address > y->address;
}

static int symbols_take(struct image *image, struct err *err)
{
	int r = symbols_from(image, SHT_SYMTAB);

	if (!r)
		r = symbols_from(image, SHT_DYNSYM);
	if (r < 0)
		return no_memory(err);
	if (image->nsymbols)
		qsort(image->symbols, image->nsymbols, sizeof(*image->symbols), symbol_compare);
	for (size_t i = 0; i < image->nsymbols; i++) {
		image_mark(image, image->symbols[i].address, IMAGE_START);
		image_mark(image, image->symbols[i].address + image->symbols[i].size, IMAGE_END);
	}
	return 0;
}

/* The loader calls them, and stripped files say no more of them than this. */
static void wholes_take(struct image *image)
{
	static const char *const names[] = { ".init", ".fini" };
	struct elf_section section;

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (elf_section_find(&image->elf, names[i], &section))
			continue;
		for (size_t n = 0; n < image->ntexts; n++) {
			if (image->texts[n].start != section.addr)
				continue;
			image->texts[n].whole = true;
			image_mark(image, section.addr, IMAGE_START);
		}
	}
}

int image_init(struct image *image, struct err *err)
{
	int r = loads_take(image, err);

	if (!r)
		r = texts_take(image, err);
	if (!r)
		r = symbols_take(image, err);
	if (!r)
		wholes_take(image);
	return r;
}

void image_fini(struct image *image)
{
	for (uint32_t i = 0; i < image->nloads; i++)
		free(image->loads[i].bytes);
	for (size_t i = 0; i < image->ntexts; i++)
		for (int mark = 0; mark < IMAGE_MARKS; mark++)
			free(image->texts[i].marks[mark]);
	free(image->texts);
	free(image->syscalls);
	free(image->unsures);
	free(image->symbols);
	elf_symbols_close(&image->table);
	elf_close(&image->elf);
}
