/*
 * expr/eval: runs a program on a record; see program.h. Pure but for the context's callbacks: any
 * thread, any bytes. The stack is bounded by TREE_DEPTH_MAX, the time by the program's length and
 * the record's.
 */
#include <string.h>

#include "expr/lex.h"
#include "expr/program.h"

/* One record under one program. */
struct run {
	const struct program *program;
	const struct program_record *record;
};

/* "0x" and the digits of 64 bits. */
#define HEX_MAX 18

static uint64_t whole(const struct run *run, uint32_t i);

/* C's division but for what C leaves open: by nothing it gives nothing. */
static uint64_t divide(uint64_t a, uint64_t b, bool is_unsigned, bool rest)
{
	if (!b)
		return 0;
	if (is_unsigned)
		return rest ? a % b : a / b;
	/* The one case that overflows: the smallest number by -1. */
	if (b == UINT64_MAX)
		return rest ? 0 : -a;
	return rest ? (uint64_t)((int64_t)a % (int64_t)b) : (uint64_t)((int64_t)a / (int64_t)b);
}

/* All bits go when it is by 64 and more. */
static uint64_t shift(uint64_t a, uint64_t by, bool is_unsigned, bool right)
{
	bool is_negative = !is_unsigned && (int64_t)a < 0;

	if (by > 63)
		return right && is_negative ? UINT64_MAX : 0;
	if (!right)
		return a << by;
	return is_negative ? ~(~a >> by) : a >> by;
}

static uint64_t math(const struct run *run, const struct code *c)
{
	uint64_t a = whole(run, c->a), b = whole(run, c->b);

	switch (c->word) {
	case '+':
		return a + b;
	case '-':
		return a - b;
	case '*':
		return a * b;
	case '/':
	case '%':
		return divide(a, b, c->is_unsigned, c->word == '%');
	case '&':
		return a & b;
	case '|':
		return a | b;
	case '^':
		return a ^ b;
	default:
		return shift(a, b, c->is_unsigned, c->word == EXPR_TWO('>', '>'));
	}
}

static uint64_t whole(const struct run *run, uint32_t i)
{
	const struct code *c = &run->program->code[i];

	switch (c->op) {
	case CODE_NUM:
		return c->num;
	case CODE_FIELD:
		return decode_field_int(run->program->format, c->field, run->record->rec,
					run->record->len);
	case CODE_CPU:
		return (uint64_t)run->record->cpu;
	case CODE_TIME:
		return run->record->ts / c->num;
	case CODE_NEG:
		return -whole(run, c->a);
	case CODE_INVERT:
		return ~whole(run, c->a);
	default:
		return math(run, c);
	}
}

static double real(const struct run *run, uint32_t i);

static double real_math(const struct run *run, const struct code *c)
{
	double a = real(run, c->a), b = real(run, c->b);

	switch (c->word) {
	case '+':
		return a + b;
	case '-':
		return a - b;
	case '*':
		return a * b;
	default:
		return b != 0 ? a / b : 0;
	}
}

static double real(const struct run *run, uint32_t i)
{
	const struct code *c = &run->program->code[i];
	uint64_t num;

	switch (c->op) {
	case CODE_REAL:
		return c->real;
	case CODE_REAL_FIELD:
		return decode_field_double(run->program->format, c->field, run->record->rec,
					   run->record->len);
	case CODE_REAL_NEG:
		return -real(run, c->a);
	case CODE_REAL_MATH:
		return real_math(run, c);
	default:
		num = whole(run, i);
		return c->is_unsigned ? (double)num : (double)(int64_t)num;
	}
}

/* -1, 0 or 1 satisfies the operator. */
static bool holds(uint16_t word, int order)
{
	switch (word) {
	case EXPR_TWO('=', '='):
		return !order;
	case EXPR_TWO('!', '='):
		return order;
	case EXPR_TWO('<', '='):
		return order <= 0;
	case EXPR_TWO('>', '='):
		return order >= 0;
	case '<':
		return order < 0;
	default:
		return order > 0;
	}
}

