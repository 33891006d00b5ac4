/*
 * What tests of the runtime share: an event of their own, notes that can be told from any others, the tool's side in the
 * same program, and a reader that trusts nothing.
 *
 * A note carries who wrote it and its number; every byte behind those follows from them, so a torn one is found wherever it
 * is torn. A test is the traced program and the tool at once, or starts itself again as one of the two.
 */
#ifndef TESTS_RUNTIME_TRACE_H
#define TESTS_RUNTIME_TRACE_H

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/err.h"
#include "capture/stream.h"
#include "control/buffer.h"
#include "control/control.h"
#include "control/enable.h"
#include "control/sets.h"
#include "decode/page.h"
#include "insist.h"
#include "layout/registry.h"
#include "runtime/local.h"
#include "runtime/runtime.h"

#define FAIL(...)                                                                                  \
	do {                                                                                       \
		fprintf(stderr, "%s:%d: ", __FILE__, __LINE__);                                    \
		fprintf(stderr, __VA_ARGS__);                                                      \
		fputc('\n', stderr);                                                               \
		exit(1);                                                                           \
	} while (0)

static inline __attribute__((noreturn)) void skip(const char *why)
{
	printf("%s\n", why);
	exit(77);
}

/* ---- the traced program's side ---- */

#define NOTE_BODY                                                                                  \
	"\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"                     \
	"\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n"                     \
	"\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n"             \
	"\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"                               \
	"\tfield:unsigned int who;\toffset:8;\tsize:4;\tsigned:0;\n"                               \
	"\tfield:unsigned int seq;\toffset:12;\tsize:4;\tsigned:0;\n"                              \
	"\tfield:unsigned int len;\toffset:16;\tsize:4;\tsigned:0;\n"                              \
	"\tfield:unsigned int sum;\toffset:20;\tsize:4;\tsigned:0;\n"                              \
	"\nprint fmt: \"who=%u seq=%u\", REC->who, REC->seq\n"

struct note {
	struct record_head head;
	uint32_t who;
	uint32_t seq;
	uint32_t len;		/* of all of it, a multiple of 4 */
	uint32_t sum;
	unsigned char bytes[];
};

#define NOTE_MIN 24u
#define NOTE_SMALL 128u
#define NOTE_MAX RUNTIME_RECORD_MAX

struct note_event {
	uint32_t id;
	const uint32_t *hint;
};

static inline int note_intern(struct note_event *event, const char *system, const char *name)
{
	return runtime_event_intern(system, name, NOTE_BODY, strlen(NOTE_BODY), 0, &event->id, &event->hint);
}

static inline struct note_event note_event(const char *name)
{
	struct note_event event = { 0, &runtime_hint_off };
	int r = note_intern(&event, "test", name);

	CHECK(!r, "event %s: %s", name, strerror(-r));
	return event;
}

static inline uint32_t note_sum(uint32_t who, uint32_t seq, uint32_t len)
{
	return (who * 0x9e3779b1u ^ seq * 0x85ebca6bu ^ len * 0xc2b2ae35u) + 0x27d4eb2fu;
}

static inline void note_fill(struct note *note, uint32_t who, uint32_t seq, uint32_t len)
{
	uint32_t sum = note_sum(who, seq, len);

	note->who = who;
	note->seq = seq;
	note->len = len;
	note->sum = sum;
	for (uint32_t i = 0; i < len - NOTE_MIN; i++)
		note->bytes[i] = (unsigned char)((sum >> 11) + i * 31);
}

/* As an event's site does it. `len` up to NOTE_SMALL. */
static inline void note_write(const struct note_event *event, uint32_t who, uint32_t seq, uint32_t len)
{
	union {
		struct note note;
		uint64_t words[NOTE_SMALL / 8];
	} record;

	if (!__atomic_load_n(event->hint, __ATOMIC_RELAXED))
		return;
	note_fill(&record.note, who, seq, len);
	runtime_write(event->id, &record, len);
}

