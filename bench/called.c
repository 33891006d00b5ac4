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
	int rounds = argc > 1 ? atoi(argv[1]) : 400, n = 0, value = 0;
	double *ns = calloc((size_t)rounds, sizeof(*ns));

	pin(1);
	for (int i = 0; ns && i < rounds; i++) {
		long before = switches();
		double start = now();

		for (int call = 0; call < CALLS; call++)
			value = called(value);
		start = now() - start;
		if (switches() == before)
			ns[n++] = start / CALLS;
	}
	if (!n)
		return 1;
	printf("%.3f\n", percentile(ns, n, 50));
	return 0;
}
