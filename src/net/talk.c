/*
 * net/talk: see talk.h.
 *
 *	TLS, HELLO both ways | until there is an OPEN | OPEN, HAVE | frames, and answers | END, DONE
 */
#include "net/talk.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/mono.h"
#include "net/channel.h"
#include "net/greet.h"

/* The far end says something each second or two. */
#define SILENT_MS 15000
/* Frames that are looked at before it is our turn again. */
#define FRAMES_MAX 256

struct talk {
	struct spool *spool;
	const struct greet_how *how;
	struct channel channel;
	int life;
	uint64_t sent;		/* position of the next byte to be sent */
	bool orphan;
	int over;		/* TALK_*, or -1 */
	struct err err;
};

/* Ends it with these words. */
static void end(struct talk *talk, int outcome, enum spool_state state)
{
	char words[SPOOL_WORDS];

	if (talk->over >= 0)
		return;
	talk->over = outcome;
	snprintf(words, sizeof(words), "%.100s: %.280s", talk->how->text, talk->err.text);
	spool_say(talk->spool, state, talk->err.code, words);
}

static void cut(struct talk *talk)
{
	end(talk, TALK_CUT, SPOOL_DOWN);
}

static void fail(struct talk *talk)
{
	end(talk, TALK_FAILED, SPOOL_FAILED);
}

/* ---- what it says ---- */

static void take(struct talk *talk, const struct frame *frame)
{
	struct wire_at at;

	if (frame->len != sizeof(at)) {
		err_set(&talk->err, -EPROTO, "what it says makes no sense");
		cut(talk);
		return;
	}
	memcpy(&at, frame->body, sizeof(at));
	if (!spool_take(talk->spool, wire64(at.at), talk->sent)) {
		err_set(&talk->err, -EPROTO, "it has taken what it was never told");
		cut(talk);
	}
}

static void tell_time(struct talk *talk, const struct frame *frame, uint64_t got)
{
	struct wire_time time = { .got = wire64(got) };

	if (frame->len != sizeof(struct wire_ask))
		return;
	memcpy(&time.number, frame->body, sizeof(time.number));
	time.sent = wire64(mono_ns());
	channel_put(&talk->channel, WIRE_TIME, &time, sizeof(time), NULL, 0);
}

static void finish(struct talk *talk, const struct frame *frame)
{
	struct wire_done done;

	if (frame->len != sizeof(done))
		return;
	memcpy(&done, frame->body, sizeof(done));
	talk->spool->shared->offset = (int64_t)wire64((uint64_t)done.offset);
	talk->spool->shared->error = wire64(done.error);
	err_set(&talk->err, 0, "done");
	end(talk, TALK_DONE, SPOOL_DONE);
}

static void refused(struct talk *talk, const struct frame *frame)
{
	bool again;

	frame_refusal(frame, &again, &talk->err);
	if (again)
		cut(talk);
	else
		fail(talk);
}

static void hear(struct talk *talk)
{
	struct frame frame;
	int r = 1;

	for (int i = 0; i < FRAMES_MAX && talk->over < 0; i++) {
		r = channel_next(&talk->channel, &frame, &talk->err);
		if (r <= 0)
			break;
		if (frame.kind == WIRE_ASK)
			tell_time(talk, &frame, mono_ns());
		else if (frame.kind == WIRE_TAKEN)
			take(talk, &frame);
		else if (frame.kind == WIRE_DONE)
			finish(talk, &frame);
		else if (frame.kind == WIRE_REFUSE)
			refused(talk, &frame);
	}
	if (!r)
		err_set(&talk->err, -ECONNRESET, "it has hung up");
	if (r <= 0 && r != -EAGAIN)
		cut(talk);
}

/* ---- what we say ---- */

static bool speak(struct talk *talk)
{
	const uint8_t *bytes;
	size_t ready = spool_ready(talk->spool, talk->sent, &bytes);
	ssize_t n = ready ? channel_send(&talk->channel, bytes, ready) : channel_flush(&talk->channel);

	if (n < 0 && n != -EAGAIN) {
		err_set(&talk->err, (int)n, "%s", strerror((int)-n));
		cut(talk);
	}
	talk->sent += n > 0 ? (uint64_t)n : 0;
	return n > 0 ? (size_t)n < ready : ready > 0;
}