/* The same for long ones. */
static inline void note_write_long(const struct note_event *event, uint32_t who, uint32_t seq, uint32_t len)
{
	void *stage;

	if (!__atomic_load_n(event->hint, __ATOMIC_RELAXED))
		return;
	stage = runtime_stage_get();
	if (!stage) {
		runtime_lose(event->id);
		return;
	}
	note_fill(stage, who, seq, len);
	runtime_write(event->id, stage, len);
	runtime_stage_put(stage);
}

/* ---- the tool's side ---- */

static inline struct control *tool_open(void)
{
	struct control *control;
	struct err err = ERR_INIT;

	CHECK(!control_open(&control, NULL, true, &err), "%s", err.text);
	return control;
}

static inline void tool_begin(struct control *control)
{
	struct err err = ERR_INIT;

	CHECK(!control_begin(control, &err), "%s", err.text);
}

static inline void tool_commit(struct control *control)
{
	struct err err = ERR_INIT;

	CHECK(!control_commit(control, &err), "%s", err.text);
}

static inline void tool_enable(struct control *control, const char *system, const char *event, bool on)
{
	struct err err = ERR_INIT;

	tool_begin(control);
	CHECK(!control_enable(control, 0, system, event, on, &err), "%s", err.text);
	tool_commit(control);
}

/* A reader that gets hardly any time holds up the tool, which says so: it is tried again. */
static inline void tool_resize(struct control *control, uint64_t npages)
{
	struct err err;
	int r = -EBUSY;

	for (int tries = 0; r == -EBUSY && tries < 200; tries++) {
		if (tries)
			usleep(20000);
		err = (struct err)ERR_INIT;
		tool_begin(control);
		r = control_end(control, control_buffer_resize(control, &control->state.buffers[0], npages, &err), &err);
	}
	CHECK(!r, "%s", err.text);
}

static inline void tool_refresh(struct control *control)
{
	struct err err = ERR_INIT;

	CHECK(!control_refresh(control, &err), "%s", err.text);
}

/* Everything of system test on, in rings of `npages` pages. */
static inline struct control *tool_start(uint64_t npages)
{
	struct control *control = tool_open();
	struct err err = ERR_INIT;

	tool_begin(control);
	CHECK(!control_buffer_resize(control, &control->state.buffers[0], npages, &err), "%s", err.text);
	CHECK(!control_enable(control, 0, "test", "*", true, &err), "%s", err.text);
	tool_commit(control);
	return control;
}

/* ---- reading ---- */

struct seen {
	uint32_t cpu;
	uint32_t id;
	int32_t pid;
	uint32_t who;
	uint32_t seq;
	uint32_t len;
	uint64_t ts;
};

struct reading {
	uint64_t events;
	uint64_t lost;
	uint64_t last_ts;
	void (*each)(const struct seen *seen, void *ctx);
	void *ctx;
};

static inline const char *note_wrong(const void *data, uint32_t len)
{
	const struct note *note = data;

	if (len < NOTE_MIN)
		return "too short";
	if (note->len != len)
		return "of another length than it was written with";
	if (note->sum != note_sum(note->who, note->seq, len))
		return "torn at its head";
	for (uint32_t i = 0; i < len - NOTE_MIN; i++)
		if (note->bytes[i] != (unsigned char)((note->sum >> 11) + i * 31))
			return "torn";
	return NULL;
}

