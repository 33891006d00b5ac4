/*
 * layout/probe: probes at instructions, as programs read them from the state.
 *
 * A probe is an event whose records are made of the registers and the memory of a thread that comes by some instruction, or that
 * returns from a function. The state has a table of *points*, struct state_probe[], in the order of their items. One that is not
 * enabled in any buffer and that nothing hangs on is in the table all the same: programs patch only what is PROBE_WANTED.
 *
 *   point -> where:  file, symbol, offset: patterns, so that they hold for programs to come
 *         -> emit:   struct hook_emit in the code area (layout/hook.h); its program reads a struct probe_hit as if it were a record
 *                    of the event that PROBE_HIT_FORMAT describes
 *
 * A point at a function's first instruction is that function's site of the file's plan; any other instruction is a site of the
 * file's *extra* plan, which the tool files when it learns of the point (layout/plan.h).
 */
#ifndef LAYOUT_PROBE_H
#define LAYOUT_PROBE_H

#include <assert.h>
#include <stdint.h>

#include "layout/page.h"

enum {
	PROBE_RETURNS = 1u << 0,	/* when the function there returns; only at its first instruction */
	PROBE_RAW = 1u << 1,		/* addresses in records are the process's own, not the symbol space's: by path and offset */
	PROBE_SAVES = 1u << 2,		/* PROBE_RETURNS: what was in the argument registers at entry is wanted, too */
	PROBE_QUICK = 1u << 3,		/* the record is nothing but `nquick` copies: struct probe_copy[] at `quick` of the code area */
	PROBE_WANTED = 1u << 4,		/* some buffer has it on, which may itself be off; or something hangs on it that acts */
};

struct state_probe {
	uint32_t event;		/* id, in the registry */
	uint32_t flags;		/* PROBE_* */
	uint32_t emit;		/* struct hook_emit, in the code area */
	uint32_t quick;		/* struct probe_copy[], in the code area */
	uint16_t nquick;
	uint16_t size;		/* PROBE_QUICK: bytes of the record, a multiple of 4 */
	uint32_t serial;	/* of the item that it is of */
	uint32_t file;		/* a whole path, or the name of a file without directories: offset in the code area; 0: any */
	uint32_t symbol;	/* a function's name; 0: `offset` counts from the file's first byte */
	uint64_t offset;
	uint64_t semaphore;	/* counts who listens, 16 bits: its offset in the file; 0: there is none */
	uint64_t counts;	/* struct probe_count[], of the tables file: see there; 0: nobody counts */
};
static_assert(sizeof(struct state_probe) == 56, "probe");
#define STATE_PROBES_MAX 4096u

/*
 * How often a point was come by while somebody wanted it, and how often no record came of that. One for each CPU, which is added to
 * there alone, and behind these one that is added to atomically by who does not know its CPU, or missed something. Sums count.
 */
struct probe_count {
	uint64_t hits, missed;
	uint64_t reserved[6];
};
static_assert(sizeof(struct probe_count) == 64, "a cache line each");

/* What a thread had in its registers before the instruction. On processors other than x86-64 there are no points yet. */
struct probe_hit {
	struct record_head head;	/* so that programs find in it what they find in every record: the thread */
	uint64_t ip;		/* of the probe, of the function that returns; by PROBE_RAW */
	uint64_t ret_ip;	/* PROBE_RETURNS: where to */
	uint64_t ax, bx, cx, dx, si, di, bp, sp;
	uint64_t r8, r9, r10, r11, r12, r13, r14, r15;
	uint64_t flags;
	uint64_t arg[6];	/* of PROBE_SAVES: what ax .. r9 are to an entry, in the order of arguments */
};
static_assert(sizeof(struct probe_hit) == 8 + 19 * 8 + 6 * 8, "a record of registers");

/* The same as the body of a `format` text, for programs that read it. */
#define PROBE_HIT_FORMAT \
	RECORD_HEAD_FORMAT \
	"\tfield:u64 ip;\toffset:8;\tsize:8;\tsigned:0;\n" \
	"\tfield:u64 ret_ip;\toffset:16;\tsize:8;\tsigned:0;\n" \
	"\tfield:u64 ax;\toffset:24;\tsize:8;\tsigned:0;\n" \
	"\tfield:u64 bx;\toffset:32;\tsize:8;\tsigned:0;\n" \
	"\tfield:u64 cx;\toffset:40;\tsize:8;\tsigned:0;\n" \
	"\tfield:u64 dx;\toffset:48;\tsize:8;\tsigned:0;\n" \
	"\tfield:u64 si;\toffset:56;\tsize:8;\tsigned:0;\n" \
	"\tfield:u64 di;\toffset:64;\tsize:8;\tsigned:0;\n" \
	"\tfield:u64 bp;\toffset:72;\tsize:8;\tsigned:0;\n" \
	"\tfield:u64 sp;\toffset:80;\tsize:8;\tsigned:0;\n" \
	"\tfield:u64 r8;\toffset:88;\tsize:8;\tsigned:0;\n" \
	"\tfield:u64 r9;\toffset:96;\tsize:8;\tsigned:0;\n" \
	"\tfield:u64 r10;\toffset:104;\tsize:8;\tsigned:0;\n" \
	"\tfield:u64 r11;\toffset:112;\tsize:8;\tsigned:0;\n" \
	"\tfield:u64 r12;\toffset:120;\tsize:8;\tsigned:0;\n" \
	"\tfield:u64 r13;\toffset:128;\tsize:8;\tsigned:0;\n" \
	"\tfield:u64 r14;\toffset:136;\tsize:8;\tsigned:0;\n" \
	"\tfield:u64 r15;\toffset:144;\tsize:8;\tsigned:0;\n" \
	"\tfield:u64 flags;\toffset:152;\tsize:8;\tsigned:0;\n" \
	"\tfield:u64 arg1;\toffset:160;\tsize:8;\tsigned:0;\n" \
	"\tfield:u64 arg2;\toffset:168;\tsize:8;\tsigned:0;\n" \
	"\tfield:u64 arg3;\toffset:176;\tsize:8;\tsigned:0;\n" \
	"\tfield:u64 arg4;\toffset:184;\tsize:8;\tsigned:0;\n" \
	"\tfield:u64 arg5;\toffset:192;\tsize:8;\tsigned:0;\n" \
	"\tfield:u64 arg6;\toffset:200;\tsize:8;\tsigned:0;\n" \
	"\n"

/* `size` bytes of the hit at `from`, into the record at `to`. */
struct probe_copy {
	uint16_t from, to;
	uint8_t size;		/* 1, 2, 4 or 8 */
	uint8_t is_number;	/* then it is `number`, and `from` means nothing */
	uint16_t reserved;
	uint64_t number;
};
static_assert(sizeof(struct probe_copy) == 16, "copy");

/* Records of probes begin so, as the kernel's do; arguments are packed behind it. */
struct record_probe {
	struct record_head head;
	uint64_t ip;
};
struct record_probe_return {
	struct record_head head;
	uint64_t func, ret_ip;
};

#endif
