/*
 * decode/parse: the arguments of a print format: C expressions over the fields of a record, typed
 * as C types them.
 *
 *   expr    = binary [ "?" [ expr ] ":" expr ]
 *   binary  = unary { operator unary }				by precedence
 *   unary   = ( "-" | "+" | "~" | "!" | "&" | "*" | "(" type ")" ) unary | postfix
 *   postfix = primary { "[" expr "]" }
 *   primary = number | string... | "REC" "->" field | call | "(" expr ")" | "sizeof" ...
 */
#include <string.h>

#include "decode/compile.h"

#define NESTING_MAX 200

const struct decode_type prog_int = { .kind = DECODE_INT, .size = 4, .is_signed = true };
const struct decode_type prog_chars = { .kind = DECODE_POINTER, .size = 8, .elem_kind = DECODE_INT,
					   .elem_size = 1, .elem_signed = true };
static const struct decode_type real = { .kind = DECODE_FLOAT, .size = 8, .is_signed = true };

static uint32_t unary(struct compiler *c);

static struct node *node_at(struct compiler *c, uint32_t at)
{
	return &c->prog->nodes[at];
}

/*
 * C's integer promotions. Pointers count as numbers of their size, as casts to long would make
 * them.
 */
static struct decode_type promoted(struct decode_type t)
{
	if (t.kind == DECODE_FLOAT)
		return real;
	if (t.size && t.size < 4)
		return prog_int;
	return (struct decode_type){ .kind = DECODE_INT, .size = t.size ? t.size : 8,
				     .is_signed = t.kind != DECODE_POINTER && t.is_signed };
}

/* C's usual arithmetic conversions. */
static struct decode_type common(struct decode_type a, struct decode_type b)
{
	a = promoted(a);
	b = promoted(b);
	if (a.kind == DECODE_FLOAT || b.kind == DECODE_FLOAT)
		return real;
	if (a.size != b.size)
		return a.size > b.size ? a : b;
	a.is_signed = a.is_signed && b.is_signed;
	return a;
}

/*
 * A constant is converted where it stands: nodes made since may be operands of the same operator.
 */
static uint32_t cast_constant(struct node *n, struct decode_type type)
{
	bool from = n->op == OP_DOUBLE, to = type.kind == DECODE_FLOAT;

	if (from && !to)
		n->num = n->dbl > -9e18 && n->dbl < 9e18 ? (uint64_t)(int64_t)n->dbl : 0;
	else if (!from && to)
		n->dbl = n->type.is_signed ? (double)(int64_t)n->num : (double)n->num;
	if (type.kind == DECODE_BOOL)
		n->num = n->num != 0;
	else if (!to)
		n->num = decode_abi_extend(n->num, type.size, type.is_signed);
	n->op = to ? OP_DOUBLE : OP_NUM;
	n->type = type;
	return 0;
}

uint32_t prog_cast(struct compiler *c, uint32_t a, struct decode_type type)
{
	struct node *n;

	if (c->ret || !a)
		return 0;
	n = node_at(c, a);
	if (type.kind == DECODE_OPAQUE && !type.size)
		return a;
	if (n->op == OP_NUM || n->op == OP_DOUBLE) {
		cast_constant(n, type);
		return a;
	}
	return prog_node(c, (struct node){ .op = OP_CAST, .type = type, .a = a });
}

/*
 * As prog_cast, for operands: values are kept extended to 64 bits, so most of these conversions
 * change nothing.
 */
static uint32_t convert(struct compiler *c, uint32_t a, struct decode_type to)
{
	struct decode_type from = node_at(c, a)->type;

	bool same;

	if (to.kind == DECODE_FLOAT || from.kind == DECODE_FLOAT)
		same = to.kind == from.kind;
	else
		same = to.size == 8 ||
		       (from.is_signed == to.is_signed ? from.size <= to.size :
							 to.is_signed && from.size < to.size);
	return same ? a : prog_cast(c, a, to);
}

/* pointer + n and pointer - n: the type stays, eval.c counts in elements. */
static bool is_offset(const struct node *a, const struct node *b, int op)
{
	return (op == OP_ADD || op == OP_SUB) && a->type.kind == DECODE_POINTER &&
	       b->type.kind != DECODE_POINTER;
}

