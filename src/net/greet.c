/*
 * net/greet: see greet.h.
 */
#include "net/greet.h"

#include <errno.h>
#include <string.h>

#include "base/mono.h"

static int check_peer(const struct tls *tls, const struct greet_how *how, struct err *err)
{
	char shown[FINGERPRINT_TEXT];

	tls_peer(tls, shown);
	if (!strcmp(shown, how->expected))
		return 0;
	if (*how->expected)
		return err_set(err, -EACCES, "somebody else is there: the key is %s, and that of %.60s is %s", shown, how->host, how->expected);
	return err_set(err, -EACCES, "its key is %s, which nobody here knows as %.60s: if that is what `ringside key` says there, "
		       "`ringside trust %.60s %s`", shown, how->host, how->host, shown);
}

static int shake(struct channel *channel, int fd, const struct greet_how *how, int64_t until, struct err *err)
{
	struct tls *tls = NULL;
	int64_t left;
	int r;

	if (!how->key) {
		channel_init(channel, fd, fd, NULL);
		return 0;
	}
	r = tls_open(&tls, fd, how->key, true, err);
	channel_init(channel, fd, fd, tls);
	while (!r && (r = tls_shake(tls, err)) == -EAGAIN && (left = until - mono_ms()) > 0) {
		struct pollfd wait = { .fd = fd, .events = tls_events(tls) };

		r = poll(&wait, 1, (int)left) < 0 && errno != EINTR ? -errno : 0;
	}
	if (r == -EAGAIN)
		r = err_set(err, -ETIMEDOUT, "nothing was heard for %d seconds", GREET_MS / 1000);
	return r < 0 ? r : check_peer(tls, how, err);
}

int greet(struct channel *channel, int fd, const struct greet_how *how, uint32_t wants, char peer[WIRE_NAME_MAX + 1], struct err *err)
{
	int64_t until = mono_ms() + GREET_MS;
	struct wire_hello hello;
	struct frame frame;
	int r = shake(channel, fd, how, until, err);

	if (!r)
		r = channel_hello(channel, wants, how->machine, how->name);
	if (!r)
		r = channel_await(channel, &frame, until, err);
	if (!r && frame.kind == WIRE_REFUSE) {
		bool again;

		r = frame_refusal(&frame, &again, err);
		return again ? r : -EACCES;
	}
	return r ? r : frame_hello(&frame, &hello, peer, err);
}
