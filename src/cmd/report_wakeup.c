/*
 * cmd/report_wakeup: see report_wakeup.h. A task waits from the last wakeup before it gets a CPU,
 * whichever buffer told of that: instances of a file see the same tasks.
 */
#include "cmd/report_wakeup.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "report/tracecmd.h"

#define RT_PRIO 100	/* priorities below it are those of real-time tasks */

struct task_key {
	uint32_t file;
	int32_t pid;
};

struct times {
	uint64_t nr, sum;
	uint64_t max, max_at;
	uint64_t min, min_at;
};

struct report_wakeup {
	struct map woken;	/* struct task_key to uint64_t: when */
	struct times all, rt;
};

struct report_wakeup *report_wakeup_new(void)
{
	return calloc(1, sizeof(struct report_wakeup));
}

void report_wakeup_free(struct report_wakeup *wakeup)
{
	if (wakeup)
		map_fini(&wakeup->woken);
	free(wakeup);
}

static bool field(const struct decode_format *format, const char *name,
		  const struct replay_record *rec, int64_t *out)
{
	const struct decode_field *f = decode_format_find(format, name);

	if (f)
		*out = (int64_t)decode_field_int(format, f, rec->data, rec->len);
	return f != NULL;
}

static struct task_key key_of(const struct replay_record *rec, int64_t pid)
{
	return (struct task_key){ rec->lane->file_nr, (int32_t)pid };
}

static void woken(struct report_wakeup *w, const struct replay_record *rec,
		  const struct decode_format *format)
{
	struct task_key key;
	int64_t pid, success = 1;
	uint64_t *at;

	/* Old kernels also tell of wakeups of tasks that were awake. */
	field(format, "success", rec, &success);
	if (!success || !field(format, "pid", rec, &pid))
		return;
	key = key_of(rec, pid);
	at = map_get(&w->woken, &key, sizeof(key), sizeof(*at));
	if (at)
		*at = rec->ts;
}

static void count(struct times *times, uint64_t latency, uint64_t ts)
{
	if (!times->nr || latency > times->max) {
		times->max = latency;
		times->max_at = ts;
	}
	if (!times->nr || latency < times->min) {
		times->min = latency;
		times->min_at = ts;
	}
	times->nr++;
	times->sum += latency;
}

static void put_usecs(struct buf *out, uint64_t ns)
{
	buf_printf(out, "%" PRIu64 ".%03" PRIu64 " usecs", ns / 1000, ns % 1000);
}

static void switched(struct report_wakeup *w, const struct replay_record *rec,
		     const struct decode_format *format, struct buf *out)
{
	struct task_key key;
	int64_t pid, prio = RT_PRIO;
	uint64_t *at, latency;

	if (!field(format, "next_pid", rec, &pid))
		return;
	key = key_of(rec, pid);
	at = map_find(&w->woken, &key, sizeof(key));
	if (!at)
		return;
	latency = rec->ts - *at;
	map_remove(&w->woken, &key, sizeof(key));
	field(format, "next_prio", rec, &prio);
	count(&w->all, latency, rec->ts);
	if (prio < RT_PRIO)
		count(&w->rt, latency, rec->ts);
	buf_puts(out, " Latency: ");
	put_usecs(out, latency);
}

void report_wakeup_feed(struct report_wakeup *wakeup, const struct replay_record *rec,
			const struct decode_format *format, struct buf *out)
{
	if (strncmp(format->name, "sched_", 6))
		return;
	if (!strcmp(format->name, "sched_wakeup") || !strcmp(format->name, "sched_wakeup_new"))
		woken(wakeup, rec, format);
	else if (!strcmp(format->name, "sched_switch"))
		switched(wakeup, rec, format, out);
}

static void put_extreme(struct buf *out, const char *which, uint64_t latency, uint64_t ts)
{
	uint64_t us = tracecmd_shown(ts, 0);

	buf_printf(out, "%s Latency: ", which);
	put_usecs(out, latency);
	buf_printf(out, " at timestamp: %" PRIu64 ".%06" PRIu64 "\n", us / 1000000, us % 1000000);
}

static void put_times(struct buf *out, const struct times *times)
{
	buf_puts(out, "\nAverage wakeup latency: ");
	put_usecs(out, times->sum / times->nr);
	buf_putc(out, '\n');
	put_extreme(out, "Maximum", times->max, times->max_at);
	put_extreme(out, "Minimum", times->min, times->min_at);
	buf_putc(out, '\n');
}

void report_wakeup_end(const struct report_wakeup *wakeup, struct buf *out)
{
	if (!wakeup->all.nr)
		return;
	put_times(out, &wakeup->all);
	if (!wakeup->rt.nr)
		return;
	buf_puts(out, "RT task timings:\n");
	put_times(out, &wakeup->rt);
}
