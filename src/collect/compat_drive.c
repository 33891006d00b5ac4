/*
 * collect/compat_drive: a stock `trace-cmd agent`, driven. See compat.h.
 *
 * Its clock is asked for by the protocol ptp: in a burst it throws us words and we throw them back, and it works out by how much our
 * clock differs from its own.
 */
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/mono.h"
#include "collect/compat_local.h"
#include "collect/match.h"
#include "net/address.h"

#define WORDS_MS 15000
#define CALL_MS 5000
#define SYNC_MS 10000
/* It tells its formats, and then switches on what it records; of that it says nothing. */
#define BEGIN_MS 300
#define NOTE_MS 1000
#define PROBES_MAX 678u
#define PROBES_LEN (8 + PROBES_MAX * 12)
#define POINTS_MAX 256
#define NAME_SIZE 16
#define PTP "ptp"
/* Pages come by FIFOs, and not by ports. */
#define USES_FIFOS 1

/* Where words are slow there is something else to do meanwhile. */
#define BREATH 16

enum { PTP_START = 1, PTP_PROBE, PTP_PROBES, PTP_OFFSET, PTP_END };

struct drive {
	struct compat compat;
	const struct session_how *how;
	int clock;		/* the connection about it; -1: none */
	struct match_point points[POINTS_MAX];
	int nr_points;
	int64_t synced_at;
	int failed;		/* pages came meanwhile, and could not be taken */
};

/* ---- messages of the clock's connection ---- */

static int get(struct drive *drive, void *bytes, size_t len)
{
	int64_t until = mono_ms() + WORDS_MS;
	uint8_t *to = bytes;

	while (len) {
		struct pollfd wait = { .fd = drive->clock, .events = POLLIN };
		ssize_t n = recv(drive->clock, to, len, MSG_DONTWAIT);
		int code = errno, yes = 1;

		/* Its words come in halves, of which by TCP the second waits for a word about the first. */
		setsockopt(drive->clock, IPPROTO_TCP, TCP_QUICKACK, &yes, sizeof(yes));
		errno = code;
		if (n > 0) {
			to += n;
			len -= (size_t)n;
			continue;
		}
		if (!n || (errno != EAGAIN && errno != EINTR) || mono_ms() > until)
			return err_set(&drive->compat.err, -ECONNRESET, "its clock is not told any more");
		poll(&wait, 1, 500);
	}
	return 0;
}

static int say(struct drive *drive, const char *proto, uint32_t id, const void *rest, uint32_t len)
{
	struct {
		struct tracecmd_head head;
		char proto[NAME_SIZE];
		uint32_t id;
		uint8_t rest[PROBES_LEN];
	} message = {
		.head = {
			.size = htobe32((uint32_t)sizeof(struct tracecmd_head) + NAME_SIZE + 4 + len), .cmd = htobe32(TRACECMD_TIME_SYNC),
			.cmd_size = htobe32(NAME_SIZE + 4),
		},
		.id = htobe32(id),
	};
	const uint8_t *from = (const uint8_t *)&message;
	size_t left = offsetof(__typeof__(message), rest) + len;
	int64_t until = mono_ms() + WORDS_MS;

	snprintf(message.proto, sizeof(message.proto), "%s", proto);
	if (len)
		memcpy(message.rest, rest, len);
	while (left) {
		struct pollfd wait = { .fd = drive->clock, .events = POLLOUT };
		ssize_t n = send(drive->clock, from, left, MSG_NOSIGNAL | MSG_DONTWAIT);

		if (n > 0) {
			from += n;
			left -= (size_t)n;
			continue;
		}
		if ((errno != EAGAIN && errno != EINTR) || mono_ms() > until)
			return err_set(&drive->compat.err, -ECONNRESET, "its clock is not told any more");
		poll(&wait, 1, 500);
	}
	return 0;
}

