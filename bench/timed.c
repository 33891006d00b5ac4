/*
 * Runs a command with its output to /dev/null and prints the nanoseconds that it took and the most
 * memory that it had, in KiB: as a small program, since what a child inherits at its start counts.
 *
 *	timed COMMAND [ARGUMENT...]
 */
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mono.h"

int main(int argc, char **argv)
{
	uint64_t before = mono_ns();
	struct rusage usage;
	int status, null;
	pid_t pid = fork();

	if (!pid) {
		null = open("/dev/null", O_RDWR);
		dup2(null, 0);
		dup2(null, 1);
		dup2(null, 2);
		if (argc > 1)
			execvp(argv[1], argv + 1);
		_exit(127);
	}
	if (pid < 0 || wait4(pid, &status, 0, &usage) != pid || status)
		return 1;
	printf("%" PRIu64 " %ld\n", mono_ns() - before, usage.ru_maxrss);
	return 0;
}