static bool compare(const struct run *run, const struct code *c)
{
	uint64_t a = whole(run, c->a), b = whole(run, c->b);

	/* Moving the sign bit turns the order of signed numbers into that of unsigned ones. */
	if (!c->is_unsigned) {
		a ^= 1ull << 63;
		b ^= 1ull << 63;
	}
	return holds(c->word, (a > b) - (a < b));
}

static bool real_compare(const struct run *run, const struct code *c)
{
	double a = real(run, c->a), b = real(run, c->b);

	/* What is not a number differs from all, and nothing else can be said of it. */
	if (a != a || b != b)
		return c->word == EXPR_TWO('!', '=');
	return holds(c->word, (a > b) - (a < b));
}

static struct decode_bytes of_string(const char *text)
{
	return (struct decode_bytes){ (const uint8_t *)text, (uint32_t)strlen(text) };
}

static int pid_of(const struct run *run)
{
	const struct program_record *r = run->record;
	struct record_head head;

	return decode_record_head(&run->program->format->abi, r->rec, r->len, &head) ? head.pid : 0;
}

/* The name of the record's task, as reports show those that have none. */
static struct decode_bytes comm(const struct run *run)
{
	const struct decode_ctx *ctx = run->record->ctx;
	int pid = pid_of(run);
	const char *name = ctx && ctx->comm ? ctx->comm(ctx->arg, pid) : NULL;

	return of_string(name ? name : pid ? "<...>" : "<idle>");
}

static struct decode_bytes hex(uint64_t num, char *out)
{
	int n = HEX_MAX;

	do {
		out[--n] = "0123456789abcdef"[num & 15];
		num >>= 4;
	} while (num);
	out[--n] = 'x';
	out[--n] = '0';
	return (struct decode_bytes){ (const uint8_t *)out + n, (uint32_t)(HEX_MAX - n) };
}

/* An address has the name of its function; all other numbers are their digits. */
static struct decode_bytes name_of(const struct run *run, uint32_t i, char *scratch)
{
	const struct decode_ctx *ctx = run->record->ctx;
	uint64_t num = whole(run, i);
	struct decode_symbol symbol;

	if (!run->program->code[i].is_plain && ctx && ctx->symbol &&
	    ctx->symbol(ctx->arg, pid_of(run), num, &symbol))
		return of_string(symbol.name);
	return hex(num, scratch);
}

static struct decode_bytes text(const struct run *run, uint32_t i, char *scratch)
{
	const struct code *c = &run->program->code[i];

	switch (c->op) {
	case CODE_TEXT:
		return (struct decode_bytes){ (const uint8_t *)c->text.p, c->text.len };
	case CODE_ARRAY:
		return decode_bytes_text(decode_field_bytes(run->program->format, c->field,
							    run->record->rec, run->record->len));
	case CODE_COMM:
		return comm(run);
	default:
		return name_of(run, i, scratch);
	}
}

static bool text_compare(const struct run *run, const struct code *c)
{
	char scratch[2][HEX_MAX];
	struct decode_bytes a = text(run, c->a, scratch[0]), b = text(run, c->b, scratch[1]);
	bool same = a.len == b.len && (!a.len || !memcmp(a.data, b.data, a.len));

	return same == (c->word == EXPR_TWO('=', '='));
}

static bool match(const struct run *run, const struct code *c)
{
	char scratch[HEX_MAX];
	struct decode_bytes a = text(run, c->a, scratch);

	return expr_pattern_match(c->pattern, a.data, a.len) == (c->word != EXPR_TWO('!', '~'));
}

static bool test(const struct run *run, const struct code *c)
{
	switch (c->op) {
	case CODE_COMPARE:
		return compare(run, c);
	case CODE_TEXT_COMPARE:
		return text_compare(run, c);
	case CODE_MATCH:
		return match(run, c);
	case CODE_REAL_COMPARE:
		return real_compare(run, c);
	case CODE_REAL_NONZERO:
		return real(run, c->a) != 0;
	default:
		return whole(run, c->a) != 0;
	}
}

bool expr_run(const struct program *program, const struct program_record *record)
{
	struct run run = { program, record };
	uint32_t at = program->start;

	while (at < program->nr) {
		const struct code *c = &program->code[at];

		at = test(&run, c) ? c->yes : c->no;
	}
	return at == PROGRAM_PASS;
}
