/*
 * collect/session: see session.h.
 *
 *	TLS or not | HELLO, who is it | OPEN, where does it stand | frames, how far they are in the file | END, closed up, DONE
 */
#include "collect/session.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/mono.h"
#include "collect/compat.h"
#include "net/desk.h"
#include "collect/clock.h"
#include "collect/taker.h"
#include "net/admit.h"
#include "net/channel.h"
#include "net/trust.h"

/* Until a recording begins. */
#define OPEN_MS 600000
#define SILENT_MS 15000
/* Frames before it is told how far we are. */
#define FRAMES_MAX 64
#define NOTE_MS 1000
#define SILENCE_MS 300

struct session {
	int line;
	const struct session_how *how;
	struct channel channel;
	struct taker taker;
	struct clock clock;
	int bases;		/* a file; see put_bases() */
	uint32_t generation;	/* files of this recording before the one that is written */
	bool noted_sums;
	bool bound;		/* there is a recording, */
	bool begun;		/* and it goes on */
	uint64_t told;		/* position */
	int64_t noted_at;
	bool drives, exited;
	bool said, again;	/* it was refused, for now */
	int stop;		/* -1: it was told to, or nobody can tell */
	struct err err;
};

/* ---- a recording ---- */

/* What is asked of the desk about it. */
static struct desk_ask about(const struct session *session, enum desk_kind kind)
{
	const struct taker *taker = &session->taker;
	struct desk_ask ask = {
		.kind = kind, .len = (uint32_t)taker->nr_lanes, .at = taker->at, .events = taker->sums.events, .lost = taker->sums.lost,
		.lost_more = taker->sums.more != 0, .bytes = taker_bytes(taker), .error = UINT64_MAX,
	};

	memcpy(ask.recording, taker->open.recording, sizeof(ask.recording));
	return ask;
}

static int say_at(struct session *session, enum wire_kind kind, uint64_t at)
{
	const struct wire_at head = { wire64(at) };

	session->told = at;
	return channel_put(&session->channel, kind, &head, sizeof(head), NULL, 0);
}

static int say_done(struct session *session, int64_t offset, uint64_t error)
{
	const struct wire_done done = { .offset = (int64_t)wire64((uint64_t)offset), .error = wire64(error) };

	return channel_put(&session->channel, WIRE_DONE, &done, sizeof(done), NULL, 0);
}

/* Where each lane's pages begin in the file of this generation; those of the one before lie beside them. */
static int put_bases(struct session *session)
{
	size_t n = session->taker.nr_lanes;
	uint64_t *bases = calloc(n, sizeof(*bases));
	off_t at = (off_t)(((session->generation + 1) & 1) * n * sizeof(*bases));
	int r = bases ? 0 : -ENOMEM;

	for (size_t i = 0; !r && i < n; i++)
		bases[i] = taker_before(&session->taker, i);
	if (!r && pwrite(session->bases, bases, n * sizeof(*bases), at) != (ssize_t)(n * sizeof(*bases)))
		r = -EIO;
	free(bases);
	return r ? err_set(&session->err, r, "what was rotated cannot be noted: %s", strerror(-r)) : 0;
}

static int get_bases(struct session *session)
{
	size_t n = session->taker.nr_lanes;
	uint64_t *bases = calloc(n, sizeof(*bases));
	off_t at = (off_t)((session->generation & 1) * n * sizeof(*bases));
	int r = bases ? 0 : -ENOMEM;

	if (!r && session->generation && pread(session->bases, bases, n * sizeof(*bases), at) != (ssize_t)(n * sizeof(*bases)))
		r = -EIO;
	for (size_t i = 0; !r && i < n; i++)
		session->taker.lanes[i].before = bases[i];
	free(bases);
	return r ? err_set(&session->err, r, "what was rotated is not known: %s", strerror(-r)) : 0;
}

/* Behind the bases. */
static off_t gaps_at(const struct session *session)
{
	return (off_t)(2 * session->taker.nr_lanes * sizeof(uint64_t));
}

