/*
 * cmd/stretch: see stretch.h.
 *
 * Records come in the order of time. A window is what fills up: one for all CPUs, or one for each.
 */
#include "cmd/stretch.h"

#include <errno.h>
#include <stdlib.h>

#include "cmd/cmd.h"
#include "replay/replay.h"

struct window {
	size_t file;
	bool open;		/* something is in it */
	bool full;		/* and nothing more comes */
	uint64_t began;
	uint64_t count;		/* events or pages */
};

/* What is known of a lane on the way. */
struct track {
	struct window own;
	uint64_t seen;		/* events */
	bool begun;		/* it has come to `from` */
};

struct walk {
	const struct stretch_how *how;
	struct stretches *out;
	struct window shared;
	struct track *tracks;	/* one for each lane */
	size_t full;		/* windows that are */
};

/* The lane of a record; lanes are in the order of the replay's. */
static size_t lane_of(const struct walk *walk, const struct replay_lane *lane)
{
	size_t i = 0;

	while (walk->out->lanes[i].buffer != lane->buffer_nr ||
	       walk->out->lanes[i].cpu != lane->cpu)
		i++;
	return i;
}

static bool has_room(const struct walk *walk, const struct window *window,
		     const struct replay_record *rec)
{
	if (!window->open)
		return true;
	switch (walk->how->unit) {
	case STRETCH_TIME:
		return rec->ts < window->began || rec->ts - window->began < walk->how->size;
	case STRETCH_EVENTS:
		return window->count < walk->how->size;
	case STRETCH_PAGES:
		return !rec->first_of_page || window->count < walk->how->size;
	default:
		return true;
	}
}

static void count(const struct walk *walk, struct window *window, const struct replay_record *rec)
{
	/* The first window begins where it was told to, also when there is no event. */
	if (!window->open)
		window->began = walk->how->has_from && !window->file ? walk->how->from : rec->ts;
	/* The first event makes a page, also where its own is cut before it. */
	window->count += walk->how->unit != STRETCH_PAGES || rec->first_of_page || !window->open;
	window->open = true;
}

/* Event number `seq` of a lane goes into a file. */
static int put(struct stretch_lane *lane, size_t file, uint64_t seq, struct err *err)
{
	struct stretch_piece *more;

	if (file >= lane->nr_pieces) {
		more = realloc(lane->pieces, (file + 1) * sizeof(*more));
		if (!more)
			return err_set(err, -ENOMEM, "out of memory");
		lane->pieces = more;
		while (lane->nr_pieces <= file)
			lane->pieces[lane->nr_pieces++] = (struct stretch_piece){ seq, seq };
	}
	lane->pieces[file].end = seq + 1;
	return 0;
}

/* A full window: the next file, or none. */
static void turn(struct walk *walk, struct window *window)
{
	if (walk->how->repeat) {
		*window = (struct window){ .file = window->file + 1 };
		return;
	}
	window->full = true;
	walk->full++;
}

static int take(struct walk *walk, size_t lane, const struct replay_record *rec, struct err *err)
{
	struct track *track = &walk->tracks[lane];
	struct window *window = walk->how->per_cpu ? &track->own : &walk->shared;
	uint64_t seq = track->seen++;

	if (window->full || (!track->begun && rec->ts < walk->how->from))
		return 0;
	track->begun = true;
	if (!has_room(walk, window, rec))
		turn(walk, window);
	if (window->full)
		return 0;
	count(walk, window, rec);
	if (window->file >= walk->out->nr_files)
		walk->out->nr_files = window->file + 1;
	return put(&walk->out->lanes[lane], window->file, seq, err);
}

static int walk_records(struct walk *walk, struct replay *replay, struct err *err)
{
	size_t enough = walk->how->per_cpu ? walk->out->nr_lanes : 1;
	struct replay_record rec;
	const char *warning;
	int r = 1;

	while (walk->full < enough && (r = replay_next(replay, &rec, err)) == 1) {
		if (rec.ts > walk->how->to)
			break;
		r = take(walk, lane_of(walk, rec.lane), &rec, err);
		if (r)
			return r;
	}
	for (size_t i = 0; (warning = replay_warning(replay, i)); i++)
		cmd_say("%s", warning);
	return r < 0 ? r : 0;
}

static int name_lanes(struct stretches *out, const struct replay *replay, struct err *err)
{
	const struct replay_lane *lane;
	size_t n = 0;

	while (replay_lane(replay, n))
		n++;
	*out = (struct stretches){ calloc(n + 1, sizeof(*out->lanes)), n, 1 };
	if (!out->lanes)
		return err_set(err, -ENOMEM, "out of memory");
	for (size_t i = 0; (lane = replay_lane(replay, i)); i++) {
		out->lanes[i].buffer = lane->buffer_nr;
		out->lanes[i].cpu = lane->cpu;
	}
	return 0;
}

static int find(struct stretches *out, struct replay *replay, const struct stretch_how *how,
		struct err *err)
{
	struct walk walk = { .how = how, .out = out };
	int r = name_lanes(out, replay, err);

	if (r)
		return r;
	walk.tracks = calloc(out->nr_lanes + 1, sizeof(*walk.tracks));
	if (!walk.tracks)
		return err_set(err, -ENOMEM, "out of memory");
	r = walk_records(&walk, replay, err);
	free(walk.tracks);
	return r;
}

int stretch_find(struct stretches *out, struct dat *dat, const struct stretch_how *how,
		 struct err *err)
{
	struct replay *replay;
	int r;

	*out = (struct stretches){ NULL, 0, 1 };
	r = replay_new(&replay);
	if (r)
		return err_set(err, r, "out of memory");
	r = replay_add(replay, dat, NULL, how->wanted, how->arg, err);
	if (!r)
		r = find(out, replay, how, err);
	replay_free(replay);
	return r;
}

void stretch_fini(struct stretches *stretches)
{
	for (size_t i = 0; i < stretches->nr_lanes; i++)
		free(stretches->lanes[i].pieces);
	free(stretches->lanes);
	*stretches = (struct stretches){ NULL, 0, 0 };
}
