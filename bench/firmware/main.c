/*
 * A firmware that counts the instructions of an event, for QEMU's board mps2-an385 with -icount shift=0: an instruction is a nanosecond of its
 * time then, and its timer's tick, at 25 MHz, is 40 of them. A loop of known length is told with the rest, to show that this is so. How many
 * cycles they are depends on a processor's memory and pipeline, which QEMU does not have.
 *
 * Every kind is done TIMES times in a row, through as many pages as that takes: what it costs to begin a page is in it. What came of it is in
 * the last events in memory when QEMU ends.
 */
#include "remote_events.h"

#include "events.h"

#define REMOTE_EVENT_INCLUDE_FILE events.h
#include "define_remote_events.h"

#ifdef WITH_BARECTF
#include "barectf_ring.h"
#endif

#define TIMES 20000u
#define TICK 40u			/* instructions */
#define DUALTIMER_VALUE 0x40002004u	/* counts down */
#define DUALTIMER_CTRL 0x40002008u	/* bit 7: runs, 1: has 32 bits */
#define SYST_CSR 0xe000e010u
#define SYST_RVR 0xe000e014u

enum what { KNOWN, LOOP, EVENT_16, EVENT_4, EVENT_OFF, ALL_OFF, TICKS, BARECTF_16, BARECTF_4 };

static volatile uint32_t *reg(uint32_t address)
{
	return (volatile uint32_t *)address;
}

/* Two instructions a turn, on whatever core. */
static void do_known(uint32_t n)
{
	__asm__ volatile(".syntax unified\n1:\tsubs %0, %0, #1\n\tbne 1b" : "+l"(n) : : "cc");
}

static void do_loop(uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		__asm__ volatile("" : : "r"(i) : "memory");
}

static void do_sample(uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		trace_sample(i, i, i);
}

static void do_brief(uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		trace_brief((u16)i);
}

static void do_silent(uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		trace_silent(i, i, i);
}

static void do_tick(uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		ringside_fw_tick();
}

static uint32_t ticks[BARECTF_4 + 1];

static void measure(enum what what, void (*kind)(uint32_t n))
{
	uint32_t before = *reg(DUALTIMER_VALUE);

	kind(TIMES);
	ticks[what] = before - *reg(DUALTIMER_VALUE);
}

static void tell(void)
{
	for (uint32_t what = 0; what <= BARECTF_4; what++)
		if (ticks[what])
			trace_measured((u16)what, TIMES, ticks[what] * TICK);
}

/* Semihosting: QEMU ends. Both registers are as the call wants them. */
static void leave(void)
{
	register uint32_t call __asm__("r0") = 0x18;
	register uint32_t reason __asm__("r1") = 0x20026;

	__asm__ volatile("bkpt 0xab" : : "r"(call), "r"(reason) : "memory");
	for (;;)
		;
}

static void run(void)
{
	ringside_fw_init();
	measure(KNOWN, do_known);
	measure(LOOP, do_loop);
	measure(EVENT_16, do_sample);
	measure(EVENT_4, do_brief);
	ringside_fw.control.enable[0] &= ~(1u << 2);
	measure(EVENT_OFF, do_silent);
	ringside_fw.control.on = 0;
	measure(ALL_OFF, do_sample);
	ringside_fw.control.on = 1;
	measure(TICKS, do_tick);
#ifdef WITH_BARECTF
	barectf_ring_begin();
	measure(BARECTF_16, barectf_ring_do_sample);
	measure(BARECTF_4, barectf_ring_do_brief);
#endif
	tell();
}

extern uint32_t stack_top[], data_load[], data_start[], data_end[], bss_start[], bss_end[];

static void start(void)
{
	uint32_t *from = data_load, *to;

	for (to = data_start; to < data_end; to++)
		*to = *from++;
	for (to = bss_start; to < bss_end; to++)
		*(volatile uint32_t *)to = 0;
	*reg(DUALTIMER_CTRL) = 1 << 7 | 1 << 1;
	/* The clock of a Cortex-M0+, without its interrupt. */
	*reg(SYST_RVR) = 0xffffff;
	*reg(SYST_CSR) = 5;
	run();
	leave();
}

static void stop(void)
{
	for (;;)
		;
}

const struct {
	uint32_t *stack;
	void (*vector[3])(void);
} vectors __attribute__((used, section(".vectors"))) = { stack_top, { start, stop, stop } };
