/*
 * cmd/apply_take: one step of a profile: written where it belongs, or shown as a line for a shell.
 *
 * What says so already is not written again: some files throw away what was recorded. What a tree of files does not let us do is told
 * and left out; what it finds wrong is a failure, and the caller takes back what was done.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd/apply_local.h"
#include "cmd/apply_same.h"
#include "cmd/keep.h"
#include "control/enable.h"
#include "control/hooks.h"
#include "doctor/doctor.h"

/* What would be written, for -n. */
static void put_line(struct apply *apply, const char *path, const char *text, bool append)
{
	char *line = apply->dry ? strdup(text) : NULL;
	size_t len = line ? strlen(line) : 0;

	if (!line)
		return;
	/* Words of a list may stand side by side. */
	if (len && line[len - 1] == '\n')
		line[len - 1] = '\0';
	for (char *at = line; (at = strchr(at, '\n'));)
		*at = ' ';
	/* Some shells' echo reads what is behind a backslash. */
	buf_puts(&apply->lines, strchr(line, '\\') ? "printf '%s\\n' " : "echo ");
	doctor_quote(&apply->lines, line);
	free(line);
	buf_puts(&apply->lines, append ? " >> " : " > ");
	if (apply->source && !apply->control && *path != '/')
		buf_printf(&apply->lines, "%s/", source_name(apply->source));
	buf_printf(&apply->lines, "%s\n", path);
}

/* Of trees of files, whose words are few: it is not there, or not for us. */
static bool is_lack(const struct apply *apply, int r)
{
	return !apply->control && (r == -EPERM || r == -EOPNOTSUPP || r == -ENOSYS || r == -ENODEV);
}

/* What comes of a write that was refused. */
static int judge(struct apply *apply, const struct boot_step *step, int r, const struct err *refused, struct err *err)
{
	struct scope scope = apply_scope(step);
	char why[128] = "";

	if (!r)
		return 0;
	if (!apply->control && r == -EINVAL)
		same_why(apply->source, &scope, step->text, why);
	if (!is_lack(apply, r))
		return apply_refuse(apply, step, r, err, "%s%s%s", *why ? why : refused->text, *why ? ": " : "", *why ? step->text : "");
	apply_say(apply, step, "%s: left out", refused->text);
	return 0;
}

/* Nothing is written where nothing is to stay, but in a change that is thrown away. */
static int write_file(struct apply *apply, const struct boot_step *step, const char *file, const char *text, bool append,
		      struct err *refused)
{
	struct scope scope = apply_scope(step);
	char path[SCOPE_PATH];

	put_line(apply, scope_path(path, &scope, file), text, append);
	if (!apply->source || (apply->dry && !apply->control))
		return 0;
	return scope_write(&scope, apply->source, file, text, append, refused);
}

/* Instances have fewer files than the top buffer. */
static bool lacks(struct apply *apply, const struct boot_step *step)
{
	struct scope scope = apply_scope(step);
	char path[SCOPE_PATH];

	if (!apply->source || (apply->dry && !apply->control) || scope_has(&scope, apply->source, step->file))
		return false;
	apply_say(apply, step, "there is no %s here: left out", scope_path(path, &scope, step->file));
	return true;
}

static bool says(const struct apply *apply, const struct boot_step *step)
{
	struct scope scope = apply_scope(step);
	struct buf now = BUF_INIT;
	bool same;

	if (!apply->source)
		return false;
	same = !keep_read(apply->source, &scope, step->file, KEEP_WORD, &now, NULL) && !strcmp(now.data, step->text);
	buf_fini(&now);
	return same;
}

static int take_word(struct apply *apply, const struct boot_step *step, struct err *err)
{
	struct err refused = ERR_INIT;
	int r;

	if (lacks(apply, step) || says(apply, step))
		return 0;
	if (!strcmp(step->file, "buffer_size_kb"))
		r = undo_keep_size(apply, step, err);
	else
		r = undo_keep(apply, step, step->file, KEEP_WORD, err);
	if (!r)
		r = judge(apply, step, write_file(apply, step, step->file, step->text, false, &refused), &refused, err);
	return r;
}

/* Not every tracer is for instances: one says itself which are, once it is there. */
static int take_tracer(struct apply *apply, const struct boot_step *step, struct err *err)
{
	struct scope scope = apply_scope(step);
	struct buf text = BUF_INIT;
	bool lacks = false;

	if (step->instance && apply->source && (!apply->dry || apply->control) &&
	    !scope_read(&scope, apply->source, "available_tracers", &text, NULL) && text.data)
		lacks = !apply_has_word(text.data, step->text);
	buf_fini(&text);
	if (!lacks)
		return take_word(apply, step, err);
	apply_say(apply, step, "there is no tracer '%.60s' in an instance: left out", step->text);
	return 0;
}

