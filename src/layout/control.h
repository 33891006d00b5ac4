/*
 * layout/control: what is switched on.
 *
 * The head holds one word that matters: `published`. It names the generation and the place of its *state*, an immutable
 * picture of everything that programs must know. Changing anything means: build a new state in a free place, store
 * `published`. Programs compare that word with the one their private copy was made from, and copy anew when it differs;
 * a copy counts if its checksum holds, so an old state's place may be used again at once.
 *
 *   published   generation : 40 | state offset / 4096 : 24
 */
#ifndef LAYOUT_CONTROL_H
#define LAYOUT_CONTROL_H

#include <assert.h>
#include <stdbool.h>
#include <stdint.h>

#include "layout/segment.h"

#define CONTROL_PLACE_BITS 24
#define CONTROL_PLACE_MASK ((1u << CONTROL_PLACE_BITS) - 1)
#define CONTROL_FIRST_STATE 4096u
#define CONTROL_SIZE_MAX (8u << 20)	/* programs map this much, whatever the file's size is */
#define CONTROL_STATE_MAX (2u << 20)	/* the largest state, and there are two at a time; programs keep private copies */

struct control_head {
	struct segment_head seg;
	uint64_t published;
	uint64_t reserved[7];
};

enum {
	TRACE_CLOCK_LOCAL = 0,	/* nanoseconds of CLOCK_MONOTONIC, from the TSC where that can be had */
	TRACE_CLOCK_GLOBAL,
	TRACE_CLOCK_COUNTER,
	TRACE_CLOCK_UPTIME,
	TRACE_CLOCK_MONO,
	TRACE_CLOCK_MONO_RAW,
	TRACE_CLOCK_BOOT,
	TRACE_CLOCK_TAI,
	TRACE_CLOCK_X86_TSC,
};

enum { TRACE_CLOCK_BY_COUNTER = 1 };	/* time comes from the CPU's counter, scaled; else from clock_gettime before the section */

/* time = ns0 + ((counter - counter0) * mult >> 32) */
struct state_clock {
	uint32_t id;
	uint32_t flags;
	uint64_t mult;
	uint64_t counter0;
	uint64_t ns0;
};

/* A set of rings in the rings file. offset 0: none. */
struct state_set {
	uint64_t offset;
	uint32_t npages;
	uint32_t page_size;
	struct state_clock clock;
	uint64_t generation;	/* that brought it */
};
static_assert(sizeof(struct state_set) == 56, "set");

/* What a buffer is switched to: tracing_on, and the trace options of their names. */
enum {
	BUFFER_ON = 1u << 0,
	BUFFER_OVERWRITE = 1u << 1,
	BUFFER_PAUSED = 1u << 2,	/* somebody reads `trace` under pause-on-trace: takes nothing, on or not */
	BUFFER_MARKERS = 1u << 3,
	BUFFER_TRACE_PRINTK = 1u << 4,
	BUFFER_PRINTK_DEST = 1u << 5,	/* of one buffer at most; of none: the top one */
	BUFFER_EVENT_FORK = 1u << 6,
	BUFFER_RECORD_CMD = 1u << 7,
	BUFFER_RECORD_TGID = 1u << 8,
	BUFFER_DISABLE_ON_FREE = 1u << 9,
	BUFFER_PAUSE_ON_TRACE = 1u << 10,
	BUFFER_BLOCK = 1u << 11,
	BUFFER_COPY_MARKERS = 1u << 12,	/* an instance: what programs mark and print comes here, too */
	BUFFER_STACKTRACE = 1u << 14,	/* a stack behind each event */
	BUFFER_OWNED = 1u << 13,	/* goes with who made it: control/own */
	/* How text looks. */
	BUFFER_VERBOSE = 1u << 16,
	BUFFER_RAW = 1u << 17,
	BUFFER_HEX = 1u << 18,
	BUFFER_BIN = 1u << 19,
	BUFFER_FIELDS = 1u << 20,
	BUFFER_ANNOTATE = 1u << 21,
	BUFFER_PRINTK_MSG_ONLY = 1u << 22,
	BUFFER_CONTEXT_INFO = 1u << 23,
	BUFFER_LATENCY_FORMAT = 1u << 24,
	BUFFER_IRQ_INFO = 1u << 25,
	BUFFER_PRINT_PARENT = 1u << 26,
	BUFFER_SYM_OFFSET = 1u << 27,
	BUFFER_SYM_ADDR = 1u << 28,

