/*
 * agent/compat: see compat.h and layout/tracecmd.h.
 *
 *	driver: TRACE_REQ | the recorder's OPEN | TRACE_RESP, with ports | a file's beginning | pages, by their ports | CLOSE, CLOSE_RESP
 */
#include "agent/compat.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

#include "agent/compat_local.h"
#include "base/mono.h"

#define WORDS_MS 10000
#define SEND_MS 60000
#define PIECE (TRACECMD_MSG_MAX - 12u)
#define ASK_MS 1000
#define PORT_TEXT 11	/* of a vsock they are long */

int driven_nonsense(struct compat *compat)
{
	return err_set(&compat->err, -EPROTO, "what trace-cmd says makes no sense");
}

/* ---- bytes ---- */

static int put(struct compat *compat, int fd, const void *bytes, size_t len)
{
	int64_t until = mono_ms() + SEND_MS;
	const uint8_t *from = bytes;

	while (len) {
		struct pollfd wait = { .fd = fd, .events = POLLOUT };
		ssize_t n = send(fd, from, len, MSG_NOSIGNAL | MSG_DONTWAIT);

		if (n > 0) {
			from += n;
			len -= (size_t)n;
			until = mono_ms() + SEND_MS;
			continue;
		}
		if (n < 0 && errno != EAGAIN && errno != EINTR)
			return err_set(&compat->err, -errno, "%s", strerror(errno));
		if (mono_ms() > until)
			return err_set(&compat->err, -ETIMEDOUT, "it takes nothing any more");
		poll(&wait, 1, 500);
	}
	return 0;
}

static int get(struct compat *compat, int fd, void *bytes, size_t len)
{
	int64_t until = mono_ms() + WORDS_MS;
	uint8_t *to = bytes;

	while (len) {
		struct pollfd wait = { .fd = fd, .events = POLLIN };
		ssize_t n = recv(fd, to, len, MSG_DONTWAIT);
		int code = errno, yes = 1;

		/* Its words come in halves, of which by TCP the second waits for a word about the first. */
		setsockopt(fd, IPPROTO_TCP, TCP_QUICKACK, &yes, sizeof(yes));
		errno = code;
		if (n > 0) {
			to += n;
			len -= (size_t)n;
			continue;
		}
		if (!n)
			return err_set(&compat->err, -ECONNRESET, "it has hung up");
		if (errno != EAGAIN && errno != EINTR)
			return err_set(&compat->err, -errno, "%s", strerror(errno));
		if (mono_ms() > until)
			return err_set(&compat->err, -ETIMEDOUT, "nothing was heard for %d seconds", WORDS_MS / 1000);
		poll(&wait, 1, 500);
	}
	return 0;
}

int driven_hear(struct compat *compat, int fd, struct message *message)
{
	struct tracecmd_head head;
	int r = get(compat, fd, &head, sizeof(head));
	uint32_t size = be32toh(head.size);

	if (r)
		return r;
	message->cmd = be32toh(head.cmd);
	message->own_len = be32toh(head.cmd_size);
	if (size < sizeof(head) || size > TRACECMD_MSG_MAX || message->own_len > size - sizeof(head))
		return driven_nonsense(compat);
	message->len = size - (uint32_t)sizeof(head);
	return get(compat, fd, message->bytes, message->len);
}

/* In one piece: the other side answers sooner. */
int driven_say(struct compat *compat, int fd, enum tracecmd_msg cmd, const void *own, uint32_t own_len, const void *rest, uint32_t len)
{
	uint8_t bytes[TRACECMD_MSG_MAX];
	struct tracecmd_head head = {
		.size = htobe32((uint32_t)sizeof(head) + own_len + len), .cmd = htobe32(cmd), .cmd_size = htobe32(own_len),
	};

	memcpy(bytes, &head, sizeof(head));
	if (own_len)
		memcpy(bytes + sizeof(head), own, own_len);
	if (len)
		memcpy(bytes + sizeof(head) + own_len, rest, len);
	return put(compat, fd, bytes, sizeof(head) + own_len + len);
}

/* ---- what it wants ---- */

