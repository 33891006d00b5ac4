/*
 * collect/store: recordings of boards in a directory, a directory for each board.
 *
 *	DIR/BOARD/2026-03-01T12-00-00.dat	the file, and behind rotation 2026-03-01T12-00-00-2.dat ...
 *	DIR/BOARD/.0123456789abcdef...		what is known of the recording of that number: a few lines
 *	DIR/BOARD/.0123456789abcdef....bases	see session.c
 *
 * Names are ours, whatever a board calls itself; nothing is followed, nothing is written over. What is known of a recording is changed
 * in one step, so that whoever is killed leaves it as it was before or after.
 */
#ifndef COLLECT_STORE_H
#define COLLECT_STORE_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#include "base/buf.h"
#include "base/err.h"
#include "net/desk.h"

struct store {
	int dir;
	char *path;
};

struct store_record {
	uint8_t recording[16];
	char board[WIRE_NAME_MAX + 1];
	char file[64];			/* the newest, in the board's directory */
	enum desk_stands stands;
	uint32_t generation, nr_lanes;
	uint64_t at;			/* of one that is done */
	uint64_t events, lost, bytes;
	bool lost_more, ended;		/* ended: the last frame has come */
	int64_t offset;
	uint64_t error;
	int64_t began, changed;		/* seconds of the calendar */
};

/* `make`: the directory is made if it is not there. */
int store_open(struct store *store, const char *path, bool make, struct err *err);
void store_close(struct store *store);

/* A board's directory, made if it is not there: a descriptor or -errno. */
int store_board(const struct store *store, const char *board, struct err *err);

/* 1 and what is known, 0, -errno. */
int store_find(struct store_record *out, int board, const uint8_t recording[16], struct err *err);
int store_put(int board, const struct store_record *record, struct err *err);
/* What nobody needs any more of one whose file is gone. */
void store_forget(int board, const struct store_record *record);

/* One whose only file nobody can read. */
void store_drop(int board, const struct store_record *record);
/* Of one of which nothing was written, nothing is left. */
bool store_drop_empty(int board, const struct store_record *record);

/* A new file for it, named by the time it began and its generation: a descriptor, and its name in `file`. */
int store_create(int board, const struct store_record *record, char file[64], struct err *err);
/* One behind rotation is hidden until store_put() told that it is the one, and this. */
void store_show(int board, const struct store_record *record);
/* The one it has: locked for us. -EBUSY: somebody else writes it. */
int store_reopen(int board, const struct store_record *record, struct err *err);
/*
 * For readers, of any path: where a recording goes on that was rotated, in memory of the caller's, NULL: its name is none of ours;
 * and the newest recording in a board's directory, NULL: it is no directory. -ENOENT with words: there is none in it.
 */
char *store_next(const char *path);
int store_newest(const char *dir, char **path, struct err *err);
/* For session.c. */
int store_bases(int board, const struct store_record *record, struct err *err);

/* Each recording of all boards, by board and time. `live`: it is being written. Ends with the first that is not 0. */
int store_walk(const struct store *store, int (*each)(void *ctx, const struct store_record *record, bool live, uint64_t size), void *ctx,
	       struct err *err);

struct store_limits {
	int64_t age;			/* seconds; 0: none */
	uint64_t size;			/* bytes of all boards; 0: none */
	uint64_t quota;			/* of one; */
	const char *board;		/* of this one only; NULL: of each */
	const uint8_t *spare;		/* the recording of this number is not removed; NULL: none */
};
/* Removes the oldest until the limits hold; never one that is being written. */
int store_thin(const struct store *store, const struct store_limits *limits, struct err *err);
/* Removes what somebody who was killed did not come to name. */
void store_tidy(const struct store *store);
/* Bytes on the disk of a board's files. */
uint64_t store_used(int board);
/* Of these, what store_thin() does not look at: files that are not shown yet, and what is known of recordings. */
uint64_t store_hidden(int board);

#endif
