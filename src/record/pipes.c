/*
 * record/pipes: the taps of a tree of files like the kernel's. See tap.h.
 *
 *	trace_pipe_raw   full pages ---- splice ---- pipes ---- splice, by the device itself where it can ---- file
 *	                      (movers, one a CPU)               (the caller's)
 *	                 the page that is being written, now and then ---------- read ----------------------- record.c
 *
 * A device makes its writer wait for longer than a kernel's buffer lasts. So threads take full pages out of the buffers as soon as they
 * are worth it (movers.h), into pipes, which hold as much again and more (hose.h), and ring a bell for those who write them. Nobody
 * looks at such pages: each tells in its own commit word what was lost before it, and how many events there were in all the buffer's
 * own counts say.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/mono.h"
#include "decode/page.h"
#include "record/hose.h"
#include "record/movers.h"
#include "record/tap.h"

/* Counts are read again after that. */
#define COUNT_MS 250

struct pipes {
	bool copies;			/* what is in a pipe is read: the file takes nothing from one */
	unsigned char *copy;
	size_t copy_room;
	struct hose **hoses;
	size_t nr;
	struct movers *movers;		/* NULL: there is none */
	struct tap_counts counts;
	uint64_t missed;		/* events that were read, but are not in the file */
	int64_t counted_at;
};

static int out_of_memory(struct err *err)
{
	return err_set(err, -ENOMEM, "out of memory");
}

/* ---- pages ---- */

static void look_into(const unsigned char *page, uint32_t size, struct stream_page *info)
{
	struct page_event event;
	struct page_walk walk;

	/* What cannot be understood is handed on as it is. */
	*info = (struct stream_page){ .bytes = size };
	if (page_walk_init(&walk, page, size))
		return;
	info->bytes = walk.commit;
	while (page_walk_next(&walk, &event) > 0) {
		if (!info->first_ts)
			info->first_ts = event.ts;
		info->last_ts = event.ts;
		info->events++;
	}
	info->lost_more = walk.lost == PAGE_LOST_UNKNOWN;
	info->lost = info->lost_more ? 0 : walk.lost;
}

static int copy_out(struct record *record, size_t t, uint32_t cpu, int pipe, size_t len, struct err *err)
{
	const uint32_t page_size = record->taps[t].page_size;
	struct pipes *pipes = record->pipes;
	struct iovec iov = { pipes->copy, len };
	struct stream_page info;
	size_t done = 0;
	int r;

	if (len > pipes->copy_room) {
		free(pipes->copy);
		pipes->copy = aligned_alloc(4096, (len + 4095) / 4096 * 4096);
		pipes->copy_room = pipes->copy ? len : 0;
		iov.iov_base = pipes->copy;
	}
	if (!pipes->copy)
		return out_of_memory(err);
	while (done < len) {
		ssize_t n = read(pipe, pipes->copy + done, len - done);

		if (n <= 0 && errno != EINTR)
			return err_set(err, -EIO, "cannot read a pipe: %s", strerror(errno));
		done += n > 0 ? (size_t)n : 0;
	}
	/* The words for what went wrong come with the other. */
	record_file_write(record->file, t, cpu, &iov, 1);
	r = record_file_accept(record->file, t, cpu, false, err);
	for (size_t at = 0; r && at < len; at += page_size) {
		look_into(pipes->copy + at, page_size, &info);
		record_pipes_miss(record, info.events);
	}
	return r;
}

static int put(struct record *record, size_t t, uint32_t cpu, int pipe, size_t len, struct err *err)
{
	struct pipes *pipes = record->pipes;
	int r = pipes->copies ? -EINVAL : record_file_splice(record->file, t, cpu, pipe, len);

	if (r == -EINVAL) {
		pipes->copies = true;
		return copy_out(record, t, cpu, pipe, len, err);
	}
	/* The words for what went wrong come with it. */
	return record_file_accept(record->file, t, cpu, false, err);
}

