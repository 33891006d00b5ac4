/*
 * R15, for the counting that there is without histograms: each CPU counts its own events inside its sections, and readers add
 * up. However threads move about, the sum of the CPUs' counts is the number of events that were wanted, less those that are
 * counted as dropped; what is switched off counts nowhere.
 */
#include <ringside/ringside.h>

#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "capture/stream.h"
#include "control/control.h"
#include "control/enable.h"
#include "insist.h"

RINGSIDE_EVENT(count, wanted, field(int, n), string(text))
RINGSIDE_EVENT(count, unwanted, field(int, n))

#define EVENTS 50000

static void *work(void *arg)
{
	(void)arg;
	for (int i = 0; i < EVENTS; i++) {
		trace_count_wanted(i, &"now here, now there"[i % 19]);
		trace_count_unwanted(i);
		if (i % 500 == 0)
			sched_yield();
	}
	return NULL;
}

int main(void)
{
	struct err err = ERR_INIT;
	struct control *control;
	pthread_t thread[64];
	long n = 4 * sysconf(_SC_NPROCESSORS_ONLN);
	uint64_t written = 0, dropped = 0;

	n = n < 64 ? n : 64;
	CHECK(!control_open(&control, NULL, false, &err) && !control_begin(control, &err) &&
	      !control_enable(control, 0, "count", "wanted", true, &err) && !control_commit(control, &err), "%s", err.text);
	for (long i = 0; i < n; i++)
		CHECK(!pthread_create(&thread[i], NULL, work, NULL), "thread");
	for (long i = 0; i < n; i++)
		pthread_join(thread[i], NULL);
	CHECK(!control_refresh(control, &err), "%s", err.text);
	for (uint32_t cpu = 0; cpu < control->dir.ncpu; cpu++) {
		struct stream *stream;
		struct stream_stats stats;

		CHECK(!stream_open(&stream, control->dir.fd[SEGMENT_RINGS], &control->state.buffers[0],
				   control->dir.ncpu, cpu, false, &err), "%s", err.text);
		CHECK(!stream_stats(stream, &stats), "stats");
		written += stats.written;
		dropped += stats.dropped;
		stream_close(stream);
	}
	CHECK(written + dropped == (uint64_t)n * EVENTS, "R15: %llu counted and %llu dropped of %llu",
	      (unsigned long long)written, (unsigned long long)dropped, (unsigned long long)n * EVENTS);
	CHECK(dropped * 100 < written, "R15: %llu dropped: not the path that was meant", (unsigned long long)dropped);
	control_close(control);
	return 0;
}
