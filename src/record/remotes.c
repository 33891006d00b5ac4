/*
 * record/remotes: the taps of remotes. See tap.h.
 *
 *   a record of the target's			in the file
 *   | id | fields |				| type, flags, count, pid | fields |
 *   in its order of bytes, by its clock	in ours, by the clock of the recording
 *
 * Its rings may be small, and nobody tells when something comes: they are looked at every millisecond or few. Now and then the clocks are
 * compared. A remote is not a thread: a number that no thread can have stands for it, with its name.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mono.h"
#include "decode/page.h"
#include "layout/control.h"
#include "layout/page.h"
#include "record/local.h"
#include "record/tap.h"
#include "remote/clock.h"

#define PAGE_SIZE 4096u
#define RECORD_MAX 4096u
#define CPUS_MAX 4096u

/* Rings below that size are emptied each millisecond. */
#define SMALL_BYTES (64u << 10)
#define SMALL_MS 1
#define LARGE_MS 5

#define FIRST_MATCH_NS 200000000ull
#define SLICE_NS 1000000ull
#define MATCH_NS 2000000ull
#define MATCH_EACH_NS 500000000ull
/* Of one that was never matched, a core that has events is asked for so long, and then another one; less than the clock itself waits. */
#define AWAKE_NS 90000000ull
#define OTHER_NS 10000000ull
#define NAP_US 20

/* What is read of one CPU. */
struct reader {
	struct remote_reader *reader;
	unsigned char record[RECORD_MAX];	/* of a row that is still to be put */
	uint32_t len;				/* 0: there is none */
	uint64_t ts;				/* never less than of the row before, */
	bool guessed;				/* unless that one's was made while the clock was not known, */
	bool back;				/* and this one's was not */
	uint64_t lost;				/* before it, */
	bool unsure;				/* and an unknown number, since the target began anew */
	uint64_t dropped;			/* since then: rows that no page has room for, and what was lost before them */
	uint64_t empty_at;			/* the host's time: nothing more was there */
	bool asked, answered;			/* of this page, since its times contradicted that */
	uint32_t restarts;
	bool earlier;				/* the next of those was before the recording */
};

struct far {
	struct remote *remote;
	struct remote_clock clock;
	const struct record_clock *shown;	/* the recording's */
	int64_t ahead;			/* that one's nanoseconds, of CLOCK_MONOTONIC */
	uint64_t matched_at;
	uint64_t worst;			/* error of what is in the file, */
	uint64_t guessed;		/* but for so many that came while the clock was not known */
	uint64_t refused;		/* events behind the last one in the file */
	uint64_t left;			/* and those that were still to be read when nothing could be written any more */
	uint32_t restarts;		/* as the CPU that saw most of them has it */
	bool sought;			/* the clock was, for an event that came while it was not known */
	uint32_t awake;			/* the ring of the last such event: it is asked, and others are, in turns */
	uint32_t turns;
	uint64_t turned_at;
	struct err trouble;		/* why nothing can be read now */
	bool last;			/* what is there now is all that is read, */
	bool unread;			/* and was not read to its end */
	bool old;			/* there was something before, which it could not be told to throw away */
	bool more;			/* in the end it has CPUs that it did not have at first: nobody reads them */
	struct record_apart numbers;
	int wait_ms;
	struct reader *readers;
	uint32_t nr_readers;
};

/* ---- records ---- */

static void put_word(unsigned char *to, const unsigned char *from, uint32_t size, bool swap)
{
	for (uint32_t i = 0; i < size; i++)
		to[i] = from[swap ? size - 1 - i : i];
}

/* Of an event that has no text: what its number was. */
static uint32_t put_unknown(const struct far *far, uint16_t id, unsigned char *out)
{
	struct record_head head = { .type = (uint16_t)(far->numbers.first_id + remote_texts(far->remote)->nr), .pid = far->numbers.pid };

	memcpy(out, &head, sizeof(head));
	memcpy(out + sizeof(head), &id, sizeof(id));
	memset(out + sizeof(head) + sizeof(id), 0, 2);
	return sizeof(head) + 4;
}