uint32_t prog_binary(struct compiler *c, int op, uint32_t a, uint32_t b)
{
	struct node n = { .op = (uint8_t)op, .type = prog_int, .a = a, .b = b };
	struct decode_type t;

	if (c->ret || !a || !b)
		return 0;
	if (op == OP_ANDAND || op == OP_OROR)
		return prog_node(c, n);
	if (is_offset(node_at(c, a), node_at(c, b), op)) {
		n.type = node_at(c, a)->type;
		return prog_node(c, n);
	}
	if (op == OP_SHL || op == OP_SHR) {
		t = promoted(node_at(c, a)->type);
		if (t.kind == DECODE_FLOAT)
			return prog_fail(c, "a shift of a floating-point number");
		n.b = convert(c, b, promoted(prog_int));
		n.a = convert(c, a, t);
		n.type = t;
		return prog_node(c, n);
	}
	t = common(node_at(c, a)->type, node_at(c, b)->type);
	if (t.kind == DECODE_FLOAT && (op == OP_MOD || op == OP_AND || op == OP_OR || op == OP_XOR))
		return prog_fail(c, "a bit operation on floating-point numbers");
	n.a = convert(c, a, t);
	n.b = convert(c, b, t);
	n.op_signed = t.is_signed;
	if (op < OP_LT || op > OP_NE)
		n.type = t;
	return prog_node(c, n);
}

/* A type's name that C does not know may still be that of a field, and then its size is known. */
struct decode_type prog_type(struct compiler *c, const char *text, size_t len)
{
	struct decode_type t = decode_type_parse(text, len, &c->format->abi);
	const struct decode_format *f = c->format;

	for (uint32_t i = 0; !t.size && i < f->nr_fields; i++) {
		const struct decode_field *field = &f->fields[i];

		if (field->kind == DECODE_INT && !field->is_array && strlen(field->type) == len &&
		    !memcmp(field->type, text, len))
			t = (struct decode_type){ .kind = DECODE_INT, .size = (uint8_t)field->size,
						  .is_signed = field->is_signed };
	}
	return t;
}

/*
 * "(words)" or "(words *)" is a type unless it is one word that could be a constant's name and what
 * follows could as well continue the expression.
 */
bool prog_type_in_parens(struct compiler *c, struct decode_type *type)
{
	struct lex back = c->lex;
	unsigned int words = 0, stars = 0;
	const char *from, *to;

	decode_lex_next(&c->lex);
	from = to = c->lex.at;
	while (c->lex.word == LEX_NAME || (c->lex.word == '*' && words)) {
		if (prog_word_is(c, "REC"))
			break;
		words += c->lex.word == LEX_NAME;
		stars += c->lex.word == '*';
		to = c->lex.p;
		decode_lex_next(&c->lex);
	}
	if (c->lex.word != ')' || !words)
		goto not_a_type;
	*type = prog_type(c, from, (size_t)(to - from));
	decode_lex_next(&c->lex);
	if (type->kind != DECODE_OPAQUE || stars || words > 1)
		return true;
	if (c->lex.word == LEX_NAME || c->lex.word == LEX_NUM || c->lex.word == LEX_DOUBLE ||
	    c->lex.word == '(' || c->lex.word == '~' || c->lex.word == '!')
		return true;
not_a_type:
	c->lex = back;
	return false;
}

uint32_t prog_field(struct compiler *c, const struct decode_field *f)
{
	struct node n = { .op = OP_LOAD };

	if (f->place == DECODE_INLINE && !f->is_array && f->kind != DECODE_OPAQUE) {
		n.type = decode_type_parse(f->type, strlen(f->type), &c->format->abi);
		if (f->kind != DECODE_POINTER)
			n.type = (struct decode_type){ .kind = f->kind };
		n.type.size = (uint8_t)f->size;
		n.type.is_signed = f->is_signed;
		n.range.offset = f->offset;
		return prog_node(c, n);
	}
	n.type = (struct decode_type){ .kind = DECODE_POINTER, .size = c->format->abi.long_size,
				       .elem_kind = f->kind,
				       .elem_size = (uint8_t)(f->elem_size <= 8 ? f->elem_size : 1),
				       .elem_signed = f->is_signed };
	if (f->place == DECODE_INLINE) {
		n.op = OP_RANGE;
		n.range.offset = f->offset;
		n.range.size = f->size;
	} else {
		n.op = OP_BYTES;
		n.field = f;
	}
	return prog_node(c, n);
}

/* Behind REC: "->field"; also "->__data_loc_field", the word that says where a dynamic field is. */
static uint32_t member(struct compiler *c)
{
	const struct decode_format *f = c->format;
	static const char *const prefixes[] = { "", "__data_loc_", "__rel_loc_" };

	if (!prog_expect(c, LEX_TWO('-', '>'), "expected -> after REC"))
		return 0;
	if (c->lex.word != LEX_NAME)
		return prog_fail(c, "expected a field's name after REC->");
	for (uint32_t i = 0; i < f->nr_fields * 3; i++) {
		const struct decode_field *field = &f->fields[i / 3];
		size_t skip = strlen(prefixes[i % 3]);

		if (c->lex.len != skip + strlen(field->name) ||
		    memcmp(c->lex.at, prefixes[i % 3], skip) ||
		    memcmp(c->lex.at + skip, field->name, c->lex.len - skip))
			continue;
		decode_lex_next(&c->lex);
		if (!skip)
			return prog_field(c, field);
		return prog_node(c, (struct node){
			.op = OP_LOAD, .range.offset = field->offset,
			.type = { .kind = DECODE_INT, .size = 4 } });
	}
	return prog_fail(c, "no such field");
}

