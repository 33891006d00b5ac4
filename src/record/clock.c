/*
 * record/clock: see clock.h.
 */
#include "record/clock.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/buf.h"
#include "base/mono.h"
#include "control/clock.h"

/* The narrowest of so many brackets. */
#define AHEAD_LOOKS 5

/* The clock of a set that is there: then nothing has to be measured. */
static const struct state_clock *known_clock(const struct control *control)
{
	for (uint32_t i = 0; i < control->state.nbuffers; i++) {
		const struct state_set *set = &control->state.buffers[i].live;

		if (control->state.buffers[i].born && set->offset && control_clock_is_ns(set->clock.id) &&
		    set->clock.flags & TRACE_CLOCK_BY_COUNTER)
			return &set->clock;
	}
	return NULL;
}

static uint64_t scale(const struct record_clock *clock, uint64_t counts)
{
	uint64_t high = (counts >> 32) * clock->mult, low = (counts & UINT32_MAX) * clock->mult;

	return (high << (32 - clock->shift)) + (low >> clock->shift);
}

void record_clock_init(struct record_clock *clock, struct control *control, uint32_t id)
{
	struct state_clock local;
	uint64_t mult;

	*clock = (struct record_clock){ .id = id, .control = control };
	if (id != TRACE_CLOCK_X86_TSC)
		return;
	control_clock_make(&local, TRACE_CLOCK_LOCAL, control ? &control->dir : NULL, control ? known_clock(control) : NULL);
	/* Constants of 32 bits: as many of them as there can be. */
	mult = local.mult;
	clock->shift = 32;
	while (mult > UINT32_MAX && clock->shift) {
		mult >>= 1;
		clock->shift--;
	}
	clock->by_tsc = local.flags & TRACE_CLOCK_BY_COUNTER && mult && clock->shift;
	if (!clock->by_tsc)
		return;
	clock->mult = (uint32_t)mult;
	clock->offset = (int64_t)(local.ns0 - scale(clock, local.counter0));
}

/* The one in brackets, or the only one. */
int record_clock_of_files(struct record_clock *clock, struct source *source, const char *instance, struct err *err)
{
	struct buf text = BUF_INIT, path = BUF_INIT;
	uint32_t id = RECORD_CLOCK_OTHER;
	const char *open, *close;
	char name[24] = "local";
	int r;

	buf_printf(&path, "%s%s%strace_clock", *instance ? "instances/" : "", instance, *instance ? "/" : "");
	r = buf_failed(&path) ? err_set(err, -ENOMEM, "out of memory") : source_read(source, path.data, &text, err);
	if (!r && text.data && (open = strchr(text.data, '[')) && (close = strchr(open, ']')))
		snprintf(name, sizeof(name), "%.*s", (int)(close - open - 1), open + 1);
	else if (!r && text.data && *text.data && !strchr(text.data, ' '))
		snprintf(name, sizeof(name), "%.*s", (int)strcspn(text.data, " \n"), text.data);
	for (uint32_t i = 0; !r && control_clock_name(i); i++)
		if (!strcmp(control_clock_name(i), name))
			id = i;
	if (!r) {
		record_clock_init(clock, NULL, id);
		clock->source = source;
		snprintf(clock->instance, sizeof(clock->instance), "%s", instance);
		snprintf(clock->name, sizeof(clock->name), "%s", name);
	}
	buf_fini(&path);
	buf_fini(&text);
	return r;
}

bool record_clock_is_shared(const struct record_clock *clock)
{
	return clock->by_tsc || clock->id == TRACE_CLOCK_MONO || clock->id == TRACE_CLOCK_MONO_RAW ||
	       clock->id == TRACE_CLOCK_BOOT || clock->id == TRACE_CLOCK_TAI || clock->id == TRACE_CLOCK_X86_TSC;
}

const char *record_clock_name(const struct record_clock *clock)
{
	const char *name = control_clock_name(clock->id);

	if (clock->by_tsc)
		return "tsc2nsec";
	if (*clock->name)
		return clock->name;
	return name ? name : "local";
}

bool record_clock_is_time(const struct record_clock *clock)
{
	return clock->id != TRACE_CLOCK_COUNTER && (clock->id != TRACE_CLOCK_X86_TSC || clock->by_tsc);
}

/* Nanoseconds of a count, of clocks that are not scaled. */
static uint64_t grain(const struct record_clock *clock)
{
	struct timespec tick;

	if (clock->id != TRACE_CLOCK_UPTIME || clock_getres(CLOCK_MONOTONIC_COARSE, &tick) || tick.tv_nsec <= 0)
		return 1;
	return (uint64_t)tick.tv_nsec;
}

uint64_t record_clock_counts(const struct record_clock *clock, uint64_t ns)
{
	double counts = (double)ns;

	if (!clock->by_tsc)
		return ns / grain(clock);
	for (uint32_t i = 0; i < clock->shift; i++)
		counts *= 2;
	counts /= clock->mult;
	return counts < 1.8e19 ? (uint64_t)counts : UINT64_MAX;
}

