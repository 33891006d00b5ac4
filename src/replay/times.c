/*
 * replay/times: the way of a time from a page to the report: to the host's clock if it is a guest's,
 * from ticks to nanoseconds, then the offsets.
 */
#include <string.h>

#include "replay/local.h"

static bool counts_ns(const char *clock, bool stock)
{
	static const char *const known[] = { "local", "global", "uptime", "perf", "mono", "mono_raw",
					     "tai", "tsc2nsec" };

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (!strcmp(clock, known[i]))
			return true;
	return !stock && !strcmp(clock, "boot");
}

bool replay_times_are_ticks(const struct dat *file, const struct replay_times *times)
{
	const struct dat_info *info = dat_info(file);
	const struct dat_buffer *top = dat_buffer(file, 0);
	const char *clock = info->clock;

	if (top && !*top->name && *top->clock)
		clock = top->clock;
	if (times->raw)
		return clock != NULL;
	return clock && !counts_ns(clock, times->stock) && (!times->hz || times->stock) &&
	       !info->tsc2nsec.is_set;
}

/* Less than 2^64. */
#define LATEST 1.8e19

/* (a * b) >> shift, of a product with 128 bits; shift is below 64. */
static uint64_t scale_by(uint64_t a, uint64_t b, unsigned int shift)
{
	uint64_t low = (a & UINT32_MAX) * (b & UINT32_MAX);
	uint64_t mid = (a >> 32) * (b & UINT32_MAX) + (low >> 32);
	uint64_t mid2 = (a & UINT32_MAX) * (b >> 32) + (mid & UINT32_MAX);
	uint64_t high = (a >> 32) * (b >> 32) + (mid >> 32) + (mid2 >> 32);

	low = (mid2 << 32) | (low & UINT32_MAX);
	return shift ? (high << (64 - shift)) | (low >> shift) : low;
}

/* By one sample: a scaled time, moved. */
static uint64_t by_sample(const struct dat_shift_sample *s, uint64_t ts)
{
	uint64_t scale = (uint64_t)s->scale;

	if (s->fraction > 0 && s->fraction < 64)
		ts = scale_by(ts, scale, (unsigned int)s->fraction);
	else if (scale > 1)
		ts *= scale;
	return ts + (uint64_t)s->offset;
}


/* Between two samples, on the line through their offsets. */
static uint64_t between(const struct dat_shift_sample *a, const struct dat_shift_sample *b,
			uint64_t ts)
{
	struct dat_shift_sample mid = *a;
	uint64_t span = (uint64_t)b->time - (uint64_t)a->time;
	uint64_t rise = (uint64_t)b->offset - (uint64_t)a->offset;

	/* The samples are a file's, and may be anything: then so is the time, but nothing overflows. */
	if ((int64_t)span > 0)
		mid.offset = (int64_t)((uint64_t)a->offset +
				       (uint64_t)((int64_t)((ts - (uint64_t)a->time) * rise + span / 2) /
						  (int64_t)span));
	return by_sample(&mid, ts);
}

/* The last sample only ends what the one before it began, as in trace-cmd. */
static uint64_t to_host(const struct times *t, uint64_t ts)
{
	const struct dat_shift_sample *s = t->samples;
	uint32_t low = 0, high = t->nr_samples;

	if (t->nr_samples == 1)
		return ts + (uint64_t)s->offset;
	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (s[middle].time <= (int64_t)ts)
			low = middle + 1;
		else
			high = middle;
	}
	low = low ? low - 1 : 0;
	low = low < t->nr_samples - 1 ? low : t->nr_samples - 2;
	return t->interpolate ? between(&s[low], &s[low + 1], ts) : by_sample(&s[low], ts);
}

uint64_t times_slow(const struct times *t, uint64_t ts)
{
	if (t->nr_samples)
		ts = to_host(t, ts);
	if (t->factor > 0)
		ts = (double)ts * t->factor < LATEST ? (uint64_t)((double)ts * t->factor) : UINT64_MAX;
	else if (t->tsc)
		ts = scale_by(ts, t->mult, t->shift);
	return ts + t->add;
}
