/*
 * trace_pipe and trace_pipe_raw as files that are open: each event is handed out once, however small the reads and wherever
 * a reader stops; one reader at a time; the end and the nothing are told apart as the kernel does.
 */
#include "control/program.h"

#include "decode/page.h"

static struct item item;
static int32_t written;

static void emit(int count)
{
	item_emit_many(&item, written, written + count);
	written += count;
}

/* On every CPU there is, some at a time, so that text has to be merged. */
static void emit_everywhere(int rounds, int count)
{
	for (int round = 0; round < rounds; round++)
		for (int i = 0; cpu_at(i) >= 0; i++) {
			cpu_pin(cpu_at(i));
			emit(count);
		}
	cpu_pin(cpu_at(0));
}

/* By single bytes, at once, through tree_read() and piece by piece: the same text. */
static void check_text(struct control *control)
{
	static const size_t steps[] = { 1, 7, 4096, 1 << 20 };

	for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
		int32_t from = written;
		char *shown, *taken;
		struct tree_file *file;
		int last;

		emit_everywhere(3, 40);
		shown = without_head(room_read(control, "trace"));
		file = file_open(control, "trace_pipe", TREE_READ);
		CHECK(tree_is_followed(file), "trace_pipe is not followed");
		taken = file_drain(file, steps[i], NULL, &last);
		CHECK(last == -EAGAIN, "in the end there is %d", last);
		CHECK(!strcmp(shown, taken), "steps of %zu: '%s'\nis not '%s'", steps[i], taken, shown);
		CHECK(items_follow(taken, from) == written - from, "%d events are missing",
		      written - from - items_follow(taken, from));
		file_close(file);
		free(shown);
		free(taken);
		room_expect(control, "trace_pipe", "");
	}
}

/* More text than any piece, all of it at once. */
static void check_whole(struct control *control)
{
	int32_t from = written;
	char *text;

	emit_everywhere(1, 3000);
	text = room_read(control, "trace_pipe");
	CHECK(items_follow(text, from) == written - from, "%d events", items_follow(text, from));
	free(text);
	room_expect(control, "trace_pipe", "");
	from = written;
	emit_everywhere(1, 10);
	for (int i = 0; cpu_at(i) >= 0; i++) {
		char path[64];

		snprintf(path, sizeof(path), "per_cpu/cpu%d/trace_pipe", cpu_at(i));
		text = room_read(control, path);
		CHECK(items_follow(text, from + 10 * i) == 10, "%s: '%s'", path, text);
		free(text);
	}
	room_expect(control, "trace_pipe", "");
}

/* Readers that stop anywhere: what was not handed out is left to the next. */
static void check_stops(struct control *control)
{
	struct buf all = BUF_INIT;
	struct tree_file *file;
	int32_t from = written;

	emit_everywhere(1, 700);
	for (int lines = 1; written - from - lines >= items_follow(all.data ? all.data : "", from);
	     lines = lines * 2 % 61) {
		file = file_open(control, "trace_pipe", TREE_READ);
		file_lines(file, lines, &all);
		file_close(file);
	}
	file = file_open(control, "trace_pipe", TREE_READ);
	file_lines(file, written - from - items_follow(all.data, from), &all);
	CHECK(file_try(file) == -EAGAIN, "more than was written");
	file_close(file);
	CHECK(items_follow(all.data, from) == written - from, "%d of %d", items_follow(all.data, from),
	      written - from);
	CHECK(count_of(all.data, "\n") == written - from, "there are other lines");
	buf_fini(&all);

	/* A line that was begun is out, as in the kernel. */
	from = written;
	emit(2);
	file = file_open(control, "trace_pipe", TREE_READ);
	CHECK(file_try(file) == 1, "nothing to read");
	file_close(file);
	file = file_open(control, "trace_pipe", TREE_READ);
	file_lines(file, 1, &all);
	CHECK(items_follow(all.data, from + 1) == 1, "'%s'", all.data);
	file_close(file);
	buf_fini(&all);
}

/* Nothing, and the end: only when tracing is off and something was read. */
static void check_end(struct control *control)
{
	struct control *other = room_again(control);
	struct tree_file *file = file_open(other, "trace_pipe", TREE_READ);
	struct err err = ERR_INIT;
	char *text;
	int last;

	CHECK(file_try(file) == -EAGAIN, "nothing is something");
	CHECK(tree_wait(file, 0, &err) == 0 && !tree_ready(file), "worth a look");
	room_write(control, "tracing_on", "0", 0);
	CHECK(file_try(file) == -EAGAIN, "the end before anything was read");
	room_write(control, "tracing_on", "1", 0);
	emit(3);
	CHECK(tree_ready(file) && tree_wait(file, 0, &err) == 1, "not worth a look");
	room_write(control, "tracing_on", "0", 0);
	text = file_drain(file, 100, NULL, &last);
	CHECK(count_of(text, "item: n=") == 3 && last == 0, "'%s', then %d", text, last);
	free(text);
	CHECK(tree_ready(file) && tree_wait(file, 0, &err) == 1, "the end is not told");
	room_write(control, "tracing_on", "1", 0);
	CHECK(file_try(file) == -EAGAIN, "on again, and still at the end");
	file_close(file);
	control_close(other);
}

