/*
 * record/file: see file.h.
 */
#include "record/file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mono.h"
#include "control/clock.h"
#include "record/dest.h"
#include "record/meta.h"
#include "record/old.h"

/* Names of threads are told again after that long, then after twice as long, and so on. */
#define NAMES_MS 1000
#define NAMES_MS_MAX 32000
/* Whoever is far away is told so often how far it is. */
#define SUMS_MS 1000

struct record_file {
	struct record_how how;
	char *path, *compression;
	struct record_buffer *buffers;
	struct record_clock *clocks;
	struct dat_write_buffer *described;
	size_t first;			/* of those, the one that belongs to buffers[0] */
	uint32_t nr_cpus;
	struct dest *dest;
	struct record_meta *meta;
	int64_t began, names_at, names_wait, sums_at;
	uint64_t bytes_before;		/* in files that are done */
	unsigned int count;
	const struct record *told;	/* whose remotes' clocks are told of in the end */
};

static int sink_section(void *ctx, enum dat_id id, const void *payload, size_t len)
{
	struct dest *dest = ((struct record_file *)ctx)->dest;

	return dest->kind->section(dest, id, payload, len);
}

static int sink_option(void *ctx, enum dat_id id, const void *value, size_t len)
{
	struct dest *dest = ((struct record_file *)ctx)->dest;

	return dest->kind->option(dest, id, value, len);
}

static struct record_sink sink_of(struct record_file *file)
{
	return (struct record_sink){ sink_section, sink_option, file };
}

/* The file's own words for a failure are better than anybody's. */
static int outcome(struct record_file *file, int r, struct err *err)
{
	if (!r)
		return 0;
	file->dest->kind->failed(file->dest, err);
	return err_set(err, r, "cannot write %.300s: %s", file->path, strerror(-r));
}

/* ---- one file ---- */

static int tell(struct record_file *file, struct err *err)
{
	struct record_sink sink = sink_of(file);
	struct err ours = ERR_INIT;
	int r = record_meta_put(file->meta, &sink, &ours);

	if (r && !file->dest->kind->failed(file->dest, err))
		return err_set(err, r, "%s", ours.text);
	return r ? outcome(file, r, err) : outcome(file, file->dest->kind->publish(file->dest), err);
}

static int tell_names(struct record_file *file, struct err *err)
{
	struct record_sink sink = sink_of(file);
	int r = record_meta_put_names(file->meta, &sink, err);

	return r ? outcome(file, r, err) : outcome(file, file->dest->kind->publish(file->dest), err);
}

/* Of all sources; of files, what is on in these buffers. */
static int open_meta(struct record_file *file, struct err *err)
{
	const struct record_meta_how how = { .all_formats = file->how.all_formats };
	struct source *first = file->buffers[0].source, *other = NULL;
	int r = record_meta_open(&file->meta, first, &how, err);

	for (size_t i = 1; !r && i < file->how.nr_buffers; i++) {
		struct source *source = file->buffers[i].source;

		if (file->buffers[i].remote) {
			r = record_meta_add_remote(file->meta, file->buffers, i, err);
			continue;
		}
		if (source == first || source == other)
			continue;
		other = source;
		r = record_meta_add(file->meta, source, err);
	}
	for (size_t i = 0; !r && i < file->how.nr_buffers; i++)
		if (!file->buffers[i].remote)
			r = record_meta_limit(file->meta, file->buffers[i].source, file->buffers[i].instance, err);
	return r;
}