/* The next one of ptp's: its number, and up to `size` bytes of what it says. */
static int hear(struct drive *drive, uint32_t *id, void *rest, uint32_t size)
{
	struct tracecmd_head head;
	uint8_t own[64], more[TRACECMD_MSG_MAX];
	uint32_t all, own_len, len;
	int r = get(drive, &head, sizeof(head));

	if (r)
		return r;
	all = be32toh(head.size);
	own_len = be32toh(head.cmd_size);
	if (be32toh(head.cmd) != TRACECMD_TIME_SYNC || own_len < NAME_SIZE + 4 || own_len > sizeof(own) || all > sizeof(more) ||
	    all < sizeof(head) + own_len)
		return compat_nonsense(&drive->compat, "clock");
	len = all - (uint32_t)sizeof(head) - own_len;
	r = get(drive, own, own_len);
	if (!r)
		r = get(drive, more, len);
	if (r)
		return r;
	memcpy(id, own + NAME_SIZE, sizeof(*id));
	*id = be32toh(*id);
	memset(rest, 0, size);
	memcpy(rest, more, len < size ? len : size);
	return 0;
}

/* ---- a burst ---- */

struct heard {
	uint32_t n;
	uint64_t sent, fastest;
	uint8_t bytes[PROBES_LEN];
};

static void note_probe(struct heard *heard, uint32_t number, uint64_t at)
{
	uint64_t ts = htobe64(at);
	uint32_t id = htobe32(number);

	if (heard->sent && at - heard->sent < heard->fastest)
		heard->fastest = at - heard->sent;
	if (heard->n == PROBES_MAX)
		return;
	memcpy(heard->bytes + 8 + heard->n * 12, &ts, sizeof(ts));
	memcpy(heard->bytes + 8 + heard->n * 12 + 8, &id, sizeof(id));
	heard->n++;
}

/* Words are thrown back until it has had enough. */
static int throw_back(struct drive *drive, struct heard *heard)
{
	uint32_t id = 0, words[2];
	int r = 0;

	for (unsigned int i = 1; !r && id != PTP_END; i++) {
		uint64_t at;

		if (i % BREATH == 0 && (drive->failed = compat_look(&drive->compat, 0)) < 0)
			return drive->failed;

		r = hear(drive, &id, words, sizeof(words));
		at = mono_ns();
		if (r || id == PTP_END)
			break;
		if (id == PTP_START) {
			r = say(drive, PTP, PTP_START, words, sizeof(words));
		} else if (id == PTP_PROBE) {
			note_probe(heard, be32toh(words[0]), at);
			r = say(drive, PTP, PTP_PROBE, words, 4);
			heard->sent = mono_ns();
		} else {
			r = compat_nonsense(&drive->compat, "clock");
		}
	}
	return r;
}

static int burst(struct drive *drive)
{
	struct heard *heard = calloc(1, sizeof(*heard));
	uint32_t id, head[2] = { htobe32(1) };
	uint16_t cpu = 0;
	uint64_t offset[2];
	int r = heard ? say(drive, "none", 1, &cpu, sizeof(cpu)) : -ENOMEM;

	if (!r) {
		heard->fastest = UINT64_MAX;
		r = throw_back(drive, heard);
	}
	if (!r) {
		head[1] = htobe32(heard->n);
		memcpy(heard->bytes, head, sizeof(head));
		r = say(drive, PTP, PTP_PROBES, heard->bytes, PROBES_LEN);
	}
	if (!r)
		r = hear(drive, &id, offset, sizeof(offset));
	if (!r && id == PTP_OFFSET && drive->nr_points < POINTS_MAX)
		drive->points[drive->nr_points++] = (struct match_point){
			.at = (int64_t)be64toh(offset[0]), .offset = (int64_t)be64toh(offset[1]), .error = heard->fastest / 2,
		};
	drive->synced_at = mono_ms();
	free(heard);
	return r;
}

/* ---- what it is to do ---- */

