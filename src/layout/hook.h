/*
 * layout/hook: what hangs on events, as programs read it from the state: filters, triggers, histograms, synthetic events and
 * event probes, lowered by the tool from their texts (src/trigger) to bytes.
 *
 * A state has a table of hooks, one for each (buffer, event by name) that has anything, and a *code area* that all offsets
 * below count from; offset 0 is nothing. Whoever reads it bounds-checks every offset and count: a view's place may be used
 * again while somebody looks.
 *
 *   hook -> filter: a program
 *        -> acts: struct hook_act[nacts], in the order in which they were written
 *             act -> cond: a program
 *                 -> hist: struct hook_hist -> program, keys, values, variables, references, actions
 *                 -> emit: struct hook_emit -> program, fields         (an event probe; a trace() action)
 */
#ifndef LAYOUT_HOOK_H
#define LAYOUT_HOOK_H

#include <assert.h>
#include <stdint.h>

#include "layout/table.h"

#define HOOK_KEYS_MAX 8u
#define HOOK_VALS_MAX 8u
#define HOOK_VARS_MAX 16u
#define HOOK_REFS_MAX 32u
#define HOOK_TEXTS_MAX 6u	/* texts and stacks among variables and references of a histogram */
#define HOOK_ACTIONS_MAX 8u
#define HOOK_EMIT_MAX 512u	/* fields of a synthetic event or a probe, elements of arrays too */
#define HOOK_RECORD_MAX 4048u	/* of those, with all that they hold */
#define HOOK_KEY_MAX 1024u	/* bytes of all keys together */
#define HOOK_DEPTH_MAX 8	/* events that events cause */
#define HOOK_ACTS_MAX 64u	/* of one hook: the tool refuses more, programs leave them out */
#define HOOK_ANY_BUFFER UINT16_MAX	/* event probes: once for each event, whatever buffer wants it */

enum {
	HOOK_SOFT = 1,		/* triggers switch it: recorded where the rules say so, while word `soft` is not 0 */
	HOOK_WIDE = 2,		/* the filter is its system's: events without the fields are not filtered */
	HOOK_PLAIN = 4,		/* has no filter, its system's neither */
};

#define HOOK_ANY_EVENT "*"	/* as `event`: those of the system that have no hook of their own in that buffer */

struct state_hook {
	uint16_t buffer;
	uint16_t flags;		/* HOOK_* */
	uint32_t soft;		/* number of a word */
	uint32_t filter;	/* program, 0: all records */
	uint32_t acts;
	uint32_t nacts;
	uint32_t reserved;
	char system[60];
	char event[64];
	uint32_t reserved1;
};
static_assert(sizeof(struct state_hook) == 152, "hook");

enum hook_kind {
	HOOK_TRACEON = 1,
	HOOK_TRACEOFF,
	HOOK_SNAPSHOT,
	HOOK_STACKTRACE,
	HOOK_ENABLE_EVENT,	/* word `target` becomes 1 */
	HOOK_DISABLE_EVENT,	/* 0 */
	HOOK_ENABLE_HIST,	/* word `target` (a pause) becomes 0 */
	HOOK_DISABLE_HIST,	/* 1 */
	HOOK_HIST,
	HOOK_EMIT,		/* an event probe */
};

enum { HOOK_ACT_COUNTED = 1 };	/* acts while word `count` is above 0, which it counts down when it changed something */

struct hook_act {
	uint8_t kind;
	uint8_t flags;
	uint16_t reserved;
	uint32_t cond;		/* program */
	uint32_t count;		/* word */
	uint32_t target;	/* word; of traceon and traceoff: the buffer's `off` word */
	uint32_t hist;		/* struct hook_hist, or of HOOK_EMIT struct hook_emit */
	uint32_t reserved1;
};
static_assert(sizeof(struct hook_act) == 24, "act");

enum hook_form {
	HOOK_NUMBER,		/* 8 bytes */
	HOOK_TEXT,		/* NUL-terminated and padded */
	HOOK_STACK,		/* count, then addresses */
	HOOK_REAL,		/* a double */
};