static uint32_t put_record(const struct far *far, const struct remote_row *row, unsigned char *out)
{
	const struct decode_abi *abi = remote_abi(far->remote);
	const struct remote_texts *texts = remote_texts(far->remote);
	uint16_t id = row->len >= 2 ? (uint16_t)decode_abi_load(row->data, 2, abi->big_endian) : 0;
	const struct remote_event *event = remote_texts_id(texts, id);
	bool swap = abi->big_endian != (__BYTE_ORDER == __BIG_ENDIAN);
	struct record_head head = { .pid = far->numbers.pid };
	uint32_t len;

	if (!event || event->size > row->len || event->size + RECORD_APART_SHIFT > RECORD_MAX)
		return put_unknown(far, id, out);
	head.type = (uint16_t)(far->numbers.first_id + (uint32_t)(event - texts->events));
	len = (event->size + RECORD_APART_SHIFT + 3) & ~3u;
	memset(out, 0, len);
	memcpy(out, &head, sizeof(head));
	for (uint32_t i = 0; i < event->nr_fields; i++) {
		const struct remote_field *field = &event->fields[i];

		put_word(out + field->offset + RECORD_APART_SHIFT, (const unsigned char *)row->data + field->offset, field->size, swap);
	}
	return len;
}

/* ---- time ---- */

static int check_clock(struct far *far, struct err *err)
{
	if (record_clock_ahead(far->shown, &far->ahead))
		return 0;
	return err_set(err, -EINVAL, "times of remote %s cannot be told by the clock %s: -C mono can", remote_name(far->remote),
		       record_clock_name(far->shown));
}

static bool is_matched(const struct far *far)
{
	return remote_clock_error(&far->clock) != UINT64_MAX;
}

/* Whoever answers with its events only has to be asked when one comes. */
static void turn(struct far *far, uint64_t now)
{
	if (!far->sought || is_matched(far) || far->nr_readers < 2 || now - far->turned_at < (far->turns % 2 ? OTHER_NS : AWAKE_NS))
		return;
	far->turned_at = now;
	far->turns++;
	remote_clock_turn(&far->clock, far->turns % 2 ? far->turns / 2 % far->nr_readers : far->awake);
}

/* Before what is there is read: what comes later than the comparison is not told by it for long. */
static void match(struct far *far)
{
	uint64_t now = mono_ns();

	record_clock_ahead(far->shown, &far->ahead);
	turn(far, now);
	if (far->matched_at && now - far->matched_at < MATCH_EACH_NS) {
		remote_clock_look(&far->clock, far->remote);
		return;
	}
	remote_clock_match(&far->clock, far->remote, MATCH_NS, false);
	far->matched_at = now;
}

/* Its core wrote just now, so it answers soon. */
static bool ask(struct far *far, uint32_t ring)
{
	uint64_t until = mono_ns() + MATCH_NS;
	int r = 0;

	remote_clock_turn(&far->clock, ring);
	for (; !r && mono_ns() < until; usleep(NAP_US))
		r = remote_clock_look(&far->clock, far->remote);
	return r > 0;
}

/*
 * An event that was not there a while ago is of a later time. A clock by which it is not may have stood still since another core was asked. If its
 * own does not answer, it may be off by all the time until now; if it does, and the clock is right, there was some time between the event's time and its store.
 */
static uint64_t time_after(struct far *far, struct reader *reader, uint64_t ticks, uint64_t *error)
{
	uint64_t ns = remote_clock_host(&far->clock, ticks, error);

	if (*error == UINT64_MAX || ns + *error >= reader->empty_at)
		return ns;
	if (!reader->asked) {
		reader->asked = true;
		reader->answered = ask(far, (uint32_t)(reader - far->readers));
		ns = remote_clock_host(&far->clock, ticks, error);
	}
	if (!reader->answered && ns + *error < reader->empty_at)
		*error = mono_ns() - ns;
	return ns;
}

static uint64_t time_of(struct far *far, struct reader *reader, uint64_t ticks)
{
	uint64_t error, ns = time_after(far, reader, ticks, &error);

	/* Of a target that answers with its events only, the first one did so just now. */
	if (error == UINT64_MAX && remote_clock_look(&far->clock, far->remote) > 0)
		ns = remote_clock_host(&far->clock, ticks, &error);
	ns += (uint64_t)far->ahead;
	reader->guessed = error == UINT64_MAX;
	far->guessed += reader->guessed;
	far->worst = !reader->guessed && error > far->worst ? error : far->worst;
	return far->shown->by_tsc ? record_clock_counts(far->shown, ns) : ns;
}

/* ---- pages ---- */

static int run(struct record *record, size_t t, uint32_t cpu, bool *idle, struct err *err)
{
	(void)err;
	*idle = !record->taps[t].lanes[cpu].remote;
	return 0;
}

