/*
 * What a host has switched on stays on when the target is started again, also when that start was cut short by yet another one, wherever it was. A
 * memory that nobody had begun is off.
 */
#include <setjmp.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "insist.h"

static jmp_buf reset_button;
static int until_reset;

static void step(void)
{
	if (until_reset && !--until_reset)
		longjmp(reset_button, 1);
}

#define PORT_CLOCK_BITS 32
#define PORT_CLOCK_HZ 1000000u
typedef int port_irq_t;
static inline uint32_t port_clock(void)
{
	step();
	return 1;
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
	step();
	__asm__ volatile("" : : : "memory");
}
static inline uint32_t port_cpu(void)
{
	return 0;
}
#define PORT_SECTION
#define RINGSIDE_FW_RINGS 2
/* All of it is above. */
#define RINGSIDE_FW_PORT "insist.h"
#include "fw/ringside_fw.c"

/* True: it was cut short. */
static bool init_until(int steps)
{
	until_reset = steps;
	if (setjmp(reset_button))
		return true;
	ringside_fw_init();
	until_reset = 0;
	return false;
}

int main(void)
{
	uint32_t boots;
	int steps = 1;

	memset(&ringside_fw, 0x5a, sizeof(ringside_fw));
	for (; init_until(steps); steps++)
		;
	CHECK(steps > 8, "a start has %d steps", steps);
	CHECK(!ringside_fw.control.on && !ringside_fw.control.enable[0] && !ringside_fw.control.mark, "it is on: %#x %#x, mark %#x",
	      ringside_fw.control.on, ringside_fw.control.enable[0], ringside_fw.control.mark);
	for (int cut = 1; cut < steps; cut++) {
		ringside_fw.control.on = 1;
		ringside_fw.control.mark = 7;
		ringside_fw.control.enable[0] = 5;
		boots = ringside_fw.header.boots;
		CHECK(init_until(cut), "not cut at step %d", cut);
		ringside_fw_init();
		CHECK(ringside_fw.control.on == 1 && ringside_fw.control.enable[0] == 5 && ringside_fw.control.mark == 7, "cut at step %d: it is off", cut);
		CHECK(ringside_fw.header.boots > boots && ringside_fw.header.crc == fw_crc(&ringside_fw.header), "cut at step %d: header", cut);
	}
	return 0;
}
