/*
 * No test: the program that stack_traced.sh compiles in several ways. Each kind of event is recorded by its function here.
 */
#include <ringside/ringside.h>

#include <stdlib.h>
#include <string.h>

#define NOINLINE __attribute__((noinline))

RINGSIDE_EVENT(shop, order,
	field(int, item),
	print("item=%d", item))

RINGSIDE_EVENT(shop, long_order,
	string(customer),
	print("customer=%s", customer))

static struct ringside_defined *defined;
static volatile int sink;

NOINLINE void by_site(int item)
{
	trace_shop_order(item);
	sink++;
}

NOINLINE void by_long_site(void)
{
	static char name[2000];

	memset(name, 'x', sizeof(name) - 1);
	trace_shop_long_order(name);
	sink++;
}

NOINLINE void by_definition(int item)
{
	union ringside_value value = { .i = item };

	ringside_emit(defined, &value, 1);
	sink++;
}

NOINLINE int by_callback(const void *a, const void *b)
{
	if (!sink++)
		by_site(2);
	return *(const int *)a - *(const int *)b;
}

NOINLINE void through_libc(void)
{
	int numbers[] = { 3, 1, 2 };

	sink = 0;
	qsort(numbers, 3, sizeof(int), by_callback);
	sink += numbers[0];
}

int main(void)
{
	defined = ringside_define("shop", "defined", "int item", NULL, NULL, 0);
	by_site(1);
	by_long_site();
	by_definition(1);
	through_libc();
	return 0;
}
