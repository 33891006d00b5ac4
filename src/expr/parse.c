/*
 * expr/parse: text → tree; see tree.h.
 *
 *   truth  = unit { ('&&' | '||') unit }            from left to right: neither binds stronger
 *   unit   = '!' unit | value [ compare value ]
 *   value  = C's arithmetic, which here binds stronger than comparisons
 *   leaf   = name | number | text | '(' truth ')' | '-' leaf | '~' leaf
 *
 * libtraceevent takes && and || as they come, and lets ! reach over a whole comparison; so do we.
 * It knows one arithmetic operator in place of a comparison, and no values in parentheses; all that
 * it does read means the same here.
 */
#include "expr/tree.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "expr/lex.h"

enum {
	AND = EXPR_TWO('&', '&'),
	OR = EXPR_TWO('|', '|'),
	EQ = EXPR_TWO('=', '='),
	NE = EXPR_TWO('!', '='),
	LE = EXPR_TWO('<', '='),
	GE = EXPR_TWO('>', '='),
};

struct parser {
	struct tree *tree;
	struct expr_lex lex;
	struct err *err;
	int ret;		/* 0, or the first error */
	unsigned int nesting;
	size_t texts_used;
};

static uint32_t fail_at(struct parser *p, uint32_t pos, const char *why)
{
	if (!p->ret)
		p->ret = err_set_at(p->err, -EBADMSG, (int)pos, "%s", why);
	p->lex.p = p->lex.end;
	p->lex.word = EXPR_END;
	return 0;
}

static uint32_t here(const struct parser *p)
{
	return (uint32_t)(p->lex.at - p->lex.text);
}

static uint32_t fail(struct parser *p, const char *why)
{
	return fail_at(p, here(p), p->lex.word == EXPR_BAD ? p->lex.why : why);
}

static bool grow(struct parser *p)
{
	struct tree *t = p->tree;
	uint32_t cap = t->cap ? t->cap * 2 : 16;
	struct tree_node *nodes;

	if (t->nr < t->cap)
		return true;
	nodes = realloc(t->nodes, cap * sizeof(*nodes));
	if (!nodes) {
		p->ret = p->ret ? p->ret : err_set(p->err, -ENOMEM, "out of memory");
		return false;
	}
	t->nodes = nodes;
	t->cap = cap;
	/* Number 0 is nobody's. */
	if (!t->nr)
		nodes[t->nr++] = (struct tree_node){ .kind = TREE_NUM };
	return true;
}

static uint32_t node(struct parser *p, struct tree_node n)
{
	const struct tree_node *nodes = p->tree->nodes;
	unsigned int depth = 0;

	if (p->ret)
		return 0;
	if (p->tree->nr == TREE_NODES_MAX)
		return fail_at(p, n.pos, "the filter is too large");
	if (n.a)
		depth = nodes[n.a].depth + 1u;
	if (n.b && nodes[n.b].depth >= depth)
		depth = nodes[n.b].depth + 1u;
	/* Truths are never walked by recursion that keeps a stack: only values count. */
	if (n.kind >= TREE_TRUTH_FIRST)
		depth = 0;
	if (depth > TREE_DEPTH_MAX)
		return fail_at(p, n.pos, "the expression is nested too deep");
	n.depth = (uint8_t)depth;
	if (!grow(p))
		return 0;
	p->tree->nodes[p->tree->nr] = n;
	return p->tree->nr++;
}

static struct tree_node *get(const struct parser *p, uint32_t i)
{
	return &p->tree->nodes[i];
}

static bool is_truth(const struct parser *p, uint32_t i)
{
	return get(p, i)->kind >= TREE_TRUTH_FIRST;
}

/* The current word's characters, kept with the tree, go into a node. */
static uint32_t text_leaf(struct parser *p, enum tree_kind kind)
{
	struct tree_node n = { .kind = (uint8_t)kind, .pos = here(p) };
	char *to = p->tree->texts + p->texts_used;
	size_t len = p->lex.len;

	if (kind == TREE_TEXT)
		len = expr_lex_text(&p->lex, to);
	else
		memcpy(to, p->lex.at, len);
	to[len] = '\0';
	p->texts_used += len + 1;
	n.text.p = to;
	n.text.len = (uint32_t)len;
	n.is_char = kind == TREE_TEXT && len == 1 && *p->lex.at == '\'';
	return node(p, n);
}

static uint32_t truth(struct parser *p);

static uint32_t in_parens(struct parser *p)
{
	uint32_t open = here(p), n;

	expr_lex_next(&p->lex);
	n = truth(p);
	if (p->ret)
		return 0;
	if (p->lex.word != ')') {
		if (p->lex.word == EXPR_END)
			return fail_at(p, open, "the parenthesis is never closed");
		return fail(p, "an operator or ) is missing here");
	}
	expr_lex_next(&p->lex);
	return n;
}

