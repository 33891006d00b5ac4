/*
 * dat/live_file: a growing trace file as live*.c see it. Private to this room.
 *
 *	| head, link | strings | sections and options, unused ones among them | hole | buffer | hole | buffer | hole
 *	             |<- a block or more; its last bytes say that the file grows
 *	                       |<- front                                        data ->|
 *	buffer:	| head | CPU 0 ... hole | CPU 1 ... hole | ...
 *
 * The link leads to the options in force, one section of them that tells everything. Others are written beside them,
 * and then the link is turned: one write of 8 bytes. What a CPU has is told by its row in these options: one write of
 * 16 bytes. So the file is whole after each write, whatever comes next.
 *
 * Sections stand back to back as readers want it, which walk along them: what is unused is a section, too.
 */
#ifndef DAT_LIVE_FILE_H
#define DAT_LIVE_FILE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/uio.h>

#include "base/buf.h"
#include "base/err.h"
#include "dat/dat.h"
#include "dat/seven.h"

#define LIVE_BLOCK 4096u	/* at least what a file system cuts files into */
#define LIVE_COUNT 4u		/* bytes before the first piece of packed data, which no row counts */
#define LIVE_BIG (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__)

/* A section with its head; len 0: there is none. */
struct live_part {
	uint64_t at, len;
};

struct live_buffer {
	char *name, *clock;
	uint32_t page_size;
	uint32_t called;		/* where its section's name is in the strings */
	uint64_t section;
	uint64_t told;			/* where the options tell `section`, from their beginning */
};

/* One CPU of one buffer. */
struct live_lane {
	uint64_t offset, size;		/* what counts, as the file tells it */
	uint64_t row;			/* where the options tell it, from their beginning; 0: nowhere */
	uint64_t written;		/* bytes behind it that do not count yet */
	uint64_t begin, end;		/* where it may lie */
	uint32_t open;			/* bytes at its end that are written anew */
	uint32_t nr_pieces;		/* of packed data */
	struct buf pages;		/* that wait to be packed */
};

struct live_file {
	int fd;
	char *path;			/* for words */
	uint64_t link, front, data;	/* data 0: nothing has its place yet */
	uint64_t block, step;		/* holes are cut out in blocks, data lies at multiples of steps */
	uint64_t max;			/* bytes that the file may have */
	bool packed;

	struct live_part parts[DAT_NR_IDS];	/* the newest of each ID */
	struct live_part told[DAT_NR_IDS];	/* those that the options in force tell of */
	struct live_part options;		/* in force */
	struct buf more;		/* options, encoded, but those that say where something is */
	uint32_t names[DAT_NR_IDS], unused;	/* in the strings */

	uint32_t nr_cpus;
	struct live_buffer *buffers;
	size_t nr_buffers;
	struct live_lane *lanes;	/* nr_cpus of each buffer */

	uint64_t gap, gap_end;		/* where the next section goes */
	uint64_t ballast;		/* bytes before `data` that are taken and not used */
};

static inline size_t live_nr_lanes(const struct live_file *f)
{
	return f->nr_buffers * f->nr_cpus;
}

static inline uint64_t live_up(uint64_t n, uint64_t step)
{
	return (n + step - 1) / step * step;
}

static inline uint64_t live_down(uint64_t n, uint64_t step)
{
	return n / step * step;
}

/* Behind the last byte that counts. */
static inline uint64_t live_end(const struct live_file *f, const struct live_lane *lane)
{
	return lane->offset + lane->size + (f->packed ? LIVE_COUNT : 0);
}

/* live_file.c: 0 or -errno. */
int live_put(const struct live_file *f, const void *bytes, size_t len, uint64_t at);
int live_put_word(const struct live_file *f, uint64_t value, uint64_t at);
/* Changes `parts`. */
int live_put_all(const struct live_file *f, struct iovec *parts, int n, uint64_t at);
/* From one place to another that does not overlap with it. */
int live_copy(const struct live_file *f, uint64_t from, uint64_t to, uint64_t len);
/* Gives back what lies there; where that cannot be, it stays. */
void live_punch(const struct live_file *f, uint64_t from, uint64_t to);
/* What blocks and steps are, by the file system and the buffers' pages. */
int live_measure(struct live_file *f, uint32_t page_size);
/* The strings, and where each name is in them. */
void live_strings(struct live_file *f, struct buf *out);
void live_file_fini(struct live_file *f);

/* live_front.c: room for `len` bytes where a section may be; what is left there is an unused one. */
int live_room(struct live_file *f, uint64_t len, uint64_t *at);
int live_put_unused(const struct live_file *f, uint64_t from, uint64_t to);
/* A new section. `body` is changed. */
int live_section(struct live_file *f, enum dat_id id, struct iovec *body, int n);
/* The section of options that tells what is, with all CPUs or those that have data. */
int live_options(struct live_file *f, struct buf *out, bool all);
/* The same in the file, and in force. */
int live_tell_at(struct live_file *f, uint64_t at, const struct buf *options);
int live_tell(struct live_file *f);
int live_turn(struct live_file *f, uint64_t at);
/* The row of a lane. */
int live_tell_lane(const struct live_file *f, const struct live_lane *lane);

/* live_room.c: finds a place for all data. */
int live_lay_out(struct live_file *f, struct err *err);
/* Takes as much as closing up may need; gives it back. */
void live_take_ballast(struct live_file *f);
void live_drop_ballast(struct live_file *f);

/* live_left.c: what the file that is open has, as it was left behind. */
int live_find(struct live_file *f, struct err *err);

/* live_close.c: as small as it can be. Where something fails, the file is whole, and larger. */
int live_close_up(struct live_file *f);

#endif
