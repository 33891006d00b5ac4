/*
 * cmd/record_flight: see record_flight.h.
 *
 *	     moment - before            moment     moment + after
 *	  ........|......................|..............|
 *	  rings overwrite                               turned: new rings take what comes, a file is made of the old ones
 *
 * Rings are turned for all buffers in one change, and the old ones stay for as long as the window of a later moment may reach
 * back to them, as far as there is room. Events that are waited for and come within a window belong to its moment.
 */
#include "cmd/record_flight.h"

#include <errno.h>
#include <inttypes.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/mono.h"
#include "cmd/flight_death.h"
#include "cmd/flight_event.h"
#include "cmd/interrupt.h"
#include "cmd/progress.h"
#include "control/buffer.h"
#include "control/clock.h"
#include "control/reclaim.h"
#include "record/clock.h"
#include "record/still.h"

/* Whoever waits looks around so often. */
#define LOOK_MS 100
/* Old rings that stay when they are turned: one more has to find room, and one if somebody changes the size. */
#define KEEP_MAX (STATE_RETIRED_MAX - 2)
/* Late writers are waited for, for so long. */
#define QUIET_TRIES 20
/* Records that are longer are not looked for in the buffers. */
#define RECORD_MAX 4096

enum on { ON_EVENT, ON_DEATH, ON_SIGNAL };

struct flight {
	const struct record_ask *ask;
	struct launch *launch;
	struct control *control;
	enum on on;
	struct flight_event *event;
	struct flight_death death;
	struct record_clock clock;	/* of the first buffer, and what times here are by */
	unsigned int files;
	uint64_t until;			/* what was waited for and came up to then is in a file */
	uint64_t turned[KEEP_MAX];	/* when, of rings that may still be there, oldest first */
	unsigned int nr_turned;
	bool command_told;
	uint64_t end;			/* 0: it is not over */
	int failed;
};

struct moment {
	uint64_t ts;
	pid_t pid;		/* whose last events are to be printed; 0: nobody's */
	bool at_once;		/* nothing comes after it */
	char why[320];
	size_t len;		/* of the event's record; 0: none, or longer than that */
	unsigned char record[RECORD_MAX];
};

static enum on on_what(const char *on)
{
	return !strcmp(on, "death") ? ON_DEATH : !strcmp(on, "signal") ? ON_SIGNAL : ON_EVENT;
}

int record_flight_check(const char *on, struct err *err)
{
	struct flight_event *event = NULL;
	int r = on_what(on) == ON_EVENT ? flight_event_parse(&event, on, err) : 0;

	flight_event_close(event);
	return r;
}

/* ---- time ---- */

static const char *first_buffer(const struct flight *flight)
{
	return flight->ask->how.buffers[0].instance;
}

static uint64_t now(struct flight *flight)
{
	const struct control_state *state = &flight->control->state;
	int place = control_state_buffer(state, first_buffer(flight));

	return place < 0 ? 0 : control_clock_now(&state->buffers[place].live.clock, &flight->control->dir);
}

/* ---- moments ---- */

static int find_event(struct flight *flight, struct moment *moment, struct err *err)
{
	struct flight_sight sight;
	struct err misfit;
	int r;

	do {
		misfit = (struct err)ERR_INIT;
		r = flight_event_next(flight->event, &sight, &misfit, err);
		if (misfit.code)
			cmd_say("%s", misfit.text);
	} while (r > 0 && (sight.ts <= flight->until || (flight->end && sight.ts > flight->end)));
	if (r <= 0)
		return r;
	*moment = (struct moment){ .ts = sight.ts, .len = sight.len < RECORD_MAX ? sight.len : 0 };
	memcpy(moment->record, sight.record, moment->len);
	snprintf(moment->why, sizeof(moment->why), "%.100s:%.100s of %d", sight.system, sight.name, (int)sight.tid);
	return 1;
}

static int find_death(struct flight *flight, struct moment *moment)
{
	struct launch *launch = flight->launch;
	char words[128];
	int status;
	pid_t pid = flight_death_gone(&flight->death);

	*moment = (struct moment){ .ts = now(flight), .pid = pid, .at_once = true };
	if (pid) {
		snprintf(moment->why, sizeof(moment->why), "%d is gone", (int)pid);
		return 1;
	}
	if (!launch || flight->command_told || launch_poll(launch, &status) <= 0)
		return 0;
	flight->command_told = true;
	/* Whoever ends the recorder at a terminal ends the command as well. */
	if (interrupt_end() || !flight_death_words(&flight->death, status, words))
		return 0;
	moment->pid = launch->pid;
	snprintf(moment->why, sizeof(moment->why), "%.100s (%d) %s", launch->name, (int)launch->pid, words);
	return 1;
}

static int find_signal(struct flight *flight, struct moment *moment)
{
	if (!interrupt_request())
		return 0;
	*moment = (struct moment){ .ts = now(flight), .why = "SIGUSR1" };
	return 1;
}

