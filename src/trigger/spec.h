/*
 * trigger/spec: what a person writes into filter, trigger, synthetic_events and dynamic_events, understood.
 *
 * Texts become specs here and specs become the kernel's texts again; nothing is applied. Specs are what histograms are
 * lowered from (lower.h), shown by (hist/show.h), and run by on trace files (query).
 *
 * Everything of one spec is in one allocation list: spec_*_free() frees all of it. Immutable once parsed.
 */
#ifndef TRIGGER_SPEC_H
#define TRIGGER_SPEC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "decode/format.h"
#include "layout/hook.h"

#define SPEC_NAME_MAX 64

/* What error_log shows of a refusal. `code` is -errno; message NULL: nothing is logged, words for people are in `text`. */
struct spec_error {
	int code;
	const char *message;	/* the kernel's, a constant */
	char location[160];	/* "hist:sched:sched_switch", "event filter parse error", ... */
	struct buf command;	/* as error_log shows it */
	uint32_t pos;		/* of the caret in that */
	char text[256];		/* for people: may say more than the message */
};
#define SPEC_ERROR_INIT { 0, NULL, "", BUF_INIT, 0, "" }
void spec_error_fini(struct spec_error *error);

/* ---- Terms: keys, values, variables, parameters ---- */

enum spec_what {
	SPEC_FIELD,		/* name; as the format has it: form, size, is_signed */
	SPEC_HITCOUNT,
	SPEC_TIMESTAMP,		/* common_timestamp */
	SPEC_CPU,		/* common_cpu, cpu */
	SPEC_STACK,		/* common_stacktrace, stacktrace */
	SPEC_COMM,		/* common_comm */
	SPEC_NUMBER,		/* a literal, or folded */
	SPEC_VAR,		/* $name, sys.event.$name */
	SPEC_MATH,		/* a op b */
	SPEC_NEG,		/* -(a) */
};

enum spec_how {
	SPEC_PLAIN, SPEC_HEX, SPEC_SYM, SPEC_SYM_OFFSET, SPEC_EXECNAME, SPEC_SYSCALL, SPEC_LOG2, SPEC_BUCKETS, SPEC_USECS,
	SPEC_STACKTRACE, SPEC_PERCENT, SPEC_GRAPH, SPEC_QUANTILES, SPEC_STRING,
};

struct spec_term {
	enum spec_what what;
	enum spec_how how;
	uint64_t number;	/* a literal; or N of .buckets=N, of a variable that was made of a .buckets */
	uint8_t form;		/* enum hook_form of its value */
	uint8_t is_signed;
	uint8_t op;		/* SPEC_MATH: + - * / */
	uint16_t size;		/* of its value: 8 of numbers, of a text what its field has room for */
	uint16_t width;		/* bytes of its own type: 4 of an int, 16 of a char[16] */
	char name[SPEC_NAME_MAX];	/* field, or variable without $ */
	char system[SPEC_NAME_MAX];	/* SPEC_VAR: of the event that sets it; "" as long as nobody looked */
	char event[SPEC_NAME_MAX];
	uint32_t var_serial;	/* SPEC_VAR: which histogram sets it (struct spec_hist's serial), and its number there */
	uint32_t var_number;
	bool is_own;		/* SPEC_VAR: this very histogram does */
	bool is_full;		/* SPEC_VAR: written with its event and shown so */
	const struct spec_term *a, *b;
	const char *type;	/* "char[16]", "pid_t": a field's as its format has it; never NULL */
};

/* ---- Histograms ---- */

struct spec_var {
	char name[SPEC_NAME_MAX];
	const struct spec_term *value;
};

struct spec_sort {
	int key;		/* number of a key; -1: a value */
	int val;		/* number of a value; -1: the hits */
	bool descending;
};

struct spec_action {
	enum hook_handler handler;
	enum hook_doing doing;
	char match_system[SPEC_NAME_MAX];	/* onmatch(system.event) */
	char match_event[SPEC_NAME_MAX];
	const struct spec_term *value;		/* onmax($v), onchange($v) */
	char synth[SPEC_NAME_MAX];
	bool legacy;				/* written as SYNTH(...) and shown so */
	uint32_t nparams;			/* of trace() and save() */
	const struct spec_term *params[HOOK_EMIT_MAX];
	const char *param_texts[HOOK_EMIT_MAX];	/* as they are shown */
};