uint64_t record_clock_span(const struct record_clock *clock, uint64_t counts)
{
	return clock->by_tsc ? scale(clock, counts) : counts * grain(clock);
}

uint64_t record_clock_shown(const struct record_clock *clock, uint64_t counts)
{
	return clock->by_tsc ? scale(clock, counts) + (uint64_t)clock->offset : counts;
}

/* What a buffer of a kernel says itself, to the microsecond: "now ts:  123.456789". 0 of clocks that are no time. */
static uint64_t kernel_now(const struct record_clock *clock)
{
	struct buf text = BUF_INIT, path = BUF_INIT;
	unsigned long long s = 0, us = 0;
	const char *at;

	buf_printf(&path, "%s%s%sper_cpu/cpu0/stats", *clock->instance ? "instances/" : "", clock->instance,
		   *clock->instance ? "/" : "");
	if (!buf_failed(&path) && !source_read(clock->source, path.data, &text, NULL) && text.data &&
	    (at = strstr(text.data, "now ts:")) && sscanf(at, "now ts: %llu.%6llu", &s, &us) != 2)
		s = us = 0;
	buf_fini(&path);
	buf_fini(&text);
	return s * 1000000000u + us * 1000u;
}

/* What the clock shows now, in nanoseconds. */
static uint64_t now(const struct record_clock *clock)
{
	const struct control *control = clock->control;
	struct state_clock made;

	if (!clock->by_tsc && !control && !record_clock_is_shared(clock))
		return kernel_now(clock);
	control_clock_make(&made, clock->id, control ? &control->dir : NULL, control ? known_clock(control) : NULL);
	if (!clock->by_tsc)
		return control_clock_now(&made, control ? &control->dir : NULL);
	return scale(clock, control_clock_now(&made, control ? &control->dir : NULL));
}

/* One that can be looked at in no time and shows the same; false: there is none. */
static bool quick_clock(const struct record_clock *clock, struct state_clock *quick)
{
	const struct state_clock *known = clock->control ? known_clock(clock->control) : NULL;

	*quick = (struct state_clock){ .id = clock->id };
	if (clock->by_tsc)
		*quick = (struct state_clock){ .flags = TRACE_CLOCK_BY_COUNTER, .mult = 1ull << 32 };
	else if (clock->id <= TRACE_CLOCK_GLOBAL && known)
		*quick = *known;
	else if (clock->id <= TRACE_CLOCK_GLOBAL)
		quick->id = TRACE_CLOCK_MONO;
	/* A kernel's own are no time of the host's. */
	return clock->by_tsc || (clock->id <= TRACE_CLOCK_GLOBAL ? clock->control != NULL
							 : record_clock_is_shared(clock) && clock->id != TRACE_CLOCK_X86_TSC);
}

bool record_clock_ahead(const struct record_clock *clock, int64_t *ahead)
{
	struct state_clock quick;
	uint64_t width = UINT64_MAX;

	if (!quick_clock(clock, &quick))
		return false;
	for (int i = 0; i < AHEAD_LOOKS; i++) {
		uint64_t before = mono_ns(), shown = control_clock_now(&quick, NULL), after = mono_ns();

		shown = clock->by_tsc ? scale(clock, shown) : shown;
		if (after - before >= width)
			continue;
		width = after - before;
		*ahead = (int64_t)(shown - (before + width / 2));
	}
	if (quick.id == TRACE_CLOCK_MONO && !quick.flags)
		*ahead = 0;
	return true;
}

static int put_text(const struct record_sink *sink, enum dat_id id, const char *text)
{
	return sink->option(sink->ctx, id, text, strlen(text) + 1);
}

/* Microseconds from what the clock shows to the calendar. */
static int put_date(const struct record_clock *clock, const struct record_sink *sink)
{
	struct timespec wall;
	uint64_t shown = now(clock);
	char text[32];

	clock_gettime(CLOCK_REALTIME, &wall);
	snprintf(text, sizeof(text), "0x%" PRIx64,
		 (uint64_t)wall.tv_sec * 1000000u + (uint64_t)wall.tv_nsec / 1000 - shown / 1000);
	return put_text(sink, DAT_DATE, text);
}

int record_clock_put(const struct record_clock *clock, bool date, int64_t ts_offset,
		     const struct record_sink *sink, struct err *err)
{
	struct {
		uint32_t mult, shift;
		uint64_t offset;
	} tsc = { clock->mult, clock->shift, 0 };
	char text[64];
	int64_t offset = ts_offset;
	int r;

	snprintf(text, sizeof(text), "[%s]", record_clock_name(clock));
	r = put_text(sink, DAT_CLOCK, text);
	if (!r && clock->by_tsc)
		r = sink->option(sink->ctx, DAT_TSC2NSEC, &tsc, sizeof(tsc));
	if (!r && date)
		r = put_date(clock, sink);
	else if (clock->by_tsc)
		offset += clock->offset;
	snprintf(text, sizeof(text), "%" PRId64, offset);
	if (!r && offset)
		r = put_text(sink, DAT_OFFSET, text);
	return r ? err_set(err, r, "cannot write the clock: %s", strerror(-r)) : 0;
}
