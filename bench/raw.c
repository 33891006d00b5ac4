/*
 * What a page of trace_pipe_raw costs its reader: in this process through the tree, and through a mount, by read(2) of one page, of
 * 64 pages, and by splice(2) into a pipe.
 *
 * Before each measurement the ring of one CPU is filled with as many pages again, so that all of them move the same bytes; what is
 * read is looked at nowhere. One line each: NAME NS, the median of nanoseconds a page of 4 KiB.
 *
 *	raw MOUNT [PAGES]
 */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <ringside/ringside.h>

#include "control/tree.h"
#include "measure.h"

#define PAGE 4096u
#define MANY 64u
#define ROUNDS 7

RINGSIDE_EVENT(raw, filler, array(char, bytes, 1000))

static struct control *control;
static struct err err = ERR_INIT;
static char path[128], mounted[4096], *bytes;
static uint64_t pages = 8192;
static double began;	/* when the file was open */
static cpu_set_t all, one;

static void must(int r, const char *what)
{
	if (!r)
		return;
	fprintf(stderr, "raw: %s: %s\n", what, err.code ? err.text : strerror(-r));
	exit(1);
}

/* Four events to a page, on one CPU. The ring has a few pages more, so that none is overwritten. */
static void fill(void)
{
	must(sched_setaffinity(0, sizeof(one), &one) ? -errno : 0, "affinity");
	for (uint64_t i = 0; i < pages * 4; i++)
		trace_raw_filler(bytes);
	/* Where it is read from is the scheduler's business, as with any other reader. */
	must(sched_setaffinity(0, sizeof(all), &all) ? -errno : 0, "affinity");
}

/* Reads until there is nothing more; bytes that came. */
static uint64_t drain_direct(size_t size)
{
	struct tree_file *file;
	uint64_t got = 0;
	ssize_t n;
	int r;

	/* A file that was closed through the mount is let go of a moment later. */
	while ((r = tree_open(&file, control, path, TREE_READ, NULL)) == -EBUSY)
		usleep(1000);
	must(r, "open");
	began = now();
	while ((n = tree_file_read(file, bytes, size, 0, NULL)) > 0)
		got += (uint64_t)n;
	must(tree_close(file, &err), "close");
	return got;
}

static uint64_t drain_mounted(size_t size)
{
	int fd = open(mounted, O_RDONLY | O_NONBLOCK);
	uint64_t got = 0;
	ssize_t n;

	must(fd < 0 ? -errno : 0, mounted);
	began = now();
	while ((n = read(fd, bytes, size)) > 0)
		got += (uint64_t)n;
	close(fd);
	return got;
}

static uint64_t drain_spliced(size_t size)
{
	int fd = open(mounted, O_RDONLY | O_NONBLOCK), ends[2], out = open("/dev/null", O_WRONLY);
	uint64_t got = 0;
	ssize_t n;

	must(fd < 0 || out < 0 || pipe(ends) ? -errno : 0, mounted);
	fcntl(ends[0], F_SETPIPE_SZ, (int)size);
	began = now();
	while ((n = splice(fd, NULL, ends[1], NULL, size, SPLICE_F_NONBLOCK)) > 0) {
		got += (uint64_t)n;
		while (n > 0) {
			ssize_t m = splice(ends[0], NULL, out, NULL, (size_t)n, 0);

			must(m <= 0 ? -EIO : 0, "splice");
			n -= m;
		}
	}
	close(ends[0]);
	close(ends[1]);
	close(out);
	close(fd);
	return got;
}

static const struct {
	const char *name;
	uint64_t (*drain)(size_t size);
	size_t size;
} table[] = {
	{ "raw_direct_1", drain_direct, PAGE },
	{ "raw_direct_64", drain_direct, MANY * PAGE },
	{ "raw_mount_1", drain_mounted, PAGE },
	{ "raw_mount_64", drain_mounted, MANY * PAGE },
	{ "raw_mount_splice", drain_spliced, MANY * PAGE },
};
#define KINDS (sizeof(table) / sizeof(table[0]))

static void set_up(void)
{
	char size[32];
	int cpu = sched_getcpu();

	must(sched_getaffinity(0, sizeof(all), &all) ? -errno : 0, "affinity");
	CPU_ZERO(&one);
	CPU_SET(cpu, &one);
	snprintf(path, sizeof(path), "per_cpu/cpu%d/trace_pipe_raw", cpu);
	snprintf(size, sizeof(size), "%llu", (unsigned long long)(pages * 4 + 256));
	must(control_open(&control, NULL, true, &err), "directory");
	must(tree_write(control, "buffer_size_kb", size, strlen(size), TREE_TRUNC, &err), "size");
	must(tree_write(control, "events/raw/filler/enable", "1", 1, TREE_TRUNC, &err), "enable");
}

/* 0: this way nothing comes at all. */
static double measure(size_t k)
{
	double took;
	uint64_t got;

	fill();
	got = table[k].drain(table[k].size);
	took = now() - began;
	if (got >= (pages - 1) * PAGE)
		return took / ((double)got / PAGE);
	if (!got) {
		drain_direct(MANY * PAGE);
		return 0;
	}
	fprintf(stderr, "raw: %s: %llu of %llu pages\n", table[k].name, (unsigned long long)(got / PAGE),
		(unsigned long long)pages);
	exit(1);
}

int main(int argc, char **argv)
{
	double ns[KINDS][ROUNDS];

	if (argc < 2)
		return 2;
	if (argc > 2)
		pages = strtoull(argv[2], NULL, 10);
	bytes = calloc(MANY, PAGE);
	set_up();
	snprintf(mounted, sizeof(mounted), "%s/%s", argv[1], path);
	for (int round = 0; round < ROUNDS; round++)
		for (size_t k = 0; k < KINDS; k++)
			ns[k][round] = measure(k);
	for (size_t k = 0; k < KINDS; k++) {
		double middle = percentile(ns[k], ROUNDS, 50);

		if (middle > 0)
			printf("%s %.1f\n", table[k].name, middle);
		else
			fprintf(stderr, "raw: %s: this kernel hands on nothing: its row is left out\n", table[k].name);
	}
	control_close(control);
	return 0;
}