/*
 * A field of another event among a trace()'s parameters (`sys.event.field`) lives in a histogram that nobody wrote: it is
 * made on that event, `synthetic_FIELD` its variable, with the keys of the one that onmatch() names. Such are added to the
 * world as histograms of their own, hidden, before this one; this is what they are. As long as some are missing, parameters
 * that mean them have var_serial 0: add what `hidden` says, then read the line again, and none is left.
 */
struct spec_hidden {
	char system[SPEC_NAME_MAX];
	char event[SPEC_NAME_MAX];
	char text[512];		/* hist:keys=...:synthetic_FIELD=FIELD */
};

struct spec_hist {
	uint32_t serial;	/* who it is; the caller's number */
	uint32_t nkeys, nvals, nvars, nsorts, nactions, nhidden;
	const struct spec_term *keys[HOOK_KEYS_MAX];
	const struct spec_term *vals[HOOK_VALS_MAX];	/* without the hits */
	struct spec_var vars[HOOK_VARS_MAX];
	struct spec_sort sorts[2];
	struct spec_action *actions[HOOK_ACTIONS_MAX];
	struct spec_hidden *hidden[HOOK_EMIT_MAX];
	uint32_t size;		/* rows, a power of two */
	char clock[16];		/* "" as long as no timestamp is used */
	char name[SPEC_NAME_MAX];
	bool uses_time;
	bool nohitcount;
	bool pause, cont, clear;	/* what else the line asks for */
	char *filter;		/* behind ` if `, or NULL */
};

/* ---- Triggers ---- */

enum spec_trigger_kind {
	SPEC_TRACEON = 1, SPEC_TRACEOFF, SPEC_SNAPSHOT, SPEC_STACKTRACE_TRIGGER, SPEC_ENABLE_EVENT, SPEC_DISABLE_EVENT,
	SPEC_ENABLE_HIST, SPEC_DISABLE_HIST, SPEC_HIST,
};

struct spec_trigger {
	enum spec_trigger_kind kind;
	bool remove;		/* began with ! */
	bool counted;
	uint64_t count;
	char target_system[SPEC_NAME_MAX];	/* enable_event and the like */
	char target_event[SPEC_NAME_MAX];
	char *filter;		/* behind ` if `, or NULL */
	struct spec_hist *hist;	/* SPEC_HIST */
};

/* ---- Synthetic events and event probes ---- */

struct spec_field {
	char name[SPEC_NAME_MAX];
	char type[SPEC_NAME_MAX];	/* as listings show it: "char[16]", "unsigned long[]", "u64" */
	uint8_t form;			/* enum hook_field_form */
	uint8_t is_signed;
	uint16_t size;			/* in the record: 8 of numbers, 256 of a fixed text, 4 of a dynamic one */
	uint16_t value_size;		/* what its type has: of a number, of a fixed text as written */
	uint16_t offset;		/* in the record */
};

struct spec_synth {
	char name[SPEC_NAME_MAX];
	uint32_t nfields;
	struct spec_field fields[64];
};

/*
 * A probe's argument: how it is fetched is a tree of its own, compiled by lowering. Registers are named as fields of struct probe_hit
 * are; arguments and what is returned become registers or places on the stack when they are read.
 */
struct spec_fetch {
	enum { FETCH_FIELD, FETCH_COMM, FETCH_NUMBER, FETCH_LITERAL, FETCH_PEEK, FETCH_REGISTER, FETCH_SYMBOL, FETCH_FILE } what;
	char name[SPEC_NAME_MAX];	/* FETCH_FIELD, FETCH_REGISTER, FETCH_SYMBOL: an address in whatever program it is */
	uint64_t number;		/* FETCH_NUMBER; FETCH_FILE: an address by its offset in the probe's file */
	char *literal;			/* FETCH_LITERAL */
	int64_t offset;			/* FETCH_PEEK: at `of` + offset; FETCH_SYMBOL */
	const struct spec_fetch *of;
};

struct spec_arg {
	char name[SPEC_NAME_MAX];
	char *body;			/* as listings show it: $field:type */
	const struct spec_fetch *fetch;
	char type[SPEC_NAME_MAX];	/* as written: u8 .. x64, s8, char, string, ustring, symbol, b4@2/32; "": none was */
	uint32_t count;			/* of an array, else 0 */
	struct spec_field field;	/* in the record */
	uint32_t bits, shift;		/* of a bit field; 0 none */
	char style;			/* 'u' 's' 'x' 'c' (char) 't' (text) 'S' (symbol) */
};

