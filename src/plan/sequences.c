/*
 * plan/sequences: see sequences.h.
 *
 * They are described in a section of their own: version and flags (four bytes each), the first byte's address, how many bytes there
 * are, the address to go on at. Relocations are in the image by now.
 */
#include "plan/sequences.h"

#include <errno.h>
#include <stdlib.h>

#define DESCRIPTION_SIZE 32u
#define SEQUENCES_MAX 4096u

int sequences_init(struct sequences *sequences, const struct image *image, struct err *err)
{
	struct elf_section section;
	const uint8_t *bytes;
	uint64_t room;

	*sequences = (struct sequences){ 0 };
	if (elf_section_find(&image->elf, "__rseq_cs", &section) || !section.size)
		return 0;
	bytes = image_at(image, section.addr, &room);
	if (!bytes || section.size > room || section.size / DESCRIPTION_SIZE > SEQUENCES_MAX)
		return err_set(err, -EBADMSG, "has restartable sequences that cannot be read");
	sequences->all = calloc(section.size / DESCRIPTION_SIZE + 1, sizeof(*sequences->all));
	if (!sequences->all)
		return err_set(err, -ENOMEM, "out of memory");
	for (; section.size >= DESCRIPTION_SIZE; section.size -= DESCRIPTION_SIZE, bytes += DESCRIPTION_SIZE) {
		struct sequence *sequence = &sequences->all[sequences->n++];

		sequence->start = image_get(bytes + 8, 8);
		sequence->end = sequence->start + image_get(bytes + 16, 8);
		image_mark(image, image_get(bytes + 24, 8), IMAGE_ENTERED);
	}
	return 0;
}

void sequences_fini(struct sequences *sequences)
{
	free(sequences->all);
	*sequences = (struct sequences){ 0 };
}

bool sequences_meet(const struct sequences *sequences, uint64_t start, uint64_t end)
{
	for (size_t i = 0; i < sequences->n; i++)
		if (start < sequences->all[i].end && end > sequences->all[i].start)
			return true;
	return false;
}

void sequences_between(const struct sequences *sequences, uint64_t address, uint64_t *start, uint64_t *end)
{
	for (size_t i = 0; i < sequences->n; i++) {
		const struct sequence *one = &sequences->all[i];

		if (one->end <= address && one->end > *start)
			*start = one->end;
		if (one->start > address && one->start < *end)
			*end = one->start;
	}
}
