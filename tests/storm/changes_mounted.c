/*
 * A buffer that is changed all the time, half of it through a mount: see changes.c.
 */
#define STORM_MOUNTED 1
#include "storm/changes.c"
