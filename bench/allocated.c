/*
 * What kmem:kmalloc and kmem:kfree take: pairs of malloc and free in short rounds; the median of those in which the thread was not
 * preempted, in nanoseconds a pair. Knows nothing of who records it, if anybody does.
 *
 *	allocated [ROUNDS [PAIRS]]
 */
#include <stdio.h>
#include <stdlib.h>

#include "measure.h"

int main(int argc, char **argv)
{
	int rounds = argc > 1 ? atoi(argv[1]) : 400, pairs = argc > 2 ? atoi(argv[2]) : 5000;
	struct laps laps;

	pin(1);
	laps_open(&laps, rounds);
	for (int i = 0; i < rounds; i++) {
		laps_start(&laps);
		for (int pair = 0; pair < pairs; pair++) {
			void *memory = malloc(40);

			__asm__ volatile("" : "+r"(memory));
			free(memory);
		}
		laps_stop(&laps, pairs);
	}
	printf("%.3f\n", laps_close(&laps));
	return 0;
}
