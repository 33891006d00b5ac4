/*
 * plan/image: an ELF file as it is in memory, with what is known of each byte of its code. Within this room.
 *
 * All of it is read once, from a file that may change meanwhile: what was read is what counts. Pieces overlap in no way that
 * matters, since each is a copy of its own; how much is read is bounded by the file's size.
 */
#ifndef PLAN_IMAGE_H
#define PLAN_IMAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "symbol/elf.h"

/* What is known of a byte of code. */
enum image_mark {
	IMAGE_START,	/* a symbol or a frame begins here */
	IMAGE_END,	/* one ended before it */
	IMAGE_ENTERED,	/* somebody comes here from elsewhere than the byte before, or may */
	IMAGE_STEP,	/* an instruction begins here, counted from where something begins */
	IMAGE_MARKS
};

/* A section of code. */
struct image_text {
	uint64_t start, end;
	const uint8_t *bytes;
	uint8_t *marks[IMAGE_MARKS];	/* a bit for each byte */
	bool whole;			/* one function, though no table may tell of it: .init, .fini */
};

struct image_load {
	uint64_t start, end;
	uint8_t *bytes;
	uint32_t flags;		/* PF_* */
};

/* Of something within the code. */
struct image_symbol {
	uint64_t address, size;
	const char *name;
	uint8_t bind, type;
};

struct image {
	struct elf elf;
	struct image_load loads[ELF_LOADS_MAX];
	uint32_t nloads;
	struct image_text *texts;	/* by address, apart from each other */
	size_t ntexts;
	struct elf_symbols table;
	struct image_symbol *symbols;	/* by address */
	size_t nsymbols, cap;
	uint64_t *syscalls;		/* by address */
	size_t nsyscalls;
	uint64_t *unsures;		/* by address: what this is in may be come to anywhere */
	size_t nunsures;
};

/* Takes over the open file's elf; image_fini() closes that, too, also after a failure. */
int image_init(struct image *image, struct err *err);
void image_fini(struct image *image);

/* NULL: no code there. */
const struct image_text *image_text(const struct image *image, uint64_t address);
void image_mark(const struct image *image, uint64_t address, enum image_mark mark);

static inline bool image_has(const struct image_text *text, uint64_t address, enum image_mark mark)
{
	uint64_t i = address - text->start;

	return address < text->end && text->marks[mark][i / 8] >> i % 8 & 1;
}

/* The bytes at an address and how many of them there are; NULL: there are none. */
uint8_t *image_at(const struct image *image, uint64_t address, uint64_t *room);

static inline uint64_t image_get(const void *bytes, size_t size)
{
	const uint8_t *from = bytes;
	uint64_t value = 0;

	for (size_t i = size; i--; )
		value = value << 8 | from[i];
	return value;
}

#endif
