/*
 * Reading `trace` through a mount while fast writers overwrite it: see trace.c.
 */
#define STORM_MOUNTED 1
#include "storm/trace.c"