static int request(struct drive *drive, const char *args, size_t len)
{
	const struct {
		uint32_t flags, zero;
		uint64_t traceid;
	} own = { .flags = htobe32(drive->how->nr_fifos ? USES_FIFOS : 0), .traceid = htobe64(drive->how->machine) };
	uint8_t text[TRACECMD_MSG_MAX - 64];
	uint32_t n = 0, at = 12, id, size;

	for (size_t i = 0; i < len; i += strlen(args + i) + 1, n++)
		;
	if (at + len + 40 > sizeof(text))
		return err_set(&drive->compat.err, -E2BIG, "the options are too long for trace-cmd");
	/* The clock that can be compared. */
	memcpy(text + at, args, len);
	memcpy(text + at + len, "-C\0mono", 8);
	len += 8;
	n += 2;
	id = 0;
	size = htobe32((uint32_t)len + 4);
	memcpy(text, &id, 4);
	memcpy(text + 4, &size, 4);
	n = htobe32(n);
	memcpy(text + 8, &n, 4);
	at += (uint32_t)len;
	id = htobe32(1);
	size = htobe32(5);
	memcpy(text + at, &id, 4);
	memcpy(text + at + 4, &size, 4);
	memcpy(text + at + 8, PTP "\0", 5);
	return compat_say(&drive->compat, TRACECMD_TRACE_REQ, &own, sizeof(own), text, at + 13);
}

/* Its ports: at most so many, of which one after the other is called. */
static int call_ports(struct drive *drive, const char *ports, size_t len)
{
	struct compat *compat = &drive->compat;
	size_t at = 0;

	for (uint32_t i = 0; i < compat->nr_cpus; i++) {
		size_t word = at < len ? strnlen(ports + at, len - at) : 0;

		if (!word || at + word >= len)
			return compat_nonsense(compat, "list of ports");
		compat->cpus[i].fd = address_beside(compat->fd, (uint32_t)strtoul(ports + at, NULL, 10), CALL_MS, &compat->err);
		if (compat->cpus[i].fd < 0)
			return compat->cpus[i].fd;
		at += word + 1;
	}
	return 0;
}

static int take_fifos(struct drive *drive)
{
	struct compat *compat = &drive->compat;

	if (drive->how->nr_fifos < compat->nr_cpus)
		return err_set(&compat->err, -ENXIO, "it has %u CPUs, and of FIFOs there are %u", compat->nr_cpus, drive->how->nr_fifos);
	compat->fifo = true;
	for (uint32_t i = 0; i < compat->nr_cpus; i++)
		compat->cpus[i].fd = drive->how->fifos[i];
	return 0;
}

static int answer(struct drive *drive)
{
	struct compat *compat = &drive->compat;
	struct tracecmd_head head;
	struct {
		uint32_t flags, cpus, page_size;
		uint64_t traceid;
		char proto[NAME_SIZE];
		uint32_t port;
	} __attribute__((packed)) own;
	const char *ports;
	int r = compat_await(compat, sizeof(head));

	if (!r && (r = compat_next(compat, &head)) >= 0)
		r = compat_await(compat, head.size);
	if (r)
		return r;
	if (head.cmd != TRACECMD_TRACE_RESP || head.cmd_size < sizeof(own))
		return err_set(&compat->err, -EPROTO, "it does not do what it is asked: is that `trace-cmd agent`?");
	memcpy(&own, compat->in.data + sizeof(head), sizeof(own));
	compat->nr_cpus = be32toh(own.cpus);
	compat->page_size = be32toh(own.page_size);
	r = compat_check_shape(compat);
	if (r)
		return r;
	ports = compat->in.data + sizeof(head) + head.cmd_size;
	if (be32toh(own.flags) & USES_FIFOS)
		r = take_fifos(drive);
	else
		r = call_ports(drive, ports, head.size - sizeof(head) - head.cmd_size);
	if (!r && own.port && !strncmp(own.proto, PTP, NAME_SIZE)) {
		drive->clock = address_beside(compat->fd, be32toh(own.port), CALL_MS, &compat->err);
		r = drive->clock < 0 ? drive->clock : 0;
	}
	compat_drop(compat, head.size);
	return r ? r : compat_find_file(compat);
}

