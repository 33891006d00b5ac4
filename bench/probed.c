/*
 * What a probe takes: functions that do next to nothing, called in short rounds; the median of those in which the thread was not
 * preempted, in nanoseconds. Knows nothing of who probes it, if anybody does.
 *
 *	probed ordinary|nop5 [ROUNDS [CALLS]]
 *
 * probed_ordinary begins with an instruction that the kernel has to single-step elsewhere, probed_nop5 with one that was made for
 * probes.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "measure.h"

int probed_ordinary(int value);
int probed_nop5(int value);
#define FUNCTION(name, first) \
	".globl " #name "\n\t.type " #name ", @function\n\t.balign 64\n" #name ":\n\t" first "\n\t" \
	"imull %edi, %eax\n\tret\n\t.size " #name ", . - " #name "\n"
__asm__("\t.text\n" FUNCTION(probed_ordinary, "movl $3, %eax")
	FUNCTION(probed_nop5, ".byte 0x0f, 0x1f, 0x44, 0x00, 0x00\n\tmovl $3, %eax"));

int main(int argc, char **argv)
{
	int (*called)(int) = argc > 1 && !strcmp(argv[1], "nop5") ? probed_nop5 : probed_ordinary;
	int rounds = argc > 2 ? atoi(argv[2]) : 400, calls = argc > 3 ? atoi(argv[3]) : 5000, value = 1;
	struct laps laps;

	pin(1);
	laps_open(&laps, rounds);
	for (int i = 0; i < rounds; i++) {
		laps_start(&laps);
		for (int call = 0; call < calls; call++)
			value = called(value);
		laps_stop(&laps, calls);
	}
	printf("%.3f\n", laps_close(&laps));
	return value == 0;
}