/* Words of a command line of `trace-cmd record`, which are ours, too; its clock is ours to choose. */
static int take_args(struct compat *compat, const uint8_t *at, size_t len, struct desk_ask *ask)
{
	uint32_t count;
	bool skip = false;

	if (len < sizeof(count))
		return driven_nonsense(compat);
	memcpy(&count, at, sizeof(count));
	count = be32toh(count);
	at += sizeof(count);
	len -= sizeof(count);
	for (uint32_t i = 0; i < count; i++) {
		size_t word = strnlen((const char *)at, len);

		if (word == len || ask->text_len + word + 1 >= sizeof(ask->text) - 16)
			return driven_nonsense(compat);
		if (!skip && strcmp((const char *)at, "-C")) {
			memcpy(ask->text + ask->text_len, at, word + 1);
			ask->text_len += (uint32_t)word + 1;
			skip = false;
		} else {
			skip = !skip;
		}
		at += word + 1;
		len -= word + 1;
	}
	return 0;
}

static bool knows_ptp(const uint8_t *at, size_t len)
{
	while (len) {
		size_t word = strnlen((const char *)at, len);

		if (word == strlen(COMPAT_PTP) && !memcmp(at, COMPAT_PTP, word))
			return true;
		word += word < len;
		at += word;
		len -= word;
	}
	return false;
}

static int take_request(struct compat *compat, struct desk_ask *ask)
{
	struct message message;
	int r = driven_hear(compat, compat->fd, &message);
	size_t at;

	if (r)
		return r;
	if (message.cmd != TRACECMD_TRACE_REQ || message.own_len < 16)
		return driven_nonsense(compat);
	for (at = message.own_len; message.len - at >= 8;) {
		uint32_t id, len;

		memcpy(&id, message.bytes + at, sizeof(id));
		memcpy(&len, message.bytes + at + 4, sizeof(len));
		id = be32toh(id);
		len = be32toh(len);
		at += 8;
		if (len > message.len - at)
			return driven_nonsense(compat);
		if (!id)
			r = take_args(compat, message.bytes + at, len, ask);
		else if (id == 1)
			compat->sync = knows_ptp(message.bytes + at, len);
		if (r)
			return r;
		at += len;
	}
	/* The usual clock of stock drivers says nothing to others. */
	memcpy(ask->text + ask->text_len, "-C\0mono", 8);
	ask->text_len += 8;
	return 0;
}

/* ---- the recorder ---- */

static int say_at(struct compat *compat, enum wire_kind kind)
{
	const struct wire_at head = { wire64(compat->at) };

	return channel_put(&compat->recorder, kind, &head, sizeof(head), NULL, 0);
}

static int put_head(void *ctx, const void *bytes, size_t len, struct err *err)
{
	struct compat *compat = ctx;
	int r = 0;

	(void)err;
	for (size_t at = 0; !r && at < len; at += PIECE)
		r = driven_say(compat, compat->fd, TRACECMD_SEND_DATA, NULL, 0, (const char *)bytes + at, len - at < PIECE ? (uint32_t)(len - at) : PIECE);
	return r ? r : driven_say(compat, compat->fd, TRACECMD_FIN_DATA, NULL, 0, NULL, 0);
}