	BUFFER_DEFAULT = BUFFER_ON | BUFFER_OVERWRITE | BUFFER_MARKERS | BUFFER_TRACE_PRINTK | BUFFER_RECORD_CMD |
			 BUFFER_ANNOTATE | BUFFER_CONTEXT_INFO | BUFFER_IRQ_INFO | BUFFER_PRINT_PARENT,
};

enum { TRACER_NOP, TRACER_FUNCTION, TRACER_GRAPH, TRACERS };

/* Options of tracers, and those that only mean something to them. */
enum {
	TRACER_FLAG_FUNCTION_FORK = 1u << 0,
	TRACER_FLAG_FUNC_STACK = 1u << 1,
	TRACER_FLAG_FUNC_ARGS = 1u << 3,
	TRACER_FLAG_FUNCTION_TRACE = 1u << 4,
	/* How graphs look, but for the last four. */
	TRACER_FLAG_GRAPH_OVERRUN = 1u << 8,
	TRACER_FLAG_GRAPH_CPU = 1u << 9,
	TRACER_FLAG_GRAPH_OVERHEAD = 1u << 10,
	TRACER_FLAG_GRAPH_PROC = 1u << 11,
	TRACER_FLAG_GRAPH_DURATION = 1u << 12,
	TRACER_FLAG_GRAPH_ABSTIME = 1u << 13,
	TRACER_FLAG_GRAPH_IRQS = 1u << 14,
	TRACER_FLAG_GRAPH_TAIL = 1u << 15,
	TRACER_FLAG_GRAPH_RETVAL = 1u << 16,
	TRACER_FLAG_GRAPH_RETVAL_HEX = 1u << 17,
	TRACER_FLAG_GRAPH_ARGS = 1u << 18,
	TRACER_FLAG_GRAPH_RETADDR = 1u << 19,
	TRACER_FLAG_SLEEP_TIME = 1u << 20,
	TRACER_FLAG_GRAPH_TIME = 1u << 21,

	TRACER_FLAGS_DEFAULT = TRACER_FLAG_FUNCTION_TRACE | TRACER_FLAG_GRAPH_CPU | TRACER_FLAG_GRAPH_OVERHEAD |
			       TRACER_FLAG_GRAPH_DURATION | TRACER_FLAG_GRAPH_IRQS | TRACER_FLAG_SLEEP_TIME |
			       TRACER_FLAG_GRAPH_TIME,
};

/* Does a buffer have arguments of functions recorded? */
static inline bool tracer_wants_args(uint32_t tracer, uint32_t flags)
{
	return (tracer == TRACER_FUNCTION && flags & TRACER_FLAG_FUNC_ARGS) || (tracer == TRACER_GRAPH && flags & TRACER_FLAG_GRAPH_ARGS);
}

#define STATE_BUFFERS_MAX 63	/* a bit each in a writer's mask, and one to spare */
#define STATE_RETIRED_MAX 4
#define STATE_SPARES 3	/* snapshots that triggers can take before the tool looks again */
#define STATE_NAME_MAX 60
#define STATE_PERCENT_DEFAULT 50u
#define STATE_BORN_TOP UINT64_MAX	/* no generation brought the top buffer: it was always there */

struct state_buffer {
	char name[64];			/* "" for the top one, which is always the first */
	uint32_t flags;
	uint32_t npages;		/* for the next set to be made */
	uint32_t page_size;
	uint32_t nretired;
	struct state_set live;
	struct state_set snapshot;
	struct state_set retired[STATE_RETIRED_MAX];	/* oldest first: written no more, still to be read */
	uint64_t born;			/* the generation that brought it; 0: nothing is here. Others keep their place */
	uint32_t clock;			/* TRACE_CLOCK_*, of the next set to be made */
	uint32_t percent;		/* of its pages that are full when a reader who waits for many is woken */
	uint64_t cleared;		/* by its clock: when it was last emptied, 0 never */
	/*
	 * Triggers take snapshots without the tool: the word `side` of the tables file counts them, and when it says n > 0
	 * programs write to spares[n - 1] and the set before is the snapshot. The tool makes that the state when it comes by.
	 */
	uint32_t side;			/* 0: no trigger does */
	uint32_t side_next;		/* the word to count in after that; they take turns */
	uint32_t nspares;
	uint32_t off;			/* word of the tables file: while it is not 0 triggers have the buffer off; 0 none */
	struct state_set spares[STATE_SPARES];
	uint32_t tracer;		/* TRACER_* */
	uint32_t tracer_flags;		/* TRACER_FLAG_* */
	uint32_t graph_depth;		/* max_graph_depth, 0: any. Of the top buffer, for all */
	uint32_t profile;		/* function_profile_enabled, of the top buffer */
	uint64_t thresh;		/* tracing_thresh in nanoseconds, 0: none. Of the top buffer, for all */
	uint64_t cpus_off[SEGMENT_NCPU_MAX / 64];	/* bit: nothing is taken on that CPU */
};
static_assert(sizeof(struct state_buffer) == 1160, "buffer");

