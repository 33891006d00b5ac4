/*
 * record/hose: the way of full pages from one CPU's trace_pipe_raw to a file, by pipes.
 *
 * Who writes to a file out of a pipe holds the pipe until that is done. So a CPU has several, and who fills them goes on to the next
 * when one is full or the writer wants it:
 *
 *	first: the oldest, being written	last: being filled
 *	[########]  [########]  [###.....]  [........]
 *
 * Pages of a CPU are in order as long as they are taken out under its lock: those in pipes are older than those in the buffer.
 */
#ifndef RECORD_HOSE_H
#define RECORD_HOSE_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* So many at most, see hose_lay(). */
#define HOSE_PIPES 16u

struct hose {
	uint32_t cpu;
	int raw, stats;		/* -1: not open */
	bool served;		/* a mover fills it; else who empties it does */
	pthread_mutex_t lock;	/* for whoever takes pages out of `raw`, and for these: */
	struct {
		int in, out;
	} pipe[HOSE_PIPES];
	uint32_t nr;		/* of them; 0: pages are read: hose_has_pipes() */
	uint32_t first, last;	/* which is written next, and which is filled; they count on and on */
};

/* Without any files yet; NULL: no memory. */
struct hose *hose_new(uint32_t cpu);
void hose_close(struct hose *hose);
/* As many pipes as are fair where there are so many hoses. Without any, pages are read. */
void hose_lay(struct hose *hose, size_t nr_hoses);

/* Not on a file system that has pages only by read(), which is seen when it is filled. */
bool hose_has_pipes(struct hose *hose);
/* Full pages from the buffer into pipes: bytes, 0 when there are none or no room, -errno. */
ssize_t hose_fill(struct hose *hose);
/* The oldest pipe that has something, which is then the caller's alone: bytes in it. */
size_t hose_take(struct hose *hose, int *pipe);
/* If it is empty now, it can be filled again. True: others wait to be written. */
bool hose_give(struct hose *hose);
/* The page that is being written, if nothing before it is left: bytes, 0, or -errno. */
ssize_t hose_read_open(struct hose *hose, unsigned char *page, uint32_t size);

#endif
