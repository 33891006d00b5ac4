/*
 * See barectf_ring.h. barectf leaves it to its user to keep others out, so interrupts are masked around a call, as our writer does by itself.
 */
#include "barectf_ring.h"

#include "barectf.h"
#include "ringside_fw.h"

static struct barectf_ring_ctx ctx;
static uint8_t packets[RINGSIDE_FW_PAGES][RINGSIDE_FW_PAGE_SIZE] __attribute__((aligned(8)));
static uint32_t packet;

static uint32_t read_clock(void *data)
{
	(void)data;
	return (uint32_t)port_clock();
}

/* The oldest is overwritten. */
static int is_full(void *data)
{
	(void)data;
	return 0;
}

static void open_packet(void *data)
{
	(void)data;
	barectf_packet_set_buf(&ctx, packets[packet++ % RINGSIDE_FW_PAGES], RINGSIDE_FW_PAGE_SIZE);
	barectf_ring_open_packet(&ctx);
}

static void close_packet(void *data)
{
	(void)data;
	barectf_ring_close_packet(&ctx);
}

void barectf_ring_begin(void)
{
	static const struct barectf_platform_callbacks callbacks = { read_clock, is_full, open_packet, close_packet };

	barectf_init(&ctx, packets[0], RINGSIDE_FW_PAGE_SIZE, callbacks, &ctx);
	open_packet(&ctx);
}

static void sample(uint32_t a, uint32_t b, uint32_t c)
{
	port_irq_t irq = port_irq_save();

	barectf_ring_trace_sample(&ctx, a, b, c);
	port_irq_restore(irq);
}

static void brief(uint16_t a)
{
	port_irq_t irq = port_irq_save();

	barectf_ring_trace_brief(&ctx, a);
	port_irq_restore(irq);
}

void barectf_ring_do_sample(uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		sample(i, i, i);
}

void barectf_ring_do_brief(uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		brief((uint16_t)i);
}

/* For its size, as whole.c. */
void barectf_ring_whole(uint32_t a, uint32_t b, uint32_t c)
{
	barectf_ring_begin();
	sample(a, b, c);
#if KINDS > 1
	brief((uint16_t)a);
#endif
}
