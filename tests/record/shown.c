/*
 * trace-cmd shows what the file tells: who recorded it, the functions that called ringside_printf, markers, and both
 * layouts of an event.
 */
#include <ringside/print.h>

#include "record/kept.h"

#define OTHER_BODY ITEM_COMMON "\tfield:int m;\toffset:8;\tsize:4;\tsigned:1;\n\nprint fmt: \"m=%d\", REC->m\n"

static __attribute__((noinline)) void shop_sells(int n, const char *what)
{
	ringside_printf("%d pieces of %s", n, what);
}

/* All pages of all CPUs. */
static void put_pages(struct control *control, struct dat_write *w, uint32_t ncpu)
{
	CHECK(!dat_write_begin(w, 0), "buffer");
	for (uint32_t cpu = 0; cpu < ncpu; cpu++) {
		struct buf pages = BUF_INIT;
		struct err err = ERR_INIT;
		char path[64];

		snprintf(path, sizeof(path), "per_cpu/cpu%u/trace_pipe_raw", cpu);
		CHECK(!tree_read(control, path, &pages, &err), "%s", err.text);
		CHECK(!dat_write_cpu(w, cpu) && (!pages.len || !dat_write_pages(w, pages.data, pages.len)), "pages");
		buf_fini(&pages);
	}
	CHECK(!dat_write_end(w), "buffer");
}

static char *run(const char *what, const char *path)
{
	struct buf out = BUF_INIT;
	char command[2048], piece[4096];
	FILE *pipe;
	size_t n;

	snprintf(command, sizeof(command), "trace-cmd %s -i '%s' 2>&1", what, path);
	pipe = popen(command, "r");
	CHECK(pipe, "popen");
	while ((n = fread(piece, 1, sizeof(piece), pipe)) > 0)
		buf_add(&out, piece, n);
	buf_putc(&out, '\n');
	CHECK(!pclose(pipe), "trace-cmd %s fails: %s", what, out.data);
	return buf_take(&out);
}

static void expect(const char *what, const char *path, const char *const lines[])
{
	char *text = run(what, path);

	for (; *lines; lines++)
		CHECK(strstr(text, *lines), "trace-cmd %s has no '%s': %s", what, *lines, text);
	free(text);
}

static void put_meta(struct kept *kept)
{
	struct source *source = source_of(NULL);
	struct record_meta *meta = meta_of(source);
	struct record_sink sink = kept_sink(kept);
	struct err err = ERR_INIT;

	meta_put(meta, kept);
	CHECK(!record_meta_put_symbols(meta, &sink, &err) && !record_meta_put_machine(meta, 0, &sink, &err) &&
	      !record_meta_put_stats(source, NULL, NULL, &sink, &err) &&
	      !record_meta_put_stats(source, NULL, "second", &sink, &err) &&
	      !record_meta_put_maps(meta, getpid(), &sink, &err), "%s", err.text);
	record_meta_close(meta);
	source_close(source);
}

int main(void)
{
	static const char *const shown[] = { "shop sells-", "shop_sells: 3 pieces of bread", "item:", "n=7", "m=8",
					     "print:", "tracing_mark_write: shut", NULL };
	static const char *const told[] = { "Option UNAME", "Linux ", "Option VERSION", "ringside ", "Option TRACEID",
					    "Option CPUSTAT", "CPU: 0\nentries: ", "Buffer: second", "Option PROCMAPS",
					    "record_shown", NULL };
	static const char *const counted[] = { "CPU: 0\nentries: ", "Buffer: second", NULL };
	static const char *const named[] = { "shop_sells", "tracing_mark_write", NULL };
	uint32_t ncpu = (uint32_t)sysconf(_SC_NPROCESSORS_CONF);
	struct control *control = room_open();
	static struct kept kept;
	/* Not a copy of it for these arguments, which would have another name. */
	void (*volatile sells)(int n, const char *what) = shop_sells;
	struct item item, other;

	if (system("command -v trace-cmd >/dev/null")) {
		puts("there is no trace-cmd");
		return 77;
	}
	prctl(PR_SET_NAME, "shop sells");
	item = item_bring("item");
	CHECK(!runtime_event_intern("test", "item", OTHER_BODY, strlen(OTHER_BODY), 0, &other.id, &other.hint), "intern");
	room_write(control, "events/enable", "1", 0);
	sells(3, "bread");
	put_meta(&kept);
	for (int version = 6; version < 8; version++) {
		char *path = strdup(path_of(version == 6 ? "six.dat" : "seven.dat"));
		struct dat_write *w = kept_begin(&kept, version, path, ncpu);

		/* Reading takes them out. A file without any is nothing that trace-cmd can always dump. */
		item_emit(&item, 7);
		item_emit(&other, 8);
		sells(3, "bread");
		ringside_mark("shut");
		put_pages(control, w, ncpu);
		kept_end(w);
		expect("report", path, shown);
		expect("report --stat", path, counted);
		expect("dump --options", path, told);
		expect("report -f", path, named);
		free(path);
	}
	control_close(control);
	kept_fini(&kept);
	return 0;
}