static uint32_t leaf(struct parser *p);

/* A value that an operator takes a number from. */
static bool takes_number(struct parser *p, uint32_t i)
{
	if (p->ret)
		return false;
	if (is_truth(p, i))
		fail_at(p, get(p, i)->pos, "a comparison is no number");
	else if (get(p, i)->kind == TREE_TEXT && !get(p, i)->is_char)
		fail_at(p, get(p, i)->pos, "text is no number");
	return !p->ret;
}

static uint32_t sign(struct parser *p)
{
	struct tree_node n = { .kind = p->lex.word == '~' ? TREE_INVERT : TREE_NEG,
			       .pos = here(p) };
	bool is_plus = p->lex.word == '+';
	struct tree_node *value;

	expr_lex_next(&p->lex);
	n.a = leaf(p);
	if (!takes_number(p, n.a) || is_plus)
		return n.a;
	value = get(p, n.a);
	if (value->kind == TREE_NUM) {
		/* The digits of the smallest number of all need unsigned bits, it does not. */
		if (n.kind == TREE_NEG && value->num == 1ull << 63)
			value->is_big = false;
		value->num = n.kind == TREE_NEG ? -value->num : ~value->num;
		return n.a;
	}
	if (value->kind == TREE_REAL && n.kind == TREE_NEG) {
		value->real = -value->real;
		return n.a;
	}
	return node(p, n);
}

static uint32_t number(struct parser *p)
{
	struct tree_node n = { .kind = TREE_NUM, .pos = here(p), .num = p->lex.num };

	n.is_big = n.num > INT64_MAX;
	if (p->lex.word == EXPR_REAL) {
		n.kind = TREE_REAL;
		n.real = p->lex.real;
	}
	return node(p, n);
}

static uint32_t leaf_word(struct parser *p)
{
	uint32_t n;

	switch (p->lex.word) {
	case '(':
		return in_parens(p);
	case '-':
	case '+':
	case '~':
		return sign(p);
	case EXPR_NAME:
		n = text_leaf(p, TREE_NAME);
		break;
	case EXPR_TEXT:
		n = text_leaf(p, TREE_TEXT);
		break;
	case EXPR_NUM:
	case EXPR_REAL:
		n = number(p);
		break;
	case EXPR_END:
		return fail(p, "the filter ends too early: a value is missing");
	default:
		return fail(p, "a name, a number or a text is missing here");
	}
	if (!p->ret)
		expr_lex_next(&p->lex);
	return n;
}

static uint32_t leaf(struct parser *p)
{
	uint32_t n;

	if (p->ret)
		return 0;
	if (p->nesting == TREE_DEPTH_MAX)
		return fail(p, "the expression is nested too deep");
	p->nesting++;
	n = leaf_word(p);
	p->nesting--;
	return n;
}

/* How strong a binary arithmetic operator binds; 0: it is none. */
static int strength(int word)
{
	switch (word) {
	case '*':
	case '/':
	case '%':
		return 6;
	case '+':
	case '-':
		return 5;
	case EXPR_TWO('<', '<'):
	case EXPR_TWO('>', '>'):
		return 4;
	case '&':
		return 3;
	case '^':
		return 2;
	case '|':
		return 1;
	default:
		return 0;
	}
}

static uint32_t value(struct parser *p, int at_least)
{
	uint32_t left = leaf(p);

	while (!p->ret && strength(p->lex.word) >= at_least) {
		struct tree_node n = { .kind = TREE_MATH, .op = (uint16_t)p->lex.word,
				       .pos = here(p), .a = left };

		if (!takes_number(p, left))
			return 0;
		expr_lex_next(&p->lex);
		n.b = value(p, strength(n.op) + 1);
		if (!takes_number(p, n.b))
			return 0;
		left = node(p, n);
	}
	return left;
}

static uint32_t match(struct parser *p, struct tree_node n)
{
	const struct tree_node *text;
	int ret;

	if (p->lex.word != EXPR_TEXT)
		return fail(p, "a pattern in quotes is missing here");
	n.b = text_leaf(p, TREE_TEXT);
	if (p->ret)
		return 0;
	text = get(p, n.b);
	if (n.op == '~')
		ret = expr_pattern_new_glob(text->text.p, text->text.len, &n.pattern, p->err);
	else
		ret = expr_pattern_new(text->text.p, text->text.len, PATTERN_ANY_CASE, &n.pattern,
				       p->err);
	if (ret) {
		p->ret = ret;
		if (ret == -EBADMSG && p->err)
			p->err->pos += (int)here(p) + 1;
		return 0;
	}
	expr_lex_next(&p->lex);
	ret = (int)node(p, n);
	if (!ret)
		expr_pattern_free(n.pattern);
	return (uint32_t)ret;
}

