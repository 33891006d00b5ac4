/*
 * A trace file opens while it grows, at any moment, and has all pages up to some batch; nothing about it looks wrong.
 */
#include <sys/mman.h>

#include "dat/pack.h"
#include "lived_kill.h"

#define OPENED 150

static int *go_on;

static void grow(const struct lived *l)
{
	struct dat_live *live = lived_open(l);
	int r = lived_meta(l, live);

	if (!r)
		r = lived_more(live, 0);
	for (int i = 0; !r && __atomic_load_n(go_on, __ATOMIC_RELAXED) && i < 20000; i++) {
		r = lived_round(l, live, i);
		if (!r && i % 16 == 0)
			r = lived_more(live, i);
	}
	CHECK(!r, "%d", r);
	dat_live_close(live);
}

static void read_growing(const char *dir, const char *compression, size_t nr_buffers, uint32_t nr_cpus)
{
	char path[700];
	struct lived l = { .path = path, .compression = compression, .nr_buffers = nr_buffers, .nr_cpus = nr_cpus,
			   .page_size = 4096, .batch = 2 };
	int counts[LIVED_LANES], firsts[LIVED_LANES], status, least = 0;
	pid_t pid;

	snprintf(path, sizeof(path), "%s/read.dat", dir);
	*go_on = 1;
	pid = fork();
	if (!pid) {
		grow(&l);
		_exit(0);
	}
	while (access(path, F_OK) && !waitpid(pid, &status, WNOHANG))
		usleep(100);
	/* A writer that has to wait for its CPU is waited for. */
	for (int i = 0; i < OPENED || (!least && i < 100 * OPENED); i++) {
		dat_close(lived_read(&l, counts, firsts));
		for (size_t j = 0; j < 9; j++)
			CHECK(!counts[j] || !firsts[j], "lane %zu begins with page %d", j, firsts[j]);
		CHECK(counts[0] >= least, "there were %d pages, and now %d", least, counts[0]);
		least = counts[0];
		if (!least)
			usleep(200);
		/* What is known so far need not be read again and again. */
		if (least > 2000)
			break;
	}
	__atomic_store_n(go_on, 0, __ATOMIC_RELAXED);
	CHECK(waitpid(pid, &status, 0) == pid && !status, "the writer ended with %x", status);
	CHECK(least, "nothing was read");
	unlink(path);
}

int main(void)
{
	const char *base = getenv("RINGSIDE_SCRATCH"), *name = "none";

	CHECK(base, "RINGSIDE_SCRATCH is not set");
	go_on = mmap(NULL, sizeof(*go_on), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	CHECK(go_on != MAP_FAILED, "%s", strerror(errno));
	for (size_t i = 0; name; name = pack_name(i++))
		read_growing(base, name, 3, 3);
	/* Where the file is longer with each page. */
	read_growing(base, "none", 1, 1);
	return 0;
}
