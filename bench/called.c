/*
 * What a call takes when somebody traces functions: a function that does next to nothing, called in short rounds; the median of
 * those in which the thread was not preempted, in nanoseconds. Knows nothing of who traces it, if anybody does.
 *
 *	called [ROUNDS]
 */
#include <stdio.h>
#include <stdlib.h>

#include "measure.h"

#define CALLS 5000

/* Past caring what it is compiled with: the call is there, and comes back with a result. */
__attribute__((noinline)) int called(int value)
{
	__asm__ volatile("" : "+r"(value));
	return value * 3 + 7;
}

int main(int argc, char **argv)
{
	int rounds = argc > 1 ? atoi(argv[1]) : 400, value = 0;
	struct laps laps;

	pin(1);
	laps_open(&laps, rounds);
	for (int i = 0; i < rounds; i++) {
		laps_start(&laps);
		for (int call = 0; call < CALLS; call++)
			value = called(value);
		laps_stop(&laps, CALLS);
	}
	printf("%.3f\n", laps_close(&laps));
	return 0;
}
