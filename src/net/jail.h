/*
 * net/jail: where what others send is looked at. A process that has entered can work with the descriptors that it has, use memory up
 * to a limit, tell the time, and end. It opens nothing, starts nothing and becomes nobody else; where it was root's it is nobody's.
 */
#ifndef NET_JAIL_H
#define NET_JAIL_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"

/* For good. One thread; `memory`: bytes of data at most; `calls`: it may connect to others. -errno: the process is to end. */
int jail_enter(size_t memory, bool calls, struct err *err);

#endif