static uint32_t name(struct compiler *c)
{
	static const struct {
		const char *name;
		uint64_t value;
	} constants[] = { { "true", 1 }, { "false", 0 }, { "NULL", 0 } };

	if (prog_word_is(c, "REC")) {
		decode_lex_next(&c->lex);
		return member(c);
	}
	for (size_t i = 0; i < sizeof(constants) / sizeof(constants[0]); i++) {
		if (!prog_word_is(c, constants[i].name))
			continue;
		decode_lex_next(&c->lex);
		return prog_node(c, (struct node){ .op = OP_NUM, .type = prog_int,
						      .num = constants[i].value });
	}
	return prog_call(c);
}

static uint32_t parens(struct compiler *c)
{
	struct lex back = c->lex;
	uint32_t n;

	decode_lex_next(&c->lex);
	if (prog_word_is(c, "REC")) {
		decode_lex_next(&c->lex);
		if (c->lex.word == ')') {
			decode_lex_next(&c->lex);
			return member(c);
		}
		c->lex = back;
		decode_lex_next(&c->lex);
	}
	n = prog_expr(c);
	return prog_expect(c, ')', "expected )") ? n : 0;
}

static uint32_t primary(struct compiler *c)
{
	struct node n = { .type = c->lex.type };

	switch (c->lex.word) {
	case LEX_NUM:
		n.op = OP_NUM;
		n.num = c->lex.num;
		decode_lex_next(&c->lex);
		return prog_node(c, n);
	case LEX_DOUBLE:
		n.op = OP_DOUBLE;
		n.dbl = c->lex.dbl;
		decode_lex_next(&c->lex);
		return prog_node(c, n);
	case LEX_STRING:
		n.op = OP_STRING;
		n.type = prog_chars;
		return prog_string(c, &n.text) ? prog_node(c, n) : 0;
	case LEX_NAME:
		return name(c);
	case '(':
		return parens(c);
	}
	return prog_fail(c, "expected a value");
}

/* a[b]. A fixed array with a constant index is as good as a field. */
static uint32_t element(struct compiler *c, uint32_t a, uint32_t b)
{
	struct node n = { .op = OP_INDEX, .a = a, .b = b }, *base, *index;

	if (c->ret || !a || !b)
		return 0;
	base = node_at(c, a);
	index = node_at(c, b);
	if (base->type.kind != DECODE_POINTER || base->op >= OP_MADE_FIRST ||
	    !prog_is_memory(c, a))
		return prog_fail(c, "an index into what the record does not hold");
	if (index->type.kind == DECODE_FLOAT || index->type.kind == DECODE_POINTER)
		return prog_fail(c, "an index that is no integer");
	n.type = (struct decode_type){ .kind = base->type.elem_kind, .size = base->type.elem_size,
				       .is_signed = base->type.elem_signed };
	if (!n.type.size || n.type.kind == DECODE_OPAQUE)
		n.type = (struct decode_type){ .kind = DECODE_INT, .size = 1 };
	if (base->op == OP_RANGE && index->op == OP_NUM &&
	    index->num < base->range.size / n.type.size) {
		n.op = OP_LOAD;
		n.range.offset = base->range.offset + (uint32_t)index->num * n.type.size;
		n.a = n.b = 0;
	}
	return prog_node(c, n);
}

static uint32_t postfix(struct compiler *c)
{
	uint32_t a = primary(c), b;

	while (!c->ret && c->lex.word == '[') {
		decode_lex_next(&c->lex);
		b = prog_expr(c);
		if (!prog_expect(c, ']', "expected ]"))
			return 0;
		a = element(c, a, b);
	}
	return a;
}

/* &x: the bytes of x in the record. */
static uint32_t address(struct compiler *c, uint32_t a)
{
	struct node n;

	if (c->ret || !a)
		return 0;
	n = *node_at(c, a);
	if (n.op == OP_RANGE || n.op == OP_BYTES)
		return a;
	if (n.op == OP_INDEX)
		return prog_binary(c, OP_ADD, n.a, n.b);
	if (n.op != OP_LOAD)
		return prog_fail(c, "an address of what is no field");
	return prog_node(c, (struct node){
		.op = OP_RANGE, .range = { n.range.offset, n.type.size },
		.type = { .kind = DECODE_POINTER, .size = c->format->abi.long_size,
			  .elem_kind = n.type.kind, .elem_size = n.type.size,
			  .elem_signed = n.type.is_signed } });
}

