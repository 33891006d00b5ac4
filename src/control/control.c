/*
 * control: see control.h.
 *
 * The lock is flock() on the control file: it belongs to the open file, so the kernel drops it with
 * the last descriptor, however the holder ends.
 */
#include "control/control.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <time.h>

#include "base/mono.h"
#include "capture/stream.h"
#include "capture/told.h"
#include "control/buffer.h"
#include "control/calls.h"
#include "control/errors.h"
#include "control/file.h"
#include "control/hints.h"
#include "control/memory.h"
#include "control/named.h"
#include "control/pause.h"
#include "control/pictures.h"
#include "control/poke.h"
#include "control/reclaim.h"
#include "control/registry.h"
#include "control/sets.h"
#include "control/side.h"
#include "control/space.h"
#include "control/symbols.h"
#include "control/wanted.h"

int control_open(struct control **out, const char *path, bool create, struct err *err)
{
	struct control *control = calloc(1, sizeof(*control));
	char found[PATH_MAX];
	int r;

	if (!control)
		return err_set(err, -ENOMEM, "out of memory");
	if (!path) {
		r = segment_path(found, sizeof(found), false);
		if (r)
			err_set(err, r, "RINGSIDE_DIR is too long for a path");
		path = found;
	} else {
		r = 0;
	}
	if (!r)
		r = segment_open(&control->dir, path, create, err);
	if (!r) {
		control->pictures = control_pictures_open();
		if (!control->pictures) {
			segment_close(&control->dir);
			r = err_set(err, -ENOMEM, "out of memory");
		}
	}
	if (r) {
		free(control);
		return r;
	}
	*out = control;
	return 0;
}

int control_again(struct control **out, struct control *control, struct err *err)
{
	struct control *again = calloc(1, sizeof(*again));
	int r;

	if (!again)
		return err_set(err, -ENOMEM, "out of memory");
	r = segment_again(&again->dir, &control->dir, err);
	if (r) {
		free(again);
		return r;
	}
	again->pictures = control_pictures_share(control->pictures);
	again->escape = control->escape;
	again->aside = control->aside;
	*out = again;
	return 0;
}

/* A picture with the events that are there by the state; their texts are the picture's. */
struct control_events {
	struct control_registry registry;
	const struct control_picture *of;
	uint64_t mark;
};

bool control_event_is_there(const struct control_state *state, const struct control_event *event)
{
	if (!event->dynamic)
		return true;
	for (uint32_t i = 0; i < state->nitems; i++)
		if (state->items[i].item.event_id == event->id)
			return true;
	return false;
}

static void there_free(struct control *control)
{
	if (control->there)
		free(control->there->registry.events);
	free(control->there);
	control->there = NULL;
}

static const struct control_registry *there_make(struct control *control, const struct control_registry *all,
						 struct err *err)
{
	struct control_events *there = calloc(1, sizeof(*there));
	struct control_registry *to;

	there_free(control);
	control->there = there;
	if (there)
		there->registry.events = calloc(all->nevents, sizeof(*all->events));
	if (!there || !there->registry.events) {
		err_set(err, -ENOMEM, "out of memory");
		there_free(control);
		return NULL;
	}
	to = &there->registry;
	to->moment = all->moment;
	to->unsettled = all->unsettled;
	for (uint32_t i = 0; i < all->nevents; i++)
		if (control_event_is_there(&control->state, &all->events[i]))
			to->events[to->nevents++] = all->events[i];
	control_registry_show(to);
	there->of = control->picture;
	there->mark = control->state.items_mark;
	return to;
}

const struct control_registry *control_events(struct control *control, struct err *err)
{
	const struct control_registry *all;

	/* Where there is no room for the kernel's names, what programs bring can be seen all the same. */
	control_named_ensure(&control->dir, NULL);
	all = control_pictures_take(control->pictures, &control->picture, &control->dir, err);
	if (!all || !all->has_dynamic)
		return all;
	if (control->there && control->there->of == control->picture && control->there->mark == control->state.items_mark)
		return &control->there->registry;
	return there_make(control, all, err);
}