/* Until something is to be done. */
static void sleep_well(struct talk *talk, bool sends)
{
	struct spool_shared *shared = talk->spool->shared;
	struct pollfd fds[4];
	const uint8_t *bytes;
	uint64_t count;

	channel_poll(&talk->channel, fds, sends);
	fds[2] = (struct pollfd){ .fd = talk->spool->more, .events = POLLIN };
	fds[3] = (struct pollfd){ .fd = talk->orphan ? -1 : talk->life, .events = POLLIN };
	__atomic_store_n(&shared->sleeps, 1, __ATOMIC_SEQ_CST);		/* pairs with spool_end() */
	if (sends || !spool_ready(talk->spool, talk->sent, &bytes))
		poll(fds, 4, talk->channel.dry ? 1000 : 0);
	__atomic_store_n(&shared->sleeps, 0, __ATOMIC_RELAXED);
	if (fds[2].revents && read(talk->spool->more, &count, sizeof(count)) < 0)
		errno = 0;
	talk->orphan |= fds[3].revents != 0;
}

static void look_around(struct talk *talk)
{
	struct spool_shared *shared = talk->spool->shared;

	if (mono_ms() - talk->channel.heard_at > SILENT_MS) {
		err_set(&talk->err, -ETIMEDOUT, "nothing was heard for %d seconds", SILENT_MS / 1000);
		cut(talk);
	}
	if (__atomic_load_n(&shared->gives_up, __ATOMIC_ACQUIRE) ||
	    (talk->orphan && !shared->ended && shared->taken == __atomic_load_n(&shared->put, __ATOMIC_ACQUIRE))) {
		err_set(&talk->err, -ECANCELED, "the recorder is no more");
		fail(talk);
	}
}

/* OPEN, with the position of what comes next; HAVE says what is there already. */
static int begin(struct talk *talk)
{
	struct spool_shared *shared = talk->spool->shared;
	uint64_t at = wire64(shared->taken);
	struct wire_at have;
	struct frame frame;
	int r;

	while (!__atomic_load_n(&shared->open_len, __ATOMIC_ACQUIRE) && talk->over < 0) {	/* pairs with far_open() */
		sleep_well(talk, false);
		hear(talk);
		look_around(talk);
		/* Frames come behind OPEN. */
		channel_flush(&talk->channel);
	}
	if (talk->over >= 0)
		return -ECANCELED;
	memcpy(shared->open + offsetof(struct wire_open, at), &at, sizeof(at));
	r = channel_put(&talk->channel, WIRE_OPEN, shared->open, shared->open_len, NULL, 0);
	while (!r && !(r = channel_await(&talk->channel, &frame, mono_ms() + SILENT_MS, &talk->err)) && frame.kind == WIRE_ASK)
		tell_time(talk, &frame, mono_ns());
	if (!r && frame.kind == WIRE_REFUSE) {
		refused(talk, &frame);
		return -EPROTO;
	}
	if (!r && (frame.kind != WIRE_HAVE || frame.len != sizeof(have)))
		r = err_set(&talk->err, -EPROTO, "what it says makes no sense");
	if (r)
		return r;
	memcpy(&have, frame.body, sizeof(have));
	if (!spool_take(talk->spool, wire64(have.at), __atomic_load_n(&shared->put, __ATOMIC_ACQUIRE)))
		return err_set(&talk->err, -EPROTO, "it has what it was never told");
	talk->sent = wire64(have.at);
	return 0;
}

int talk_through(struct spool *spool, int fd, int life, const struct greet_how *how)
{
	struct talk talk = { .spool = spool, .how = how, .life = life, .over = -1, .err = ERR_INIT };
	char peer[WIRE_NAME_MAX + 1];
	int r = greet(&talk.channel, fd, how, WIRE_RECORDS, peer, &talk.err);

	/* At the first one there may be nobody who could be tried again. */
	if (r == -EACCES || (r && !*spool->shared->peer))
		fail(&talk);
	if (!r) {
		memcpy(spool->shared->peer, *peer ? peer : "?", *peer ? sizeof(peer) : 2);
		spool_say(spool, SPOOL_UP, 0, "");
		r = begin(&talk);
	}
	if (r)
		cut(&talk);
	while (talk.over < 0) {
		bool sends = speak(&talk);

		sleep_well(&talk, sends);
		hear(&talk);
		look_around(&talk);
	}
	channel_fini(&talk.channel);
	return talk.over;
}
