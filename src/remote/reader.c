/*
 * remote/reader: events of a remote, one after the other, of one CPU or of all in the order of their times. See remote.h.
 *
 *   ring --ring_next--> page --page_walk--> one event ahead of each lane --the earliest--> row
 *
 * Who consumes holds the lock of each of its rings, and the lock of readers, shared, which keeps the buffer loaded. Cursors are kept in the
 * file `state` when rows were accepted; without that, the next reader begins where this one did.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/mono.h"
#include "decode/page.h"
#include "remote/local.h"

/* So long a target that starts may have no header that makes sense. */
#define PATIENCE_NS 2000000000ull

struct lane {
	uint32_t ring;
	bool locked;
	struct remote_cursor cursor;	/* behind what was handed out */
	struct remote_cursor before;	/* the event that was handed out last */
	struct remote_cursor stop;	/* of those who want no more than was there */
	struct remote_page page;
	struct page_walk walk;
	bool walking;
	bool has;		/* an event that is not handed out yet */
	bool idle;		/* had none since a page was copied last */
	bool kept;		/* there is one of this life in the file, */
	bool changed;		/* and it is not this cursor */
	bool begun;		/* something was handed out */
	struct page_event event;
	uint32_t event_end;
	uint32_t lost;		/* before that event */
	uint64_t ts;		/* of the event that was handed out last */
};

/* Where a page contradicted what was read before. */
struct place {
	bool some;
	uint32_t ring, number;
	uint64_t stamp;
};

struct remote_reader {
	struct remote *remote;
	struct remote_how how;
	struct lane *lanes;
	uint32_t nr;
	uint64_t life;		/* of the remote's, that all this is of; 0: of none */
	bool restarted;		/* to be told with the next row */
	bool holds;		/* the buffer */
	bool looked;		/* at pages, and not yet at the header behind that */
	bool copied;		/* a page, while others were taken for idle */
	bool nothing;		/* was loaded when this was opened */
	struct place odd;	/* the last such page, */
	struct place again;	/* and that from which on the target was taken for one that began anew, though its header did not say so */
	uint64_t odd_since;	/* since when nothing makes sense; 0: all is well */
};

/* ---- opening ---- */

static bool is_behind(const struct remote_cursor *one, const struct remote_cursor *other)
{
	int32_t ahead = (int32_t)(other->number - one->number);

	return ahead > 0 || (!ahead && other->offset > one->offset);
}

static int add_lane(struct remote_reader *reader, uint32_t ring, bool same, struct err *err)
{
	struct remote *remote = reader->remote;
	struct lane *lane = &reader->lanes[reader->nr];
	int r = 0;

	*lane = (struct lane){ .ring = ring, .kept = same, .changed = reader->restarted };
	if (reader->how.consume) {
		r = remote_store_lock(remote, LOCK_RING + (off_t)ring, F_WRLCK, false);
		if (r)
			return err_set(err, r == -EAGAIN ? -EBUSY : r, "somebody else takes these events out");
		lane->locked = true;
	}
	reader->nr++;
	lane->page.bytes = malloc(TARGET_PAGE_MAX);
	if (!lane->page.bytes)
		return err_set(err, -ENOMEM, "out of memory");
	if (same)
		remote_store_cursor(remote, ring, &lane->cursor);
	else
		lane->cursor.known = reader->how.consume;
	/* Who read it before may have ended before he could say so: then it would stay full. */
	if (reader->how.consume && same && lane->cursor.known)
		remote_word_swap(remote, ring, lane->cursor.number);
	if (reader->how.once)
		r = remote_ring_end(&remote->target, &remote->memory, ring, &lane->stop, err);
	/* What was read already is there: or it is another life, which has not come so far yet. */
	if (!r && reader->how.once && lane->cursor.known && is_behind(&lane->stop, &lane->cursor))
		r = -ESTALE;
	return r;
}

