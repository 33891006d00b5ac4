/*
 * expr/describe: tree + format → the words that `report -T` shows, which are libtraceevent's. What
 * the event cannot answer is folded away as in the program. Truths nest as deep as there are nodes,
 * TREE_NODES_MAX at most; a level takes a hundred bytes of stack.
 */
#include <errno.h>
#include <stdlib.h>

#include "expr/lex.h"
#include "expr/compile.h"

struct describer {
	const struct tree *tree;
	const enum truth *truths;
	struct buf *out;
};

static void operator(struct buf *out, uint16_t word)
{
	buf_putc(out, ' ');
	if (word >> 8)
		buf_putc(out, (char)(word >> 8));
	buf_putc(out, (char)word);
	buf_putc(out, ' ');
}

static void value(const struct describer *d, uint32_t i);

static void operand(const struct describer *d, uint32_t i)
{
	bool is_made = d->tree->nodes[i].kind == TREE_MATH;

	buf_puts(d->out, is_made ? "(" : "");
	value(d, i);
	buf_puts(d->out, is_made ? ")" : "");
}

static void value(const struct describer *d, uint32_t i)
{
	const struct tree_node *n = &d->tree->nodes[i];

	switch (n->kind) {
	case TREE_NUM:
		buf_printf(d->out, "%lld", (long long)n->num);
		break;
	case TREE_REAL:
		buf_printf(d->out, "%.17g", n->real);
		break;
	case TREE_TEXT:
		buf_printf(d->out, "\"%s\"", n->text.p);
		break;
	case TREE_NAME:
		buf_puts(d->out, n->text.p);
		break;
	case TREE_NEG:
	case TREE_INVERT:
		buf_putc(d->out, n->kind == TREE_NEG ? '-' : '~');
		operand(d, n->a);
		break;
	case TREE_MATH:
		operand(d, n->a);
		operator(d->out, n->op);
		operand(d, n->b);
		break;
	}
}

static void truth(const struct describer *d, uint32_t i);

static void in_parens(const struct describer *d, uint32_t i)
{
	buf_putc(d->out, '(');
	truth(d, i);
	buf_putc(d->out, ')');
}

static void joint(const struct describer *d, const struct tree_node *n)
{
	/* What is known already has no say, or else all of this would be known. */
	if (d->truths[n->a] != TRUTH_TEST) {
		truth(d, n->b);
	} else if (d->truths[n->b] != TRUTH_TEST) {
		truth(d, n->a);
	} else {
		in_parens(d, n->a);
		buf_puts(d->out, n->kind == TREE_AND ? " && " : " || ");
		in_parens(d, n->b);
	}
}

static void truth(const struct describer *d, uint32_t i)
{
	const struct tree_node *n = &d->tree->nodes[i];

	if (d->truths[i] != TRUTH_TEST) {
		buf_puts(d->out, d->truths[i] == TRUTH_TRUE ? "TRUE" : "FALSE");
		return;
	}
	switch (n->kind) {
	case TREE_AND:
	case TREE_OR:
		joint(d, n);
		break;
	case TREE_NOT:
		buf_putc(d->out, '!');
		in_parens(d, n->a);
		break;
	case TREE_NONZERO:
		value(d, n->a);
		break;
	default:
		operand(d, n->a);
		operator(d->out, n->op);
		operand(d, n->b);
	}
}

int expr_describe(const struct tree *tree, const struct decode_format *format, struct buf *out)
{
	enum truth *truths;
	int ret;

	if (!tree->root) {
		buf_puts(out, "TRUE");
		return 0;
	}
	truths = calloc(tree->nr, sizeof(*truths));
	if (!truths)
		return -ENOMEM;
	ret = expr_truths(tree, format, truths);
	if (!ret)
		truth(&(struct describer){ tree, truths, out }, tree->root);
	free(truths);
	return ret;
}
