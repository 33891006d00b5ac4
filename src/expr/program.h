/*
 * expr/program: a tree with its names resolved for the records of one event. Private to the room.
 *
 * A program has an instruction for each node of its tree, at the same place. Values are read by
 * walking from an instruction to its operands; truths are jumps: each test says where to go on when
 * it holds and when it does not, always forward, until that is PROGRAM_PASS or PROGRAM_FAIL. Parts
 * that the event cannot answer, since it has no such field, are false and are folded away; of a
 * tree that is nothing but true or false no instruction is left.
 *
 * Immutable once compiled: any number of threads may run it, on any bytes.
 */
#ifndef EXPR_PROGRAM_H
#define EXPR_PROGRAM_H

#include "base/buf.h"
#include "decode/format.h"
#include "decode/print.h"
#include "expr/tree.h"

#define PROGRAM_PASS UINT32_MAX
#define PROGRAM_FAIL (UINT32_MAX - 1)

enum code_op {
	CODE_NONE,
	/* Whole numbers: */
	CODE_NUM,
	CODE_FIELD,		/* a scalar */
	CODE_CPU,
	CODE_TIME,		/* divided by num */
	CODE_NEG, CODE_INVERT, CODE_MATH,
	/* Floating point: */
	CODE_REAL, CODE_REAL_FIELD, CODE_REAL_NEG, CODE_REAL_MATH,
	/* Text: */
	CODE_TEXT,
	CODE_ARRAY,		/* a field's bytes up to a NUL */
	CODE_COMM,
	/* Tests: */
	CODE_NONZERO, CODE_REAL_NONZERO, CODE_COMPARE, CODE_REAL_COMPARE, CODE_TEXT_COMPARE,
	CODE_MATCH,
};

struct code {
	uint8_t op;		/* enum code_op */
	bool is_unsigned;	/* of operands and result */
	bool is_plain;		/* CODE_FIELD: never an address */
	uint16_t word;		/* the operator's characters */
	uint32_t a, b;
	union {
		uint64_t num;
		double real;
		const struct decode_field *field;
		struct {
			const char *p;
			uint32_t len;
		} text;
		struct {
			const struct pattern *pattern;
			uint32_t yes, no;	/* of any test */
		};
	};
};

struct program {
	const struct decode_format *format;
	bool asks_comm;
	uint32_t nr;		/* instructions; 0 when `start` says it all */
	uint32_t start;
	struct code code[];
};

/* Why a node has no answer for an event; in the order of what is worth telling. */
enum lack {
	LACK_NOTHING,
	LACK_FIELD,		/* no such field */
	LACK_RIGHT_FIELD,	/* the same, of a name on the right side */
	LACK_NUMBER,		/* an array or a struct where a number is wanted */
	LACK_WHOLE,		/* a float where a whole number or a name is wanted */
	LACK_TEXT,		/* a number where text is wanted */
	LACK_ORDER,		/* larger or smaller text */
};

/* What became of a comparison in all events that were compiled. */
struct fate {
	bool lives;		/* one of them can answer it */
	uint8_t lack;		/* else why not */
	uint32_t culprit;	/* node */
};

enum { COMPILE_UNSIGNED = 1 };	/* all numbers are unsigned 64 bits, as in libtraceevent */

/* `fates` has tree->nr members. 0 or -ENOMEM. */
int expr_compile(const struct tree *tree, const struct decode_format *format, unsigned int flags,
		 struct fate *fates, struct program **out);

/* What is known of each node before there is a record; `truths` has tree->nr members. */
enum truth {
	TRUTH_FALSE,
	TRUTH_TRUE,
	TRUTH_TEST,	/* nothing */
};

int expr_truths(const struct tree *tree, const struct decode_format *format, enum truth *truths);

/* The expression as this event has it, in libtraceevent's words: FALSE, (a == 1) && (b & 2). */
int expr_describe(const struct tree *tree, const struct decode_format *format, struct buf *out);

struct program_record {
	const uint8_t *rec;
	size_t len;
	uint64_t ts;
	int cpu;
	const struct decode_ctx *ctx;	/* NULL: nobody knows names */
};

bool expr_run(const struct program *program, const struct program_record *record);

#endif
