/*
 * The board: vectors, two timers that interrupt at different priorities, and a clock.
 */
#include "../board.h"

#define TIMER_HZ 25000000u
#define TIMER0 0x40000000u
#define TIMER1 0x40001000u
#define TIMER_CTRL 0x0u		/* bit 0: runs, 3: interrupts */
#define TIMER_RELOAD 0x8u
#define TIMER_CLEAR 0xcu
#define DUALTIMER_CTRL 0x40002008u	/* bit 7: runs, 1: has 32 bits */
#define SYST_CSR 0xe000e010u
#define SYST_RVR 0xe000e014u
#define SYST_CVR 0xe000e018u
#define NVIC_ISER 0xe000e100u
#define NVIC_IPR2 0xe000e408u	/* of interrupts 8 to 11 */
#define IRQ_TIMER0 8
#define IRQ_TIMER1 9

static volatile uint32_t *reg(uint32_t address)
{
	return (volatile uint32_t *)address;
}

static void on_timer0(void)
{
	*reg(TIMER0 + TIMER_CLEAR) = 1;
	/* Long enough for the other one to come over it now and then. */
	firmware_irq(0, 2000);
}

static void on_timer1(void)
{
	*reg(TIMER1 + TIMER_CLEAR) = 1;
	firmware_irq(1, 20);
}

static void stop(void)
{
	for (;;)
		;
}

extern uint32_t stack_top[], data_load[], data_start[], data_end[], bss_start[], bss_end[];

static void start(void)
{
	uint32_t *from = data_load, *to;

	for (to = data_start; to < data_end; to++)
		*to = *from++;
	for (to = bss_start; to < bss_end; to++)
		*(volatile uint32_t *)to = 0;
	firmware_main();
}

const struct {
	uint32_t *stack;
	void (*vector[15 + 16])(void);
} vectors __attribute__((used, section(".vectors"))) = {
	stack_top,
	{ start, stop, stop, stop, stop, stop, 0, 0, 0, 0, stop, stop, 0, stop, stop, [15 + IRQ_TIMER0] = on_timer0,
	  [15 + IRQ_TIMER1] = on_timer1 },
};

void board_init(void)
{
	*reg(DUALTIMER_CTRL) = 1 << 7 | 1 << 1;
	*reg(SYST_RVR) = 0xffffff;
	*reg(SYST_CVR) = 0;
	*reg(SYST_CSR) = 5;
}

void board_start(void)
{
	*reg(NVIC_IPR2) = 0xc0 << 0 | 0x40 << 8;
	*reg(TIMER0 + TIMER_RELOAD) = TIMER_HZ / BOARD_TICK_HZ - 1;
	/* A little more often than told: so they do not keep step, and it comes at each moment of the other one. */
	*reg(TIMER1 + TIMER_RELOAD) = TIMER_HZ / BOARD_TICK_HZ * 2 / 3 - 100;
	*reg(TIMER0 + TIMER_CTRL) = 1 | 1 << 3;
	*reg(TIMER1 + TIMER_CTRL) = 1 | 1 << 3;
	*reg(NVIC_ISER) = 1 << IRQ_TIMER0 | 1 << IRQ_TIMER1;
}

void board_wait(void)
{
	__asm__ volatile("wfi");
}
