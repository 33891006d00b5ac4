/*
 * collect/front: what a session is answered. See net/desk.h; it may be anybody by now, and is believed nothing.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/mono.h"
#include "collect/local.h"

/* Who is cut off sooner, and comes again, is not told of each time. */
#define STEADY_MS 10000
#define FLAPS "comes and goes"

static struct bound *bound_of(const struct visit *visit)
{
	return visit->own;
}

bool front_is_new(struct listener *listener, const char *name, const char *words)
{
	struct said *said = NULL, now;
	bool is_new;

	for (unsigned int i = 0; i < SAID_MAX && !said; i++)
		if (!strcmp(listener->said[i].name, name))
			said = &listener->said[i];
	if (!said && !*words)
		return false;
	if (!said) {
		said = &listener->said[listener->next_said++ % SAID_MAX];
		*said->words = '\0';
	}
	snprintf(now.name, sizeof(now.name), "%s", name);
	snprintf(now.words, sizeof(now.words), "%s", words);
	is_new = strcmp(said->words, now.words);
	*said = now;
	return is_new;
}

/* ---- where its recording stands ---- */

/* A connection that was cut on the other side alone still holds its file. */
static void supersede(struct listener *listener, const struct visit *visit, const uint8_t recording[16])
{
	for (struct visit *other = listener->gate.visits; other; other = other->next)
		if (other != visit && other->own && !strcmp(other->name, visit->name) &&
		    !memcmp(bound_of(other)->record.recording, recording, sizeof(bound_of(other)->record.recording)))
			gate_end(other);
}

/* Its own recording does not go to make room for it. */
static int check_room(struct listener *listener, const char *name, int board, const uint8_t recording[16], struct err *err)
{
	struct store_limits limits = listener->how.limits;
	uint64_t quota = limits.quota, hidden;

	if (!quota || store_used(board) <= quota)
		return 0;
	hidden = store_hidden(board);
	limits.spare = recording;
	limits.board = name;
	limits.quota = quota > hidden ? quota - hidden : 1;
	store_thin(&listener->store, &limits, NULL);
	return store_used(board) <= quota ? 0 : err_set(err, -EDQUOT, "%s has used up what it may have there", name);
}

static int find_file(struct bound *bound, const struct desk_ask *ask, struct desk_answer *answer, int fds[2],
		     struct err *err)
{
	struct store_record *record = &bound->record;
	int r = store_find(record, bound->board, ask->recording, err);

	if (r < 0)
		return r;
	if (r && (record->stands == DESK_DONE || record->ended)) {
		answer->stands = DESK_DONE;
		answer->at = record->at;
		if (record->stands == DESK_DONE && !record->ended)
			return err_set(err, -ESTALE, "that recording was closed when nothing came any more");
		if (record->stands == DESK_DONE)
			return 0;
		/* It came to its end, and whoever closed it up did not. */
		fds[0] = store_reopen(bound->board, record, err);
		if (fds[0] < 0)
			return fds[0];
		listen_close_left(fds[0], record->file);
		close(fds[0]);
		fds[0] = -1;
		record->stands = DESK_DONE;
		return store_put(bound->board, record, err);
	}
	if (r && record->nr_lanes != ask->len)
		return err_set(err, -EPROTO, "that recording has another shape");
	answer->stands = r ? DESK_OPEN : DESK_NEW;
	if (r) {
		fds[0] = store_reopen(bound->board, record, err);
	} else {
		record->began = record->changed = (int64_t)time(NULL);
		record->nr_lanes = ask->len;
		record->stands = DESK_OPEN;
		fds[0] = store_create(bound->board, record, record->file, err);
	}
	if (fds[0] < 0)
		return fds[0];
	fds[1] = store_bases(bound->board, record, err);
	return fds[1] < 0 ? fds[1] : store_put(bound->board, record, err);
}

/* A file that nothing was written to yet is begun, and not gone on with. */
static bool is_empty(int fd)
{
	struct stat st;

	return !fstat(fd, &st) && !st.st_size;
}

