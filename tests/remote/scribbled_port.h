/* A machine whose core and clock are variables. */
#define PORT_CLOCK_BITS 32
#define PORT_CLOCK_HZ 1000000u
typedef int port_irq_t;
static inline uint32_t port_clock(void)
{
	return (uint32_t)clock_now;
}
static inline port_irq_t port_irq_save(void)
{
	return 0;
}
static inline void port_irq_restore(port_irq_t irq)
{
	(void)irq;
}
static inline void port_barrier(void)
{
	__asm__ volatile("" : : : "memory");
}
static inline uint32_t port_cpu(void)
{
	return this_core;
}
#define PORT_SECTION IN_ORDER __attribute__((aligned(ALIGN)))
