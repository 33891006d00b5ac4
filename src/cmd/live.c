/*
 * cmd/live: see live.h. One thread.
 */
#include "cmd/live.h"

#include <ctype.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/mono.h"
#include "cmd/coming.h"
#include "cmd/events.h"
#include "cmd/interrupt.h"
#include "cmd/nearest.h"
#include "cmd/own.h"
#include "cmd/setup.h"
#include "control/own.h"
#include "control/registry.h"
#include "control/tree.h"

#define REDRAW_MS 500
#define TICK_MS 100
#define USUAL_WIDTH 100
#define NAMES_MAX 100

/* Another screen without a cursor, and back. */
#define SCREEN_ON "\033[?1049h\033[?25l"
#define SCREEN_OFF "\033[?25h\033[?1049l"

int live_ask(struct live *live, const struct cmd *cmd, const struct opts *opts, int command)
{
	static const struct {
		const char *word;
		double ns;
	} units[] = { { "", 1e9 }, { "s", 1e9 }, { "ms", 1e6 }, { "us", 1e3 }, { "m", 60e9 }, { "min", 60e9 }, { "h", 3600e9 } };
	const char *time = opts_value(opts, "for");
	char *end = NULL;
	double number = time ? strtod(time, &end) : 0;

	live->launch = (struct launch)LAUNCH_NONE;
	live->quiet = opts_value(opts, "quiet");
	for (size_t i = 0; time && end != time && i < sizeof(units) / sizeof(units[0]); i++)
		if (!strcmp(end, units[i].word) && number > 0 && number * units[i].ns < 1e18)
			live->for_ns = (uint64_t)(number * units[i].ns);
	if (time && !live->for_ns)
		return cmd_misuse(cmd, "%s: --for '%s': a time is needed, as 5s or 200ms", cmd->name, time);
	if (opts->nargs <= command)
		return CMD_DONE;
	return opts_command(opts, command, &live->argv, &live->err) ? cmd_fail(&live->err) : CMD_DONE;
}

/* In a tree of files the name has to tell whose it is. */
static int make_in_files(struct live *live)
{
	char path[128], pid[16];
	int r;

	snprintf(path, sizeof(path), "instances/%s", live->instance);
	r = source_mkdir(live->source, path, &live->err);
	live->owned = !r;
	/* Who reads what he himself does never comes to an end. Not every kernel can leave him out. */
	snprintf(path, sizeof(path), "instances/%s/set_event_notrace_pid", live->instance);
	snprintf(pid, sizeof(pid), "%d", (int)getpid());
	if (!r && source_exists(live->source, path))
		source_write(live->source, path, pid, strlen(pid), false, NULL);
	return r;
}

static int make_own(struct live *live, const char *name)
{
	struct err refused;
	int r = -EEXIST;

	if (!live->control) {
		r = own_name(live->instance, sizeof(live->instance), name, &live->err);
		return r ? r : make_in_files(live);
	}

	for (int i = 1; r == -EEXIST && i < NAMES_MAX; i++) {
		refused = (struct err)ERR_INIT;
		if (i > 1)
			snprintf(live->instance, sizeof(live->instance), "%s-%d-%d", name, (int)getpid(), i);
		else
			snprintf(live->instance, sizeof(live->instance), "%s-%d", name, (int)getpid());
		r = control_own_add(live->control, live->instance, &refused);
	}
	live->owned = !r;
	return r ? err_set(&live->err, r, "%s", refused.text) : 0;
}

static int take_instance(struct live *live, const char *instance)
{
	char path[128];
	int r;

	if (!*instance || strchr(instance, '/') || strlen(instance) >= sizeof(live->instance))
		return err_set(&live->err, -EINVAL, "-B '%s': no instance can have that name", instance);
	strcpy(live->instance, instance);
	snprintf(path, sizeof(path), "instances/%s", instance);
	if (source_exists(live->source, path))
		return 0;
	if (!live->control)
		return make_in_files(live);
	r = control_own_add(live->control, instance, &live->err);
	live->owned = !r;
	return r;
}

int live_open(struct live *live, const struct opts *opts, const char *name, const char *instance)
{
	int r = cmd_open(&live->source, opts, true, &live->err);

	if (r)
		return r;
	live->control = source_control(live->source);
	r = setup_sweep(live->source, &live->err);
	if (r < 0)
		return r;
	/* Before there is anything that would have to be taken back. */
	interrupt_catch();
	return instance ? take_instance(live, instance) : make_own(live, name);
}

static bool event_to_come(struct live *live, const char *text, char system[64], char event[64])
{
	struct events_wish *found = NULL;
	size_t n = live->argv ? coming_events(live->argv[0], text, &found) : 0;

	if (n == 1) {
		snprintf(system, 64, "%s", found->system);
		snprintf(event, 64, "%s", found->event);
	}
	free(found);
	return n == 1;
}

