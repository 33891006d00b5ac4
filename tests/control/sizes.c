/*
 * How much a buffer holds: buffer_size_kb for all CPUs and for one, pages of other sizes, when a reader is woken, and giving it
 * all back.
 */
#include "control/program.h"

#include <sys/stat.h>

#define PER_PAGE 255	/* events of 16 bytes in 4080 */

static struct item item;

static uint64_t memory(struct control *control)
{
	struct stat st;

	CHECK(!fstat(control->dir.fd[SEGMENT_RINGS], &st), "%s", strerror(errno));
	return (uint64_t)st.st_blocks * 512;
}

static void expect_total(struct control *control, uint64_t first, uint64_t others)
{
	char want[64];

	snprintf(want, sizeof(want), "%llu\n", (unsigned long long)(first + others * (control->dir.ncpu - 1)));
	room_expect(control, "buffer_total_size_kb", want);
}

static void check_before(struct control *control)
{
	char want[64];

	room_expect(control, "buffer_size_kb", "0 (expanded: 1410)\n");
	room_expect(control, "per_cpu/cpu0/buffer_size_kb", "0 (expanded: 1410)\n");
	snprintf(want, sizeof(want), "0 (expanded: %u)\n", 1410 * control->dir.ncpu);
	room_expect(control, "buffer_total_size_kb", want);
	room_expect(control, "buffer_subbuf_size_kb", "4\n");
	room_expect(control, "buffer_percent", "50\n");
}

/* One CPU's own size; X while they differ; all of them again. */
static void check_cpus(struct control *control)
{
	room_write(control, "buffer_size_kb", "400", 0);
	expect_total(control, 402, 402);
	room_write(control, "per_cpu/cpu0/buffer_size_kb", "0", -EINVAL);
	room_write(control, "per_cpu/cpu0/buffer_size_kb", "x", -EINVAL);
	room_write(control, "per_cpu/cpu0/buffer_size_kb", "100", 0);
	room_expect(control, "per_cpu/cpu0/buffer_size_kb", "103\n");
	expect_total(control, 103, 402);
	if (control->dir.ncpu > 1) {
		room_expect(control, "buffer_size_kb", "X\n");
		room_expect(control, "per_cpu/cpu1/buffer_size_kb", "402\n");
		room_write(control, "per_cpu/cpu0/buffer_size_kb", "800", 0);
		room_expect(control, "buffer_size_kb", "X\n");
		expect_total(control, 800, 402);
	}
	/* One by one to the same: that is the size. */
	for (uint32_t cpu = 0; cpu < control->dir.ncpu; cpu++) {
		char path[64];

		snprintf(path, sizeof(path), "per_cpu/cpu%u/buffer_size_kb", cpu);
		room_write(control, path, "200", 0);
	}
	room_expect(control, "buffer_size_kb", "203\n");
	expect_total(control, 203, 203);
	room_write(control, "trace", "", 0);
	room_expect(control, "buffer_size_kb", "203\n");
	room_write(control, "per_cpu/cpu0/buffer_size_kb", "100", 0);
	room_write(control, "trace", "", 0);
	room_expect(control, "per_cpu/cpu0/buffer_size_kb", "103\n");
	room_write(control, "buffer_size_kb", "400", 0);
	room_expect(control, "per_cpu/cpu0/buffer_size_kb", "402\n");
	room_expect(control, "buffer_size_kb", "402\n");
}

/* A small CPU's ring holds little, and nothing is lost by resizing. */
static void check_holds(struct control *control)
{
	char path[64];
	int n;

	cpu_pin(cpu_at(0));
	room_write(control, "trace", "", 0);
	item_emit_many(&item, 0, 1000);
	snprintf(path, sizeof(path), "per_cpu/cpu%d/buffer_size_kb", cpu_at(0));
	room_write(control, path, "16", 0);
	room_write(control, "buffer_size_kb", "800", 0);
	room_write(control, path, "16", 0);
	CHECK(count_in(control, "trace", "item: n=") == 1000, "resizing loses some");
	room_write(control, "trace", "", 0);
	item_emit_many(&item, 0, 50 * PER_PAGE);
	n = count_in(control, "trace", "item: n=");
	CHECK(n >= 3 * PER_PAGE && n <= 5 * PER_PAGE, "%d in 5 pages", n);
	snprintf(path, sizeof(path), "per_cpu/cpu%d/stats", cpu_at(0));
	CHECK(number_in(control, path, "entries: ") + number_in(control, path, "\noverrun: ") == 50 * PER_PAGE,
	      "the sum is wrong");
	room_write(control, "buffer_size_kb", "400", 0);
	room_write(control, "trace", "", 0);
}