static int find(struct flight *flight, struct moment *moment, struct err *err)
{
	switch (flight->on) {
	case ON_EVENT:
		return find_event(flight, moment, err);
	case ON_DEATH:
		return find_death(flight, moment);
	default:
		return find_signal(flight, moment);
	}
}

/* Nothing more is to come. */
static bool is_over(struct flight *flight)
{
	int status;

	if (!flight->end && (interrupt_end() || (flight->launch && launch_poll(flight->launch, &status)) ||
			     (flight->on == ON_DEATH && !flight->launch && !flight->death.left)))
		flight->end = now(flight);
	return flight->end;
}

static void sleep_a_while(struct flight *flight, uint32_t seen)
{
	if (flight->on == ON_EVENT)
		flight_event_sleep(flight->event, LOOK_MS, interrupt_word(), seen);
	else
		flight_death_sleep(&flight->death, flight->launch, LOOK_MS);
}

/* ---- what is saved ---- */

static void wait_after(struct flight *flight)
{
	int64_t end = mono_ms() + (int64_t)((flight->ask->after_ns + 999999) / 1000000), left;

	while (!is_over(flight) && (left = end - mono_ms()) > 0)
		flight_death_sleep(&(struct flight_death){ 0 }, flight->launch, left < LOOK_MS ? (int)left : LOOK_MS);
}

static int turn_all(struct flight *flight, unsigned int old, struct err *err)
{
	const struct record_how *how = &flight->ask->how;
	int r = 0;

	for (size_t i = 0; !r && i < how->nr_buffers; i++) {
		int place = control_state_buffer(&flight->control->state, how->buffers[i].instance);
		struct state_buffer *buffer;
		uint32_t keep;

		if (place < 0)
			return err_set(err, -ENOENT, "the instance %s is gone", how->buffers[i].instance);
		buffer = &flight->control->state.buffers[place];
		keep = buffer->nretired > old ? buffer->nretired - old : 0;
		r = control_buffer_turn(flight->control, buffer, keep < KEEP_MAX ? keep : KEEP_MAX, err);
	}
	return r;
}

static void note_turn(struct flight *flight, unsigned int old)
{
	if (flight->nr_turned - old == KEEP_MAX)
		old++;
	flight->nr_turned -= old;
	memmove(flight->turned, flight->turned + old, flight->nr_turned * sizeof(flight->turned[0]));
	flight->turned[flight->nr_turned++] = now(flight);
}

/* From now on the window stands still. */
static int turn(struct flight *flight, const struct moment *moment, struct err *err)
{
	uint64_t span = record_clock_counts(&flight->clock, flight->ask->before_ns);
	uint64_t from = record_clock_is_time(&flight->clock) && span < moment->ts ? moment->ts - span : 0;
	unsigned int old = 0;
	int r = control_begin(flight->control, err);

	if (r)
		return r;
	while (old < flight->nr_turned && flight->turned[old] < from)
		old++;
	r = control_end(flight->control, turn_all(flight, old, err), err);
	if (r)
		return r;
	note_turn(flight, old);
	/* A program may be about to write what it took up before. */
	for (int i = 0; i < QUIET_TRIES && !control_quiesce(flight->control, false); i++)
		nanosleep(&(struct timespec){ 0, 1000000 }, NULL);
	return 0;
}

/* As `ringside report` shows it. */
static const char *time_text(const struct flight *flight, uint64_t shown, char text[48])
{
	if (flight->clock.by_tsc || control_clock_is_ns(flight->clock.id))
		snprintf(text, 48, "%" PRIu64 ".%06" PRIu64, (shown + 500) / 1000000000,
			 (shown + 500) % 1000000000 / 1000);
	else
		snprintf(text, 48, "%" PRIu64, shown);
	return text;
}

static void tell(const struct flight *flight, const struct moment *moment, const char *path,
		 const struct record_still_sums *sums)
{
	char bytes[32], lost[64] = "none lost", at[48];

	if (flight->ask->quiet && !moment->pid && !sums->lost && !sums->lost_more && !sums->overwritten)
		return;
	if (sums->lost)
		snprintf(lost, sizeof(lost), "%" PRIu64 " lost", sums->lost);
	cmd_say("%s: %s at %s: %" PRIu64 " events, %s, %s%s", path, moment->why, time_text(flight, sums->moment, at),
		sums->events, progress_bytes(bytes, sums->bytes), lost, sums->lost_more ? ", and some that could not be counted" : "");
	if (sums->overwritten)
		cmd_say("%s: begins later than asked: %" PRIu64 " events before it were overwritten; a larger buffer (-b) "
			"holds more", path, sums->overwritten);
}

static int write_file(struct flight *flight, const struct moment *moment, const char *path, struct err *err)
{
	struct record_window window = { moment->ts, flight->ask->before_ns, moment->at_once ? UINT64_MAX : flight->ask->after_ns };
	struct record_how how = flight->ask->how;
	struct record_still_sums sums;
	int r;

	how.path = path;
	if (moment->len)
		window.moment = record_still_time(flight->control, first_buffer(flight), moment->record, moment->len,
						  moment->ts);
	r = record_still(&how, &window, false, &sums, err);
	if (r)
		return r;
	flight->files++;
	tell(flight, moment, path, &sums);
	return moment->pid ? flight_death_print(flight->control, moment->pid, path, err) : 0;
}

