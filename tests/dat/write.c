/*
 * What the writer of trace files puts in, a reader finds: for both versions, each compression, both
 * byte orders and word sizes, with several buffers; and nothing is left where it was not finished.
 */
#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "dat/block.h"
#include "dat/pack.h"
#include "dat/write.h"
#include "made.h"

#define PAGE 4096u
#define BIG_PAGE 8192u
#define PAGES 23	/* more than two of the pieces that are packed */
#define CPUS 3

static char scratch[512];

static const char *path_of(const char *name)
{
	static char path[1024];

	snprintf(path, sizeof(path), "%s/%s", scratch, name);
	return path;
}

/* CPU 1 of the top buffer has nothing; of the instance only CPU 2 has something. */
static int pages_of(size_t buffer, uint32_t cpu)
{
	if (buffer)
		return cpu == 2 ? 1 : 0;
	return cpu == 1 ? 0 : PAGES + (int)cpu;
}

static void make_page(uint8_t *page, uint32_t size, const struct decode_abi *abi, size_t buffer,
		      uint32_t cpu, int i)
{
	made_page(page, size, abi, 1000000000ull + (uint64_t)i * 100000 + cpu,
		  (int)buffer * 100000 + (int)cpu * 10000 + i * 100, 100);
}

static void put_section(struct dat_write *w, enum dat_id id, struct buf *payload)
{
	CHECK(!dat_write_section(w, id, payload->data, payload->len), "section %d", id);
	buf_reset(payload);
}

static void put_meta(struct dat_write *w, const struct decode_abi *abi)
{
	struct buf buf = BUF_INIT;
	uint8_t traceid[8];

	made_headers(&buf, abi, PAGE);
	put_section(w, DAT_HEADER_INFO, &buf);
	made_events(&buf, abi);
	put_section(w, DAT_EVENT_FORMATS, &buf);
	buf_puts(&buf, "ffff0000 T first\nffff1000 t second\n");
	put_section(w, DAT_KALLSYMS, &buf);
	buf_puts(&buf, "1 init\n2 two\n");
	put_section(w, DAT_CMDLINES, &buf);
	if (dat_write_holds(w, DAT_MODULES)) {
		buf_puts(&buf, "a module");
		put_section(w, DAT_MODULES, &buf);
	}
	dat_store(traceid, 8, 0x1122334455667788, abi->big_endian);
	CHECK(!dat_write_option(w, DAT_TRACEID, traceid, 8), "TRACEID");
	CHECK(!dat_write_option(w, DAT_CLOCK, "local [mono]", 13), "CLOCK");
	buf_fini(&buf);
}

static void put_buffer(struct dat_write *w, const struct decode_abi *abi, size_t index,
		       uint32_t size)
{
	static uint8_t page[BIG_PAGE];

	CHECK(!dat_write_begin(w, index), "buffer %zu", index);
	for (uint32_t cpu = 0; cpu < CPUS; cpu++) {
		CHECK(!dat_write_cpu(w, cpu), "CPU %u", cpu);
		for (int i = 0; i < pages_of(index, cpu); i++) {
			make_page(page, size, abi, index, cpu, i);
			CHECK(!dat_write_pages(w, page, size), "page %d", i);
		}
	}
	CHECK(!dat_write_end(w), "end of buffer %zu", index);
}

static uint32_t size_of(const struct dat_write_how *how, size_t index)
{
	return how->buffers[index].page_size ? how->buffers[index].page_size : how->page_size;
}

static void write_file(const char *path, const struct dat_write_how *how,
		       const struct decode_abi *abi)
{
	struct err err = ERR_INIT;
	struct dat_write *w;

	CHECK(!dat_write_open(&w, path, how, &err), "%s", err.text);
	put_meta(w, abi);
	put_buffer(w, abi, 0, size_of(how, 0));
	/* The one in the middle is passed over and empty. */
	put_buffer(w, abi, 2, size_of(how, 2));
	if (how->version == 7)
		CHECK(!dat_write_option(w, DAT_UNAME, "late", 5), "a late option");
	CHECK(access(path, F_OK), "the name is there before the file is whole");
	CHECK(!dat_write_finish(w, &err), "%s", err.text);
	dat_write_close(w);
	CHECK(!access(path, F_OK), "no file");
}