/* It is named in full, and may be of a program that is to come. */
static int check_named(struct live *live, const char *system, const char *event)
{
	const struct control_registry *events = control_events(live->control, NULL);
	struct nearest nearest = { .system = system, .event = event };
	struct err err = ERR_INIT;
	int r;

	for (uint32_t i = 0; events && i < events->nevents; i++)
		if (events->events[i].shown)
			nearest_offer(&nearest, events->events[i].system, events->events[i].name);
	r = nearest_judge(&nearest, &err);
	if (r < 0)
		return err_set(&live->err, r, "%s", err.text);
	if (r && !live->quiet)
		cmd_say("%s: it is on for programs that bring one", err.text);
	return 0;
}

/* It is not there, and a tree of files has what it has. */
static int refuse_in_files(struct live *live, const char *system, const char *event)
{
	struct nearest nearest = { .system = system, .event = event };
	struct events events;
	char words[160];
	int r = events_load(&events, live->source, &live->err);

	if (r)
		return r;
	for (size_t i = 0; i < events.n; i++)
		nearest_offer(&nearest, events.item[i].system, events.item[i].name);
	r = err_set(&live->err, -ENOENT, "there is no event %s:%s in %s%s", system, event, source_name(live->source),
		    nearest_words(&nearest, words));
	events_fini(&events);
	return r;
}

/* How many events have the name? And the system of one. */
static int count_named(struct live *live, const char *name, char system[64])
{
	struct events events;
	int n = 0, r = events_load(&events, live->source, &live->err);

	if (r)
		return r;
	for (size_t i = 0; i < events.n; i++)
		if (!strcmp(events.item[i].name, name)) {
			snprintf(system, 64, "%s", events.item[i].system);
			n++;
		}
	events_fini(&events);
	return n;
}

int live_event(struct live *live, const char *text, char system[64], char event[64])
{
	size_t len = strcspn(text, ":/");
	int n;

	if (text[len]) {
		if (!len || len >= 60 || !text[len + 1] || strlen(text + len + 1) >= 64 || strpbrk(text + len + 1, ":/*? "))
			return err_set(&live->err, -EINVAL, "'%s' is no event: SYSTEM:EVENT is needed", text);
		snprintf(system, 64, "%.*s", (int)len, text);
		snprintf(event, 64, "%s", text + len + 1);
		if (live_knows(live, system, event))
			return 0;
		return live->control ? check_named(live, system, event) : refuse_in_files(live, system, event);
	}
	n = count_named(live, text, system);
	if (n < 0)
		return n;
	snprintf(event, 64, "%s", text);
	if (n == 1 || (!n && live->control && event_to_come(live, text, system, event)))
		return 0;
	return err_set(&live->err, n ? -EINVAL : -ENOENT, "'%s': %s of that name: write SYSTEM:EVENT", text,
		       n ? "there are several events" : live->control ? "no program has brought an event" : "there is no event");
}

bool live_knows(struct live *live, const char *system, const char *event)
{
	const struct control_registry *events = live->control ? control_events(live->control, NULL) : NULL;
	char path[192];

	for (uint32_t i = 0; events && i < events->nevents; i++)
		if (events->events[i].shown && !strcmp(events->events[i].system, system) &&
		    !strcmp(events->events[i].name, event))
			return true;
	snprintf(path, sizeof(path), "events/%s/%s", system, event);
	return !live->control && source_exists(live->source, path);
}

/* A field's name and nothing else. */
static bool is_bare(const char *key, size_t len)
{
	static const char *const every[] = { "cpu", "CPU", "stacktrace", "STACKTRACE", "hitcount" };

	if (!len || !strncmp(key, "common_", 7))
		return false;
	for (size_t i = 0; i < sizeof(every) / sizeof(every[0]); i++)
		if (strlen(every[i]) == len && !strncmp(key, every[i], len))
			return false;
	for (size_t i = 0; i < len; i++)
		if (!isalnum((unsigned char)key[i]) && key[i] != '_')
			return false;
	return true;
}

void live_put_keys(struct buf *out, const char *keys, bool known)
{
	for (const char *at = keys;; at++) {
		size_t len = strcspn(at, ",");

		buf_add(out, at, len);
		if (!known && is_bare(at, len))
			buf_puts(out, ".string");
		at += len;
		if (!*at)
			return;
		buf_putc(out, ',');
	}
}

/* ---- Pictures ---- */

static void measure(const struct live *live, uint32_t *width, uint32_t *height)
{
	const char *columns = getenv("COLUMNS");
	struct winsize size;

	*height = 0;
	*width = columns && atoi(columns) >= 20 && atoi(columns) < 10000 ? (uint32_t)atoi(columns) : USUAL_WIDTH;
	if (isatty(STDOUT_FILENO) && !ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) && size.ws_col) {
		*width = size.ws_col;
		*height = live->is_screen ? size.ws_row : 0;
	}
}

