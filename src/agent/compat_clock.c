/*
 * agent/compat_clock: what a stock driver asks of our clock, by the protocol ptp, on a port of its own: a burst of words is thrown back and
 * forth, and whoever was asked works out the difference from the fastest.
 */
#include <string.h>
#include <unistd.h>

#include "agent/compat_local.h"
#include "base/mono.h"

/* Where words are slow there is something else to do meanwhile. */
#define BREATH 16

enum { PTP_START = 1, PTP_PROBE, PTP_PROBES, PTP_OFFSET, PTP_END };

static int say_sync(struct compat *compat, uint32_t id, const void *rest, uint32_t len)
{
	struct {
		char proto[COMPAT_NAME_SIZE];
		uint32_t id;
	} own = { .proto = COMPAT_PTP, .id = htobe32(id) };

	return driven_say(compat, compat->fds[compat->feed.nr_cpus], TRACECMD_TIME_SYNC, &own, sizeof(own), rest, len);
}

/* One of them: the protocol has this name, and its number is that. */
static int hear_sync(struct compat *compat, const char *proto, uint32_t *id, struct message *message)
{
	int r = driven_hear(compat, compat->fds[compat->feed.nr_cpus], message);

	if (r)
		return r;
	if (message->cmd != TRACECMD_TIME_SYNC || message->own_len < COMPAT_NAME_SIZE + 4 || strncmp((char *)message->bytes, proto, COMPAT_NAME_SIZE))
		return driven_nonsense(compat);
	memcpy(id, message->bytes + COMPAT_NAME_SIZE, sizeof(*id));
	*id = be32toh(*id);
	return 0;
}

/* Of all that came back the one that was quickest, and was there at `ts` by the driver's clock. */
static int work_out(struct compat *compat, const struct message *message, uint64_t own[2])
{
	const uint8_t *at = message->bytes + message->own_len;
	size_t len = message->len - message->own_len;
	uint64_t best = UINT64_MAX;
	uint32_t count;

	if (len < 8)
		return driven_nonsense(compat);
	memcpy(&count, at + 4, sizeof(count));
	count = be32toh(count);
	for (uint32_t i = 0; i < count && len >= 8 + (size_t)(i + 1) * 12; i++) {
		uint64_t ts;
		uint32_t id;
		struct times *probe;

		memcpy(&ts, at + 8 + (size_t)i * 12, sizeof(ts));
		memcpy(&id, at + 8 + (size_t)i * 12 + 8, sizeof(id));
		ts = be64toh(ts);
		id = be32toh(id);
		probe = id <= COMPAT_PROBES ? &compat->probes[id] : NULL;
		if (!probe || !probe->got || !ts || probe->got - probe->sent >= best)
			continue;
		best = probe->got - probe->sent;
		own[0] = htobe64(probe->sent + best / 2);
		own[1] = htobe64(ts - (probe->sent + best / 2));
	}
	return best == UINT64_MAX ? driven_nonsense(compat) : 0;
}

/* A burst, from the driver's asking for it to the difference. */
static int burst(struct compat *compat)
{
	const uint32_t start[2] = { htobe32(1), htobe32(3) };
	struct message message;
	uint64_t own[2] = { 0, 0 };
	uint32_t id;
	int r = say_sync(compat, PTP_START, start, sizeof(start));

	if (!r)
		r = hear_sync(compat, COMPAT_PTP, &id, &message);
	if (!r && id != PTP_START)
		r = driven_nonsense(compat);
	memset(compat->probes, 0, (COMPAT_PROBES + 1) * sizeof(*compat->probes));
	for (uint32_t i = 1; !r && i <= COMPAT_PROBES; i++) {
		uint32_t number = htobe32(i);

		if (i % BREATH == 0 && (r = driven_breathe(compat)))
			break;
		compat->probes[i].sent = mono_ns();
		r = say_sync(compat, PTP_PROBE, &number, sizeof(number));
		if (!r)
			r = hear_sync(compat, COMPAT_PTP, &id, &message);
		compat->probes[i].got = mono_ns();
	}
	if (!r)
		r = say_sync(compat, PTP_END, NULL, 0);
	if (!r)
		r = hear_sync(compat, COMPAT_PTP, &id, &message);
	if (!r && id != PTP_PROBES)
		r = driven_nonsense(compat);
	if (!r)
		r = work_out(compat, &message, own);
	return r ? r : say_sync(compat, PTP_OFFSET, own, sizeof(own));
}

int driven_hear_clock(struct compat *compat)
{
	struct message message;
	uint32_t id;
	int r = hear_sync(compat, "none", &id, &message);

	if (!r && id == 1)
		r = burst(compat);
	else
		r = r ? r : 1;
	if (!r || compat->failed)
		return compat->failed;
	/* It asks no more; or what it says makes no sense, which is no reason to lose what is recorded. */
	close(compat->fds[compat->feed.nr_cpus]);
	compat->fds[compat->feed.nr_cpus] = -1;
	compat->err = (struct err)ERR_INIT;
	return 0;
}
