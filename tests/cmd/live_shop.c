/*
 * A program to count: live_shop ORDERS [MICROSECONDS]. Orders of five items in turn, amounts that grow, each done after its
 * time; one of seven never is.
 */
#include <ringside/ringside.h>
#include <stdlib.h>
#include <unistd.h>

RINGSIDE_EVENT(shop, order, field(int, item), field(unsigned long, amount), string(name))
RINGSIDE_EVENT(shop, done, field(int, item), field(int, rc))

int main(int argc, char **argv)
{
	int n = argc > 1 ? atoi(argv[1]) : 20, us = argc > 2 ? atoi(argv[2]) : 0;

	for (int i = 0; i < n; i++) {
		trace_shop_order(i % 5, (unsigned long)i * 10 + i % 5 * 10, i % 2 ? "odd" : "even");
		if (us)
			usleep((useconds_t)(us * (i % 5 + 1)));
		if (i % 7)
			trace_shop_done(i % 5, i);
	}
	return 0;
}
