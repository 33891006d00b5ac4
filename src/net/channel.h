/*
 * net/channel: bytes both ways, with TLS or as they are, and the frames in them. Nothing here waits but channel_wait().
 *
 * In what is written what has to be quick goes first: frames of channel_put(), and behind the frame that is under way what
 * channel_send() is given.
 */
#ifndef NET_CHANNEL_H
#define NET_CHANNEL_H

#include <poll.h>
#include <stdbool.h>

#include "base/buf.h"
#include "layout/wire.h"
#include "net/tls.h"

struct channel {
	int in, out;		/* the same of a socket; the caller's */
	struct tls *tls;	/* NULL: none */
	struct buf read;	/* from read_at on: what has not been looked at */
	size_t read_at;
	struct buf put;		/* frames of our own, from put_at on */
	size_t put_at;
	size_t cut;		/* bytes of the frame of channel_send() that was begun, still to come */
	short tls_wants;	/* of the last write */
	bool ended;
	bool dry;		/* nothing is at hand that was not looked at; else nothing need wake whoever sleeps */
	int64_t heard_at;	/* the last byte came then (mono_ms()) */
	uint64_t received, sent;	/* bytes of frames */
};

/* `tls` is taken. Both descriptors must not block. */
void channel_init(struct channel *channel, int in, int out, struct tls *tls);
void channel_fini(struct channel *channel);

struct frame {
	enum wire_kind kind;
	const uint8_t *body;	/* until the next call */
	size_t len;
};

/* The next frame: 1; -EAGAIN when there is none yet; 0 at the end, between frames; -EPROTO, -ECONNRESET or another -errno. */
int channel_next(struct channel *channel, struct frame *frame, struct err *err);

/* One of our own: 0 or -ENOMEM. */
int channel_put(struct channel *channel, enum wire_kind kind, const void *head, size_t head_len, const void *rest, size_t rest_len);
/* Bytes of whole frames, as many as go without waiting: their number, or -errno; -EAGAIN: none. What was put goes first. */
ssize_t channel_send(struct channel *channel, const uint8_t *frames, size_t len);
/* The same without any: 0 when all that was put is gone. */
int channel_flush(struct channel *channel);

/* What poll() is to wait for: `sends` when there are more frames to be sent. Fills two. */
void channel_poll(const struct channel *channel, struct pollfd fds[2], bool sends);
/* Alone: until there is something to do. 1, 0 after `ms`, -errno. */
int channel_wait(const struct channel *channel, bool sends, int ms);

/* The next frame, waiting for it until then, while what was put goes out: 0 or -errno. */
int channel_await(struct channel *channel, struct frame *frame, int64_t until, struct err *err);

/* A text of a frame, which may be anything, as one that can be shown: at most size - 1 bytes. */
void frame_text(const uint8_t *from, size_t len, char *text, size_t size);

/* HELLO of ours. */
int channel_hello(struct channel *channel, uint32_t wants, uint64_t machine, const char *name);
/* Theirs. -EPROTO with words when it is none of this protocol. */
int frame_hello(const struct frame *frame, struct wire_hello *hello, char name[WIRE_NAME_MAX + 1], struct err *err);
/* REFUSE, with words that may be NULL. */
int channel_refuse(struct channel *channel, int code, bool again, const char *words);
/* Theirs, as an error; what makes no sense is one, too. */
int frame_refusal(const struct frame *frame, bool *again, struct err *err);

#endif
