/*
 * decode/eval: see eval.h. Values follow C on the writer's machine, and are defined where C is not:
 * division by zero gives 0, shift counts wrap, an index outside its array gives 0.
 */
#include "decode/eval.h"

#include <string.h>

static struct value num(uint64_t v)
{
	return (struct value){ .what = VALUE_NUM, .num = v };
}

static struct value dbl(double v)
{
	return (struct value){ .what = VALUE_DOUBLE, .dbl = v };
}

static struct value bytes(struct decode_bytes b)
{
	return (struct value){ .what = VALUE_BYTES, .len = b.len, .p = b.data };
}

static uint64_t double_to_int(double v)
{
	if (v >= 9223372036854775808.0)
		return v < 18446744073709551616.0 ? (uint64_t)v : UINT64_MAX;
	return v > -9223372036854775808.0 ? (uint64_t)(int64_t)v : (uint64_t)1 << 63;
}

uint64_t decode_value_int(const struct value *v)
{
	switch (v->what) {
	case VALUE_NUM:
		return v->num;
	case VALUE_DOUBLE:
		return v->dbl == v->dbl ? double_to_int(v->dbl) : 0;
	default:
		/*
		 * Where the bytes lay when they were written is not known, only that it was
		 * somewhere.
		 */
		return v->what == VALUE_MADE || v->p;
	}
}

static bool truth(const struct value *v)
{
	return v->what == VALUE_DOUBLE ? v->dbl != 0 : decode_value_int(v) != 0;
}

static double as_double(const struct value *v, bool is_signed)
{
	if (v->what == VALUE_DOUBLE)
		return v->dbl;
	return is_signed ? (double)(int64_t)decode_value_int(v) : (double)decode_value_int(v);
}

/* A word of the given type at `p`, which lies in the record. */
static struct value load(const struct frame *f, const struct decode_type *t, const uint8_t *p)
{
	uint64_t v = decode_abi_load(p, t->size, f->format->abi.big_endian);
	uint32_t low = (uint32_t)v;
	double d;
	float s;

	if (t->kind != DECODE_FLOAT)
		return num(decode_abi_extend(v, t->size, t->is_signed));
	memcpy(&s, &low, sizeof(s));
	memcpy(&d, &v, sizeof(d));
	return dbl(t->size == 4 ? (double)s : d);
}

static struct value load_at(const struct frame *f, const struct node *n)
{
	if ((uint64_t)n->range.offset + n->type.size > f->len)
		return n->type.kind == DECODE_FLOAT ? dbl(0) : num(0);
	return load(f, &n->type, f->rec + n->range.offset);
}

static struct value range(const struct frame *f, const struct node *n)
{
	uint64_t offset = n->range.offset, size = n->range.size;

	if (offset > f->len)
		return bytes((struct decode_bytes){ NULL, 0 });
	if (size > f->len - offset)
		size = f->len - offset;
	return bytes((struct decode_bytes){ f->rec + offset, (uint32_t)size });
}

static struct value dynamic(const struct frame *f, const struct node *n)
{
	struct decode_bytes b = decode_field_bytes(f->format, n->field, f->rec, f->len);

	return n->op == OP_LEN ? num(b.len) : bytes(b);
}

static struct value at_index(const struct frame *f, const struct node *n)
{
	struct value a = decode_eval(f, n->a), b = decode_eval(f, n->b);
	uint64_t i = decode_value_int(&b);

	if ((a.what != VALUE_BYTES && a.what != VALUE_STRING) || i >= a.len / n->type.size)
		return n->type.kind == DECODE_FLOAT ? dbl(0) : num(0);
	return load(f, &n->type, a.p + i * n->type.size);
}

static struct value cast(const struct frame *f, const struct node *n)
{
	struct value a = decode_eval(f, n->a);

	switch (n->type.kind) {
	case DECODE_FLOAT:
		return dbl(n->type.size == 4 ?
			   (double)(float)as_double(&a, f->prog->nodes[n->a].type.is_signed) :
			   as_double(&a, f->prog->nodes[n->a].type.is_signed));
	case DECODE_BOOL:
		return num(truth(&a));
	case DECODE_POINTER:
		if (a.what != VALUE_NUM && a.what != VALUE_DOUBLE)
			return a;
		break;
	}
	return num(decode_abi_extend(decode_value_int(&a), n->type.size, n->type.is_signed));
}

/* Pointer plus or minus a number of elements. */
static struct value offset(const struct node *n, struct value a, uint64_t by)
{
	uint64_t size = n->type.elem_size ? n->type.elem_size : 1;

	if (n->op == OP_SUB)
		by = 0 - by;
	if (a.what == VALUE_NUM)
		return num(a.num + by * size);
	if (a.what != VALUE_BYTES && a.what != VALUE_STRING)
		return a;
	if (by > a.len / size) {
		a.len = 0;
	} else {
		a.p = a.p ? a.p + by * size : NULL;
		a.len -= (uint32_t)(by * size);
	}
	return a;
}

