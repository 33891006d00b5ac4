/*
 * expr/tree: an expression as it was written, before any event is looked at. Private to the room.
 *
 * Nodes lie in an array in which operands come before what uses them, so that whoever goes through
 * a tree goes through the array, in one direction or the other, and needs no stack. Node 0 is none.
 * Immutable once parsed; the programs of all events share its texts and patterns.
 */
#ifndef EXPR_TREE_H
#define EXPR_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "expr/pattern.h"

#define TREE_NODES_MAX 4096
/* Parentheses and signs within each other, and the height of an arithmetic expression. */
#define TREE_DEPTH_MAX 64

enum tree_kind {
	/* Values: */
	TREE_NUM,	/* num */
	TREE_REAL,	/* real */
	TREE_TEXT,	/* text */
	TREE_NAME,	/* text: a field, COMM, CPU, ... */
	TREE_NEG,	/* a */
	TREE_INVERT,	/* a */
	TREE_MATH,	/* a op b */
	/* Truths: TREE_TRUTH_FIRST and on. */
	TREE_NONZERO,	/* a */
	TREE_COMPARE,	/* a op b */
	TREE_MATCH,	/* a op pattern, whose text is b; op is =~ !~ or ~ */
	TREE_NOT,	/* a */
	TREE_AND,	/* a and b */
	TREE_OR,	/* a or b */
	TREE_TRUTH_FIRST = TREE_NONZERO,
};

struct tree_node {
	uint8_t kind;
	uint8_t depth;		/* of values */
	bool is_char;		/* TREE_TEXT: a character in single quotes, a number too */
	bool is_big;		/* TREE_NUM: above INT64_MAX, which makes it unsigned */
	uint16_t op;		/* its characters, see lex.h */
	uint32_t pos;		/* in the filter's text, for errors */
	uint32_t a, b;
	union {
		uint64_t num;
		double real;
		struct {
			const char *p;	/* NUL-terminated */
			uint32_t len;
		} text;
		struct pattern *pattern;
	};
};

struct tree {
	struct tree_node *nodes;
	uint32_t nr, cap;
	uint32_t root;		/* 0: no expression, which is true */
	char *texts;
};

/*
 * Reads text[start, len), which has a NUL behind it. 0; -ENOMEM; or -EBADMSG, and err->pos counts
 * from `text`. To be freed in any case.
 */
int expr_tree_parse(struct tree *tree, const char *text, size_t start, size_t len, struct err *err);
void expr_tree_free(struct tree *tree);

#endif
