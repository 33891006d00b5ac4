/*
 * control/memory: kmem:kmalloc and kmem:kfree, which attached programs record of their own allocations.
 */
#ifndef CONTROL_MEMORY_H
#define CONTROL_MEMORY_H

#include "control/control.h"

/*
 * Makes the state say which of the two is wanted, by its rules and hooks. The first time, plans are filed for what programs have brought,
 * and for the C library, so that allocators can be patched. In a transaction, before it is published.
 */
int control_memory_fill(struct control *control, struct err *err);

#endif
