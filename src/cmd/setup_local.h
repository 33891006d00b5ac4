/*
 * cmd/setup_local: what the files of setup share. Private to them.
 */
#ifndef CMD_SETUP_LOCAL_H
#define CMD_SETUP_LOCAL_H

#include "cmd/events.h"
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

/* How a file's text is brought back: as it is, without what is for people, or by other means. */
enum setup_keep { KEEP_WORD, KEEP_LIST, KEEP_FILTER, KEEP_OPTION, KEEP_TRIGGER, KEEP_AHEAD };

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
/* A filter (`text` NULL) or trigger of an event that is still to come; `event`: SYSTEM:EVENT. */
int setup_keep_ahead(struct setup *setup, int scope, const char *event, const char *text, struct err *err);
int setup_keep_events(struct setup *setup, int scope, struct err *err);
/* Within a transaction. */
int setup_keep_rules(struct setup_rules *rules, const struct control_state *state, uint32_t buffer,
		     struct err *err);

/* setup_own.c: makes the scope's instance; one for this alone gets its name. */
int setup_make(struct setup *setup, int scope, struct err *err);

#endif
