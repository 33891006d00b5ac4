/*
 * What main.c and a board's code have to do with each other. Each board has a folder of its own, with a linker script.
 */
#ifndef BOARD_H
#define BOARD_H

#include "remote_events.h"

#include "board_events.h"

#define BOARD_CORES RINGSIDE_FW_RINGS
#define BOARD_IRQS 2u

/* How often interrupt 0 comes, in a second; interrupt 1 comes one and a half times as often. */
#ifndef BOARD_TICK_HZ
#define BOARD_TICK_HZ 1000u
#endif
/* Turns of the loop before it waits for an interrupt. */
#ifndef BOARD_TURNS
#define BOARD_TURNS 4u
#endif

/*
 * The host rings by another `value`, and knows by `seen` that it was heard. It lies 1 MiB behind the start of RAM, and what is traced right
 * behind it.
 */
struct board_mailbox {
	volatile uint32_t value;
	volatile uint32_t seen;
	uint32_t reserved[14];
};
extern struct board_mailbox board_mailbox;

/* ---- the board's ---- */

/* The clock runs behind this; interrupts do not come yet. */
void board_init(void);
/* Starts interrupts and other cores. These begin in firmware_run(). */
void board_start(void);
/* Until something happens. */
void board_wait(void);

/* ---- main.c's ---- */

/* The first core begins here, with a stack, and variables as C wants them. */
void firmware_main(void);
/* What each core does for ever. */
void firmware_run(void);
/* Interrupt number `irq` of this core; it takes some time. */
void firmware_irq(uint32_t irq, uint32_t work);

#endif
