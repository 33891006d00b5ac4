/*
 * record/dest_far: frames into the spool of a courier. See dest.h and layout/wire.h.
 *
 * When the spool is full nothing is taken out of the buffers any more: they count what they lose, and the programs that are traced
 * notice nothing. What has to go before pages (formats, names) waits for room.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/random.h>

#include "base/buf.h"
#include "dat/dat.h"
#include "record/dest.h"

#define PIECE ((size_t)64 << 10)
/* Of the spool: for the pages of a run that was begun, and what has to be said beside it. */
#define SPARE ((size_t)96 << 10)
#define WAIT_MS 100
#define PAGE_HEAD 16u
#define MARKS 64
/* Bytes of the least event in a page. */
#define EVENT_MIN 8u

struct far_lane {
	uint64_t pages;		/* that were said */
	bool open;		/* the last one was not full, and is this: */
	uint8_t *last;
};

/* What was recorded when so much had been said. */
struct far_mark {
	uint64_t at, events;
};

struct far_dest {
	struct dest dest;
	struct spool *spool;
	uint32_t nr_cpus;
	size_t nr_buffers;
	uint32_t *page_sizes;
	struct far_lane *lanes;
	struct buf options;	/* all, as frames have them */
	bool stale;
	uint64_t bytes;
	size_t written;		/* bytes of pages in the frame that was begun, */
	uint8_t *aside;		/* or, when something had to be said before it, here with its head */
	uint64_t events;	/* as last told */
	struct far_mark marks[MARKS];	/* the first is the last that was taken, or the beginning */
	size_t nr_marks;
	bool (*stops)(void *ctx);
	void *ctx;
	struct err err;
};

static struct far_dest *far_of(const struct dest *dest)
{
	return (struct far_dest *)(uintptr_t)dest;
}

static struct far_lane *lane_of(struct far_dest *far, size_t buffer, uint32_t cpu)
{
	return &far->lanes[buffer * far->nr_cpus + cpu];
}

static int fail(struct far_dest *far)
{
	if (!far->err.code && spool_state(far->spool) == SPOOL_FAILED)
		spool_words(far->spool, &far->err);
	return far->err.code;
}

static void forget_marks(struct far_dest *far)
{
	uint64_t taken = far->spool->put - spool_left(far->spool);
	size_t n = 0;

	while (n + 1 < far->nr_marks && far->marks[n + 1].at <= taken)
		n++;
	far->nr_marks -= n;
	memmove(far->marks, far->marks + n, far->nr_marks * sizeof(far->marks[0]));
}

static void mark(struct far_dest *far, uint64_t events)
{
	far->events = events;
	forget_marks(far);
	if (far->nr_marks < MARKS)
		far->marks[far->nr_marks++] = (struct far_mark){ far->spool->put, events };
}

/* The same of what is waited for. */
static int give_up(struct far_dest *far)
{
	uint64_t left = spool_left(far->spool), events = far->events;
	struct err why = ERR_INIT;

	if (fail(far) || !far->stops(far->ctx))
		return far->err.code;
	if (spool_state(far->spool) == SPOOL_DOWN)
		spool_words(far->spool, &why);
	forget_marks(far);
	events -= far->marks[0].events;
	events = left / EVENT_MIN < events ? left / EVENT_MIN : events;
	return err_set(&far->err, -ECANCELED, "%.200s%sgiven up: %" PRIu64 " bytes that were still to be sent, with %" PRIu64 " events at most",
		       why.code ? why.text : "", why.code ? "; " : "", left, events);
}

/* A frame's place, when there is one. NULL: it has failed, or is given up. */
static void *begin(struct far_dest *far, enum wire_kind kind, const void *head, size_t head_len, size_t len)
{
	void *at;

	while (!(at = spool_begin(far->spool, kind, head, head_len, len))) {
		if (give_up(far))
			return NULL;
		spool_wait(far->spool, sizeof(struct wire_head) + len, spool_state(far->spool), WAIT_MS);
	}
	return at;
}

/* What has to be said before pages that were written already. */
static int put_aside(struct far_dest *far)
{
	size_t len = sizeof(struct wire_pages) + far->written;

	if (!far->written || far->aside)
		return 0;
	far->aside = malloc(len);
	if (!far->aside)
		return err_set(&far->err, -ENOMEM, "out of memory");
	memcpy(far->aside, spool_begun(far->spool), len);
	return 0;
}

static int take_back(struct far_dest *far)
{
	size_t len = sizeof(struct wire_pages) + far->written;

	if (!far->aside)
		return 0;
	if (begin(far, WIRE_PAGES, far->aside, len, len))
		free(far->aside);
	else
		return far->err.code;
	far->aside = NULL;
	return 0;
}

