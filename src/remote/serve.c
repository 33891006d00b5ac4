/*
 * remote/serve: the thread of a program that brings a remote: packets in, callbacks and words in the memory out. See served.h.
 *
 *   listener --accept--> peers[] --packet--> act --callback--> answer
 *
 * One thread; it never waits for a peer, only for a callback, or for a writer's answer for a moment. Peers are of the same user, and still
 * may send anything: CPUs and events that callbacks are told of are those that there are. Who did not wait for an answer was told that there
 * is none, and is not served. While the thread runs, everything in struct remote_serving is its own; before and after, who registers has it.
 */
#include "remote/serving.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "fw/layout.h"
#include "remote/served.h"

/* When no descriptor is to be had for who comes. */
#define NAP_US 10000
#define ERRNO_MAX 4095

static const bool big_endian = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__;

/* What a callback returned. */
static int said(int r, struct err *err)
{
	if (!r)
		return 0;
	if (r > 0 || r < -ERRNO_MAX)
		r = -EINVAL;
	return err_set(err, r, "the program that serves it refuses: %s", strerror(-r));
}

/* ---- its own look at the memory ---- */

static int attach(struct remote_serving *serving, const struct ringside_control_remote_buffer *buffer, struct err *err)
{
	struct remote *remote = serving->remote;
	int fd = fcntl(buffer->fd, F_DUPFD_CLOEXEC, 0), r;

	remote_detach(remote);
	if (fd < 0)
		return err_set(err, -errno, "the program that serves it brings no descriptor of a memory: %s", strerror(errno));
	r = remote_memory_take(&remote->memory, fd, (fcntl(fd, F_GETFL) & O_ACCMODE) == O_RDWR, err);
	if (r)
		return r;
	remote->at = buffer->header;
	r = remote_attach(remote, err);
	if (!r && remote->target.abi.big_endian != big_endian) {
		remote_detach(remote);
		r = err_set(err, -EBADMSG, "words in the memory lie the other way round than those of the program that serves it");
	}
	return r;
}

/* Is that the buffer, and does it still make sense? Its writer may have begun again. */
static int look(struct remote_serving *serving, const struct served_ask *ask, struct err *err)
{
	struct remote *remote = serving->remote;
	int r;

	if (!serving->loaded || ask->buffer != serving->number)
		return err_set(err, -ESTALE, "the buffer was unloaded meanwhile");
	r = remote->there ? remote_target_check(&remote->target, &remote->memory, err) : -ESTALE;
	if (r != -ESTALE)
		return r;
	if (err)
		*err = (struct err)ERR_INIT;
	return attach(serving, &serving->buffer, err);
}

static bool word(struct remote *remote, uint64_t at, uint32_t *value)
{
	return remote->there && !remote_memory_word(&remote->memory, at, value, 4);
}

static bool is_on(struct remote *remote)
{
	uint32_t on = 0;

	return word(remote, remote->target.control + offsetof(struct ringside_fw_control, on), &on) && on;
}

static bool event_is_on(const struct remote_serving *serving, uint32_t id)
{
	struct remote *remote = serving->remote;
	uint32_t bits = serving->enable[id / 32];

	if (remote->there && id < remote->target.nr_events)
		word(remote, remote->target.control + offsetof(struct ringside_fw_control, enable) + id / 32 * 4, &bits);
	return bits >> id % 32 & 1;
}

/* ---- what is asked for ---- */

static void call_unload(struct remote_serving *serving, const struct ringside_control_remote_buffer *buffer)
{
	remote_detach(serving->remote);
	serving->loaded = false;
	if (serving->callbacks.unload_trace_buffer)
		serving->callbacks.unload_trace_buffer(buffer, serving->priv);
}

static int call_enable(struct remote_serving *serving, bool on, struct err *err)
{
	struct remote *remote = serving->remote;
	int r = serving->callbacks.enable_tracing ? said(serving->callbacks.enable_tracing(on, serving->priv), err) : 0;

	return r || !remote->memory.writable ? r : remote_word_enable_tracing(remote, on, err);
}

/* What was switched on while there was no buffer. */
static int enable_all(struct remote_serving *serving, struct err *err)
{
	const struct remote_texts *texts = &serving->remote->texts;
	int r = 0;

	for (uint32_t i = 0; !r && i < texts->nr && serving->remote->memory.writable; i++) {
		uint32_t id = texts->events[i].id;

		if (id < serving->remote->target.nr_events && serving->enable[id / 32] >> id % 32 & 1)
			r = remote_word_enable_event(serving->remote, id, true, err);
	}
	return r;
}