static int run(struct record *record, size_t t, uint32_t cpu, bool *idle, struct err *err)
{
	struct tap *tap = &record->taps[t];
	struct hose *hose = tap->lanes[cpu].hose;
	size_t len, most = (size_t)record_most_pages(record, tap) * tap->page_size;
	bool more;
	int pipe, r;

	*idle = !hose || hose_has_pipes(hose);
	if (!hose || !*idle)
		return 0;
	/* Beside a mover that would only be in its way. */
	if (!hose->served) {
		ssize_t n = hose_fill(hose);

		if (n < 0)
			return err_set(err, (int)n, "the buffer of cpu %u cannot be read: %s", cpu, strerror((int)-n));
	}
	len = hose_take(hose, &pipe);
	if (!len)
		return 0;
	r = record_end_gather(record, t, cpu, err);
	if (!r)
		r = put(record, t, cpu, pipe, len < most ? len : most, err);
	more = hose_give(hose);
	/* What has come since into one that was taken half full is too little to be worth it. */
	return r ? r : more || !hose->served;
}

static int next(struct record *record, size_t t, uint32_t cpu, unsigned char *page, struct stream_page *info,
		struct err *err)
{
	const struct tap *tap = &record->taps[t];
	struct hose *hose = tap->lanes[cpu].hose;
	ssize_t n;

	if (!hose)
		return 0;
	n = hose_read_open(hose, page, tap->page_size);
	if (n < 0)
		return err_set(err, (int)n, "the buffer of cpu %u cannot be read: %s", cpu, strerror((int)-n));
	if (!n)
		return 0;
	memset(page + n, 0, tap->page_size - (size_t)n);
	look_into(page, tap->page_size, info);
	return 1;
}

static void accept(struct lane *lane)
{
	(void)lane;
}

const struct tap_kind tap_pipes = { run, next, accept };

/* ---- counts ---- */

static const char *path_of(char path[256], const char *instance, const char *file)
{
	snprintf(path, 256, "%s%.100s%s%.100s", *instance ? "instances/" : "", instance, *instance ? "/" : "", file);
	return path;
}

/* Of "name: 12" in a text; 0 when it is not there. */
static uint64_t count_of(const char *text, const char *name)
{
	const char *at = text ? strstr(text, name) : NULL;

	while (at && at > text && at[-1] != '\n')
		at = strstr(at + 1, name);
	return at ? strtoull(at + strlen(name), NULL, 10) : 0;
}

static void count_tap(const struct record *record, const struct tap *tap, struct tap_counts *counts)
{
	*counts = (struct tap_counts){ 0 };
	for (uint32_t cpu = 0; cpu < record->nr_cpus; cpu++) {
		char text[1024];
		const struct hose *hose = tap->lanes[cpu].hose;
		ssize_t n = hose && hose->stats >= 0 ? pread(hose->stats, text, sizeof(text) - 1, 0) : 0;

		if (n <= 0)
			continue;
		text[n] = '\0';
		counts->read += count_of(text, "read events: ");
		counts->overwritten += count_of(text, "overrun: ");
		counts->lost += count_of(text, "overrun: ") + count_of(text, "commit overrun: ") +
				count_of(text, "dropped events: ");
	}
}

void record_pipes_count(struct record *record, bool now)
{
	struct pipes *pipes = record->pipes;
	struct tap_counts sum = { 0 };

	if (record->snapshot || (!now && mono_ms() - pipes->counted_at < COUNT_MS))
		return;
	for (size_t t = 0; t < record->nr_taps; t++) {
		struct tap_counts counts;

		if (record->taps[t].kind != &tap_pipes)
			continue;
		count_tap(record, &record->taps[t], &counts);
		sum.read += counts.read - record->taps[t].before.read;
		sum.lost += counts.lost - record->taps[t].before.lost;
	}
	pipes->counts = sum;
	pipes->counted_at = mono_ms();
}

void record_pipes_counted(const struct record *record, uint64_t *events, uint64_t *lost)
{
	const struct pipes *pipes = record->pipes;

	*events = pipes->counts.read > pipes->missed ? pipes->counts.read - pipes->missed : 0;
	*lost = pipes->counts.lost + pipes->missed;
}

