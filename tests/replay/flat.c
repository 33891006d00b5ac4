/*
 * Memory does not grow with the trace: ten times the records are read with no more of it, by one
 * thread and by four.
 */
#include "dat/make.h"

#include <errno.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "insist.h"
#include "replay/replay.h"

#define PAGES 1500	/* of 4 KB, of each of two CPUs: 12 MB */

static void write_pages(int fd, uint32_t pages)
{
	struct make m;
	pid_t pid = fork();
	int status;

	/* In a process of its own: what is in memory there is not measured. */
	if (!pid) {
		make_begin(&m, 6, NULL);
		m.page_size = 4096;
		make_weave(&m, 2, pages, 1000, 100);
		make_file(&m);
		for (size_t at = 0; at < m.out.len;) {
			ssize_t n = write(fd, m.out.data + at, m.out.len - at);

			CHECK(n > 0, "%s", strerror(errno));
			at += (size_t)n;
		}
		_exit(0);
	}
	CHECK(waitpid(pid, &status, 0) == pid && !status, "the file cannot be made");
}

static void record(void *arg, void *own, const struct replay_record *rec, struct buf *out)
{
	(void)arg, (void)own;
	buf_printf(out, "%llu %u\n", (unsigned long long)rec->ts, rec->len);
}

static int put(void *arg, const char *bytes, size_t len)
{
	for (size_t i = 0; i < len; i++)
		*(uint64_t *)arg += bytes[i] == '\n';
	return 0;
}

struct cost {
	uint64_t records;
	long kb;
};

static void read_all(const char *path, unsigned int threads, struct cost *cost)
{
	struct replay_job job = { .arg = &cost->records, .record = record, .put = put };
	struct err err = ERR_INIT;
	struct replay *replay;
	struct rusage usage;
	struct dat *dat;

	CHECK(!dat_open(&dat, path, &err), "%s", err.text);
	CHECK(!replay_new(&replay) && !replay_add(replay, dat, NULL, NULL, NULL, &err), "%s", err.text);
	CHECK(!replay_run(replay, &job, threads, &err), "%s", err.text);
	getrusage(RUSAGE_SELF, &usage);
	cost->kb = usage.ru_maxrss;
}

static struct cost measure(uint32_t pages, unsigned int threads)
{
	int fd = memfd_create("flat", MFD_CLOEXEC), status;
	struct cost *cost = mmap(NULL, sizeof(*cost), PROT_READ | PROT_WRITE,
				 MAP_SHARED | MAP_ANONYMOUS, -1, 0), result;
	char path[64];
	pid_t pid;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	write_pages(fd, pages);
	pid = fork();
	if (!pid) {
		read_all(path, threads, cost);
		_exit(0);
	}
	CHECK(waitpid(pid, &status, 0) == pid && !status, "the file cannot be read");
	close(fd);
	result = *cost;
	munmap(cost, sizeof(*cost));
	printf("%u threads: %llu records, %ld KB\n", threads, (unsigned long long)result.records,
	       result.kb);
	fflush(stdout);
	return result;
}

int main(void)
{
	for (unsigned int threads = 1; threads <= 4; threads += 3) {
		struct cost one = measure(PAGES, threads), ten = measure(10 * PAGES, threads);

		CHECK(ten.records > 9 * one.records, "not ten times the records");
		CHECK(ten.kb < one.kb + 3000, "%ld KB more", ten.kb - one.kb);
	}
	return 0;
}