/* A lane for each ring that is asked for, which begins where the one before ended; `again`: the target began anew. */
static int add_lanes(struct remote_reader *reader, bool again, struct err *err)
{
	struct remote *remote = reader->remote;
	struct kept kept;
	int one = -1, r = 0;
	bool same;

	if (reader->how.cpu >= 0 && (one = remote_ring_of(remote, (uint32_t)reader->how.cpu)) < 0)
		return err_set(err, -ENODEV, "the remote has no cpu %d", reader->how.cpu);
	reader->lanes = calloc(remote->target.nr_rings, sizeof(*reader->lanes));
	if (!reader->lanes)
		return err_set(err, -ENOMEM, "out of memory");
	remote_store_kept(remote, &kept);
	same = !again && remote_is_settled(remote);
	reader->restarted = again || (kept.boots && !same);
	reader->life = remote->life;
	for (uint32_t i = 0; !r && i < remote->target.nr_rings; i++)
		if (one < 0 || i == (uint32_t)one)
			r = add_lane(reader, i, same, err);
	return r;
}

static void drop_lanes(struct remote_reader *reader)
{
	for (uint32_t i = 0; i < reader->nr; i++) {
		if (reader->lanes[i].locked)
			remote_store_lock(reader->remote, LOCK_RING + (off_t)reader->lanes[i].ring, F_UNLCK, false);
		free(reader->lanes[i].page.bytes);
	}
	free(reader->lanes);
	reader->lanes = NULL;
	reader->nr = 0;
}

static int open_lanes(struct remote_reader *reader, struct err *err)
{
	int r = add_lanes(reader, false, err);

	if (r != -ESTALE)
		return r;
	drop_lanes(reader);
	return add_lanes(reader, true, err);
}

int remote_hold(struct remote *remote, struct err *err)
{
	int r = remote_store_make(remote, err);

	if (!r && remote_store_lock(remote, LOCK_CHANGE, F_WRLCK, true))
		r = err_set(err, -EBUSY, "somebody else changes remote '%s'", remote->name);
	if (r)
		return r;
	r = remote_need(remote, err);
	if (!r && !remote->pipes)
		r = remote_store_lock(remote, LOCK_READERS, F_RDLCK, true);
	if (!r)
		remote->pipes++;
	remote_store_lock(remote, LOCK_CHANGE, F_UNLCK, false);
	return r;
}

void remote_release(struct remote *remote)
{
	if (remote_store_lock(remote, LOCK_CHANGE, F_WRLCK, true))
		return;
	if (!--remote->pipes)
		remote_store_lock(remote, LOCK_READERS, F_UNLCK, false);
	remote_drop(remote);
	remote_store_lock(remote, LOCK_CHANGE, F_UNLCK, false);
}

int remote_reader_open(struct remote_reader **out, struct remote *remote, const struct remote_how *how, struct err *err)
{
	struct remote_reader *reader = calloc(1, sizeof(*reader));
	struct err why = ERR_INIT;
	int r;

	*out = NULL;
	if (!reader)
		return err_set(err, -ENOMEM, "out of memory");
	reader->remote = remote;
	reader->how = *how;
	r = how->consume ? remote_hold(remote, err) : remote_look(remote, &why);
	reader->holds = how->consume && !r;
	/* Of one that is not loaded there is nothing to see, and nothing wrong. */
	reader->nothing = r && !how->consume && !remote->trouble.code;
	if (reader->nothing)
		r = 0;
	else if (r && !how->consume)
		r = err_set(err, r, "%s", why.text);
	else if (!r)
		r = open_lanes(reader, err);
	if (r) {
		remote_reader_close(reader);
		return r;
	}
	*out = reader;
	return 0;
}

void remote_reader_close(struct remote_reader *reader)
{
	struct remote *remote;

	if (!reader)
		return;
	remote = reader->remote;
	drop_lanes(reader);
	if (reader->holds)
		remote_release(remote);
	free(reader);
}

/* ---- reading ---- */

/* What was copied and not handed out is copied again. */
static void drop_copies(struct remote_reader *reader)
{
	for (uint32_t i = 0; i < reader->nr; i++) {
		reader->lanes[i].has = reader->lanes[i].walking = reader->lanes[i].idle = false;
		reader->lanes[i].lost = 0;
	}
}

/*
 * The target began anew, as this or another reader has found, perhaps with other rings: what it has now is read from its beginning, and what is
 * missing there is lost.
 */
