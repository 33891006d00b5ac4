/*
 * net/spool: what a recorder has said and the far end has not taken yet: frames, in memory that it shares with its courier.
 *
 *	      taken            sent             put
 *	 ------|================|================|---------
 *	       for another try   on its way       room
 *
 * Positions count bytes since the recording began. The recorder alone moves `put`, the courier alone `taken`; the recorder takes
 * neither that nor anything else the courier wrote for more than it is: the courier talks to the network. When there is no room the
 * recorder waits, and the buffers that it records count what they lose.
 */
#ifndef NET_SPOOL_H
#define NET_SPOOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

#include "base/err.h"
#include "layout/wire.h"

#define SPOOL_MIN ((size_t)256 << 10)
#define SPOOL_MAX ((size_t)1 << 30)
#define SPOOL_WORDS 400u	/* of text */
#define SPOOL_OPEN_MAX 4096u

/* How it stands, as the courier says. */
enum spool_state {
	SPOOL_CALLING,		/* nobody has answered yet */
	SPOOL_UP,
	SPOOL_DOWN,		/* it was cut, and is tried again */
	SPOOL_DONE,		/* the far end has all of it */
	SPOOL_FAILED,		/* it will not be tried again */
};

struct spool_shared {
	/* the recorder's */
	uint64_t put;
	uint32_t ended;		/* no more will come */
	uint32_t gives_up;	/* what is not there yet need not arrive */
	uint32_t waits;		/* for room, or for news */
	uint32_t open_len;	/* the frame OPEN, whose position the courier fills in; never changed once it is there */
	uint8_t open[SPOOL_OPEN_MAX];
	/* the courier's */
	uint64_t taken __attribute__((aligned(64)));
	uint32_t state;		/* enum spool_state */
	uint32_t sleeps;	/* until more is put */
	uint32_t cuts;		/* connections that ended before all was said */
	uint32_t lines;		/* that an agent gave */
	int32_t code;		/* of words */
	int64_t offset;		/* as in struct wire_done */
	uint64_t error;
	char words[SPOOL_WORDS];	/* why it is down or has failed */
	char peer[WIRE_NAME_MAX + 1];	/* who answered */
};

struct spool {
	struct spool_shared *shared;
	uint8_t *bytes;			/* twice behind each other */
	size_t size;
	int fd;				/* of the bytes */
	int more, room;			/* eventfds: for the courier, for the recorder */
	uint64_t put;			/* the recorder's own */
	uint64_t reserved;
	uint64_t taken;			/* no less than that was seen */
};

/* Before the courier is forked. `size` is rounded up to a power of two. */
int spool_init(struct spool *spool, size_t size, struct err *err);
void spool_fini(struct spool *spool);

/* ---- the recorder's ---- */

/* Room for a frame with a body of that length, of which `head` bytes are given: where the rest goes, or NULL when there is none now. */
void *spool_begin(struct spool *spool, enum wire_kind kind, const void *head, size_t head_len, size_t len);
/* From memory that may not be what it seems, behind the head: 0 or -errno. */
int spool_copy(struct spool *spool, size_t at, const struct iovec *parts, int n);
/* The body of the frame that was begun. */
const uint8_t *spool_begun(const struct spool *spool);
/* The frame is whole. Without that nothing was said. */
void spool_end(struct spool *spool);

/* The courier has something to look at beside that. */
void spool_ring(struct spool *spool);
/* Bytes that can be put now, frames' heads among them. */
size_t spool_room(struct spool *spool);
/* Until there is so much room or the state is another than `state`, at most so long. False: neither. */
bool spool_wait(struct spool *spool, size_t room, enum spool_state state, int ms);
enum spool_state spool_state(const struct spool *spool);
/* Bytes that nobody has taken yet. */
uint64_t spool_left(struct spool *spool);
/* The courier's words, if they are any. */
void spool_words(const struct spool *spool, struct err *err);

/* ---- the courier's ---- */

/* What was put behind that position: bytes. It is whole frames. */
size_t spool_ready(const struct spool *spool, uint64_t from, const uint8_t **bytes);
/* Up to there it was taken. False: that is no place where it could be. */
bool spool_take(struct spool *spool, uint64_t at, uint64_t sent);
void spool_say(struct spool *spool, enum spool_state state, int code, const char *words);

#endif
