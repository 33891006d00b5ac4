/*
 * A disk that becomes full, or a limit on the size of files, while a trace file grows: the failure is told in words, again
 * and again, and the file has all pages that were accepted before, closed up.
 */
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/resource.h>

#include "dat/pack.h"
#include "lived_kill.h"

/* Bytes that no compressor makes smaller would not be pages; so there are many of them. */
#define ROUNDS 4000

static void check_file(const struct lived *l, const int accepted[LIVED_LANES], uint64_t most)
{
	int counts[LIVED_LANES], firsts[LIVED_LANES], sum = 0;
	struct stat st;

	dat_close(lived_read(l, counts, firsts));
	for (size_t i = 0; i < l->nr_buffers * l->nr_cpus; i++) {
		CHECK(counts[i] == accepted[i], "lane %zu: %d pages of %d", i, counts[i], accepted[i]);
		sum += counts[i];
	}
	CHECK(sum, "no pages were accepted");
	CHECK(!dat_live_close_up(l->path, NULL), "it was not closed up");
	CHECK(!stat(l->path, &st) && (uint64_t)st.st_size <= most, "%llu bytes", (unsigned long long)st.st_size);
}

static void fill(const char *dir, const char *compression, int code, const char *words, uint64_t most)
{
	char path[700];
	int accepted[LIVED_LANES] = { 0 }, r = 0;
	struct lived l = { .path = path, .compression = compression, .nr_buffers = 1, .nr_cpus = 3, .page_size = 4096,
			   .batch = 3, .accepted = accepted };
	struct err err = ERR_INIT, again = ERR_INIT;
	struct dat_live *live;

	snprintf(path, sizeof(path), "%s/full.dat", dir);
	live = lived_open(&l);
	CHECK(!lived_meta(&l, live) && !lived_more(live, 0), "publish");
	for (int i = 0; !r && i < ROUNDS; i++) {
		r = lived_round(&l, live, i);
		/* What is told changes, too. */
		if (!r && i % 64 == 0)
			r = lived_more(live, i);
	}
	CHECK(r == code, "%s: %d, not %d", compression, r, code);
	/* Where there is no room for several there may be some for one. */
	for (uint32_t cpu = 0; r == -ENOSPC && !dat_live_failed(live, NULL); cpu = (cpu + 1) % l.nr_cpus) {
		int *n = &accepted[lived_lane(&l, 0, cpu)];

		*n += !lived_write(&l, live, 0, cpu, *n, 1) && !dat_live_accept(live, 0, cpu);
	}
	CHECK(dat_live_failed(live, &err) == code && strstr(err.text, "full.dat") && strstr(err.text, words), "%s", err.text);
	CHECK(dat_live_publish(live) == code && dat_live_accept(live, 0, 0) == code && lived_more(live, 7) == code &&
	      lived_write(&l, live, 0, 0, 0, 1) == code, "it is forgotten");
	CHECK(dat_live_finish(live, &again) == code && !strcmp(err.text, again.text), "%s", again.text);
	dat_live_close(live);
	check_file(&l, accepted, most);
	unlink(path);
}

/* In a child: what it mounts and how it is limited goes away with it. */
static void in_child(void (*what)(const char *dir), const char *dir)
{
	pid_t pid = fork();
	int status;

	if (!pid) {
		what(dir);
		_exit(0);
	}
	CHECK(waitpid(pid, &status, 0) == pid && !status, "ended with %x", status);
}

static void limited(const char *dir)
{
	struct rlimit limit = { 2 << 20, 2 << 20 };
	const char *name = "none";

	CHECK(!setrlimit(RLIMIT_FSIZE, &limit), "%s", strerror(errno));
	/* It would be killed by it. */
	signal(SIGXFSZ, SIG_DFL);
	for (size_t i = 0; name; name = pack_name(i++))
		fill(dir, name, -EFBIG, "there is no room", 2 << 20);
}

static void small_disk(const char *dir)
{
	const char *name = "none";

	if (unshare(CLONE_NEWNS) || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
	    mount("none", dir, "tmpfs", 0, "size=2m")) {
		printf("no small disk can be mounted: %s\n", strerror(errno));
		return;
	}
	for (size_t i = 0; name; name = pack_name(i++))
		fill(dir, name, -ENOSPC, "No space left", UINT64_MAX);
}

int main(void)
{
	const char *base = getenv("RINGSIDE_SCRATCH");
	char there[600];

	CHECK(base, "RINGSIDE_SCRATCH is not set");
	lived_make_dir(there);
	in_child(limited, base);
	in_child(limited, there);
	in_child(small_disk, base);
	lived_remove_dir(there);
	return 0;
}
