/*
 * A program to be probed by name: types, places and ways of passing that compilers describe in different ways. Compiled by
 * tests/cmd/probe*.{sh,py} with two compilers, at several levels; nothing depends on what it prints.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum state { STATE_NEW, STATE_PAID = 7, STATE_SENT = -3 };
typedef unsigned long long money;

struct customer {
	int id;
	const char *name;
	struct {
		unsigned int vip : 1;
		unsigned int level : 5;
		int balance : 12;
	} flags;
	struct customer *friend;
};

struct item {
	unsigned short number;
	signed char grade;
	bool fragile;
	union {
		int weight;
		float volume;
	};
};

struct order {
	long number;
	struct customer *customer;
	struct item items[3];
	char code[12];
	int matrix[2][3];
	double price;
	enum state state;
	money sum;
	void *hidden;
};

struct pair {
	int left, right;
};

static int placed;
unsigned char shelf[8] = { 1, 2, 3, 4, 5, 6, 7, 8 };
const char *greeting = "welcome";
static _Thread_local int own = 5;
static volatile int sink;

static inline __attribute__((always_inline)) int weigh(const struct item *item, int factor)
{
	int grams = item->weight * factor;

	sink += grams;
	return grams;
}

__attribute__((noinline)) static int total(const struct order *order, int count)
{
	int sum = 0;

	for (int i = 0; i < count; i++) {
		const struct item *item = &order->items[i];
		int here = weigh(item, i + 1);

		sum += here;
		sink = sum;
	}
	return sum;
}

__attribute__((noinline)) static long many(int a, long b, char c, unsigned char d, short e, void *f, int seventh, long eighth)
{
	long all = a + b + c + d + e + (f != NULL);

	sink = (int)all;
	all += seventh + eighth;
	sink = (int)all;
	return all;
}

__attribute__((noinline)) static int both(struct pair pair, struct customer whole)
{
	int sum = pair.left - pair.right;

	sink = sum;
	sum += whole.id;
	sink = sum;
	return sum;
}

__attribute__((noinline)) struct order *shop_place(struct order *order, unsigned int count, const char *const *words)
{
	char letter = words[0][0];
	bool large = count > 2;
	float rate = 1.5f;
	struct customer *customer = order->customer;

	placed++;
	sink = total(order, (int)count);
	if (large) {
		long double precise = rate;
		int level = customer->flags.level;

		order->sum += (money)(precise * level);
		sink = letter;
	}
	own += placed;
	sink = own;
	order->state = STATE_PAID;
	return order;
}

int main(int argc, char **argv)
{
	static const char *const words[] = { "first", "second" };
	struct customer friend = { .id = 2, .name = "bob", .flags = { 0, 3, -9 } };
	struct customer customer = { .id = 17, .name = "ann", .flags = { 1, 21, -100 }, .friend = &friend };
	struct order order = {
		.number = -40, .customer = &customer, .items = { { 1, -1, true, { 10 } }, { 2, -2, false, { 20 } }, { 3, -3, true, { 30 } } },
		.code = "K-12", .matrix = { { 1, 2, 3 }, { 4, 5, 6 } }, .price = 9.75, .state = STATE_SENT, .sum = 1ull << 40,
	};
	struct order *back = shop_place(&order, (unsigned int)argc + 2, words);

	printf("%ld %d\n", many(argc, -2, 'c', 200, -5, back, 7, 8), both((struct pair){ 9, argc }, customer));
	printf("%d %s %d\n", sink, argv[0] ? greeting : "", shelf[argc & 7]);
	return 0;
}