static bool flaps(struct listener *listener, const struct visit *visit)
{
	for (unsigned int i = 0; i < SAID_MAX; i++)
		if (!strcmp(listener->said[i].name, visit->name) && !strcmp(listener->said[i].words, FLAPS))
			return true;
	return false;
}

static void tell_begin(struct listener *listener, const struct visit *visit, const char *what)
{
	struct bound *bound = bound_of(visit);

	bound->told = true;
	front_is_new(listener, visit->name, "");
	gate_say(&listener->gate, "%s (%s): %s %s/%s/%s", visit->name, visit->from, what, listener->how.dir, visit->name, bound->record.file);
}

static bool answer_file(struct listener *listener, struct visit *visit, const struct desk_ask *ask)
{
	struct bound *bound = calloc(1, sizeof(*bound));
	struct desk_answer answer = { 0 };
	struct err err = ERR_INIT;
	int fds[2] = { -1, -1 }, r;
	bool ok;

	if (visit->own || !bound) {
		free(bound);
		return false;
	}
	supersede(listener, visit, ask->recording);
	visit->own = bound;
	bound->board = store_board(&listener->store, visit->name, &err);
	r = bound->board < 0 ? bound->board : check_room(listener, visit->name, bound->board, ask->recording, &err);
	if (!r)
		r = find_file(bound, ask, &answer, fds, &err);
	if (!r && answer.stands == DESK_OPEN && is_empty(fds[0]))
		answer.stands = DESK_NEW;
	answer.generation = bound->record.generation;
	snprintf(answer.file, sizeof(answer.file), "%.120s/%s/%s", listener->how.dir, visit->name, bound->record.file);
	bound->since = mono_ms();
	if (r && front_is_new(listener, visit->name, err.text))
		gate_say(&listener->gate, "%s (%s): %s", visit->name, visit->from, err.text);
	else if (!r && answer.stands == DESK_NEW)
		tell_begin(listener, visit, "records to");
	else if (!r && answer.stands == DESK_OPEN && !flaps(listener, visit))
		tell_begin(listener, visit, "goes on with");
	if (r) {
		/* It has no recording, and gets none on this connection. */
		bound->record.stands = DESK_DONE;
		if (bound->board >= 0)
			close(bound->board);
		bound->board = -1;
	}
	ok = gate_give(visit, &answer, &err, fds, fds[1] >= 0 ? 2 : 0);
	for (int i = 0; i < 2; i++)
		if (fds[i] >= 0)
			close(fds[i]);
	return ok;
}

void front_gone(void *ctx, struct visit *visit)
{
	struct listener *listener = ctx;
	struct bound *bound = bound_of(visit);

	if (!bound)
		return;
	if (bound->record.stands == DESK_OPEN && store_drop_empty(bound->board, &bound->record))
		gate_say(&listener->gate, "%s (%s): ends before it begins", visit->name, visit->from);
	/* Once, until it stays for a while. */
	else if (bound->record.stands == DESK_OPEN &&
		 (mono_ms() - bound->since > STEADY_MS || front_is_new(listener, visit->name, FLAPS)))
		gate_say(&listener->gate, "%s (%s): was cut off from %s, which can be read and gone on with", visit->name, visit->from,
			 bound->record.file);
	if (bound->board >= 0)
		close(bound->board);
	free(bound);
}

/* ---- while it records ---- */

/* Is there enough in the one it has? Else files could be had without end. */
static bool is_full(const struct listener *listener, const struct bound *bound)
{
	struct stat st;

	return listener->how.rotate_bytes && !fstatat(bound->board, bound->record.file, &st, AT_SYMLINK_NOFOLLOW) &&
	       (uint64_t)st.st_size >= listener->how.rotate_bytes;
}

static bool answer_next(struct listener *listener, struct visit *visit)
{
	struct bound *bound = bound_of(visit);
	struct store_record next = bound->record;
	struct desk_answer answer = { 0 };
	struct err err = ERR_INIT;
	int fd, r;
	bool ok;

	if (!is_full(listener, bound))
		return false;
	store_thin(&listener->store, &listener->how.limits, NULL);
	r = check_room(listener, visit->name, bound->board, bound->record.recording, &err);
	next.generation++;
	fd = r ? r : store_create(bound->board, &next, bound->next_file, &err);
	snprintf(answer.file, sizeof(answer.file), "%.120s/%s/%s", listener->how.dir, visit->name, bound->next_file);
	ok = gate_give(visit, &answer, &err, &fd, 1);
	if (fd >= 0)
		close(fd);
	return ok;
}

