/*
 * A port for bare-metal AArch64: a ring for each core, interrupts masked by DAIF, the clock is the generic timer's counter. What a port
 * has: cortex-m3.h. A board with a better clock defines PORT_CLOCK_OWN and what belongs to it before this.
 *
 * Cores are told apart by the low bits of MPIDR, one thread of each; define port_cpu_own() and PORT_CPU_OWN where they are numbered otherwise. The
 * memory has to be mapped as the host maps it: cached and inner shareable if it is a CPU beside this one.
 */
#ifndef RINGSIDE_PORT_AARCH64_H
#define RINGSIDE_PORT_AARCH64_H

#ifndef PORT_CLOCK_OWN
#define PORT_CLOCK_BITS 64
#define PORT_CLOCK_HZ port_clock_hz()

static inline uint64_t port_clock_hz(void)
{
	uint64_t hz;

	__asm__ volatile("mrs %0, cntfrq_el0" : "=r"(hz));
	return hz;
}

/*
 * Not before what stands before it in the program. To a hypervisor the virtual counter is that of whichever guest it last let run; to all others the
 * physical one may be somebody else's.
 */
static inline uint64_t port_clock(void)
{
	uint64_t level, count;

	__asm__("mrs %0, currentel" : "=r"(level));
	if (level >= 2 << 2)
		__asm__ volatile("isb\n\tmrs %0, cntpct_el0" : "=r"(count) : : "memory");
	else
		__asm__ volatile("isb\n\tmrs %0, cntvct_el0" : "=r"(count) : : "memory");
	return count;
}
/* That is so of a load only if a branch has waited for it. */
#define PORT_CLOCK_EARLY() ((void)0)
#endif

typedef uint64_t port_irq_t;

static inline port_irq_t port_irq_save(void)
{
	port_irq_t irq;

	__asm__ volatile("mrs %0, daif\n\tmsr daifset, #3" : "=r"(irq) : : "memory");
	return irq;
}

static inline void port_irq_restore(port_irq_t irq)
{
	__asm__ volatile("msr daif, %0" : : "r"(irq) : "memory");
}

static inline void port_barrier(void)
{
	/* Who reads may be no core of ours. */
	__asm__ volatile("dmb osh" : : : "memory");
}

static inline uint32_t port_cpu(void)
{
#ifdef PORT_CPU_OWN
	return port_cpu_own();
#else
	uint64_t mpidr;

	__asm__ volatile("mrs %0, mpidr_el1" : "=r"(mpidr));
	/* Where cores have threads, those are the lowest. */
	return mpidr >> (mpidr & 1u << 24 ? 8 : 0) & 0xff;
#endif
}

#ifndef PORT_SECTION
#define PORT_SECTION __attribute__((section(".noinit")))
#endif

#endif