static int take_option(struct apply *apply, const struct boot_step *step, struct err *err)
{
	struct scope scope = apply_scope(step);
	struct err refused = ERR_INIT;
	char file[128], word[128], path[SCOPE_PATH];
	int r;

	/* Those of tracers that are not chosen have a file, but no word. */
	snprintf(file, sizeof(file), "options/%.100s", step->text);
	if (apply->source && scope_has(&scope, apply->source, file)) {
		struct boot_step own = *step;

		own.file = file;
		own.text = step->on ? "1" : "0";
		return take_word(apply, &own, err);
	}
	snprintf(word, sizeof(word), "%s%.100s", step->on ? "" : "no", step->text);
	snprintf(file, sizeof(file), "%s%.100s", step->on ? "no" : "", step->text);
	r = undo_add(apply, UNDO_WRITE, scope_path(path, &scope, "trace_options"), file, err);
	if (!r)
		r = judge(apply, step, write_file(apply, step, "trace_options", word, false, &refused), &refused, err);
	return r;
}

static int see_freed(void *ctx, const void *bytes, size_t len)
{
	*(bool *)ctx = memmem(bytes, len, "Snapshot is freed", 17);
	return -ECANCELED;
}

static int take_snapshot(struct apply *apply, const struct boot_step *step, struct err *err)
{
	struct scope scope = apply_scope(step);
	struct err refused = ERR_INIT;
	char path[SCOPE_PATH];
	bool freed = false;
	int r = 0;

	if (lacks(apply, step))
		return 0;
	scope_path(path, &scope, "snapshot");
	if (apply->source && (!apply->dry || apply->control)) {
		source_pump(apply->source, path, see_freed, &freed, NULL);
		if (!freed)
			return 0;
		r = undo_add(apply, UNDO_WRITE, path, "0", err);
	}
	return r ? r : judge(apply, step, write_file(apply, step, "snapshot", "1", false, &refused), &refused, err);
}

/* The first list for a file takes the place of what is there, others are added. */
static int take_list(struct apply *apply, const struct boot_step *step, struct err *err)
{
	struct err refused = ERR_INIT;
	bool first = true;
	int r;

	if (lacks(apply, step))
		return 0;
	for (const struct boot_step *other = apply->profile.steps; other < step; other++)
		if (other->act == BOOT_LIST && !strcmp(other->file, step->file) &&
		    !strcmp(other->instance ? other->instance : "", step->instance ? step->instance : ""))
			first = false;
	r = undo_keep(apply, step, step->file, KEEP_LIST, err);
	return r ? r : judge(apply, step, write_file(apply, step, step->file, step->text, !first, &refused), &refused, err);
}

static int take_command(struct apply *apply, const struct boot_step *step, struct err *err)
{
	struct scope scope = apply_scope(step);
	struct err refused = ERR_INIT;
	char path[SCOPE_PATH], text[256];
	size_t len;
	int r;

	if (lacks(apply, step) || (apply->source && same_command(apply->source, &scope, step)))
		return 0;
	r = write_file(apply, step, step->file, step->text, true, &refused);
	if (r)
		return judge(apply, step, r, &refused, err);
	/* One that is counted is taken away with a count, whichever. */
	len = same_command_len(step->text);
	snprintf(text, sizeof(text), "!%.*s%s", (int)len, step->text, step->text[len] ? ":0" : "");
	return undo_add(apply, UNDO_APPEND, scope_path(path, &scope, step->file), text, err);
}

/* ---- events ---- */

static int take_define(struct apply *apply, const struct boot_step *step, struct err *err)
{
	struct boot_step top = *step;
	struct err refused = ERR_INIT;
	char text[160];
	int r;

	/* They are for all instances, whoever brings them. */
	top.instance = NULL;
	if (apply->source && same_define(apply->source, step))
		return 0;
	r = write_file(apply, &top, step->file, step->text, true, &refused);
	if (r == -EEXIST && same_refused(apply->source, step, &refused))
		return 0;
	if (r)
		return judge(apply, step, r, &refused, err);
	if (!strcmp(step->file, "synthetic_events"))
		snprintf(text, sizeof(text), "!%.70s", step->event);
	else
		snprintf(text, sizeof(text), "-:%.70s/%.70s", step->system, step->event);
	return undo_add(apply, UNDO_APPEND, step->file, text, err);
}

