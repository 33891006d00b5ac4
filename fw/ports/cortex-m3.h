/*
 * A port for Cortex-M3, M4, M7 and M33: one core, interrupts masked by PRIMASK, the clock is the cycle counter, 32 bits wide.
 *
 * A port has:
 *	PORT_CLOCK_BITS, PORT_CLOCK_HZ	how wide the counter is, 24 to 32 or 64, and its rate, up to 18 GHz; a constant or an expression
 *	port_clock()			the counter, counting up, and round from its last value to 0; 32 bits wide, or 64. Of several cores
 *					it is the same for all. It never stops, also while a core sleeps, and keeps its rate
 *	PORT_CLOCK_EARLY()		only where a processor may read it before a load that stands before it in the program: has that
 *					not be so any more for the next read, when a branch on what was loaded is behind it
 *	port_irq_t, port_irq_save(), port_irq_restore()
 *					nothing that traces comes between on this core; what was masked before stays masked
 *	port_barrier()			stores before it are seen before those behind it, by who reads the memory and by the compiler
 *	port_cpu()			the core that runs this; asked while interrupts are masked, where there are several rings. What
 *					happens on one that has no ring is not recorded
 *	PORT_SECTION			where the memory is, as an attribute: RAM that the host sees and no cache holds back, which nobody
 *					clears after a restart
 * All are called with interrupts masked, but for port_irq_save().
 *
 * Board code switches the counter on: DEMCR.TRCENA, then DWT_CTRL.CYCCNTENA. On many parts it stands still while the core sleeps. A board with
 * a better clock defines PORT_CLOCK_OWN and all of the first two lines before this.
 */
#ifndef RINGSIDE_PORT_CORTEX_M3_H
#define RINGSIDE_PORT_CORTEX_M3_H

#ifndef PORT_CLOCK_OWN
#ifndef PORT_CLOCK_HZ
#error "PORT_CLOCK_HZ: the core's clock rate"
#endif
#define PORT_CLOCK_BITS 32
static inline uint32_t port_clock(void)
{
	return *(volatile uint32_t *)0xe0001004u;	/* DWT_CYCCNT */
}
#ifndef __ARM_ARCH_7M__
#define PORT_CLOCK_EARLY() __asm__ volatile("dmb" : : : "memory")
#endif
#endif

#include "cortex-m.h"

#endif
