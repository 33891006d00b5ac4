/*
 * net/admit: see admit.h.
 */
#include "net/admit.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/mono.h"

/* However slowly it comes. */
#define ADMIT_MS 10000
#define TLS_HANDSHAKE 0x16

static bool wait_for(int fd, short events, int64_t until)
{
	struct pollfd wait = { .fd = fd, .events = events };
	int64_t left = until - mono_ms();

	return left > 0 && (poll(&wait, 1, (int)left) > 0 || errno == EINTR);
}

/* A first byte tells whether it is TLS that comes. A pipe has none. */
static int begin(struct channel *channel, int fd, const struct admit_how *how, int64_t until, struct err *err)
{
	struct tls *tls = NULL;
	uint8_t first = 0;
	ssize_t n = -1;
	int r = 0;

	while (n < 0 && wait_for(fd, POLLIN, until)) {
		n = recv(fd, &first, 1, MSG_PEEK);
		if (n < 0 && errno == ENOTSOCK)
			n = 1;
	}
	if (n <= 0)
		r = err_set(err, -ETIMEDOUT, "nothing came");
	else if (first == TLS_HANDSHAKE && how->key)
		r = tls_open(&tls, fd, how->key, false, err);
	else if (first == TLS_HANDSHAKE)
		r = err_set(err, -EPROTO, "TLS was asked for, and there is no key");
	channel_init(channel, fd, fd, tls);
	while (!r && tls && (r = tls_shake(tls, err)) == -EAGAIN)
		r = wait_for(fd, tls_events(tls), until) ? 0 : err_set(err, -ETIMEDOUT, "TLS came to no end");
	return r < 0 ? r : 0;
}

int admit(struct channel *channel, int fd, const struct admit_how *how, struct err *err)
{
	int64_t until = mono_ms() + ADMIT_MS;
	struct desk_ask ask = { .kind = DESK_WHO };
	struct desk_answer answer;
	struct wire_hello hello;
	struct frame frame;
	int r = begin(channel, fd, how, until, err);

	if (!r)
		r = channel_await(channel, &frame, until, err);
	if (!r)
		r = frame_hello(&frame, &hello, ask.name, err);
	if (r)
		return r;
	ask.wants = hello.wants;
	if (channel->tls)
		tls_peer(channel->tls, ask.fingerprint);
	else if (!how->bare)
		return err_set(err, -EACCES, "TLS is needed here: `ringside key` on both sides");
	r = desk_ask(how->line, &ask, &answer, NULL, err);
	return r ? r : channel_hello(channel, 0, how->machine, how->name);
}

/* Where the disk is full there may be room later, and a line that is silent one way may hear this and be better the next time. */
static bool may_pass(int code)
{
	static const int passing[] = { -ENOSPC, -EDQUOT, -EBUSY, -ECHILD, -ENOMEM, -ETIMEDOUT, -ECONNRESET, -EPIPE };

	for (size_t i = 0; i < sizeof(passing) / sizeof(passing[0]); i++)
		if (code == passing[i])
			return true;
	return false;
}

void admit_refuse(struct channel *channel, const struct err *err)
{
	int code = err->code ? err->code : -EIO;
	bool again = may_pass(code);

	channel_refuse(channel, code, again, err->text);
	admit_linger(channel, 500);
}

void admit_linger(struct channel *channel, int ms)
{
	int64_t until = mono_ms() + ms;
	struct err none = ERR_INIT;
	struct frame frame;
	int r = -EAGAIN;

	while (r == -EAGAIN && mono_ms() < until) {
		r = channel_flush(channel);
		if (r && r != -EAGAIN)
			return;
		channel_wait(channel, false, 100);
		while ((r = channel_next(channel, &frame, &none)) > 0)
			;
	}
}