enum spec_probe_kind {
	SPEC_PROBE_EVENT,	/* e: another event */
	SPEC_PROBE_CODE,	/* p, r: a function of any program, or an instruction of one: kprobe_events */
	SPEC_PROBE_FILE,	/* p, r: an offset in a file: uprobe_events */
	SPEC_PROBE_FUNCTION,	/* f: a function of any program */
	SPEC_PROBE_TRACEPOINT,	/* t: an event that programs declare, by its arguments */
};

struct spec_probe {
	enum spec_probe_kind kind;
	char group[SPEC_NAME_MAX];
	char name[SPEC_NAME_MAX];
	uint32_t nargs;
	struct spec_arg *args;
	/* SPEC_PROBE_EVENT and _TRACEPOINT */
	char on_system[SPEC_NAME_MAX];
	char on_event[SPEC_NAME_MAX];
	char *filter;
	/* The others. */
	bool returns;		/* r, and %return */
	bool saves;		/* of one that returns: arguments are asked for, as they were at entry */
	bool by_prototype;	/* what the line means depends on what the function takes and gives */
	uint32_t max_active;	/* as written behind r; 0: nothing was */
	char *file;		/* _FILE: whole path, without links; _CODE, _FUNCTION: `MODULE:` of the place, or NULL */
	char *path;		/* _FILE: as it was written */
	uint64_t address;	/* _CODE: of the symbol space, as it was written; 0: `symbol` was */
	char *symbol;		/* _CODE, _FUNCTION; NULL: `offset` is an address that no function is known at. _TRACEPOINT: the place
				   as it was written */
	char *known_as;		/* what the function is called where it is patched, if `symbol` is another name of it; else NULL */
	char *members;		/* `PATH MEMBER;` for each member that was asked for (layout/prototype.h); NULL: none was */
	uint64_t offset;
	uint64_t semaphore;	/* _FILE: (REFCTR), 0: none */
};

/* Is it in code, and not at another event? */
static inline bool spec_probe_is_code(const struct spec_probe *probe)
{
	return probe->kind != SPEC_PROBE_EVENT && probe->kind != SPEC_PROBE_TRACEPOINT;
}
/* Do its records begin with an address? Those of t: do as the kernel's, where that is the tracepoint's; a declared event has none: 0. */
static inline bool spec_probe_has_ip(const struct spec_probe *probe)
{
	return spec_probe_is_code(probe) || probe->kind == SPEC_PROBE_TRACEPOINT;
}

/* ---- Reading ---- */

/* What there is to name. Callers of one world are one thread. */
struct spec_world {
	void *arg;
	/* The event that is shown under this name; NULL: none. */
	const struct decode_format *(*event)(void *arg, const char *system, const char *name);
	/* The i-th histogram of this buffer, hidden ones included, with its event; NULL behind the last. */
	const struct spec_hist *(*hist)(void *arg, uint32_t i, const char **system, const char **event);
	const struct spec_synth *(*synth)(void *arg, const char *name);
	bool (*clock)(void *arg, const char *name);
	/* Addresses of a function, for .function and symbols; NULL: nobody knows any. */
	bool (*function)(void *arg, const char *name, uint64_t *start, uint64_t *end);
	/* The same for data, for symbols. */
	bool (*data)(void *arg, const char *name, uint64_t *start, uint64_t *end);
	/* The system of the event of that name, if there is but one; NULL: there is none, or several. */
	const char *(*system_of)(void *arg, const char *event);
	/* How often a file has functions of that name: the file that is named, or (NULL) the one that has most of them. 0: none has
	 * one; -ENOENT: nobody knows that file yet. */
	int (*places)(void *arg, const char *module, const char *name);
	/* The function at an address, by its file and name, and where it begins. False: none that is the only one of its name there. */
	bool (*at)(void *arg, uint64_t address, const char **module, const char **name, uint64_t *start);
	/* What plans call the function, if it is called so, too; NULL: by this very name, or not at all. */
	const char *(*known_as)(void *arg, const char *module, const char *name);
	/* What a function takes and gives, by its debug information: see layout/prototype.h; NULL: not known. */
	const char *(*prototype)(void *arg, const char *module, const char *name);
	/* What a path leads to that begins with a parameter of that function or $retval: MEMBER of layout/prototype.h; a semicolon
	 * may end it. NULL: not known. */
	const char *(*member)(void *arg, const char *module, const char *name, const char *path);
	/* 0; -ENOENT: there is no such file, -EINVAL: it is no regular one. `real`: its path without links, PATH_MAX bytes. */
	int (*file)(void *arg, const char *path, char *real);
	bool anything;		/* names of events and fields are believed: for programs that are still to come */
};