void control_close(struct control *control)
{
	if (!control)
		return;
	control->together = false;
	control_cancel(control);
	control_state_fini(&control->state);
	buf_fini(&control->words);
	there_free(control);
	control_symbols_close(control->symbols);
	control_pictures_leave(&control->picture);
	control_pictures_close(control->pictures);
	segment_close(&control->dir);
	free(control);
}

int control_refresh(struct control *control, struct err *err)
{
	int r;

	if (control->locked)
		return 0;
	r = control_state_read(&control->state, &control->dir, err);
	/* Who may only look, or finds no room, sees the state as it was published. */
	if (!r && control_sides_turned(control) && (control_begin(control, NULL) || control_commit(control, NULL)))
		r = control_state_read(&control->state, &control->dir, err);
	control->fresh = !r;
	return r;
}

bool control_current(const struct control *control)
{
	return control_state_current(&control->state, &control->dir) && !control_sides_turned(control);
}

int control_follow(struct control *control, struct err *err)
{
	if (control->fresh && control_current(control))
		return 0;
	return control_refresh(control, err);
}

pid_t control_lock_holder(const struct control *control)
{
	char line[256], want[64];
	struct stat st;
	FILE *locks;
	int pid = 0;

	if (fstat(control->dir.fd[SEGMENT_CONTROL], &st))
		return 0;
	snprintf(want, sizeof(want), " %02x:%02x:%" PRIuMAX " ", major(st.st_dev),
		 minor(st.st_dev), (uintmax_t)st.st_ino);
	locks = fopen("/proc/locks", "re");
	if (!locks)
		return 0;
	/* There are locks of another kind on the file, too: pause.c. */
	while (pid <= 0 && fgets(line, sizeof(line), locks))
		if (strstr(line, want) && strstr(line, " FLOCK ") && !strstr(line, "->") &&
		    sscanf(line, "%*s %*s %*s %*s %d", &pid) != 1)
			pid = 0;
	fclose(locks);
	return pid > 0 ? pid : 0;
}

static int lock(struct control *control, struct err *err)
{
	int64_t deadline = mono_ms() + CONTROL_LOCK_MS;
	struct timespec pause = { 0, 500000 };
	int pid;

	while (flock(control->dir.fd[SEGMENT_CONTROL], LOCK_EX | LOCK_NB)) {
		if (errno != EWOULDBLOCK && errno != EINTR)
			return err_set(err, -errno, "%s/control: cannot be locked: %s",
				       control->dir.path, strerror(errno));
		if (mono_ms() >= deadline) {
			pid = control_lock_holder(control);
			return err_set(err, -EBUSY, "%s/control: process %d has kept it locked "
				       "for %d s: wait for it or end it", control->dir.path, pid,
				       CONTROL_LOCK_MS / 1000);
		}
		nanosleep(&pause, NULL);
		if (pause.tv_nsec < 8000000)
			pause.tv_nsec *= 2;
	}
	control->locked = true;
	control->fresh = false;
	return 0;
}

int control_lock(struct control *control, bool *mine, struct err *err)
{
	bool fresh = control->fresh;
	int r;

	*mine = !control->locked;
	r = *mine ? lock(control, err) : 0;
	control->fresh = fresh;
	return r;
}

void control_unlock(struct control *control, bool mine)
{
	if (!mine)
		return;
	flock(control->dir.fd[SEGMENT_CONTROL], LOCK_UN);
	control->locked = false;
}

static void note_live(const struct control *control, uint64_t *live)
{
	memset(live, 0, STATE_BUFFERS_MAX * sizeof(*live));
	for (uint32_t b = 0; b < control->state.nbuffers; b++)
		live[b] = control->state.buffers[b].live.offset;
}

