/*
 * Resizing under fire: writers in several processes, a reader that follows, and a tool that resizes
 * and switches all the time. Each writer's events come in order, none twice, and in the end what was
 * read and what was told as lost is what was written.
 */
#include "control/room.h"

#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>

#include "control/rows.h"
#include "runtime/runtime.h"

#define WRITERS 3
#define RESIZES 40

static const char body[] =
	"\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
	"\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n"
	"\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n"
	"\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"
	"\tfield:int writer;\toffset:8;\tsize:4;\tsigned:1;\n"
	"\tfield:int n;\toffset:12;\tsize:4;\tsigned:1;\n\n"
	"print fmt: \"%d %d\", REC->writer, REC->n\n";

struct record {
	struct record_head head;
	int32_t writer, n;
};

static struct shared {
	volatile int stop, done;
	uint64_t written[WRITERS];
	uint64_t read, lost;
} *shared;

static uint32_t id;

static void writer(int number)
{
	uint64_t n = 0;

	while (!shared->stop) {
		struct record record = { .writer = number, .n = (int32_t)n };

		runtime_write(id, &record, sizeof(record));
		/* Not so fast that nothing but losses is left to test. */
		if (++n % 64 == 0)
			nanosleep(&(struct timespec){ 0, 50000 }, NULL);
	}
	shared->written[number] = n;
	_exit(0);
}

static void take(const struct control_row *row, int64_t *last)
{
	const struct record *record = row->row.data;

	CHECK(row->row.len >= sizeof(*record) && record->writer >= 0 && record->writer < WRITERS,
	      "not our record");
	CHECK(record->n > last[record->writer], "writer %d: %d after %lld", record->writer, record->n,
	      (long long)last[record->writer]);
	last[record->writer] = record->n;
	shared->read++;
	shared->lost += row->lost;
}

static void reader(void)
{
	struct control *control = room_open();
	struct control_rows_how how = { .cpu = -1, .consume = true };
	int64_t last[WRITERS] = { -1, -1, -1 };
	struct control_rows *rows;
	struct control_row row;
	struct err err = ERR_INIT;
	int r, idle = 0;

	CHECK(!control_refresh(control, &err), "%s", err.text);
	CHECK(!control_rows_open(&rows, control, &how, &err), "%s", err.text);
	while (idle < 5) {
		int done = shared->done;

		while ((r = control_rows_next(rows, &row, &err)) == 1)
			take(&row, last);
		CHECK(!r, "%s", err.text);
		r = control_rows_wait(rows, 20, &err);
		CHECK(r >= 0, "%d %s", r, err.text);
		idle += done;
	}
	control_rows_close(rows);
	control_close(control);
	_exit(0);
}

static pid_t start(void (*what)(int), int number)
{
	pid_t pid = fork();

	CHECK(pid >= 0, "fork");
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (what)
			what(number);
		reader();
	}
	return pid;
}

static void finish(pid_t pid, const char *what)
{
	int status;

	CHECK(waitpid(pid, &status, 0) == pid && !status, "%s: %x", what, status);
}

static uint64_t left_behind(struct control *control)
{
	struct control_rows_how how = { .cpu = -1 };
	struct control_rows *rows;
	struct err err = ERR_INIT;
	uint64_t left;

	CHECK(!control_refresh(control, &err), "%s", err.text);
	CHECK(!control_rows_open(&rows, control, &how, &err), "%s", err.text);
	left = control_rows_stats(rows)->entries;
	control_rows_close(rows);
	return left;
}

/* A reader that gets hardly any time holds up the tool, which says so and must change nothing then. */
static void resize(struct control *control, int kb)
{
	struct err err = ERR_INIT;
	char size[16];
	int r = -EBUSY;

	snprintf(size, sizeof(size), "%d", kb);
	for (int tries = 0; r == -EBUSY && tries < 20; tries++)
		r = tree_write(control, "buffer_size_kb", size, strlen(size), TREE_TRUNC, &err);
	CHECK(!r, "%s", err.text);
}

int main(void)
{
	struct control *control = room_open();
	const uint32_t *hint;
	pid_t writers[WRITERS], follower;
	uint64_t written = 0;

	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	CHECK(shared != MAP_FAILED, "mmap");
	CHECK(!runtime_event_intern("live", "row", body, strlen(body), 0, &id, &hint), "intern");
	room_write(control, "events/live/enable", "1", 0);
	follower = start(NULL, 0);
	for (int i = 0; i < WRITERS; i++)
		writers[i] = start(writer, i);
	for (int i = 0; i < RESIZES; i++) {
		resize(control, 200 + i % 5 * 100);
		nanosleep(&(struct timespec){ 0, (i % 7) * 5000000 }, NULL);
	}
	shared->stop = 1;
	for (int i = 0; i < WRITERS; i++)
		finish(writers[i], "writer");
	shared->done = 1;
	finish(follower, "reader");
	for (int i = 0; i < WRITERS; i++)
		written += shared->written[i];
	printf("%llu written, %llu read, %llu lost in %d resizes\n", (unsigned long long)written,
	       (unsigned long long)shared->read, (unsigned long long)shared->lost, RESIZES);
	CHECK(written > 1000, "hardly anything was written");
	CHECK(left_behind(control) == 0, "the reader left events behind");
	CHECK(shared->read + shared->lost == written, "the sum does not balance");
	control_close(control);
	return 0;
}