/* One line of `trigger` of that event: what the kernel accepts, refused as the kernel refuses it. */
int spec_trigger_parse(struct spec_trigger **out, const struct spec_world *world, const char *system, const char *event,
		       const char *text, size_t len, struct spec_error *error);
void spec_trigger_free(struct spec_trigger *trigger);
/* As `trigger` shows it, without newline; `[active]` or `[paused]` behind a histogram. count: as it is now. */
void spec_trigger_show(const struct spec_trigger *trigger, uint64_t count, bool paused, struct buf *out);
/* Do both say the same, counts, conditions and pauses aside? What `!` removes, and what is there already. */
bool spec_trigger_same(const struct spec_trigger *a, const struct spec_trigger *b);
/* Do they exclude each other on one event (EEXIST)? */
bool spec_trigger_clash(const struct spec_trigger *a, const struct spec_trigger *b);
/*
 * What a histogram that was read meets among those of the world: 0 when it is new; 1 when it pauses, continues or clears an
 * old one of this event, whose number goes to *old. -EEXIST, -ENOENT (nothing to continue or clear), -EINVAL (its name is of
 * another one) with the message. The text is that which it was read from.
 */
int spec_hist_meet(const struct spec_hist *hist, const struct spec_world *world, const char *system, const char *event,
		   const char *text, size_t len, uint32_t *old, struct spec_error *error);
bool spec_hist_same(const struct spec_hist *a, const struct spec_hist *b);

/*
 * One line of synthetic_events (`dynamic` false) or one of dynamic_events that begins with s: The world is that without it:
 * what is there already is refused. *remove: the line began with !, and only its name is of interest.
 */
int spec_synth_parse(struct spec_synth **out, bool *remove, const struct spec_world *world, bool dynamic, const char *text,
		     size_t len, struct spec_error *error);
void spec_synth_free(struct spec_synth *synth);
void spec_synth_show(const struct spec_synth *synth, bool dynamic, struct buf *out);
bool spec_synth_same(const struct spec_synth *a, const struct spec_synth *b);
/* The body of its `format`: common fields to print format. */
void spec_synth_format(const struct spec_synth *synth, struct buf *out);

/*
 * One line of dynamic_events that begins with e, p, r, f or t; what removes (-:) is for who keeps them. `file`: of which file it is
 * a line, 'k' kprobe_events, 'u' uprobe_events, 'd' dynamic_events: -ECANCELED: it is none for that file.
 */
int spec_probe_parse(struct spec_probe **out, const struct spec_world *world, char file, const char *text, size_t len,
		     struct spec_error *error);
void spec_probe_free(struct spec_probe *probe);
/* 0, or -EEXIST with the message when the world has an event of its name: asked before it is added. */
int spec_probe_meet(const struct spec_probe *probe, const struct spec_world *world, struct spec_error *error);
/* 0: both may be points of one event; -EEXIST with the message: they are of different kinds, arguments, or the same. */
int spec_probe_join(const struct spec_probe *probe, const struct spec_probe *first, struct spec_error *error);
void spec_probe_show(const struct spec_probe *probe, struct buf *out);
/* Refused by who applies it, for its place: `text` says more than the message. */
int spec_probe_refuse(const struct spec_probe *probe, int code, const char *message, const char *text, struct spec_error *error);
void spec_probe_format(const struct spec_probe *probe, struct buf *out);

/* A filter as it is written to `filter`, or behind ` if `: the program it becomes, appended to `out`, padded to 8 bytes. */
int spec_filter_compile(const struct spec_world *world, const struct decode_format *format, const char *text, size_t len,
			struct buf *out, struct spec_error *error);

#endif
