/*
 * A ring that never stands still: writers that come round again and again while a page is copied. Who reads is neither kept waiting nor given
 * what is torn: each call ends, each event is whole, and there are as many as there were, those that are lost among them; or words say
 * that it is too fast. Where the ring is large enough to be read at all, it is.
 *
 *   lapped [SECONDS]
 */
#include <fcntl.h>
#include <pthread.h>
#include <sys/stat.h>

#include "hosted_lab.h"
#include "remote/remote.h"

#define RINGS 2u

struct scene {
	const char *name;
	uint32_t pages, shift;
	bool consume, once;
	bool can;	/* it has to be read */
};

static const struct scene scenes[] = {
	{ "two pages of 256 bytes", 2, 8, true, false, false },
	{ "four pages of 512 bytes, looked at", 4, 9, false, true, false },
	{ "64 pages of 4096 bytes", 64, 12, true, false, true },
	{ "64 pages of 4096 bytes, looked at", 64, 12, false, true, true },
	{ "64 pages of 4096 bytes, by one after the other", 64, 12, true, true, true },
};

static struct ringside_fw_hosted fw;
static _Atomic bool stop;
static int dir;
static char path[4096];

static void *write_on(void *arg)
{
	uint32_t ring = *(const uint32_t *)arg;
	struct record record;

	for (uint32_t seq = 0; !stop; seq++) {
		record_fill(&record, ring, seq, 0, RECORD_MIN + seq % 7);
		ringside_fw_hosted_write(&fw, ring, &record, RECORD_MIN + seq % 7);
	}
	return NULL;
}

struct sum {
	uint32_t rows, calls, refused;
	bool known[RINGS];
	uint32_t next[RINGS];
};

static void check_row(const struct scene *scene, struct sum *sum, const struct remote_row *row)
{
	struct record record;
	const char *wrong = record_wrong(row->data, row->len, row->ts, &record);

	CHECK(!wrong && record.writer == row->cpu, "%s: cpu %u: %s", scene->name, row->cpu, wrong ? wrong : "of another cpu");
	CHECK(!row->restarted, "%s: said to be started again", scene->name);
	CHECK(!sum->known[row->cpu] || record.seq == sum->next[row->cpu] + row->lost, "%s: cpu %u: event %u behind %u and %llu that are lost",
	      scene->name, row->cpu, record.seq, sum->next[row->cpu] - 1, (unsigned long long)row->lost);
	sum->known[row->cpu] = true;
	sum->next[row->cpu] = record.seq + 1;
	sum->rows++;
}

/* One who reads until he is refused, or for a while. */
static void read_for(const struct scene *scene, struct sum *sum, uint64_t until)
{
	struct remote_how how = { .cpu = -1, .consume = scene->consume, .once = scene->once };
	struct err err = ERR_INIT;
	struct remote_reader *reader;
	struct remote *remote;
	struct remote_row row;
	int r = remote_open(&remote, dir, "lapped", &err);

	CHECK(!r, "%s", err.text);
	r = remote_reader_open(&reader, remote, &how, &err);
	if (!scene->consume)
		memset(sum->known, 0, sizeof(sum->known));
	while (!r && lab_now() < until) {
		r = remote_reader_next(reader, &row, &err);
		sum->calls++;
		if (r == 1)
			check_row(scene, sum, &row);
		if (r == 1 && sum->rows % 100 == 0)
			CHECK(!remote_reader_accept(reader, &err), "%s", err.text);
		if (!r && how.once)
			break;
		r = r > 0 ? 0 : r;
	}
	if (r) {
		CHECK(strstr(err.text, "faster than they can be read"), "%s: %s", scene->name, err.text);
		sum->refused++;
	}
	/* There is none where already the first look was too slow. */
	if (reader)
		remote_reader_accept(reader, NULL);
	remote_reader_close(reader);
	remote_close(remote);
}

static void run(const struct scene *scene, double seconds)
{
	struct ringside_fw_hosted_how how = { .nr_rings = RINGS, .nr_pages = scene->pages, .page_shift = scene->shift, .nr_events = 8, .on = 1 };
	size_t size = ringside_fw_hosted_size(&how);
	struct remote_place place = { .memory = path };
	struct sum sum = { 0 };
	pthread_t threads[RINGS];
	uint32_t rings[RINGS];
	struct err err = ERR_INIT;
	uint64_t until;
	void *base;
	int fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	CHECK(fd >= 0 && !ftruncate(fd, (off_t)size), "%s", strerror(errno));
	base = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	CHECK(base != MAP_FAILED && !ringside_fw_hosted_init(base, size, &how) && !ringside_fw_hosted_open(&fw, base, size), "writer");
	CHECK(!remote_add(dir, "lapped", &place, &err), "%s", err.text);
	stop = false;
	for (uint32_t i = 0; i < RINGS; i++) {
		rings[i] = i;
		CHECK(!pthread_create(&threads[i], NULL, write_on, &rings[i]), "thread");
	}
	for (until = lab_now() + (uint64_t)(seconds * 1e9); lab_now() < until;)
		read_for(scene, &sum, until);
	stop = true;
	for (uint32_t i = 0; i < RINGS; i++)
		pthread_join(threads[i], NULL);
	printf("%s: %u events, %u calls, too fast %u times, %u and %u were written\n", scene->name, sum.rows, sum.calls, sum.refused,
	       fw.rings[0].count, fw.rings[1].count);
	CHECK(!scene->can || sum.rows, "%s: nothing could be read", scene->name);
	CHECK(fw.rings[0].count > scene->pages * 2, "%s: nothing was written", scene->name);
	/* Now that it stands still, all of it is there. */
	memset(sum.known, 0, sizeof(sum.known));
	sum.rows = sum.refused = 0;
	read_for(&(struct scene){ .name = scene->name, .once = true }, &sum, UINT64_MAX);
	CHECK(!sum.refused && (scene->consume || sum.rows), "%s: what stands still", scene->name);
	CHECK(!remote_remove(dir, "lapped", &err), "%s", err.text);
	munmap(base, size);
	close(fd);
}

int main(int argc, char **argv)
{
	double seconds = argc > 1 ? atof(argv[1]) : getenv("RINGSIDE_LONG") ? 30 : 2;
	const char *place = getenv("RINGSIDE_DIR");

	CHECK(place, "RINGSIDE_DIR");
	setvbuf(stdout, NULL, _IONBF, 0);
	mkdir(place, 0700);
	snprintf(path, sizeof(path), "%s/memory", place);
	dir = open(place, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	CHECK(dir >= 0, "%s", strerror(errno));
	for (size_t i = 0; i < sizeof(scenes) / sizeof(scenes[0]); i++)
		run(&scenes[i], seconds / (sizeof(scenes) / sizeof(scenes[0])));
	return 0;
}