static int begin(struct record_file *file, struct err *err)
{
	struct dat_live_how how = {
		.page_size = file->described[0].page_size,
		.nr_cpus = file->nr_cpus,
		.compression = file->compression,
		.buffers = file->described,
		.nr_buffers = file->first + file->how.nr_buffers,
		.keep = file->how.keep,
	};
	struct record_sink sink = sink_of(file);
	int r = open_meta(file, err);

	if (!r && file->how.spool)
		r = dest_far_open(&file->dest, file->how.spool, &how, file->how.stops, file->how.stops_ctx, err);
	else if (!r)
		r = dest_file_open(&file->dest, file->path, &how, err);
	if (r)
		return r;
	r = record_clock_put(&file->clocks[0], file->how.date, file->how.ts_offset, &sink, err);
	if (!r)
		r = record_meta_put_machine(file->meta, file->how.traceid, &sink, err);
	file->began = mono_ms();
	file->names_wait = NAMES_MS;
	file->names_at = file->began + NAMES_MS;
	return r ? outcome(file, r, err) : tell(file, err);
}

static int put_rest(struct record_file *file, struct err *err)
{
	struct record_sink sink = sink_of(file);
	struct buf text = BUF_INIT;
	int r = record_meta_put(file->meta, &sink, err);

	if (!r)
		r = record_meta_put_symbols(file->meta, &sink, err);
	for (size_t i = 0; !r && i < file->how.nr_buffers; i++)
		if (!file->buffers[i].remote)
			r = record_meta_put_stats(file->buffers[i].source, file->buffers[i].instance, file->buffers[i].name, &sink,
						  err);
	for (size_t i = 0; !r && file->told && record_remote_clock(file->told, i, &text, NULL); i++, buf_reset(&text))
		r = buf_failed(&text) ? -ENOMEM : sink.option(sink.ctx, DAT_CPUSTAT, text.data, text.len + 1);
	buf_fini(&text);
	return r;
}

static struct dest_sums sums_of(const struct record_file *file)
{
	struct record_sums sums = { 0 };

	if (file->told)
		record_sums_so_far(file->told, &sums);
	return (struct dest_sums){ sums.events, sums.lost, sums.lost_more };
}

/* Closes what is open; with `last` also what an earlier failure has left. */
static int end(struct record_file *file, struct err *err)
{
	struct err ours = ERR_INIT;
	struct dest *dest = file->dest;
	int r, rest = dest->kind->failed(dest, NULL) ? 0 : put_rest(file, &ours);
	struct dest_sums sums = sums_of(file);

	r = dest->kind->finish(dest, &sums, err);
	if (!r && rest)
		r = err_set(err, rest, "%s", ours.text);
	file->bytes_before += dest->kind->bytes(dest);
	dest->kind->close(dest);
	record_meta_close(file->meta);
	file->dest = NULL;
	file->meta = NULL;
	if (!r && file->how.version == 6)
		r = record_old_make(file->path, err);
	return r;
}

/* ---- all of them ---- */

static const char *called(const struct record_buffer *buffer)
{
	return *buffer->name ? buffer->name : "the top buffer";
}

/* What the buffer itself calls it. */
static const char *clock_of(const struct record_clock *clock)
{
	const char *name = control_clock_name(clock->id);

	return name ? name : record_clock_name(clock);
}

/* A file has one place for how its times become nanoseconds. */
static int check_clocks(const struct record_how *how, const struct record_clock *clocks, struct err *err)
{
	for (size_t i = 1; i < how->nr_buffers; i++) {
		bool apart = how->buffers[i].source != how->buffers[0].source;

		/* Times of a remote are told by the first one's clock. */
		if (how->buffers[i].remote)
			continue;
		if (clocks[i].by_tsc != clocks[0].by_tsc ||
		    (apart && strcmp(record_clock_name(&clocks[i]), record_clock_name(&clocks[0]))))
			return err_set(err, -EINVAL, "times of %.60s are %s and those of %.60s are %s: "
				       "one file cannot hold both", called(&how->buffers[0]),
				       clock_of(&clocks[0]), called(&how->buffers[i]), clock_of(&clocks[i]));
		if (apart && !record_clock_is_shared(&clocks[i]))
			return err_set(err, -EINVAL, "'%s' is not the same time for %.60s and %.60s: -C mono is",
				       clock_of(&clocks[i]), called(&how->buffers[0]), called(&how->buffers[i]));
	}
	return 0;
}

