/*
 * dat/live_local: what the files behind live.h share. Private to this room.
 */
#ifndef DAT_LIVE_LOCAL_H
#define DAT_LIVE_LOCAL_H

#include "dat/live.h"
#include "dat/live_file.h"
#include "dat/pack.h"
#include "dat/place.h"

struct dat_live {
	struct live_file file;
	struct place place;
	struct pack *pack;		/* NULL: nothing is packed */
	int stage;			/* where pages that are to be packed are taken from: a file in memory */
	uint64_t keep, slide;		/* bytes of each CPU, and how many of them are let go at once */
	uint64_t bytes;			/* of all lanes, what counts */
	int direct;			/* the file past the cache; -1: not */
	uint64_t behind;		/* nanoseconds that the device is behind what is expected of it */
	uint64_t rests_until, rest;	/* until then not, and how long the next time */
	bool is_named, is_stale;	/* is_stale: something is not told yet */
	struct err err;			/* the first failure */
};

/* Keeps the first failure, with words, and returns it. */
int live_fail(struct dat_live *live, int code);

/* live_lane.c: finds a place for all data, if there is none yet. */
int live_ready(struct dat_live *live);
/* Fails: the CPU has used up its room. */
int live_full(struct dat_live *live, const struct live_lane *lane);

/* live_direct.c: 0 when it is nothing for that: then it goes through the cache. Else as pwritev(). */
void live_direct_open(struct dat_live *live);
void live_direct_close(struct dat_live *live);
ssize_t live_direct_write(struct dat_live *live, const struct iovec *pages, int n, size_t len, uint64_t at);
/* The same of what is in a pipe, as splice(). */
ssize_t live_direct_splice(struct dat_live *live, int pipe, size_t len, uint64_t at);

/* live_pack.c: the same as the calls without it, for packed data. */
int live_pack_write(struct dat_live *live, struct live_lane *lane, const struct iovec *pages, int n, size_t len);
int live_pack_accept(struct dat_live *live, struct live_lane *lane, uint32_t page_size, bool open);
/* A page that waited to become full, and does no more. */
int live_pack_end(struct dat_live *live, struct live_lane *lane);

#endif
