/*
 * remote/clock: see clock.h.
 */
#include "remote/clock.h"

#include <inttypes.h>
#include <unistd.h>

#include "base/mono.h"
#include "remote/local.h"

/*
 * How far off a counter may be from the rate that it says it has, until it was seen to run: no crystal is so bad, but not all is crystal. One
 * that contradicts itself may have stood still, or have been set; or run at another rate than was ever said: more is believed then.
 */
#define RATE_OFF 0.05
#define RATE_OFF_TIMES 4
#define RATE_OFF_MAX 1000
/* What is known of a rate becomes less true by so much in a second, and is never better than that. */
#define RATE_DRIFT 1e-7
#define RATE_FLOOR 1e-6
/* A rate is told from moments that are so far apart, once clocks were compared for as long. */
#define SPAN_FIRST_NS 100000000ull
#define SPAN_NS 8000000000ull
/* What is not answered is asked again, so that the answer, when it comes, is to a question of just now. */
#define ASK_NS 500000ull
/* A core that sleeps answers nothing: after so long another one is asked. */
#define QUIET_NS 100000000ull
/* As exact as a look takes, and a rate by which it stays so until the next one. */
#define GOOD_NS 3000u
#define GOOD_RATE 5e-5
#define NAP_US 20
/* Who is so far off what he says he has is wrong. */
#define RATE_WRONG 0.01
/* An error is told in the next unit from there on. */
#define UNIT_MAX 10000u
/* Beyond all times. */
#define FAR_NS 9e18

void remote_clock_init(struct remote_clock *clock)
{
	*clock = (struct remote_clock){ 0 };
}

static uint64_t width(const struct clock_sample *sample)
{
	return sample->to - sample->from;
}

static uint64_t later(uint64_t ns, double by)
{
	if (by < 0)
		return -by < (double)ns ? ns - (uint64_t)-by : 0;
	return (double)ns + by < FAR_NS ? ns + (uint64_t)by : (uint64_t)FAR_NS;
}

/* What the last moment and the rate tell of another one. */
static struct clock_sample moment_at(const struct remote_clock *clock, uint64_t ticks)
{
	const struct clock_sample *base = &clock->base;
	double off = (double)(int64_t)(ticks - base->ticks);

	return (struct clock_sample){ ticks, later(base->from, off * (off < 0 ? clock->fast : clock->slow) - 1),
				      later(base->to, off * (off < 0 ? clock->slow : clock->fast) + 1) };
}

/* What the counter shows it has shown for up to a tick. */
static uint64_t tick_ns(const struct remote_clock *clock)
{
	return 1000000000u / clock->hz + 1;
}

static struct clock_sample sample_between(const struct remote_clock *clock, uint64_t ticks, uint64_t from, uint64_t to)
{
	return (struct clock_sample){ ticks, from > tick_ns(clock) ? from - tick_ns(clock) : 0, to };
}

/* Whose rate was seen for a while was stopped, or set, and runs on as it did. If it does not, the next one contradicts, too, and soon. */
static void begin_at(struct remote_clock *clock, const struct clock_sample *sample)
{
	double rate = 1e9 / (double)clock->hz;

	if (clock->steady) {
		clock->off = RATE_OFF;
	} else {
		clock->off = !clock->off ? RATE_OFF : clock->off < RATE_OFF_MAX ? clock->off * RATE_OFF_TIMES : clock->off;
		clock->slow = rate / (1 + clock->off);
		clock->fast = rate * (1 + clock->off);
	}
	clock->steady = false;
	clock->base = clock->anchors[0] = clock->anchors[1] = *sample;
	clock->since = sample->to;
	clock->span = SPAN_FIRST_NS;
}

static void widen(struct remote_clock *clock, double share)
{
	clock->slow *= 1 - share;
	clock->fast *= 1 + share;
}

