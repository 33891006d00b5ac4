/*
 * symbol/debug_where: where a variable is at an address: its location expression, run with sums in place of values.
 *
 * Nothing is known of registers and memory when a probe is defined, so the stack of the expression holds what a probe could
 * fetch: a register, a number or an address, something added, what is read there, something added, and so on. What cannot be
 * said so (products, comparisons) is refused.
 */
#include <errno.h>
#include <string.h>

#include "symbol/debug_local.h"
#include "symbol/dwarf_numbers.h"

#define STACK_MAX 8u

struct run {
	struct debug *debug;
	const struct debug_point *point;
	struct debug_sum stack[STACK_MAX];
	uint32_t n;
	uint64_t size;		/* of the variable; 0: not known */
	bool in_frame;		/* within a frame base or CFA: no expression of those asks for another */
	struct err *err;
};

static int cannot(struct run *run, const char *why)
{
	return err_set(run->err, -EOPNOTSUPP, "%s", why);
}

static int push(struct run *run, const struct debug_sum *sum)
{
	if (run->n == STACK_MAX)
		return cannot(run, "its location is computed in too many steps" DEBUG_UNREADABLE);
	run->stack[run->n++] = *sum;
	return 0;
}

static int push_register(struct run *run, uint64_t reg, int64_t add)
{
	if (reg > 15)
		return cannot(run, "it is in a register that probes do not see");
	return push(run, &(struct debug_sum){ .base = DEBUG_REGISTER, .number = reg, .add = { add } });
}

static int64_t wrapped(int64_t a, int64_t b)
{
	return (int64_t)((uint64_t)a + (uint64_t)b);
}

/* To what is on top. */
static void add_number(struct run *run, int64_t number)
{
	struct debug_sum *top = &run->stack[run->n - 1];

	top->add[top->nloads] = wrapped(top->add[top->nloads], number);
}

static bool is_number(const struct debug_sum *sum)
{
	return sum->base == DEBUG_NUMBER && !sum->nloads;
}

static int load(struct run *run)
{
	struct debug_sum *top = &run->stack[run->n - 1];

	if (top->nloads == DEBUG_LOADS_MAX)
		return cannot(run, "it is behind too many pointers");
	top->add[++top->nloads] = 0;
	return 0;
}

static int add(struct run *run, bool minus)
{
	struct debug_sum *a = &run->stack[run->n - 2], *b = a + 1;
	int64_t number;

	if (!minus && is_number(a)) {
		struct debug_sum swap = *a;

		*a = *b;
		*b = swap;
	}
	if (!is_number(b))
		return cannot(run, "its location is computed from several values" DEBUG_UNREADABLE);
	number = minus ? (int64_t)(0 - (uint64_t)b->add[0]) : b->add[0];
	a->add[a->nloads] = wrapped(a->add[a->nloads], number);
	run->n--;
	return 0;
}

/* A mask that leaves all bits of the variable is none. */
static int mask(struct run *run)
{
	struct debug_sum *b = &run->stack[run->n - 1];
	uint64_t want = run->size && run->size < 8 ? (1ull << (8 * run->size)) - 1 : UINT64_MAX;

	if (!is_number(b) || ((uint64_t)b->add[0] & want) != want)
		return cannot(run, "its value is computed" DEBUG_UNREADABLE);
	run->n--;
	return 0;
}

static int run_ops(struct run *run, const struct debug_op *ops, int n, struct debug_where *where);

static int push_cfa(struct run *run)
{
	struct run own = { .debug = run->debug, .point = run->point, .in_frame = true, .err = run->err };
	struct debug_op ops[DEBUG_OPS_MAX];
	struct debug_where where;
	int n = debug_dw_cfa(run->debug->dw, run->point->address, ops), r;

	if (n <= 0)
		return cannot(run, "nothing tells where the frame of the function is");
	r = run_ops(&own, ops, n, &where);
	if (r)
		return r;
	/* The expression's result is the address itself. */
	return push(run, &where.sum);
}

