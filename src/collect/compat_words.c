/*
 * collect/compat_words: bytes and messages of trace-cmd's protocol (layout/tracecmd.h). See compat_local.h.
 */
#include <errno.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "base/mono.h"
#include "collect/compat_local.h"

#define WORDS_MS 10000

int compat_nonsense(struct compat *compat, const char *what)
{
	return err_set(&compat->err, -EPROTO, "trace-cmd's %s makes no sense", what);
}

int compat_put(struct compat *compat, const void *bytes, size_t len)
{
	const uint8_t *from = bytes;
	int64_t until = mono_ms() + WORDS_MS;

	while (len && mono_ms() < until) {
		struct pollfd wait = { .fd = compat->fd, .events = POLLOUT };
		ssize_t n = write(compat->fd, from, len);

		if (n < 0 && errno != EAGAIN && errno != EINTR)
			return err_set(&compat->err, -errno, "%s", strerror(errno));
		if (n <= 0) {
			poll(&wait, 1, 100);
			continue;
		}
		from += n;
		len -= (size_t)n;
	}
	return len ? err_set(&compat->err, -ETIMEDOUT, "it does not listen") : 0;
}

/* What has come: 1, 0 nothing now, -ECONNRESET at the end. */
int compat_fill(struct compat *compat)
{
	char *room = buf_room(&compat->in, TRACECMD_MSG_MAX);
	ssize_t n = room ? read(compat->fd, room, TRACECMD_MSG_MAX) : -1;

	if (!room)
		return err_set(&compat->err, -ENOMEM, "out of memory");
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return 0;
	if (n <= 0)
		return err_set(&compat->err, n ? -errno : -ECONNRESET, "%s", n ? strerror(errno) : "it has hung up");
	compat->in.len += (size_t)n;
	return 1;
}

/* So many bytes, waiting for them. */
int compat_await(struct compat *compat, size_t len)
{
	int64_t until = mono_ms() + WORDS_MS;
	int r = 1;

	while (r >= 0 && compat->in.len < len) {
		struct pollfd wait = { .fd = compat->fd, .events = POLLIN };
		int64_t left = until - mono_ms();

		if (left <= 0)
			return err_set(&compat->err, -ETIMEDOUT, "nothing was heard for %d seconds", WORDS_MS / 1000);
		poll(&wait, 1, (int)left);
		r = compat_fill(compat);
	}
	return r < 0 ? r : 0;
}

void compat_drop(struct compat *compat, size_t len)
{
	memmove(compat->in.data, compat->in.data + len, compat->in.len - len);
	compat->in.len -= len;
}

/* One of its strings, which ends with a NUL. */
int compat_await_string(struct compat *compat, char *text, size_t size)
{
	size_t len = 0;
	int r;

	for (;;) {
		r = compat_await(compat, len + 1);
		if (r)
			return r;
		if (!compat->in.data[len])
			break;
		if (++len == size)
			return compat_nonsense(compat, "first word");
	}
	memcpy(text, compat->in.data, len + 1);
	compat_drop(compat, len + 1);
	return 0;
}

/* ---- messages ---- */

int compat_say(struct compat *compat, enum tracecmd_msg cmd, const void *own, uint32_t own_len, const void *rest, uint32_t len)
{
	struct tracecmd_head head = {
		.size = htobe32((uint32_t)sizeof(head) + own_len + len), .cmd = htobe32(cmd), .cmd_size = htobe32(own_len),
	};
	int r = compat_put(compat, &head, sizeof(head));

	if (!r && own_len)
		r = compat_put(compat, own, own_len);
	return !r && len ? compat_put(compat, rest, len) : r;
}

/* A message that is whole: 1; 0: not yet. */
int compat_next(struct compat *compat, struct tracecmd_head *head)
{
	if (compat->in.len < sizeof(*head))
		return 0;
	memcpy(head, compat->in.data, sizeof(*head));
	head->size = be32toh(head->size);
	head->cmd = be32toh(head->cmd);
	head->cmd_size = be32toh(head->cmd_size);
	if (head->size < sizeof(*head) || head->size > TRACECMD_MSG_MAX || head->cmd_size > head->size - sizeof(*head))
		return compat_nonsense(compat, "message");
	return compat->in.len >= head->size;
}

/* Options, each with its NUL: does it want to send in a stream? */
bool compat_wants_stream(const char *at, size_t len)
{
	while (len) {
		size_t word = strnlen(at, len);

		if ((word == 3 && !strncasecmp(at, "tcp", 3)) || (word == 5 && !strncmp(at, "vsock", 5)))
			return true;
		word += word < len;
		at += word;
		len -= word;
	}
	return false;
}
