/*
 * A program to be probed: orders are placed, by name and number, in a few threads, again and again.
 *
 *	shop ROUNDS [THREADS [seconds between rounds]]
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct customer {
	char *name;
	long age;
};

struct order {
	int id, pad;
	struct customer *customer;
	char title[8];
	unsigned int flags;
	short counts[4];
};

#define FUNCTION __attribute__((noinline, noclone))

static int rounds;
static double pause_s;

FUNCTION long shop_price(const struct order *order, long n)
{
	return order->counts[1] * n;
}

FUNCTION long shop_place(struct order *order, long n, const char *text)
{
	long sum = 0;

	for (long i = 0; i < n; i++)
		sum += shop_price(order, i) + text[0];
	order->flags = (unsigned int)sum;
	return sum - order->id;
}

/* Nine parameters: some are on the stack. */
FUNCTION long shop_many(long a, long b, long c, long d, long e, long f, long g, long h, long i)
{
	return a + b + c + d + e + f + g * h - i;
}

/* Keeps something below its stack, and counts on flags across instructions. */
FUNCTION long shop_below(long value)
{
	long result = 0;

	__asm__ volatile("movq %1, -8(%%rsp)\n\tmovq $0x5555, -16(%%rsp)\n\tcmpq $1, %1\n\tleaq 1(%1), %1\n\tmovq %1, -128(%%rsp)\n\t"
			 "setne %b0\n\tmovq -8(%%rsp), %1\n\taddq -16(%%rsp), %1\n\tsubq -128(%%rsp), %1\n\tleaq (%0, %1, 2), %0"
			 : "+q"(result), "+r"(value) : : "memory", "cc");
	return result;
}

static void *serve(void *arg)
{
	struct customer customer = { "ann", 33 };
	struct order order = { .id = 7, .customer = &customer, .title = "books", .flags = 0xad, .counts = { 1, -2, 3, 4 } };
	long sum = 0;

	(void)arg;
	for (int i = 0; i < rounds; i++) {
		order.flags = 0xad;
		/* The compiler may know that nobody looks. */
		__asm__ volatile("" : : "r"(&order) : "memory");
		sum += shop_place(&order, i % 3, "hello");
		sum += shop_many(1, 2, 3, 4, 5, 6, 7, 8, i);
		sum += shop_below(i);
		if (pause_s > 0)
			usleep((unsigned int)(pause_s * 1e6));
	}
	return (void *)sum;
}

int main(int argc, char **argv)
{
	int threads = argc > 2 ? atoi(argv[2]) : 1;
	pthread_t thread[64];
	long sum = 0;
	void *one;

	rounds = argc > 1 ? atoi(argv[1]) : 3;
	pause_s = argc > 3 ? atof(argv[3]) : 0;
	for (int i = 0; i < threads && i < 64; i++)
		pthread_create(&thread[i], NULL, serve, NULL);
	for (int i = 0; i < threads && i < 64; i++) {
		pthread_join(thread[i], &one);
		sum += (long)one;
	}
	printf("%ld\n", sum);
	return 0;
}