/* The rate between two moments; false: it is none that there may be. */
static bool learn_rate(struct remote_clock *clock, const struct clock_sample *a, const struct clock_sample *b)
{
	double apart = (double)(int64_t)(b->ticks - a->ticks), slow, fast;

	if (apart <= 0)
		return true;
	slow = (double)(int64_t)(b->from - a->to) / apart;
	fast = (double)(int64_t)(b->to - a->from) / apart;
	clock->slow = slow > clock->slow ? slow : clock->slow;
	clock->fast = fast < clock->fast ? fast : clock->fast;
	return clock->slow <= clock->fast;
}

/*
 * Another comparison. All that is known are bounds, and what holds by all of them is kept: a moment that was found exactly makes those behind
 * it exact, for as long as the rate is known. What contradicts was no such clock: it stood still, or was set.
 */
static void take(struct remote_clock *clock, const struct clock_sample *sample)
{
	struct clock_sample now = moment_at(clock, sample->ticks);
	double rate;

	if (!clock->base.to) {
		begin_at(clock, sample);
		return;
	}
	now.from = sample->from > now.from ? sample->from : now.from;
	now.to = sample->to < now.to ? sample->to : now.to;
	widen(clock, now.to > clock->base.to ? RATE_DRIFT * (double)(now.to - clock->base.to) / 1e9 : 0);
	if (now.from > now.to || !learn_rate(clock, &clock->anchors[0], &now) || !learn_rate(clock, &clock->anchors[1], &now)) {
		begin_at(clock, sample);
		return;
	}
	rate = (clock->slow + clock->fast) / 2;
	if (clock->fast - clock->slow < 2 * RATE_FLOOR * rate) {
		clock->slow = clock->fast = rate;
		widen(clock, RATE_FLOOR);
	}
	clock->base = now;
	if (width(&now) < width(&clock->anchors[1]))
		clock->anchors[1] = now;
	if (now.to < clock->since + clock->span)
		return;
	clock->anchors[0] = clock->anchors[1];
	clock->anchors[1] = now;
	clock->steady = true;
	clock->since = now.to;
	clock->span = clock->span * 2 < SPAN_NS ? clock->span * 2 : SPAN_NS;
}

/* A target in another life has another time. */
static void check_life(struct remote_clock *clock, const struct remote_target *target)
{
	if (clock->hz && clock->boots == target->boots && clock->hz == target->tick_hz && clock->ring < target->nr_rings)
		return;
	remote_clock_init(clock);
	clock->boots = target->boots;
	clock->hz = target->tick_hz;
}

/* An answer to one of the last two questions. */
static bool is_answered(struct remote_clock *clock, struct remote *remote)
{
	struct clock_sample sample;
	struct remote_look look;

	if (!clock->asked[0].at || remote_ring_look(&remote->target, &remote->memory, clock->ring, &look))
		return false;
	for (int i = 0; i < 2; i++) {
		if (!clock->asked[i].at || look.answered != clock->asked[i].number ||
		    remote_target_check_header(&remote->target, &remote->memory, NULL))
			continue;
		sample = sample_between(clock, look.answer, clock->asked[i].at, mono_ns());
		clock->asked[0].at = clock->asked[1].at = 0;
		clock->quiet_since = sample.to;
		take(clock, &sample);
		return true;
	}
	return false;
}

void remote_clock_turn(struct remote_clock *clock, uint32_t ring)
{
	clock->ring = ring;
	clock->asked[0].at = clock->asked[1].at = 0;
	clock->quiet_since = 0;
}

static int look_for_answer(struct remote_clock *clock, struct remote *remote)
{
	uint64_t now = mono_ns();

	if (is_answered(clock, remote))
		return 1;
	if (clock->asked[0].at && now - clock->asked[0].at < ASK_NS)
		return 0;
	if (!clock->quiet_since)
		clock->quiet_since = now;
	if (now - clock->quiet_since > QUIET_NS) {
		clock->ring = (clock->ring + 1) % remote->target.nr_rings;
		clock->asked[0].at = 0;
		clock->quiet_since = now;
	}
	clock->asked[1] = clock->asked[0];
	clock->asked[0].at = mono_ns();
	return remote_ask(remote, clock->ring, false, &clock->asked[0].number, NULL);
}

