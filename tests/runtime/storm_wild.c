/*
 * The storm once more with a tool that discards things: see storm.c. Sums are not asked for, everything else is.
 */
#define STORM_WILD 1
#include "runtime/storm.c"
