/*
 * net/channel: see channel.h.
 */
#include "net/channel.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/mono.h"

#define READ_SOME ((size_t)256 << 10)
/* Written at once: what has to be quick waits for no more. */
#define WRITE_SOME ((size_t)128 << 10)

void channel_init(struct channel *channel, int in, int out, struct tls *tls)
{
	*channel = (struct channel){ .in = in, .out = out, .tls = tls, .read = BUF_INIT, .put = BUF_INIT, .heard_at = mono_ms() };
}

void channel_fini(struct channel *channel)
{
	if (channel->tls)
		tls_end(channel->tls);
	tls_close(channel->tls);
	buf_fini(&channel->read);
	buf_fini(&channel->put);
}

/* ---- in ---- */

static ssize_t get(struct channel *channel, void *bytes, size_t len)
{
	ssize_t n;

	if (channel->tls)
		return tls_read(channel->tls, bytes, len);
	do
		n = read(channel->in, bytes, len);
	while (n < 0 && errno == EINTR);
	return n < 0 ? -errno : n;
}

/* As many as are there: 1, 0 at the end, -errno. */
static int fill(struct channel *channel)
{
	struct buf *read = &channel->read;
	size_t have = read->len - channel->read_at;
	char *at;
	ssize_t n;

	if (channel->read_at) {
		memmove(read->data, read->data + channel->read_at, have);
		read->len = have;
		channel->read_at = 0;
	}
	at = buf_room(read, READ_SOME);
	if (!at)
		return -ENOMEM;
	n = get(channel, at, READ_SOME);
	if (n <= 0)
		return (int)n;
	read->len += (size_t)n;
	channel->heard_at = mono_ms();
	return 1;
}

static int cut_off(struct channel *channel, int r, struct err *err)
{
	if (!r && channel->read.len == channel->read_at)
		return 0;
	r = r ? r : -ECONNRESET;
	return err_set(err, r, "the connection was cut: %s", strerror(-r));
}

int channel_next(struct channel *channel, struct frame *frame, struct err *err)
{
	struct wire_head head;

	for (;;) {
		size_t have = channel->read.len - channel->read_at;
		int r;

		if (have >= sizeof(head)) {
			const uint8_t *at = (const uint8_t *)channel->read.data + channel->read_at;

			memcpy(&head, at, sizeof(head));
			frame->len = wire32(head.len);
			frame->kind = (enum wire_kind)wire16(head.kind);
			if (frame->len > WIRE_BODY_MAX || head.zero)
				return err_set(err, -EPROTO, "what comes is no frame of ringside's");
			frame->body = at + sizeof(head);
			if (have - sizeof(head) >= frame->len) {
				channel->read_at += sizeof(head) + frame->len;
				channel->received += sizeof(head) + frame->len;
				return 1;
			}
		}
		r = channel->ended ? 0 : fill(channel);
		channel->dry = r == -EAGAIN;
		if (r == -EAGAIN)
			return r;
		if (r <= 0) {
			channel->ended = true;
			return cut_off(channel, r, err);
		}
	}
}

/* ---- out ---- */

static ssize_t give(struct channel *channel, const void *bytes, size_t len)
{
	ssize_t n;

	if (channel->tls) {
		n = tls_write(channel->tls, bytes, len);
		channel->tls_wants = n == -EAGAIN ? tls_events(channel->tls) : 0;
		return n;
	}
	do
		n = write(channel->out, bytes, len);
	while (n < 0 && errno == EINTR);
	return n < 0 ? -errno : n;
}

int channel_put(struct channel *channel, enum wire_kind kind, const void *head, size_t head_len, const void *rest, size_t rest_len)
{
	struct wire_head frame = { .len = wire32((uint32_t)(head_len + rest_len)), .kind = wire16((uint16_t)kind) };

	buf_add(&channel->put, &frame, sizeof(frame));
	if (head_len)
		buf_add(&channel->put, head, head_len);
	if (rest_len)
		buf_add(&channel->put, rest, rest_len);
	return buf_failed(&channel->put) ? -ENOMEM : 0;
}

int channel_flush(struct channel *channel)
{
	while (channel->put_at < channel->put.len) {
		ssize_t n = give(channel, channel->put.data + channel->put_at, channel->put.len - channel->put_at);

		if (n < 0)
			return (int)n;
		channel->put_at += (size_t)n;
		channel->sent += (size_t)n;
	}
	buf_reset(&channel->put);
	channel->put_at = 0;
	return 0;
}

/* Whole frames among so many bytes, as far as `most`, and at least one. */
static size_t whole_frames(const uint8_t *frames, size_t len, size_t most)
{
	struct wire_head head;
	size_t n = 0;

	while (len - n >= sizeof(head) && n < most) {
		memcpy(&head, frames + n, sizeof(head));
		if (len - n - sizeof(head) < wire32(head.len))
			break;
		n += sizeof(head) + wire32(head.len);
	}
	return n;
}