/* An event came before its time can be told. Its core is awake: it is the one to ask. */
static void seek_clock(struct far *far, const struct reader *reader)
{
	if (is_matched(far))
		return;
	far->awake = (uint32_t)(reader - far->readers);
	/* A question that is there already may be answered just now. */
	if (!far->sought || far->clock.ring != far->awake) {
		far->turns = 0;
		far->turned_at = mono_ns();
		remote_clock_turn(&far->clock, far->awake);
	}
	if (!far->sought)
		remote_clock_match(&far->clock, far->remote, FIRST_MATCH_NS, true);
	far->sought = true;
}

/* Another comparison may put an event before the one that it follows, by what both are off. What is no time tells nothing of those behind it. */
static void put_time(struct far *far, struct reader *reader, uint64_t ticks)
{
	bool after = reader->guessed;
	uint64_t ts = time_of(far, reader, ticks);

	reader->back = after && !reader->guessed && ts < reader->ts;
	reader->ts = reader->back || ts > reader->ts ? ts : reader->ts;
}

/* The row that is put next: 1, 0 when there is none, -errno. */
static int next_row(struct far *far, struct reader *reader, struct err *err)
{
	struct remote_row row;
	int r;

	if (reader->len)
		return 1;
	r = remote_reader_next(reader->reader, &row, err);
	if (r <= 0)
		return r;
	/* Its clock began anew as well. */
	if (row.restarted) {
		remote_clock_init(&far->clock);
		far->sought = false;
		reader->restarts += !reader->earlier;
	}
	seek_clock(far, reader);
	far->trouble = (struct err)ERR_INIT;
	reader->len = put_record(far, &row, reader->record);
	put_time(far, reader, row.ts);
	reader->lost = row.lost + reader->dropped;
	reader->dropped = 0;
	reader->unsure |= row.restarted && !reader->earlier;
	reader->earlier &= !row.restarted;
	return 1;
}

/* Times within a page go on, and a loss is told at its beginning. */
static bool begins_page(const struct reader *reader)
{
	return reader->lost || reader->unsure || reader->back;
}

/* In the file it is larger than it was: no page has room for it. */
static void drop(struct reader *reader)
{
	reader->dropped = reader->lost + 1;
	reader->lost = 0;
	reader->len = 0;
}

static int next(struct record *record, size_t t, uint32_t cpu, unsigned char *page, struct stream_page *info, struct err *err)
{
	struct lane *lane = &record->taps[t].lanes[cpu];
	struct far *far = record->taps[t].far;
	struct reader *reader = lane->remote;
	struct err why = ERR_INIT;
	struct build build;
	uint64_t now;
	int r;

	*info = (struct stream_page){ 0 };
	if (!reader)
		return 0;
	match(far);
	build_begin(&build, page, record->taps[t].page_size);
	reader->asked = false;
	now = mono_ns();
	while ((r = next_row(far, reader, &why)) > 0) {
		if (begins_page(reader) && build.events)
			break;
		if (reader->back)
			r = record_end_gather(record, t, cpu, err);
		if (r < 0)
			return r;
		if (!build_add(&build, reader->ts, reader->record, reader->len, 8)) {
			if (build.events)
				break;
			drop(reader);
			continue;
		}
		info->lost += reader->lost;
		info->lost_more |= reader->unsure;
		reader->len = 0;
		reader->lost = 0;
		reader->unsure = reader->back = false;
	}
	info->events = build.events;
	info->bytes = build.len;
	build_end(&build, info->lost_more ? PAGE_LOST_UNKNOWN : info->lost);
	/* All others go on, and so does this one if it comes back. */
	if (r < 0)
		far->trouble = why;
	if (!r)
		reader->empty_at = now;
	far->unread |= r < 0 && far->last;
	return build.events != 0;
}

static void accept(struct lane *lane)
{
	/* A row that is still to be put is in none of the pages so far. */
	if (lane->remote->len)
		remote_reader_accept_but_last(lane->remote->reader, NULL);
	else
		remote_reader_accept(lane->remote->reader, NULL);
}

const struct tap_kind tap_remotes = { run, next, accept };

/* ---- beginning and end ---- */

