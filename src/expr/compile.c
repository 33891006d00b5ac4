/*
 * expr/compile: tree + format → program; see compile.h.
 *
 * A walk over the tree's array, operands first: what each node is in this event, a number, a text, a truth that is known, or
 * a test. The program is then made by emit.c.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "expr/lex.h"
#include "expr/view.h"

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

	v->field = field;
	if (field->is_array || field->place != DECODE_INLINE) {
		v->form = FORM_TEXT;
	} else if (field->kind == DECODE_FLOAT) {
		v->form = FORM_REAL;
	} else if (is_word) {
		v->form = FORM_WHOLE;
		v->is_unsigned = !field->is_signed && field->size == 8;
		v->is_plain = !holds_address(field);
	} else {
		lacks(v, LACK_NUMBER, i);
	}
}

/* What is no field of the record but of its moment. An event's own field of that name wins. */
static bool view_moment(struct compiler *c, uint32_t i, const char *name)
{
	static const struct {
		const char *name;
		uint8_t form, moment;
		uint32_t unit;
	} moments[] = {
		{ "COMM", FORM_TEXT, MOMENT_COMM, 0 },
		{ "CPU", FORM_WHOLE, MOMENT_CPU, 0 },
		{ "TIMESTAMP", FORM_WHOLE, MOMENT_TIME, 1 },
		{ "TIMESTAMP_USECS", FORM_WHOLE, MOMENT_TIME, 1000 },
		{ "TIMESTAMP_SECS", FORM_WHOLE, MOMENT_TIME, 1000000000 },
	};

	for (size_t k = 0; k < sizeof(moments) / sizeof(moments[0]); k++) {
		if (strcmp(moments[k].name, name))
			continue;
		c->views[i].form = moments[k].form;
		c->views[i].moment = moments[k].moment;
		c->views[i].unit = moments[k].unit;
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
		v->is_unsigned = n->is_big;
		break;
	case TREE_REAL:
		v->form = FORM_REAL;
		break;
	case TREE_TEXT:
		v->form = FORM_TEXT;
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
	v->is_unsigned = a->is_unsigned || b->is_unsigned;
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
	v->is_unsigned = a->is_unsigned;
}

static void view_nonzero(struct compiler *c, uint32_t i)
{
	uint32_t a = c->tree->nodes[i].a;

	if (!needs_number(c, i, a))
		return;
	c->views[i].form = FORM_TEST;
}

static bool is_order(uint16_t op)
{
	return op != EXPR_TWO('=', '=') && op != EXPR_TWO('!', '=');
}

/* A whole number may be an address, but not these. */
static bool has_text(const struct view *v)
{
	return v->form == FORM_TEXT ||
	       (v->form == FORM_WHOLE && v->moment != MOMENT_CPU && v->moment != MOMENT_TIME);
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
	v->is_unsigned = a->is_unsigned || b->is_unsigned;
	if (b->lack == LACK_FIELD)
		lacks(v, LACK_RIGHT_FIELD, b->culprit);
	else if (a->form == FORM_LACKING || b->form == FORM_LACKING)
		lacks(v, a->lack ? a->lack : b->lack, a->lack ? a->culprit : b->culprit);
	else if (a->form == FORM_TEXT || b->form == FORM_TEXT)
		view_text_compare(c, i);
}

static void view_match(struct compiler *c, uint32_t i)
{
	const struct tree_node *n = &c->tree->nodes[i];
	struct view *v = &c->views[i], *a = &c->views[n->a];

	v->form = FORM_TEST;
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
	if (a->form == settles || b->form == settles)
		v->form = settles;
	else if (a->form == yields)
		v->form = b->form;
	else if (b->form == yields)
		v->form = a->form;
}

static void view_not(struct compiler *c, uint32_t i)
{
	const struct view *a = &c->views[c->tree->nodes[i].a];

	c->views[i].form = a->form == FORM_TRUE ? FORM_FALSE :
			   a->form == FORM_FALSE ? FORM_TRUE : FORM_TEST;
}

static void view(struct compiler *c, uint32_t i)
{
	const struct tree_node *n = &c->tree->nodes[i];
	struct view *v = &c->views[i];

	*v = (struct view){ .form = FORM_LACKING };
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
		v->is_unsigned = true;
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

int expr_compile(const struct tree *tree, const struct decode_format *format, unsigned int flags,
		 struct fate *fates, struct expr_program **out)
{
	struct compiler c = { .tree = tree, .format = format, .flags = flags };
	struct expr_program *program = calloc(1, sizeof(*program));
	int ret = program ? view_all(&c) : -ENOMEM;

	*out = NULL;
	if (ret) {
		free(program);
		return ret;
	}
	/* Without an expression all is well. */
	if (!tree->root)
		c.views[0].form = FORM_TRUE;
	note_fates(&c, fates);
	program->format = format;
	program->tree = tree;
	ret = expr_emit(&c, program);
	free(c.views);
	if (ret)
		expr_program_free(program);
	else
		*out = program;
	return ret;
}

void expr_program_free(struct expr_program *program)
{
	if (!program)
		return;
	buf_fini(&program->bytes);
	free(program);
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
