/*
 * collect/listen: see listen.h.
 */
#include "collect/listen.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/mono.h"
#include "collect/local.h"
#include "collect/session.h"

#define TIDY_MS 30000
#define WATCH_MS 1000

/* ---- files that were left ---- */

struct left {
	int file;
	const char *name;
};

static int close_left(void *ctx)
{
	const struct left *left = ctx;

	return session_close_left(left->file, left->name);
}

int listen_close_left(int file, const char *name)
{
	struct left left = { file, name };

	return gate_in_jail(close_left, &left);
}

static int close_old(void *ctx, const struct store_record *record, bool is_live, uint64_t size)
{
	struct listener *listener = ctx;
	struct store_record now = *record;
	struct err err = ERR_INIT;
	int board, file;

	(void)size;
	if (is_live || record->stands != DESK_OPEN || !record->nr_lanes || (int64_t)time(NULL) - record->changed < listener->how.wait)
		return 0;
	board = store_board(&listener->store, record->board, &err);
	file = board < 0 ? board : store_reopen(board, record, &err);
	if (file >= 0 && listen_close_left(file, record->file) == SESSION_BLANK && !record->generation) {
		store_drop(board, record);
		gate_say(&listener->gate, "%s: nothing more came, and too little before to be read: %s/%s is removed", record->board,
			 record->board, record->file);
	} else if (file >= 0) {
		now.stands = DESK_DONE;
		store_put(board, &now, &err);
		gate_say(&listener->gate, "%s: nothing more came, %s/%s is closed", record->board, record->board, record->file);
	}
	if (file >= 0)
		close(file);
	if (board >= 0)
		close(board);
	return 0;
}

static void tidy(struct listener *listener)
{
	struct err err = ERR_INIT;

	if (mono_ms() >= listener->watch_at) {
		listener->watch_at = mono_ms() + WATCH_MS;
		front_watch(listener);
	}
	if (mono_ms() < listener->tidy_at)
		return;
	listener->tidy_at = mono_ms() + TIDY_MS;
	store_walk(&listener->store, close_old, listener, &err);
	store_thin(&listener->store, &listener->how.limits, &err);
	if (front_is_new(listener, "", err.text) && err.code)
		gate_say(&listener->gate, "%s", err.text);
}

/* ---- all of it ---- */

static int live(void *ctx, int fd, int line, bool bare)
{
	const struct listener *listener = ctx;
	struct session_how how = {
		.key = listener->gate.key, .bare = bare, .compat = listener->how.compat, .machine = listener->machine, .rotate_bytes = listener->how.rotate_bytes,
	};

	strcpy(how.name, listener->name);
	return session_run(fd, line, &how);
}

int listen_open(struct listener **out, const struct listen_how *how, struct err *err)
{
	struct listener *listener = calloc(1, sizeof(*listener));
	struct gate_how gate = how->gate;
	int r;

	*out = NULL;
	if (!listener)
		return err_set(err, -ENOMEM, "out of memory");
	listener->how = *how;
	listener->machine = trust_machine();
	trust_host(listener->name);
	gate.verb = TRUST_RECORD;
	gate.wants = WIRE_RECORDS;
	gate.live = live;
	gate.answer = front_answer;
	gate.gone = front_gone;
	gate.ctx = listener;
	r = store_open(&listener->store, how->dir, true, err);
	if (!r)
		store_tidy(&listener->store);
	if (!r)
		r = gate_open(&listener->gate, &gate, err);
	if (r) {
		listen_close(listener);
		return r;
	}
	*out = listener;
	return 0;
}

void listen_close(struct listener *listener)
{
	if (!listener)
		return;
	gate_close(&listener->gate);
	store_close(&listener->store);
	free(listener);
}

bool listen_place(const struct listener *listener, size_t i, char *text, size_t size)
{
	if (i >= (size_t)listener->gate.nr_fds)
		return false;
	address_own(listener->gate.fds[i], text, size);
	return true;
}

void listen_run(struct listener *listener, const volatile int *stop)
{
	do
		tidy(listener);
	while (!*stop && gate_attend(&listener->gate));
}
