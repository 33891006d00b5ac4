/*
 * The firmware's own writer, of a core and of several: scribbled.h. Nothing is mapped around its memory.
 */
#include <stdint.h>
#include <sys/mman.h>

#define FENCE 65536
#define ALIGN 4096
#define IN_ORDER __attribute__((section("scribbled")))

/* What an assembler is told comes before what a compiler makes of objects, and a subsection behind the section: no compiler keeps their order. */
#define FENCE_HERE(name, section)                                                                                              \
	__asm__(".pushsection " section "\n\t.globl " name "\n\t.hidden " name "\n\t.balign 4096\n" name ":\n\t"               \
		".zero 65536\n\t.popsection");
extern unsigned char fence_before[], fence_behind[];
FENCE_HERE("fence_before", "scribbled, \"aw\", @progbits")
FENCE_HERE("fence_behind", "scribbled, 1")

static uint32_t this_core;
static uint64_t clock_now;

#define RINGSIDE_FW_PORT "remote/scribbled_port.h"
#define RINGSIDE_FW_PAGE_SHIFT 8
#define RINGSIDE_FW_PAGES 4
#ifndef RINGSIDE_FW_RINGS
#define RINGSIDE_FW_RINGS 1
#endif
#include "fw/ringside_fw.c"

#include "scribbled.h"

static void write_on(uint32_t core, const void *record, uint32_t words)
{
	this_core = core;
	clock_now += scribbled_draw() % 8 ? scribbled_draw() % 100 : scribbled_draw();
	ringside_fw_write(record, words);
}

static void tick_on(uint32_t core)
{
	this_core = core;
	ringside_fw_tick();
}

/* A compiler believes that an object begins nowhere near the end of another, and that it ends where it does. */
static unsigned char *at(void *object, size_t offset)
{
	__asm__("" : "+r"(object));
	return (unsigned char *)object + offset;
}

static void protect(int how)
{
	CHECK(!mprotect(fence_before, FENCE, how) && !mprotect(fence_behind, FENCE, how), "fences");
}

/* A core that has no ring. */
static void try_other_core(const struct scribbled *all)
{
	const uint32_t record = 1, core = RINGSIDE_FW_RINGS > 1 ? RINGSIDE_FW_RINGS : 0;
	unsigned char *before = malloc(all->size);

	CHECK(before, "memory");
	ringside_fw.control.on = 1;
	/* Which is in what is copied, though that is larger than it. */
	__asm__ volatile("" : : : "memory");
	memcpy(before, all->memory, all->size);
	for (uint32_t other = core; core && other < core + 3; other++) {
		write_on(other, &record, 1);
		tick_on(other);
	}
	for (size_t i = 0; i < all->size; i++)
		CHECK(before[i] == all->memory[i], "it has one: a store at %zu", i);
	/* The only one there is is anybody's. */
	write_on(core ? 0 : 7, &record, 1);
	CHECK(ringside_fw.rings[0].count == 1, "%u events", ringside_fw.rings[0].count);
	free(before);
}

int main(void)
{
	const struct scribbled all = {
		.memory = at(&ringside_fw, 0),
		.size = (size_t)(at(fence_behind, 0) - at(&ringside_fw, 0)),
		.rings = ringside_fw.rings,
		.nr_rings = RINGSIDE_FW_RINGS,
		.pages = at(ringside_fw.pages, 0),
		.nr_pages = RINGSIDE_FW_PAGES,
		.page_shift = RINGSIDE_FW_PAGE_SHIFT,
		.on = &ringside_fw.control.on,
		.words_max = RINGSIDE_FW_RECORD_MAX / 4,
		.write = write_on,
		.tick = tick_on,
	};
	CHECK(at(fence_before, FENCE) == all.memory && all.size == ALIGN, "not in order: %p %p %p", (void *)fence_before,
	      (void *)all.memory, (void *)fence_behind);
	protect(PROT_NONE);
	ringside_fw_init();
	try_other_core(&all);
	scribbled_all(&all);
	/* Who looks for leaks reads all data. */
	protect(PROT_READ);
	return 0;
}
