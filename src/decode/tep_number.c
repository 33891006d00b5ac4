/*
 * decode/tep_number: what an argument is as a number, see tep.h: always unsigned, of 64 bits. A
 * division by zero, which would end trace-cmd, gives 0; so does ^, which libtraceevent knows for
 * constants only (tep_prog.c).
 */
#include "decode/tep.h"

struct decode_bytes tep_bytes(const struct frame *f, uint64_t offset, uint64_t want)
{
	if (offset > f->len)
		return (struct decode_bytes){ NULL, 0 };
	if (want > f->len - offset)
		want = f->len - offset;
	return (struct decode_bytes){ f->rec + offset, (uint32_t)want };
}

struct tep_loc tep_locate(const struct frame *f, const struct decode_field *field)
{
	uint64_t word = tep_load(f, field->offset, field->size);
	struct tep_loc loc = { word & 0xffff, (uint32_t)word >> 16 };

	if (field->place == DECODE_REL_LOC)
		loc.offset += field->offset + field->size;
	return loc;
}

uint64_t tep_cast(uint64_t value, unsigned int size)
{
	return size ? decode_abi_extend(value, size, false) : value;
}

static uint64_t at_index(const struct frame *f, const struct tep_node *n)
{
	uint64_t i = tep_number(f, n->b), v;
	const struct tep_node *of = &f->tep->nodes[n->a], *outer = NULL;
	const struct decode_field *field;

	for (; of->kind == TEP_CAST; of = &f->tep->nodes[of->a])
		outer = outer ? outer : of;
	field = of->field;
	if (of->kind == TEP_DYNAMIC) {
		/* The index counts bytes here, whatever the elements are. */
		v = tep_load(f, (tep_load(f, field->offset, field->size) & 0xffff) + i,
			     field->elem_size);
	} else if (of->kind == TEP_FIELD && field) {
		v = tep_load(f, field->offset + i * field->elem_size, field->elem_size);
	} else {
		return 0;
	}
	return outer ? tep_cast(v, outer->elem) : v;
}

static uint64_t binary(int op, uint64_t a, uint64_t b)
{
	switch (op) {
	case '*':
		return a * b;
	case '/':
		return b ? a / b : 0;
	case '%':
		return b ? a % b : 0;
	case '+':
		return a + b;
	case '-':
		return a - b;
	case LEX_TWO('<', '<'):
		return a << (b & 63);
	case LEX_TWO('>', '>'):
		return a >> (b & 63);
	case '<':
		return a < b;
	case '>':
		return a > b;
	case LEX_TWO('<', '='):
		return a <= b;
	case LEX_TWO('>', '='):
		return a >= b;
	case LEX_TWO('=', '='):
		return a == b;
	case LEX_TWO('!', '='):
		return a != b;
	case '&':
		return a & b;
	case '|':
		return a | b;
	case '!':
		return !b;
	case '~':
		return ~b;
	default:
		return 0;
	}
}

static uint64_t operation(const struct frame *f, const struct tep_node *n)
{
	uint64_t a;

	switch (n->op) {
	case '?':
		return tep_number(f, tep_number(f, n->a) ? n->b : n->c);
	case '[':
		return at_index(f, n);
	}
	a = tep_number(f, n->a);
	if (n->op == LEX_TWO('&', '&'))
		return a && tep_number(f, n->b);
	if (n->op == LEX_TWO('|', '|'))
		return a || tep_number(f, n->b);
	return binary(n->op, a, tep_number(f, n->b));
}

static uint64_t call(const struct frame *f, const struct tep_node *n)
{
	struct tep_args args;

	if (!n->func->number)
		return 0;
	args = tep_func_args(f, n);
	return n->func->number(&args);
}

/* A name that is a symbol stands for its address; any other for 0. */
static uint64_t named(const struct frame *f, const struct tep_node *n)
{
	uint64_t addr;

	if (!f->ctx || !f->ctx->address ||
	    !f->ctx->address(f->ctx->arg, n->text.p, n->text.len, &addr))
		return 0;
	return addr;
}

uint64_t tep_number_of(const struct frame *f, const struct tep_node *n)
{
	switch (n->kind) {
	case TEP_ATOM:
		return n->is_name ? named(f, n) : n->num;
	case TEP_OP:
		return operation(f, n);
	case TEP_CAST:
		return tep_cast(tep_number(f, n->a), n->keep);
	case TEP_LEN:
		return tep_locate(f, n->field).len;
	case TEP_FUNC:
		return call(f, n);
	default:
		return 0;
	}
}
