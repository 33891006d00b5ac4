/*
 * mount/park: requests on a followed file that has nothing to read.
 *
 * Such a request is put aside and a thread of the handle waits for it, so that neither the server's
 * loop nor another file waits with it. All of a handle are in one list. One is claimed while somebody
 * reads for it, and only then is anything read, so that nothing is consumed for one that was interrupted:
 *
 *             -> bytes              -> bytes
 *   claimed -+            claimed -+
 *             -> waiting -^         -> waiting ...
 *                  |
 *                  +-> EINTR: interrupted    +-> no bytes: flush, ioctl
 *
 * An interrupt, a flush or an ioctl that finds it claimed is noted, and counts should it have to wait again.
 *
 * Locks: libfuse's of the request, then the handle's; so nobody disarms a request while holding the
 * handle's. The kernel releases a file when all its requests have been answered: after its answer,
 * whoever gave it leaves the handle alone, but for the handle's own thread, for which park_stop() waits.
 */
#ifndef MOUNT_PARK_H
#define MOUNT_PARK_H

#include <stdbool.h>
#include <stdint.h>

#include "mount/fuse.h"
#include "mount/handles.h"

/* The largest read that the kernel asks for at once. */
#define PARK_PIECE_MAX (1u << 20)

/* Answers the request, now or when there is something. */
void park_read(struct handle *handle, fuse_req_t req, size_t size, uint64_t owner, bool nonblock);

/* Answers now, and tells `poll`, which may be NULL, when there is more to say. */
void park_poll(struct handle *handle, fuse_req_t req, struct fuse_pollhandle *poll);

/*
 * All that wait get no bytes; `owner` not NULL: only those who are that. True: there are others, who go on
 * waiting.
 */
bool park_wake(struct handle *handle, const uint64_t *owner);

/* The same with EINTR, and the thread has ended. For the last use of the handle. */
void park_stop(struct handle *handle);

#endif
