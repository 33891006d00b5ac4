/*
 * program/code: the bytes of a program. Private to the room.
 *
 *   head | instructions, 32 bytes each | names of fields | texts: literals, patterns, sets of CPUs
 *
 * Instructions are numbered from 1: the head has the size of one and is number 0. Values come first, operands before what uses
 * them; a value is read by walking from it to its operands. Tests come behind all values, in the order in which they are tried: each
 * says where to go on when it holds and when it does not, always forward, until that is CODE_PASS or CODE_FAIL.
 *
 *   pid == 1 && comm ~ "sh*"	1 value: field 1
 *				2 test field 0 == 1		yes: 3		no: CODE_FAIL
 *				3 glob of 1, "sh*"	yes: CODE_PASS	no: CODE_FAIL
 *
 * Whoever reads an instruction reads each member once, with CODE_GET(), and checks what it got: the bytes may be changing.
 */
#ifndef PROGRAM_CODE_H
#define PROGRAM_CODE_H

#include <assert.h>
#include <stdint.h>

#include "program/program.h"

#define CODE_MAGIC 0x70677270u	/* prgp */
#define CODE_PASS 0xffffu
#define CODE_FAIL 0xfffeu
#define CODE_MAX 0xfff0u	/* instructions; a program is never longer than so many of them */

/* Operators within operators; and values that are looked at for one answer. In traced programs, and in readers of files. */
#define CODE_DEPTH_MAX 12u
#define CODE_STEPS_MAX 4096u
#define CODE_FILE_DEPTH_MAX 80u
#define CODE_FILE_STEPS_MAX 65535u

#define CODE_GET(member) (*(const volatile __typeof__(member) *)&(member))

enum { CODE_FOR_FILES = 1 };	/* patterns, names of addresses, sizes beyond what a writer may run */

struct code_head {
	uint32_t magic;
	uint32_t size;		/* of the program, a multiple of 8 */
	uint16_t ncode;		/* instructions, the head included */
	uint16_t nfields;
	uint16_t start;		/* the first test, or CODE_PASS, CODE_FAIL */
	uint16_t flags;
	uint32_t fields;	/* struct code_field[nfields], offset from the head */
	uint32_t texts;		/* up to the end */
	uint64_t reserved;
};
static_assert(sizeof(struct code_head) == 32, "head");

struct code_field {
	uint32_t name;		/* NUL-terminated; offset from the head */
	uint8_t class;
	uint8_t reserved[3];
};
static_assert(sizeof(struct code_field) == 8, "field");

enum code_op {
	CODE_NONE,
	/* Values: whole numbers, floating point, texts. CODE_FIELD and CODE_VAR are any of them. */
	CODE_NUM,		/* num */
	CODE_FIELD,		/* field */
	CODE_VAR,		/* num: its number */
	CODE_CPU, CODE_PID,
	CODE_TIME,		/* divided by num */
	CODE_NEG, CODE_INVERT, CODE_LOG2,	/* of a */
	CODE_MATH,		/* a word b */
	CODE_BUCKET,		/* a, num */
	CODE_BITS,		/* a; by: shift, len: width */
	CODE_PEEK,		/* memory at a + num; len: bytes */
	CODE_SYMBOL,		/* address a of the program, in the symbol space */
	CODE_REAL,		/* num: its bits */
	CODE_REAL_NEG, CODE_REAL_MATH,
	CODE_TEXT,		/* a literal: num its offset from the head, len */
	CODE_PEEK_TEXT,		/* at a + num */
	CODE_COMM, CODE_STACK,
	CODE_NAME_OF,		/* files only: the name of what is at address a, else digits. CODE_PLAIN: digits at once */
	/* Tests: */
	CODE_TEST_FIELD,	/* a number's field against num, which is first made what the field can hold */
	CODE_TEST_WIDE,		/* the same in 64 bits */
	CODE_TEST_TEXT,		/* a text's field against a literal of len bytes at num; its first eight are in more */
	CODE_TEST_COMM,		/* the task's name against such a literal */
	CODE_TEST_CPU,		/* the CPU against num */
	CODE_TEST_RANGE,	/* num <= a < more */
	CODE_NONZERO, CODE_REAL_NONZERO,	/* a */
	CODE_COMPARE, CODE_REAL_COMPARE, CODE_TEXT_COMPARE,	/* a and b */
	CODE_GLOB,		/* a against the pattern of len bytes at num, as `by` says (enum program_match) */
	CODE_CPUS,		/* a against a set of len words at num */
	CODE_PATTERN,		/* files only: a against pattern num */
	CODE_OPS,
	CODE_TEST_FIRST = CODE_TEST_FIELD,
};

/* Which of less, equal, greater satisfy a comparison; or any common bit. */
enum { CODE_LT = 1, CODE_EQ = 2, CODE_GT = 4, CODE_LE = 3, CODE_NE = 5, CODE_GE = 6, CODE_AND = 8 };

enum {
	CODE_UNSIGNED = 1,	/* operands and result */
	CODE_NOT = 2,		/* of tests: holds when it does not */
	CODE_PLAIN = 4,		/* CODE_NAME_OF: never an address */
};

struct code {
	uint8_t op;
	uint8_t flags;
	uint8_t word;		/* CODE_LT ...; of math the operator's last character */
	uint8_t field;
	uint16_t a, b;		/* operands: numbers of earlier instructions */
	uint16_t go[2];		/* tests: where to go on when it does not hold, and when it does */
	uint16_t len;
	uint8_t depth;		/* of values: operators below */
	uint8_t by;
	uint64_t num;
	uint64_t more;
};
static_assert(sizeof(struct code) == sizeof(struct code_head), "instruction");

/* Which operands an operation has. */
static inline int code_operands(uint8_t op)
{
	switch (op) {
	case CODE_MATH:
	case CODE_REAL_MATH:
	case CODE_COMPARE:
	case CODE_REAL_COMPARE:
	case CODE_TEXT_COMPARE:
		return 2;
	case CODE_NEG:
	case CODE_INVERT:
	case CODE_LOG2:
	case CODE_BUCKET:
	case CODE_BITS:
	case CODE_PEEK:
	case CODE_SYMBOL:
	case CODE_REAL_NEG:
	case CODE_PEEK_TEXT:
	case CODE_NAME_OF:
	case CODE_TEST_RANGE:
	case CODE_NONZERO:
	case CODE_REAL_NONZERO:
	case CODE_GLOB:
	case CODE_CPUS:
	case CODE_PATTERN:
		return 1;
	default:
		return 0;
	}
}

/* The head as it was at one time: nobody changes the copy. */
static inline struct code_head code_head_read(const void *program)
{
	const struct code_head *from = program;

	return (struct code_head){
		.magic = CODE_GET(from->magic), .size = CODE_GET(from->size), .ncode = CODE_GET(from->ncode),
		.nfields = CODE_GET(from->nfields), .start = CODE_GET(from->start), .flags = CODE_GET(from->flags),
		.fields = CODE_GET(from->fields), .texts = CODE_GET(from->texts),
	};
}

static inline const struct code *code_at(const void *program)
{
	return program;
}

#endif