ssize_t channel_send(struct channel *channel, const uint8_t *frames, size_t len)
{
	size_t done = 0;

	while (done < len) {
		ssize_t n;
		int r = channel->cut ? 0 : channel_flush(channel);

		if (!r && !channel->cut)
			channel->cut = whole_frames(frames + done, len - done, WRITE_SOME);
		if (!r && !channel->cut)
			break;
		n = r ? r : give(channel, frames + done, channel->cut < len - done ? channel->cut : len - done);
		if (n < 0)
			return done ? (ssize_t)done : n;
		done += (size_t)n;
		channel->cut -= (size_t)n;
		channel->sent += (size_t)n;
	}
	return (ssize_t)done;
}

void channel_poll(const struct channel *channel, struct pollfd fds[2], bool sends)
{
	bool out = sends || channel->put_at < channel->put.len;

	fds[0] = (struct pollfd){ .fd = channel->in, .events = POLLIN };
	fds[1] = (struct pollfd){ .fd = out ? channel->out : -1, .events = POLLOUT };
	/* TLS may have to hear before it can speak. */
	if (out && channel->tls_wants == POLLIN)
		fds[1].fd = -1;
}

int channel_wait(const struct channel *channel, bool sends, int ms)
{
	struct pollfd fds[2];
	int r;

	channel_poll(channel, fds, sends);
	do
		r = poll(fds, 2, ms);
	while (r < 0 && errno == EINTR);
	return r < 0 ? -errno : r > 0;
}

int channel_await(struct channel *channel, struct frame *frame, int64_t until, struct err *err)
{
	int64_t began = mono_ms(), left;
	int r;

	while ((r = channel_next(channel, frame, err)) == -EAGAIN) {
		r = channel_flush(channel);
		if (r && r != -EAGAIN)
			return err_set(err, r, "%s", strerror(-r));
		left = until - mono_ms();
		if (left <= 0)
			return err_set(err, -ETIMEDOUT, "nothing was heard for %lld seconds", (long long)(until - began) / 1000);
		channel_wait(channel, false, (int)left);
	}
	return r > 0 ? 0 : err_set(err, r ? r : -ECONNRESET, "it has hung up");
}

/* ---- what all streams say ---- */

void frame_text(const uint8_t *from, size_t len, char *text, size_t size)
{
	size_t n = 0;

	for (; n < len && n < size - 1 && from[n]; n++)
		text[n] = from[n] < ' ' || from[n] == 127 ? '?' : (char)from[n];
	text[n] = '\0';
}

int channel_hello(struct channel *channel, uint32_t wants, uint64_t machine, const char *name)
{
	const struct wire_hello hello = {
		.magic = wire64(WIRE_MAGIC), .version = wire32(WIRE_VERSION), .wants = wire32(wants), .machine = wire64(machine),
	};

	return channel_put(channel, WIRE_HELLO, &hello, sizeof(hello), name, strnlen(name, WIRE_NAME_MAX));
}

int frame_hello(const struct frame *frame, struct wire_hello *hello, char name[WIRE_NAME_MAX + 1], struct err *err)
{
	if (frame->kind != WIRE_HELLO || frame->len < sizeof(*hello) || frame->len > sizeof(*hello) + WIRE_NAME_MAX)
		return err_set(err, -EPROTO, "whoever is there does not speak ringside's protocol");
	memcpy(hello, frame->body, sizeof(*hello));
	*hello = (struct wire_hello){
		.magic = wire64(hello->magic), .version = wire32(hello->version), .wants = wire32(hello->wants),
		.machine = wire64(hello->machine),
	};
	frame_text(frame->body + sizeof(*hello), frame->len - sizeof(*hello), name, WIRE_NAME_MAX + 1);
	if (hello->magic != WIRE_MAGIC)
		return err_set(err, -EPROTO, "whoever is there does not speak ringside's protocol");
	if (hello->version != WIRE_VERSION)
		return err_set(err, -EPROTO, "the other end speaks version %u of the protocol, and this one version %u", hello->version,
			       WIRE_VERSION);
	return 0;
}

int channel_refuse(struct channel *channel, int code, bool again, const char *words)
{
	const struct wire_refuse refuse = { .code = (int32_t)wire32((uint32_t)code), .again = wire32(again) };

	return channel_put(channel, WIRE_REFUSE, &refuse, sizeof(refuse), words, words ? strlen(words) : 0);
}

int frame_refusal(const struct frame *frame, bool *again, struct err *err)
{
	struct wire_refuse refuse;
	char words[300];
	int code;

	*again = false;
	if (frame->kind != WIRE_REFUSE || frame->len < sizeof(refuse))
		return err_set(err, -EPROTO, "what the other end says makes no sense here");
	memcpy(&refuse, frame->body, sizeof(refuse));
	*again = refuse.again;
	code = (int)wire32((uint32_t)refuse.code);
	frame_text(frame->body + sizeof(refuse), frame->len - sizeof(refuse), words, sizeof(words));
	code = code < 0 && code > -4096 ? code : -EPROTO;
	return err_set(err, code, "%s", *words ? words : strerror(-code));
}
