/*
 * What an event of a remote costs on the host: to write one by the hosted writer, beside one of a program with the same fields, to read one,
 * and to have it as a line of `trace`.
 *
 * Writes are measured as rounds.h tells. One line each: NAME NS.
 *
 *	remote DIRECTORY [--rounds N] [--events N]
 */
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <ringside/ringside.h>

#define RINGSIDE_FW_HOSTED
#define RINGSIDE_FW_NO_TYPES
#include "fw/remote_events.h"

#include "remote/remote.h"
#include "rounds.h"

typedef uint32_t u32;

RINGSIDE_EVENT(remote, program, field(uint32_t, a), field(uint32_t, b), field(uint32_t, c))
REMOTE_EVENT(hosted, 0, RE_STRUCT(re_field(u32, a) re_field(u32, b) re_field(u32, c)),
	     RE_PRINTK("a=%u b=%u c=%u", __entry->a, __entry->b, __entry->c));

#define NAME "bench"
#define READS 7

static struct ringside_fw_hosted fw;

static void do_program(int n)
{
	for (int i = 0; i < n; i++)
		trace_remote_program((uint32_t)i, (uint32_t)i, (uint32_t)i);
}

static void do_hosted(int n)
{
	for (int i = 0; i < n; i++)
		trace_hosted(&fw, 0, (uint32_t)i, (uint32_t)i, (uint32_t)i);
}

static const struct kind table[] = {
	{ "remote_write_program", do_program },
	{ "remote_write_hosted", do_hosted },
};

/* A ring of pages of 4 KiB, in a file. */
static void begin(const char *directory, char *path, size_t size)
{
	static const struct ringside_fw_hosted_how how = {
		.nr_rings = 1, .nr_pages = 1024, .page_shift = 12, .nr_events = 1, .on = 1,
	};
	size_t bytes = ringside_fw_hosted_size(&how);
	void *memory;
	int fd;

	snprintf(path, size, "%s/remote.ram", directory);
	fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	if (fd < 0 || ftruncate(fd, (off_t)bytes)) {
		perror(path);
		exit(1);
	}
	memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	if (memory == MAP_FAILED || ringside_fw_hosted_init(memory, bytes, &how) || ringside_fw_hosted_open(&fw, memory, bytes)) {
		fprintf(stderr, "remote: no writer\n");
		exit(1);
	}
}

/* Nanoseconds an event, of all that are there. */
static double read_rows(struct remote *remote)
{
	struct remote_how how = { .cpu = -1, .once = true };
	struct remote_reader *reader;
	struct remote_row row;
	double before = now();
	uint64_t n = 0;
	int r;

	must(remote_reader_open(&reader, remote, &how, &err));
	while ((r = remote_reader_next(reader, &row, &err)) > 0)
		n += row.data != NULL;
	must(r);
	remote_reader_close(reader);
	return (now() - before) / (double)n;
}

static double read_text(void)
{
	struct buf all = BUF_INIT;
	double before = now();
	uint64_t n = 0;

	must(tree_read(control, "remotes/" NAME "/trace", &all, &err));
	before = now() - before;
	for (const char *at = all.data; at && (at = strchr(at, '\n')); at++)
		n++;
	buf_fini(&all);
	return before / (double)n;
}

static void measure_reads(int dir)
{
	double rows[READS], text[READS];
	struct remote *remote;

	must(remote_open(&remote, dir, NAME, &err));
	for (int i = 0; i < READS; i++) {
		rows[i] = read_rows(remote);
		text[i] = read_text();
	}
	remote_close(remote);
	printf("remote_read %.3f\n", percentile(rows, READS, 50));
	printf("remote_trace %.3f\n", percentile(text, READS, 50));
}

int main(int argc, char **argv)
{
	struct remote_place place = { 0 };
	char path[4096];
	int dir;

	if (argc < 2)
		return 2;
	rounds_options(argc, argv);
	begin(argv[1], path, sizeof(path));
	must(control_open(&control, NULL, true, &err));
	put("events/remote/program/enable", "1");
	dir = open(getenv("RINGSIDE_DIR"), O_PATH | O_DIRECTORY | O_CLOEXEC);
	place.memory = path;
	must(remote_add(dir, NAME, &place, &err));
	pin(sched_getcpu());
	rounds_run(table, sizeof(table) / sizeof(table[0]));
	must_have("trace", "program: a=");
	measure_reads(dir);
	must(remote_remove(dir, NAME, &err));
	close(dir);
	control_close(control);
	return 0;
}
