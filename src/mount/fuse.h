/*
 * mount/fuse: the version of libfuse's interface that this room is written for.
 */
#ifndef MOUNT_FUSE_H
#define MOUNT_FUSE_H

#define FUSE_USE_VERSION 312
#include <fuse_lowlevel.h>

#endif
