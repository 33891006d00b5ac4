/*
 * turns: takes turns with others: for each byte that comes in it emits an event with the next number, and passes the byte on, a millisecond
 * later. COUNT times; the numbers begin at FIRST and go up by STEP. Each has the machine's own time, whatever clock_gettime() of the library says.
 */
#include <ringside/ringside.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

RINGSIDE_EVENT(turns, turn, field(unsigned long long, nr), field(unsigned long long, own))

int main(int argc, char **argv)
{
	unsigned long long nr = argc > 2 ? strtoull(argv[2], NULL, 0) : 0, step = argc > 3 ? strtoull(argv[3], NULL, 0) : 1;
	char byte;

	for (int left = argc > 1 ? atoi(argv[1]) : 0; left > 0 && read(0, &byte, 1) == 1; left--, nr += step) {
		struct timespec now;

		syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &now);
		trace_turns_turn(nr, (unsigned long long)now.tv_sec * 1000000000ull + (unsigned long long)now.tv_nsec);
		usleep(1000);
		/* The last one of all has nobody to pass it to. */
		if ((left > 1 || nr % step != step - 1) && write(1, &byte, 1) != 1)
			break;
	}
	return 0;
}
