/*
 * Live records of a tree of files: pages and formats copied out of a tracing directory read the
 * same there, to the letter; in order of time over all CPUs; as they come through a pipe; and
 * pages that hold anything do no harm.
 */
#include <pthread.h>

#include "library/lines.h"

#define ANY RINGSIDE_CONTROL_ANY_CPU

static void copy(struct ringside_control *tree, const char *root, const char *path)
{
	size_t len;
	char *text;

	FINE(tree, ringside_control_file_read(tree, NULL, path, &text, &len));
	lab_put(root, path, text, len);
	free(text);
}

static void copy_event(struct ringside_control *tree, const char *root, const char *system,
		       const char *event)
{
	char path[256];

	snprintf(path, sizeof(path), "events/%s/%s/format", system, event);
	copy(tree, root, path);
	snprintf(path, sizeof(path), "events/%s/%s/id", system, event);
	if (ringside_control_file_exists(tree, NULL, path))
		copy(tree, root, path);
}

/* A tree of files that holds what the directory holds, pages included. */
static void copy_all(struct ringside_control *tree, const char *root)
{
	char **cpus, path[256];

	copy(tree, root, "tracing_on");
	copy(tree, root, "trace_clock");
	copy(tree, root, "saved_cmdlines");
	copy(tree, root, "printk_formats");
	copy(tree, root, "events/header_page");
	copy_event(tree, root, "lab", "step");
	copy_event(tree, root, "lab", "done");
	copy_event(tree, root, "ftrace", "print");
	FINE(tree, ringside_control_file_list(tree, NULL, "per_cpu", &cpus));
	for (int i = 0; cpus[i]; i++) {
		snprintf(path, sizeof(path), "per_cpu/%strace_pipe_raw", cpus[i]);
		copy(tree, root, path);
	}
	ringside_control_names_free(cpus);
}

static struct ringside_control_records *begin(struct ringside_control *tree, int cpu)
{
	struct ringside_control_records *records;

	FINE(tree, ringside_control_records_open(&records, tree, NULL, cpu, 0));
	return records;
}

static void reads_the_same(const char *root)
{
	struct ringside_control *tree = lab_open();
	struct ringside_control_records *records;
	const struct ringside_control_record *record;
	const char *name;
	int n = 0;

	FINE(tree, ringside_control_event_enable(tree, NULL, "lab", NULL));
	lab_run("60");
	FINE(tree, ringside_control_mark(tree, NULL, "between"));
	lab_run("60");
	FINE(tree, ringside_control_records_open(&records, tree, NULL, ANY, RINGSIDE_CONTROL_PEEK));
	CHECK(!ringside_control_records_each(records, 0, keep_line, NULL), "peek");
	ringside_control_records_close(records);
	CHECK(nlines == 123, "%d", nlines);
	copy_all(tree, root);
	ringside_control_close(tree);

	FINE(tree, ringside_control_open_tracefs(&tree, root));
	records = begin(tree, ANY);
	CHECK(!ringside_control_records_each(records, 0, same_line, &n) && n == nlines, "%d", n);
	ringside_control_records_close(records);

	records = begin(tree, ANY);
	CHECK(ringside_control_records_next(records, &record, 0) == 1, "again: files are only read");
	CHECK(!strcmp(ringside_control_record_system(record), "lab"), "its system");
	CHECK(!ringside_control_record_string(record, "name", &name) && !strcmp(name, "ann"), "a field");
	ringside_control_records_close(records);
	REFUSED(tree, ringside_control_records_open(&records, tree, NULL, ANY, RINGSIDE_CONTROL_PEEK),
		EOPNOTSUPP);
	REFUSED(tree, ringside_control_records_open(&records, tree, NULL, 1 << 20, 0), ENXIO);
	ringside_control_close(tree);
}

struct feed {
	char path[4096];
	const char *bytes;
	size_t len;
};

/* In pieces, so that pages come in parts. */
static void *feed(void *arg)
{
	struct feed *feed = arg;
	int fd = open(feed->path, O_WRONLY | O_CLOEXEC);

	CHECK(fd >= 0, "%s", feed->path);
	for (size_t at = 0; at < feed->len;) {
		size_t piece = feed->len - at < 1000 ? feed->len - at : 1000;
		ssize_t n = write(fd, feed->bytes + at, piece);

		CHECK(n > 0, "write: %s", strerror(errno));
		at += (size_t)n;
	}
	close(fd);
	return NULL;
}

