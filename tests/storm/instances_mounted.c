/*
 * Instances that come and go, half of the time through a mount: see instances.c.
 */
#define STORM_MOUNTED 1
#include "storm/instances.c"
