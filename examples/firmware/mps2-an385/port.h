/*
 * ARM's MPS2 with image AN385, as QEMU has it: a Cortex-M3 at 25 MHz. QEMU has no cycle counter, so the clock is a timer of 32 bits: the first
 * half of the dual timer, counting down. A Cortex-M0+ has its own port, by SysTick, and runs here as well.
 */
#ifndef BOARD_PORT_H
#define BOARD_PORT_H

#define PORT_CLOCK_HZ 25000000u

#if defined(__ARM_ARCH_6M__)
#include "ports/cortex-m0plus.h"
#else
#define PORT_CLOCK_OWN
#define PORT_CLOCK_BITS 32
static inline uint32_t port_clock(void)
{
	return -*(volatile uint32_t *)0x40002004u;
}
#include "ports/cortex-m3.h"
#endif

#endif