/* Checks a page that a stream yielded, and hands on its notes. Other events may only be ftrace's own. */
static inline void read_page(struct reading *reading, uint32_t cpu, const void *page, uint32_t size,
			     const struct stream_page *info)
{
	struct page_walk walk;
	struct page_event event;
	uint32_t n = 0;
	int ret;

	CHECK(!page_walk_init(&walk, page, size), "R1: cpu %u: not a page", cpu);
	reading->lost += info->lost;
	while ((ret = page_walk_next(&walk, &event)) > 0) {
		const struct note *note = event.data;
		const char *wrong;

		n++;
		CHECK(event.ts >= reading->last_ts, "R5: cpu %u: time goes back from %llu to %llu", cpu,
		      (unsigned long long)reading->last_ts, (unsigned long long)event.ts);
		reading->last_ts = event.ts;
		reading->events++;
		if (event.len >= sizeof(note->head) && note->head.type < EVENT_ID_BUILTIN_END && note->head.type)
			continue;
		wrong = note_wrong(event.data, event.len);
		CHECK(!wrong, "R1: cpu %u: event %u at %u is %s (type %u pid %d len %u)", cpu, n, event.offset, wrong,
		      note->head.type, note->head.pid, event.len);
		if (reading->each) {
			struct seen seen = {
				.cpu = cpu, .id = note->head.type, .pid = note->head.pid, .who = note->who,
				.seq = note->seq, .len = event.len, .ts = event.ts,
			};

			reading->each(&seen, reading->ctx);
		}
	}
	CHECK(!ret, "R1: cpu %u: a page does not parse to its end", cpu);
	CHECK(n == info->events, "cpu %u: a page has %u events and tells of %u", cpu, n, info->events);
}

/* All that one CPU's stream has now. */
static inline void read_stream(struct reading *reading, struct stream *stream, uint32_t cpu)
{
	uint32_t size = stream_page_size(stream);
	void *page = malloc(size);
	struct stream_page info;
	int ret;

	while ((ret = stream_next(stream, page, &info)) > 0)
		read_page(reading, cpu, page, size, &info);
	CHECK(!ret, "cpu %u: %s", cpu, strerror(-ret));
	free(page);
}

/* All CPUs, leaving no trace, or consuming. Gives the number of events; *lost (may be NULL) what was told lost. */
static inline uint64_t read_all(struct control *control, bool consume, void (*each)(const struct seen *seen, void *ctx),
				void *ctx, uint64_t *lost)
{
	uint64_t events = 0, gone = 0;

	tool_refresh(control);
	for (uint32_t cpu = 0; cpu < control->dir.ncpu; cpu++) {
		struct reading reading = { .each = each, .ctx = ctx };
		struct err err = ERR_INIT;
		struct stream *stream;

		CHECK(!stream_open(&stream, control->dir.fd[SEGMENT_RINGS], &control->state.buffers[0],
				   control->dir.ncpu, cpu, consume, &err), "%s", err.text);
		read_stream(&reading, stream, cpu);
		stream_accept(stream);
		stream_close(stream);
		events += reading.events;
		gone += reading.lost;
	}
	if (lost)
		*lost = gone;
	return events;
}

/* Events that nobody read, or told to have been lost, in the live set. */
static inline uint64_t unread_now(struct control *control)
{
	uint64_t sum = 0, *unread = calloc(control->dir.ncpu, sizeof(*unread));

	tool_refresh(control);
	CHECK(!control_set_unread(control, &control->state.buffers[0].live, unread), "the live set makes no sense");
	for (uint32_t cpu = 0; cpu < control->dir.ncpu; cpu++)
		sum += unread[cpu];
	free(unread);
	return sum;
}

/* ---- a ledger: who wrote how many notes as which thread, in memory that all processes share ---- */

#define LEDGER_ROWS 65536u

struct ledger_row {
	int32_t tid;
	uint32_t count;
};

struct ledger {
	uint32_t rows;
	struct ledger_row row[LEDGER_ROWS];
};

/* A row for the calling thread. */
static inline uint32_t ledger_join(struct ledger *ledger)
{
	uint32_t who = __atomic_fetch_add(&ledger->rows, 1, __ATOMIC_RELAXED);

	if (who >= LEDGER_ROWS)
		abort();
	ledger->row[who].tid = gettid();
	return who;
}

/* One note, which must be there in the end. Signal handlers may use it, with rows of their own. */
static inline void ledger_say(struct ledger *ledger, uint32_t who, const struct note_event *event, uint32_t len)
{
	note_write(event, who, ledger->row[who].count++, len);
}

struct ledger_check {
	const struct ledger *ledger;
	uint32_t *got;
	uint64_t *sum;
};

