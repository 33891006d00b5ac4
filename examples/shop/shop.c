/*
 * An example shop in two processes, for tracing.
 *
 *	shop front | shop back PROGRESS
 *
 * The front takes orders and hands them over; the back packs and ships them. Each has two threads at work. After an order
 * is shipped, and traced, its number goes into the file PROGRESS: whatever happens to the back, the trace must know at least
 * as much as that file.
 *
 * Nothing here knows whether anybody looks.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#include "events.h"

struct order {
	int32_t id;
	uint32_t grams;
};

static const char *const customers[] = { "ann", "bert", "carla", "dmitri", "esra" };
static int progress = -1;

static void work(long us)
{
	struct timespec pause = { .tv_nsec = us * 1000 };

	nanosleep(&pause, NULL);
}

static void *clerk(void *arg)
{
	int id = (int)(intptr_t)arg;
	struct order order;

	prctl(PR_SET_NAME, id % 2 ? "clerk-1" : "clerk-0");
	for (;; id += 2) {
		order = (struct order){ .id = id, .grams = 100 + (uint32_t)(id * 37 % 900) };
		trace_shop_order(id, customers[id % 5], 1.5 + id % 40 * 0.95, (enum status)(id % 3));
		if (write(STDOUT_FILENO, &order, sizeof(order)) != sizeof(order))
			break;
		work(500 + id * 101 % 700);
	}
	ringside_printf("closing: the back is gone after order %d (%s)", id, strerror(errno));
	return NULL;
}

static void *packer(void *arg)
{
	int lane = (int)(intptr_t)arg;
	struct order order;

	prctl(PR_SET_NAME, lane ? "packer-1" : "packer-0");
	while (read(STDIN_FILENO, &order, sizeof(order)) == sizeof(order)) {
		trace_shop_pack(order.id, (unsigned)order.id % 17, (unsigned)order.id % 8);
		work(200 + order.id * 53 % 300);
		trace_shop_ship(order.id, order.grams);
		if (pwrite(progress, &order.id, sizeof(order.id), lane * (off_t)sizeof(order.id)) < 0)
			break;
	}
	return NULL;
}

static int run(void *(*role)(void *))
{
	pthread_t thread[2];

	for (intptr_t i = 0; i < 2; i++)
		if (pthread_create(&thread[i], NULL, role, (void *)i))
			return 1;
	for (int i = 0; i < 2; i++)
		pthread_join(thread[i], NULL);
	return 0;
}

int main(int argc, char **argv)
{
	if (argc == 2 && !strcmp(argv[1], "front")) {
		signal(SIGPIPE, SIG_IGN);
		ringside_mark("the shop opens");
		return run(clerk);
	}
	if (argc == 3 && !strcmp(argv[1], "back")) {
		progress = open(argv[2], O_RDWR | O_CREAT | O_CLOEXEC, 0600);
		return progress < 0 ? 1 : run(packer);
	}
	fprintf(stderr, "usage: shop front | shop back PROGRESS\n");
	return 2;
}