static struct value double_op(uint8_t op, double a, double b)
{
	switch (op) {
	case OP_MUL:
		return dbl(a * b);
	case OP_DIV:
		return dbl(b != 0 ? a / b : 0);
	case OP_ADD:
		return dbl(a + b);
	case OP_SUB:
		return dbl(a - b);
	case OP_LT:
		return num(a < b);
	case OP_GT:
		return num(a > b);
	case OP_LE:
		return num(a <= b);
	case OP_GE:
		return num(a >= b);
	case OP_EQ:
		return num(a == b);
	default:
		return num(a != b);
	}
}

static uint64_t divide(const struct node *n, uint64_t a, uint64_t b)
{
	bool mod = n->op == OP_MOD;

	if (!b)
		return 0;
	if (!n->type.is_signed)
		return mod ? a % b : a / b;
	/* The one quotient that does not fit. */
	if (b == UINT64_MAX)
		return mod ? 0 : 0 - a;
	return (uint64_t)(mod ? (int64_t)a % (int64_t)b : (int64_t)a / (int64_t)b);
}

static bool compare(const struct node *n, uint64_t a, uint64_t b)
{
	/* Flipping the top bits makes an unsigned comparison give the signed order. */
	uint64_t flip = n->op_signed ? (uint64_t)1 << 63 : 0;

	a ^= flip;
	b ^= flip;
	switch (n->op) {
	case OP_LT:
		return a < b;
	case OP_GT:
		return a > b;
	case OP_LE:
		return a <= b;
	case OP_GE:
		return a >= b;
	case OP_EQ:
		return a == b;
	default:
		return a != b;
	}
}

static uint64_t shift(const struct node *n, uint64_t a, uint64_t b)
{
	b &= n->type.size == 8 ? 63 : 31;
	if (n->op == OP_SHL)
		return a << b;
	if (n->type.is_signed && (int64_t)a < 0)
		return ~(~a >> b);
	return a >> b;
}

static uint64_t int_op(const struct node *n, uint64_t a, uint64_t b)
{
	switch (n->op) {
	case OP_MUL:
		return a * b;
	case OP_DIV:
	case OP_MOD:
		return divide(n, a, b);
	case OP_ADD:
		return a + b;
	case OP_SUB:
		return a - b;
	case OP_SHL:
	case OP_SHR:
		return shift(n, a, b);
	case OP_AND:
		return a & b;
	case OP_XOR:
		return a ^ b;
	case OP_OR:
		return a | b;
	default:
		return compare(n, a, b);
	}
}

static struct value binary(const struct frame *f, const struct node *n)
{
	struct value a = decode_eval(f, n->a), b;

	if (n->op == OP_ANDAND || n->op == OP_OROR) {
		if (truth(&a) != (n->op == OP_ANDAND))
			return num(n->op == OP_OROR);
		b = decode_eval(f, n->b);
		return num(truth(&b));
	}
	b = decode_eval(f, n->b);
	if (n->type.kind == DECODE_POINTER)
		return offset(n, a, decode_value_int(&b));
	if (a.what == VALUE_DOUBLE && b.what == VALUE_DOUBLE)
		return double_op(n->op, a.dbl, b.dbl);
	return num(decode_abi_extend(int_op(n, decode_value_int(&a), decode_value_int(&b)),
				     n->type.size, n->type.is_signed));
}

static struct value unary(const struct frame *f, const struct node *n)
{
	struct value a = decode_eval(f, n->a);
	uint64_t v;

	if (n->op == OP_NOT)
		return num(!truth(&a));
	if (a.what == VALUE_DOUBLE)
		return dbl(-a.dbl);
	v = decode_value_int(&a);
	return num(decode_abi_extend(n->op == OP_NEG ? 0 - v : ~v, n->type.size,
				     n->type.is_signed));
}

struct value decode_eval(const struct frame *f, uint32_t at)
{
	const struct node *n = &f->prog->nodes[at];
	struct value v;

	switch (n->op) {
	case OP_NUM:
	case OP_UNKNOWN:
		return num(n->op == OP_NUM ? n->num : 0);
	case OP_DOUBLE:
		return dbl(n->dbl);
	case OP_STRING:
		return (struct value){ .what = VALUE_STRING, .len = n->text.len,
				       .p = (const uint8_t *)n->text.p };
	case OP_LOAD:
		return load_at(f, n);
	case OP_RANGE:
		return range(f, n);
	case OP_BYTES:
	case OP_LEN:
		return dynamic(f, n);
	case OP_INDEX:
		return at_index(f, n);
	case OP_CAST:
		return cast(f, n);
	case OP_NEG:
	case OP_INVERT:
	case OP_NOT:
		return unary(f, n);
	case OP_COND:
		v = decode_eval(f, n->a);
		if (truth(&v))
			return n->b == n->a ? v : decode_eval(f, n->b);
		return decode_eval(f, n->c);
	}
	if (n->op >= OP_MADE_FIRST)
		return (struct value){ .what = VALUE_MADE, .len = at };
	return binary(f, n);
}