int record_remotes_cpus(const struct remote *remote, struct err *err)
{
	uint32_t most = 0;

	for (uint32_t i = 0; i < remote_cpus(remote); i++)
		most = remote_cpu(remote, i) >= most ? remote_cpu(remote, i) + 1 : most;
	/* What is kept of each is not little. */
	if (most > CPUS_MAX)
		return err_set(err, -ERANGE, "remote %s: cpu %" PRIu32 " cannot be recorded: the largest is %u", remote_name(remote), most - 1,
			       CPUS_MAX - 1);
	return (int)most;
}

/* The reader of one ring. Whoever looks at the memory may find a target that began anew, with other rings than there were lanes made for. */
static int open_reader(struct record *record, struct far *far, struct tap *tap, uint32_t i, struct err *err)
{
	uint32_t cpu = i < remote_cpus(far->remote) ? remote_cpu(far->remote, i) : UINT32_MAX;
	struct reader *reader = &far->readers[far->nr_readers];
	struct remote_how how = { .cpu = (int)cpu, .consume = true };
	int r;

	if (cpu >= record->nr_cpus || tap->lanes[cpu].remote)
		return err_set(err, -ESTALE, "the target was started again, with other CPUs than it had a moment ago");
	r = remote_reader_open(&reader->reader, far->remote, &how, err);
	if (r)
		return r;
	reader->earlier = remote_reader_restarted(reader->reader);
	tap->lanes[cpu].remote = reader;
	far->nr_readers++;
	return 0;
}

/* It can be told to begin anew, and did say something. */
static bool is_awake(const struct far *far)
{
	return remote_is_writable(far->remote) && (is_matched(far) || remote_server(far->remote));
}

/*
 * What was there before is no part of it, unless it is somebody's who reads it, or of a memory that nobody answers for: a dump, a target that
 * stands still.
 */
static int open_readers(struct record *record, struct far *far, struct tap *tap, struct err *err)
{
	const struct remote_target *target;
	bool awake;
	uint32_t n;
	int r;

	if (remote_is_read(far->remote))
		return err_set(err, -EBUSY, "somebody else takes its events out");
	awake = is_awake(far);
	r = awake ? remote_reset(far->remote, -1, err) : 0;
	if (r)
		return r;
	n = remote_cpus(far->remote);
	far->readers = calloc(n, sizeof(*far->readers));
	if (!far->readers)
		return err_set(err, -ENOMEM, "out of memory");
	/* The first one loads the buffer. */
	for (uint32_t i = 0; !r && i < n; i++)
		r = open_reader(record, far, tap, i, err);
	for (uint32_t i = 0; !awake && !r && i < n; i++)
		far->old |= remote_is_writable(far->remote) && remote_reader_ready(far->readers[i].reader);
	target = r ? NULL : remote_target(far->remote, NULL);
	if (target)
		far->wait_ms = ((uint64_t)target->rings[0].mask + 1) * target->page_size < SMALL_BYTES ? SMALL_MS : LARGE_MS;
	return r;
}

int record_remotes_open(struct record *record, struct tap *tap, const struct record_buffer *buffers, size_t i, struct err *err)
{
	struct remote *remote = buffers[i].remote;
	struct far *far = calloc(1, sizeof(*far));
	int r;

	(void)record;
	if (!far)
		return err_set(err, -ENOMEM, "out of memory");
	tap->far = far;
	tap->page_size = PAGE_SIZE;
	tap->gathers = true;
	far->remote = remote;
	far->trouble = (struct err)ERR_INIT;
	remote_clock_init(&far->clock);
	r = record_apart_numbers(buffers, i, &far->numbers);
	return r ? err_set(err, r, "remotes have more events than a file can number") : 0;
}

/* In turns: whoever does not answer keeps nobody waiting but for all others that do not. */
static void match_all(struct record *record)
{
	uint64_t until = mono_ns() + FIRST_MATCH_NS, began = 0;
	bool more = true;

	while (more && began < until) {
		more = false;
		for (size_t t = 0; t < record->nr_taps; t++) {
			struct far *far = record->taps[t].far;

			if (!far || far->matched_at)
				continue;
			began = mono_ns();
			remote_clock_match(&far->clock, far->remote, SLICE_NS, true);
			/* Less was enough. */
			if (mono_ns() - began < SLICE_NS)
				far->matched_at = began;
			more |= !far->matched_at;
		}
	}
}

