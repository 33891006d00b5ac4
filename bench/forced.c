/*
 * One of the two hundred programs of bench/force: attached, asleep, and in each round it calls its event's site once.
 *
 *	forced NUMBER, with the shared memory as descriptor 3
 */
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>

#include <ringside/ringside.h>

#include "forced.h"

RINGSIDE_EVENT(bench, forced, field(int, number), field(int, round))

static void tell(uint32_t *count)
{
	if (__atomic_add_fetch(count, 1, __ATOMIC_SEQ_CST) == FORCED_PROGRAMS)
		forced_wake(count);
}

int main(int argc, char **argv)
{
	int number = argc > 1 ? atoi(argv[1]) : 0;
	struct forced *forced = forced_map(3);
	uint32_t round = 0;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (forced == MAP_FAILED)
		return 1;
	tell(&forced->ready);
	for (;;) {
		while (__atomic_load_n(&forced->round, __ATOMIC_SEQ_CST) == round)
			forced_wait(&forced->round, round);
		round++;
		trace_bench_forced(number, (int)round);
		tell(&forced->done);
	}
}
