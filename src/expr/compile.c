/*
 * expr/compile: tree + format → program; see program.h.
 *
 * Two walks over the tree's array. Upwards, operands first: what each node is in this event, a
 * number, a text, a truth that is known, or a test. Downwards, from the root: where each test
 * leads.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "expr/lex.h"
#include "expr/program.h"

enum form {
	FORM_LACKING,
	FORM_WHOLE,
	FORM_REAL,
	FORM_TEXT,
	FORM_FALSE,
	FORM_TRUE,
	FORM_TEST,	/* or AND, OR and NOT of tests */
};

/* What a node is in this event. */
struct view {
	uint8_t form;
	uint8_t lack;
	uint32_t culprit;
	uint32_t entry;		/* of truths: the test to begin with */
	uint32_t yes, no;	/* of truths: where to go then */
	struct code code;
};

struct compiler {
	const struct tree *tree;
	const struct decode_format *format;
	unsigned int flags;
	struct view *views;
};

static void lacks(struct view *v, enum lack lack, uint32_t culprit)
{
	v->form = FORM_LACKING;
	v->lack = (uint8_t)lack;
	v->culprit = culprit;
}

static bool is_number(const struct view *v)
{
	return v->form == FORM_WHOLE || v->form == FORM_REAL;
}

/*
 * libtraceevent looks for functions in pointers and in what is called long, and so do we; and in
 * all that has room for an address.
 */
static bool holds_address(const struct decode_field *field)
{
	return field->kind == DECODE_POINTER || field->size == 8 || strstr(field->type, "long");
}

static void view_field(struct compiler *c, uint32_t i, const struct decode_field *field)
{
	struct view *v = &c->views[i];
	bool is_word = field->size == 1 || field->size == 2 || field->size == 4 || field->size == 8;

	v->code.field = field;
	if (field->is_array || field->place != DECODE_INLINE) {
		v->form = FORM_TEXT;
		v->code.op = CODE_ARRAY;
	} else if (field->kind == DECODE_FLOAT) {
		v->form = FORM_REAL;
		v->code.op = CODE_REAL_FIELD;
	} else if (is_word) {
		v->form = FORM_WHOLE;
		v->code.op = CODE_FIELD;
		v->code.is_unsigned = !field->is_signed && field->size == 8;
		v->code.is_plain = !holds_address(field);
	} else {
		lacks(v, LACK_NUMBER, i);
	}
}

/* What is no field of the record but of its moment. An event's own field of that name wins. */
static bool view_moment(struct compiler *c, uint32_t i, const char *name)
{
	static const struct {
		const char *name;
		uint8_t form, op;
		uint64_t num;
	} moments[] = {
		{ "COMM", FORM_TEXT, CODE_COMM, 0 },
		{ "CPU", FORM_WHOLE, CODE_CPU, 0 },
		{ "TIMESTAMP", FORM_WHOLE, CODE_TIME, 1 },
		{ "TIMESTAMP_USECS", FORM_WHOLE, CODE_TIME, 1000 },
		{ "TIMESTAMP_SECS", FORM_WHOLE, CODE_TIME, 1000000000 },
	};

	for (size_t k = 0; k < sizeof(moments) / sizeof(moments[0]); k++) {
		if (strcmp(moments[k].name, name))
			continue;
		c->views[i].form = moments[k].form;
		c->views[i].code.op = moments[k].op;
		c->views[i].code.num = moments[k].num;
		return true;
	}
	return false;
}

static void view_name(struct compiler *c, uint32_t i)
{
	const char *name = c->tree->nodes[i].text.p;
	const struct decode_field *field = decode_format_find(c->format, name);

	if (field)
		view_field(c, i, field);
	else if (!view_moment(c, i, name))
		lacks(&c->views[i], LACK_FIELD, i);
}

