/*
 * A port for Cortex-M0, M0+ and M23, which have no cycle counter: the clock is SysTick, 24 bits wide and counting down. What a port has:
 * cortex-m3.h.
 *
 * Board code has SysTick run over its whole range, SYST_RVR = 0xffffff. An event or ringside_fw_tick() has to come more often than it comes
 * round; its own interrupt comes just as often, which is not enough. Where an RTOS has SysTick, there is another timer: PORT_CLOCK_OWN.
 */
#ifndef RINGSIDE_PORT_CORTEX_M0PLUS_H
#define RINGSIDE_PORT_CORTEX_M0PLUS_H

#ifndef PORT_CLOCK_OWN
#ifndef PORT_CLOCK_HZ
#error "PORT_CLOCK_HZ: the rate of SysTick"
#endif
#define PORT_CLOCK_BITS 24
static inline uint32_t port_clock(void)
{
	return -*(volatile uint32_t *)0xe000e018u;	/* SYST_CVR */
}
#endif

#include "cortex-m.h"

#endif