static bool answer_turned(struct visit *visit)
{
	struct bound *bound = bound_of(visit);
	struct desk_answer answer = { 0 };
	struct err err = ERR_INIT;

	if (!*bound->next_file)
		return false;
	bound->record.generation++;
	strcpy(bound->record.file, bound->next_file);
	*bound->next_file = '\0';
	if (!store_put(bound->board, &bound->record, &err))
		store_show(bound->board, &bound->record);
	return gate_give(visit, &answer, &err, NULL, 0);
}

static void take_sums(struct bound *bound, const struct desk_ask *ask)
{
	struct store_record *record = &bound->record;

	record->events = ask->events;
	record->lost = ask->lost;
	record->lost_more = ask->lost_more;
	record->bytes = ask->bytes;
	record->changed = (int64_t)time(NULL);
}

static bool note(struct listener *listener, struct visit *visit, const struct desk_ask *ask)
{
	struct bound *bound = bound_of(visit);
	struct err err = ERR_INIT;

	if (!bound->told && mono_ms() - bound->since > STEADY_MS)
		tell_begin(listener, visit, "goes on with");
	take_sums(bound, ask);
	store_put(bound->board, &bound->record, &err);
	return !check_room(listener, visit->name, bound->board, bound->record.recording, &err);
}

static bool answer_ended(struct visit *visit, const struct desk_ask *ask)
{
	struct bound *bound = bound_of(visit);
	struct desk_answer answer = { 0 };
	struct err err = ERR_INIT;

	take_sums(bound, ask);
	bound->record.at = ask->at;
	bound->record.ended = true;
	store_put(bound->board, &bound->record, &err);
	return gate_give(visit, &answer, &err, NULL, 0);
}

static bool closed(struct listener *listener, struct visit *visit, const struct desk_ask *ask)
{
	struct bound *bound = bound_of(visit);
	struct store_record *record = &bound->record;
	struct err err = ERR_INIT;
	char clock[64] = "";

	if (!record->ended)
		return false;
	record->stands = DESK_DONE;
	record->offset = ask->offset;
	record->error = ask->error;
	store_put(bound->board, record, &err);
	if (ask->error != UINT64_MAX)
		snprintf(clock, sizeof(clock), ", its clock matched to %llu ns", (unsigned long long)ask->error);
	gate_say(&listener->gate, "%s: %s/%s: %llu events, %llu lost%s%s", visit->name, visit->name, record->file,
		     (unsigned long long)record->events, (unsigned long long)record->lost,
		     record->lost_more ? ", and some that could not be counted" : "", clock);
	return true;
}

void front_watch(struct listener *listener)
{
	struct err err = ERR_INIT;

	for (struct visit *visit = listener->gate.visits; visit; visit = visit->next)
		if (visit->own && visit->pid && bound_of(visit)->board >= 0 &&
		    check_room(listener, visit->name, bound_of(visit)->board, bound_of(visit)->record.recording, &err))
			gate_end(visit);
}

bool front_answer(void *ctx, struct visit *visit, const struct desk_ask *ask)
{
	struct listener *listener = ctx;

	if (ask->kind == DESK_FILE)
		return answer_file(listener, visit, ask);
	/* The rest is about a recording. */
	if (!visit->own || bound_of(visit)->board < 0)
		return false;
	switch (ask->kind) {
	case DESK_PORT:
		return listener->how.compat && visit->bare && ask->len < bound_of(visit)->record.nr_lanes && gate_port(&listener->gate, visit, ask);
	case DESK_NEXT:
		return answer_next(listener, visit);
	case DESK_TURNED:
		return answer_turned(visit);
	case DESK_NOTE:
		return note(listener, visit, ask);
	case DESK_ENDED:
		return answer_ended(visit, ask);
	case DESK_CLOSED:
		return closed(listener, visit, ask);
	default:
		return false;
	}
}