static int push_frame_base(struct run *run, int64_t offset)
{
	struct run own = { .debug = run->debug, .point = run->point, .in_frame = true, .err = run->err };
	uint64_t pc = run->point->address;
	struct debug_op ops[DEBUG_OPS_MAX];
	struct debug_where where;
	struct debug_die function;
	bool listed;
	int n = 0, r;

	if (run->in_frame)
		return cannot(run, "the frame of the function is told by itself");
	if (debug_function_at(run->debug, &run->point->unit, pc, &function))
		n = debug_dw_location(run->debug->dw, &function, DW_AT_frame_base, pc, ops, &listed);
	if (n <= 0)
		return cannot(run, "nothing tells where the frame of the function is");
	if (n == 1 && ops[0].code == DW_OP_call_frame_cfa) {
		r = push_cfa(run);
	} else {
		r = run_ops(&own, ops, n, &where);
		if (!r)
			r = push(run, &where.sum);
	}
	if (r)
		return r;
	add_number(run, offset);
	return 0;
}

static int push_number(struct run *run, uint64_t number)
{
	return push(run, &(struct debug_sum){ .base = DEBUG_NUMBER, .add = { (int64_t)number } });
}

/* What needs something on the stack. */
static int run_on_stack(struct run *run, const struct debug_op *op)
{
	if (run->n < (op->code == DW_OP_plus || op->code == DW_OP_minus || op->code == DW_OP_and ? 2u : 1u))
		return cannot(run, "its location is damaged");
	switch (op->code) {
	case DW_OP_deref:
		return load(run);
	case DW_OP_deref_size:
		return op->a == 8 ? load(run) : cannot(run, "its location is computed" DEBUG_UNREADABLE);
	case DW_OP_dup:
		return push(run, &run->stack[run->n - 1]);
	case DW_OP_plus_uconst:
		add_number(run, (int64_t)op->a);
		return 0;
	case DW_OP_plus:
		return add(run, false);
	case DW_OP_minus:
		return add(run, true);
	default:
		return mask(run);
	}
}

static int run_op(struct run *run, const struct debug_op *op)
{
	if (op->code >= DW_OP_const1u && op->code <= DW_OP_consts)
		return push_number(run, op->a);
	if (op->code >= DW_OP_lit0 && op->code <= DW_OP_lit31)
		return push_number(run, op->code - DW_OP_lit0);
	if (op->code >= DW_OP_breg0 && op->code <= DW_OP_breg31)
		return push_register(run, op->code - DW_OP_breg0, (int64_t)op->a);
	switch (op->code) {
	case DW_OP_nop:
		return 0;
	case DW_OP_addr:
		return push(run, &(struct debug_sum){ .base = DEBUG_ADDRESS, .number = op->a });
	case DW_OP_bregx:
		return push_register(run, op->a, (int64_t)op->b);
	case DW_OP_fbreg:
		return push_frame_base(run, (int64_t)op->a);
	case DW_OP_call_frame_cfa:
		return push_cfa(run);
	case DW_OP_entry_value:
		if (!run->point->entry)
			return cannot(run, "only what the function was given is known of it: probe its entry");
		return push_register(run, op->a, 0);
	case DW_OP_form_tls_address:
	case DW_OP_GNU_push_tls_address:
		return cannot(run, "each thread has its own: probes cannot fetch that");
	case DW_OP_deref:
	case DW_OP_deref_size:
	case DW_OP_dup:
	case DW_OP_plus_uconst:
	case DW_OP_plus:
	case DW_OP_minus:
	case DW_OP_and:
		return run_on_stack(run, op);
	case DW_OP_piece:
		return cannot(run, "it is in several pieces");
	default:
		return cannot(run, "its value is computed" DEBUG_UNREADABLE);
	}
}

/* Operations that say by themselves what the thing is, and end the expression. */
static bool is_whole(const struct debug_op *op, int n, uint64_t size)
{
	return n == 1 || (n == 2 && op[1].code == DW_OP_piece && size && op[1].a >= size);
}

