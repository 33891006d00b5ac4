/*
 * trace-cmd prints the same lines of a growing trace file as of one that was written in one go: when it is closed up, when
 * it was left behind, and whenever the writer was killed.
 */
#include <sys/mman.h>

#include "dat/pack.h"
#include "lived_kill.h"

static int *accepted;

/* What a command prints, all of it. */
static void output(struct buf *out, const char *fmt, const char *path)
{
	char command[1000];
	FILE *pipe;
	size_t n;

	snprintf(command, sizeof(command), fmt, path);
	pipe = popen(command, "r");
	CHECK(pipe, "%s", strerror(errno));
	buf_reset(out);
	do {
		char *to = buf_room(out, 65536);

		CHECK(to, "out of memory");
		n = fread(to, 1, 65536, pipe);
		out->len += n;
	} while (n);
	pclose(pipe);
	buf_add(out, "", 1);
}

static int count(const char *text, const char *word)
{
	int n = 0;

	while ((text = strstr(text, word))) {
		text += strlen(word);
		n++;
	}
	return n;
}

static void put(struct dat_write *w, enum dat_id id, struct buf *payload)
{
	CHECK(!dat_write_section(w, id, payload->data, payload->len), "section %d", id);
	buf_reset(payload);
}

static void write_meta(struct dat_write *w, const struct lived *l)
{
	int last = (l->rounds - 1) / 2 * 2;
	struct buf buf = BUF_INIT;

	made_headers(&buf, &lived_abi, l->page_size);
	put(w, DAT_HEADER_INFO, &buf);
	made_word(&buf, &lived_abi, 4, 0);
	put(w, DAT_FTRACE_EVENTS, &buf);
	made_events(&buf, &lived_abi);
	put(w, DAT_EVENT_FORMATS, &buf);
	buf_printf(&buf, "ffff0000 T first\nffff1000 t round%d\n", last);
	put(w, DAT_KALLSYMS, &buf);
	buf_printf(&buf, "1 init\n2 round%d\n", last);
	put(w, DAT_CMDLINES, &buf);
	CHECK(!dat_write_option(w, DAT_CLOCK, "local [mono]", 13), "CLOCK");
	buf_fini(&buf);
}

/* The same recording, in one go. */
static void write_whole(const struct lived *l, const char *path)
{
	struct dat_write_buffer buffers[4];
	static uint8_t page[LIVED_PAGE_MAX];
	struct err err = ERR_INIT;
	struct dat_live_how like;
	struct dat_write_how how;
	struct dat_write *w;

	lived_how(l, buffers, &like);
	how = (struct dat_write_how){ .version = 7, .long_size = sizeof(long), .page_size = l->page_size,
				      .big_endian = lived_abi.big_endian, .nr_cpus = l->nr_cpus, .compression = "none",
				      .buffers = buffers, .nr_buffers = l->nr_buffers };
	CHECK(!dat_write_open(&w, path, &how, &err), "%s", err.text);
	write_meta(w, l);
	for (size_t b = 0; b < l->nr_buffers; b++) {
		CHECK(!dat_write_begin(w, b), "buffer %zu", b);
		for (uint32_t cpu = 0; cpu < l->nr_cpus; cpu++) {
			CHECK(!dat_write_cpu(w, cpu), "CPU %u", cpu);
			for (int i = 0; i < l->rounds * lived_batch(l, b, cpu); i++) {
				lived_page(l, page, b, cpu, i, 100);
				CHECK(!dat_write_pages(w, page, l->page_size), "page %d", i);
			}
		}
		CHECK(!dat_write_end(w), "end of buffer %zu", b);
	}
	CHECK(!dat_write_finish(w, &err), "%s", err.text);
	dat_write_close(w);
}

static void record(const struct lived *l)
{
	struct err err = ERR_INIT;

	CHECK(!lived_record(l, &err), "%s", err.text);
}

static void leave(const struct lived *l)
{
	struct dat_live *live = lived_open(l);

	CHECK(!lived_meta(l, live) && !dat_live_publish(live), "publish");
	for (int i = 0; i < l->rounds; i++)
		CHECK(!lived_round(l, live, i) && (i % 2 || !lived_more(live, i)), "round %d", i);
	dat_live_close(live);
}

/* One that goes on for long has lost its way. */
#define REPORT "timeout 20 trace-cmd report -i '%s' 2>&1"

static void same(const char *path, const struct buf *want, const char *when)
{
	struct buf got = BUF_INIT;

	output(&got, REPORT, path);
	CHECK(got.len == want->len && !memcmp(got.data, want->data, want->len), "%s, %s: %zu bytes are printed, not %zu",
	      path, when, got.len, want->len);
	output(&got, "trace-cmd dump --summary -i '%s' 2>&1", path);
	CHECK(count(got.data, "sections]") == 1 && !count(got.data, "rror"), "%s", got.data);
	buf_fini(&got);
}

/* 100 lines a page; of each CPU all pages that were accepted. */
static void enough(const struct lived *l, int at)
{
	int counts[LIVED_LANES], firsts[LIVED_LANES], want = 0, n;
	struct buf got = BUF_INIT;

	dat_close(lived_read(l, counts, firsts));
	for (int i = 0; i < LIVED_LANES; i++)
		want += counts[i];
	output(&got, REPORT, l->path);
	n = count(got.data, "tick:");
	CHECK(n == want * 100, "%s, killed at %d: %d lines of %d pages:\n%.500s", l->path, at, n, want, got.data);
	buf_fini(&got);
}

static void both(const char *dir, const char *compression, int rounds, size_t fat)
{
	char path[700], whole[700];
	struct lived l = { .path = path, .compression = compression, .nr_buffers = 3, .nr_cpus = 3, .page_size = 4096,
			   .rounds = rounds, .batch = 2, .fat = fat, .accepted = accepted };
	struct buf want = BUF_INIT;
	int at = 0;

	snprintf(path, sizeof(path), "%s/live.dat", dir);
	snprintf(whole, sizeof(whole), "%s/whole.dat", dir);
	write_whole(&l, whole);
	output(&want, REPORT, whole);
	CHECK(count(want.data, "tick:") == (2 + 4) * 2 * rounds * 100, "%s", want.data);
	leave(&l);
	same(path, &want, "left");
	record(&l);
	same(path, &want, "closed up");
	for (bool more = true; more; at++) {
		unlink(path);
		more = lived_run_up_to(record, &l, at);
		if (!access(path, F_OK))
			enough(&l, at);
	}
	buf_fini(&want);
	unlink(path);
	unlink(whole);
}

int main(void)
{
	const char *base = getenv("RINGSIDE_SCRATCH");
	char there[600];

	if (system("command -v trace-cmd >/dev/null")) {
		puts("trace-cmd is not there");
		return 77;
	}
	CHECK(base, "RINGSIDE_SCRATCH is not set");
	accepted = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	CHECK(accepted != MAP_FAILED, "%s", strerror(errno));
	lived_make_dir(there);
	both(base, "none", 2, 0);
	both(there, "none", 2, 0);
	/* Much that is unused lies between what is told. */
	both(base, "none", 5, 10000);
	both(there, "none", 5, 10000);
	/* The one that trace-cmd has everywhere. */
	if (pack_name(0) && !strcmp(pack_name(0), "zstd")) {
		both(base, "zstd", 2, 0);
		both(there, "zstd", 2, 0);
	}
	lived_remove_dir(there);
	return 0;
}
