/*
 * cmd/setup: buffers made ready as a command line says, for those who then record from them, and taken back.
 *
 *	setup_parse()	what the line says; nothing is touched
 *	setup_apply()	instances, settings, events: all of it, or nothing
 *	setup_on()	recording, in all buffers at once
 *	setup_off()
 *	setup_undo()	everything as it was
 *
 * `start` and `set` are the first two: setup_run().
 */
#ifndef CMD_SETUP_H
#define CMD_SETUP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "cmd/cmd.h"
#include "source/source.h"

/* Options that concern a buffer: those before the first -B the first one, those behind a -B that instance. */
#define SETUP_BUFFER_OPTS                                                                              \
	{ 'e', "event", "SYSTEM[:EVENT]", "events to switch on; again for more" },                     \
	{ 'f', "filter", "FILTER", "of the -e before it, only records for which this holds; again for and" }, \
	{ 'R', "trigger", "TRIGGER", "what the -e before it sets off" },                               \
	{ 'p', "tracer", "TRACER", "the tracer" },                                                     \
	{ 'O', "option", "OPTION", "a trace option on, or with no before it off; again for more" },    \
	{ 'T', "stacktrace", NULL, "a stack with each event: -O stacktrace" },                         \
	{ 'C', "clock", "CLOCK", "the clock" },                                                        \
	{ 'b', "buffer-size", "KB", "size of the buffer for each CPU in KiB" },                        \
	{ 0, "subbuf-size", "KB", "size of its pages in KiB" },                                        \
	{ 'M', "cpumask", "MASK", "only these CPUs, as a hexadecimal mask; -1 is all" },               \
	{ 'P', "pid", "PID", "only these threads, separated by commas; again for more" },              \
	{ 'l', "function", "FUNCTION", "of the function tracer, only these; again for more" },         \
	{ 'n', "no-function", "FUNCTION", "of the function tracer, not these; again for more" },       \
	{ 'g', "graph", "FUNCTION", "of the graph tracer, these and what they call" },                 \
	{ 0, "module", "MODULE", "of -l, only functions of this module" },                             \
	{ 0, "max-graph-depth", "N", "of the graph tracer, calls this deep and no deeper" },           \
	{ 0, "func-stack", NULL, "of the function tracer, a stack with each function" }

/* Options that concern the whole line, or what follows them. */
#define SETUP_LINE_OPTS                                                                                \
	{ 'v', "negate", NULL, "the -e that follow are switched off" },                                \
	{ 'c', "children", NULL, "of -P, also what those threads start" },                             \
	{ 'i', "ignore-unknown", NULL, "events that nobody has brought are not worth a word" },        \
	{ 'q', "quiet", NULL, "say nothing but what goes wrong" },                                     \
	{ 'a', "all-formats", NULL, "save the formats of all events, also of those that nobody brought" }, \
	{ 0, "no-filter", NULL, "take what the recorder itself does, too" },                           \
	{ 'B', "instance", "INSTANCE", "what follows is about this instance, made if there is none" }

/* Not in `start` and `set`: the first for those who start a command, the second for those with a buffer of their own. */
#define SETUP_ONLY_OPT { 'F', "only-command", NULL, "only the thread that the command starts with; with -c all of it" }
#define SETUP_TOP_OPT { 0, "top", NULL, "the top buffer, instead of one for this alone" }

extern const struct opt setup_opts[];
#define SETUP_SYNOPSIS "[-v] [-e SYSTEM[:EVENT] [-f FILTER]]... [-p TRACER] [-O OPTION]... [-C CLOCK] " \
	"[-b KB] [-B INSTANCE ...]..."

struct setup;

struct setup_how {
	bool on;	/* setup_apply() ends with recording on; where no event is named, programs get all */
	/*
	 * What comes before the first -B is about an instance for this alone, unless --top is there; it and others that have to
	 * be made are removed by a later setup_sweep() if their maker dies; buffers take nothing before setup_on(), `on` or not.
	 */
	bool fresh;
	bool stays;	/* of files, the instance for this alone has a name by which no later setup_sweep() removes it */
	bool deletes;	/* -v -B removes the instance */
	/* Of instances that are made, where the line does not say. */
	const char *clock;
	uint64_t size_kb;
};

/* -EINVAL: the line is wrong. `opts` has to outlive it. */
int setup_parse(struct setup **out, const struct opts *opts, const struct setup_how *how, struct err *err);

/* Before setup_apply(): the clock of instances that are made, if the line does not say another. */
void setup_use_clock(struct setup *setup, const char *clock);
/* Does the line ask for what is measured in nanoseconds, so that times have to be those, too? */
bool setup_wants_nanoseconds(const struct setup *setup);

/* What becomes of a command whose setup_parse() failed: an exit status. */
int setup_refused(const struct cmd *cmd, int r, const struct err *err);

/* Before setup_apply(): with -F, the thread that all buffers are to take events of. */
void setup_only(struct setup *setup, pid_t tid);

/* The source has to outlive the setup, or setup_undo(). Whatever fails, nothing is changed by it. */
int setup_apply(struct setup *setup, struct source *source, struct err *err);

/* One transaction for all buffers of a tracing directory. */
int setup_on(struct setup *setup, struct err *err);
int setup_off(struct setup *setup, struct err *err);

/* A thread of the recorder, whose own doing is not to be recorded; nothing under --no-filter, and among programs. */
int setup_hide(struct setup *setup, pid_t tid, struct err *err);

/* Buffers that it is about, with their names in the source (NULL: the top one) and in a file (""). */
size_t setup_buffers(const struct setup *setup);
const char *setup_instance(const struct setup *setup, size_t i);
const char *setup_title(const struct setup *setup, size_t i);

bool setup_is_quiet(const struct setup *setup);

/* Events that are there by plans of functions: system calls, those that begin and end processes among them, and allocators. */
bool setup_is_by_plans(const char *event);

/* Does the line name a tracer, or functions? */
bool setup_wants_functions(const struct setup *setup);

/*
 * Instead of all that: no line, but files of the top buffer, changed one by one for as long as a command lasts. setup_undo() brings
 * them back, and in a tree of files whoever comes next, should we be killed. `lines`: the file is a list.
 */
int setup_lend(struct setup **out, struct source *source, struct err *err);
int setup_put(struct setup *setup, const char *file, const char *text, bool lines, struct err *err);

/*
 * Instances that it made are removed; elsewhere its events are off again and settings as they were, as far as they can be
 * written. All of it is tried, the first failure is told.
 */
int setup_undo(struct setup *setup, struct err *err);
/* Instead of that: all of it stays, also when we are gone. */
int setup_leave(struct setup *setup, struct err *err);
void setup_close(struct setup *setup);

/* Removes instances whose recorder died. How many, or -errno. */
int setup_sweep(struct source *source, struct err *err);

/* The whole of `start` (`on`) and `set`. An exit status. */
int setup_run(const struct cmd *cmd, const struct opts *opts, bool on);

#endif
