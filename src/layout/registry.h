/*
 * layout/registry: what programs bring, kept when they are gone.
 *
 * Three tables of slots (events, formats of ringside_printf, ELF files) whose texts lie in a heap behind them, found
 * through one hash table; and a table of thread names. A program claims a free slot (state 0 -> pid), fills it, marks it
 * ready, then enters it into the hash table with one compare-and-swap: of two programs that bring the same thing at the
 * same time one wins and the other uses the winner's slot. A slot whose owner died half-way is skipped for ever.
 */
#ifndef LAYOUT_REGISTRY_H
#define LAYOUT_REGISTRY_H

#include <assert.h>
#include <stddef.h>
#include <stdint.h>

#include "layout/page.h"
#include "layout/segment.h"

enum { REGISTRY_EVENT, REGISTRY_FORMAT, REGISTRY_ELF, REGISTRY_KINDS };

enum { REGISTRY_FREE = 0, REGISTRY_READY = 1, REGISTRY_CLAIMED = 2 };	/* other values: claimed by that pid << 2 | 2 */

#define REGISTRY_EVENTS (EVENT_ID_END - EVENT_ID_FIRST)
#define REGISTRY_FORMATS 16384u
#define REGISTRY_ELFS 4096u
#define REGISTRY_BUCKETS 131072u
#define REGISTRY_TASKS 32768u
#define REGISTRY_NAME_MAX 60u	/* of a system or an event */
#define REGISTRY_TEXT_MAX 32768u

/* A blob's key, compared byte by byte, is all of it. */
struct registry_slot {
	uint32_t state;
	uint32_t hint;		/* events: not 0 when some buffer may want it. Sites test this word and nothing else */
	uint64_t text;		/* offset of the blob in this file */
	uint32_t text_len;
	uint32_t hash;
	uint32_t related;	/* events: id of the event whose sites this one rides on, or 0 */
	uint32_t named;		/* events: not 0 while it is only a name of the kernel's that no program brought */
	uint64_t number;	/* order of arrival: the newest of several layouts of one name is shown */
	uint32_t dynamic;	/* events: the tool made it, a synthetic event or a probe; there while the state has it */
	uint32_t reserved0;
	uint64_t reserved[2];
};
static_assert(sizeof(struct registry_slot) == 64, "slot");

/*
 * Blobs. An event's: struct, system, name, NUL each, then the body of its `format` text (from the first field line
 * to the end of the print format). A format's: struct with the caller's address in the symbol space, function name, NUL,
 * format text, NUL. An ELF file's: struct, build-id bytes, path, NUL.
 */
struct registry_event_blob {
	uint16_t system_len;	/* NUL not counted */
	uint16_t name_len;
	uint32_t related;	/* part of the key */
};

struct registry_format_blob {
	uint64_t ip;
	uint16_t func_len;
	uint16_t format_len;
	uint32_t reserved;
};

struct registry_elf_blob {
	uint16_t build_id_len;
	uint16_t path_len;
	uint32_t program;	/* 1: what was executed, 0: a library */
};

/* Names of threads that traced: slot tid % REGISTRY_TASKS, the newest stays. seq is odd while a slot is written. */
struct registry_task {
	uint32_t seq;
	int32_t tid;
	int32_t tgid;
	uint32_t start;		/* low bits of the process's start time, 0 unknown */
	char comm[16];
};
static_assert(sizeof(struct registry_task) == 32, "task");

struct registry_head {
	struct segment_head seg;
	uint64_t heap_used;	/* atomic bump, from registry_heap_offset() */
	uint64_t number;	/* atomic: order of arrival */
	uint64_t refused;	/* atomic: things that found no room (IDs, heap) */
	uint32_t next[REGISTRY_KINDS];	/* where to look for a free slot first */
	uint32_t named;		/* which list of the kernel's names is in it: the tool puts it there once */
	uint32_t wishes;	/* atomic: counts ELF files whose plan somebody waits for; the planner sleeps on it (futex) */
	uint32_t no_returns;	/* atomic: counts programs of which function_graph sees calls, but no returns */
	uint32_t reserved0[4];
	uint32_t builtin_hint[EVENT_ID_BUILTIN_END];	/* hints of ftrace's own events (print, bprint) */
};

#define REGISTRY_SIZE (48ull << 20)

#define REGISTRY_BUCKETS_OFFSET 4096ull
#define REGISTRY_EVENTS_OFFSET (REGISTRY_BUCKETS_OFFSET + REGISTRY_BUCKETS * 4ull)
#define REGISTRY_FORMATS_OFFSET (REGISTRY_EVENTS_OFFSET + REGISTRY_EVENTS * 64ull)
#define REGISTRY_ELFS_OFFSET (REGISTRY_FORMATS_OFFSET + REGISTRY_FORMATS * 64ull)
#define REGISTRY_TASKS_OFFSET (REGISTRY_ELFS_OFFSET + REGISTRY_ELFS * 64ull)
#define REGISTRY_HEAP_OFFSET (REGISTRY_TASKS_OFFSET + REGISTRY_TASKS * 32ull)

/* The symbol space: ELF slot i's bytes are at base + offset in the file's memory image. */
#define SYMBOL_SPACE_BASE (1ull << 62)
#define SYMBOL_SPACE_SHIFT 32
static inline uint64_t symbol_space_base(uint32_t elf_slot)
{
	return SYMBOL_SPACE_BASE + ((uint64_t)(elf_slot + 1) << SYMBOL_SPACE_SHIFT);
}

/* A printf format's address as it stands in records and in printk_formats; clear of the ELF files' bases. */
#define FORMAT_SPACE_BASE (SYMBOL_SPACE_BASE | 1ull << 61)
static inline uint64_t format_space_address(uint32_t format_slot)
{
	return FORMAT_SPACE_BASE + (uint64_t)format_slot * 16;
}

/* What a marker's `ip` holds: readers print the kernel's name for it. */
#define MARKER_IP (SYMBOL_SPACE_BASE + 16)
/* Readers of trace files show this there, as the text of the tree does. */
#define MARKER_NAME "tracing_mark_write"

#endif