static uint32_t arithmetic(struct compiler *c, int op, uint32_t a)
{
	struct node n = { .op = (uint8_t)op, .type = prog_int, .a = a };

	if (c->ret || !a)
		return 0;
	if (op != OP_NOT) {
		n.type = promoted(node_at(c, a)->type);
		if (op == OP_INVERT && n.type.kind == DECODE_FLOAT)
			return prog_fail(c, "a bit operation on a floating-point number");
		n.a = convert(c, a, n.type);
	}
	return prog_node(c, n);
}

static uint32_t zero(struct compiler *c)
{
	return prog_node(c, (struct node){ .op = OP_NUM, .type = prog_int });
}

static uint32_t prefixed(struct compiler *c)
{
	struct decode_type type;
	int word = c->lex.word;
	uint32_t a;

	if (word == '(' && prog_type_in_parens(c, &type))
		return prog_cast(c, unary(c), type);
	if (word != '-' && word != '+' && word != '~' && word != '!' && word != '&' && word != '*')
		return postfix(c);
	decode_lex_next(&c->lex);
	a = unary(c);
	switch (word) {
	case '-':
		return arithmetic(c, OP_NEG, a);
	case '~':
		return arithmetic(c, OP_INVERT, a);
	case '!':
		return arithmetic(c, OP_NOT, a);
	case '&':
		return address(c, a);
	case '*':
		return element(c, a, zero(c));
	}
	return a;
}

static uint32_t unary(struct compiler *c)
{
	uint32_t n;

	if (c->ret)
		return 0;
	if (++c->nesting > NESTING_MAX)
		return prog_fail(c, "too deeply nested");
	n = prefixed(c);
	c->nesting--;
	return n;
}

static const struct {
	int word;
	uint8_t op;
	uint8_t prec;
} operators[] = {
	{ '*', OP_MUL, 10 },			{ '/', OP_DIV, 10 },
	{ '%', OP_MOD, 10 },			{ '+', OP_ADD, 9 },
	{ '-', OP_SUB, 9 },			{ LEX_TWO('<', '<'), OP_SHL, 8 },
	{ LEX_TWO('>', '>'), OP_SHR, 8 },	{ '<', OP_LT, 7 },
	{ '>', OP_GT, 7 },			{ LEX_TWO('<', '='), OP_LE, 7 },
	{ LEX_TWO('>', '='), OP_GE, 7 },	{ LEX_TWO('=', '='), OP_EQ, 6 },
	{ LEX_TWO('!', '='), OP_NE, 6 },	{ '&', OP_AND, 5 },
	{ '^', OP_XOR, 4 },			{ '|', OP_OR, 3 },
	{ LEX_TWO('&', '&'), OP_ANDAND, 2 },	{ LEX_TWO('|', '|'), OP_OROR, 1 },
};

/* All operators that bind at least as tightly as `min`. */
static uint32_t binary(struct compiler *c, unsigned int min)
{
	const size_t nr = sizeof(operators) / sizeof(operators[0]);
	uint32_t a = unary(c), b;
	size_t i;

	while (!c->ret) {
		for (i = 0; i < nr && operators[i].word != c->lex.word; i++)
			;
		if (i == nr || operators[i].prec < min)
			break;
		decode_lex_next(&c->lex);
		b = binary(c, operators[i].prec + 1u);
		a = prog_binary(c, operators[i].op, a, b);
	}
	return a;
}

static bool is_number(const struct node *n)
{
	return n->type.kind == DECODE_INT || n->type.kind == DECODE_BOOL ||
	       n->type.kind == DECODE_FLOAT;
}

static uint32_t conditional(struct compiler *c, uint32_t a)
{
	struct node n = { .op = OP_COND, .a = a, .b = a };
	bool twice;

	decode_lex_next(&c->lex);
	twice = c->lex.word == ':';
	if (!twice)
		n.b = prog_expr(c);
	if (!prog_expect(c, ':', "expected :"))
		return 0;
	n.c = prog_expr(c);
	if (c->ret)
		return 0;
	if (is_number(node_at(c, n.b)) && is_number(node_at(c, n.c))) {
		n.type = common(node_at(c, n.b)->type, node_at(c, n.c)->type);
		/*
		 * "a ?: c" shares its node: eval.c looks at a once, however many of these are
		 * nested.
		 */
		if (!twice)
			n.b = convert(c, n.b, n.type);
		n.c = convert(c, n.c, n.type);
	} else {
		n.type = node_at(c, is_number(node_at(c, n.b)) ? n.c : n.b)->type;
	}
	return prog_node(c, n);
}

uint32_t prog_expr(struct compiler *c)
{
	uint32_t a;

	if (++c->nesting > NESTING_MAX)
		return prog_fail(c, "too deeply nested");
	a = binary(c, 1);
	if (!c->ret && c->lex.word == '?')
		a = conditional(c, a);
	c->nesting--;
	return a;
}