static void view_constant(struct compiler *c, uint32_t i)
{
	const struct tree_node *n = &c->tree->nodes[i];
	struct view *v = &c->views[i];

	switch (n->kind) {
	case TREE_NUM:
		v->form = FORM_WHOLE;
		v->code.op = CODE_NUM;
		v->code.num = n->num;
		v->code.is_unsigned = n->is_big;
		break;
	case TREE_REAL:
		v->form = FORM_REAL;
		v->code.op = CODE_REAL;
		v->code.real = n->real;
		break;
	case TREE_TEXT:
		v->form = FORM_TEXT;
		v->code.op = CODE_TEXT;
		v->code.text.p = n->text.p;
		v->code.text.len = n->text.len;
		break;
	}
}

/* A character meets a number: it is one. */
static void char_to_number(struct compiler *c, uint32_t i)
{
	const struct tree_node *n = &c->tree->nodes[i];

	if (n->kind != TREE_TEXT || !n->is_char)
		return;
	c->views[i].form = FORM_WHOLE;
	c->views[i].code.op = CODE_NUM;
	c->views[i].code.num = (unsigned char)n->text.p[0];
}

/* False, and i lacks what operand k lacks, or a number. */
static bool needs_number(struct compiler *c, uint32_t i, uint32_t k)
{
	if (c->views[k].form == FORM_LACKING)
		lacks(&c->views[i], c->views[k].lack, c->views[k].culprit);
	else if (!is_number(&c->views[k]))
		lacks(&c->views[i], LACK_NUMBER, k);
	else
		return true;
	return false;
}

static bool wants_whole(uint16_t op)
{
	return op != '+' && op != '-' && op != '*' && op != '/';
}

static void view_math(struct compiler *c, uint32_t i)
{
	const struct tree_node *n = &c->tree->nodes[i];
	struct view *v = &c->views[i], *a = &c->views[n->a], *b = &c->views[n->b];
	bool is_real;

	char_to_number(c, n->a);
	char_to_number(c, n->b);
	if (!needs_number(c, i, n->a) || !needs_number(c, i, n->b))
		return;
	is_real = a->form == FORM_REAL || b->form == FORM_REAL;
	if (is_real && wants_whole(n->op)) {
		lacks(v, LACK_WHOLE, a->form == FORM_REAL ? n->a : n->b);
		return;
	}
	v->form = is_real ? FORM_REAL : FORM_WHOLE;
	v->code.op = is_real ? CODE_REAL_MATH : CODE_MATH;
	v->code.is_unsigned = a->code.is_unsigned || b->code.is_unsigned;
}

static void view_sign(struct compiler *c, uint32_t i)
{
	const struct tree_node *n = &c->tree->nodes[i];
	struct view *v = &c->views[i], *a = &c->views[n->a];

	char_to_number(c, n->a);
	if (!needs_number(c, i, n->a))
		return;
	if (a->form == FORM_REAL && n->kind == TREE_INVERT) {
		lacks(v, LACK_WHOLE, n->a);
		return;
	}
	v->form = a->form;
	v->code.op = n->kind == TREE_INVERT ? CODE_INVERT :
		     a->form == FORM_REAL ? CODE_REAL_NEG : CODE_NEG;
	v->code.is_unsigned = a->code.is_unsigned;
}

static void view_nonzero(struct compiler *c, uint32_t i)
{
	uint32_t a = c->tree->nodes[i].a;

	if (!needs_number(c, i, a))
		return;
	c->views[i].form = FORM_TEST;
	c->views[i].code.op = c->views[a].form == FORM_REAL ? CODE_REAL_NONZERO : CODE_NONZERO;
}

static bool is_order(uint16_t op)
{
	return op != EXPR_TWO('=', '=') && op != EXPR_TWO('!', '=');
}

/* A whole number may be an address, but not these. */
static bool has_text(const struct view *v)
{
	return v->form == FORM_TEXT ||
	       (v->form == FORM_WHOLE && v->code.op != CODE_CPU && v->code.op != CODE_TIME);
}

/*
 * Text on one side or both. A number has a text, the name of what is at that address, but only
 * where a text in quotes asks for it: a field against a field would be a mistake.
 */
