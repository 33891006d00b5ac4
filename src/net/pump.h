/*
 * net/pump: standard input and output as one socket, where they are two pipes, as some servers of ssh have them. A child carries bytes between
 * the two and looks at none of them.
 */
#ifndef NET_PUMP_H
#define NET_PUMP_H

#include "base/err.h"

/* A descriptor for both: standard input itself where that is a socket already; or -errno. */
int pump_stdio(struct err *err);

#endif
