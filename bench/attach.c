/*
 * What being traced costs a program before its first line: the time that loading and attaching the runtime takes, and the memory
 * that an attached process has beside the rings.
 *
 *	attach EMPTY-PROGRAM TRACED-PROGRAM [ROUNDS]
 *
 * Both programs do the same nothing; the second is linked with the runtime and declares an event. They are started in turn; the
 * difference of the medians is told as `exec`, and what the second one printed of itself as it is.
 */
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>

extern char **environ;

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static double start(char *path)
{
	char *argv[] = { path, NULL };
	double before = now();
	int status;
	pid_t pid;

	if (posix_spawn(&pid, path, NULL, NULL, argv, environ) || waitpid(pid, &status, 0) < 0 || status) {
		fprintf(stderr, "attach: cannot run %s\n", path);
		exit(1);
	}
	return now() - before;
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

int main(int argc, char **argv)
{
	int rounds = argc > 3 ? atoi(argv[3]) : 500;
	double *plain, *traced;

	if (argc < 3)
		return 2;
	plain = calloc((size_t)rounds, sizeof(double));
	traced = calloc((size_t)rounds, sizeof(double));
	for (int i = 0; i < rounds; i++) {
		plain[i] = start(argv[1]);
		traced[i] = start(argv[2]);
	}
	qsort(plain, (size_t)rounds, sizeof(double), by_value);
	qsort(traced, (size_t)rounds, sizeof(double), by_value);
	printf("exec_plain %.0f\nexec_traced %.0f\nattach %.0f\n", plain[rounds / 2], traced[rounds / 2],
	       traced[rounds / 2] - plain[rounds / 2]);
	return 0;
}