static int copy_how(struct record_file *file, const struct record_how *how, const uint32_t *page_sizes,
		    const struct record_clock *clocks)
{
	size_t n = how->nr_buffers;

	file->how = *how;
	/* A file has a top buffer, with or without anything in it. */
	file->first = *how->buffers[0].name ? 1 : 0;
	file->path = strdup(how->path ? how->path : "the far end");
	file->compression = how->compression ? strdup(how->compression) : NULL;
	file->buffers = calloc(n, sizeof(*file->buffers));
	file->clocks = calloc(n, sizeof(*file->clocks));
	file->described = calloc(file->first + n, sizeof(*file->described));
	if (!file->path || (how->compression && !file->compression) || !file->buffers || !file->clocks ||
	    !file->described)
		return -ENOMEM;
	memcpy(file->clocks, clocks, n * sizeof(*clocks));
	for (size_t i = 0; i < n; i++) {
		file->buffers[i].source = how->buffers[i].source;
		file->buffers[i].remote = how->buffers[i].remote;
		file->buffers[i].instance = strdup(how->buffers[i].instance);
		file->buffers[i].name = strdup(how->buffers[i].name);
		if (!file->buffers[i].instance || !file->buffers[i].name)
			return -ENOMEM;
		file->described[file->first + i] = (struct dat_write_buffer){
			.name = file->buffers[i].name, .clock = record_clock_name(&file->clocks[i]),
			.page_size = page_sizes[i],
		};
	}
	if (file->first) {
		file->described[0] = file->described[1];
		file->described[0].name = "";
	}
	return 0;
}

int record_file_open(struct record_file **out, const struct record_how *how, const uint32_t *page_sizes,
		     uint32_t nr_cpus, const struct record_clock *clocks, const struct record *told, struct err *err)
{
	struct record_file *file = calloc(1, sizeof(*file));
	int r;

	*out = NULL;
	if (!file)
		return err_set(err, -ENOMEM, "out of memory");
	file->nr_cpus = nr_cpus;
	file->told = told;
	r = copy_how(file, how, page_sizes, clocks);
	if (r)
		err_set(err, r, "out of memory");
	if (!r)
		r = check_clocks(how, clocks, err);
	if (!r)
		r = begin(file, err);
	if (r) {
		record_file_close(file);
		return r;
	}
	*out = file;
	return 0;
}

void record_file_close(struct record_file *file)
{
	if (!file)
		return;
	if (file->dest)
		file->dest->kind->close(file->dest);
	record_meta_close(file->meta);
	for (size_t i = 0; file->buffers && i < file->how.nr_buffers; i++) {
		free((char *)(uintptr_t)file->buffers[i].instance);
		free((char *)(uintptr_t)file->buffers[i].name);
	}
	free(file->buffers);
	free(file->clocks);
	free(file->described);
	free(file->compression);
	free(file->path);
	free(file);
}

int record_file_write(struct record_file *file, size_t buffer, uint32_t cpu, const struct iovec *pages, int n)
{
	return file->dest->kind->write(file->dest, file->first + buffer, cpu, pages, n);
}

int record_file_splice(struct record_file *file, size_t buffer, uint32_t cpu, int pipe, size_t len)
{
	return file->dest->kind->splice(file->dest, file->first + buffer, cpu, pipe, len);
}

const uint16_t *record_file_ids(const struct record_file *file)
{
	return record_meta_ids(file->meta);
}

int record_file_accept(struct record_file *file, size_t buffer, uint32_t cpu, bool open, struct err *err)
{
	int r = file->dest->kind->failed(file->dest, NULL);

	/* Asked behind the copy: all that the pages refer to was brought before them. */
	if (!r && record_meta_is_stale(file->meta))
		r = tell(file, err);
	if (!r)
		r = file->dest->kind->accept(file->dest, file->first + buffer, cpu, open);
	return outcome(file, r, err);
}

