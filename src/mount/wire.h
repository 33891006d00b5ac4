/*
 * mount/wire: between the session and its device, for what this libfuse does not know or tell: the two answers that speak of
 * files which are mapped are completed on their way to the kernel, and requests are told their numbers. One server a process.
 */
#ifndef MOUNT_WIRE_H
#define MOUNT_WIRE_H

#include <stdbool.h>
#include <stdint.h>

#include "mount/fuse.h"

/* Steps in between; the session is mounted. */
int wire_init(struct fuse_session *session);

/* Does the kernel say that it can map another file in the place of one of ours? Known when the session is being initialised. */
bool wire_can_map(void);
/* The answer that this thread gives next says that we will, or that what is opened is mapped so. */
void wire_want_map(void);
void wire_announce(int32_t backing);

/* The number of the request that this thread has got last: the kernel counts up as it hands them out. */
uint64_t wire_number(void);

#endif