static bool is_match(int word)
{
	return word == '~' || word == EXPR_TWO('=', '~') || word == EXPR_TWO('!', '~');
}

static bool is_order(int word)
{
	return word == '<' || word == '>' || word == LE || word == GE;
}

/* Text can be equal or not; what the names stand for is seen when there is an event. */
static bool is_ordered_text(const struct parser *p, const struct tree_node *n)
{
	const struct tree_node *a = get(p, n->a), *b = get(p, n->b);

	return is_order(n->op) && ((a->kind == TREE_TEXT && !a->is_char) ||
				   (b->kind == TREE_TEXT && !b->is_char));
}

static uint32_t compare(struct parser *p, uint32_t left)
{
	struct tree_node n = { .kind = TREE_COMPARE, .op = (uint16_t)p->lex.word, .pos = here(p),
			       .a = left };

	if (is_truth(p, left))
		return fail_at(p, get(p, left)->pos, "a comparison is no number");
	expr_lex_next(&p->lex);
	if (is_match(n.op)) {
		n.kind = TREE_MATCH;
		return match(p, n);
	}
	n.b = value(p, 1);
	if (p->ret)
		return 0;
	if (is_truth(p, n.b))
		return fail_at(p, get(p, n.b)->pos, "a comparison is no number");
	if (is_ordered_text(p, &n))
		return fail_at(p, n.pos, "text can be compared with ==, !=, =~, !~ and ~");
	return node(p, n);
}

static bool is_comparison(int word)
{
	return is_order(word) || word == EQ || word == NE || is_match(word);
}

/* A value where a truth is wanted: what is calculated counts, what only stands there does not. */
static uint32_t as_truth(struct parser *p, uint32_t i)
{
	struct tree_node n = { .kind = TREE_NONZERO, .a = i };

	if (p->ret || is_truth(p, i))
		return i;
	n.pos = get(p, i)->pos;
	if (get(p, i)->kind == TREE_NAME)
		return fail(p, "a comparison is missing here (events are written SYSTEM/EVENT)");
	if (get(p, i)->kind < TREE_NEG)
		return fail(p, "a comparison is missing here");
	return node(p, n);
}

static uint32_t unit(struct parser *p);

static uint32_t not(struct parser *p)
{
	struct tree_node n = { .kind = TREE_NOT, .pos = here(p) };

	if (p->nesting == TREE_DEPTH_MAX)
		return fail(p, "the expression is nested too deep");
	p->nesting++;
	expr_lex_next(&p->lex);
	n.a = as_truth(p, unit(p));
	p->nesting--;
	return node(p, n);
}

static uint32_t unit(struct parser *p)
{
	uint32_t left;

	if (p->lex.word == '!')
		return not(p);
	left = value(p, 1);
	if (!p->ret && is_comparison(p->lex.word))
		left = compare(p, left);
	if (!p->ret && is_comparison(p->lex.word))
		return fail(p, "one comparison cannot be compared again");
	return left;
}

/* In parentheses this may turn out to be a value: (a + 1) == 2. */
static uint32_t truth(struct parser *p)
{
	uint32_t left = unit(p);

	while (!p->ret && (p->lex.word == AND || p->lex.word == OR)) {
		struct tree_node n = { .kind = p->lex.word == AND ? TREE_AND : TREE_OR,
				       .pos = here(p) };

		n.a = as_truth(p, left);
		if (p->ret)
			return 0;
		expr_lex_next(&p->lex);
		n.b = as_truth(p, unit(p));
		left = node(p, n);
	}
	return left;
}

int expr_tree_parse(struct tree *tree, const char *text, size_t start, size_t len, struct err *err)
{
	struct parser p = { .tree = tree, .err = err };
	uint32_t root;

	*tree = (struct tree){ 0 };
	/* Each word is kept at most once, with a NUL, and no word is empty. */
	tree->texts = malloc((len - start) * 2 + 1);
	if (!tree->texts)
		return err_set(err, -ENOMEM, "out of memory");
	expr_lex_open(&p.lex, text, text + start, len - start);
	root = as_truth(&p, truth(&p));
	if (!p.ret && p.lex.word != EXPR_END)
		fail(&p, p.lex.word == ')' ? "no parenthesis is open here" :
					     "&& or || is missing here");
	tree->root = p.ret ? 0 : root;
	return p.ret;
}

void expr_tree_free(struct tree *tree)
{
	for (uint32_t i = 1; i < tree->nr; i++)
		if (tree->nodes[i].kind == TREE_MATCH)
			expr_pattern_free(tree->nodes[i].pattern);
	free(tree->nodes);
	free(tree->texts);
	*tree = (struct tree){ 0 };
}
