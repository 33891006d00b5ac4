/*
 * record/stock: see stock.h and layout/tracecmd.h.
 */
#include "record/stock.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/mono.h"
#include "layout/tracecmd.h"
#include "net/address.h"
#include "stock/feed.h"

#define WORDS_MS 10000
#define SEND_MS 60000
#define CALL_MS 3000
/* Programs tell what their events look like when they begin: so it waits for the first page, but not for longer than trace-cmd does. */
#define TELL_MS 3000
#define PIECE (TRACECMD_MSG_MAX - 12u)

struct stock {
	struct spool *spool;
	int fd, life;
	const struct greet_how *how;
	struct stock_feed feed;
	int *fds;		/* of CPUs */
	uint64_t at;
	bool ended;
	struct err err;
};

/* ---- words ---- */

static int put(struct stock *stock, int fd, const void *bytes, size_t len)
{
	int64_t until = mono_ms() + SEND_MS;
	const uint8_t *from = bytes;

	while (len) {
		struct pollfd wait = { .fd = fd, .events = POLLOUT };
		ssize_t n = send(fd, from, len, MSG_NOSIGNAL | MSG_DONTWAIT);

		if (n < 0 && errno != EAGAIN && errno != EINTR)
			return err_set(&stock->err, -errno, "%s", strerror(errno));
		if (n > 0) {
			from += n;
			len -= (size_t)n;
			until = mono_ms() + SEND_MS;
			continue;
		}
		if (mono_ms() > until || __atomic_load_n(&stock->spool->shared->gives_up, __ATOMIC_ACQUIRE))
			return err_set(&stock->err, -ETIMEDOUT, "it takes nothing any more");
		poll(&wait, 1, 500);
	}
	return 0;
}

static int get(struct stock *stock, void *bytes, size_t len)
{
	int64_t until = mono_ms() + WORDS_MS;
	uint8_t *to = bytes;

	while (len) {
		struct pollfd wait = { .fd = stock->fd, .events = POLLIN };
		ssize_t n = recv(stock->fd, to, len, MSG_DONTWAIT);

		if (!n)
			return err_set(&stock->err, -ECONNRESET, "it has hung up");
		if (n < 0 && errno != EAGAIN && errno != EINTR)
			return err_set(&stock->err, -errno, "%s", strerror(errno));
		if (n > 0) {
			to += n;
			len -= (size_t)n;
			continue;
		}
		if (mono_ms() > until)
			return err_set(&stock->err, -ETIMEDOUT, "nothing was heard for %d seconds: is that `trace-cmd listen`?",
				       WORDS_MS / 1000);
		poll(&wait, 1, 500);
	}
	return 0;
}

static int say(struct stock *stock, enum tracecmd_msg cmd, const void *own, uint32_t own_len, const void *rest, uint32_t len)
{
	struct tracecmd_head head = {
		.size = htobe32((uint32_t)sizeof(head) + own_len + len), .cmd = htobe32(cmd), .cmd_size = htobe32(own_len),
	};
	int r = put(stock, stock->fd, &head, sizeof(head));

	if (!r && own_len)
		r = put(stock, stock->fd, own, own_len);
	return !r && len ? put(stock, stock->fd, rest, len) : r;
}

static int shake(struct stock *stock)
{
	char words[sizeof(TRACECMD_HELLO)] = "";
	int r = get(stock, words, strlen(TRACECMD_HELLO));

	if (!r && strcmp(words, TRACECMD_HELLO))
		return err_set(&stock->err, -EPROTO, "that is no `trace-cmd listen`");
	if (!r)
		r = put(stock, stock->fd, TRACECMD_V3_ASK, sizeof(TRACECMD_V3_ASK));
	if (!r)
		r = get(stock, words, sizeof(TRACECMD_V3));
	if (!r && strcmp(words, TRACECMD_V3))
		return err_set(&stock->err, -EPROTO, "that `trace-cmd listen` is too old: it speaks no version 3");
	if (!r)
		r = put(stock, stock->fd, TRACECMD_V3_MAGIC, sizeof(TRACECMD_V3_MAGIC));
	if (!r)
		r = get(stock, words, strlen(TRACECMD_OK));
	return r;
}

