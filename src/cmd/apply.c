/*
 * cmd/apply: a start-up profile put in force.
 *
 *   file -> boot/config: keys -> boot/profile: steps -> checked against the source -> taken
 *
 * In a tracing directory all steps are one change: in force at once, or not at all, also if we are killed. A tree of files has no such
 * thing: what was there is kept, and comes back when a step is refused. What a kernel lacks is told and left out.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd/apply_local.h"
#include "cmd/interrupt.h"
#include "cmd/setup.h"
#include "cmd/switches.h"
#include "control/errors.h"
#include "control/plans.h"

static const struct opt apply_opts[] = {
	{ 'n', "dry-run", NULL, "change nothing, and print what would be written" },
	{ 'i', "ignore-unknown", NULL, "events that the source does not have are left out" },
	{ 'q', "quiet", NULL, "say nothing but what goes wrong" },
	{ 'P', "pid", "PID", "for that process, which is about to join: plan its functions" },
	{ 0, "log", NULL, "what goes wrong is in error_log, too" },
	{ 0, NULL, NULL, NULL },
};

static void put_place(const struct apply *apply, const struct boot_step *step, struct buf *words)
{
	unsigned int line, column;

	boot_config_place(apply->config, step->node->pos, &line, &column);
	buf_printf(words, "%s:%u:%u: ", apply->name, line, column);
	boot_key(step->node->is_value ? step->node->parent : step->node, words);
	buf_puts(words, ": ");
}

void apply_say(const struct apply *apply, const struct boot_step *step, const char *fmt, ...)
{
	struct buf words = BUF_INIT;
	va_list ap;

	if (apply->quiet)
		return;
	put_place(apply, step, &words);
	va_start(ap, fmt);
	buf_vprintf(&words, fmt, ap);
	va_end(ap);
	if (!buf_failed(&words))
		cmd_say("%s", words.data);
	buf_fini(&words);
}

int apply_refuse(const struct apply *apply, const struct boot_step *step, int code, struct err *err, const char *fmt, ...)
{
	struct buf words = BUF_INIT;
	va_list ap;

	put_place(apply, step, &words);
	va_start(ap, fmt);
	buf_vprintf(&words, fmt, ap);
	va_end(ap);
	err_set(err, code, "%s", buf_failed(&words) ? "out of memory" : words.data);
	buf_fini(&words);
	return code;
}

bool apply_defines(const struct apply *apply, const char *system, const char *event)
{
	for (size_t i = 0; i < apply->profile.n; i++) {
		const struct boot_step *step = &apply->profile.steps[i];

		if (step->act == BOOT_DEFINE && !apply->out[i] && !strcmp(step->system, system) && !strcmp(step->event, event))
			return true;
	}
	return false;
}

bool apply_knows(const struct apply *apply, const char *system, const char *event)
{
	for (size_t i = 0; i < apply->events.n; i++)
		if (!strcmp(apply->events.item[i].system, system) && !strcmp(apply->events.item[i].name, event))
			return true;
	return false;
}

bool apply_is_for_us(const struct events_wish *wish)
{
	if (events_wish_is_all(wish))
		return false;
	return strpbrk(wish->system, "*?[") || (!wish->bare && strcmp(wish->event, "*") && strpbrk(wish->event, "*?["));
}

/* ---- the file ---- */

static int read_profile(struct apply *apply, struct err *err)
{
	struct buf text = BUF_INIT;
	unsigned int line, column;
	int r = cmd_read(apply->name, &text, err);

	if (!r && memchr(text.data, '\0', text.len))
		r = err_set(err, -EINVAL, "%s: is no text: it has a NUL in it", apply->name);
	if (r) {
		buf_fini(&text);
		return r;
	}
	/* What a kernel would not take at its start may be taken by one that runs. */
	r = boot_config_parse(&apply->config, text.data, text.len, false, err);
	if (!r)
		r = boot_profile_make(&apply->profile, apply->config, err);
	if (r && err->pos >= 0) {
		boot_text_place(text.data, text.len, err->pos, &line, &column);
		err_prefix(err, "%s:%u:%u: ", apply->name, line, column);
	}
	buf_fini(&text);
	if (!r) {
		apply->out = calloc(apply->profile.n + 1, sizeof(*apply->out));
		r = apply->out ? 0 : err_set(err, -ENOMEM, "out of memory");
	}
	return r;
}

/* ---- taking ---- */

static int take_all(struct apply *apply, struct err *err)
{
	int r = 0;

	for (size_t i = 0; !r && i < apply->profile.n; i++) {
		if (interrupt_end())
			return err_set(err, -EINTR, "interrupted: nothing is changed");
		if (!apply->out[i])
			r = apply_take(apply, i, err);
	}
	return r;
}

/* One change, tried and thrown away if nothing is to stay of it. */
static int take_together(struct apply *apply, struct err *err)
{
	struct err thrown = ERR_INIT;
	int r = control_together(apply->control, err);

	if (r)
		return r;
	r = take_all(apply, err);
	if (!apply->dry || r)
		return control_together_end(apply->control, r, err);
	control_together_end(apply->control, -ECANCELED, &thrown);
	return 0;
}

