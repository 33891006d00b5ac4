/*
 * ticks: events with numbers, COUNT of them, with a rest of MICROSECONDS behind each thousand.
 */
#include <ringside/ringside.h>
#include <stdlib.h>
#include <unistd.h>

RINGSIDE_EVENT(ticks, tick, field(unsigned long long, nr), field(unsigned long long, more))

int main(int argc, char **argv)
{
	unsigned long long count = argc > 1 ? strtoull(argv[1], NULL, 0) : 0;
	useconds_t rest = argc > 2 ? (useconds_t)atoi(argv[2]) : 0;

	for (unsigned long long nr = 0; nr < count; nr++) {
		trace_ticks_tick(nr, nr * 3);
		if (rest && nr % 1000 == 999)
			usleep(rest);
	}
	return 0;
}