/* ---- ports ---- */

static int call_ports(struct stock *stock, const char *ports, size_t len)
{
	size_t at = 0;

	for (uint32_t i = 0; i < stock->feed.nr_cpus; i++) {
		size_t word = at < len ? strnlen(ports + at, len - at) : 0;

		if (!word || at + word >= len)
			return err_set(&stock->err, -EPROTO, "its list of ports makes no sense");
		/* It names its ports before anybody is there. */
		stock->fds[i] = address_beside(stock->fd, (uint32_t)strtoul(ports + at, NULL, 10), CALL_MS, &stock->err);
		if (stock->fds[i] < 0)
			return stock->fds[i];
		at += word + 1;
	}
	return 0;
}

static int begin(struct stock *stock)
{
	const struct tracecmd_tinit init = {
		.cpus = htobe32(stock->feed.nr_cpus), .page_size = htobe32(stock->feed.page_size), .nr_options = htobe32(1),
	};
	struct tracecmd_head head;
	char answer[TRACECMD_MSG_MAX];
	uint32_t size, own;
	const char *way = strncmp(stock->how->text, "vsock:", 6) ? "tcp" : "vsock";
	int r = say(stock, TRACECMD_TINIT, &init, sizeof(init), way, (uint32_t)strlen(way) + 1);

	if (!r)
		r = get(stock, &head, sizeof(head));
	size = be32toh(head.size);
	own = be32toh(head.cmd_size);
	if (!r && (be32toh(head.cmd) != TRACECMD_RINIT || size < sizeof(head) || size > sizeof(answer) || own > size - sizeof(head)))
		return err_set(&stock->err, -EPROTO, "what it says makes no sense");
	if (!r)
		r = get(stock, answer, size - sizeof(head));
	return r ? r : call_ports(stock, answer + own, size - sizeof(head) - own);
}

/* ---- what the recorder says ---- */

static int put_head(void *ctx, const void *bytes, size_t len, struct err *err)
{
	struct stock *stock = ctx;
	int r = 0;

	(void)err;
	for (size_t at = 0; !r && at < len; at += PIECE)
		r = say(stock, TRACECMD_SEND_DATA, NULL, 0, (const char *)bytes + at, len - at < PIECE ? (uint32_t)(len - at) : PIECE);
	return r ? r : say(stock, TRACECMD_FIN_DATA, NULL, 0, NULL, 0);
}

static int put_pages(void *ctx, uint32_t cpu, const void *bytes, size_t len, struct err *err)
{
	struct stock *stock = ctx;

	(void)err;
	return put(stock, stock->fds[cpu], bytes, len);
}

static int finish(struct stock *stock)
{
	int r = stock_finish(&stock->feed, &stock->err);

	for (uint32_t i = 0; i < stock->feed.nr_cpus; i++) {
		shutdown(stock->fds[i], SHUT_WR);
		close(stock->fds[i]);
	}
	stock->ended = true;
	return r ? r : say(stock, TRACECMD_CLOSE, NULL, 0, NULL, 0);
}

static int take_ready(struct stock *stock)
{
	const uint8_t *at;
	size_t ready = spool_ready(stock->spool, stock->at, &at);
	struct wire_head head;
	int r = 0;

	while (!r && !stock->ended && ready >= sizeof(head)) {
		size_t len;

		memcpy(&head, at, sizeof(head));
		len = sizeof(head) + wire32(head.len);
		r = stock_frame(&stock->feed, (enum wire_kind)wire16(head.kind), at + sizeof(head), len - sizeof(head), &stock->err);
		if (!r && stock->feed.ended)
			r = finish(stock);
		if (r)
			return err_set(&stock->err, r, "%s", strerror(-r));
		stock->at += len;
		spool_take(stock->spool, stock->at, stock->at);
		at += len;
		ready -= len;
	}
	return r;
}

