/*
 * A port for RISC-V, 32 bits, machine mode: interrupts masked by mstatus.MIE, the clock is the counter `time`, 64 bits in two halves. What
 * a port has: cortex-m3.h.
 *
 * Where `time` cannot be read as a register, define PORT_MTIME as the address of mtime. A board with a better clock defines PORT_CLOCK_OWN and what
 * belongs to it before this. Cores are told apart by mhartid; define port_cpu_own() and PORT_CPU_OWN where those that trace do not count from 0.
 */
#ifndef RINGSIDE_PORT_RISCV32_H
#define RINGSIDE_PORT_RISCV32_H

#ifndef PORT_CLOCK_OWN
#ifndef PORT_CLOCK_HZ
#error "PORT_CLOCK_HZ: the rate of mtime"
#endif
#define PORT_CLOCK_BITS 64

static inline uint32_t port_clock_high(void)
{
#ifdef PORT_MTIME
	return ((volatile uint32_t *)PORT_MTIME)[1];
#else
	uint32_t high;

	__asm__ volatile("rdtimeh %0" : "=r"(high));
	return high;
#endif
}

static inline uint32_t port_clock_low(void)
{
#ifdef PORT_MTIME
	return ((volatile uint32_t *)PORT_MTIME)[0];
#else
	uint32_t low;

	__asm__ volatile("rdtime %0" : "=r"(low));
	return low;
#endif
}

/* The halves belong together if the upper one is the same before and after. */
static inline uint64_t port_clock(void)
{
	uint32_t high, low;

	do {
		high = port_clock_high();
		low = port_clock_low();
	} while (high != port_clock_high());
	return (uint64_t)high << 32 | low;
}
#define PORT_CLOCK_EARLY() __asm__ volatile("fence r, i" : : : "memory")
#endif

typedef uint32_t port_irq_t;

static inline port_irq_t port_irq_save(void)
{
	port_irq_t irq;

	__asm__ volatile("csrrci %0, mstatus, 8" : "=r"(irq) : : "memory");
	return irq;
}

static inline void port_irq_restore(port_irq_t irq)
{
	__asm__ volatile("csrs mstatus, %0" : : "r"(irq & 8) : "memory");
}

static inline void port_barrier(void)
{
	__asm__ volatile("fence rw, rw" : : : "memory");
}

static inline uint32_t port_cpu(void)
{
#ifdef PORT_CPU_OWN
	return port_cpu_own();
#else
	uint32_t hart;

	__asm__ volatile("csrr %0, mhartid" : "=r"(hart));
	return hart;
#endif
}

#ifndef PORT_SECTION
#define PORT_SECTION __attribute__((section(".noinit")))
#endif

#endif
