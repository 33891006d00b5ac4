/*
 * cmd/stream_lines: what comes into buffers of a tracing directory, as the lines that `report` would print of it, all
 * buffers' and CPUs' in the order of time, each once. What is printed is taken out of the buffers.
 */
#ifndef CMD_STREAM_LINES_H
#define CMD_STREAM_LINES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "cmd/pager.h"
#include "control/control.h"

struct stream_lines;

/* Lines go to the pager, which stays the caller's, and whose err is that of all calls here. At most `max` buffers are added. */
int stream_lines_open(struct stream_lines **out, struct control *control, struct pager *pager, size_t max,
		      struct err *err);
void stream_lines_close(struct stream_lines *lines);

/* `instance` NULL: the top buffer; `title` stands before its lines, and outlives them. -EBUSY: somebody else reads it. */
int stream_lines_add(struct stream_lines *lines, const char *instance, const char *title, struct err *err);

/*
 * Prints what there is, until `over` (asked now and then; NULL: never) says so. 1 when there was something, 0, -errno;
 * -EPIPE when nobody reads it.
 */
int stream_lines_take(struct stream_lines *lines, bool (*over)(void *arg), void *arg, struct err *err);

/*
 * When there was nothing more: until there is something, or *also is not `seen` any more. `paced`: lines have just been
 * printed, and who is fast shall not wake us for each; then what comes is left for a tenth of a second, unless it becomes much.
 */
int stream_lines_sleep(struct stream_lines *lines, bool paced, const uint32_t *also, uint32_t seen, struct err *err);

/* Of buffers that are off by now: losses that no event came after. And the sum of all, in words. */
int stream_lines_end(struct stream_lines *lines, bool quiet);

#endif