static int put_clock(struct session *session, struct match_points *points)
{
	return clock_put(&session->clock, &session->taker, session->how->machine, session->bases, gaps_at(session), points);
}

/* 1: it is done long since, and that was said. */
static int open_recording(struct session *session, const struct frame *frame)
{
	struct desk_answer answer;
	struct desk_ask ask;
	int fds[2], r;

	if (frame->kind != WIRE_OPEN)
		return err_set(&session->err, -EPROTO, "the sender does not say what it records");
	r = taker_open(&session->taker, frame->body, frame->len, &session->err);
	session->bound = true;
	if (r)
		return r;
	ask = about(session, DESK_FILE);
	r = desk_ask(session->line, &ask, &answer, fds, &session->err);
	if (!r && answer.stands == DESK_DONE) {
		r = say_at(session, WIRE_HAVE, answer.at);
		return r ? r : say_done(session, 0, UINT64_MAX) ? -ENOMEM : 1;
	}
	session->bases = fds[1];
	clock_load(&session->clock, session->bases, gaps_at(session));
	session->generation = answer.generation;
	session->taker.keeps = session->how->rotate_bytes;
	/* Behind both tables, and what is known of the clock. */
	session->taker.journal = (struct journal){ .fd = session->bases, .from = (uint64_t)gaps_at(session) + CLOCK_KEPT };
	if (!r)
		r = get_bases(session);
	if (!r && answer.stands == DESK_OPEN)
		r = taker_resume(&session->taker, fds[0], answer.file, &session->err);
	else if (!r)
		r = taker_begin(&session->taker, fds[0], answer.file, &session->err);
	session->begun = !r;
	return r ? r : say_at(session, WIRE_HAVE, session->taker.at);
}

static int rotate(struct session *session)
{
	struct desk_ask ask = about(session, DESK_NEXT);
	struct match_points points;
	struct desk_answer answer;
	int fds[2], r;

	if (!session->how->rotate_bytes || taker_bytes(&session->taker) < session->how->rotate_bytes)
		return 0;
	r = put_clock(session, &points);
	match_points_fini(&points);
	if (!r)
		r = put_bases(session);
	if (!r)
		r = desk_ask(session->line, &ask, &answer, fds, &session->err);
	if (!r)
		r = taker_prepare(&session->taker, fds[0], answer.file, &session->err);
	ask.kind = DESK_TURNED;
	if (!r)
		r = desk_ask(session->line, &ask, &answer, NULL, &session->err);
	session->generation++;
	return r ? r : taker_turn(&session->taker, &session->err);
}

/* ---- its clock ---- */

static void tell_jumps(const struct session *session, const struct match_points *points)
{
	struct desk_ask ask = { .kind = DESK_SAY };

	if (!points->jumps)
		return;
	ask.text_len = (uint32_t)snprintf(ask.text, sizeof(ask.text),
					  "one of the machines slept: their clocks jumped apart %u times, by up to %.3f s; events within %.1f s "
					  "of that may be off by as much", points->jumps, (double)points->jumped / 1e9,
					  (double)points->unsure / 1e9);
	desk_ask(session->line, &ask, NULL, NULL, NULL);
}

/* ---- of a board that is driven ---- */

static void say(struct session *session, const struct frame *frame)
{
	struct desk_ask ask = { .kind = DESK_SAY };

	ask.text_len = (uint32_t)(frame->len < sizeof(ask.text) - 1 ? frame->len : sizeof(ask.text) - 1);
	memcpy(ask.text, frame->body, ask.text_len);
	if (session->drives)
		desk_ask(session->line, &ask, NULL, NULL, NULL);
}

/* What has nothing to do with what it records. 1: that was it; 0: it is another frame; -errno. */
static int hear_aside(struct session *session, const struct frame *frame)
{
	struct desk_ask ask = { .kind = DESK_EXIT };
	struct wire_exit status;
	bool again;

	switch (frame->kind) {
	case WIRE_TIME:
		clock_hear(&session->clock, frame);
		return 1;
	case WIRE_SAY:
		say(session, frame);
		return 1;
	case WIRE_REFUSE:
		frame_refusal(frame, &again, &session->err);
		session->again = again;
		session->said = true;
		return session->err.code;
	case WIRE_EXIT:
		if (!session->drives || frame->len != sizeof(status))
			return 0;
		memcpy(&status, frame->body, sizeof(status));
		ask.len = wire32((uint32_t)status.status);
		session->exited = true;
		desk_ask(session->line, &ask, NULL, NULL, NULL);
		return 1;
	default:
		return 0;
	}
}

