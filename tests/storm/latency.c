/*
 * Latency across processes: requests start in eight processes and end in eight others, some of which are killed all the time.
 * What the histogram of the synthetic event counted and summed up is what the trace itself tells, to the nanosecond, but for at
 * most one event a kill, since one can die between its record and its count.
 *
 *	latency [REQUESTS [KILLS]]
 */
#include <inttypes.h>
#include <sched.h>

#include "storm/storm.h"

#include "control/rows.h"

#define PAIRS 8u
#define QUEUE 64u
#define BUFFER_KB "98304"

/* From one starter to one ender. */
struct line {
	uint64_t next;		/* number of the starter's next request: of those killed, too */
	uint64_t head, tail;	/* the ender takes [tail, head) */
	uint32_t queue[QUEUE];
};

static struct shared {
	uint64_t started;	/* all of them */
	uint64_t goal;
	uint32_t over;		/* no more starts */
	struct line line[PAIRS];
} *shared;

static struct note_event start, end;

static uint64_t load(uint64_t *word)
{
	return __atomic_load_n(word, __ATOMIC_ACQUIRE);
}

static void start_requests(uint32_t i)
{
	struct line *line = &shared->line[i];

	while (__atomic_fetch_add(&shared->started, 1, __ATOMIC_RELAXED) < shared->goal) {
		uint64_t head = load(&line->head);
		uint32_t seq = (uint32_t)__atomic_fetch_add(&line->next, 1, __ATOMIC_RELAXED);

		while (head - load(&line->tail) == QUEUE)
			sched_yield();
		note_write(&start, i, seq, NOTE_MIN);
		line->queue[head % QUEUE] = seq;
		__atomic_store_n(&line->head, head + 1, __ATOMIC_RELEASE);
	}
}

static void end_requests(uint32_t i)
{
	struct line *line = &shared->line[i];

	for (;;) {
		uint32_t over = __atomic_load_n(&shared->over, __ATOMIC_ACQUIRE);
		uint64_t tail = load(&line->tail);

		if (tail != load(&line->head)) {
			note_write(&end, i, line->queue[tail % QUEUE], NOTE_MIN);
			__atomic_store_n(&line->tail, tail + 1, __ATOMIC_RELEASE);
		} else if (over) {
			return;
		} else {
			sched_yield();
		}
	}
}

/* Kills one of them after the other while there is something to do, and starts another in its place. */
static uint32_t wear_down(pid_t *starters, pid_t *enders, uint32_t kills)
{
	uint32_t done = 0;

	while (done < kills && load(&shared->started) < shared->goal) {
		struct timespec moment = { 0, 1000000 + 1000 * (long)(done * 7919 % 5000) };
		uint32_t i = done / 2 % PAIRS;
		pid_t *victim = done % 2 ? &enders[i] : &starters[i];

		nanosleep(&moment, NULL);
		CHECK(!kill(*victim, SIGKILL), "%s", strerror(errno));
		CHECK(waitpid(*victim, NULL, 0) == *victim, "%s", strerror(errno));
		*victim = storm_start(done % 2 ? end_requests : start_requests, i);
		done++;
	}
	return done;
}

static void put(struct control *control, const char *path, const char *text)
{
	struct err err = ERR_INIT;

	CHECK(!tree_write(control, path, text, strlen(text), 0, &err), "%s: %s", path, err.text);
}

/* What the trace tells. */
struct told {
	uint64_t starts, ends, pairs, lasted;
	uint64_t synths, sum;
	uint64_t lost;
};

/* A request: when it began and ended, 0 never. */
struct request {
	uint64_t start, end;
};

static void look(const struct control_row *row, struct request *requests[PAIRS], uint32_t synth, struct told *told)
{
	struct request *request;
	const struct note *note = (const void *)row->row.data;
	uint64_t fields[2];

	if (note->head.type == synth) {
		memcpy(fields, (const char *)row->row.data + 8, sizeof(fields));
		told->synths++;
		told->sum += fields[1];
		return;
	}
	if (note->head.type != start.id && note->head.type != end.id)
		return;
	CHECK(note->who < PAIRS && note->seq < shared->line[note->who].next, "request %u of %u", note->seq, note->who);
	told->starts += note->head.type == start.id;
	told->ends += note->head.type == end.id;
	request = &requests[note->who][note->seq];
	if (note->head.type == start.id)
		request->start = row->row.ts;
	else if (!request->end)
		request->end = row->row.ts;
}

static struct told read_trace(struct control *control, uint32_t synth)
{
	struct control_rows_how how = { .buffer = 0, .cpu = -1 };
	struct request *requests[PAIRS];
	struct told told = { 0 };
	struct control_rows *rows;
	struct control_row row;
	struct err err = ERR_INIT;
	int r;

