/*
 * The same probes by Ringside's macros and, with -DSDT, by those of SystemTap: tests/cmd/probe_usdt.sh compiles both and reads what
 * they tell of themselves.
 */
#include <stdio.h>

#ifdef SDT
#define _SDT_HAS_SEMAPHORES 1
#include <sys/sdt.h>
__extension__ unsigned short shop_order_semaphore __attribute__((unused, section(".probes")));
__extension__ unsigned short shop_none_semaphore __attribute__((unused, section(".probes")));
#define NONE(provider, name) DTRACE_PROBE(provider, name)
#define FIVE(provider, name, ...) DTRACE_PROBE5(provider, name, __VA_ARGS__)
#define ENABLED(provider, name) 0
#else
#include <ringside/probe.h>
#define NONE(provider, name) RINGSIDE_PROBE(provider, name)
#define FIVE(provider, name, ...) RINGSIDE_PROBE(provider, name, __VA_ARGS__)
#define ENABLED(provider, name) RINGSIDE_PROBE_ENABLED(provider, name)
#endif

struct box {
	long number;
	unsigned char kind;
	short turn;
};

#ifdef __cplusplus
namespace inner {
#endif

__attribute__((noinline)) int work(const struct box *box, int n, const char *text)
{
	char local[8] = "abc";

	for (int i = 0; i < n; i++) {
		FIVE(shop, order, i, box->number, box->kind, box->turn, text);
		local[0]++;
	}
	FIVE(shop, order, n, box->number, box->kind, box->turn, local);
	NONE(shop, none);
	if (ENABLED(shop, order))
		printf("somebody listens\n");
	return local[0];
}

#ifdef __cplusplus
}
using namespace inner;
#endif

int main(int argc, char **argv)
{
	struct box box = { -5, 250, -9 };

	return work(&box, argc + 1, argv[0]) == 0;
}
