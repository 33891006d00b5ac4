/*
 * replay/feed: cuts the trace into parts, one after the other.
 *
 *   lane 0  [block][block][block]
 *   lane 1  [ block   ][   block   ]
 *                      ^ the earliest beginning of a newest block: up to here everything is known
 *
 * Blocks are fetched for the lane whose newest one begins first, until there is enough for a part.
 * Everything before the beginning of the newest blocks is then in memory, and is the part. Blocks
 * without an event are not kept: of each lane one more event lies behind the part, so whoever walks
 * it can look one event ahead.
 *
 * Events of a lane are kept in the order of their file, also where a damaged page has times that go
 * back: they are ordered by keys, which never do.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "replay/local.h"

/* Bytes of one lane that are fetched for one part, if no single block is larger. */
#define LANE_BYTES_MAX (4u << 20)

static int keep_block(struct lane *lane, struct dat_block *block)
{
	uint32_t cap = lane->cap_blocks ? lane->cap_blocks * 2 : 8;
	struct dat_block **more;

	if (lane->nr_blocks == lane->cap_blocks) {
		more = realloc(lane->blocks, cap * sizeof(*more));
		if (!more) {
			dat_block_drop(block);
			return -ENOMEM;
		}
		lane->blocks = more;
		lane->cap_blocks = cap;
	}
	lane->blocks[lane->nr_blocks++] = block;
	lane->bytes += block->len;
	lane->at.blocks = lane->blocks;
	lane->at.nr_blocks = lane->nr_blocks;
	return 0;
}

/* Tells of damaged pages before its first event, or of all. */
static bool has_event(struct lane *lane, struct dat_block *block)
{
	struct cursor c = { .lane = lane, .blocks = &block, .nr_blocks = 1, .exact = true };

	cursor_resume(&c);
	return c.has;
}

/* A block that is not kept. So many in a row, in all lanes, are no trace, but a hole or a bomb. */
static void skip_block(struct lane *lane, struct dat_block *block)
{
	lane->replay->idle += block->len;
	if (lane->replay->idle > REPLAY_IDLE_MAX) {
		replay_warn(lane->replay, "%s: CPU %d: at offset %llu: %u MB of pages without an event",
			    dat_info(lane->pub.file)->path, lane->pub.cpu,
			    (unsigned long long)block->at, REPLAY_IDLE_MAX >> 20);
		lane->ended = true;
	}
	dat_block_drop(block);
}

/* One more block; *bytes grows. A lane that cannot be read any further has ended. */
static int fetch(struct lane *lane, size_t *bytes, struct err *err)
{
	const struct decode_abi *abi = &dat_info(lane->pub.file)->abi;
	struct err why = ERR_INIT;
	struct dat_block *block;
	uint64_t begins;
	int r = dat_lane_fetch(lane->dat, lane->next_block, &block, &why);

	if (r == -ENOMEM)
		return err_set(err, r, "%s", why.text);
	if (r < 0)
		replay_warn(lane->replay, "%s", why.text);
	if (r == -EILSEQ) {
		lane->next_block++;
		return 0;
	}
	if (r <= 0) {
		lane->ended = true;
		return 0;
	}
	lane->next_block++;
	if (!has_event(lane, block)) {
		skip_block(lane, block);
		return 0;
	}
	lane->replay->idle = 0;
	*bytes += block->len;
	begins = times_convert(&lane->times, decode_abi_load(block->data, 8, abi->big_endian));
	if (begins > lane->newest)
		lane->newest = begins;
	if (keep_block(lane, block))
		return err_set(err, -ENOMEM, "out of memory");
	if (!lane->at.has)
		cursor_resume(&lane->at);
	return 0;
}

/* The lane that must be fetched next: others cannot go beyond it. Of some nothing more is wanted. */
static struct lane *behind(const struct replay *replay)
{
	struct lane *found = NULL;