static int begin_again(struct remote_reader *reader, struct err *err)
{
	struct remote *remote = reader->remote;
	int r = 0;

	drop_lanes(reader);
	/* What another one has found may be over, too. */
	if (!remote->there || reader->life == remote->life || remote_target_check(&remote->target, &remote->memory, NULL)) {
		remote_detach(remote);
		r = remote->kind->find(remote, err);
	}
	if (!r)
		r = add_lanes(reader, true, err);
	if (r)
		drop_lanes(reader);
	return r;
}

/* Is the buffer that is open the one that was read so far? */
static bool is_known(const struct remote_reader *reader)
{
	return reader->remote->there && reader->nr && reader->life == reader->remote->life;
}

/* Is all that was there when this was opened handed out? */
static bool is_over(const struct remote_reader *reader, const struct lane *lane, uint32_t number, uint32_t offset)
{
	struct remote_cursor here = { .number = number, .offset = offset };

	return reader->how.once && !is_behind(&here, &lane->stop);
}

/*
 * Does what is counted end before this event, `before` being the time of the one that it follows? So it is in a memory that was copied while
 * its target ran, the ring's words first and this page later: the ring's time is then that of its last event that counts.
 */
static bool is_uncounted(const struct remote_reader *reader, const struct lane *lane, uint64_t before)
{
	struct remote *remote = reader->remote;
	uint64_t stamp = decode_abi_load(lane->page.bytes, 8, remote->target.abi.big_endian);
	struct remote_look look;

	return !remote_ring_look(&remote->target, &remote->memory, lane->ring, &look) && look.count == lane->page.total &&
	       (look.time == before || (before == stamp && look.time == lane->ts));
}

/* 1: it can come next; 0: not yet. Where words were turned over, what is of an earlier lap may look like an event. */
static int check_event(const struct remote_reader *reader, struct lane *lane, uint64_t before, struct err *err)
{
	const struct remote_ring *ring = &reader->remote->target.rings[lane->ring];
	uint32_t number = lane->cursor.offset ? lane->cursor.count : lane->page.count;
	bool is_late = lane->event.ts < lane->ts;

	if (!is_late && (ring->discard || (int32_t)(lane->page.total - number) > 0))
		return 1;
	lane->walking = false;
	if (!is_late && is_uncounted(reader, lane, before))
		return 0;
	if (is_late)
		return err_set(err, -EBADMSG, "cpu %u: in page %u time goes back, from %" PRIu64 " to %" PRIu64, ring->cpu, lane->page.number,
			       lane->ts, lane->event.ts);
	return err_set(err, -EBADMSG, "cpu %u: page %u holds more events than the ring counts, which is %u", ring->cpu, lane->page.number,
		       lane->page.total);
}

/* The next event of the page that was copied: 1; 0: none yet; -EAGAIN: none in this page, and the cursor is behind it; -EBADMSG. */
static int walk_on(struct remote_reader *reader, struct lane *lane, struct err *err)
{
	uint64_t before;
	int r;

	do {
		before = lane->event.ts;
		r = page_walk_next(&lane->walk, &lane->event);
	} while (r > 0 && lane->event.offset < lane->page.from);
	lane->walking = r > 0;
	lane->event_end = lane->walk.pos;
	if (r < 0)
		return err_set(err, r, "cpu %u: page %u holds what is no event", remote_cpu(reader->remote, lane->ring), lane->page.number);
	if (r)
		return check_event(reader, lane, before, err);
	remote_ring_taken(&reader->remote->target, &lane->cursor, &lane->page, lane->page.commit, 0);
	return -EAGAIN;
}

/* Was the ring emptied by others? Nobody else moves what is kept while we hold its lock. */
static bool was_emptied(const struct remote_reader *reader, const struct lane *lane, struct remote_cursor *behind)
{
	if (!lane->kept || !reader->how.consume)
		return false;
	remote_store_cursor(reader->remote, lane->ring, behind);
	return behind->known && is_behind(&lane->cursor, behind);
}