static inline bool buffer_cpu_off(const struct state_buffer *buffer, uint32_t cpu)
{
	return cpu < SEGMENT_NCPU_MAX && buffer->cpus_off[cpu / 64] >> cpu % 64 & 1;
}

/* Does it take events now? */
static inline bool buffer_takes(const struct state_buffer *buffer)
{
	return (buffer->flags & (BUFFER_ON | BUFFER_PAUSED)) == BUFFER_ON && buffer->live.offset;
}

/* An enable is a pattern, so that it also holds for programs that come later. The last rule that matches decides. */
struct state_rule {
	uint16_t buffer;
	uint8_t on;
	uint8_t reserved;
	char system[60];	/* globs */
	char event[64];
};
static_assert(sizeof(struct state_rule) == 128, "rule");

/*
 * What was written to set_ftrace_filter and its like, in the order of writing. A kind's set in a buffer begins empty; each line
 * takes in, or out, the functions that it matches. Patterns, so that they hold for programs to come: the runtime matches them.
 *
 *   function, function_graph   the functions of ONLY, all if there is no line of that kind, less those of NOT
 *   function_graph             of those: only below functions of ROOT, if there is a line of that kind; never below those of NOT_ROOT
 *   commands                   what functions of ACT set off, whatever the tracer
 *   stack tracer               looks at the stack in the functions of DEEP, in all if there is no line of that kind
 */
enum state_func_kind {
	STATE_FUNC_ONLY = 1,
	STATE_FUNC_NOT,
	STATE_FUNC_ROOT,
	STATE_FUNC_NOT_ROOT,
	STATE_FUNC_ACT,
	STATE_FUNC_DEEP,
};
enum { STATE_FUNC_OUT = 1 };
/* What a command does: to word `target` of the tables file, as triggers do, as often as word `count` says. */
enum state_func_act {
	STATE_FUNC_STORE = 1,	/* target <- value: traceon, traceoff, enable_event, disable_event */
	STATE_FUNC_STACK,	/* a stack trace into the buffer */
	STATE_FUNC_SNAPSHOT,	/* of the buffer */
};
struct state_func {
	uint16_t buffer;
	uint8_t kind;
	uint8_t flags;		/* STATE_FUNC_OUT */
	uint32_t name;		/* a glob, NUL-terminated: offset from the state's first byte */
	uint32_t module;	/* the same for the name of its file, without directories; 0: any */
	uint32_t text;		/* as it was written, for the tool */
	uint32_t act;		/* of ACT */
	uint32_t count;		/* word, 0: always */
	uint32_t target;	/* word */
	uint32_t value;
};
static_assert(sizeof(struct state_func) == 32, "function filter");
#define STATE_FUNCS_MAX 4096u

/* Threads whose events a buffer takes, if it has any of the first kind, and those whose it does not take; the last two of their
 * functions instead. Sorted: by buffer, kind, tid. */
enum { STATE_PID_ONLY, STATE_PID_NOT, STATE_PID_FUNC_ONLY, STATE_PID_FUNC_NOT };
struct state_pid {
	uint16_t buffer;
	uint16_t kind;
	int32_t tid;
};
static_assert(sizeof(struct state_pid) == 8, "pid");
#define STATE_PIDS_MAX 8192u

/* Space of the rings file that no state uses any more but that a late writer might: freed by a later generation. */
struct state_limbo {
	uint64_t offset;
	uint64_t size;
	uint64_t generation;
	uint64_t mono;		/* when it was given up */
};
#define STATE_LIMBO_MAX 64

/*
 * What was written to filter, trigger, synthetic_events and dynamic_events, one item a line, with what the directory gave it
 * to live on. These texts are the truth: hooks are made of all of them anew whenever one changes. For the tool alone.
 */
