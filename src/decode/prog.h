/*
 * decode/prog: a print format compiled. Private to the room.
 *
 * A program is a list of pieces, text or a conversion with its arguments; arguments are trees of
 * nodes with C's types, worked out when the format is compiled. Constant subtrees are folded away.
 * Trees are at most DEPTH_MAX high, so that whoever walks one by recursion needs a bounded stack.
 */
#ifndef DECODE_PROG_H
#define DECODE_PROG_H

#include "base/err.h"
#include "decode/conv.h"
#include "decode/format.h"
#include "decode/type.h"

#define PROG_DEPTH_MAX 100

enum op {
	OP_NUM,		/* num */
	OP_DOUBLE,	/* dbl */
	OP_STRING,	/* text: a literal */
	OP_UNKNOWN,	/* a name without a value; only in lists of values, which drop it */

	OP_LOAD,	/* a scalar at range.offset in the record */
	OP_RANGE,	/* the bytes of `range` in the record: a fixed array, or &x */
	OP_BYTES,	/* the bytes of dynamic `field` */
	OP_LEN,		/* how many these are */
	OP_INDEX,	/* a[b] */

	OP_CAST,	/* a, as `type` */
	OP_NEG, OP_INVERT, OP_NOT,	/* a */
	/* a and b: */
	OP_MUL, OP_DIV, OP_MOD, OP_ADD, OP_SUB, OP_SHL, OP_SHR,
	OP_LT, OP_GT, OP_LE, OP_GE, OP_EQ, OP_NE,
	OP_AND, OP_XOR, OP_OR, OP_ANDAND, OP_OROR,
	OP_COND,	/* a ? b : c */

	/* Those that make text when it is printed: OP_MADE_FIRST and on. */
	OP_FLAGS,	/* a by list, joined by text */
	OP_SYMBOLIC,	/* a by list */
	OP_HEX,		/* a, b bytes: "01 02" */
	OP_HEX_STR,	/* a, b bytes: "0102" */
	OP_ARRAY,	/* a, b elements of c bytes: {0x1,0x2} */
	OP_BITMASK,	/* bytes a */
	OP_MADE_FIRST = OP_FLAGS,
};

struct text {
	const char *p;
	uint32_t len;
};

struct node {
	uint8_t op;
	uint8_t depth;
	struct decode_type type;
	uint32_t a, b, c;		/* nodes; 0, which is none, where there is no operand */
	union {
		uint64_t num;
		double dbl;
		bool op_signed;			/* of a comparison's operands */
		struct {
			uint32_t offset, size;
		} range;
		const struct decode_field *field;
		struct {
			struct text text;
			uint32_t list, nr_list;	/* in prog->names */
		};
	};
};

/* An entry of __print_flags or __print_symbolic. */
struct name {
	uint64_t value;
	struct text text;
};

struct piece {
	struct text text;		/* printed first */
	struct conv conv;		/* kind 0: none */
	uint32_t value, width, prec;	/* nodes */
};

struct decode_prog {
	struct piece *pieces;
	struct node *nodes;
	struct name *names;
	char *strings;
	uint32_t nr_pieces, nr_nodes, nr_names;
	uint32_t nr_dropped;	/* entries of lists whose values the text does not tell */
};

/* 0; -ENOMEM; or -EBADMSG and err says what could not be read, and *out is NULL. */
int decode_prog_compile(const struct decode_format *format, const struct decode_prog **out,
			struct err *err);
void decode_prog_free(const struct decode_prog *prog);

#endif