static int let_in(struct compat *compat, uint32_t i, int ms)
{
	struct pollfd wait = { .fd = compat->doors[i], .events = POLLIN };
	int yes = 1;

	if (compat->fds[i] >= 0 || compat->doors[i] < 0)
		return 0;
	if (poll(&wait, 1, ms) <= 0)
		return 0;
	compat->fds[i] = accept4(compat->doors[i], NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
	if (compat->fds[i] < 0)
		return 0;
	setsockopt(compat->fds[i], IPPROTO_TCP, TCP_NODELAY, &yes, sizeof(yes));
	close(compat->doors[i]);
	compat->doors[i] = -1;
	return 0;
}

static int put_pages(void *ctx, uint32_t cpu, const void *bytes, size_t len, struct err *err)
{
	struct compat *compat = ctx;

	(void)err;
	let_in(compat, cpu, WORDS_MS);
	return compat->fds[cpu] < 0 ? err_set(&compat->err, -ETIMEDOUT, "nobody comes for the pages of cpu %u", cpu) :
	       put(compat, compat->fds[cpu], bytes, len);
}

/* A port for each CPU, and one for its clock. A driver that offers FIFOs gets ports, too: trace-cmd 3.1.6 reads nothing out of its FIFOs. */
static int respond(struct compat *compat)
{
	uint32_t n = compat->feed.nr_cpus + 1, len = 0;
	struct {
		uint32_t flags, cpus, page_size;
		uint64_t traceid;
		char proto[COMPAT_NAME_SIZE];
		uint32_t port;
	} __attribute__((packed)) own = {
		.cpus = htobe32(compat->feed.nr_cpus), .page_size = htobe32(compat->feed.page_size), .traceid = htobe64(compat->how->machine | 1),
	};
	char ports[STOCK_CPUS_MAX * PORT_TEXT];

	compat->doors = calloc(n, sizeof(*compat->doors));
	compat->fds = calloc(n, sizeof(*compat->fds));
	compat->probes = compat->sync ? calloc(COMPAT_PROBES + 1, sizeof(*compat->probes)) : NULL;
	if (!compat->doors || !compat->fds || (compat->sync && !compat->probes))
		return err_set(&compat->err, -ENOMEM, "out of memory");
	memset(compat->doors, -1, n * sizeof(*compat->doors));
	memset(compat->fds, -1, n * sizeof(*compat->fds));
	for (uint32_t i = 0; i < n; i++) {
		struct desk_ask ask = { .kind = DESK_PORT, .len = i };
		struct desk_answer answer;
		int fds[2], r = desk_ask(compat->how->line, &ask, &answer, fds, &compat->err);

		if (r)
			return r;
		compat->doors[i] = fds[0];
		if (i < n - 1)
			len += (uint32_t)snprintf(ports + len, sizeof(ports) - len, "%u", (unsigned int)answer.at) + 1;
		else if (compat->sync)
			own.port = htobe32((uint32_t)answer.at);
	}
	if (compat->sync)
		strcpy(own.proto, COMPAT_PTP);
	return driven_say(compat, compat->fd, TRACECMD_TRACE_RESP, &own, sizeof(own), ports, len);
}

static int begin(struct compat *compat, const struct frame *frame)
{
	const struct stock_out out = { put_head, put_pages, compat };
	struct wire_open open;
	int r = stock_open(&compat->feed, frame->body, frame->len, &out, &compat->err);

	if (r)
		return r;
	memcpy(&open, frame->body, sizeof(open));
	compat->at = wire64(open.at);
	r = respond(compat);
	return r ? r : say_at(compat, WIRE_HAVE);
}

static int finish(struct compat *compat)
{
	const struct wire_done done = { .error = wire64(UINT64_MAX) };

	for (uint32_t i = 0; i < compat->feed.nr_cpus; i++) {
		let_in(compat, i, 100);
		if (compat->fds[i] >= 0)
			close(compat->fds[i]);
		compat->fds[i] = -1;
	}
	compat->done = true;
	compat->done_at = mono_ms();
	say_at(compat, WIRE_TAKEN);
	return channel_put(&compat->recorder, WIRE_DONE, &done, sizeof(done), NULL, 0);
}

static int hear_recorder(struct compat *compat)
{
	struct frame frame;
	int r;

	for (int i = 0; i < 32 && !compat->done; i++) {
		r = channel_next(&compat->recorder, &frame, &compat->err);
		if (r == -EAGAIN)
			break;
		if (r <= 0)
			return r ? r : err_set(&compat->err, -ECONNRESET, "the recorder has ended");
		r = 0;
		if (frame.kind == WIRE_HELLO) {
			r = channel_hello(&compat->recorder, 0, compat->how->machine, compat->how->name);
			compat->greeted = true;
		} else if (frame.kind == WIRE_OPEN && !compat->doors) {
			r = begin(compat, &frame);
		} else if (frame.kind != WIRE_TIME) {
			r = stock_frame(&compat->feed, frame.kind, frame.body, frame.len, &compat->err);
			compat->at += sizeof(struct wire_head) + frame.len;
			if (!r && frame.kind == WIRE_TELL)
				r = stock_begin(&compat->feed, &compat->err);
			if (!r && compat->feed.ended)
				r = finish(compat);
		}
		if (r)
			return r;
	}
	if (compat->feed.cpus)
		say_at(compat, WIRE_TAKEN);
	return 0;
}

/* ---- all of it ---- */

static int hear_driver(struct compat *compat)
{
	struct desk_ask stop = { .kind = DESK_STOP };
	struct message message;
	int r = driven_hear(compat, compat->fd, &message);

	if (r)
		return r;
	if (message.cmd == TRACECMD_CLOSE && !compat->stopped) {
		compat->stopped = true;
		return desk_ask(compat->how->line, &stop, NULL, NULL, &compat->err);
	}
	return message.cmd == TRACECMD_CLOSE ? 0 : driven_say(compat, compat->fd, TRACECMD_NOT_SUPP, NULL, 0, NULL, 0);
}

static void ask_recorder(struct compat *compat)
{
	const struct wire_ask ask = { wire64(++compat->asked) };

	/* The first that it hears is HELLO. */
	if (!compat->greeted || mono_ms() - compat->asked_at < ASK_MS)
		return;
	compat->asked_at = mono_ms();
	channel_put(&compat->recorder, WIRE_ASK, &ask, sizeof(ask), NULL, 0);
}

/* All pages are said; but a driver asks for the clock once more in the end, and then no more. */
static bool is_over(const struct compat *compat)
{
	return compat->done && (compat->fds[compat->feed.nr_cpus] < 0 || mono_ms() - compat->done_at > WORDS_MS);
}

int driven_breathe(struct compat *compat)
{
	int r = hear_recorder(compat);

	ask_recorder(compat);
	if (!r && ((r = channel_flush(&compat->recorder)) == -EAGAIN || compat->done))
		r = 0;
	compat->failed = r;
	return r;
}

static int relay(struct compat *compat)
{
	int r = 0;

	while (!r && !is_over(compat)) {
		uint32_t n = compat->feed.cpus ? compat->feed.nr_cpus : 0;
		struct pollfd fds[4];

		for (uint32_t i = 0; compat->doors && i <= n; i++)
			let_in(compat, i, 0);
		fds[0] = (struct pollfd){ .fd = compat->fd, .events = POLLIN };
		fds[1] = (struct pollfd){ .fd = compat->fds ? compat->fds[n] : -1, .events = POLLIN };
		channel_poll(&compat->recorder, fds + 2, false);
		/* The recorder hangs up when it is done. */
		if (compat->done)
			fds[2].fd = fds[3].fd = -1;
		poll(fds, 4, 200);
		r = driven_breathe(compat);
		if (!r && fds[1].revents)
			r = driven_hear_clock(compat);
		if (!r && fds[0].revents)
			r = hear_driver(compat);
	}
	return r;
}

static int run(struct compat *compat)
{
	struct desk_ask who = { .kind = DESK_WHO, .wants = WIRE_DRIVES }, ask = { .kind = DESK_RUN, .wants = 1 };
	struct desk_answer answer;
	int fds[2], r = desk_ask(compat->how->line, &who, &answer, NULL, &compat->err);

	/* Nobody goes on with it. */
	if (!r && getrandom(ask.recording, sizeof(ask.recording), 0) != (ssize_t)sizeof(ask.recording))
		r = err_set(&compat->err, -EIO, "no number for the recording");
	if (!r)
		r = take_request(compat, &ask);
	if (!r)
		r = desk_ask(compat->how->line, &ask, &answer, fds, &compat->err);
	if (r)
		return r;
	channel_init(&compat->recorder, fds[0], fds[0], NULL);
	compat->words = fds[1];
	r = relay(compat);
	ask.kind = DESK_EXIT;
	if (!r)
		r = desk_ask(compat->how->line, &ask, &answer, NULL, &compat->err);
	return r ? r : driven_say(compat, compat->fd, TRACECMD_CLOSE_RESP, NULL, 0, NULL, 0);
}

/* What the recorder said last: a stock driver has no ear for it. */
static void take_words(const struct compat *compat, char *words, size_t size)
{
	ssize_t n = compat->words < 0 ? 0 : read(compat->words, words, size - 1);

	words[n > 0 ? n : 0] = '\0';
	for (char *c = words; *c; c++)
		if (*c < ' ')
			*c = c[1] ? ' ' : '\0';
}

bool compat_speaks(int fd, int ms)
{
	struct pollfd wait = { .fd = fd, .events = POLLIN };
	uint8_t first;

	/* Its numbers are big-endian: a short message begins with a zero. */
	return poll(&wait, 1, ms) > 0 && recv(fd, &first, 1, MSG_PEEK) == 1 && !first;
}

int compat_run_agent(int fd, const struct admit_how *how)
{
	struct compat compat = { .how = how, .fd = fd, .words = -1, .recorder = { .in = -1, .out = -1 }, .err = ERR_INIT };
	struct desk_ask ask = { .kind = DESK_SAY }, stop = { .kind = DESK_STOP };
	char words[256];
	int r = run(&compat);

	if (r) {
		take_words(&compat, words, sizeof(words));
		/* Stock drivers do not come back. */
		if (compat.words >= 0)
			desk_ask(how->line, &stop, NULL, NULL, NULL);
		ask.text_len = (uint32_t)snprintf(ask.text, sizeof(ask.text), "%s%s%s", compat.err.text, *words ? ": " : "", words);
		desk_ask(how->line, &ask, NULL, NULL, NULL);
	}
	channel_fini(&compat.recorder);
	stock_close(&compat.feed);
	free(compat.doors);
	free(compat.fds);
	free(compat.probes);
	return r != 0;
}
