/*
 * layout/calls: what programs need to record system calls: a part of the state, there while somebody wants one of these events.
 *
 * Events are named by the tool, which alone knows the kernel's texts; programs know a call's number. Ids are those of the registry; 0:
 * nobody wants it. Records are laid out as the events' formats say:
 *
 *   raw_syscalls:sys_enter   head | int64 number | uint64 args[6]
 *   raw_syscalls:sys_exit    head | int64 number | int64 result
 *   syscalls:sys_enter_X     head | int32 number, 4 bytes | uint64 args[nargs]
 *   syscalls:sys_exit_X      head | int32 number, 4 bytes | int64 result
 *   ringside:call_data       struct record_call_data: what an argument points to
 *   signal:signal_generate   struct record_signal: before a call that sends one
 *   signal:signal_deliver    struct record_deliver: a handler of the program begins
 */
#ifndef LAYOUT_CALLS_H
#define LAYOUT_CALLS_H

#include <assert.h>
#include <stdint.h>

#include "layout/page.h"

#define CALLS_MAX 512u		/* numbers; there are 470 so far */
#define CALLS_ARGS 6u
#define CALLS_DATA_MAX 1024u	/* bytes of one argument that are kept */

/* What an argument points to, in four bits of `data`: when it is looked at, and how much of it there is. */
enum call_data {
	CALL_DATA_NONE = 0,
	CALL_DATA_TEXT,		/* before the call: as far as its NUL */
	CALL_DATA_TEXTS,	/* the same of each of an array that a NULL ends: one behind the other, with their NULs */
	CALL_DATA_IN,		/* as many bytes as the next argument says */
	CALL_DATA_IN8,
	CALL_DATA_IN16,
	CALL_DATA_IN32,
	CALL_DATA_OUT,		/* after it: as many bytes as it returned */
	CALL_DATA_OUT8,		/* after it, unless it failed */
	CALL_DATA_OUT16,
	CALL_DATA_OUT144,	/* struct stat */
	CALL_DATA_OUT_TEXT,
};

struct state_calls {
	uint16_t raw_enter, raw_exit;
	uint16_t data_id;
	uint16_t generate_id;	/* signal:signal_generate */
	uint16_t deliver_id;	/* signal:signal_deliver */
	uint16_t reserved[3];
	uint16_t enter[CALLS_MAX];
	uint16_t exit[CALLS_MAX];
	uint32_t data[CALLS_MAX];	/* enum call_data, four bits an argument, the first in the lowest */
	uint8_t nargs[CALLS_MAX];
};
static_assert(sizeof(struct state_calls) == 16 + 9 * CALLS_MAX, "calls");

struct record_call_data {
	struct record_head head;
	int64_t number;
	int32_t arg;		/* which, from 0 on */
	uint32_t size;		/* of all there is, where that is known; else of what is here */
	uint32_t data;		/* place and length, as __data_loc has them */
	char bytes[CALLS_DATA_MAX];
};
static_assert(offsetof(struct record_call_data, bytes) == 28, "as its format says");

struct record_signal {
	struct record_head head;
	int32_t sig, error, code;
	char comm[16];
	int32_t pid, group, result;
};
static_assert(sizeof(struct record_signal) == 48, "as its format says");

struct record_deliver {
	struct record_head head;
	int32_t sig, error, code, reserved;
	uint64_t handler, flags;
};
static_assert(sizeof(struct record_deliver) == 40, "as its format says");

/*
 * Where the tool finds, in a program whose threads it holds (`__ringside_calls`), how their calls come to be seen:
 * PR_SET_SYSCALL_USER_DISPATCH for all calls but those between `start` and `start` + `size`. At `start` is a `syscall` for the
 * tool's own use.
 */
struct calls_dispatch {
	uint64_t on;
	uint64_t start, size;
	uint64_t selector;
	uint64_t within;	/* behind the runtime's own `syscall`, with its stack pointer at a struct calls_frame */
	uint64_t pid;		/* the process that set all this; others that share its memory are vfork children, or like them */
};

/* A call on its way, as the runtime has it on its stack: the registers as the program left them. */
struct calls_frame {
	int64_t result;		/* before the call: what a special way needs */
	uint32_t flags;		/* ah: the lowest byte of the processor's; al: overflow */
	uint16_t notes;		/* of a call that is more than that: what its end has to know */
	uint16_t guards;	/* of one that makes a child: how many there were before */
	int64_t number;
	uint64_t args[CALLS_ARGS];
	uint64_t shown;		/* behind the `syscall` */
	uint64_t after;		/* where to go on: there, or behind what stands for it */
};
#define CALLS_RED_ZONE 128u	/* bytes above that, below the program's stack pointer */
static_assert(sizeof(struct calls_frame) == 88, "the thunks count on it");

#endif
