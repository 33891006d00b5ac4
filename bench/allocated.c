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
	int rounds = argc > 1 ? atoi(argv[1]) : 400, pairs = argc > 2 ? atoi(argv[2]) : 5000, n = 0;
	double *ns = calloc((size_t)rounds, sizeof(*ns));

	pin(1);
	for (int i = 0; ns && i < rounds; i++) {
		long before = switches();
		double start = now();

		for (int pair = 0; pair < pairs; pair++) {
			void *memory = malloc(40);

			__asm__ volatile("" : "+r"(memory));
			free(memory);
		}
		start = now() - start;
		if (switches() == before)
			ns[n++] = start / pairs;
	}
	if (!n)
		return 1;
	printf("%.3f\n", percentile(ns, n, 50));
	return 0;
}