/* A frame goes out in one piece, over the one before. */
static int show_frame(struct live *live)
{
	struct buf picture = BUF_INIT, frame = BUF_INIT;
	uint32_t width, height;
	int r;

	measure(live, &width, &height);
	r = live->draw(live, width, height ? height - 1 : 0, &picture);
	/* A line is emptied before it is written: one that is full ends on its last column. */
	buf_puts(&frame, "\033[H\033[K");
	for (size_t i = 0; !r && i < picture.len; i++) {
		buf_putc(&frame, picture.data[i]);
		if (picture.data[i] == '\n')
			buf_puts(&frame, "\033[K");
	}
	buf_puts(&frame, "\033[J");
	if (!r && (buf_failed(&picture) || buf_failed(&frame)))
		r = err_set(&live->err, -ENOMEM, "out of memory");
	if (!r)
		r = cmd_put(frame.data, frame.len, &live->err);
	buf_fini(&picture);
	buf_fini(&frame);
	return r;
}

static int show_last(struct live *live)
{
	struct buf picture = BUF_INIT;
	uint32_t width, height;
	int r;

	live->is_screen = false;
	measure(live, &width, &height);
	r = live->draw(live, width, 0, &picture);
	if (!r && buf_failed(&picture))
		r = err_set(&live->err, -ENOMEM, "out of memory");
	if (!r)
		r = cmd_put(picture.data, picture.len, &live->err);
	buf_fini(&picture);
	return r;
}

/* ---- While it goes on ---- */

static int start_command(struct live *live)
{
	struct launch_how how = {
		.argv = live->argv, .preload = live->control, .quiet = live->quiet,
		.dir = live->control ? source_name(live->source) : NULL,
	};
	int r = launch_start(&live->launch, &how, &live->err);

	if (r)
		return r;
	switches_begin(&live->switches, live->source, live->launch.pid);
	return launch_go(&live->launch, &live->err);
}

void live_count_down(struct live *live)
{
	live->end_ms = live->for_ns ? mono_ms() + (int64_t)((live->for_ns + 999999) / 1000000) : 0;
}

bool live_over(struct live *live)
{
	if (live->argv && !live->ended)
		live->ended = launch_poll(&live->launch, &live->status) != 0;
	return live->ended || interrupt_end() || (live->end_ms && mono_ms() >= live->end_ms);
}

/* Until something ends it, or the picture gets old. */
static void wait_a_while(struct live *live)
{
	struct pollfd pidfd = { .fd = live->argv ? live->launch.pidfd : -1, .events = POLLIN };
	int64_t rest = live->end_ms ? live->end_ms - mono_ms() : REDRAW_MS, most = live->tick ? TICK_MS : REDRAW_MS;

	if (rest > most)
		rest = most;
	poll(&pidfd, 1, rest > 0 ? (int)rest : 0);
}

static int watch(struct live *live)
{
	const char *term = getenv("TERM");
	int64_t drawn = 0;
	int r = 0;

	live_count_down(live);
	live->is_screen = isatty(STDOUT_FILENO) && !live->argv && term && *term && strcmp(term, "dumb");
	if (live->is_screen)
		r = cmd_put(SCREEN_ON, strlen(SCREEN_ON), &live->err);
	else if (!live->quiet && !live->argv && !live->for_ns && isatty(STDERR_FILENO))
		cmd_say("counting; Ctrl-C ends it");
	while (!r && !live_over(live)) {
		if (live->tick)
			r = live->tick(live);
		if (!r && live->is_screen && mono_ms() - drawn >= REDRAW_MS) {
			drawn = mono_ms();
			r = show_frame(live);
		}
		if (!r)
			wait_a_while(live);
	}
	/* Of a terminal that is gone nothing has to be taken back. */
	if (live->is_screen)
		cmd_put(SCREEN_OFF, strlen(SCREEN_OFF), NULL);
	return r;
}

int live_run(struct live *live)
{
	int r = live->argv ? start_command(live) : 0;

	if (!live->argv)
		switches_begin(&live->switches, live->source, 0);
	if (!r)
		r = watch(live);
	switches_end(&live->switches);
	if (!r && live->tick)
		r = live->tick(live);
	if (!r && interrupt_end() != SIGHUP)
		r = show_last(live);
	if (r)
		return cmd_fail(&live->err);
	return live->ended && live->status ? launch_exit_status(live->status) : CMD_DONE;
}

void live_close_instance(struct live *live)
{
	struct err err = ERR_INIT;
	char path[128];

	snprintf(path, sizeof(path), "instances/%s", live->instance);
	if (live->owned && source_rmdir(live->source, path, &err))
		cmd_say("%s", err.text);
	live->owned = false;
}

void live_close(struct live *live)
{
	live_close_instance(live);
	switches_close(&live->switches);
	launch_close(&live->launch);
	source_close(live->source);
	free(live->argv);
}