/* Two readers of one CPU do not share; those of two do, and who looks on is never kept out. */
static void check_busy(struct control *control)
{
	struct control *other = room_again(control);
	struct tree_file *file = file_open(control, "trace_pipe", TREE_READ), *second;
	struct buf out = BUF_INIT;
	char raw[64], path[64];

	emit(1);
	snprintf(path, sizeof(path), "per_cpu/cpu%d/trace_pipe", cpu_at(0));
	snprintf(raw, sizeof(raw), "per_cpu/cpu%d/trace_pipe_raw", cpu_at(0));
	file_refused(other, "trace_pipe", TREE_READ, -EBUSY);
	file_refused(other, path, TREE_READ, -EBUSY);
	file_refused(other, raw, TREE_READ, -EBUSY);
	CHECK(tree_read(other, "trace_pipe", &out, NULL) == -EBUSY, "read in passing");
	CHECK(count_in(other, "trace", "item: n=") == 1, "peeking is kept out");
	file_close(file);
	file = file_open(control, raw, TREE_READ);
	file_refused(other, path, TREE_READ, -EBUSY);
	file_refused(other, "trace_pipe", TREE_READ, -EBUSY);
	if (cpu_at(1) >= 0) {
		snprintf(path, sizeof(path), "per_cpu/cpu%d/trace_pipe", cpu_at(1));
		second = file_open(other, path, TREE_READ);
		file_close(second);
	}
	file_close(file);
	file = file_open(other, "trace_pipe", TREE_READ);
	file_close(file);
	control_close(other);
	free(room_read(control, "trace_pipe"));
}

/* Counts the items of a page and sees that they follow. */
static void walk_page(const char *page, uint32_t size, int32_t *next)
{
	struct page_walk walk;
	struct page_event event;

	CHECK(!page_walk_init(&walk, page, size), "no page");
	while (page_walk_next(&walk, &event) == 1) {
		int32_t n;

		CHECK(event.len == 12, "an event of %u bytes", event.len);
		memcpy(&n, (const char *)event.data + 8, sizeof(n));
		CHECK(n == *next, "%d instead of %d", n, *next);
		(*next)++;
	}
}

static void check_raw(struct control *control)
{
	static const size_t steps[] = { 1000, 4096, 3, 65536, 5000 };
	int32_t next = written;
	struct tree_file *file;
	char path[64], *text;
	size_t len;

	snprintf(path, sizeof(path), "per_cpu/cpu%d/trace_pipe_raw", cpu_at(0));
	for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
		int last;

		emit(1500);
		file = file_open(control, path, TREE_READ);
		text = file_drain(file, steps[i], &len, &last);
		CHECK(last == -EAGAIN && len && len % 4096 == 0, "%zu bytes, then %d", len, last);
		for (size_t at = 0; at < len; at += 4096)
			walk_page(text + at, 4096, &next);
		CHECK(next == written, "%d of %d", next, written);
		free(text);
		file_close(file);
	}
	/* A page a read, unless more was asked for; the rest of a page that was begun is out. */
	emit(1500);
	text = malloc(65536);
	file = file_open(control, path, TREE_READ);
	CHECK(tree_file_read(file, text, 4096, 0, NULL) == 4096, "no page");
	walk_page(text, 4096, &next);
	CHECK(tree_file_read(file, text, 100, 0, NULL) == 100, "no piece of a page");
	CHECK(tree_file_read(file, text + 100, 65436, 0, NULL) == 3996, "not the rest of the page");
	walk_page(text, 4096, &next);
	file_close(file);
	file = file_open(control, path, TREE_READ);
	len = (size_t)tree_file_read(file, text, 65536, 0, NULL);
	for (size_t at = 0; at < len; at += 4096)
		walk_page(text + at, 4096, &next);
	CHECK(next == written, "%d of %d", next, written);
	CHECK(!tree_ready(file) && file_try(file) == -EAGAIN, "there is more");
	file_close(file);
	free(text);

	emit(1500);
	text = room_read(control, path);
	walk_page(text, 4096, &next);
	free(text);
	room_expect(control, path, "");
}