/* ---- beside the pages ---- */

/* A payload in pieces, each behind a head of two words of which the second are the flags. */
static int say(struct far_dest *far, enum wire_kind kind, uint32_t word, int flags_at, const void *payload, size_t len)
{
	const uint8_t *from = payload;
	size_t done = 0;

	do {
		size_t some = len - done < PIECE ? len - done : PIECE;
		uint32_t head[2] = { wire32(word), wire32(word) };
		void *at;

		head[flags_at] = wire32((done ? 0 : WIRE_FIRST) | (done + some == len ? WIRE_LAST : 0));
		at = begin(far, kind, head, sizeof(head), sizeof(head) + some);
		if (!at)
			return far->err.code;
		if (some)
			memcpy(at, from + done, some);
		spool_end(far->spool);
		done += some;
	} while (done < len);
	return 0;
}

static int section(struct dest *dest, enum dat_id id, const void *payload, size_t len)
{
	struct far_dest *far = far_of(dest);

	if (fail(far) || put_aside(far))
		return far->err.code;
	far->stale = true;
	return say(far, WIRE_SECTION, id, 1, payload, len);
}

static int option(struct dest *dest, enum dat_id id, const void *value, size_t len)
{
	struct far_dest *far = far_of(dest);
	uint16_t head = wire16((uint16_t)id);
	uint32_t size = wire32((uint32_t)len);

	buf_add(&far->options, &head, sizeof(head));
	buf_add(&far->options, &size, sizeof(size));
	if (len)
		buf_add(&far->options, value, len);
	far->stale = true;
	return buf_failed(&far->options) ? err_set(&far->err, -ENOMEM, "out of memory") : 0;
}

static int publish(struct dest *dest)
{
	struct far_dest *far = far_of(dest);
	int r;

	if (fail(far) || put_aside(far))
		return far->err.code;
	r = say(far, WIRE_OPTIONS, 0, 0, far->options.data, far->options.len);
	if (r)
		return r;
	if (!begin(far, WIRE_TELL, NULL, 0, 0))
		return far->err.code;
	spool_end(far->spool);
	far->stale = false;
	return 0;
}

/* ---- pages ---- */

static struct wire_pages pages_head(struct far_dest *far, size_t buffer, uint32_t cpu)
{
	const struct far_lane *lane = lane_of(far, buffer, cpu);

	return (struct wire_pages){
		.buffer = wire32((uint32_t)buffer), .cpu = wire32(cpu), .first = wire64(lane->pages - lane->open),
	};
}

/* The frame of whole pages that was begun, if there is one. */
static void accept_run(struct far_dest *far, size_t buffer, uint32_t cpu)
{
	struct far_lane *lane = lane_of(far, buffer, cpu);
	size_t n = far->written / far->page_sizes[buffer];

	if (!n)
		return;
	spool_end(far->spool);
	far->bytes += (n - lane->open) * far->page_sizes[buffer];
	lane->pages += n - lane->open;
	lane->open = false;
	far->written = 0;
}

static int write_pages(struct dest *dest, size_t buffer, uint32_t cpu, const struct iovec *pages, int n)
{
	struct far_dest *far = far_of(dest);
	struct wire_pages head = pages_head(far, buffer, cpu);
	size_t len = 0;
	int r;

	far->written = 0;
	free(far->aside);
	far->aside = NULL;
	if (fail(far))
		return far->err.code;
	for (int i = 0; i < n; i++)
		len += pages[i].iov_len;
	/* Fewer at once. */
	if (len > far->page_sizes[buffer] && (sizeof(head) + len > WIRE_BODY_MAX ||
					      spool_room(far->spool) < sizeof(struct wire_head) + sizeof(head) + len))
		return -ENOSPC;
	if (!begin(far, WIRE_PAGES, &head, sizeof(head), sizeof(head) + len))
		return far->err.code;
	r = spool_copy(far->spool, sizeof(head), pages, n);
	far->written = r ? 0 : len;
	return r;
}

/* So many bytes of a pipe, as a frame that is not ended yet. */
static int take_pipe(struct far_dest *far, size_t buffer, uint32_t cpu, int pipe, size_t len)
{
	struct wire_pages head = pages_head(far, buffer, cpu);
	uint8_t *at = begin(far, WIRE_PAGES, &head, sizeof(head), sizeof(head) + len);
	size_t done = 0;

	while (at && done < len) {
		ssize_t n = read(pipe, at + done, len - done);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return err_set(&far->err, n < 0 ? -errno : -EIO, "%zu bytes of a pipe cannot be read", len - done);
		done += (size_t)n;
	}
	far->written = at ? len : 0;
	return far->err.code;
}