/* A part of a histogram's key. */
struct hook_key {
	uint32_t root;		/* in the program */
	uint16_t at;		/* in the key */
	uint16_t size;
	uint8_t form;
	uint8_t with_comm;	/* .execname: the task's name lies in the 16 bytes behind the number. No part of the hash */
	uint8_t skip;		/* .stacktrace=N and the like: frames to leave out */
	uint8_t reserved[5];
};
static_assert(sizeof(struct hook_key) == 16, "key");

/* A variable that is set, or a reference to one. */
struct hook_var {
	uint64_t cells;		/* offset in the tables file */
	uint32_t ncells;	/* a power of two */
	uint32_t root;		/* what it is set to; of a reference how many keys its setter has, 0: as many as this one */
	uint8_t form;
	uint8_t once;		/* of a reference: reading takes the value away */
	uint8_t own;		/* of a reference: to variable `number` of this histogram, as just set */
	uint8_t number;
	uint32_t seed;		/* of the tag: which variable it is */
};
static_assert(sizeof(struct hook_var) == 24, "var");

enum hook_handler { HOOK_ONMATCH = 1, HOOK_ONMAX, HOOK_ONCHANGE };
enum hook_doing { HOOK_DO_TRACE = 1, HOOK_DO_SAVE, HOOK_DO_SNAPSHOT };

/* `track`, of onmax and onchange: number of the table_track; `value` what is compared. Saves: `nsaves` roots at `saves`,
 * kept in table_save `first` and on. */
struct hook_action {
	uint8_t handler;
	uint8_t doing;
	uint8_t track;
	uint8_t nsaves;
	uint32_t value;		/* root */
	uint32_t emit;		/* struct hook_emit */
	uint32_t saves;		/* uint32_t[nsaves]: root | form << 24 */
	uint32_t first;
	uint32_t word;		/* of a snapshot: counts those taken */
};
static_assert(sizeof(struct hook_action) == 24, "action");

/*
 * A histogram. The order of things for one event: condition; pause word; key; variables in their order (which may use
 * references to others' variables: resolved first, `refs`, once; if one was not set that is all); row: hits and values; actions.
 */
struct hook_hist {
	uint64_t table;		/* offset in the tables file */
	struct table_shape shape;
	uint32_t pause;		/* word: not 0, nothing is done */
	uint32_t program;
	uint16_t nkeys, nvals, nvars, nrefs, nactions;
	uint16_t spreads;	/* bit: this value is also counted in a distribution; they lie in the order of bits */
	uint16_t reserved[2];
	uint32_t keys;		/* struct hook_key[] */
	uint32_t vals;		/* uint32_t[]: roots */
	uint32_t vars;		/* struct hook_var[] */
	uint32_t refs;		/* struct hook_var[]: $variables of the program, by number */
	uint32_t actions;	/* struct hook_action[] */
	uint32_t reserved1;
};
static_assert(sizeof(struct hook_hist) == 96, "hist");

/* A record of another event, put together out of this one. */
struct hook_emit {
	uint32_t event;		/* id */
	uint32_t program;	/* 0: the histogram's */
	uint16_t nfields;
	uint16_t fixed;		/* bytes before dynamic parts, a multiple of 4 */
	uint32_t fields;	/* struct hook_field[] */
};

enum hook_field_form {
	HOOK_FIELD_NUMBER,	/* size bytes at offset */
	HOOK_FIELD_TEXT,	/* `size` bytes at offset, NUL-terminated */
	HOOK_FIELD_DYN_TEXT,	/* a __data_loc at offset */
	HOOK_FIELD_DYN_STACK,	/* a __data_loc of longs at offset */
	HOOK_FIELD_REAL,	/* float or double by size */
};

/* What cannot be read of memory is 0 in numbers, and this in texts: with a NUL of its own, before that of all texts, so that it
 * can be told from memory that holds these letters. */
#define HOOK_FAULT "(fault)\0"

struct hook_field {
	uint16_t offset;
	uint16_t size;
	uint8_t form;
	uint8_t reserved[3];
	uint32_t root;
	uint32_t reserved1;
};
static_assert(sizeof(struct hook_field) == 16, "field");

#endif