/* The next page behind the cursor, or behind what others threw away meanwhile, which is not lost. */
static int copy_next(struct remote_reader *reader, struct lane *lane, struct err *err)
{
	struct remote *remote = reader->remote;
	struct remote_cursor to, behind;
	int r = 0;

	for (int tries = 0; tries < 2; tries++) {
		to = was_emptied(reader, lane, &behind) ? behind : lane->cursor;
		r = remote_ring_next(&remote->target, &remote->memory, lane->ring, &to, &lane->page, err);
		if (r < 0 || !lane->cursor.known || to.first == lane->cursor.first)
			break;
		/* Who asked for that is about to say how far it goes, or has just done so. */
		if (reader->how.consume && remote_store_is_locked(remote, LOCK_CHANGE))
			return 0;
	}
	lane->cursor = to;
	return r;
}

/* Another page with something in it: its first event, if it has one. */
static int next_page(struct remote_reader *reader, struct lane *lane, struct err *err)
{
	struct remote *remote = reader->remote;
	int r = copy_next(reader, lane, err);

	reader->looked = true;
	reader->copied |= r == 1;
	if (r == -ESTALE)
		reader->odd = (struct place){ true, lane->ring, lane->cursor.number,
					      decode_abi_load(lane->page.bytes, 8, remote->target.abi.big_endian) };
	if (r <= 0)
		return r;
	r = page_walk_init_abi(&lane->walk, lane->page.bytes, remote->target.page_size, &remote->target.abi);
	if (r)
		return err_set(err, r, "cpu %u: a page makes no sense", remote_cpu(remote, lane->ring));
	lane->event.ts = decode_abi_load(lane->page.bytes, 8, remote->target.abi.big_endian);
	r = walk_on(reader, lane, err);
	if (r == 1 || r == -EAGAIN)
		lane->lost += lane->page.lost;
	return r;
}

/* Looks for an event that is not handed out yet: 1, 0, -errno. */
static int advance(struct remote_reader *reader, struct lane *lane, struct err *err)
{
	int r = lane->has ? 1 : lane->walking ? walk_on(reader, lane, err) : -EAGAIN;

	/* What is in a page may be nothing but room that was filled. What comes too late stays for the next reader. */
	for (uint32_t pages = 0; r == -EAGAIN && pages <= reader->remote->target.rings[lane->ring].mask; pages++) {
		if (is_over(reader, lane, lane->cursor.number, lane->cursor.offset) && lane->cursor.known)
			return 0;
		r = next_page(reader, lane, err);
	}
	lane->has = r == 1;
	return r == -EAGAIN || (lane->has && is_over(reader, lane, lane->page.number, lane->event.offset)) ? 0 : r;
}

static void hand_out(struct remote_reader *reader, struct lane *lane, struct remote_row *row)
{
	struct remote *remote = reader->remote;

	*row = (struct remote_row){
		.cpu = remote_cpu(remote, lane->ring), .ts = lane->event.ts, .data = lane->event.data, .len = lane->event.len,
		/* Who only looks sees what there is; what is not was lost to those who take it out. */
		.lost = reader->how.consume || lane->begun ? lane->lost : 0, .restarted = reader->restarted,
	};
	lane->begun = true;
	lane->ts = lane->event.ts;
	lane->before = lane->cursor;
	remote_ring_taken(&remote->target, &lane->cursor, &lane->page, lane->event_end, 1);
	lane->lost = 0;
	lane->has = false;
	lane->changed = true;
	reader->restarted = false;
}

static int look_at_lanes(struct remote_reader *reader, struct lane **found, struct err *err)
{
	*found = NULL;
	for (uint32_t i = 0; i < reader->nr; i++) {
		struct lane *lane = &reader->lanes[i];
		int r = lane->idle ? 0 : advance(reader, lane, err);

		if (r < 0)
			return r;
		lane->idle = !r;
		if (r && (!*found || lane->event.ts < (*found)->event.ts))
			*found = lane;
	}
	return *found != NULL;
}

/*
 * What is handed out comes before all that is to come. A lane that had nothing when the last page was copied has nothing that is earlier than what is
 * in there: it is asked again with the next page, and not for each event.
 */
static int earliest(struct remote_reader *reader, struct lane **found, struct err *err)
{
	int r;

	reader->copied = false;
	r = look_at_lanes(reader, found, err);
	if (r < 0 || (r && !reader->copied))
		return r;
	for (uint32_t i = 0; i < reader->nr; i++)
		reader->lanes[i].idle = false;
	return look_at_lanes(reader, found, err);
}