static void check_pages(struct control *control)
{
	static const struct { const char *text, *after; int want; } cases[] = {
		{ "1", "4\n", 0 }, { "5", "8\n", 0 }, { "8", "8\n", 0 }, { "512", "512\n", 0 }, { "513", "512\n", -EINVAL },
		{ "0", "512\n", -EINVAL }, { "x", "512\n", -EINVAL }, { "17", "32\n", 0 }, { "4", "4\n", 0 },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char data[64];
		int kb;

		item_emit(&item, 1);
		room_write(control, "buffer_subbuf_size_kb", cases[i].text, cases[i].want);
		room_expect(control, "buffer_subbuf_size_kb", cases[i].after);
		kb = atoi(cases[i].after);
		snprintf(data, sizeof(data), "field: char data;\toffset:16;\tsize:%d;\tsigned:0;\n", kb * 1024 - 16);
		CHECK(count_in(control, "events/header_page", data) == 1, "header_page has no '%s'", data);
		room_write(control, "trace", "", 0);
		item_emit_many(&item, 0, 2000);
		CHECK(count_in(control, "trace", "item: n=") == 2000, "pages of %d KiB", kb);
	}
	/* A change discards what is there. */
	room_write(control, "buffer_subbuf_size_kb", "8", 0);
	CHECK(!count_in(control, "trace", "item: n="), "kept");
	room_write(control, "buffer_subbuf_size_kb", "4", 0);
	room_write(control, "buffer_size_kb", "400", 0);
}

/* How many full pages make it worth a look, of a hundred that there are. */
static int pages_until_ready(struct control *control, const char *path)
{
	struct tree_file *file;
	int pages = 0;

	room_write(control, "trace", "", 0);
	file = file_open(control, path, TREE_READ);
	CHECK(!tree_ready(file), "an empty buffer is worth a look");
	item_emit(&item, 0);
	while (!tree_ready(file) && pages < 200) {
		item_emit_many(&item, 0, PER_PAGE);
		pages++;
	}
	/* Whoever reads without asking gets what there is. */
	CHECK(file_try(file) == 1, "unreadable");
	file_close(file);
	return pages;
}

static void check_percent(struct control *control)
{
	char raw[64], text[64];
	int n;

	room_write(control, "buffer_percent", "101", -EINVAL);
	room_write(control, "buffer_percent", "x", -EINVAL);
	room_write(control, "buffer_percent", "100", 0);
	room_expect(control, "buffer_percent", "100\n");
	snprintf(raw, sizeof(raw), "per_cpu/cpu%d/trace_pipe_raw", cpu_at(0));
	snprintf(text, sizeof(text), "per_cpu/cpu%d/trace_pipe", cpu_at(0));
	room_write(control, "buffer_size_kb", "398", 0);	/* 100 pages */
	n = pages_until_ready(control, raw);
	CHECK(n >= 95 && n <= 100, "100 %%: %d pages", n);
	room_write(control, "buffer_percent", "50", 0);
	n = pages_until_ready(control, raw);
	CHECK(n >= 45 && n <= 51, "50 %%: %d pages", n);
	n = pages_until_ready(control, text);
	CHECK(n >= 45 && n <= 51, "50 %% of text: %d pages", n);
	CHECK(!pages_until_ready(control, "trace_pipe"), "all CPUs do not wait for any of them");
	room_write(control, "buffer_percent", "0", 0);
	CHECK(!pages_until_ready(control, raw) && !pages_until_ready(control, text), "0 %%");
	room_write(control, "buffer_percent", "50", 0);
}

/* Memory goes back when the file is closed, whatever was written; tracing stops if that is wished for. */
static void check_free(struct control *control)
{
	struct tree_file *file;
	uint64_t before;

	for (int round = 0; round < 3; round++) {
		room_write(control, "buffer_size_kb", "1408", 0);
		item_emit_many(&item, 0, 10000);
		before = memory(control);
		room_write(control, "options/disable_on_free", round == 2 ? "1" : "0", 0);
		file = file_open(control, "free_buffer", TREE_WRITE);
		if (round)
			file_write(file, "anything at all", 0);
		CHECK(count_in(control, "trace", "item: n=") == 10000, "it is gone before the file was closed");
		file_close(file);
		room_expect(control, "buffer_size_kb", "15\n");
		CHECK(!count_in(control, "trace", "item: n="), "still there");
		room_expect(control, "tracing_on", round == 2 ? "0\n" : "1\n");
		CHECK(memory(control) + (1 << 20) < before, "%llu of memory, %llu before",
		      (unsigned long long)memory(control), (unsigned long long)before);
	}
	room_write(control, "tracing_on", "1", 0);
	item_emit(&item, 1);
	CHECK(count_in(control, "trace", "item: n=") == 1, "nothing is recorded any more");
	room_write(control, "free_buffer", "1", 0);
	room_expect(control, "tracing_on", "0\n");
}

int main(void)
{
	struct control *control = room_open();

	item = item_bring("item");
	check_before(control);
	check_cpus(control);
	room_write(control, "events/test/item/enable", "1", 0);
	check_holds(control);
	check_pages(control);
	check_percent(control);
	check_free(control);
	control_close(control);
	return 0;
}