static int splice_pages(struct dest *dest, size_t buffer, uint32_t cpu, int pipe, size_t len)
{
	struct far_dest *far = far_of(dest);
	size_t most = PIECE > far->page_sizes[buffer] ? PIECE : far->page_sizes[buffer];
	int r = 0;

	far->written = 0;
	fail(far);
	while (!far->err.code && !r && len) {
		/* What is out of the pipe is not taken back: but for the last it counts now. */
		accept_run(far, buffer, cpu);
		r = take_pipe(far, buffer, cpu, pipe, len < most ? len : most);
		len -= len < most ? len : most;
	}
	return far->err.code;
}

/* What is new in a page: where it begins behind the head, and its length; zeros at the end need not be said. */
static size_t find_new(const struct far_lane *lane, const uint8_t *page, uint32_t size, size_t *at)
{
	size_t end = size, from = PAGE_HEAD;

	while (end > PAGE_HEAD && !page[end - 1])
		end--;
	while (lane->open && from < end && lane->last[from] == page[from])
		from++;
	*at = from;
	return end - from;
}

/* One page alone: as little of it as will do. */
static int accept_one(struct far_dest *far, size_t buffer, uint32_t cpu, bool open)
{
	struct far_lane *lane = lane_of(far, buffer, cpu);
	uint32_t size = far->page_sizes[buffer];
	const uint8_t *begun = spool_begun(far->spool) + sizeof(struct wire_pages);
	struct wire_page head = {
		.buffer = wire32((uint32_t)buffer), .cpu = wire32(cpu), .number = wire64(lane->pages - lane->open),
		.head = wire32(PAGE_HEAD), .flags = wire32(open ? WIRE_IS_OPEN : 0),
	};
	size_t at, len = find_new(lane, begun, size, &at);
	uint8_t *page = malloc(size), *to;

	if (!page)
		return err_set(&far->err, -ENOMEM, "out of memory");
	memcpy(page, begun, size);
	head.at = wire32((uint32_t)at);
	to = begin(far, WIRE_PAGE, &head, sizeof(head), sizeof(head) + PAGE_HEAD + len);
	if (to) {
		memcpy(to, page, PAGE_HEAD);
		memcpy(to + PAGE_HEAD, page + at, len);
		spool_end(far->spool);
		lane->pages += !lane->open;
		far->bytes += lane->open ? 0 : size;
		lane->open = open;
	}
	free(lane->last);
	lane->last = page;
	return far->err.code;
}

static int accept_pages(struct dest *dest, size_t buffer, uint32_t cpu, bool open)
{
	struct far_dest *far = far_of(dest);

	if (far->err.code || take_back(far))
		return far->err.code;
	if (far->written == far->page_sizes[buffer]) {
		far->written = 0;
		return accept_one(far, buffer, cpu, open);
	}
	accept_run(far, buffer, cpu);
	return open ? -EINVAL : 0;
}

/* ---- the rest ---- */

static uint64_t bytes(const struct dest *dest)
{
	return far_of(dest)->bytes;
}

static uint64_t room(const struct dest *dest)
{
	struct far_dest *far = far_of(dest);
	size_t all = spool_room(far->spool), most = WIRE_BODY_MAX - SPARE;

	/* What fails is found out when it is written. */
	if (spool_state(far->spool) == SPOOL_FAILED)
		return most;
	all = all > SPARE ? all - SPARE : 0;
	return all < most ? all : most;
}

static void wait_for_room(struct dest *dest, int ms)
{
	struct far_dest *far = far_of(dest);

	spool_wait(far->spool, SPARE + PIECE, spool_state(far->spool), ms);
}

static int say_sums(struct far_dest *far, enum wire_kind kind, const struct dest_sums *sums)
{
	const struct wire_sums head = {
		.events = wire64(sums->events), .lost = wire64(sums->lost), .more = wire32(sums->lost_more),
	};

	if (!begin(far, kind, &head, sizeof(head), sizeof(head)))
		return far->err.code;
	spool_end(far->spool);
	return 0;
}

static void tell(struct dest *dest, const struct dest_sums *sums)
{
	struct far_dest *far = far_of(dest);

	mark(far, sums->events);
	if (room(dest) && !fail(far))
		say_sums(far, WIRE_SUMS, sums);
}

static int failed(const struct dest *dest, struct err *err)
{
	struct far_dest *far = far_of(dest);

	/* Nobody waits for room in vain. */
	if (room(dest) ? fail(far) : give_up(far))
		err_set(err, far->err.code, "%s", far->err.text);
	return far->err.code;
}

