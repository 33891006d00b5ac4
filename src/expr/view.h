/*
 * expr/view: what each node of a tree is in the records of one event; between compile.c, which finds it out, and emit.c,
 * which makes a program of it. Private to the room.
 */
#ifndef EXPR_VIEW_H
#define EXPR_VIEW_H

#include "expr/compile.h"

enum form {
	FORM_LACKING,
	FORM_WHOLE,
	FORM_REAL,
	FORM_TEXT,
	FORM_FALSE,
	FORM_TRUE,
	FORM_TEST,	/* or AND, OR and NOT of tests */
};

enum moment { MOMENT_NONE, MOMENT_COMM, MOMENT_CPU, MOMENT_TIME };

struct view {
	uint8_t form;
	uint8_t lack;
	uint8_t moment;			/* of a name that is no field */
	bool is_unsigned;		/* of operands and result */
	bool is_plain;			/* a field that never holds an address */
	bool is_needed;			/* in the program */
	uint32_t culprit;
	uint32_t unit;			/* MOMENT_TIME */
	const struct decode_field *field;
	uint32_t made;			/* number of the value or truth that the builder has for it */
};

struct compiler {
	const struct tree *tree;
	const struct decode_format *format;
	unsigned int flags;
	struct view *views;
};

/* The program of the tree's root. */
int expr_emit(struct compiler *c, struct expr_program *out);

#endif