static void view_text_compare(struct compiler *c, uint32_t i)
{
	const struct tree_node *n = &c->tree->nodes[i], *nodes = c->tree->nodes;
	struct view *v = &c->views[i], *a = &c->views[n->a];
	uint32_t other = a->form == FORM_TEXT ? n->b : n->a;
	uint32_t text = a->form == FORM_TEXT ? n->a : n->b;

	if (is_order(n->op))
		lacks(v, LACK_ORDER, text);
	else if (is_number(&c->views[other]) && nodes[text].kind != TREE_TEXT)
		lacks(v, LACK_NUMBER, text);
	else if (!has_text(&c->views[other]))
		lacks(v, LACK_TEXT, other);
	else
		v->code.op = CODE_TEXT_COMPARE;
}

static void view_compare(struct compiler *c, uint32_t i)
{
	const struct tree_node *n = &c->tree->nodes[i];
	struct view *v = &c->views[i], *a = &c->views[n->a], *b = &c->views[n->b];

	if (is_number(b))
		char_to_number(c, n->a);
	if (is_number(a))
		char_to_number(c, n->b);
	v->form = FORM_TEST;
	v->code.is_unsigned = a->code.is_unsigned || b->code.is_unsigned;
	if (b->lack == LACK_FIELD)
		lacks(v, LACK_RIGHT_FIELD, b->culprit);
	else if (a->form == FORM_LACKING || b->form == FORM_LACKING)
		lacks(v, a->lack ? a->lack : b->lack, a->lack ? a->culprit : b->culprit);
	else if (a->form == FORM_TEXT || b->form == FORM_TEXT)
		view_text_compare(c, i);
	else if (a->form == FORM_REAL || b->form == FORM_REAL)
		v->code.op = CODE_REAL_COMPARE;
	else
		v->code.op = CODE_COMPARE;
}

static void view_match(struct compiler *c, uint32_t i)
{
	const struct tree_node *n = &c->tree->nodes[i];
	struct view *v = &c->views[i], *a = &c->views[n->a];

	v->form = FORM_TEST;
	v->code.op = CODE_MATCH;
	v->code.pattern = n->pattern;
	if (a->form == FORM_LACKING)
		lacks(v, a->lack, a->culprit);
	else if (!has_text(a))
		lacks(v, LACK_TEXT, n->a);
}

static void view_joint(struct compiler *c, uint32_t i)
{
	const struct tree_node *n = &c->tree->nodes[i];
	const struct view *a = &c->views[n->a], *b = &c->views[n->b];
	struct view *v = &c->views[i];
	/* What settles it, and what leaves it to the other side. */
	uint8_t settles = n->kind == TREE_AND ? FORM_FALSE : FORM_TRUE;
	uint8_t yields = n->kind == TREE_AND ? FORM_TRUE : FORM_FALSE;

	v->form = FORM_TEST;
	v->entry = a->entry;
	if (a->form == settles || b->form == settles) {
		v->form = settles;
	} else if (a->form == yields) {
		v->form = b->form;
		v->entry = b->entry;
	} else if (b->form == yields) {
		v->form = a->form;
	}
}

static void view_not(struct compiler *c, uint32_t i)
{
	const struct view *a = &c->views[c->tree->nodes[i].a];

	c->views[i].form = a->form == FORM_TRUE ? FORM_FALSE :
			   a->form == FORM_FALSE ? FORM_TRUE : FORM_TEST;
	c->views[i].entry = a->entry;
}

static void view(struct compiler *c, uint32_t i)
{
	const struct tree_node *n = &c->tree->nodes[i];
	struct view *v = &c->views[i];

	*v = (struct view){ .code = { .word = n->op, .a = n->a, .b = n->b }, .entry = i };
	switch (n->kind) {
	case TREE_NAME:
		view_name(c, i);
		break;
	case TREE_NEG:
	case TREE_INVERT:
		view_sign(c, i);
		break;
	case TREE_MATH:
		view_math(c, i);
		break;
	case TREE_NONZERO:
		view_nonzero(c, i);
		break;
	case TREE_COMPARE:
		view_compare(c, i);
		break;
	case TREE_MATCH:
		view_match(c, i);
		break;
	case TREE_NOT:
		view_not(c, i);
		break;
	case TREE_AND:
	case TREE_OR:
		view_joint(c, i);
		break;
	default:
		view_constant(c, i);
	}
	if (c->flags & COMPILE_UNSIGNED)
		v->code.is_unsigned = true;
	/* No answer is no, but only here: !(bogus == 1) holds. */
	if (n->kind >= TREE_TRUTH_FIRST && v->form == FORM_LACKING)
		v->form = FORM_FALSE;
}

