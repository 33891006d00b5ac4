/*
 * collect/journal: frames that were taken and do not show in the trace file yet: sections and options between two TELLs. They lie beside it,
 * so that whoever goes on after a kill need not be told them again.
 *
 *	from: | position behind it : 64 | frame | position : 64 | frame | ...
 *
 * In: frames, in a session's jail; a file that somebody else opened. What is read back is checked as if it came from the network.
 */
#ifndef COLLECT_JOURNAL_H
#define COLLECT_JOURNAL_H

#include <stdint.h>

#include "base/err.h"
#include "net/channel.h"

struct journal {
	int fd;			/* the caller's; -1: there is none, and nothing is kept */
	uint64_t from, len;
};

/* One more, behind which the stream is at `after`. */
int journal_add(struct journal *journal, uint64_t after, const struct frame *frame, struct err *err);
/* All of it shows in the trace file now. */
int journal_clear(struct journal *journal, struct err *err);
/* Each whole one, in order, until `take` returns other than 0, which is returned; `after` is the last one's, if there are any. */
int journal_replay(struct journal *journal, int (*take)(void *ctx, const struct frame *frame, struct err *err), void *ctx, uint64_t *after,
		   struct err *err);

#endif