/* A target that starts again has, for a moment, nothing that makes sense. */
static int bear(struct remote_reader *reader, int r, struct err *err)
{
	uint64_t now = mono_ns();

	if (!reader->how.consume || reader->how.once || (r != -ESTALE && r != -EBADMSG && r != -ENOENT))
		return r;
	if (!reader->odd_since)
		reader->odd_since = now;
	if (now - reader->odd_since > PATIENCE_NS)
		return r;
	if (err)
		*err = (struct err)ERR_INIT;
	return 0;
}

/* What lies there did not change, and would be read again, and again. */
static bool is_damaged(const struct remote_reader *reader)
{
	const struct place *odd = &reader->odd, *again = &reader->again;

	return again->some && odd->ring == again->ring && odd->number == again->number && odd->stamp == again->stamp;
}

/*
 * What was copied is of the life of the target that is known here, if the header says so behind the copy. `r` is what came of it: is it a
 * page that makes no sense, or all?
 */
static int check_life(struct remote_reader *reader, int r, struct lane **lane, struct err *why)
{
	struct remote *remote = reader->remote;
	struct err head = ERR_INIT;
	int all = is_known(reader) ? remote_target_check(&remote->target, &remote->memory, &head) : -ESTALE;

	reader->looked = false;
	if (!all && r != -ESTALE)
		return r;
	*why = head;
	if (all && all != -ESTALE) {
		drop_copies(reader);
		return all;
	}
	if (!all && is_damaged(reader)) {
		*why = (struct err)ERR_INIT;
		return err_set(why, -EBADMSG, "cpu %u: page %u contradicts those before it", remote_cpu(remote, reader->odd.ring), reader->odd.number);
	}
	reader->again = all ? (struct place){ 0 } : reader->odd;
	*why = (struct err)ERR_INIT;
	r = begin_again(reader, why);
	return r ? r : earliest(reader, lane, why);
}

/* Nothing came. Is somebody there who could bring it? */
static int wait_on(struct remote_reader *reader, struct remote_row *row, struct err *err)
{
	struct remote *remote = reader->remote;
	struct err why = ERR_INIT, none = ERR_INIT;
	struct lane *lane = NULL;
	int r, last;

	/* Who could not be told that a page was read is told now. */
	for (uint32_t i = 0; i < reader->nr; i++)
		if (!reader->lanes[i].changed)
			remote->kind->swap_reader_page(remote, reader->lanes[i].ring, reader->lanes[i].cursor.number);
	r = remote->kind->alive(remote, &why);
	if (!r)
		return 0;
	/* It may have brought something since we looked. */
	last = earliest(reader, &lane, NULL);
	if (reader->looked || last < 0)
		last = check_life(reader, last, &lane, &none);
	if (last <= 0)
		return err_set(err, r, "%s", why.text);
	hand_out(reader, lane, row);
	return 1;
}

int remote_reader_next(struct remote_reader *reader, struct remote_row *row, struct err *err)
{
	struct err why = ERR_INIT;
	struct lane *lane = NULL;
	int r;

	if (reader->nothing)
		return 0;
	r = is_known(reader) ? earliest(reader, &lane, &why) : -ESTALE;
	if (reader->looked || r < 0)
		r = check_life(reader, r, &lane, &why);
	if (r < 0) {
		r = bear(reader, r, &why);
		return r ? err_set(err, r, "%s", why.text) : 0;
	}
	reader->odd_since = 0;
	if (r > 0)
		hand_out(reader, lane, row);
	else if (reader->how.consume && !reader->how.once && reader->remote->kind->alive)
		return wait_on(reader, row, err);
	return r;
}

/* Of two that find a target which began anew, the second would forget what the first one has read of it. */
static int settle(struct remote *remote, struct err *err)
{
	int r;

	if (remote_is_settled(remote) && !remote_is_marked_late(remote))
		return 0;
	if (remote_store_lock(remote, LOCK_CHANGE, F_WRLCK, true))
		return err_set(err, -EBUSY, "somebody else changes remote '%s'", remote->name);
	r = remote_settle(remote, err);
	remote_store_lock(remote, LOCK_CHANGE, F_UNLCK, false);
	return r;
}