	for (size_t i = 0; i < replay->nr_lanes; i++) {
		struct lane *lane = replay->lanes[i];

		if (lane->ended || (lane->at.has && lane->at.key > replay->to))
			continue;
		if (!found || lane->newest < found->newest)
			found = lane;
	}
	return found;
}

struct moment_arg {
	const struct lane *lane;
	uint64_t from;
};

static bool is_later(void *arg, uint64_t time)
{
	const struct moment_arg *a = arg;

	return times_convert(&a->lane->times, time) >= a->from;
}

static void forget_blocks(struct lane *lane, uint32_t nr)
{
	for (uint32_t i = 0; i < nr; i++) {
		lane->bytes -= lane->blocks[i]->len;
		dat_block_drop(lane->blocks[i]);
	}
	if (!nr)
		return;
	memmove(lane->blocks, lane->blocks + nr, (lane->nr_blocks - nr) * sizeof(*lane->blocks));
	lane->nr_blocks -= nr;
	lane->at.nr_blocks = lane->nr_blocks;
	lane->at.block -= nr < lane->at.block ? nr : lane->at.block;
}

/* Before the first event at or after the time that is sought. */
static int seek_lane(struct lane *lane, uint64_t from, struct err *err)
{
	struct moment_arg arg = { lane, from };
	size_t bytes = 0;
	int r = dat_lane_seek(lane->dat, is_later, &arg, &lane->next_block, err);

	while (!r && !lane->ended && !lane->at.has)
		r = fetch(lane, &bytes, err);
	while (!r && lane->at.has && lane->at.key < from) {
		cursor_next(&lane->at);
		while (!r && !lane->at.has && !lane->ended) {
			forget_blocks(lane, lane->nr_blocks);
			r = fetch(lane, &bytes, err);
		}
	}
	return r;
}

/* The functions under way are those of another time. */
static int forget_carry(struct lane *lane)
{
	struct decode_carry *fresh = decode_carry_new();

	if (!fresh)
		return -ENOMEM;
	decode_carry_free(lane->carry);
	lane->carry = fresh;
	return 0;
}

static int rewind_lane(struct lane *lane, struct err *err)
{
	forget_blocks(lane, lane->nr_blocks);
	lane->at = (struct cursor){ .lane = lane, .exact = true, .blocks = lane->blocks };
	lane->next_block = 0;
	lane->newest = 0;
	lane->ended = false;
	return forget_carry(lane) ? err_set(err, -ENOMEM, "out of memory") : 0;
}

int feed_begin(struct replay *replay, struct err *err)
{
	int r = 0;

	replay->begun = true;
	replay->lost = replay->lost_unknown = replay->idle = 0;
	for (size_t i = 0; i < replay->nr_files; i++)
		names_free(replay->files[i]);
	for (size_t i = 0; i < replay->nr_lanes && !r; i++) {
		struct lane *lane = replay->lanes[i];
		size_t bytes = 0;

		r = rewind_lane(lane, err);
		if (!r && replay->has_from)
			r = seek_lane(lane, replay->from, err);
		else if (!r)
			r = fetch(lane, &bytes, err);
	}
	return r;
}

static bool is_full(const struct lane *lane)
{
	return lane->nr_blocks - lane->at.block > 1 && lane->bytes >= LANE_BYTES_MAX;
}

/* Fetches until there is enough for a part that ends later than the last one; *end is its last key. */
static int gather(struct replay *replay, uint64_t *end, struct err *err)
{
	uint64_t before = *end;
	size_t bytes = 0;
	struct lane *lane;
	int r = 0;

	while (!r && (lane = behind(replay)) && (bytes < replay->part_bytes || lane->newest <= before)) {
		if (is_full(lane))
			break;
		r = fetch(lane, &bytes, err);
	}
	lane = behind(replay);
	*end = !lane ? UINT64_MAX : lane->newest ? lane->newest - 1 : 0;
	/* Times that stand still over many blocks: what there is goes out, in its lane's order. */
	if (lane && is_full(lane))
		*end = lane->at.key > lane->newest ? lane->at.key : lane->newest;
	return r;
}