void record_pipes_miss(struct record *record, uint64_t events)
{
	record->pipes->missed += events;
}

/* One pipe after the other. Of a page that is in the file in part nobody knows how many events are not. */
static void forsake(struct record *record, struct tap *tap, struct lane *lane)
{
	struct stream_page info;
	size_t len;
	int pipe;

	while ((len = hose_take(lane->hose, &pipe))) {
		size_t want = len % tap->page_size ? len % tap->page_size : tap->page_size;
		ssize_t n = read(pipe, lane->page, want);

		if (n != (ssize_t)want || want < tap->page_size)
			record->sums.lost_more = true;
		if (n <= 0)
			return;
		if (n == (ssize_t)tap->page_size) {
			look_into(lane->page, tap->page_size, &info);
			record_pipes_miss(record, info.events);
		}
		hose_give(lane->hose);
	}
}

void record_pipes_forsake(struct record *record)
{
	for (size_t t = 0; t < record->nr_taps; t++)
		for (uint32_t cpu = 0; record->taps[t].kind == &tap_pipes && cpu < record->nr_cpus; cpu++)
			if (record->taps[t].lanes[cpu].hose)
				forsake(record, &record->taps[t], &record->taps[t].lanes[cpu]);
}

/* ---- movers ---- */

/* Where there can be none, files are looked at now and then. */
void record_pipes_begin(struct record *record)
{
	struct pipes *pipes = record->pipes;

	if (pipes && !record->snapshot)
		pipes->movers = movers_begin(pipes->hoses, pipes->nr);
}

void record_pipes_end(struct record *record)
{
	struct pipes *pipes = record->pipes;

	if (pipes && pipes->movers)
		movers_end(pipes->movers);
	if (pipes)
		pipes->movers = NULL;
}

const uint32_t *record_pipes_bell(struct record *record)
{
	return record->pipes->movers ? movers_bell(record->pipes->movers) : NULL;
}

void record_pipes_hush(struct record *record)
{
	if (record->pipes->movers)
		movers_hush(record->pipes->movers);
}

pid_t record_helper(const struct record *record, size_t i)
{
	return record->pipes && record->pipes->movers ? movers_tid(record->pipes->movers, i) : 0;
}

/* ---- beginning and end ---- */

int record_pipes_cpus(struct source *source, struct err *err)
{
	struct buf list = BUF_INIT;
	char *at, *line;
	int n = 0, cpu, r = source_list(source, "per_cpu", &list, err);

	for (at = list.data; !r && (line = strsep(&at, "\n"));)
		if (sscanf(line, "cpu%d/", &cpu) == 1 && cpu >= n && cpu < 1 << 16)
			n = cpu + 1;
	buf_fini(&list);
	return r ? r : n ? n : err_set(err, -ENOENT, "%.300s has no CPUs", source_name(source));
}

/* "field: local_t commit;	offset:8;	size:8;": its size, and where it ends; 0: there is none. */
static uint32_t field_size(const char *text, const char *name, uint32_t *end)
{
	const char *at = text ? strstr(text, name) : NULL, *offset = at ? strstr(at, "offset:") : NULL;
	const char *size = at ? strstr(at, "size:") : NULL;
	uint32_t n = size ? (uint32_t)strtoul(size + 5, NULL, 10) : 0;

	*end = offset ? (uint32_t)strtoul(offset + 7, NULL, 10) + n : 0;
	return n;
}

/* What its pages are: those of the top buffer are told with the formats, another's by its size. */
static int measure(struct tap *tap, struct err *err)
{
	struct buf text = BUF_INIT;
	uint32_t end, own;
	char path[256];
	int r = source_read(tap->source, "events/header_page", &text, err);

	tap->gathers = !r && field_size(text.data, " commit;", &end) == sizeof(uint64_t);
	if (!r)
		field_size(text.data, " data;", &tap->page_size);
	buf_reset(&text);
	if (!r && !source_read(tap->source, path_of(path, tap->instance, "buffer_subbuf_size_kb"), &text, NULL) && text.data) {
		own = (uint32_t)strtoul(text.data, NULL, 10) * 1024;
		tap->page_size = own ? own : tap->page_size;
	}
	if (!r && (tap->page_size < PAGE_SIZE_MIN || tap->page_size > PAGE_SIZE_MAX || tap->page_size & (tap->page_size - 1)))
		r = err_set(err, -EBADMSG, "%.200s: events/header_page does not tell what pages look like",
			    source_name(tap->source));
	buf_fini(&text);
	return r;
}