static int act_look(struct remote_serving *serving, const struct served_ask *ask, struct err *err)
{
	(void)ask;
	(void)err;
	return serving->loaded ? 0 : -ENOENT;
}

static int act_load(struct remote_serving *serving, const struct served_ask *ask, struct err *err)
{
	struct ringside_control_remote_buffer buffer = { .fd = -1 };
	int r;

	if (serving->loaded)
		return 0;
	if (!ask->size || ask->size > REMOTE_KB_MAX * 1024ull)
		return err_set(err, -EINVAL, "that is no size of a buffer");
	r = said(serving->callbacks.load_trace_buffer((unsigned long)ask->size, &buffer, serving->priv), err);
	if (r)
		return r;
	r = attach(serving, &buffer, err);
	if (!r)
		r = enable_all(serving, err);
	if (r) {
		call_unload(serving, &buffer);
		return r;
	}
	serving->buffer = buffer;
	serving->loaded = true;
	serving->number++;
	return 0;
}

static int act_unload(struct remote_serving *serving, const struct served_ask *ask, struct err *err)
{
	if (!serving->loaded || ask->buffer != serving->number)
		return err_set(err, -ESTALE, "the buffer was unloaded meanwhile");
	if (is_on(serving->remote))
		return err_set(err, -EBUSY, "it is on");
	call_unload(serving, &serving->buffer);
	return 0;
}

static int act_enable_tracing(struct remote_serving *serving, const struct served_ask *ask, struct err *err)
{
	int r = look(serving, ask, err);

	return r || is_on(serving->remote) == !!ask->value ? r : call_enable(serving, ask->value, err);
}

static int act_enable_event(struct remote_serving *serving, const struct served_ask *ask, struct err *err)
{
	struct remote *remote = serving->remote;
	uint32_t id = ask->number, bit = 1u << id % 32;
	int r;

	if (id >= KEPT_EVENTS || !remote_texts_id(&remote->texts, id) || (remote->there && id >= remote->target.nr_events))
		return err_set(err, -EINVAL, "there is no event %u", id);
	if (event_is_on(serving, id) == !!ask->value)
		return 0;
	r = serving->callbacks.enable_event ? said(serving->callbacks.enable_event((uint16_t)id, ask->value, serving->priv), err) : 0;
	if (!r && remote->there && remote->memory.writable)
		r = remote_word_enable_event(remote, id, ask->value, err);
	if (!r)
		serving->enable[id / 32] = ask->value ? serving->enable[id / 32] | bit : serving->enable[id / 32] & ~bit;
	return r;
}

static int act_reset(struct remote_serving *serving, const struct served_ask *ask, struct err *err)
{
	int r = look(serving, ask, err), ring = r ? r : remote_ring_of(serving->remote, ask->number);

	if (ring < 0)
		return err_set(err, ring, "the remote has no cpu %u", ask->number);
	r = serving->callbacks.reset ? said(serving->callbacks.reset(ask->number, serving->priv), err) : 0;
	return r ? r : remote_word_reset(serving->remote, (uint32_t)ring, 1, err);
}

static int act_swap(struct remote_serving *serving, const struct served_ask *ask, struct err *err)
{
	int r = look(serving, ask, err), ring = r ? r : remote_ring_of(serving->remote, ask->number);

	if (ring < 0)
		return err_set(err, ring, "the remote has no cpu %u", ask->number);
	return serving->callbacks.swap_reader_page ? said(serving->callbacks.swap_reader_page(ask->number, serving->priv), err) : 0;
}

static int (*const acts[SERVED_OPS])(struct remote_serving *, const struct served_ask *, struct err *) = {
	[SERVED_LOOK] = act_look,
	[SERVED_FIND] = act_look,
	[SERVED_LOAD] = act_load,
	[SERVED_UNLOAD] = act_unload,
	[SERVED_ENABLE_TRACING] = act_enable_tracing,
	[SERVED_ENABLE_EVENT] = act_enable_event,
	[SERVED_RESET] = act_reset,
	[SERVED_SWAP] = act_swap,
};

/* ---- peers ---- */

static bool give(int fd, const struct served_answer *answer, int memory)
{
	union {
		struct cmsghdr head;
		char room[CMSG_SPACE(sizeof(int))];
	} part = { 0 };
	struct iovec place = { (void *)answer, sizeof(*answer) };
	struct msghdr message = { .msg_iov = &place, .msg_iovlen = 1 };

	if (memory >= 0) {
		part.head.cmsg_level = SOL_SOCKET;
		part.head.cmsg_type = SCM_RIGHTS;
		part.head.cmsg_len = CMSG_LEN(sizeof(int));
		memcpy(CMSG_DATA(&part.head), &memory, sizeof(memory));
		message.msg_control = &part;
		message.msg_controllen = sizeof(part.room);
	}
	return sendmsg(fd, &message, MSG_NOSIGNAL | MSG_DONTWAIT) == (ssize_t)sizeof(*answer);
}

