/*
 * cmd/setup_local: what the files of setup share. Private to them.
 */
#ifndef CMD_SETUP_LOCAL_H
#define CMD_SETUP_LOCAL_H

#include "cmd/events.h"
#include "cmd/keep.h"
#include "cmd/scope.h"
#include "cmd/setup.h"
#include "control/state.h"

/* Rules of one buffer. */
struct setup_rules {
	struct state_rule *rule;
	size_t n;
};

/* What becomes of a scope's buffer. */
struct setup_buffer {
	bool made;		/* its instance was made here */
	bool fresh;		/* and has a name that nobody gave it */
	bool removed;		/* by -v -B: it is to go */
	struct setup_rules before, after;	/* in a tracing directory, of its events */
	char *events;		/* elsewhere: the events that were on; NULL: they were not touched */
};

/* Instead of a scope's number: files of the top buffer that are for all, whichever buffers the line is about. */
#define SETUP_TOP (-1)

struct setup_kept {
	int scope;
	char *file;
	char *text;
	enum setup_keep kind;
};

struct setup {
	const struct opts *opts;
	struct setup_how how;
	bool files;		/* the source is no tracing directory */
	struct scopes scopes;
	struct setup_buffer *buffers;	/* of each scope */
	char name[64];		/* of the instance for this alone */
	pid_t only;		/* 0: not known */
	struct source *source;	/* once it is applied */
	struct events events;
	struct setup_kept *kept;	/* in the order of the changes */
	size_t nkept;
	int journal;		/* setup_journal.c; -1: none */
	char journal_name[192];
	pid_t watcher;		/* setup_watch.c; 0: none */
};

/* setup_line.c */
bool setup_number(const char *text, uint64_t *number);
/* The last option of that word in the scope, or NULL. */
const char *setup_value(const struct setup *setup, const struct scope *scope, const char *word);
/* The clock that is meant: "tsc2nsec" is how trace-cmd calls the counter whose nanoseconds are worked out afterwards. */
const char *setup_clock(const char *said);
/* Does the i-th item stand behind a -v? */
bool setup_negated(const struct setup *setup, int i);
/* Where nothing else is named, programs are recorded with everything they have. */
bool setup_wants_all(const struct setup *setup, const struct scope *scope);

/* setup_names.c: everything that the line names is there, as far as can be told before anything is changed. */
int setup_check_names(struct setup *setup, struct err *err);
bool setup_knows(const struct setup *setup, const struct events_wish *wish);
/* Lines for people about events that are not there yet. */
void setup_tell_unknown(const struct setup *setup);
/* And about probes whose files have changed. */
void setup_tell_stale(const struct setup *setup);
bool setup_has_option(struct setup *setup, const char *word);

static inline const struct scope *setup_scope(const struct setup *setup, int s)
{
	static const struct scope top;

	return s == SETUP_TOP ? &top : &setup->scopes.scope[s];
}

/* Was the buffer made here? Then there is nothing to bring back. */
static inline bool setup_made(const struct setup *setup, int s)
{
	return s != SETUP_TOP && setup->buffers[s].made;
}

/* setup_undo.c: is that word, or the one that means the contrary, in trace_options? */
bool setup_says_option(struct setup *setup, int scope, const char *word);
bool setup_says_other(struct setup *setup, int scope, const char *word);

/* setup_undo.c: remembers what a file says before it is changed. */
int setup_keep(struct setup *setup, int scope, const char *file, enum setup_keep kind, struct err *err);
int setup_keep_size(struct setup *setup, int scope, struct err *err);
int setup_keep_option(struct setup *setup, int scope, const char *option, struct err *err);
int setup_keep_trigger(struct setup *setup, int scope, const char *file, const char *trigger, struct err *err);
/* What is written to take something back, whatever the file says then. */
int setup_keep_writing(struct setup *setup, int scope, const char *file, const char *text, struct err *err);
/* The last that was kept: does its file still say so? And: it did not come to a change. */
bool setup_is_as_kept(struct setup *setup);
void setup_forget(struct setup *setup);
/* A filter (`text` NULL) or trigger of an event that is still to come; `event`: SYSTEM:EVENT. */
int setup_keep_ahead(struct setup *setup, int scope, const char *event, const char *text, struct err *err);
int setup_keep_events(struct setup *setup, int scope, struct err *err);
/* Within a transaction. */
int setup_keep_rules(struct setup_rules *rules, const struct control_state *state, uint32_t buffer,
		     struct err *err);

/* setup_effects.c: before a trigger, or a function's command, is written. */
int setup_keep_effects(struct setup *setup, int scope, const char *text, struct err *err);

/* setup_journal.c: what is to be taken back should we be killed, noted before it is done. */
void setup_journal_begin(struct setup *setup);
void setup_journal_made(struct setup *setup, int scope);
void setup_journal_on(struct setup *setup, int scope);
/* Its instance is gone again: it is the top buffer after all. */
void setup_journal_top(struct setup *setup, int scope);
void setup_journal_keep(struct setup *setup, const struct setup_kept *kept);
void setup_journal_forget(struct setup *setup);
/* -EBUSY: somebody who lives has made this buffer, or kept what it was like, and would remove it or bring that back under us. */
int setup_journal_alone(struct setup *setup, int scope, struct err *err);
/* All is taken back, or is to stay. */
void setup_journal_end(struct setup *setup);
/* Takes back what dead ones left in that tree: of how many. */
int setup_journal_sweep(struct source *source);

/* setup_watch.c: takes back what the journal says if we end without that. */
void setup_watch_begin(struct setup *setup);
void setup_watch_end(struct setup *setup);

/* setup_own.c: makes the scope's instance; one for this alone gets its name. */
int setup_make(struct setup *setup, int scope, struct err *err);

#endif
