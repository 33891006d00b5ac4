/*
 * The worst times: the largest first, each of them once, whether its record or the table that kept it is read first; and with the
 * moment as soon as somebody knows it.
 */
#include <string.h>

#include "cmd/latency_show.h"
#include "insist.h"

static struct latency_sums sums;

static void add(uint64_t ns, const char *key, const char *time)
{
	struct latency_one one = { .ns = ns };

	strcpy(one.key, key);
	strcpy(one.time, time);
	latency_add(&sums, &one);
}

static void expect(int i, uint64_t ns, const char *key, const char *time)
{
	const struct latency_one *one = &sums.worst[i];

	CHECK(one->ns == ns && !strcmp(one->key, key) && !strcmp(one->time, time), "%d is %llu of %s at '%s'", i,
	      (unsigned long long)one->ns, one->key, one->time);
}

int main(void)
{
	/* The table, its record, the table again. */
	add(50, "a", "");
	add(50, "a", "1.5");
	add(50, "a", "");
	add(70, "b", "2.5");
	add(70, "b", "");
	expect(0, 70, "b", "2.5");
	expect(1, 50, "a", "1.5");
	expect(2, 0, "", "");
	/* As long, and of the same: but another time, or another key. */
	add(50, "a", "3.5");
	add(50, "c", "");
	expect(2, 50, "a", "3.5");
	expect(3, 50, "c", "");
	for (uint64_t i = 0; i < 2 * LATENCY_WORST; i++)
		add(100 + i, "d", "");
	for (int i = 0; i < LATENCY_WORST; i++)
		expect(i, 119 - (uint64_t)i, "d", "");
	return 0;
}