/* The lane's blocks from where it is on, `nr` of them, are held for the part as well. */
static int give_blocks(struct replay_part *part, const struct lane *lane, uint32_t nr,
		       struct cursor *at)
{
	size_t cap = part->cap_blocks ? part->cap_blocks : 64;
	struct dat_block **more;

	while (cap < part->nr_blocks + nr)
		cap *= 2;
	if (cap != part->cap_blocks) {
		more = realloc(part->blocks, cap * sizeof(*more));
		if (!more)
			return -ENOMEM;
		part->blocks = more;
		part->cap_blocks = cap;
	}
	for (uint32_t i = 0; i < nr; i++) {
		struct dat_block *block = lane->blocks[lane->at.block + i];

		dat_block_hold(block);
		part->blocks[part->nr_blocks++] = block;
	}
	*at = lane->at;
	at->exact = false;
	at->nr_blocks = nr;
	at->block = 0;
	return 0;
}

/* The blocks' array has moved while it grew: cursors find theirs by their order. */
static void point_at_blocks(struct replay_part *part)
{
	struct dat_block **at = part->blocks;

	for (size_t i = 0; i < part->nr_lanes; i++) {
		part->lanes[i].at.blocks = at;
		at += part->lanes[i].at.nr_blocks;
	}
}

static uint32_t event_id(const struct cursor *c)
{
	if (c->event.len < 2)
		return UINT32_MAX;
	return (uint32_t)decode_abi_load(c->event.data, 2, c->walk.big_endian);
}

static void count_lost(struct replay *replay, const struct cursor *c)
{
	if (c->lost == PAGE_LOST_UNKNOWN)
		replay->lost_unknown++;
	else
		replay->lost += c->lost;
}

/* An event that goes out with the part is shown, if it leaves something behind. */
static bool pass_event(const struct replay_job *job, const uint8_t *marks, struct cursor *c)
{
	uint32_t id = marks ? event_id(c) : UINT32_MAX;
	struct replay_record rec;

	if (id > UINT16_MAX || !marks[id])
		return false;
	record_fill(&rec, NULL, c);
	job->pass(job->arg, &rec);
	return true;
}

static const uint8_t *marks_of(const struct replay_job *job, const struct lane *lane)
{
	return job && job->passes ? job->passes[lane->pub.file_nr] : NULL;
}

/* The feed goes over a lane's events of the part. */
static void pass_lane(struct replay *replay, const struct replay_job *job, struct lane *lane,
		      uint64_t end)
{
	const uint8_t *marks = marks_of(job, lane);
	struct cursor *c = &lane->at;

	if (end > replay->to)
		end = replay->to;
	for (; c->has && c->key <= end; cursor_next(c)) {
		lane->last.key = c->key;
		if (c->lost)
			count_lost(replay, c);
		lane->last.carries = pass_event(job, marks, c);
		if (!lane->last.carries) {
			cursor_skim(c, end, marks);
			lane->last.key = c->key;
			continue;
		}
		lane->last.event = c->event;
		lane->last.ts = c->ts;
	}
}

static int cut_lane(struct replay *replay, const struct replay_job *job, struct replay_part *part,
		    struct lane *lane)
{
	struct part_lane *to = &part->lanes[part->nr_lanes];
	bool in = lane->at.has && lane->at.key <= part->end && lane->at.key <= replay->to;

	lane->last.has = false;
	if (!lane->at.has)
		return 0;
	/* One without events in the part is there to be seen by those who look ahead. */
	if (give_blocks(part, lane, in ? lane->nr_blocks - lane->at.block : 1, &to->at))
		return -ENOMEM;
	part->nr_lanes++;
	if (!in)
		return 0;
	part->nr_heap++;
	if (lane->carry && decode_carry_copy(to->carry, lane->carry))
		return -ENOMEM;
	lane->last.has = true;
	pass_lane(replay, job, lane, part->end);
	return 0;
}

static void forget_passed(struct lane *lane)
{
	forget_blocks(lane, lane->at.block < lane->nr_blocks ? lane->at.block : lane->nr_blocks);
}

