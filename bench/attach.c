/*
 * What it takes to become part of a tracing directory: the time in which a process loads the runtime, which attaches it, less the time
 * in which it loads a library that does nothing. Each is done in children of their own, in turn; medians are told.
 *
 *	attach RUNTIME EMPTY-LIBRARY [ROUNDS]
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "measure.h"

static double load(const char *library)
{
	double took = 0;
	int channel[2];
	pid_t pid;

	if (pipe(channel))
		exit(1);
	pid = fork();
	if (!pid) {
		double start = now();

		if (!dlopen(library, RTLD_NOW))
			_exit(1);
		took = now() - start;
		_exit(write(channel[1], &took, sizeof(took)) != sizeof(took));
	}
	close(channel[1]);
	if (pid < 0 || read(channel[0], &took, sizeof(took)) != sizeof(took)) {
		fprintf(stderr, "attach: cannot load %s\n", library);
		exit(1);
	}
	close(channel[0]);
	waitpid(pid, NULL, 0);
	return took;
}

int main(int argc, char **argv)
{
	int rounds = argc > 3 ? atoi(argv[3]) : 1000;
	double *runtime, *empty, with, without;

	if (argc < 3)
		return 2;
	runtime = calloc((size_t)rounds, sizeof(double));
	empty = calloc((size_t)rounds, sizeof(double));
	for (int i = 0; i < rounds; i++) {
		empty[i] = load(argv[2]);
		runtime[i] = load(argv[1]);
	}
	without = percentile(empty, rounds, 50);
	with = percentile(runtime, rounds, 50);
	printf("load_empty %.0f\nload_runtime %.0f\nattach %.0f\n", without, with, with - without);
	return 0;
}