/* ---- all of it ---- */

/* It says no more, but its end can be heard; those who take the pages may live on without it. */
static int check_there(struct stock *stock)
{
	char words[256];
	ssize_t n = recv(stock->fd, words, sizeof(words), MSG_DONTWAIT);

	if (n > 0 || (n < 0 && (errno == EAGAIN || errno == EINTR)))
		return 0;
	return err_set(&stock->err, n ? -errno : -ECONNRESET, "%s", n ? strerror(errno) : "it has hung up");
}

static void doze(struct stock *stock)
{
	struct spool_shared *shared = stock->spool->shared;
	struct pollfd fds[3] = {
		{ .fd = stock->spool->more, .events = POLLIN }, { .fd = stock->life, .events = POLLIN }, { .fd = stock->fd, .events = POLLIN },
	};
	const uint8_t *at;
	uint64_t count;

	__atomic_store_n(&shared->sleeps, 1, __ATOMIC_SEQ_CST);		/* pairs with spool_end() */
	if (!spool_ready(stock->spool, stock->at, &at))
		poll(fds, 3, 1000);
	__atomic_store_n(&shared->sleeps, 0, __ATOMIC_RELAXED);
	if (fds[0].revents && read(stock->spool->more, &count, sizeof(count)) < 0)
		errno = 0;
	/* Whoever was killed has said all that he will. */
	if (fds[1].revents && !spool_ready(stock->spool, stock->at, &at))
		finish(stock);
}

static int look_at_open(struct stock *stock)
{
	const struct spool_shared *shared = stock->spool->shared;
	const struct stock_out out = { put_head, put_pages, stock };
	int r;

	while (!__atomic_load_n(&shared->open_len, __ATOMIC_ACQUIRE)) {		/* pairs with put_open() in dest_far.c */
		doze(stock);
		r = check_there(stock);
		if (r)
			return r;
		if (stock->ended || __atomic_load_n(&shared->gives_up, __ATOMIC_ACQUIRE))
			return err_set(&stock->err, -ECANCELED, "the recorder is no more");
	}
	r = stock_open(&stock->feed, shared->open, shared->open_len, &out, &stock->err);
	stock->fds = r ? NULL : calloc(stock->feed.nr_cpus, sizeof(*stock->fds));
	return r || stock->fds ? r : err_set(&stock->err, -ENOMEM, "out of memory");
}

int stock_talk(struct spool *spool, int fd, int life, const struct greet_how *how)
{
	struct stock stock = { .spool = spool, .fd = fd, .life = life, .how = how, .err = ERR_INIT };
	char words[SPOOL_WORDS];
	int64_t tell_at;
	int r = shake(&stock);

	if (!r) {
		strcpy(spool->shared->peer, "trace-cmd");
		spool->shared->error = UINT64_MAX;
		spool_say(spool, SPOOL_UP, 0, "");
		r = look_at_open(&stock);
	}
	if (!r)
		r = begin(&stock);
	tell_at = mono_ms() + TELL_MS;
	while (!r && !stock.ended) {
		r = take_ready(&stock);
		if (!r && mono_ms() > tell_at)
			r = stock_begin(&stock.feed, &stock.err);
		if (!r && !stock.ended)
			doze(&stock);
		if (!r && !stock.ended)
			r = check_there(&stock);
		if (!r && __atomic_load_n(&spool->shared->gives_up, __ATOMIC_ACQUIRE))
			r = err_set(&stock.err, -ECANCELED, "the recorder is no more");
	}
	snprintf(words, sizeof(words), "%.100s: %.280s", how->text, stock.err.text);
	spool_say(spool, r ? SPOOL_FAILED : SPOOL_DONE, r, words);
	return r ? TALK_FAILED : TALK_DONE;
}
