/*
 * What a system call takes that does next to nothing, in short rounds; the median of those in which the thread was not preempted, in
 * nanoseconds. Knows nothing of who traces it, if anybody does. `any`: also of the others, for who stops the thread at each call.
 *
 *	called_kernel [ROUNDS [CALLS [any]]]
 */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "measure.h"

int main(int argc, char **argv)
{
	int rounds = argc > 1 ? atoi(argv[1]) : 400, calls = argc > 2 ? atoi(argv[2]) : 2000;
	struct laps laps;

	pin(1);
	laps_open(&laps, rounds);
	for (int i = 0; i < rounds; i++) {
		long before = switches();
		double start = now();

		for (int call = 0; call < calls; call++)
			getppid();
		start = now() - start;
		laps_add(&laps, start / calls, argc > 3 || switches() == before);
	}
	printf("%.3f\n", laps_close(&laps));
	return 0;
}