static int keep_cursor(struct remote_reader *reader, struct lane *lane, const struct remote_cursor *cursor, struct err *err)
{
	struct remote *remote = reader->remote;
	struct remote_cursor behind;
	int r = settle(remote, err);

	/* What others threw away meanwhile does not come back. */
	if (!r && was_emptied(reader, lane, &behind))
		cursor = &behind;
	if (!r)
		r = remote_store_set_cursor(remote, lane->ring, cursor, err);
	if (!r)
		remote->kind->swap_reader_page(remote, lane->ring, cursor->number);
	lane->kept |= !r;
	return r;
}

int remote_reader_accept(struct remote_reader *reader, struct err *err)
{
	int r = 0;

	/* That it is another life is told first. */
	if (!reader->how.consume || !is_known(reader) || reader->restarted)
		return 0;
	for (uint32_t i = 0; !r && i < reader->nr; i++) {
		struct lane *lane = &reader->lanes[i];

		if (!lane->changed)
			continue;
		r = keep_cursor(reader, lane, &lane->cursor, err);
		lane->changed = false;
	}
	return r;
}

int remote_reader_accept_but_last(struct remote_reader *reader, struct err *err)
{
	struct lane *lane = &reader->lanes[0];

	/* Of another life of the target, or before anything was read, there is nothing to keep. */
	if (!reader->how.consume || !is_known(reader) || reader->nr != 1 || !lane->changed || !lane->before.known)
		return 0;
	return keep_cursor(reader, lane, &lane->before, err);
}

/* Who waits is to be told that there is nothing to wait for any more. */
bool remote_reader_ready(struct remote_reader *reader)
{
	struct remote *remote = reader->remote;
	struct lane *lane;

	if (reader->nothing)
		return false;
	if (!is_known(reader) || earliest(reader, &lane, NULL))
		return true;
	if (!reader->how.consume || reader->how.once)
		return false;
	return (remote->kind->alive && remote->kind->alive(remote, NULL)) || !remote->there ||
	       remote_target_check(&remote->target, &remote->memory, NULL);
}

bool remote_reader_restarted(const struct remote_reader *reader)
{
	return reader->restarted;
}

void remote_reader_last(struct remote_reader *reader)
{
	struct remote *remote = reader->remote;

	reader->how.once = true;
	for (uint32_t i = 0; is_known(reader) && i < reader->nr; i++) {
		struct lane *lane = &reader->lanes[i];
		struct remote_look look;

		lane->stop = (struct remote_cursor){ .number = lane->cursor.number, .offset = UINT32_MAX };
		/* Of a target that began anew, or is damaged, the cursor's page is tried, which tells. */
		if (!remote_ring_look(&remote->target, &remote->memory, lane->ring, &look) &&
		    (!lane->cursor.known || (int32_t)(look.tail - lane->cursor.number) > 0))
			lane->stop.number = look.tail;
	}
}

uint64_t remote_reader_left(struct remote_reader *reader)
{
	struct remote *remote = reader->remote;
	struct remote_cursor kept;
	struct remote_look look;
	uint64_t sum = 0;

	for (uint32_t i = 0; is_known(reader) && remote_is_settled(remote) && i < reader->nr; i++) {
		remote_store_cursor(remote, reader->lanes[i].ring, &kept);
		if (kept.known && !remote_ring_look(&remote->target, &remote->memory, reader->lanes[i].ring, &look) &&
		    (int32_t)(look.count - kept.count) > 0)
			sum += look.count - kept.count;
	}
	return sum;
}

uint64_t remote_reader_refused(struct remote_reader *reader)
{
	struct remote *remote = reader->remote;
	struct remote_look look;
	struct lane *lane;
	uint64_t sum = 0;

	if (reader->nothing || !is_known(reader) || earliest(reader, &lane, NULL))
		return 0;
	for (uint32_t i = 0; i < reader->nr; i++) {
		lane = &reader->lanes[i];
		/* Of one that refuses nothing more may be counted by a moment before it is there. */
		if (lane->cursor.known && !remote_ring_look(&remote->target, &remote->memory, lane->ring, &look) && look.full &&
		    (int32_t)(look.count - lane->cursor.count) > 0)
			sum += look.count - lane->cursor.count;
	}
	return sum;
}