	for (uint32_t i = 0; i < PAIRS; i++)
		CHECK((requests[i] = calloc(shared->line[i].next + 1, sizeof(**requests))), "no memory");
	CHECK(!control_refresh(control, &err), "%s", err.text);
	CHECK(!control_rows_open(&rows, control, &how, &err), "%s", err.text);
	while ((r = control_rows_next(rows, &row, &err)) == 1) {
		told.lost += row.lost;
		look(&row, requests, synth, &told);
	}
	CHECK(!r, "%s", err.text);
	control_rows_close(rows);
	for (uint32_t i = 0; i < PAIRS; i++) {
		for (uint64_t j = 0; j < shared->line[i].next; j++) {
			if (!requests[i][j].start || !requests[i][j].end)
				continue;
			told.pairs++;
			told.lasted += requests[i][j].end - requests[i][j].start;
		}
		free(requests[i]);
	}
	return told;
}

/* "    Hits: 12" and the sums of all rows. */
static void read_hist(struct control *control, uint64_t *hits, uint64_t *sum, uint64_t *drops)
{
	struct buf text = BUF_INIT;
	struct err err = ERR_INIT;
	const char *at;

	CHECK(!tree_read(control, "events/synthetic/req_lat/hist", &text, &err), "%s", err.text);
	at = strstr(text.data, "Hits: ");
	CHECK(at && sscanf(at, "Hits: %" SCNu64, hits) == 1, "%s", text.data);
	at = strstr(text.data, "Dropped: ");
	CHECK(at && sscanf(at, "Dropped: %" SCNu64, drops) == 1, "%s", text.data);
	*sum = 0;
	for (at = text.data; (at = strstr(at, "  lat: ")); at++)
		*sum += strtoull(at + 7, NULL, 10);
	buf_fini(&text);
}

static uint32_t synth_id(struct control *control)
{
	struct buf text = BUF_INIT;
	struct err err = ERR_INIT;
	uint32_t id;

	CHECK(!tree_read(control, "events/synthetic/req_lat/id", &text, &err), "%s", err.text);
	id = (uint32_t)strtoul(text.data, NULL, 10);
	buf_fini(&text);
	return id;
}

static void check(const struct told *told, uint64_t hits, uint64_t sum, uint32_t kills)
{
	printf("%" PRIu64 " starts, %" PRIu64 " ends, %" PRIu64 " pairs, %" PRIu64 " synthetic events, %" PRIu64
	       " in the histogram, %u kills\n", told->starts, told->ends, told->pairs, told->synths, hits, kills);
	CHECK(!told->lost, "%" PRIu64 " events were lost", told->lost);
	CHECK(told->starts >= shared->goal - kills, "only %" PRIu64 " starts", told->starts);
	CHECK(hits <= told->pairs + kills && told->pairs <= hits + kills, "%" PRIu64 " pairs, %" PRIu64 " counted",
	      told->pairs, hits);
	CHECK(hits <= told->synths + kills && told->synths <= hits + kills, "%" PRIu64 " synthetic events", told->synths);
	CHECK(sum / (hits ? hits : 1) < STORM_PATIENCE_S * 1000000000ull, "they last %" PRIu64 " ns on average", sum / hits);
	if (hits == told->pairs)
		CHECK(sum == told->lasted, "they last %" PRIu64 " by the trace, not %" PRIu64, told->lasted, sum);
	if (hits == told->synths)
		CHECK(sum == told->sum, "they last %" PRIu64 ", not %" PRIu64, told->sum, sum);
}

int main(int argc, char **argv)
{
	uint32_t kills = argc > 2 ? (uint32_t)atoi(argv[2]) : 40;
	pid_t starters[PAIRS], enders[PAIRS];
	struct control *control = tool_open();
	uint64_t hits, sum, drops;
	struct told told;

	CHECK(runtime.attached, "no tracing directory");
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	CHECK(shared != MAP_FAILED, "%s", strerror(errno));
	shared->goal = argc > 1 ? strtoull(argv[1], NULL, 0) : 1000000;
	start = note_event("start");
	end = note_event("end");
	put(control, "buffer_size_kb", BUFFER_KB);
	put(control, "synthetic_events", "req_lat unsigned int who; u64 lat");
	put(control, "events/test/start/trigger", "hist:keys=who,seq:ts0=common_timestamp");
	put(control, "events/test/end/trigger",
	    "hist:keys=who,seq:lat=common_timestamp-$ts0:onmatch(test.start).trace(req_lat,who,$lat)");
	put(control, "events/synthetic/req_lat/trigger", "hist:keys=who:vals=lat");
	put(control, "events/synthetic/req_lat/enable", "1");
	put(control, "events/test/enable", "1");
	for (uint32_t i = 0; i < PAIRS; i++) {
		starters[i] = storm_start(start_requests, i);
		enders[i] = storm_start(end_requests, i);
	}
	kills = wear_down(starters, enders, kills);
	for (uint32_t i = 0; i < PAIRS; i++)
		CHECK(waitpid(starters[i], NULL, 0) == starters[i], "%s", strerror(errno));
	__atomic_store_n(&shared->over, 1, __ATOMIC_RELEASE);
	for (uint32_t i = 0; i < PAIRS; i++)
		CHECK(waitpid(enders[i], NULL, 0) == enders[i], "%s", strerror(errno));
	told = read_trace(control, synth_id(control));
	read_hist(control, &hits, &sum, &drops);
	CHECK(!drops, "%" PRIu64 " dropped", drops);
	check(&told, hits, sum, kills);
	control_close(control);
	return 0;
}