static int run_ops(struct run *run, const struct debug_op *ops, int n, struct debug_where *where)
{
	int r = 0;

	*where = (struct debug_where){ .in_memory = true };
	if (is_whole(ops, n, run->size)) {
		uint64_t reg = ops->code == DW_OP_regx ? ops->a : (uint64_t)ops->code - DW_OP_reg0;

		if (ops->code == DW_OP_regx || (ops->code >= DW_OP_reg0 && ops->code <= DW_OP_reg31)) {
			where->in_memory = false;
			r = push_register(run, reg, 0);
			where->sum = run->stack[0];
			return r;
		}
		if (ops->code == DW_OP_implicit_value) {
			where->in_memory = false;
			where->sum = (struct debug_sum){ .base = DEBUG_NUMBER, .add = { (int64_t)ops->a } };
			return 0;
		}
		if (ops->code == DW_OP_implicit_pointer) {
			*where = (struct debug_where){ .pointed = true, .target = ops->die, .offset = (int64_t)ops->b };
			return 0;
		}
	}
	for (int i = 0; !r && i < n; i++) {
		if (ops[i].code == DW_OP_stack_value && run->n) {
			where->in_memory = false;
			if (is_whole(ops + i, n - i, run->size))
				break;
		}
		if (ops[i].code == DW_OP_piece && i && is_whole(ops + i - 1, n - i + 1, run->size))
			break;
		r = run_op(run, &ops[i]);
	}
	if (!r && !run->n)
		r = cannot(run, "its location is damaged");
	if (!r)
		where->sum = run->stack[run->n - 1];
	return r;
}

/* Each piece is told by operations of its own; one that was optimised away by none. */
static int run_pieces(struct run *run, const struct debug_op *ops, int n, struct debug_where *where)
{
	uint64_t at = 0;

	*where = (struct debug_where){ 0 };
	for (int i = 0, from = 0; i < n; i++) {
		struct debug_piece *piece = &where->pieces[where->npieces];
		struct debug_where part;

		if (ops[i].code != DW_OP_piece)
			continue;
		if (where->npieces == DEBUG_PIECES_MAX || ops[i].a > UINT32_MAX)
			return cannot(run, "it is in too many pieces");
		*piece = (struct debug_piece){ .at = at, .size = ops[i].a };
		if (i > from) {
			struct run own = { .debug = run->debug, .point = run->point, .size = ops[i].a };

			piece->known = !run_ops(&own, ops + from, i - from, &part) && !part.pointed;
			piece->in_memory = part.in_memory;
			piece->sum = part.sum;
		}
		where->npieces++;
		at += ops[i].a;
		from = i + 1;
	}
	return 0;
}

/* One piece that is all of it is none. */
static bool is_in_pieces(const struct debug_op *ops, int n, uint64_t size)
{
	int pieces = 0;

	for (int i = 0; i < n; i++)
		pieces += ops[i].code == DW_OP_piece;
	return pieces && !(pieces == 1 && ops[n - 1].code == DW_OP_piece && size && ops[n - 1].a >= size);
}

static uint64_t size_of(struct debug *debug, const struct debug_die *variable)
{
	struct debug_die type;
	uint64_t size;

	return debug_type_peel(debug, variable, &type) && debug_type_size(debug, &type, &size) ? size : 0;
}

int debug_where_at(struct debug *debug, const struct debug_point *point, const struct debug_die *variable,
		   struct debug_where *where, struct err *err)
{
	struct run run = { .debug = debug, .point = point, .err = err, .size = size_of(debug, variable) };
	struct debug_op ops[DEBUG_OPS_MAX];
	int64_t number;
	bool listed;
	int n = debug_dw_location(debug->dw, variable, DW_AT_location, point->address, ops, &listed);

	if (n < 0)
		return cannot(&run, "its location is told in a way that no probe can follow");
	if (n)
		return is_in_pieces(ops, n, run.size) ? run_pieces(&run, ops, n, where) : run_ops(&run, ops, n, where);
	if (!debug_dw_number(variable, DW_AT_const_value, &number))
		return err_set(err, -ENODATA,
			       "it has no value here: it is not set yet, or not needed any more, or was optimised away");
	*where = (struct debug_where){ .sum = { .base = DEBUG_NUMBER, .add = { number } } };
	return 0;
}

bool debug_where_is_sum(const struct debug_where *where)
{
	const struct debug_sum *sum = &where->sum;

	return !where->npieces && !where->pointed && !where->in_memory && sum->add[sum->nloads] &&
	       (sum->nloads || sum->base != DEBUG_NUMBER);
}

bool debug_where_needs_frame(struct debug *debug, const struct debug_point *point, const struct debug_die *variable)
{
	struct debug_op ops[DEBUG_OPS_MAX];
	bool listed;
	int n = debug_dw_location(debug->dw, variable, DW_AT_location, point->address, ops, &listed);

	/* Above the frame are parameters that the caller put there. */
	return n == 1 && !listed && ops[0].code == DW_OP_fbreg;
}