/* Who sleeps for events of a set that gets no more of them is to look for the one that does. */
static void wake_readers(const struct control *control)
{
	const struct control_state *state = &control->state;

	for (uint32_t b = 0; b < STATE_BUFFERS_MAX; b++)
		if (control->live[b] && (b >= state->nbuffers || state->buffers[b].live.offset != control->live[b]))
			stream_wake(control->dir.fd[SEGMENT_RINGS], control->live[b]);
}

int control_begin(struct control *control, struct err *err)
{
	int r;

	if (control->together)
		return 0;
	/* What is told late belongs to the state of before. Its teller looks at states, too: not under the lock. */
	told_settle(control->dir.fd[SEGMENT_RINGS]);
	r = lock(control, err);
	if (r)
		return r;
	r = control_state_read(&control->state, &control->dir, err);
	if (r) {
		control_cancel(control);
		return r;
	}
	note_live(control, control->live);
	/* Who finds no place to put something away does not come as far as to make some. */
	if (control->state.nlimbo > STATE_LIMBO_MAX / 2)
		control_reclaim(control);
	r = control_sides_settle(control, err);
	if (r) {
		control_cancel(control);
		return r;
	}
	note_live(control, control->settled);
	control->traced = control_traced(&control->state);
	control_pause_check(control);
	control_retire_consumed(control);
	return 0;
}

void control_cancel(struct control *control)
{
	struct flock readers = { .l_type = F_UNLCK, .l_whence = SEEK_SET };

	control->spoilt |= control->together;
	if (!control->locked || control->together)
		return;
	control_words_forget(control);
	fcntl(control->dir.fd[SEGMENT_RINGS], F_OFD_SETLK, &readers);
	flock(control->dir.fd[SEGMENT_CONTROL], LOCK_UN);
	control->locked = false;
}

int control_commit(struct control *control, struct err *err)
{
	struct control_hints *hints;
	int r;

	if (control->together)
		return 0;
	r = control_sides_arm(control, err);
	if (!r)
		r = control_calls_fill(control, err);
	if (!r)
		r = control_memory_fill(control, err);
	if (r) {
		control_cancel(control);
		return r;
	}
	control_wanted_fill(&control->state);
	hints = control_hints_raise(control);
	r = control_state_publish(&control->state, &control->dir, err);
	if (!r)
		r = control_words_apply(control, err);
	if (!r)
		r = control_sides_late(control, err);
	if (!r)
		r = control_hints_settle(control, hints, err);
	else
		control_hints_free(hints);
	if (!r) {
		wake_readers(control);
		control_reclaim(control);
		control_sets_sweep(control);
	}
	control_cancel(control);
	if (!r)
		control_poke(control);
	return r;
}

int control_end(struct control *control, int r, struct err *err)
{
	if (!r)
		return control_commit(control, err);
	if (!control->together || r != -EEXIST)
		control_cancel(control);
	return r;
}

int control_together(struct control *control, struct err *err)
{
	int r = control_begin(control, err);

	control->together = !r;
	control->spoilt = false;
	return r;
}

int control_together_end(struct control *control, int r, struct err *err)
{
	control->together = false;
	if (!r && control->spoilt)
		r = err_set(err, -ECANCELED, "a part of it was cancelled");
	return control_end(control, r, err);
}

int control_reset(struct control *control, struct err *err)
{
	struct err unreadable = ERR_INIT;
	int r = lock(control, err);

	if (r)
		return r;
	r = control_state_read(&control->state, &control->dir, &unreadable);
	control->traced = r ? UINT64_MAX : control_traced(&control->state);
	note_live(control, control->live);
	note_live(control, control->settled);
	if (r && r != -EUCLEAN)
		err_set(err, r, "%s", unreadable.text);
	else
		r = control_buffers_drop(control, err);
	if (!r)
		control_errors_forget(control);
	return control_end(control, r, err);
}