static struct hose *add_hose(struct pipes *pipes, uint32_t cpu)
{
	struct hose **hoses = realloc(pipes->hoses, (pipes->nr + 1) * sizeof(struct hose *)), *hose = hose_new(cpu);

	pipes->hoses = hoses ? hoses : pipes->hoses;
	if (!hoses || !hose) {
		free(hose);
		return NULL;
	}
	hoses[pipes->nr++] = hose;
	return hose;
}

static const char *raw_name(const struct record *record)
{
	return record->snapshot ? "snapshot_raw" : "trace_pipe_raw";
}

static int open_lane(struct record *record, struct tap *tap, uint32_t cpu, struct err *err)
{
	struct hose *hose;
	char file[64], path[256];

	snprintf(file, sizeof(file), "per_cpu/cpu%u/%s", cpu, raw_name(record));
	if (!source_exists(tap->source, path_of(path, tap->instance, file)))
		return 0;
	hose = add_hose(record->pipes, cpu);
	if (!hose)
		return out_of_memory(err);
	tap->lanes[cpu].hose = hose;
	hose->raw = source_raw(tap->source, path, err);
	if (hose->raw < 0)
		return hose->raw;
	/* Opened once: who opens a file of a kernel waits for others who change its settings. */
	snprintf(file, sizeof(file), "per_cpu/cpu%u/stats", cpu);
	hose->stats = source_raw(tap->source, path_of(path, tap->instance, file), NULL);
	/* Events that were set aside are not in the buffer's counts: they are looked at. */
	if (!record->snapshot)
		hose_lay(hose, record->nr_lanes);
	return 1;
}

/* Each CPU of each buffer takes some. What was started before has its own limit. */
static void allow_files(void)
{
	struct rlimit files;

	if (!getrlimit(RLIMIT_NOFILE, &files)) {
		files.rlim_cur = files.rlim_max;
		setrlimit(RLIMIT_NOFILE, &files);
	}
}

int record_pipes_open(struct record *record, struct tap *tap, struct err *err)
{
	int r, some = 0;

	if (!record->pipes) {
		record->pipes = calloc(1, sizeof(*record->pipes));
		allow_files();
	}
	r = record->pipes ? measure(tap, err) : out_of_memory(err);
	if (!r && record->control && !tap->gathers)
		r = err_set(err, -EINVAL, "pages of %.200s are those of a 32-bit kernel: one file cannot hold them beside "
			    "those of programs", source_name(tap->source));
	for (uint32_t cpu = 0; r >= 0 && cpu < record->nr_cpus; cpu++) {
		r = open_lane(record, tap, cpu, err);
		some += r > 0;
	}
	if (r >= 0 && !some)
		r = err_set(err, -ENOENT, "%.200s: there is no per_cpu/cpuN/%s to record from", source_name(tap->source),
			    raw_name(record));
	if (r >= 0 && !record->snapshot) {
		count_tap(record, tap, &tap->before);
		record->sums.overwritten += tap->before.overwritten;
		record->sums.refused += tap->before.lost - tap->before.overwritten;
	}
	return r < 0 ? r : 0;
}

void record_pipes_close(struct record *record)
{
	struct pipes *pipes = record->pipes;

	if (!pipes)
		return;
	record_pipes_end(record);
	for (size_t i = 0; i < pipes->nr; i++)
		hose_close(pipes->hoses[i]);
	free(pipes->hoses);
	free(pipes->copy);
	free(pipes);
	record->pipes = NULL;
}
