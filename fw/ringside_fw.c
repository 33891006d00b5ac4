/*
 * fw: see ringside_fw.h. The one file to compile into a firmware.
 */
#include "ringside_fw.h"
#include "core.h"

struct ringside_fw ringside_fw PORT_SECTION __attribute__((aligned(RINGSIDE_FW_ALIGN)));

/* Where the events' texts begin and end in the ELF file, and its build ID, if the linker was told to keep one in memory. */
extern const char __start_ringside_events[] __attribute__((weak));
extern const char __stop_ringside_events[] __attribute__((weak));
extern const uint32_t ringside_build_note[] __attribute__((weak));

/* Addresses as data: a section that is not loaded is too far away for the instructions that some linkers make of them. */
static uint32_t texts_size(void)
{
	static const char *const ends[] = { __start_ringside_events, __stop_ringside_events };
	const char *const *texts = ends;

	__asm__("" : "+r"(texts));
	return (uint32_t)(texts[1] - texts[0]);
}

static void init_ring(uint32_t i)
{
	struct ringside_fw_ring *ring = &ringside_fw.rings[i];

	ring->pages = (uintptr_t)ringside_fw.pages[i];
	ring->mask = RINGSIDE_FW_PAGES - 1;
	ring->cpu = (uint16_t)i;
	ring->flags = RINGSIDE_FW_FLAGS;
	fw_begin(ring);
}

/*
 * What memory holds after a restart without power loss is ours: it is kept to what the host had set. Its checksum does not tell: that start may
 * have been cut short by this one.
 */
static int is_again(const struct ringside_fw_header *header)
{
	uint32_t i = 0;

	while (i < sizeof(header->magic) && header->magic[i] == (uint8_t)RINGSIDE_FW_MAGIC[i])
		i++;
	return i == sizeof(header->magic) && header->self == (uintptr_t)header && header->control == offsetof(struct ringside_fw, control) &&
	       header->nr_events == RINGSIDE_FW_EVENTS;
}

void ringside_fw_init(void)
{
	struct ringside_fw_header *header = &ringside_fw.header;
	int again = is_again(header);

	header->crc = ~header->crc;
	port_barrier();
	/* Whatever it was, it is another one now: the host sees by it that all begins again. */
	header->boots++;
	if (!again) {
		ringside_fw.control.on = RINGSIDE_FW_ON;
		ringside_fw.control.mark = 0;
		for (uint32_t i = 0; i < RINGSIDE_FW_ENABLE_WORDS; i++)
			ringside_fw.control.enable[i] = RINGSIDE_FW_ON ? ~0u : 0;
	}
	for (uint32_t i = 0; i < RINGSIDE_FW_RINGS; i++)
		init_ring(i);
	for (uint32_t i = 0; i < sizeof(header->magic); i++)
		header->magic[i] = (uint8_t)RINGSIDE_FW_MAGIC[i];
	header->order = RINGSIDE_FW_ORDER;
	header->version = RINGSIDE_FW_VERSION;
	header->long_size = sizeof(uintptr_t);
	header->nr_rings = RINGSIDE_FW_RINGS;
	header->page_shift = RINGSIDE_FW_PAGE_SHIFT;
	header->clock_bits = PORT_CLOCK_BITS;
	header->self = (uintptr_t)header;
	header->rings = (uintptr_t)ringside_fw.rings;
	header->tick_hz = PORT_CLOCK_HZ;
	header->ring_size = sizeof(struct ringside_fw_ring);
	header->nr_events = RINGSIDE_FW_EVENTS;
	header->texts_size = texts_size();
	/* A note: three words, the name "GNU", then the ID. */
	header->build = ringside_build_note ? ringside_build_note[4] : 0;
	header->control = offsetof(struct ringside_fw, control);
	port_barrier();
	header->crc = fw_crc(header);
}

/* NULL: a core that has none. */
static inline struct ringside_fw_ring *this_ring(void)
{
	struct ringside_fw_ring *ring = ringside_fw.rings;

#if RINGSIDE_FW_RINGS > 1
	uint32_t cpu = port_cpu();

	if (cpu >= RINGSIDE_FW_RINGS)
		return NULL;
	ring += cpu;
#endif
	/* All is near the ring, and far from the symbol: a compiler that does not know it as a part of that makes shorter code. */
	__asm__("" : "+r"(ring));
	return ring;
}

static inline int is_ring(const struct ringside_fw_ring *ring)
{
	return RINGSIDE_FW_RINGS == 1 || ring;
}

void ringside_fw_tick(void)
{
	port_irq_t irq = port_irq_save();
	struct ringside_fw_ring *ring = this_ring();

	if (is_ring(ring))
		fw_look(ring);
	port_irq_restore(irq);
}

void ringside_fw_write(const void *record, uint32_t words)
{
	struct ringside_fw_ring *ring;
	port_irq_t irq;

	if (!*(volatile uint32_t *)&ringside_fw.control.on)
		return;
	irq = port_irq_save();
	ring = this_ring();
	if (is_ring(ring))
		fw_put(ring, record, words);
	port_irq_restore(irq);
}