/* The time of the latest event there, whichever ring has it. */
static int look_for_event(struct remote_clock *clock, struct remote *remote)
{
	uint64_t before = mono_ns(), ticks = 0;
	struct clock_sample sample;
	struct remote_look look;
	bool is_new;

	for (uint32_t i = 0; i < remote->target.nr_rings; i++)
		if (!remote_ring_look(&remote->target, &remote->memory, i, &look) && look.time > ticks)
			ticks = look.time;
	is_new = clock->seen_at && ticks > clock->seen_ticks;
	sample = sample_between(clock, ticks, clock->seen_at, mono_ns());
	clock->seen_ticks = ticks;
	clock->seen_at = before;
	if (is_new)
		take(clock, &sample);
	return is_new;
}

int remote_clock_look(struct remote_clock *clock, struct remote *remote)
{
	const struct remote_target *target = remote_target(remote, NULL);

	if (!target)
		return 0;
	check_life(clock, target);
	if (remote->kind == &remote_kind_test) {
		clock->same = true;
		return 1;
	}
	return remote->memory.writable ? look_for_answer(clock, remote) : look_for_event(clock, remote);
}

static bool is_good(const struct remote_clock *clock, bool steady)
{
	return clock->same || (remote_clock_error(clock) < GOOD_NS &&
			       (!steady || clock->fast - clock->slow < 2 * GOOD_RATE * clock->slow));
}

void remote_clock_match(struct remote_clock *clock, struct remote *remote, uint64_t ns, bool steady)
{
	uint64_t until = mono_ns() + ns;

	while (mono_ns() < until) {
		if (remote_clock_look(clock, remote) < 0 || !remote_target(remote, NULL) || is_good(clock, steady))
			return;
		/* Asked just now, it may be answered at once. */
		if (remote->memory.writable && !clock->asked[1].at)
			continue;
		usleep(NAP_US);
	}
}

uint64_t remote_clock_host(const struct remote_clock *clock, uint64_t ticks, uint64_t *error)
{
	struct clock_sample moment;

	*error = 0;
	if (clock->same)
		return ticks;
	if (!clock->base.to) {
		*error = UINT64_MAX;
		return clock->hz ? later(0, (double)ticks * (1e9 / (double)clock->hz)) : ticks;
	}
	moment = moment_at(clock, ticks);
	moment.to += tick_ns(clock);
	*error = width(&moment) / 2 + 1;
	return moment.from + width(&moment) / 2;
}

uint64_t remote_clock_error(const struct remote_clock *clock)
{
	uint64_t error;

	remote_clock_host(clock, clock->base.ticks, &error);
	return error;
}

/* Is the rate another one than the target says, beyond doubt? Then that was a mistake. */
static void put_rate(const struct remote_clock *clock, struct buf *out)
{
	double said = 1e9 / (double)clock->hz;

	if (clock->same || !clock->base.to || (clock->slow < said * (1 + RATE_WRONG) && clock->fast > said * (1 - RATE_WRONG)))
		return;
	buf_printf(out, "but seen to run at %.0f, ", 2e9 / (clock->slow + clock->fast));
}

void remote_clock_describe(const struct remote_clock *clock, uint64_t error, const struct remote_target *target, struct buf *out)
{
	static const char *const units[] = { "us", "ms", "s" };
	uint64_t n = error;

	buf_printf(out, "%" PRIu64 " Hz, %" PRIu32 " bits, ", target->tick_hz, target->clock_bits);
	put_rate(clock, out);
	if (error == UINT64_MAX) {
		buf_puts(out, "not matched: no answer came");
	} else if (!error) {
		buf_puts(out, "the host's own");
	} else if (error < UNIT_MAX) {
		buf_printf(out, "matched to %" PRIu64 " ns", error);
	} else {
		size_t unit = 0;

		for (n = n / 1000 + 1; n >= UNIT_MAX && unit < 2; unit++)
			n = n / 1000 + 1;
		buf_printf(out, "matched to %" PRIu64 " %s", n, units[unit]);
	}
}
