/*
 * drift: loaded before a program, its CLOCK_MONOTONIC runs DRIFT_PPM faster than the machine's, since DRIFT_SINCE (seconds of it), and from
 * DRIFT_TURN on slower by as much.
 */
#include <dlfcn.h>
#include <stdlib.h>
#include <time.h>

static int (*real)(clockid_t, struct timespec *);
static double ppm, since, turn;

static void begin(void) __attribute__((constructor));
static void begin(void)
{
	real = (int (*)(clockid_t, struct timespec *))dlsym(RTLD_NEXT, "clock_gettime");
	ppm = atof(getenv("DRIFT_PPM"));
	since = atof(getenv("DRIFT_SINCE"));
	turn = atof(getenv("DRIFT_TURN"));
}

int clock_gettime(clockid_t id, struct timespec *now)
{
	int r;

	if (!real)
		begin();
	r = real(id, now);
	if (!r && id == CLOCK_MONOTONIC) {
		double at = (double)now->tv_sec + (double)now->tv_nsec / 1e9, more;
		long long ns = now->tv_sec * 1000000000ll + now->tv_nsec;

		more = at < turn ? at - since : turn - since - (at - turn);
		ns += (long long)(more * ppm * 1e3) + 12345000000000ll;
		now->tv_sec = ns / 1000000000;
		now->tv_nsec = ns % 1000000000;
	}
	return r;
}
