/*
 * The board: a hypervisor on two cores, each with a guest that calls it and is interrupted by a timer. Interrupts are taken while the guest
 * runs, never while we do.
 */
#include "../board.h"

#define GICD 0x08000000u
#define GICD_CTLR 0x000u
#define GICD_ISENABLER 0x100u
#define GICC 0x08010000u
#define GICC_CTLR 0x000u
#define GICC_PMR 0x004u
#define GICC_IAR 0x00cu
#define GICC_EOIR 0x010u
#define IRQ_TIMER 26u			/* of EL2 */
#define PSCI_CPU_ON 0xc4000003u
#define GUEST_STATE 0x3c5u		/* EL1, with a stack pointer of its own */

struct guest {
	uint64_t x[31];
	uint64_t pc;
	uint64_t state;
};

uint64_t guest_run(struct guest *guest);
void board_start_core(void);
extern const char start[], guest_code[];

_Static_assert(BOARD_CORES == 2, "QEMU is told of two cores, and each has a ring");
static struct guest guests[BOARD_CORES];
static uint32_t runs[BOARD_CORES];

/* Devices keep their order of bytes, whatever ours is. */
static uint32_t device_order(uint32_t value)
{
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
	return __builtin_bswap32(value);
#else
	return value;
#endif
}

static void device_write(uint64_t address, uint32_t value)
{
	*(volatile uint32_t *)address = device_order(value);
}

static uint32_t device_read(uint64_t address)
{
	return device_order(*(volatile uint32_t *)address);
}

static void next_tick(void)
{
	__asm__ volatile("msr cnthp_tval_el2, %0" : : "r"(port_clock_hz() / BOARD_TICK_HZ));
	__asm__ volatile("msr cnthp_ctl_el2, %0\n\tisb" : : "r"(1ul));
}

static void on_interrupt(void)
{
	uint32_t irq = device_read(GICC + GICC_IAR);

	if ((irq & 0x3ff) != IRQ_TIMER)
		return;
	next_tick();
	firmware_irq(0, 200);
	device_write(GICC + GICC_EOIR, irq);
}

void board_wait(void)
{
	uint32_t cpu = port_cpu(), seq = runs[cpu]++;
	uint64_t reason;

	trace_guest_entry(seq);
	reason = guest_run(&guests[cpu]);
	trace_guest_exit(seq, (u8)reason, guests[cpu].x[0]);
	if (reason)
		on_interrupt();
}

void board_init(void)
{
	device_write(GICD + GICD_CTLR, 1);
}

static void start_this_core(void)
{
	struct guest *guest = &guests[port_cpu()];

	guest->pc = (uintptr_t)guest_code;
	guest->state = GUEST_STATE;
	device_write(GICD + GICD_ISENABLER, 1u << IRQ_TIMER);
	device_write(GICC + GICC_PMR, 0xff);
	device_write(GICC + GICC_CTLR, 1);
	next_tick();
}

/* The other core, from start.S. */
void board_start_core(void)
{
	start_this_core();
	firmware_run();
}

void board_start(void)
{
	register uint64_t x0 __asm__("x0") = PSCI_CPU_ON;
	register uint64_t x1 __asm__("x1") = 1;
	register uint64_t x2 __asm__("x2") = (uintptr_t)start;
	register uint64_t x3 __asm__("x3") = 0;

	__asm__ volatile("dsb sy\n\tsmc #0" : "+r"(x0), "+r"(x1), "+r"(x2), "+r"(x3) : : "memory", "x4", "x5", "x6", "x7", "x8", "x9",
			 "x10", "x11", "x12", "x13", "x14", "x15", "x16", "x17");
	start_this_core();
}