/* In the order of merge.c. */
static bool before(uint64_t key, const struct lane *lane, uint64_t other_key,
		   const struct lane *other)
{
	return key != other_key ? key < other_key : lane->order < other->order;
}

/* Does the event behind the part, which lane `has`, go out with the last one in it? */
static void join_end(struct replay *replay, const struct replay_job *job, const struct lane *had,
		     struct lane *has)
{
	struct replay_record last, next;

	record_fill(&next, NULL, &has->at);
	last = next;
	last.lane = &had->pub;
	last.data = had->last.event.data;
	last.len = had->last.event.len;
	last.ts = had->last.ts;
	last.id = last.len < 2 ? UINT32_MAX :
		  (uint32_t)decode_abi_load(last.data, 2, has->at.walk.big_endian);
	if (!job->joins(job->arg, &last, &next))
		return;
	if (has->at.lost)
		count_lost(replay, &has->at);
	pass_event(job, marks_of(job, has), &has->at);
	cursor_next(&has->at);
}

/* Beside programs, what a kernel did on that CPU: is something of it between the two? */
static bool is_divided(const struct replay *replay, const struct lane *had, const struct lane *has)
{
	for (size_t i = 0; had->file->mixed && i < replay->nr_lanes; i++) {
		const struct lane *lane = replay->lanes[i];

		if (lane->file != had->file || lane->pub.buffer == had->pub.buffer || lane->pub.cpu != has->pub.cpu)
			continue;
		if ((lane->last.has && before(had->last.key, had, lane->last.key, lane)) ||
		    (lane->at.has && before(lane->at.key, lane, has->at.key, has)))
			return true;
	}
	return false;
}

/* Of each buffer, whose lanes stand together, the last event in the part and the first one behind it. */
static void join_ends(struct replay *replay, const struct replay_job *job)
{
	size_t i = 0;

	while (i < replay->nr_lanes) {
		const struct dat_buffer *buffer = replay->lanes[i]->pub.buffer;
		struct lane *had = NULL, *has = NULL;

		for (; i < replay->nr_lanes && replay->lanes[i]->pub.buffer == buffer; i++) {
			struct lane *lane = replay->lanes[i];

			if (lane->last.has && (!had || before(had->last.key, had, lane->last.key, lane)))
				had = lane;
			if (lane->at.has && (!has || before(lane->at.key, lane, has->at.key, has)))
				has = lane;
		}
		if (had && has && had->last.carries && !is_divided(replay, had, has))
			join_end(replay, job, had, has);
	}
}

/* Nothing that is still to come is wanted. */
static bool past_end(const struct replay *replay)
{
	for (size_t i = 0; i < replay->nr_lanes; i++) {
		const struct lane *lane = replay->lanes[i];

		if (lane->at.has ? lane->at.key <= replay->to : !lane->ended)
			return false;
	}
	return true;
}

int feed_cut(struct replay *replay, const struct replay_job *job, struct replay_part *part,
	     struct err *err)
{
	int r = 0;

	part->nr_lanes = part->nr_heap = part->nr_blocks = 0;
	if (!replay->begun)
		r = feed_begin(replay, err);
	while (!r && !part->nr_heap) {
		if (past_end(replay))
			return 0;
		part_drop_blocks(part);
		part->nr_lanes = 0;
		r = gather(replay, &replay->cut_to, err);
		part->end = replay->cut_to;
		for (size_t i = 0; i < replay->nr_lanes && !r; i++)
			if (cut_lane(replay, job, part, replay->lanes[i]))
				r = err_set(err, -ENOMEM, "out of memory");
	}
	if (r)
		return r;
	if (job && job->joins)
		join_ends(replay, job);
	for (size_t i = 0; i < replay->nr_lanes; i++)
		forget_passed(replay->lanes[i]);
	for (size_t i = 0; i < replay->nr_files; i++)
		names_settle(replay->files[i]);
	point_at_blocks(part);
	return 1;
}