static void same_pages(const struct dat *dat, size_t index, uint32_t i,
		       const struct decode_abi *abi)
{
	const struct dat_buffer *buffer = dat_buffer(dat, index);
	uint32_t cpu = (uint32_t)buffer->cpus[i].cpu, size = buffer->page_size;
	static uint8_t page[BIG_PAGE];
	struct err err = ERR_INIT;
	struct dat_block *block;
	struct dat_lane *lane;
	int r, n = 0;

	CHECK(buffer->cpus[i].offset % size == 0, "data at %" PRIu64, buffer->cpus[i].offset);
	CHECK(!dat_lane_open(&lane, dat, buffer, i, 65536, &err), "%s", err.text);
	for (uint64_t b = 0; (r = dat_lane_fetch(lane, b, &block, &err)) == 1; b++) {
		for (uint32_t at = 0; at < block->len; at += size, n++) {
			make_page(page, size, abi, index, cpu, n);
			CHECK(!memcmp(block->data + at, page, size), "CPU %u, page %d", cpu, n);
		}
		dat_block_drop(block);
	}
	CHECK(!r, "%s", err.text);
	CHECK(n == pages_of(index, cpu), "CPU %u has %d pages", cpu, n);
	dat_lane_close(lane);
}

static void same_buffer(const struct dat *dat, const struct dat_write_how *how, size_t index,
			const struct decode_abi *abi)
{
	const struct dat_buffer *buffer = dat_buffer(dat, index);
	uint32_t with_data = 0, want = 0;

	CHECK(buffer, "no buffer %zu", index);
	CHECK(!strcmp(buffer->name, how->buffers[index].name), "%s", buffer->name);
	CHECK(!strcmp(buffer->clock, how->buffers[index].clock), "%s", buffer->clock);
	CHECK(buffer->page_size == size_of(how, index), "%u", buffer->page_size);
	for (uint32_t i = 0; i < buffer->nr_cpus; i++)
		if (buffer->cpus[i].size) {
			same_pages(dat, index, i, abi);
			with_data++;
		}
	for (uint32_t cpu = 0; index != 1 && cpu < CPUS; cpu++)
		want += pages_of(index, cpu) > 0;
	CHECK(with_data == want, "buffer %zu: %u CPUs with data", index, with_data);
}

static void same_part(const struct dat *dat, enum dat_id id, const char *text)
{
	struct err err = ERR_INIT;
	struct dat_part part;

	CHECK(!dat_part_open(dat, id, &part, &err), "part %d: %s", id, err.text);
	CHECK(part.len == strlen(text) && !memcmp(part.data, text, part.len), "part %d", id);
	dat_part_close(&part);
}

static void read_file(const char *path, const struct dat_write_how *how,
		      const struct decode_abi *abi)
{
	const struct dat_info *info;
	struct err err = ERR_INIT;
	struct dat *dat;

	CHECK(!dat_open(&dat, path, &err), "%s", err.text);
	info = dat_info(dat);
	CHECK(!dat_warning(dat, 0), "%s", dat_warning(dat, 0));
	CHECK(info->version == how->version && info->abi.big_endian == abi->big_endian &&
	      info->abi.long_size == abi->long_size && info->user_long == how->long_size &&
	      info->page_size == PAGE && info->nr_cpus == CPUS, "not the same machine");
	CHECK(!strcmp(info->compressor, how->compression), "%s", info->compressor);
	CHECK(info->traceid == 0x1122334455667788, "%" PRIx64, info->traceid);
	CHECK(!strcmp(info->clock, "mono"), "%s", info->clock);
	CHECK(how->version == 6 || !strcmp(info->uname, "late"), "the late option");
	same_part(dat, DAT_KALLSYMS, "ffff0000 T first\nffff1000 t second\n");
	same_part(dat, DAT_CMDLINES, "1 init\n2 two\n");
	if (how->version == 7 && strcmp(how->compression, "none"))
		same_part(dat, DAT_MODULES, "a module");
	CHECK(dat_format(dat, MADE_ID), "the event is not known");
	for (size_t i = 0; i < how->nr_buffers; i++)
		same_buffer(dat, how, i, abi);
	CHECK(!dat_buffer(dat, how->nr_buffers), "one buffer too many");
	dat_close(dat);
}

