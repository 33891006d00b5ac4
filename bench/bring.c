/*
 * A program that brings many events, as one in another language would: systems of a hundred each.
 *
 *	bring EVENTS
 */
#include <stdio.h>
#include <stdlib.h>

#include <ringside/ringside.h>

int main(int argc, char **argv)
{
	int n = argc > 1 ? atoi(argv[1]) : 0;
	char system[32], name[32], error[256];

	for (int i = 0; i < n; i++) {
		snprintf(system, sizeof(system), "many%d", i / 100);
		snprintf(name, sizeof(name), "event%d", i % 100);
		if (!ringside_define(system, name, "int item; u64 price; string customer", NULL, error, sizeof(error))) {
			fprintf(stderr, "bring: %s\n", error);
			return 1;
		}
	}
	return 0;
}
