/*
 * What all Cortex-M ports share: see cortex-m3.h.
 */
#ifndef RINGSIDE_PORT_CORTEX_M_H
#define RINGSIDE_PORT_CORTEX_M_H

typedef uint32_t port_irq_t;

static inline port_irq_t port_irq_save(void)
{
	port_irq_t irq;

	__asm__ volatile("mrs %0, primask\n\tcpsid i" : "=r"(irq) : : "memory");
	return irq;
}

static inline void port_irq_restore(port_irq_t irq)
{
	__asm__ volatile("msr primask, %0" : : "r"(irq) : "memory");
}

/*
 * There is one core; who looks from outside sees stores in their order. M0, M0+, M1 and M3 do not change it: there the compiler has to keep it,
 * too, and that is all. An M4 cannot be told from an M7 here.
 */
static inline void port_barrier(void)
{
#if defined(__ARM_ARCH_6M__) || defined(__ARM_ARCH_7M__)
	__asm__ volatile("" : : : "memory");
#else
	__asm__ volatile("dmb" : : : "memory");
#endif
}

/* A part with two cores defines PORT_CPU_OWN, and port_cpu_own() to tell them apart. */
static inline uint32_t port_cpu(void)
{
#ifdef PORT_CPU_OWN
	return port_cpu_own();
#else
	return 0;
#endif
}

#ifndef PORT_SECTION
#define PORT_SECTION __attribute__((section(".noinit")))
#endif

#endif
