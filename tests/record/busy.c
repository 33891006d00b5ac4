/*
 * A program that is worth recording: busy THREADS COUNT [KIND]...
 *
 * Each thread has a name of its own and emits COUNT events of each KIND: tick (when none is named), wide, mark, other.
 * The last thing is one event done:all, which tells how many those were.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <ringside/ringside.h>

enum colour { RED, GREEN, BLUE };

RINGSIDE_EVENT(busy, tick, field(int, thread), field(int, n))

RINGSIDE_EVENT(other, tock, field(unsigned long, n), print("n=%lu", n))

RINGSIDE_EVENT(busy, wide,
	string(text),
	array(short, shorts, 5),
	array(char, name, 16),
	sequence(int, numbers),
	bitmask(cpus),
	field(double, price),
	field(int64_t, far),
	symbols(enum colour, colour, {RED, "red"}, {GREEN, "green"}, {BLUE, "blue"}),
	flags(unsigned int, bits, {1, "one"}, {2, "two"}, {4, "four"}),
	print("%s shorts=%s name=%s numbers=%s cpus=%s price=%.2f far=%lld %s %s", text, shorts, name, numbers, cpus,
	      price, (long long)far, colour, bits))

RINGSIDE_EVENT(done, all, field(long, count))

static int count;
static int kinds;
static char **kind;

static int wants(const char *word)
{
	for (int i = 0; i < kinds; i++)
		if (!strcmp(kind[i], word))
			return 1;
	return 0;
}

static void emit_wide(int n)
{
	static const short shorts[5] = { 1, -2, 3, -4, 5 };
	static const unsigned long cpus[2] = { 0x21, 0x100 };
	static const int numbers[40] = { 7, -7, 1000000, 0, 5 };
	char text[1500];
	size_t len = n % 50 == 49 ? sizeof(text) - 1 : (size_t)(n % 40);

	memset(text, 'a' + n % 26, len);
	text[len] = '\0';
	trace_busy_wide(text, shorts, "short and sweet", numbers, (size_t)(n % 41), cpus, 70, n / 4.0,
			-5000000000ll * n, (enum colour)(n % 3), (unsigned int)n & 7);
}

static void emit_mark(int n)
{
	char text[64];

	snprintf(text, sizeof(text), "mark %d, 100%% of it", n);
	ringside_mark(text);
	ringside_markf("markf %d\n", n);
	ringside_printf("printf %d %s %#x", n, "of three", n);
	ringside_printf("a line that never changes\n");
}

static void *work(void *arg)
{
	int thread = (int)(intptr_t)arg;
	char name[16];

	snprintf(name, sizeof(name), "busy/%d", thread);
	pthread_setname_np(pthread_self(), name);
	for (int n = 0; n < count; n++) {
		if (!kinds || wants("tick"))
			trace_busy_tick(thread, n);
		if (wants("wide"))
			emit_wide(n);
		if (wants("mark"))
			emit_mark(n);
		if (wants("other"))
			trace_other_tock((unsigned long)n);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	int threads = argc > 1 ? atoi(argv[1]) : 1;
	pthread_t id[256];

	count = argc > 2 ? atoi(argv[2]) : 1;
	kinds = argc > 3 ? argc - 3 : 0;
	kind = argv + 3;
	/* One thread is the main one, and has the program's name. */
	if (threads < 2 || threads > 256) {
		for (int n = 0; n < count; n++)
			if (!kinds || wants("tick"))
				trace_busy_tick(0, n);
		count = kinds ? count : 0;
		for (int n = 0; n < count; n++) {
			if (wants("wide"))
				emit_wide(n);
			if (wants("mark"))
				emit_mark(n);
			if (wants("other"))
				trace_other_tock((unsigned long)n);
		}
		threads = 1;
	} else {
		for (int i = 0; i < threads; i++)
			pthread_create(&id[i], NULL, work, (void *)(intptr_t)i);
		for (int i = 0; i < threads; i++)
			pthread_join(id[i], NULL);
	}
	trace_done_all((long)threads * count);
	return 0;
}