/* All clocks first, which takes its time: rings may be small. */
int record_remotes_begin(struct record *record, const struct record_clock *shown, struct err *err)
{
	int r = 0;

	for (size_t t = 0; !r && t < record->nr_taps; t++) {
		struct far *far = record->taps[t].far;

		if (!far)
			continue;
		far->shown = shown;
		r = check_clock(far, err);
	}
	if (!r)
		match_all(record);
	for (size_t t = 0; !r && t < record->nr_taps; t++) {
		struct far *far = record->taps[t].far;

		r = far ? open_readers(record, far, &record->taps[t], err) : 0;
		if (r)
			err_prefix(err, "remote %s: ", remote_name(far->remote));
	}
	return r;
}

void record_remotes_last(struct record *record)
{
	for (size_t t = 0; t < record->nr_taps; t++) {
		struct far *far = record->taps[t].far;

		if (!far)
			continue;
		far->last = true;
		for (uint32_t i = 0; i < far->nr_readers; i++)
			remote_reader_last(far->readers[i].reader);
	}
}

static void end_reader(struct record *record, struct far *far, struct reader *reader)
{
	reader->restarts += !reader->earlier && remote_reader_restarted(reader->reader);
	far->restarts = reader->restarts > far->restarts ? reader->restarts : far->restarts;
	if (record->failed.code)
		far->left += remote_reader_left(reader->reader);
	else if (!reader->len)
		far->refused += remote_reader_refused(reader->reader);
	record->sums.lost += record->failed.code ? 0 : reader->dropped;
}

void record_remotes_end(struct record *record)
{
	for (size_t t = 0; t < record->nr_taps; t++) {
		struct far *far = record->taps[t].far;

		if (!far)
			continue;
		for (uint32_t i = 0; i < far->nr_readers; i++)
			end_reader(record, far, &far->readers[i]);
		far->more = remote_target(far->remote, NULL) && remote_cpus(far->remote) > far->nr_readers;
		record->sums.lost += far->refused + far->left;
		record->sums.lost_more |= far->restarts || far->unread || far->more;
	}
}

void record_remotes_close(struct tap *tap)
{
	struct far *far = tap->far;

	for (uint32_t i = 0; far && i < far->nr_readers; i++)
		remote_reader_close(far->readers[i].reader);
	if (far)
		free(far->readers);
	free(far);
	tap->far = NULL;
}

int record_remotes_wait(const struct record *record)
{
	int wait = -1;

	for (size_t t = 0; t < record->nr_taps; t++)
		if (record->taps[t].far && (wait < 0 || record->taps[t].far->wait_ms < wait))
			wait = record->taps[t].far->wait_ms;
	return wait;
}

bool record_remote_clock(const struct record *record, size_t i, struct buf *out, uint64_t *error)
{
	for (size_t t = 0; t < record->nr_taps; t++) {
		const struct far *far = record->taps[t].far;
		const struct remote_target *target;

		if (!far || i--)
			continue;
		target = remote_target(far->remote, NULL);
		buf_printf(out, "remote %s: ", remote_name(far->remote));
		if (far->trouble.code)
			buf_printf(out, "nothing could be read any more: %s", far->trouble.text);
		else if (target)
			remote_clock_describe(&far->clock, far->worst ? far->worst : remote_clock_error(&far->clock), target, out);
		else
			buf_puts(out, "its memory is gone");
		if (target && remote_is_writable(far->remote) && !remote_texts(far->remote)->nr)
			buf_puts(out, "; nothing is known of its events: none was switched on");
		if (far->guessed && (far->worst || is_matched(far)))
			buf_printf(out, "; %" PRIu64 " events came before it answered, and have times by its own clock", far->guessed);
		if (far->restarts)
			buf_printf(out, "; it was started again %" PRIu32 " time%s", far->restarts, far->restarts == 1 ? "" : "s");
		if (far->old)
			buf_puts(out, "; it said nothing when all began, so what was there before is in the file");
		if (far->more)
			buf_puts(out, "; now it has CPUs that it did not have at first, and nothing of them is in the file");
		if (far->refused)
			buf_printf(out, "; %" PRIu64 " events were refused behind the last one that is there", far->refused);
		if (far->left)
			buf_printf(out, "; %" PRIu64 " events were left in its rings", far->left);
		/* One that can be told has room again, as it is read. */
		if (target && !remote_is_writable(far->remote) && remote_is_full(far->remote))
			buf_puts(out, "; its buffer is full, and cannot be told that it was read: it refuses what comes");
		if (error)
			*error = far->trouble.code || far->guessed ? UINT64_MAX : far->worst;
		return true;
	}
	return false;
}