static void round_trip(int version, const char *compression, bool big_endian, uint8_t long_size)
{
	const struct dat_write_buffer buffers[] = {
		{ .name = "", .clock = "mono" },
		{ .name = "idle", .clock = "mono" },
		{ .name = "other", .clock = "mono", .page_size = version == 7 ? BIG_PAGE : 0 },
	};
	struct dat_write_how how = {
		.version = version, .big_endian = big_endian, .long_size = long_size,
		.page_size = PAGE, .nr_cpus = CPUS, .compression = compression,
		.buffers = buffers, .nr_buffers = 3,
	};
	struct decode_abi abi = { .big_endian = big_endian, .long_size = long_size };
	char name[64];

	snprintf(name, sizeof(name), "%d-%s-%s-%u.dat", version, compression,
		 big_endian ? "big" : "little", long_size);
	write_file(path_of(name), &how, &abi);
	read_file(path_of(name), &how, &abi);
}

static int files_in_scratch(void)
{
	DIR *dir = opendir(scratch);
	int n = 0;

	CHECK(dir, "%s", scratch);
	for (struct dirent *entry; (entry = readdir(dir));)
		n += entry->d_name[0] != '.';
	closedir(dir);
	return n;
}

/* A file that was given up leaves nothing, and what was there before stays. */
static void given_up(void)
{
	struct dat_write_how how = { .version = 7, .long_size = 8, .page_size = PAGE };
	struct err err = ERR_INIT;
	struct dat_write *w;
	struct stat before, after;
	int n = files_in_scratch();

	CHECK(!dat_write_open(&w, path_of("never.dat"), &how, &err), "%s", err.text);
	dat_write_close(w);
	CHECK(files_in_scratch() == n, "something was left");

	CHECK(!stat(path_of("7-none-little-8.dat"), &before), "no file");
	CHECK(!dat_write_open(&w, path_of("7-none-little-8.dat"), &how, &err), "%s", err.text);
	dat_write_close(w);
	CHECK(!stat(path_of("7-none-little-8.dat"), &after) && after.st_ino == before.st_ino &&
	      after.st_size == before.st_size, "the file from before is another one");
}

/* The first failure is the one told, and nothing is left. */
static void no_room(const char *compression)
{
	struct dat_write_how how = { .version = 7, .long_size = 8, .page_size = PAGE, .nr_cpus = 1,
				     .compression = compression };
	struct rlimit old, small;
	struct err err = ERR_INIT;
	uint8_t noise[PAGE];
	struct dat_write *w;
	int n = files_in_scratch(), r = 0;
	uint32_t seed = 1;

	CHECK(!getrlimit(RLIMIT_FSIZE, &old), "%s", strerror(errno));
	small = (struct rlimit){ 1 << 20, old.rlim_max };
	CHECK(!dat_write_open(&w, path_of("small.dat"), &how, &err), "%s", err.text);
	CHECK(!setrlimit(RLIMIT_FSIZE, &small), "%s", strerror(errno));
	dat_write_begin(w, 0);
	dat_write_cpu(w, 0);
	for (int i = 0; i < 1000; i++) {
		for (size_t j = 0; j < sizeof(noise); j++)
			noise[j] = (uint8_t)((seed = seed * 1664525 + 1013904223) >> 24);
		r = dat_write_pages(w, noise, PAGE);
	}
	CHECK(r == -EFBIG, "%d", r);
	CHECK(dat_write_end(w) == -EFBIG, "it is forgotten");
	CHECK(dat_write_finish(w, &err) == -EFBIG, "%d", err.code);
	CHECK(strstr(err.text, "small.dat") && strstr(err.text, "too large"), "%s", err.text);
	dat_write_close(w);
	CHECK(!setrlimit(RLIMIT_FSIZE, &old), "%s", strerror(errno));
	CHECK(files_in_scratch() == n, "something was left");
}

