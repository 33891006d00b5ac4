/*
 * plan/x86: one instruction of x86-64, as much of it as moving code needs. The one file behind this is the one that knows Zydis.
 */
#ifndef PLAN_X86_H
#define PLAN_X86_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define X86_LEN_MAX 15u

enum x86_kind {
	X86_PLAIN,	/* what is behind it comes next */
	X86_NOP,
	X86_CALL,
	X86_JMP,
	X86_JCC,
	X86_RET,
	X86_STOP,	/* int3, ud2, hlt: a signal tells where it was */
	X86_LOOP,	/* jrcxz and loop: a branch that has no long form */
	X86_ODD,	/* tied to its place in other ways: xbegin, far calls ... */
};

/* What it does to the stack pointer. */
enum x86_stack {
	X86_STACK_SAME,
	X86_STACK_MOVES,	/* by a number that it names */
	X86_STACK_FRAMES,	/* it becomes the frame pointer */
	X86_STACK_LOST,		/* something else */
};

/* A place in memory that is named by one of these and a number alone. */
enum x86_base { X86_BASE_OTHER, X86_BASE_STACK, X86_BASE_FRAME };

/* The arithmetic flags, as bits of reads and writes. */
#define X86_FLAGS_ALL 0x3fu

struct x86 {
	uint8_t len;
	uint8_t kind;
	bool direct;		/* a call or a jump to a place that it names */
	bool syscall;
	bool lea;		/* takes an address and touches no memory */
	bool by_stack;		/* an indirect call that finds its target where something pushed before it might matter */
	uint8_t near_at;	/* where the four bytes are that count from its end: a place in memory. 0: it names none so */
	uint8_t modrm_at;	/* of an indirect call or jump */
	uint8_t condition;	/* X86_JCC: as in its opcode */
	uint8_t reads, writes;	/* flags */
	uint8_t stack;		/* X86_STACK_* */
	uint8_t base;		/* X86_BASE_* */
	int32_t moves;		/* X86_STACK_MOVES: bytes downwards */
	int64_t disp;		/* of base */
	int64_t to;		/* direct, or near_at: the place, counted from its first byte */
	uint64_t numbers[2];	/* that may be addresses in a program that is not moved; 0: none */
};

/* False: no instruction, or cut short. */
bool x86_decode(struct x86 *x86, const void *bytes, size_t room);

#endif