static int view_all(struct compiler *c)
{
	c->views = calloc(c->tree->nr + 1u, sizeof(*c->views));
	if (!c->views)
		return -ENOMEM;
	for (uint32_t i = 1; i < c->tree->nr; i++)
		view(c, i);
	return 0;
}

static void note_fates(const struct compiler *c, struct fate *fates)
{
	for (uint32_t i = 1; i < c->tree->nr; i++) {
		const struct view *v = &c->views[i];

		if (v->form == FORM_TEST) {
			fates[i].lives = true;
		} else if (v->lack > fates[i].lack) {
			fates[i].lack = v->lack;
			fates[i].culprit = v->culprit;
		}
	}
}

/* Hands a truth's ways out down to its parts. Those of parts that are folded away do not matter. */
static void lead(struct compiler *c, uint32_t i)
{
	const struct tree_node *n = &c->tree->nodes[i];
	struct view *v = &c->views[i], *a = &c->views[n->a], *b = &c->views[n->b];

	switch (n->kind) {
	case TREE_NOT:
		a->yes = v->no;
		a->no = v->yes;
		return;
	case TREE_AND:
	case TREE_OR:
		a->yes = b->yes = v->yes;
		a->no = b->no = v->no;
		if (b->form != FORM_TEST)
			return;
		if (n->kind == TREE_AND)
			a->yes = b->entry;
		else
			a->no = b->entry;
		return;
	default:
		v->code.yes = v->yes;
		v->code.no = v->no;
	}
}

static struct program *emit(struct compiler *c)
{
	const struct view *root = &c->views[c->tree->root];
	uint32_t nr = root->form == FORM_TEST ? c->tree->nr : 0;
	struct program *program = malloc(sizeof(*program) + nr * sizeof(program->code[0]));

	if (!program)
		return NULL;
	*program = (struct program){ .format = c->format, .nr = nr };
	program->start = nr ? root->entry : root->form == FORM_FALSE ? PROGRAM_FAIL : PROGRAM_PASS;
	for (uint32_t i = 0; i < nr; i++) {
		program->code[i] = c->views[i].code;
		program->asks_comm |= c->views[i].code.op == CODE_COMM;
	}
	return program;
}

int expr_compile(const struct tree *tree, const struct decode_format *format, unsigned int flags,
		 struct fate *fates, struct program **out)
{
	struct compiler c = { .tree = tree, .format = format, .flags = flags };
	int ret = view_all(&c);

	*out = NULL;
	if (ret)
		return ret;
	/* Without an expression all is well. */
	if (!tree->root)
		c.views[0].form = FORM_TRUE;
	note_fates(&c, fates);
	c.views[tree->root].yes = PROGRAM_PASS;
	c.views[tree->root].no = PROGRAM_FAIL;
	for (uint32_t i = tree->root; i > 0; i--)
		if (tree->nodes[i].kind >= TREE_TRUTH_FIRST)
			lead(&c, i);
	*out = emit(&c);
	free(c.views);
	return *out ? 0 : -ENOMEM;
}

int expr_truths(const struct tree *tree, const struct decode_format *format, enum truth *truths)
{
	struct compiler c = { .tree = tree, .format = format };
	int ret = view_all(&c);

	if (ret)
		return ret;
	for (uint32_t i = 1; i < tree->nr; i++)
		truths[i] = c.views[i].form == FORM_TRUE ? TRUTH_TRUE :
			    c.views[i].form == FORM_FALSE ? TRUTH_FALSE : TRUTH_TEST;
	free(c.views);
	return 0;
}