/* What happens to the buffer under a reader: resized, emptied, its pages made larger and small again. */
static void check_changes(struct control *control)
{
	struct control *other = room_again(control);
	struct tree_file *file = file_open(other, "trace_pipe", TREE_READ);
	struct buf got = BUF_INIT;
	int32_t from = written;
	char path[64], *page = malloc(65536);
	int32_t next;

	emit(300);
	file_lines(file, 1, &got);
	room_write(control, "buffer_size_kb", "500", 0);
	emit(300);
	file_lines(file, 400, &got);
	room_write(control, "options/overwrite", "0", 0);
	emit(10);
	file_lines(file, 209, &got);
	CHECK(file_try(file) == -EAGAIN, "more than was written");
	CHECK(items_follow(got.data, from) == written - from, "%s", got.data);
	room_write(control, "options/overwrite", "1", 0);
	emit(100);
	room_write(control, "trace", "", 0);
	CHECK(file_try(file) == -EAGAIN, "what was emptied is there");
	file_close(file);

	snprintf(path, sizeof(path), "per_cpu/cpu%d/trace_pipe_raw", cpu_at(0));
	file = file_open(other, path, TREE_READ);
	for (uint32_t kb = 8; kb >= 4; kb /= 2) {
		room_write(control, "buffer_subbuf_size_kb", kb == 8 ? "8" : "4", 0);
		next = written;
		emit(100);
		CHECK(tree_file_read(file, page, 65536, 0, NULL) == (ssize_t)kb * 1024, "pages are not of %u KiB",
		      kb);
		walk_page(page, kb * 1024, &next);
		CHECK(next == written, "%d of %d", next, written);
	}
	file_close(file);
	control_close(other);
	buf_fini(&got);
	free(page);
}

/* An instance goes away: not under a reader that holds its rings, and for good under one that has none yet. */
static void check_gone(struct control *control)
{
	struct control *other = room_again(control);
	struct tree_file *file;
	struct err err = ERR_INIT;

	room_mkdir(control, "instances/a", 0);
	file = file_open(other, "instances/a/trace_pipe", TREE_READ);
	CHECK(file_try(file) == -EAGAIN, "something in nothing");
	room_rmdir(control, "instances/a", 0);
	CHECK(file_try(file) == -ENODEV, "%d", file_try(file));
	CHECK(tree_wait(file, 0, &err) == -ENODEV && err.text[0], "waiting for nobody");
	room_mkdir(control, "instances/a", 0);
	CHECK(file_try(file) == -ENODEV, "another one of that name");
	file_close(file);

	room_write(control, "instances/a/events/test/enable", "1", 0);
	emit(1);
	file = file_open(other, "instances/a/trace_pipe", TREE_READ);
	room_rmdir(control, "instances/a", -EBUSY);
	CHECK(count_in(control, "instances/a/trace", "item: n=") == 1, "it was emptied");
	CHECK(file_try(file) == 1, "nothing to read");
	file_close(file);
	room_rmdir(control, "instances/a", 0);
	file_refused(control, "instances/a/trace_pipe", TREE_READ, -ENOENT);
	free(room_read(control, "trace_pipe"));
	control_close(other);
}

static void check_flags(struct control *control)
{
	struct tree_file *file = file_open(control, "trace_pipe", 0);

	CHECK(file_try(file) == -EBADF, "read without having been opened for it");
	CHECK(tree_wait(file, 0, NULL) == 1 && tree_ready(file), "waits for what it may not read");
	file_close(file);
	file = file_open(control, "tracing_on", TREE_READ);
	file_write(file, "0", -EBADF);
	CHECK(file_try(file) == 1, "unreadable");
	file_close(file);
	file_refused(control, "trace_pipe", TREE_WRITE, -EACCES);
	file_refused(control, "trace_pipe", TREE_READ | TREE_TRUNC, -EACCES);
	file_refused(control, "trace_marker", TREE_READ, -EACCES);
	file_refused(control, "events", TREE_READ, -EISDIR);
	file_refused(control, "nosuch", TREE_READ, -ENOENT);
}

/* A reader that sleeps is woken by another program's event. */
static void check_wait(struct control *control)
{
	struct tree_file *file = file_open(control, "trace_pipe", TREE_READ);
	struct err err = ERR_INIT;
	pid_t pid = child_fork();
	int r;

	if (!pid) {
		item_emit(&item, 4711);
		_exit(0);
	}
	while ((r = file_try(file)) == -EAGAIN)
		CHECK(tree_wait(file, -1, &err) >= 0, "%s", err.text);
	CHECK(r == 1, "%d", r);
	child_expect(pid);
	file_close(file);
}

int main(int argc, char **argv)
{
	struct control *control = room_open();

	item = item_bring("item");
	room_write(control, "events/test/enable", "1", 0);
	if (argc > 1) {
		CHECK(!strcmp(argv[1], "bare"), "who is %s?", argv[1]);
		check_text(control);
		check_stops(control);
		control_close(control);
		return 0;
	}
	check_flags(control);
	check_text(control);
	check_whole(control);
	check_stops(control);
	check_end(control);
	check_busy(control);
	check_raw(control);
	check_changes(control);
	check_gone(control);
	check_wait(control);
	free(room_read(control, "trace_pipe"));
	/* The same when all events come from overflow rings, and pages are put together from those. */
	child_expect(role_start("bare", "", ROLE_RSEQ_NONE));
	control_close(control);
	return 0;
}