static int finish(struct dest *dest, const struct dest_sums *sums, struct err *err)
{
	struct far_dest *far = far_of(dest);
	enum spool_state state;

	far->events = sums->events;
	if (!fail(far) && far->stale)
		publish(dest);
	if (!fail(far))
		say_sums(far, WIRE_END, sums);
	__atomic_store_n(&far->spool->shared->ended, 1, __ATOMIC_RELEASE);
	while (!fail(far) && (state = spool_state(far->spool)) != SPOOL_DONE && !give_up(far))
		spool_wait(far->spool, SIZE_MAX, state, WAIT_MS);
	return failed(dest, err);
}

static void close_far(struct dest *dest)
{
	struct far_dest *far = far_of(dest);

	for (size_t i = 0; far->lanes && i < far->nr_buffers * far->nr_cpus; i++)
		free(far->lanes[i].last);
	free(far->aside);
	free(far->lanes);
	free(far->page_sizes);
	buf_fini(&far->options);
	free(far);
}

static const struct dest_kind far_kind = {
	section, option, publish, write_pages, splice_pages, accept_pages, bytes, room, wait_for_room, tell, failed, finish, close_far,
};

/* OPEN, which the courier says first on each connection. */
static int put_open(struct far_dest *far, const struct dat_live_how *how, struct err *err)
{
	struct spool_shared *shared = far->spool->shared;
	struct buf out = BUF_INIT;
	struct wire_open open = {
		.page_size = wire32(how->page_size), .nr_cpus = wire32(how->nr_cpus), .nr_buffers = wire32((uint32_t)how->nr_buffers),
		.long_size = sizeof(long), .flags = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__ ? WIRE_BIG_ENDIAN : 0,
	};
	int r = 0;

	if (how->buffers[0].clock && !strcmp(how->buffers[0].clock, "mono"))
		open.flags |= WIRE_MONO;
	if (getrandom(open.recording, sizeof(open.recording), 0) != (ssize_t)sizeof(open.recording))
		return err_set(err, -EIO, "no number for the recording");
	buf_add(&out, &open, sizeof(open));
	for (size_t i = 0; i < how->nr_buffers; i++) {
		const char *name = how->buffers[i].name, *clock = how->buffers[i].clock ? how->buffers[i].clock : "";
		struct wire_buffer buffer = {
			.page_size = wire32(far->page_sizes[i]), .name_len = wire16((uint16_t)strlen(name)),
			.clock_len = wire16((uint16_t)strlen(clock)),
		};

		buf_add(&out, &buffer, sizeof(buffer));
		buf_puts(&out, name);
		buf_puts(&out, clock);
	}
	if (buf_failed(&out))
		r = err_set(err, -ENOMEM, "out of memory");
	else if (out.len > sizeof(shared->open))
		r = err_set(err, -E2BIG, "%zu buffers are more than can be sent", how->nr_buffers);
	if (!r) {
		memcpy(shared->open, out.data, out.len);
		__atomic_store_n(&shared->open_len, (uint32_t)out.len, __ATOMIC_RELEASE);	/* pairs with begin() in net/talk.c */
		spool_ring(far->spool);
	}
	buf_fini(&out);
	return r;
}

int dest_far_open(struct dest **out, struct spool *spool, const struct dat_live_how *how, bool (*stops)(void *ctx), void *ctx,
		  struct err *err)
{
	struct far_dest *far = calloc(1, sizeof(*far));
	int r = 0;

	*out = NULL;
	if (!far)
		return err_set(err, -ENOMEM, "out of memory");
	*far = (struct far_dest){
		.dest.kind = &far_kind, .spool = spool, .nr_cpus = how->nr_cpus, .nr_buffers = how->nr_buffers,
		.page_sizes = calloc(how->nr_buffers, sizeof(*far->page_sizes)),
		.lanes = calloc(how->nr_buffers * how->nr_cpus, sizeof(*far->lanes)), .options = BUF_INIT, .stops = stops, .ctx = ctx,
		.nr_marks = 1, .err = ERR_INIT,
	};
	if (!far->page_sizes || !far->lanes)
		r = err_set(err, -ENOMEM, "out of memory");
	for (size_t i = 0; !r && i < how->nr_buffers; i++)
		far->page_sizes[i] = how->buffers[i].page_size ? how->buffers[i].page_size : how->page_size;
	if (!r)
		r = put_open(far, how, err);
	if (r) {
		close_far(&far->dest);
		return r;
	}
	*out = &far->dest;
	return 0;
}