static inline void ledger_see(const struct seen *seen, void *ctx)
{
	struct ledger_check *check = ctx;

	CHECK(seen->who < check->ledger->rows, "R1: nobody is %u", seen->who);
	CHECK(seen->pid == check->ledger->row[seen->who].tid, "who %u seq %u bears pid %d, not %d", seen->who,
	      seen->seq, seen->pid, check->ledger->row[seen->who].tid);
	CHECK(seen->seq < check->ledger->row[seen->who].count, "R6: who %u wrote no %u", seen->who, seen->seq);
	check->got[seen->who]++;
	check->sum[seen->who] += seen->seq;
}

/*
 * Every note of the ledger is in the buffer, once, under its writer's tid, and nothing was lost. Where there is no rseq, more
 * writers than overflow rings may lose some: then none is missing that is not counted.
 */
static inline void ledger_verify(const struct ledger *ledger, struct control *control, bool consume)
{
	struct ledger_check check = {
		ledger, calloc(LEDGER_ROWS, sizeof(uint32_t)), calloc(LEDGER_ROWS, sizeof(uint64_t)),
	};
	bool may_lose = runtime_self.rs && (int32_t)runtime_self.rs->cpu_id < 0;
	uint64_t lost, total = 0, unread = may_lose ? unread_now(control) : 0;

	read_all(control, consume, ledger_see, &check, &lost);
	CHECK(!lost || may_lose, "R6: %llu events were lost", (unsigned long long)lost);
	for (uint32_t who = 0; who < ledger->rows; who++) {
		uint64_t n = ledger->row[who].count;

		CHECK((check.got[who] == n && check.sum[who] == n * (n - (n > 0)) / 2) ||
		      (may_lose && check.got[who] < n),
		      "R6: who %u (pid %d) wrote %llu notes, %u are there", who, ledger->row[who].tid,
		      (unsigned long long)n, check.got[who]);
		total += n;
	}
	CHECK(!may_lose || unread == total, "R6: %llu of %llu events are accounted for", (unsigned long long)unread,
	      (unsigned long long)total);
	printf("%u writers, %llu notes, %llu told lost\n", ledger->rows, (unsigned long long)total,
	       (unsigned long long)lost);
	free(check.got);
	free(check.sum);
}

/* ---- this and that ---- */

static inline uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static inline uint32_t draw(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return (uint32_t)(*state * 0x2545f4914f6cdd1dull >> 32);
}

static inline void pause_us(uint32_t us)
{
	struct timespec limit = { .tv_sec = us / 1000000, .tv_nsec = (long)(us % 1000000) * 1000 };

	nanosleep(&limit, NULL);
}

/* Waits for a child for `seconds` at most; fails the test, in the words of `what`, unless it exits with 0. */
static inline void expect_exit(pid_t pid, unsigned seconds, const char *what)
{
	uint64_t end = now_ns() + seconds * 1000000000ull;
	int status;
	pid_t got;

	while (!(got = waitpid(pid, &status, WNOHANG))) {
		if (now_ns() > end) {
			kill(pid, SIGKILL);
			waitpid(pid, &status, 0);
			FAIL("%s: hangs", what);
		}
		pause_us(1000);
	}
	CHECK(got == pid, "%s: %s", what, strerror(errno));
	CHECK(!WIFSIGNALED(status), "%s: killed by signal %d (%s)", what, WTERMSIG(status), strsignal(WTERMSIG(status)));
	CHECK(!WEXITSTATUS(status), "%s: exits with %d", what, WEXITSTATUS(status));
}

/* Memory that children share. */
static inline void *shared_memory(size_t size)
{
	void *at = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	CHECK(at != MAP_FAILED, "%s", strerror(errno));
	return at;
}

/* Starts this program again, as `role` with one more argument. */
static inline pid_t start_role(const char *role, const char *arg)
{
	pid_t pid = fork();

	if (!pid) {
		execl("/proc/self/exe", "traced", role, arg, (char *)NULL);
		_exit(127);
	}
	CHECK(pid > 0, "%s", strerror(errno));
	return pid;
}

static inline unsigned cores(void)
{
	long n = sysconf(_SC_NPROCESSORS_ONLN);

	return n > 0 ? (unsigned)n : 1;
}

#endif
