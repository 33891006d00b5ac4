/*
 * Movers and hoses: numbered pages of several CPUs come through in order and once, also when nobody takes them for so long that all
 * pipes are full; each CPU has a mover of its own, which stays there, but only where the caller may be. A pipe is the buffer here.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "insist.h"
#include "record/movers.h"

#define PAGE 4096u
#define PAGES 6000u	/* of a hose: more than its pipes hold */
#define HOSES 4u

struct lane {
	struct hose *hose;
	pthread_t writer;
	int in;
	uint32_t next;		/* the number that has to come */
};

static void *write_pages(void *arg)
{
	const struct lane *lane = arg;
	unsigned char page[PAGE];

	for (uint32_t i = 0; i < PAGES; i++) {
		memset(page, (int)i, sizeof(page));
		memcpy(page, &i, sizeof(i));
		CHECK(write(lane->in, page, sizeof(page)) == sizeof(page), "write: %s", strerror(errno));
	}
	return NULL;
}

static void look_at(struct lane *lane, const unsigned char *bytes, size_t len)
{
	CHECK(len % PAGE == 0, "%zu bytes are no pages", len);
	for (size_t at = 0; at < len; at += PAGE) {
		uint32_t number;

		memcpy(&number, bytes + at, sizeof(number));
		CHECK(number == lane->next, "cpu %u: page %u, not %u", lane->hose->cpu, number, lane->next);
		CHECK(bytes[at + PAGE - 1] == (unsigned char)number, "cpu %u: page %u is torn", lane->hose->cpu, number);
		lane->next++;
	}
}

/* Whatever there is in its pipes; of each not all at once. */
static void take(struct lane *lane)
{
	static unsigned char bytes[1 << 20];
	bool more = true;
	int pipe;

	while (more) {
		size_t len = hose_take(lane->hose, &pipe), done = 0;

		CHECK(len <= sizeof(bytes), "%zu bytes in a pipe", len);
		len = len > 3 * PAGE ? len / PAGE / 2 * PAGE : len;
		while (done < len) {
			ssize_t n = read(pipe, bytes + done, len - done);

			CHECK(n > 0, "read: %s", strerror(errno));
			done += (size_t)n;
		}
		look_at(lane, bytes, len);
		more = hose_give(lane->hose);
	}
}

static void open_lane(struct lane *lane, uint32_t cpu)
{
	int ends[2];

	*lane = (struct lane){ .hose = hose_new(cpu) };
	CHECK(lane->hose && !pipe2(ends, O_CLOEXEC), "a hose");
	CHECK(!fcntl(ends[0], F_SETFL, O_NONBLOCK), "fcntl");
	lane->hose->raw = ends[0];
	lane->in = ends[1];
	hose_lay(lane->hose, HOSES);
	CHECK(hose_has_pipes(lane->hose), "no pipes");
}

/* The first and the last CPU that we may be on. */
static void choose_cpus(uint32_t cpus[2])
{
	cpu_set_t may;
	int n = 0;

	CHECK(!sched_getaffinity(0, sizeof(may), &may), "affinity");
	for (uint32_t cpu = 0; cpu < CPU_SETSIZE; cpu++)
		if (CPU_ISSET(cpu, &may))
			cpus[n++ ? 1 : 0] = cpu;
	CHECK(n, "no CPU");
	if (n == 1)
		cpus[1] = cpus[0];
}

static bool is_on(pid_t tid, uint32_t cpu)
{
	cpu_set_t set;

	CHECK(!sched_getaffinity(tid, sizeof(set), &set), "affinity of %d", (int)tid);
	return CPU_COUNT(&set) == 1 && CPU_ISSET(cpu, &set);
}

static uint32_t bell_of(const struct movers *movers)
{
	return __atomic_load_n(movers_bell(movers), __ATOMIC_ACQUIRE);
}

/* Nothing can be moved any more. */
static void wait_until_full(const struct movers *movers, struct lane *lanes)
{
	const struct timespec moment = { 0, 20000000 };

	for (size_t i = 0; i < HOSES; i++) {
		struct hose *hose = lanes[i].hose;
		bool full = false;

		while (!full) {
			nanosleep(&moment, NULL);
			pthread_mutex_lock(&hose->lock);
			full = hose->last - hose->first + 1 == hose->nr;
			pthread_mutex_unlock(&hose->lock);
		}
	}
	CHECK(bell_of(movers), "nobody rang");
}