/* A packet, and its answer. False: the connection has to end. */
static bool serve_peer(struct remote_serving *serving, int fd)
{
	struct served_answer answer = { .version = SERVED_VERSION };
	struct pollfd look = { .fd = fd, .events = POLLIN };
	struct err err = ERR_INIT;
	struct served_ask ask;
	ssize_t n = recv(fd, &ask, sizeof(ask), MSG_DONTWAIT | MSG_TRUNC);
	size_t len;

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return true;
	if (n != (ssize_t)sizeof(ask) || (poll(&look, 1, 0) == 1 && look.revents & (POLLHUP | POLLERR)))
		return false;
	if (ask.version != SERVED_VERSION || ask.op >= SERVED_OPS)
		answer.result = err_set(&err, -EPROTONOSUPPORT, "the program that serves it is of another version of Ringside");
	else
		answer.result = acts[ask.op](serving, &ask, &err);
	answer.buffer = serving->loaded ? serving->number : 0;
	answer.header = serving->loaded ? serving->buffer.header : 0;
	len = strlen(err.text);
	memcpy(answer.text, err.text, len < sizeof(answer.text) ? len : sizeof(answer.text) - 1);
	return give(fd, &answer, !answer.result && (ask.op == SERVED_FIND || ask.op == SERVED_LOAD) ? serving->buffer.fd : -1);
}

static void dismiss(struct remote_serving *serving, struct serving_peer *peer)
{
	/* A child of fork() may have it, too, so that closing it would not do. */
	epoll_ctl(serving->watch, EPOLL_CTL_DEL, peer->fd, NULL);
	close(peer->fd);
	peer->fd = -1;
}

/* A free place, or that of the one who was silent for longest. */
static struct serving_peer *find_place(struct remote_serving *serving)
{
	struct serving_peer *place = &serving->peers[0];

	for (int i = 0; i < SERVING_PEERS && place->fd >= 0; i++)
		if (serving->peers[i].fd < 0 || serving->peers[i].used < place->used)
			place = &serving->peers[i];
	return place;
}

static void welcome(struct remote_serving *serving)
{
	int fd = accept4(serving->listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
	struct serving_peer *place;
	struct ucred peer;
	socklen_t len = sizeof(peer);

	if (fd < 0) {
		if (errno != EAGAIN && errno != ECONNABORTED && errno != EINTR)
			usleep(NAP_US);
		return;
	}
	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &len) || peer.uid != geteuid()) {
		close(fd);
		return;
	}
	place = find_place(serving);
	if (place->fd >= 0)
		dismiss(serving, place);
	*place = (struct serving_peer){ .fd = fd, .used = ++serving->turn };
	if (serving_watch(serving, fd, (uint32_t)(place - serving->peers)))
		dismiss(serving, place);
}

int serving_watch(struct remote_serving *serving, int fd, uint32_t place)
{
	struct epoll_event event = { .events = EPOLLIN, .data.u32 = place };

	return epoll_ctl(serving->watch, EPOLL_CTL_ADD, fd, &event) ? -errno : 0;
}

/* False: it is to end. */
static bool take_turn(struct remote_serving *serving)
{
	struct epoll_event events[SERVING_PEERS + 2];
	int n = epoll_wait(serving->watch, events, SERVING_PEERS + 2, -1);
	bool comes = false;

	for (int i = 0; i < n; i++) {
		uint32_t place = events[i].data.u32;
		struct serving_peer *peer = &serving->peers[place < SERVING_PEERS ? place : 0];

		if (place == SERVING_WAKE)
			return false;
		if (place == SERVING_LISTENER) {
			comes = true;
			continue;
		}
		peer->used = ++serving->turn;
		if (!serve_peer(serving, peer->fd))
			dismiss(serving, peer);
	}
	/* Last: they may take the place of others. */
	if (comes)
		welcome(serving);
	return true;
}

void *serving_run(void *serving)
{
	while (take_turn(serving))
		;
	return NULL;
}

void serving_end(struct remote_serving *serving)
{
	if (serving->loaded && is_on(serving->remote))
		call_enable(serving, false, NULL);
	if (serving->loaded)
		call_unload(serving, &serving->buffer);
}
