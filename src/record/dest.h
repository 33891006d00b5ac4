/*
 * record/dest: where a recording goes: into a file that grows here (dest_file.c), or by frames to whoever keeps one far away
 * (dest_far.c). The calls are those of dat/live, with its rules; see there.
 */
#ifndef RECORD_DEST_H
#define RECORD_DEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

#include "base/err.h"
#include "dat/live.h"
#include "net/spool.h"

struct dest;

struct dest_sums {
	uint64_t events, lost;
	bool lost_more;
};

struct dest_kind {
	int (*section)(struct dest *dest, enum dat_id id, const void *payload, size_t len);
	int (*option)(struct dest *dest, enum dat_id id, const void *value, size_t len);
	int (*publish)(struct dest *dest);
	int (*write)(struct dest *dest, size_t buffer, uint32_t cpu, const struct iovec *pages, int n);
	int (*splice)(struct dest *dest, size_t buffer, uint32_t cpu, int pipe, size_t len);
	/* `open`: the last page of what was written is not full. */
	int (*accept)(struct dest *dest, size_t buffer, uint32_t cpu, bool open);
	/* Bytes of data; bytes that it takes without waiting. */
	uint64_t (*bytes)(const struct dest *dest);
	uint64_t (*room)(const struct dest *dest);
	/* Until there is room, or nothing will come of it, for a moment. */
	void (*wait)(struct dest *dest, int ms);
	void (*tell)(struct dest *dest, const struct dest_sums *sums);
	int (*failed)(const struct dest *dest, struct err *err);
	int (*finish)(struct dest *dest, const struct dest_sums *sums, struct err *err);
	void (*close)(struct dest *dest);
};

struct dest {
	const struct dest_kind *kind;
};

int dest_file_open(struct dest **out, const char *path, const struct dat_live_how *how, struct err *err);

/* `stops` is asked while the rest is waited for: true: it is given up. */
int dest_far_open(struct dest **out, struct spool *spool, const struct dat_live_how *how, bool (*stops)(void *ctx), void *ctx,
		  struct err *err);

#endif