static void pass_stop(struct session *session)
{
	struct pollfd stop = { .fd = session->stop, .events = POLLIN };

	if (session->stop < 0 || poll(&stop, 1, 0) <= 0)
		return;
	session->stop = -1;
	channel_put(&session->channel, WIRE_STOP, NULL, 0, NULL, 0);
}

/* ---- while it records ---- */

/* 1: that was the last. */
static int finish(struct session *session)
{
	struct desk_ask ask = about(session, DESK_ENDED);
	struct match_points points;
	struct desk_answer answer;
	int r;

	if (session->taker.open.flags & WIRE_MONO)
		clock_ask_last(&session->clock, &session->channel);
	r = put_clock(session, &points);
	tell_jumps(session, &points);
	ask.offset = points.n ? points.all[points.n - 1].offset : 0;
	ask.error = points.error;
	match_points_fini(&points);
	if (!r)
		r = desk_ask(session->line, &ask, &answer, NULL, &session->err);
	if (!r)
		r = taker_finish(&session->taker, &session->err);
	if (r)
		return r;
	ask.kind = DESK_CLOSED;
	desk_ask(session->line, &ask, NULL, NULL, NULL);
	r = say_at(session, WIRE_TAKEN, session->taker.at);
	return r ? r : say_done(session, ask.offset, ask.error) ? -ENOMEM : 1;
}

/* 1: more may be there already; 0: not; 2: all is done. */
static int hear(struct session *session)
{
	struct frame frame;
	int r;

	for (int i = 0; i < FRAMES_MAX; i++) {
		r = channel_next(&session->channel, &frame, &session->err);
		if (!r)
			return err_set(&session->err, -ECONNRESET, "it has hung up");
		if (r < 0)
			return r == -EAGAIN ? 0 : r;
		r = hear_aside(session, &frame);
		if (r > 0 && session->exited)
			r = err_set(&session->err, -ECANCELED, "whoever recorded there was ended before the last word");
		if (r < 0)
			return r;
		if (r)
			continue;
		r = taker_frame(&session->taker, &frame, &session->err);
		if (!r && session->taker.ended)
			r = finish(session);
		if (r)
			return r < 0 ? r : 2;
		r = rotate(session);
		if (r)
			return r;
	}
	return 1;
}

static int note(struct session *session, int64_t now)
{
	struct desk_ask ask;

	if (now - session->noted_at < NOTE_MS && session->noted_sums == session->taker.summed)
		return 0;
	session->noted_at = now;
	session->noted_sums = session->taker.summed;
	ask = about(session, DESK_NOTE);
	ask.wants = session->taker.summed;
	return desk_ask(session->line, &ask, NULL, NULL, &session->err);
}

static int take_all(struct session *session)
{
	int64_t now;
	int more = 1, r;

	for (;;) {
		channel_wait(&session->channel, false, more ? 0 : clock_wait(&session->clock));
		more = hear(session);
		if (more < 0 || more == 2)
			return more < 0 ? more : 0;
		if (session->taker.at != session->told)
			say_at(session, WIRE_TAKEN, session->taker.at);
		r = channel_flush(&session->channel);
		if (r && r != -EAGAIN)
			return err_set(&session->err, r, "%s", strerror(-r));
		now = mono_ms();
		clock_ask(&session->clock, &session->channel, now);
		pass_stop(session);
		r = note(session, now);
		if (r)
			return r;
		r = clock_show(&session->clock, &session->taker, session->how->machine, session->bases, gaps_at(session), now);
		if (r)
			return err_set(&session->err, r, "its clock cannot be told: %s", strerror(-r));
		if (now - session->channel.heard_at > SILENT_MS)
			return err_set(&session->err, -ETIMEDOUT, "nothing was heard for %d seconds", SILENT_MS / 1000);
	}
}

