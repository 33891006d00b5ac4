/*
 * A traced program for tests of the control library, which are none themselves:
 *
 *	traced COUNT [wait]
 *
 * records lab:step COUNT times, n from 0, and lab:done once. With `wait` it first reads a byte.
 */
#include <ringside/ringside.h>
#include <stdlib.h>
#include <unistd.h>

RINGSIDE_EVENT(lab, step,
	field(int, n),
	field(unsigned long long, big),
	field(double, half),
	string(name),
	array(char, tag, 4),
	sequence(short, pair),
	print("n=%d name=%s", n, name))
RINGSIDE_EVENT(lab, done, field(int, n))

int main(int argc, char **argv)
{
	int count = argc > 1 ? atoi(argv[1]) : 1;
	char byte;

	if (argc > 2 && read(STDIN_FILENO, &byte, 1) != 1)
		return 1;
	for (int n = 0; n < count; n++)
		trace_lab_step(n, ~0ull - (unsigned int)n, n / 2.0, "ann", "abcd",
			       (const short[]){ (short)n, -1 }, 2);
	trace_lab_done(count);
	return 0;
}
