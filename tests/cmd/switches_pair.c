/*
 * pair N [busy]: two threads on one CPU hand each other a byte, N times; `busy`: and two more that write events as fast as they can and
 * sleep now and then, on any CPU. Each event names its thread.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <ringside/ringside.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

RINGSIDE_EVENT(pair, turn, field(int, tid), field(int, n))

static int there[2], back[2], count;

static void *ping(void *name)
{
	int *in = !strcmp(name, "ping") ? back : there, *out = in == back ? there : back;
	char byte = 0;

	pthread_setname_np(pthread_self(), name);
	for (int i = 0; i < count; i++) {
		if (in == there && read(in[0], &byte, 1) != 1)
			exit(1);
		trace_pair_turn(gettid(), i);
		if (write(out[1], &byte, 1) != 1)
			exit(1);
		if (in == back && read(in[0], &byte, 1) != 1)
			exit(1);
		trace_pair_turn(gettid(), i);
	}
	return NULL;
}

static void *busy(void *name)
{
	struct timespec nap = { 0, 200000 };

	pthread_setname_np(pthread_self(), name);
	for (int i = 0; i < 300; i++) {
		for (int j = 0; j < 200; j++)
			trace_pair_turn(gettid(), j);
		if (i % 3)
			nanosleep(&nap, NULL);
		else
			sched_yield();
	}
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t thread[4];
	cpu_set_t before, one;
	int n = argc > 2 ? 4 : 2;

	count = argc > 1 ? atoi(argv[1]) : 100;
	if (pipe(there) || pipe(back) || sched_getaffinity(0, sizeof(before), &before))
		return 1;
	CPU_ZERO(&one);
	for (int cpu = 0; cpu < CPU_SETSIZE && !CPU_COUNT(&one); cpu++)
		if (CPU_ISSET(cpu, &before))
			CPU_SET(cpu, &one);
	if (n == 4) {
		pthread_create(&thread[2], NULL, busy, "busy1");
		pthread_create(&thread[3], NULL, busy, "busy2");
	}
	sched_setaffinity(0, sizeof(one), &one);
	pthread_create(&thread[0], NULL, ping, "ping");
	pthread_create(&thread[1], NULL, ping, "pong");
	for (int i = 0; i < n; i++)
		pthread_join(thread[i], NULL);
	return 0;
}
