/*
 * A clock of its own for fw/hosted.c in board.c, which is compiled with this before everything else: a counter of BOARD_BITS bits that runs
 * at another rate than the host's clock, a little faster or slower than it says, from another beginning.
 */
#ifndef TESTS_REMOTE_DRIFT_H
#define TESTS_REMOTE_DRIFT_H

#include <stdint.h>

#define PORT_CLOCK_OWN 1
#define PORT_CLOCK_BITS BOARD_BITS
#define PORT_CLOCK_HZ 1000000000u

#if BOARD_BITS == 64
uint64_t port_clock(void);
#else
uint32_t port_clock(void);
#endif

#endif
