/*
 * The hosted writer: scribbled.h. Nothing is mapped around its memory.
 */
#include <sys/mman.h>

#include "fw/hosted.h"
#include "scribbled.h"

static struct ringside_fw_hosted fw;

static void write_on(uint32_t ring, const void *record, uint32_t words)
{
	ringside_fw_hosted_write(&fw, ring, record, words);
}

static void tick_on(uint32_t ring)
{
	ringside_fw_hosted_tick(&fw, ring);
}

static void try(uint32_t flags)
{
	const struct ringside_fw_hosted_how how = { .nr_rings = 3, .nr_pages = 4, .page_shift = 8, .nr_events = 32, .flags = flags, .on = 1 };
	size_t size = ringside_fw_hosted_size(&how), fence = 1u << 20, room = (size + 4095) & ~(size_t)4095;
	char *base = mmap(NULL, room + 2 * fence, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct scribbled all = { .memory = (unsigned char *)base + fence, .size = room, .nr_rings = 3, .nr_pages = 4, .page_shift = 8,
				 .write = write_on, .tick = tick_on };

	CHECK(base != MAP_FAILED && !mprotect(base + fence, room, PROT_READ | PROT_WRITE), "memory");
	CHECK(!ringside_fw_hosted_init(all.memory, size, &how) && !ringside_fw_hosted_open(&fw, all.memory, size), "a writer");
	all.rings = fw.rings;
	all.pages = all.memory + fw.rings->pages;
	all.on = &fw.control->on;
	/* Longer ones than there is room for: they are counted. */
	all.words_max = fw.words_max + 4;
	scribbled_all(&all);
	munmap(base, room + 2 * fence);
}

int main(void)
{
	try(0);
	try(RINGSIDE_FW_DISCARD);
	return 0;
}