static int write_condition(struct apply *apply, const struct boot_step *step, const char *file, struct err *refused)
{
	struct scope scope = apply_scope(step);
	bool trigger = step->act == BOOT_TRIGGER;
	char path[SCOPE_PATH];

	if (!apply->control || scope_has(&scope, apply->source, file))
		return write_file(apply, step, file, step->text, trigger, refused);
	/* No program has brought the event yet: it holds when one does. */
	put_line(apply, scope_path(path, &scope, file), step->text, trigger);
	return control_condition_set(apply->control, step->instance ? step->instance : "", step->system, step->event, trigger,
				     step->text, refused);
}

/* Of all events of a system that have its fields, each of which is kept by itself. */
static int take_wide(struct apply *apply, const struct boot_step *step, struct err *err)
{
	struct err refused = ERR_INIT;
	char file[256];
	int r = 0;

	for (size_t e = 0; !r && !apply->control && e < apply->events.n; e++) {
		if (strcmp(apply->events.item[e].system, step->system))
			continue;
		snprintf(file, sizeof(file), "events/%.80s/%.80s/filter", step->system, apply->events.item[e].name);
		r = undo_keep(apply, step, file, KEEP_FILTER, err);
	}
	snprintf(file, sizeof(file), "events/%.80s/filter", step->system);
	return r ? r : judge(apply, step, write_file(apply, step, file, step->text, false, &refused), &refused, err);
}

static int take_condition(struct apply *apply, const struct boot_step *step, struct err *err)
{
	struct scope scope = apply_scope(step);
	bool trigger = step->act == BOOT_TRIGGER;
	struct err refused = ERR_INIT;
	struct buf back = BUF_INIT;
	char file[256], path[SCOPE_PATH];
	int r = 0;

	/* Without a source nobody knows the system: a shell finds it. */
	snprintf(file, sizeof(file), "events/%.80s/%.80s/%s", step->system ? step->system : "*", step->event,
		 trigger ? "trigger" : "filter");
	if (trigger && apply->source && same_trigger(apply->source, &scope, step))
		return 0;
	if (!trigger)
		r = undo_keep(apply, step, file, KEEP_FILTER, err);
	else if (!strncmp(step->text, "hist:", 5) && strstr(step->text, "common_timestamp"))
		/* It chooses the clock, and leaves it so when it goes. */
		r = undo_keep(apply, step, "trace_clock", KEEP_WORD, err);
	if (r)
		return r;
	r = write_condition(apply, step, file, &refused);
	/* There are many ways to write one. */
	if (r == -EEXIST && strstr(refused.text, "Hist trigger already exists"))
		return 0;
	if (r || !trigger)
		return judge(apply, step, r, &refused, err);
	buf_printf(&back, "!%s", step->text);
	r = buf_failed(&back) ? err_set(err, -ENOMEM, "out of memory") :
	    undo_add(apply, UNDO_APPEND, scope_path(path, &scope, file), back.data, err);
	buf_fini(&back);
	return r;
}

/* In a tracing directory: a pattern, also for programs to come. */
static int enable_pattern(struct apply *apply, const struct boot_step *step, const struct events_wish *wish, struct err *refused)
{
	struct control *control = apply->control;
	int place, r = control_begin(control, refused);

	if (r)
		return r;
	place = control_state_buffer(&control->state, step->instance ? step->instance : "");
	if (place < 0)
		r = err_set(refused, -ENOENT, "there is no such instance");
	else if (wish->bare)
		r = control_enable_name(control, (uint32_t)place, wish->system, step->on, refused);
	else
		r = control_enable(control, (uint32_t)place, wish->system, wish->event, step->on, refused);
	return control_end(control, r, refused);
}

static int write_event(struct apply *apply, const struct boot_step *step, const char *system, const char *event, struct err *err)
{
	struct err refused = ERR_INIT;
	char word[200];

	snprintf(word, sizeof(word), "%s%.80s%s%.80s\n", step->on ? "" : "!", system, *event ? ":" : "", event);
	return judge(apply, step, write_file(apply, step, "set_event", word, true, &refused), &refused, err);
}