static int take(struct apply *apply, struct err *err)
{
	struct err undone = ERR_INIT;
	int r;

	if (apply->control)
		return take_together(apply, err);
	r = take_all(apply, err);
	if (r && !apply->dry && undo_all(apply, &undone))
		cmd_say("what was there before could not be brought back: %s", undone.text);
	return r;
}

/* Is it about functions, or places in code? */
static bool wants_plans(const struct apply *apply)
{
	for (size_t i = 0; i < apply->profile.n; i++) {
		const struct boot_step *step = &apply->profile.steps[i];

		if (step->act == BOOT_TRACER || (step->act == BOOT_DEFINE && strcmp(step->file, "synthetic_events")) ||
		    (step->act == BOOT_LIST && !strstr(step->file, "pid")) ||
		    (step->act == BOOT_EVENT && setup_is_by_plans(step->text)))
			return true;
	}
	return false;
}

/* Functions of a program that is about to join are to be known before they are named. */
static void bring(struct apply *apply)
{
	char link[64], path[4096];
	ssize_t len;

	if (!apply->control || !wants_plans(apply))
		return;
	snprintf(link, sizeof(link), "/proc/%d/exe", (int)apply->pid);
	len = readlink(link, path, sizeof(path) - 1);
	if (len <= 0)
		return;
	path[len] = '\0';
	(void)control_plans_bring(apply->control, path, NULL);
}

/* ---- the command ---- */

static int open_source(struct apply *apply, const struct opts *opts, struct err *err)
{
	int r = cmd_open(&apply->source, opts, !apply->dry, err);

	/* To see what would be written, no tree is needed. */
	if (r == -ENOENT && apply->dry && !opts_value(opts, "kernel") && !opts_value(opts, "tracefs")) {
		*err = (struct err)ERR_INIT;
		return 0;
	}
	apply->control = r ? NULL : source_control(apply->source);
	apply->kernel = opts_value(opts, "kernel");
	return r;
}

static int look_around(struct apply *apply, struct err *err)
{
	if (apply->pid)
		bring(apply);
	if (!apply->control && (!apply->source || !source_exists(apply->source, "available_events")))
		return 0;
	return events_load(&apply->events, apply->source, err);
}

static int do_apply(struct apply *apply, const struct opts *opts, struct err *err)
{
	int r = open_source(apply, opts, err);

	if (!r)
		r = read_profile(apply, err);
	if (!r)
		r = look_around(apply, err);
	if (!r)
		r = apply_check(apply, err);
	/* Before this nothing is changed, and who has enough of it may go as he likes. */
	interrupt_catch();
	if (!r)
		r = apply->source ? take(apply, err) : take_all(apply, err);
	if (!r && apply->dry)
		r = buf_failed(&apply->lines) ? err_set(err, -ENOMEM, "out of memory") :
		    cmd_put(apply->lines.data, apply->lines.len, err);
	else if (!r) {
		if (!apply->quiet)
			cmd_say_unreached(apply->source);
		if (apply->pid)
			switches_stay_for(apply->source, apply->pid);
		else
			switches_stay(apply->source);
	}
	return r;
}

/* Nobody listens to a program that is just starting: who looks for what went wrong looks there. */
static void log_failure(const struct apply *apply, const struct err *err)
{
	if (apply->control)
		control_errors_note(apply->control, "profile", apply->name, err);
}

static int run(const struct opts *opts)
{
	struct apply apply = {
		.name = opts_arg(opts, 0),
		.dry = opts_value(opts, "dry-run"),
		.ignore = opts_value(opts, "ignore-unknown"),
		.quiet = opts_value(opts, "quiet"),
		.lines = BUF_INIT,
	};
	const char *pid = opts_value(opts, "pid");
	struct err err = ERR_INIT;
	int r;

	apply.pid = pid ? (pid_t)strtol(pid, NULL, 10) : 0;
	if (pid && (apply.pid <= 0 || strspn(pid, "0123456789") != strlen(pid)))
		return cmd_misuse(&cmd_apply, "apply: -P %s: the number of a process is needed", pid);
	r = do_apply(&apply, opts, &err);
	if (r && opts_value(opts, "log"))
		log_failure(&apply, &err);
	undo_fini(&apply.undo);
	buf_fini(&apply.lines);
	events_fini(&apply.events);
	boot_profile_fini(&apply.profile);
	boot_config_free(apply.config);
	free(apply.out);
	source_close(apply.source);
	return r ? cmd_fail(&err) : CMD_DONE;
}

const struct cmd cmd_apply = {
	.name = "apply",
	.synopsis = "[-n] [-i] [-q] FILE",
	.summary = "set everything as a start-up profile says",
	.text = "Reads FILE, in the syntax of the kernel's bootconfig, and sets what its keys ftrace.* and\n"
		"kernel.* say about tracing: events, filters, triggers, histograms, probes, instances,\n"
		"tracers. All of it is checked before any of it is done, and when something is refused,\n"
		"nothing is changed. What a kernel has not is told and left out. `ringside save` writes\n"
		"such a file. Programs do this by themselves at their start for $RINGSIDE_PROFILE.\n",
	.opts = apply_opts,
	.arg = "PROFILE",
	.args_min = 1,
	.args_max = 1,
	.run = run,
};
