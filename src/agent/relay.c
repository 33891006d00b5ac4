/*
 * agent/relay: see relay.h.
 *
 *	driver: RUN | HELLO of the recorder, answered here | frames both ways; ASK is answered here | STOP | the recorder's end, EXIT
 */
#include "agent/relay.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

#include "base/mono.h"

#define RUN_MS 60000
#define SILENT_MS 15000
#define FRAMES_MAX 64
/* Frames that are on their way through: more are not taken. */
#define FULL ((size_t)1 << 20)

struct relay {
	const struct admit_how *how;
	struct channel driver, recorder;
	int words;		/* what the recorder says to people; -1: no more */
	bool met;		/* the recorder was greeted; before that it is told nothing */
	bool done;		/* the recorder has hung up */
	struct err err;
};

static int run(struct relay *relay)
{
	struct desk_ask ask = { .kind = DESK_RUN };
	struct desk_answer answer;
	struct frame frame;
	int fds[2], r = channel_await(&relay->driver, &frame, mono_ms() + RUN_MS, &relay->err);

	if (r)
		return r;
	if (frame.kind != WIRE_RUN || frame.len < sizeof(ask.recording) || frame.len - sizeof(ask.recording) >= sizeof(ask.text))
		return err_set(&relay->err, -EPROTO, "what is to be recorded makes no sense, or is too long");
	memcpy(ask.recording, frame.body, sizeof(ask.recording));
	ask.text_len = (uint32_t)(frame.len - sizeof(ask.recording));
	memcpy(ask.text, frame.body + sizeof(ask.recording), ask.text_len);
	r = desk_ask(relay->how->line, &ask, &answer, fds, &relay->err);
	if (r)
		return r;
	channel_init(&relay->recorder, fds[0], fds[0], NULL);
	relay->words = fds[1];
	return 0;
}

/* As it came. */
static int pass(struct channel *to, const struct frame *frame)
{
	return channel_put(to, frame->kind, frame->body, frame->len, NULL, 0);
}

static void tell_time(struct relay *relay, const struct frame *frame, uint64_t got)
{
	struct wire_time time = { .got = wire64(got) };

	if (frame->len != sizeof(struct wire_ask))
		return;
	memcpy(&time.number, frame->body, sizeof(time.number));
	time.sent = wire64(mono_ns());
	channel_put(&relay->driver, WIRE_TIME, &time, sizeof(time), NULL, 0);
	/* The recorder's courier hears of it that somebody is there. */
	if (relay->met)
		pass(&relay->recorder, frame);
}

static bool is_full(const struct channel *channel)
{
	return channel->put.len - channel->put_at >= FULL;
}

/* Who asks and does not listen is asked no more himself. */
static bool may_ask(const struct relay *relay)
{
	return !is_full(&relay->recorder) && relay->driver.put.len - relay->driver.put_at < 2 * FULL;
}

static int hear_driver(struct relay *relay)
{
	struct desk_ask stop = { .kind = DESK_STOP };
	struct frame frame;
	int r;

	for (int i = 0; i < FRAMES_MAX && may_ask(relay); i++) {
		r = channel_next(&relay->driver, &frame, &relay->err);
		if (r <= 0)
			return r == -EAGAIN ? 0 : r ? r : err_set(&relay->err, -ECONNRESET, "the driver has hung up");
		if (frame.kind == WIRE_ASK)
			tell_time(relay, &frame, mono_ns());
		else if (frame.kind == WIRE_STOP)
			desk_ask(relay->how->line, &stop, NULL, NULL, NULL);
		else if (frame.kind == WIRE_HAVE || frame.kind == WIRE_TAKEN || frame.kind == WIRE_DONE || frame.kind == WIRE_REFUSE)
			pass(&relay->recorder, &frame);
	}
	return 0;
}

static int hear_recorder(struct relay *relay)
{
	struct frame frame;
	int r;

	if (relay->done)
		return 0;
	for (int i = 0; i < FRAMES_MAX && !is_full(&relay->driver); i++) {
		r = channel_next(&relay->recorder, &frame, &relay->err);
		if (r == -EAGAIN)
			return 0;
		if (r <= 0) {
			relay->done = true;
			relay->err = (struct err)ERR_INIT;
			return 0;
		}
		if (frame.kind == WIRE_HELLO)
			relay->met = !channel_hello(&relay->recorder, 0, relay->how->machine, relay->how->name);
		/* Of what it was asked here. */
		else if (frame.kind != WIRE_TIME)
			pass(&relay->driver, &frame);
	}
	return 0;
}

static void hear_words(struct relay *relay)
{
	char text[1024];
	ssize_t n = read(relay->words, text, sizeof(text));

	if (n > 0) {
		channel_put(&relay->driver, WIRE_SAY, text, (size_t)n, NULL, 0);
	} else if (!n || errno != EAGAIN) {
		close(relay->words);
		relay->words = -1;
	}
}

/* Something that was read is to be passed on, and can be. */
static bool has_more(const struct relay *relay)
{
	return (!relay->driver.dry && may_ask(relay)) || (!relay->recorder.dry && !is_full(&relay->driver));
}

static int relay_all(struct relay *relay)
{
	struct pollfd fds[5];
	int r = 0;

	while (!r && !relay->done) {
		bool full = is_full(&relay->driver);

		channel_poll(&relay->driver, fds, false);
		channel_poll(&relay->recorder, fds + 2, false);
		if (full)
			fds[2].fd = -1;
		fds[4] = (struct pollfd){ .fd = relay->words, .events = POLLIN };
		poll(fds, 5, has_more(relay) ? 0 : 1000);
		if (fds[4].revents)
			hear_words(relay);
		r = hear_recorder(relay);
		if (!r)
			r = hear_driver(relay);
		if (!r && (r = channel_flush(&relay->driver)) == -EAGAIN)
			r = 0;
		if (!r && (r = channel_flush(&relay->recorder)) == -EAGAIN)
			r = 0;
		/* What it says last is heard by its silence. */
		if (r == -EPIPE)
			relay->done = true;
		if (!r && mono_ms() - relay->driver.heard_at > SILENT_MS)
			r = err_set(&relay->err, -ETIMEDOUT, "nothing was heard for %d seconds", SILENT_MS / 1000);
	}
	return relay->done ? 0 : r;
}

/* The recorder's end, and the last that it says. -ECHILD: it goes on, and was cut off here. */
static int see_off(struct relay *relay)
{
	struct desk_ask ask = { .kind = DESK_EXIT };
	struct desk_answer answer;
	struct wire_exit status = { 0 };
	int r = desk_ask(relay->how->line, &ask, &answer, NULL, &relay->err);

	if (r)
		return r;
	while (relay->words >= 0)
		hear_words(relay);
	status.status = (int32_t)wire32(answer.stands);
	channel_put(&relay->driver, WIRE_EXIT, &status, sizeof(status), NULL, 0);
	admit_linger(&relay->driver, 5000);
	return r;
}

int relay_run(int fd, const struct admit_how *how)
{
	struct relay relay = { .how = how, .words = -1, .recorder = { .in = -1, .out = -1 }, .err = ERR_INIT };
	int r = admit(&relay.driver, fd, how, &relay.err);

	if (!r)
		r = run(&relay);
	if (!r)
		r = relay_all(&relay);
	if (!r)
		r = see_off(&relay);
	if (r)
		admit_refuse(&relay.driver, &relay.err);
	channel_fini(&relay.driver);
	channel_fini(&relay.recorder);
	return r != 0;
}