/* Whoever has not begun yet is asked for the time all the while: so it knows that we live. */
static int await_open(struct session *session, struct frame *frame)
{
	int64_t until = mono_ms() + OPEN_MS;
	int r = 0;

	while (!r) {
		clock_ask(&session->clock, &session->channel, mono_ms());
		pass_stop(session);
		r = channel_await(&session->channel, frame, mono_ms() + clock_wait(&session->clock), &session->err);
		if (r == -ETIMEDOUT && mono_ms() < until) {
			session->err = (struct err)ERR_INIT;
			r = 0;
			continue;
		}
		if (r)
			return r;
		r = hear_aside(session, frame);
		if (!r)
			return 0;
		if (r > 0 && session->exited)
			return err_set(&session->err, -ECANCELED, "it has ended before it began");
		r = r > 0 ? 0 : r;
	}
	return r;
}

static int record(struct session *session)
{
	struct frame frame;
	int r = await_open(session, &frame);

	if (!r)
		r = open_recording(session, &frame);
	return r ? r : take_all(session);
}

/* Whoever speaks ringside's protocol speaks first. */
static bool is_silent(int fd)
{
	struct pollfd wait = { .fd = fd, .events = POLLIN };

	return !poll(&wait, 1, SILENCE_MS);
}

/* Words for whoever watches; `last`: they are why it ended. */
static void say_why(const struct session *session, bool last)
{
	struct desk_ask ask = { .kind = DESK_SAY, .wants = last };

	ask.text_len = (uint32_t)snprintf(ask.text, sizeof(ask.text), "%s", session->err.text);
	desk_ask(session->line, &ask, NULL, NULL, NULL);
}

int session_run(int fd, int line, const struct session_how *how)
{
	struct session session = { .line = line, .how = how, .stop = -1, .err = ERR_INIT };
	const struct admit_how by = { .line = line, .key = how->key, .bare = how->bare, .name = how->name, .machine = how->machine };
	int r;

	if (how->compat && how->bare && is_silent(fd))
		return compat_run(fd, line);
	r = admit(&session.channel, fd, &by, &session.err);

	if (!r)
		r = record(&session);

	if (r < 0 && session.begun)
		say_why(&session, false);
	if (r < 0)
		admit_refuse(&session.channel, &session.err);
	else
		admit_linger(&session.channel, 5000);
	channel_fini(&session.channel);
	if (session.bound)
		taker_close(&session.taker);
	return r < 0;
}

int session_drive(int fd, int line, int stop, const struct greet_how *greet_by, const struct session_how *how, const void *run,
		  size_t len)
{
	struct session session = { .line = line, .how = how, .stop = stop, .drives = true, .err = ERR_INIT };
	char peer[WIRE_NAME_MAX + 1];
	int64_t until;
	int r = greet(&session.channel, fd, greet_by, WIRE_DRIVES, peer, &session.err);

	if (!r)
		r = channel_put(&session.channel, WIRE_RUN, run, len, NULL, 0);
	if (!r)
		r = record(&session);
	for (until = mono_ms() + 10000; !r && !session.exited && mono_ms() < until;) {
		struct frame frame;

		if (channel_await(&session.channel, &frame, until, &session.err) || hear_aside(&session, &frame) < 0)
			break;
	}
	channel_fini(&session.channel);
	if (session.bound)
		taker_close(&session.taker);
	if (r >= 0)
		return SESSION_DONE;
	say_why(&session, true);
	return r == -EACCES || (session.said && !session.again) || (session.exited && r == -ECANCELED) ? SESSION_FAILED : SESSION_CUT;
}

int session_close_left(int file, const char *name)
{
	struct err err = ERR_INIT;
	struct dat_live *live;
	int r;

	if (dat_live_is_blank(file))
		return SESSION_BLANK;
	r = dat_live_resume(&live, file, name, &err);
	if (!r)
		r = dat_live_finish(live, &err);
	dat_live_close(live);
	return r != 0;
}