/* ---- while it records ---- */

static bool is_told(int stop)
{
	struct pollfd wait = { .fd = stop, .events = POLLIN };

	return poll(&wait, 1, 0) > 0;
}

/* What is not known of its clock is no reason to lose what it records. */
static void sync_clock(struct drive *drive)
{
	if (drive->clock < 0 || !burst(drive) || drive->failed < 0)
		return;
	close(drive->clock);
	drive->clock = -1;
	drive->compat.err = (struct err)ERR_INIT;
}

static int take_all(struct drive *drive, int stop)
{
	struct compat *compat = &drive->compat;
	int64_t noted = 0, moved = mono_ms(), began = 0;
	bool stopped = false;
	int r = 0;

	sync_clock(drive);
	r = drive->failed;
	while (r >= 0 && !compat_is_over(compat, moved)) {
		r = compat_look(compat, 100);
		if (r > 0 || !compat->closed)
			moved = mono_ms();
		if (r < 0)
			break;
		if (!stopped && compat->live && is_told(stop)) {
			stopped = true;
			r = compat_say(compat, TRACECMD_CLOSE, NULL, 0, NULL, 0);
			sync_clock(drive);
			if (drive->clock >= 0)
				say(drive, "none", 2, NULL, 0);
		}
		if (!stopped && mono_ms() - drive->synced_at > SYNC_MS)
			sync_clock(drive);
		if (drive->failed < 0)
			r = drive->failed;
		if (compat->live && !began)
			began = mono_ms();
		if (began && mono_ms() - began > BEGIN_MS && mono_ms() - noted > NOTE_MS) {
			compat_note(compat, DESK_NOTE);
			noted = mono_ms();
		}
	}
	return r < 0 ? r : 0;
}

static int finish(struct drive *drive, bool whole)
{
	struct compat *compat = &drive->compat;
	struct desk_ask ask = compat_about(compat, DESK_CLOSED);
	struct buf shift = BUF_INIT;
	int r = 0;

	if (drive->nr_points) {
		match_shift(drive->points, drive->nr_points, drive->how->machine, compat->nr_cpus, &shift);
		ask.offset = drive->points[drive->nr_points - 1].offset;
		ask.error = match_error(drive->points, drive->nr_points);
		r = buf_failed(&shift) ? -ENOMEM : dat_live_option(compat->live, DAT_TIME_SHIFT, shift.data, shift.len);
	}
	buf_fini(&shift);
	compat_note(compat, whole ? DESK_ENDED : DESK_NOTE);
	if (!r)
		r = dat_live_finish(compat->live, &compat->err);
	if (!r)
		desk_ask(compat->line, &ask, NULL, NULL, NULL);
	return r;
}

int compat_drive(int fd, int line, int stop, const struct greet_how *greet, const struct session_how *how, const void *run, size_t len)
{
	struct drive drive = {
		.compat = { .fd = fd, .line = line, .meta = -1, .file = -1, .in = BUF_INIT, .err = ERR_INIT }, .how = how, .clock = -1,
	};
	struct compat *compat = &drive.compat;
	struct desk_ask ask = { .kind = DESK_SAY, .wants = 1 };
	int r = request(&drive, (const char *)run + 16, len - 16);

	(void)greet;
	if (!r)
		r = answer(&drive);
	if (!r)
		r = take_all(&drive, stop);
	if (!r && compat->cut)
		r = err_set(&compat->err, -ECONNRESET, "it has hung up");
	/* What has come is kept. */
	if (!r || compat->live)
		r = finish(&drive, !r) | r ? -1 : 0;
	compat_fini(compat);
	if (r) {
		ask.text_len = (uint32_t)snprintf(ask.text, sizeof(ask.text), "%s", compat->err.text);
		desk_ask(line, &ask, NULL, NULL, NULL);
	}
	return r ? SESSION_FAILED : SESSION_DONE;
}