static void check_all(const uint32_t cpus[2])
{
	const struct timespec moment = { 0, 100000000 };
	struct lane lanes[HOSES];
	struct hose *hoses[HOSES];
	struct movers *movers;
	bool left = true;

	for (size_t i = 0; i < HOSES; i++) {
		open_lane(&lanes[i], cpus[i % 2]);
		hoses[i] = lanes[i].hose;
	}
	movers = movers_begin(hoses, HOSES);
	CHECK(movers, "no movers");
	CHECK(movers_tid(movers, 0) > 0 && is_on(movers_tid(movers, 0), cpus[0]), "the first is not on its CPU");
	if (cpus[0] != cpus[1])
		CHECK(movers_tid(movers, 1) > 0 && is_on(movers_tid(movers, 1), cpus[1]), "the second is not on its CPU");
	CHECK(!movers_tid(movers, cpus[0] == cpus[1] ? 1 : 2), "there are more movers than CPUs");
	for (size_t i = 0; i < HOSES; i++) {
		CHECK(hoses[i]->served, "hose %zu has no mover", i);
		CHECK(!pthread_create(&lanes[i].writer, NULL, write_pages, &lanes[i]), "a writer");
	}
	wait_until_full(movers, lanes);
	while (left) {
		uint32_t seen = bell_of(movers);

		left = false;
		for (size_t i = 0; i < HOSES; i++) {
			take(&lanes[i]);
			left |= lanes[i].next < PAGES;
		}
		movers_hush(movers);
		if (left && bell_of(movers) == seen)
			syscall(SYS_futex, movers_bell(movers), FUTEX_WAIT, seen, &moment, NULL, 0);
	}
	movers_end(movers);
	for (size_t i = 0; i < HOSES; i++) {
		unsigned char page[PAGE];

		pthread_join(lanes[i].writer, NULL);
		CHECK(!hoses[i]->served && !hose_take(hoses[i], &(int){ 0 }), "something is left");
		CHECK(!hose_read_open(hoses[i], page, sizeof(page)), "a page too many");
		close(lanes[i].in);
		hose_close(hoses[i]);
	}
}

/* By whoever keeps away from a CPU it is not gone to. */
static void check_kept_away(const uint32_t cpus[2])
{
	cpu_set_t all, one;
	struct hose *hoses[2];
	struct movers *movers;
	struct lane lanes[2];

	if (cpus[0] == cpus[1])
		return;
	CHECK(!sched_getaffinity(0, sizeof(all), &all), "affinity");
	CPU_ZERO(&one);
	CPU_SET(cpus[0], &one);
	CHECK(!sched_setaffinity(0, sizeof(one), &one), "affinity");
	for (size_t i = 0; i < 2; i++) {
		open_lane(&lanes[i], cpus[i]);
		hoses[i] = lanes[i].hose;
	}
	movers = movers_begin(hoses, 2);
	CHECK(movers && movers_tid(movers, 1), "no movers");
	CHECK(is_on(movers_tid(movers, 0), cpus[0]) && is_on(movers_tid(movers, 1), cpus[0]), "one went elsewhere");
	movers_end(movers);
	for (size_t i = 0; i < 2; i++) {
		close(lanes[i].in);
		hose_close(hoses[i]);
	}
	CHECK(!sched_setaffinity(0, sizeof(all), &all), "affinity");
}

/* A kernel has no buffer of a CPU that was never online, and who waits for it is told so at once: nobody is woken for that. */
static void check_absent(const uint32_t cpus[2])
{
	const struct timespec moment = { 0, 100000000 };
	struct hose *hose = hose_new(cpus[0]);
	struct movers *movers;
	int ends[2];

	CHECK(hose && !pipe2(ends, O_CLOEXEC | O_NONBLOCK), "a hose");
	close(ends[0]);
	hose->raw = ends[1];
	hose_lay(hose, 1);
	movers = movers_begin(&hose, 1);
	CHECK(movers, "no movers");
	nanosleep(&moment, NULL);
	CHECK(!bell_of(movers), "it rang %u times for nothing", bell_of(movers));
	movers_end(movers);
	hose_close(hose);
}

/* The page that is being written comes by itself, behind those that are full; a file without splice is read. */
static void check_reading(void)
{
	unsigned char page[PAGE] = { 1 };
	struct hose *hose;
	struct lane lane;
	uint64_t number;
	int pipe;

	open_lane(&lane, 0);
	CHECK(!hose_read_open(lane.hose, page, PAGE), "of nothing");
	CHECK(write(lane.in, page, PAGE) == PAGE, "write");
	/* It goes into a pipe, as a full one, and what is there has to be taken first. */
	CHECK(!hose_read_open(lane.hose, page, PAGE), "it is taken out of turn");
	CHECK(hose_take(lane.hose, &pipe) == PAGE && read(pipe, page, PAGE) == PAGE, "it is not in the pipe");
	CHECK(!hose_give(lane.hose), "there is no other");
	close(lane.in);
	hose_close(lane.hose);

	hose = hose_new(0);
	CHECK(hose, "a hose");
	hose->raw = eventfd(7, EFD_NONBLOCK);
	hose_lay(hose, 1);
	CHECK(hose->raw >= 0 && hose_read_open(hose, (unsigned char *)&number, sizeof(number)) == sizeof(number), "it is not read");
	CHECK(number == 7 && !hose_has_pipes(hose), "it has pipes, and %llu", (unsigned long long)number);
	CHECK(!hose_read_open(hose, (unsigned char *)&number, sizeof(number)), "it is read twice");
	hose_close(hose);
}

int main(void)
{
	uint32_t cpus[2];

	choose_cpus(cpus);
	check_reading();
	check_kept_away(cpus);
	check_absent(cpus);
	check_all(cpus);
	return 0;
}