enum state_item_kind {
	STATE_ITEM_FILTER = 1,	/* of an event in a buffer */
	STATE_ITEM_TRIGGER,
	STATE_ITEM_SYNTH,	/* of the directory: buffer 0 */
	STATE_ITEM_PROBE,	/* of an event, an instruction, a function; buffer 0. `table`: struct probe_count[] of the latter two. Lines
				   behind the first of its text are what was found out when it was written: control/probe_world */
	STATE_ITEM_SOFT,	/* triggers switch this event of this buffer: word `count` says whether it is on */
	STATE_ITEM_OFF,		/* triggers switch this buffer: word `count` is not 0 while they have it off */
};

enum {
	STATE_ITEM_AHEAD = 1,	/* written for a program that is still to come: names were believed */
	STATE_ITEM_HIDDEN = 2,	/* a histogram that another one (`owner`) needs and nobody wrote */
	STATE_ITEM_BAD = 4,	/* a filter that was refused: its text is what is shown, nothing is filtered */
	STATE_ITEM_WIDE = 8,	/* a system's filter, for all of its events that have the fields and no filter of their own */
	STATE_ITEM_NONE = 16,	/* taken away from an event that would have the system's */
};

struct state_item {
	uint8_t kind;
	uint8_t flags;		/* STATE_ITEM_* */
	uint16_t buffer;
	uint32_t serial;	/* never the same twice in a directory */
	uint32_t text;		/* offset from the state's first byte; NUL-terminated */
	uint32_t text_len;
	uint32_t count;		/* words, 0 none: word 0 is never dealt */
	uint32_t pause;
	uint32_t snapshots;
	uint32_t event_id;	/* of a synthetic event or a probe, in the registry */
	uint64_t table;		/* of a histogram: extents in the tables file */
	uint64_t table_size;
	uint64_t cells;		/* its variables', one after the other */
	uint64_t cells_size;
	char system[60];	/* of the event that it hangs on, or that it is */
	char event[64];
	uint32_t owner;		/* of a hidden histogram: the serial of whose it is */
};
static_assert(sizeof(struct state_item) == 192, "item");
#define STATE_ITEMS_MAX 4096u
#define STATE_TABLE_LIMBO_MAX (2u * STATE_ITEMS_MAX + 8u)	/* more than there can be pieces between all that items have */

/*
 * What functions are measured with, for the whole directory: extents of the tables file, 0 none. What lies there is in
 * layout/table.h. The profile is on while the top buffer's `profile` is not 0; its table stays when it is switched off.
 */
struct state_measure {
	uint64_t profile, profile_size;	/* a count table: table_profile_shape() */
	uint64_t deepest, deepest_size;	/* struct table_deepest */
	uint64_t touched, touched_size;	/* a bit for each site: table_touched_bit() */
	uint64_t mult;			/* nanoseconds of a count of the CPU's counter << 32; 0: ask the system for the time */
	uint32_t parts, elements;	/* of the profile */
	uint32_t deep;			/* not 0: stacks are looked at */
	uint32_t reserved;
};
static_assert(sizeof(struct state_measure) == 72, "measure");

struct state_head {
	uint64_t published;	/* the word that publishes this state */
	uint32_t size;		/* bytes, all of it */
	uint32_t crc;		/* CRC-32C of the `size` bytes with this word 0 */
	uint32_t nbuffers;
	uint32_t nrules;
	uint32_t nlimbo;
	uint32_t buffers;	/* offsets from the state's first byte */
	uint32_t rules;
	uint32_t limbo;
	uint32_t npids;
	uint32_t pids;
	uint32_t cmdlines;	/* saved_cmdlines_size, 0: all that there is room for */
	uint32_t nhooks;
	uint32_t hooks;		/* struct state_hook[], see layout/hook.h */
	uint32_t code;		/* the area that hooks' offsets count from; a multiple of 8 */
	uint32_t code_size;
	uint32_t nitems;
	uint32_t items;		/* struct state_item[] */
	uint32_t serial;	/* of the next item */
	uint32_t ntable_limbo;
	uint32_t table_limbo;	/* struct state_limbo[], of the tables file */
	uint32_t tables;	/* pages of the tables file that items reach to */
	uint32_t nfuncs;
	uint32_t funcs;		/* struct state_func[] */
	uint32_t measure;	/* struct state_measure; 0: there is nothing of that */
	uint32_t nprobes;
	uint32_t probes;	/* struct state_probe[], see layout/probe.h */
	uint32_t calls;		/* struct state_calls, see layout/calls.h; 0: nobody wants system calls */
	uint16_t kmalloc, kfree;	/* ids of kmem:kmalloc and kmem:kfree, which programs record by themselves; 0: nobody wants it */
};
static_assert(sizeof(struct state_head) == 120, "state header");

#endif
