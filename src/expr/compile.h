/*
 * expr/compile: a tree with its names resolved for the records of one event, as a program (program/program.h). Private to
 * the room.
 *
 * Parts that the event cannot answer, since it has no such field, are false and are folded away.
 * Immutable once compiled: any number of threads may run it, on any bytes.
 */
#ifndef EXPR_COMPILE_H
#define EXPR_COMPILE_H

#include "base/buf.h"
#include "decode/format.h"
#include "decode/print.h"
#include "expr/tree.h"
#include "program/program.h"

struct expr_program {
	const struct decode_format *format;
	const struct tree *tree;	/* its patterns are, by their nodes' numbers, the program's */
	bool asks_comm;
	struct buf bytes;
	struct program_field fields[PROGRAM_FIELDS_MAX];
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

/* `fates` has tree->nr members. The tree must outlive the program. 0, -ENOMEM or -E2BIG. */
int expr_compile(const struct tree *tree, const struct decode_format *format, unsigned int flags,
		 struct fate *fates, struct expr_program **out);
void expr_program_free(struct expr_program *program);

/* What is known of each node before there is a record; `truths` has tree->nr members. */
enum truth {
	TRUTH_FALSE,
	TRUTH_TRUE,
	TRUTH_TEST,	/* nothing */
};

int expr_truths(const struct tree *tree, const struct decode_format *format, enum truth *truths);

/* The expression as this event has it, in libtraceevent's words: FALSE, (a == 1) && (b & 2). */
int expr_describe(const struct tree *tree, const struct decode_format *format, struct buf *out);

struct expr_record {
	const uint8_t *rec;
	size_t len;
	uint64_t ts;
	int cpu;
	const struct decode_ctx *ctx;	/* NULL: nobody knows names */
};

bool expr_run(const struct expr_program *program, const struct expr_record *record);

#endif