static int take_event(struct apply *apply, const struct boot_step *step, struct err *err)
{
	struct scope scope = apply_scope(step);
	struct err refused = ERR_INIT;
	struct events_wish wish;
	char path[SCOPE_PATH], word[200];
	int r;

	events_wish_parse(&wish, step->text);
	if (apply->control) {
		snprintf(word, sizeof(word), "%s%.150s", step->on ? "" : "!", step->text);
		put_line(apply, scope_path(path, &scope, "set_event"), word, true);
		return judge(apply, step, enable_pattern(apply, step, &wish, &refused), &refused, err);
	}
	r = undo_keep_events(apply, step, err);
	if (r)
		return r;
	if (!apply->source || !apply_is_for_us(&wish))
		return write_event(apply, step, wish.system, wish.bare ? "" : wish.event, err);
	for (size_t e = 0; !r && e < apply->events.n; e++)
		if (events_wish_matches(&wish, &apply->events.item[e]))
			r = write_event(apply, step, apply->events.item[e].system, apply->events.item[e].name, err);
	for (const struct boot_step *own = apply->profile.steps; !r && own < step; own++) {
		struct events_item item = { .system = own->system, .name = own->event };

		if (own->act == BOOT_DEFINE && !apply_knows(apply, own->system, own->event) && events_wish_matches(&wish, &item))
			r = write_event(apply, step, own->system, own->event, err);
	}
	return r;
}

/* ---- others ---- */

static int take_make(struct apply *apply, const struct boot_step *step, struct err *err)
{
	struct scope scope = apply_scope(step);
	struct err refused = ERR_INIT;
	char path[SCOPE_PATH];
	int r;

	scope_path(path, &scope, "");
	if (apply->source && source_exists(apply->source, path))
		return 0;
	if (apply->dry)
		buf_printf(&apply->lines, "mkdir %s%s%s\n", apply->source && !apply->control ? source_name(apply->source) : "",
			   apply->source && !apply->control ? "/" : "", path);
	if (!apply->source || (apply->dry && !apply->control))
		return 0;
	r = source_mkdir(apply->source, path, &refused);
	return r ? apply_refuse(apply, step, r, err, "%s", refused.text) : undo_add(apply, UNDO_REMOVE, path, "", err);
}

/* What a setting of the kernel says, and then something else. */
static int change_sysctl(struct apply *apply, const char *path, const char *text, struct err *refused, struct err *err)
{
	char before[64] = "";
	int fd = open(path, O_RDWR | O_CLOEXEC), r = 0;

	if (fd < 0 || pread(fd, before, sizeof(before) - 1, 0) < 0)
		r = -errno;
	if (!r && undo_add(apply, UNDO_SYSCTL, path, before, err))
		r = -ENOMEM;
	if (!r && pwrite(fd, text, strlen(text), 0) < 0)
		r = -errno;
	if (fd >= 0)
		close(fd);
	return r ? err_set(refused, r, "%s: %s", path, strerror(-r)) : 0;
}

/* Some are taken without a word by a kernel that was not started for them, and stay as they are. */
static bool is_set(const char *path, const char *text)
{
	char now[64] = "";
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	bool set = fd < 0 || read(fd, now, sizeof(now) - 1) <= 0 ||
		   (strcspn(now, "\n") == strlen(text) && !strncmp(now, text, strlen(text)));

	if (fd >= 0)
		close(fd);
	return set;
}

static int take_sysctl(struct apply *apply, const struct boot_step *step, struct err *err)
{
	struct err refused = ERR_INIT;
	char path[128];
	int r;

	snprintf(path, sizeof(path), APPLY_SYSCTL "%.80s", step->file);
	put_line(apply, path, step->text, false);
	if (apply->dry)
		return 0;
	r = judge(apply, step, change_sysctl(apply, path, step->text, &refused, err), &refused, err);
	if (!r && !refused.code && !is_set(path, step->text))
		apply_say(apply, step, "%s stays as it is: left out", path);
	return r;
}

int apply_take(struct apply *apply, size_t i, struct err *err)
{
	const struct boot_step *step = &apply->profile.steps[i];

	switch (step->act) {
	case BOOT_MAKE:
		return take_make(apply, step, err);
	case BOOT_DEFINE:
		return take_define(apply, step, err);
	case BOOT_OPTION:
		return take_option(apply, step, err);
	case BOOT_SNAPSHOT:
		return take_snapshot(apply, step, err);
	case BOOT_LIST:
		return take_list(apply, step, err);
	case BOOT_COMMAND:
		return take_command(apply, step, err);
	case BOOT_FILTER:
	case BOOT_TRIGGER:
		return step->event ? take_condition(apply, step, err) : take_wide(apply, step, err);
	case BOOT_EVENT:
		return take_event(apply, step, err);
	case BOOT_TRACER:
		return take_tracer(apply, step, err);
	case BOOT_SYSCTL:
		return take_sysctl(apply, step, err);
	default:
		return take_word(apply, step, err);
	}
}