static void save(struct flight *flight, const struct moment *moment)
{
	uint64_t span = record_clock_counts(&flight->clock, flight->ask->after_ns), turned;
	struct err err = ERR_INIT;
	char *path = NULL;
	int r;

	if (!moment->at_once)
		wait_after(flight);
	r = turn(flight, moment, &err);
	turned = now(flight);
	flight->until = record_clock_is_time(&flight->clock) && turned > moment->ts && span < turned - moment->ts ?
			moment->ts + span : turned;
	if (!r && asprintf(&path, "%s.%u", flight->ask->path, flight->files + 1) < 0)
		r = err_set(&err, -ENOMEM, "out of memory");
	if (!r)
		r = write_file(flight, moment, path, &err);
	if (r) {
		cmd_say("%s", moment->why);
		cmd_say("it was not saved: %s", err.text);
		flight->failed = r;
	}
	free(path);
}

/* ---- all of it ---- */

/* Rings that discard hold what came first, and nothing of what happened. */
static int check_buffers(struct flight *flight, struct err *err)
{
	const struct record_how *how = &flight->ask->how;
	int r = control_begin(flight->control, err);

	if (r)
		return r;
	for (size_t i = 0; !r && i < how->nr_buffers; i++) {
		int place = control_state_buffer(&flight->control->state, how->buffers[i].instance);
		struct state_buffer *buffer = &flight->control->state.buffers[place < 0 ? 0 : place];

		if (place < 0)
			r = err_set(err, -ENOENT, "the instance %s is gone", how->buffers[i].instance);
		else if (!(buffer->flags & BUFFER_OVERWRITE))
			r = err_set(err, -EINVAL, "--flight is for buffers that overwrite what is old, and this one does not: "
				    "nooverwrite");
		else
			r = control_buffer_expand(flight->control, buffer, err);
		if (!i && !r)
			record_clock_init(&flight->clock, flight->control, buffer->clock);
	}
	return control_end(flight->control, r, err);
}

/* The file comes when it is needed most: whether it can is better known before. */
static int check_path(const struct flight *flight, struct err *err)
{
	char *copy = strdup(flight->ask->path);
	const char *dir = copy ? dirname(copy) : NULL;
	int r = copy ? 0 : err_set(err, -ENOMEM, "out of memory");

	if (!r && access(dir, W_OK | X_OK))
		r = err_set(err, -errno, "cannot write to %s: %s", dir, strerror(errno));
	free(copy);
	return r;
}

static int watch_event(struct flight *flight, struct err *err)
{
	struct err misfit = ERR_INIT;
	int r = flight_event_parse(&flight->event, flight->ask->on, err);

	if (!r)
		r = flight_event_watch(flight->event, flight->control, first_buffer(flight), err);
	if (!r && !flight_event_is_known(flight->event, &misfit) && !flight->ask->quiet && !flight->ask->has_command)
		cmd_say("no program has brought %s yet: it is waited for", flight->ask->on);
	if (misfit.code)
		cmd_say("%s", misfit.text);
	return r;
}

int record_flight_open(struct flight **out, const struct record_ask *ask, const struct opts *opts, struct launch *launch,
		       struct err *err)
{
	struct flight *flight = calloc(1, sizeof(*flight));
	int r;

	*out = flight;
	if (!flight)
		return err_set(err, -ENOMEM, "out of memory");
	flight->ask = ask;
	flight->launch = launch;
	flight->control = source_control(ask->how.buffers[0].source);
	flight->on = on_what(ask->on);
	r = check_path(flight, err);
	if (!r)
		r = check_buffers(flight, err);
	if (!r && flight->on == ON_EVENT)
		r = watch_event(flight, err);
	if (!r && flight->on == ON_DEATH)
		r = flight_death_watch(&flight->death, opts, true, err);
	return r;
}

int record_flight_run(struct flight *flight)
{
	struct err err = ERR_INIT;
	struct moment moment;
	bool over;
	int r;

	do {
		uint32_t seen = __atomic_load_n(interrupt_word(), __ATOMIC_ACQUIRE);

		/* Asked before: what came before the end is found. */
		over = is_over(flight);
		r = find(flight, &moment, &err);
		if (r > 0)
			save(flight, &moment);
		else if (!r && !over)
			sleep_a_while(flight, seen);
	} while (r > 0 || (!r && !over));
	if (r < 0)
		cmd_say("%s", err.text);
	return r < 0 ? r : flight->failed;
}

void record_flight_close(struct flight *flight)
{
	if (!flight)
		return;
	flight_event_close(flight->event);
	flight_death_fini(&flight->death);
	free(flight);
}