uint64_t record_file_room(const struct record_file *file)
{
	uint64_t bytes = file->dest->kind->bytes(file->dest), room = file->dest->kind->room(file->dest);
	uint64_t most = file->how.rotate_bytes ? file->how.rotate_bytes : UINT64_MAX;

	most = bytes < most ? most - bytes : 0;
	return most < room ? most : room;
}

bool record_file_is_behind(struct record_file *file, int ms)
{
	if (file->dest->kind->room(file->dest))
		return false;
	file->dest->kind->wait(file->dest, ms);
	return true;
}

int record_file_failed(const struct record_file *file, struct err *err)
{
	return file->dest->kind->failed(file->dest, err);
}

int record_file_tend(struct record_file *file, bool *is_full, struct err *err)
{
	int64_t now = mono_ms();
	uint64_t bytes = file->dest->kind->bytes(file->dest);
	struct dest_sums sums;
	int r = 0;

	if (now >= file->sums_at) {
		sums = sums_of(file);
		file->dest->kind->tell(file->dest, &sums);
		file->sums_at = now + SUMS_MS;
	}

	if (now >= file->names_at) {
		if (record_meta_has_names(file->meta))
			r = tell_names(file, err);
		file->names_wait = file->names_wait < NAMES_MS_MAX ? file->names_wait * 2 : NAMES_MS_MAX;
		file->names_at = now + file->names_wait;
	}
	*is_full = (file->how.rotate_bytes && bytes >= file->how.rotate_bytes) ||
		   (bytes && file->how.rotate_ms && now - file->began >= (int64_t)file->how.rotate_ms);
	return r;
}

/* The name of the n-th that is done. */
static char *old_name(const struct record_file *file, unsigned int n)
{
	char *name;

	return asprintf(&name, "%s.%u", file->path, n) < 0 ? NULL : name;
}

static int put_aside(struct record_file *file, struct err *err)
{
	unsigned int keep = file->how.rotate_keep;
	char *name = old_name(file, ++file->count), *oldest = NULL;
	int r = 0;

	if (!name)
		return err_set(err, -ENOMEM, "out of memory");
	if (rename(file->path, name))
		r = err_set(err, -errno, "cannot rename %.200s to %.200s: %s", file->path, name, strerror(errno));
	if (!r && keep && file->count > keep && (oldest = old_name(file, file->count - keep)))
		unlink(oldest);
	free(oldest);
	free(name);
	return r;
}

/* The next one could not begin. Where nothing of it is there, the last one that is done has its name again: that is where a
 * recording ends. */
static void take_back(struct record_file *file)
{
	struct err ours = ERR_INIT;
	char *name = old_name(file, file->count);

	if (file->dest)
		end(file, &ours);
	if (name && access(file->path, F_OK) && !rename(name, file->path))
		file->count--;
	free(name);
}

int record_file_rotate(struct record_file *file, struct err *err)
{
	int r = end(file, err);

	if (!r)
		r = put_aside(file, err);
	if (r)
		return r;
	r = begin(file, err);
	if (r)
		take_back(file);
	return r;
}

int record_file_maps(struct record_file *file, int pid, struct err *err)
{
	struct record_sink sink = sink_of(file);

	if (!file->dest)
		return err_set(err, -EBADF, "%.300s is closed already", file->path);
	return outcome(file, record_meta_put_maps(file->meta, pid, &sink, err), err);
}

uint64_t record_file_bytes(const struct record_file *file)
{
	return file->bytes_before + (file->dest ? file->dest->kind->bytes(file->dest) : 0);
}

unsigned int record_file_count(const struct record_file *file)
{
	return file->count;
}

int record_file_finish(struct record_file *file, struct err *err)
{
	return file->dest ? end(file, err) : 0;
}
