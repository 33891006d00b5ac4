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
	int rounds = argc > 1 ? atoi(argv[1]) : 400, calls = argc > 2 ? atoi(argv[2]) : 2000, n = 0;
	double *ns = calloc((size_t)rounds, sizeof(*ns));

	pin(1);
	for (int i = 0; ns && i < rounds; i++) {
		long before = switches();
		double start = now();

		for (int call = 0; call < calls; call++)
			getppid();
		start = now() - start;
		if (argc > 3 || switches() == before)
			ns[n++] = start / calls;
	}
	if (!n)
		return 1;
	printf("%.3f\n", percentile(ns, n, 50));
	return 0;
}
