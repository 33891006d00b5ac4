/*
 * expr/emit: a tree whose nodes are known (view.h) → a program; see compile.h.
 *
 * Downwards, from the root: which nodes are needed; those below what is known are not. Upwards, operands first: a value or a
 * truth of the builder's for each.
 */
#include <errno.h>
#include <string.h>

#include "expr/lex.h"
#include "expr/view.h"

struct emitter {
	struct compiler *c;
	struct program_build *build;
	struct expr_program *out;
};

static void mark_needed(struct compiler *c)
{
	c->views[c->tree->root].is_needed = true;
	for (uint32_t i = c->tree->root; i > 0; i--) {
		const struct tree_node *n = &c->tree->nodes[i];
		const struct view *v = &c->views[i];

		if (!v->is_needed || v->form == FORM_TRUE || v->form == FORM_FALSE)
			continue;
		/* A name or constant has no operands, and node 0 is none. */
		c->views[n->a].is_needed = true;
		if (n->kind != TREE_MATCH)
			c->views[n->b].is_needed = true;
	}
}

/* ---- Values ---- */

static uint32_t emit_field(struct emitter *e, const struct decode_field *field, uint8_t form)
{
	enum program_class class = form == FORM_TEXT ? PROGRAM_TEXT : form == FORM_REAL ? PROGRAM_REAL : PROGRAM_INT;
	uint32_t value = program_build_field(e->build, field->name, class);
	uint32_t place = program_build_place(e->build, field->name);
	struct program_field *to = place < PROGRAM_FIELDS_MAX ? &e->out->fields[place] : NULL;

	if (!to || value == PROGRAM_NOTHING)
		return PROGRAM_NOTHING;
	*to = (struct program_field){ .class = (uint8_t)class, .is_signed = field->is_signed, .place = field->place };
	to->offset = (uint16_t)field->offset;
	to->size = field->size < UINT16_MAX ? (uint16_t)field->size : UINT16_MAX;
	/* No record is that long. */
	if (field->offset > UINT16_MAX)
		to->class = UINT8_MAX;
	to->shape = program_field_shape(to);
	return value;
}

static uint32_t emit_name(struct emitter *e, const struct view *v)
{
	switch (v->moment) {
	case MOMENT_COMM:
		e->out->asks_comm = true;
		return program_build_moment(e->build, PROGRAM_COMM);
	case MOMENT_CPU:
		return program_build_moment(e->build, PROGRAM_CPU);
	case MOMENT_TIME:
		return program_build_time(e->build, v->unit);
	default:
		return emit_field(e, v->field, v->form);
	}
}

/* An operand for floating point: what has no sign must not get one on the way. */
static uint32_t as_real(struct emitter *e, uint32_t i)
{
	const struct tree_node *n = &e->c->tree->nodes[i];
	const struct view *v = &e->c->views[i];

	if (v->form != FORM_WHOLE || !v->is_unsigned || n->kind == TREE_MATH)
		return v->made;
	if (n->kind == TREE_NUM)
		return program_build_real(e->build, (double)n->num);
	return program_build_math(e->build, '+', false, v->made, program_build_num(e->build, 0));
}

static uint32_t emit_math(struct emitter *e, const struct tree_node *n, const struct view *v)
{
	const struct view *views = e->c->views;

	if (v->form == FORM_REAL)
		return program_build_math(e->build, n->op, true, as_real(e, n->a), as_real(e, n->b));
	return program_build_math(e->build, n->op, !v->is_unsigned, views[n->a].made, views[n->b].made);
}

static uint32_t emit_value(struct emitter *e, const struct tree_node *n, const struct view *v)
{
	uint32_t a = e->c->views[n->a].made;

	switch (n->kind) {
	case TREE_NUM:
		return program_build_num(e->build, n->num);
	case TREE_REAL:
		return program_build_real(e->build, n->real);
	case TREE_TEXT:
		if (v->form == FORM_WHOLE)
			return program_build_num(e->build, (unsigned char)n->text.p[0]);
		return program_build_literal(e->build, n->text.p, n->text.len);
	case TREE_NAME:
		return emit_name(e, v);
	case TREE_NEG:
		return program_build_neg(e->build, a);
	case TREE_INVERT:
		return program_build_invert(e->build, a);
	default:
		return emit_math(e, n, v);
	}
}

/* ---- Truths ---- */

/* A text, which of a number is the name of what is there. */
static uint32_t as_text(struct emitter *e, uint32_t i)
{
	const struct view *v = &e->c->views[i];

	return v->form == FORM_TEXT ? v->made : program_build_name_of(e->build, v->made, v->is_plain);
}

static uint32_t emit_compare(struct emitter *e, const struct tree_node *n, const struct view *v)
{
	const struct view *a = &e->c->views[n->a], *b = &e->c->views[n->b];

	if (a->form == FORM_TEXT || b->form == FORM_TEXT)
		return program_build_compare(e->build, n->op, 0, as_text(e, n->a), as_text(e, n->b));
	if (a->form == FORM_REAL || b->form == FORM_REAL)
		return program_build_compare(e->build, n->op, 0, as_real(e, n->a), as_real(e, n->b));
	return program_build_compare(e->build, n->op, v->is_unsigned ? PROGRAM_UNSIGNED : 0, a->made, b->made);
}

static uint32_t emit_truth(struct emitter *e, uint32_t i)
{
	const struct tree_node *n = &e->c->tree->nodes[i];
	const struct view *v = &e->c->views[i];
	uint32_t a = e->c->views[n->a].made, b = e->c->views[n->b].made, truth;

	if (v->form != FORM_TEST)
		return program_build_known(e->build, v->form == FORM_TRUE);
	switch (n->kind) {
	case TREE_NONZERO:
		return program_build_nonzero(e->build, a);
	case TREE_COMPARE:
		return emit_compare(e, n, v);
	case TREE_MATCH:
		truth = program_build_pattern(e->build, as_text(e, n->a), i);
		return n->op == EXPR_TWO('!', '~') ? program_build_not(e->build, truth) : truth;
	case TREE_NOT:
		return program_build_not(e->build, a);
	default:
		return program_build_joint(e->build, n->kind == TREE_OR, a, b);
	}
}

static void emit_all(struct emitter *e)
{
	const struct tree *tree = e->c->tree;

	for (uint32_t i = 1; i <= tree->root; i++) {
		struct view *v = &e->c->views[i];

		if (!v->is_needed)
			continue;
		v->made = tree->nodes[i].kind >= TREE_TRUTH_FIRST ? emit_truth(e, i) : emit_value(e, &tree->nodes[i], v);
	}
	if (tree->root)
		program_build_is(e->build, e->c->views[tree->root].made);
}

int expr_emit(struct compiler *c, struct expr_program *out)
{
	struct emitter e = { .c = c, .build = program_build_new(), .out = out };
	int ret;

	if (!e.build)
		return -ENOMEM;
	program_build_for_files(e.build);
	mark_needed(c);
	emit_all(&e);
	ret = program_build_finish(e.build, &out->bytes);
	program_build_free(e.build);
	return ret;
}