static void refused(const struct dat_write_how *how, const char *path, const char *words)
{
	struct err err = ERR_INIT;
	struct dat_write *w;

	CHECK(dat_write_open(&w, path, how, &err) < 0 && !w, "it was taken: %s", words);
	CHECK(strstr(err.text, words), "%s", err.text);
}

static void refusals(void)
{
	struct dat_write_buffer buffers[] = { { .name = "" }, { .name = "b", .page_size = 8192 } };
	struct dat_write_how good = { .version = 6, .long_size = 8, .page_size = PAGE };
	struct dat_write_how how = good;
	int n = files_in_scratch();

	how.version = 5;
	refused(&how, path_of("x"), "no version 5");
	how = good, how.page_size = 5000;
	refused(&how, path_of("x"), "5000");
	how = good, how.compression = "zlib";
	refused(&how, path_of("x"), "version 6 knows no compression");
	how.version = 7, how.compression = "lzma";
	refused(&how, path_of("x"), "lzma");
	how = good, how.buffers = buffers, how.nr_buffers = 2;
	refused(&how, path_of("x"), "one size of pages");
	refused(&good, "/dev/null", "no regular file");
	refused(&good, path_of("none/x"), "No such file");
	CHECK(files_in_scratch() == n, "something was left");
}

static struct dat_write *begun(int version)
{
	struct dat_write_how how = { .version = version, .long_size = 8, .page_size = PAGE,
				     .nr_cpus = 2 };
	struct err err = ERR_INIT;
	struct dat_write *w;

	CHECK(!dat_write_open(&w, path_of("order"), &how, &err), "%s", err.text);
	return w;
}

/* Calls at the wrong place are refused, not written. */
static void order(void)
{
	struct dat_write *w = begun(7);

	CHECK(dat_write_pages(w, scratch, 0) == -EINVAL, "a page without a CPU");
	CHECK(dat_write_finish(w, NULL) == -EINVAL, "a wrong call was forgotten");
	dat_write_close(w);

	w = begun(6);
	CHECK(!dat_write_section(w, DAT_PRINTK, "", 0), "printk");
	CHECK(dat_write_section(w, DAT_KALLSYMS, "", 0) == -EINVAL, "sections out of order");
	dat_write_close(w);

	w = begun(6);
	CHECK(!dat_write_begin(w, 0) && !dat_write_cpu(w, 1), "begin");
	CHECK(dat_write_cpu(w, 2) == -EINVAL, "a CPU that there is not");
	dat_write_close(w);

	w = begun(6);
	CHECK(!dat_write_begin(w, 0), "begin");
	CHECK(dat_write_option(w, DAT_UNAME, "x", 2) == -EINVAL, "version 6 took a late option");
	dat_write_close(w);

	w = begun(7);
	CHECK(dat_write_option(w, DAT_BUFFER, "x", 2) == -EINVAL, "an option of the writer's own");
	dat_write_close(w);
}

int main(void)
{
	const char *name = "none", *base = getenv("RINGSIDE_SCRATCH");

	CHECK(base, "RINGSIDE_SCRATCH is not set");
	snprintf(scratch, sizeof(scratch), "%s", base);
	signal(SIGXFSZ, SIG_IGN);
	for (int abi = 0; abi < 4; abi++)
		round_trip(6, "none", abi & 1, abi & 2 ? 4 : 8);
	for (size_t i = 0; name; name = pack_name(i++)) {
		for (int abi = 0; abi < 4; abi++)
			round_trip(7, name, abi & 1, abi & 2 ? 4 : 8);
		no_room(name);
	}
	given_up();
	refusals();
	order();
	return 0;
}
