/* QEMU's `virt` machine: its time counts at 10 MHz. */
#define PORT_CLOCK_HZ 10000000u
#include "ports/riscv32.h"