/* All pages of all CPUs, through the pipe of one. */
static void as_they_come(const char *root)
{
	struct ringside_control *tree;
	struct ringside_control_records *records;
	const struct ringside_control_record *record;
	struct feed pages = { .len = 0 };
	pthread_t thread;
	char **cpus, path[256], *all = NULL;
	int n = 0;

	FINE(tree, ringside_control_open_tracefs(&tree, root));
	FINE(tree, ringside_control_file_list(tree, NULL, "per_cpu", &cpus));
	for (int i = 0; cpus[i]; i++) {
		char *text;
		size_t len;

		snprintf(path, sizeof(path), "per_cpu/%strace_pipe_raw", cpus[i]);
		FINE(tree, ringside_control_file_read(tree, NULL, path, &text, &len));
		all = realloc(all, pages.len + len + 1);
		CHECK(all, "memory");
		memcpy(all + pages.len, text, len);
		pages.len += len;
		free(text);
	}
	ringside_control_names_free(cpus);
	pages.bytes = all;
	snprintf(pages.path, sizeof(pages.path), "%s/per_cpu/cpu0/trace_pipe_raw", root);
	CHECK(!unlink(pages.path) && !mkfifo(pages.path, 0600), "%s", pages.path);
	records = begin(tree, 0);
	CHECK(ringside_control_records_next(records, &record, 0) == 0, "nothing yet");
	CHECK(!pthread_create(&thread, NULL, feed, &pages), "thread");
	for (; n < nlines && ringside_control_records_next(records, &record, -1) == 1; n++)
		CHECK(ringside_control_record_cpu(record) == 0, "cpu");
	CHECK(n == nlines, "%d: %s", n, ringside_control_records_error(records));
	CHECK(!pthread_join(thread, NULL), "join");
	CHECK(ringside_control_records_next(records, &record, 0) == 0, "no more");
	ringside_control_records_close(records);
	ringside_control_close(tree);
	free(all);
}

static int touch(const struct ringside_control_record *record, void *context)
{
	const char *name;
	long long number;

	(void)context;
	CHECK(ringside_control_record_line(record), "a line");
	for (unsigned int i = 0; (name = ringside_control_record_field(record, i)); i++) {
		const char *text;
		const void *bytes;
		size_t len;

		ringside_control_record_number(record, name, &number);
		ringside_control_record_string(record, name, &text);
		ringside_control_record_bytes(record, name, &bytes, &len);
	}
	return 0;
}

/* Files about the pages that make no sense, or too much. */
static void other_files(const char *root, int turn, const unsigned char *bytes)
{
	static const char *const headers[] = {
		"", "\n\n", "\tfield: local_t commit;\toffset:8;\tsize:8;\n",
		"\tfield: local_t commit;\tsize:4;\n\tfield: char data;\toffset:12;\tsize:4084;\n",
		"\tfield: local_t commit;\tsize:3;\n\tfield: char data;\toffset:16;\tsize:0;\n",
		"\tfield: char data;\toffset:16;\tsize:4294967295;\n",
		"\tfield: char data;\toffset:16;\tsize:-1;\n",
		"\tfield: char data;\toffset:16;\tsize:8;\n",
	};

	lab_puts(root, "events/header_page", headers[turn % 8]);
	lab_put(root, "saved_cmdlines", bytes, 500);
	lab_put(root, "printk_formats", bytes, 500);
	if (turn % 3 == 0) {
		lab_puts(root, "saved_cmdlines", "\n1\n 2 \n3 x");
		lab_puts(root, "printk_formats", "0x1 : \"\\\n0x2 :\n0x3");
	}
	lab_put(root, "trace_clock", bytes + 1000, 100);
	lab_put(root, "events/odd/one/format", bytes + 2000, 600);
	lab_put(root, "events/odd/one/id", bytes + 3000, 4);
}

/* Numbers that look random and are the same each time. */
static void anything(const char *root)
{
	static unsigned char bytes[4096 * 8];
	struct ringside_control *tree;
	uint32_t seed = 1;

	for (int turn = 0; turn < 50; turn++) {
		struct ringside_control_records *records;

		for (size_t i = 0; i < sizeof(bytes); i++) {
			seed = seed * 1664525u + 1013904223u;
			bytes[i] = (unsigned char)(seed >> 24);
		}
		/* Every other time a header that is believed, and ids that are known. */
		for (size_t page = 0; turn % 2 && page < sizeof(bytes); page += 4096) {
			memset(bytes + page + 8, 0, 8);
			bytes[page + 9] = 0x0f;
			for (size_t i = 16; i + 8 < 4096; i += 64)
				memcpy(bytes + page + i, "\x0c\0\0\0\x05\0", 6);
		}
		lab_put(root, "per_cpu/cpu1/trace_pipe_raw", bytes, sizeof(bytes));
		other_files(root, turn / 2, bytes);
		FINE(tree, ringside_control_open_tracefs(&tree, root));
		records = begin(tree, 1);
		CHECK(!ringside_control_records_each(records, 0, touch, NULL), "%s",
		      ringside_control_records_error(records));
		ringside_control_records_close(records);
		ringside_control_close(tree);
	}
}

int main(void)
{
	char root[4000];

	snprintf(root, sizeof(root), "%s/copy", getenv("RINGSIDE_SCRATCH"));
	reads_the_same(root);
	as_they_come(root);
	anything(root);
	for (int i = 0; i < nlines; i++)
		free(lines[i]);
	return 0;
}
