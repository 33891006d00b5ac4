/*
 * The board: one hart in machine mode, and its timer.
 */
#include "../board.h"

#define MTIMECMP 0x02004000u
#define CAUSE_TIMER 0x80000007u
#define MIE_TIMER (1u << 7)
#define MSTATUS_MIE (1u << 3)

static uint64_t due;

/* The upper half is out of reach while the lower one changes. */
static void next_tick(void)
{
	volatile uint32_t *compare = (volatile uint32_t *)MTIMECMP;
	uint64_t now = port_clock();

	due += PORT_CLOCK_HZ / BOARD_TICK_HZ;
	if (due < now)
		due = now + PORT_CLOCK_HZ / BOARD_TICK_HZ;
	compare[1] = ~0u;
	compare[0] = (uint32_t)due;
	compare[1] = (uint32_t)(due >> 32);
}

void board_trap(uint32_t cause);
void board_trap(uint32_t cause)
{
	if (cause != CAUSE_TIMER)
		for (;;)
			;
	next_tick();
	firmware_irq(0, 200);
}

void board_init(void)
{
}

void board_start(void)
{
	due = port_clock();
	next_tick();
	__asm__ volatile("csrs mie, %0" : : "r"(MIE_TIMER));
	__asm__ volatile("csrs mstatus, %0" : : "r"(MSTATUS_MIE));
}

void board_wait(void)
{
	__asm__ volatile("wfi");
}
