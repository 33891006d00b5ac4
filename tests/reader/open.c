/*
 * What cannot be opened is refused, with words that name the file; what can be tells what it is. A
 * file that was cut off anywhere does one or the other.
 */
#include <errno.h>
#include <unistd.h>

#include "reader/lab.h"
#include "reader/made.h"

static void refuse(const char *path, int error, const char *words)
{
	struct ringside_dat *file;
	int r = ringside_dat_open(&file, path);

	CHECK(r == -error, "%s: %d: %s", path, r, ringside_dat_error(file));
	CHECK(strstr(ringside_dat_error(file), words), "'%s' is not in '%s'", words,
	      ringside_dat_error(file));
	CHECK(!path || strstr(ringside_dat_error(file), path), "which file? '%s'",
	      ringside_dat_error(file));
	/* A handle that only tells why is harmless. */
	CHECK(!ringside_dat_warning(file, 0) && !ringside_dat_buffer_at(file, 0) &&
	      !ringside_dat_event_at(file, 0) && !ringside_dat_symbol(file, 1, NULL, NULL) &&
	      !ringside_dat_comm(file, 1) && !ringside_dat_option_at(file, 0, NULL, NULL) &&
	      !ringside_dat_event_find_id(file, 1), "there is something in it");
	ringside_dat_close(file);
}

static const char *put(const char *name, const void *bytes, size_t len)
{
	const char *path = lab_scratch(name);
	FILE *f = fopen(path, "w");

	CHECK(f && fwrite(bytes, 1, len, f) == len && !fclose(f), "%s", path);
	return path;
}

static void refusals(void)
{
	struct ringside_dat_records *records;
	struct ringside_dat *file;

	refuse(lab_scratch("none"), ENOENT, "No such file");
	refuse(getenv("RINGSIDE_SCRATCH"), EISDIR, "is a directory");
	refuse("/dev/null", EINVAL, "not a regular file");
	refuse(NULL, EINVAL, "names no file");
	refuse(put("empty", "", 0), EBADMSG, "not a trace file");
	refuse(put("garbage", "some garbage of no kind", 23), EBADMSG, "not a trace file");
	refuse(put("old", "\x17\x08\x44tracing5\0\0\x8\0\x10\0", 18), ENOTSUP, "version 5");
	/* Nor does anybody read from it. */
	CHECK(ringside_dat_open(&file, lab_scratch("none")) == -ENOENT, "none");
	CHECK(ringside_dat_records_open(&records, file) == -EBADF, "read from nothing");
	CHECK(*ringside_dat_records_error(records), "no words");
	ringside_dat_records_close(records);
	ringside_dat_close(file);
	ringside_dat_records_close(NULL);
	ringside_dat_close(NULL);
}

static void made_file(const char *path)
{
	static struct made made;

	made.trace_id = MADE_TRACE_ID;
	for (int i = 0; i < 60; i++)
		made_record(&made, i % 2, 1000 + (uint64_t)i, i, 42, 0);
	made_write(&made, path);
}

static void tells(void)
{
	struct ringside_dat *file = lab_open(lab_scratch("made.dat"));
	const struct ringside_dat_info *info = ringside_dat_about(file);
	const struct ringside_dat_buffer *buffer = ringside_dat_buffer_at(file, 0);
	const struct ringside_dat_guest *guest = ringside_dat_guest_at(file, 0);
	unsigned int id;
	size_t len;

	CHECK(info->size == sizeof(*info) && info->version == 6 && !info->big_endian &&
	      info->long_size == 8 && info->page_size == 4096 && info->nr_cpus == 2, "numbers");
	CHECK(!strcmp(info->compression, "none") && !strcmp(info->clock, "local") &&
	      !strcmp(info->uname, "Lab 1.0") && !strcmp(info->writer, "made by hand"), "words");
	CHECK(info->has_trace_id && info->trace_id == MADE_TRACE_ID, "id");
	CHECK(!strcmp(info->path, lab_scratch("made.dat")) && info->bytes > 8192, "file");
	CHECK(buffer && !*buffer->name && !strcmp(buffer->clock, "local") && buffer->nr_cpus == 2 &&
	      buffer->cpus[0] == 0 && buffer->cpus[1] == 1 && !buffer->is_text, "buffer");
	CHECK(!ringside_dat_buffer_at(file, 1), "one buffer");
	CHECK(guest && !strcmp(guest->name, "guest") && guest->trace_id == 77 && guest->nr_cpus == 1 &&
	      guest->pids[0] == 4321 && !ringside_dat_guest_at(file, 1), "guest");
	CHECK(ringside_dat_option_at(file, 1, &id, &len) && id == 5 && len == 8, "option");
	CHECK(ringside_dat_option_at(file, 5, NULL, NULL) && !ringside_dat_option_at(file, 6, &id, &len),
	      "options");
	CHECK(!ringside_dat_warning(file, 0), "%s", ringside_dat_warning(file, 0));
	ringside_dat_close(file);
}

/* All that is left of it is read, or words tell why not. */
static void cut_at(const char *path, long len)
{
	struct ringside_dat_records *records;
	const struct ringside_dat_record *record;
	struct ringside_dat *file;
	int n = 0;

	CHECK(!truncate(path, len), "truncate");
	if (ringside_dat_open(&file, path)) {
		CHECK(strlen(ringside_dat_error(file)) > 10, "%ld bytes: no words", len);
	} else {
		records = lab_read(file);
		while (ringside_dat_records_next(records, &record) == 1)
			n++;
		CHECK(n == 60 || ringside_dat_warning(file, 0) ||
		      ringside_dat_records_warning(records, 0), "%ld bytes: %d records", len, n);
		ringside_dat_records_close(records);
	}
	ringside_dat_close(file);
}

static void cuts(const char *path)
{
	struct ringside_dat *file = lab_open(path);
	long size = (long)ringside_dat_about(file)->bytes;

	ringside_dat_close(file);
	for (long len = size; len > 0; len -= 61)
		cut_at(path, len);
}

static void packed(void)
{
	const struct ringside_dat_info *info;
	struct ringside_dat *file;

	if (!lab_unpacks()) {
		refuse(lab_data("mixed.v7.dat"), ENOTSUP, "zstd");
		return;
	}
	file = lab_open(lab_data("mixed.v7.dat"));
	info = ringside_dat_about(file);
	CHECK(info->version == 7 && !strcmp(info->compression, "zstd") && info->nr_cpus == 2 &&
	      info->trace_id == 0xffa30186b65d103d && !strcmp(info->clock, "local"), "mixed");
	CHECK(!strcmp(info->uname, "Linux (none) 6.12.115+deb12-amd64 x86_64") &&
	      !strncmp(info->writer, "3.1.6", 5), "mixed");
	ringside_dat_close(file);
	file = lab_open(lab_data("instances.v7.dat"));
	CHECK(!strcmp(ringside_dat_buffer_at(file, 0)->name, "") &&
	      !strcmp(ringside_dat_buffer_at(file, 1)->name, "rare") &&
	      !strcmp(ringside_dat_buffer_at(file, 2)->name, "hog") &&
	      !ringside_dat_buffer_at(file, 3), "instances");
	CHECK(ringside_dat_buffer_at(file, 2)->nr_cpus == 2, "CPUs of an instance");
	ringside_dat_close(file);
}

int main(void)
{
	refusals();
	made_file(lab_scratch("made.dat"));
	tells();
	cuts(lab_scratch("made.dat"));
	packed();
	return 0;
}
