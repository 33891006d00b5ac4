/*
 * program/value: numbers and texts out of records; see program.h, code.h and run.c, whose head goes for this, too.
 */
#include <string.h>

#include "base/real.h"
#include "program/run.h"

/* Of 64 bits, with a sign. */
#define DIGITS_MAX 20u

/* One step into an operator; false: not this way. */
static inline bool descend(struct run *run)
{
	if (!run->steps || !run->depth)
		return false;
	run->steps--;
	run->depth--;
	return true;
}

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

static uint64_t math(struct run *run, uint32_t i, const struct code *c)
{
	uint64_t a = run_whole(run, i, CODE_GET(c->a)), b = run_whole(run, i, CODE_GET(c->b));
	bool is_unsigned = CODE_GET(c->flags) & CODE_UNSIGNED;
	uint8_t word = CODE_GET(c->word);

	switch (word) {
	case '+':
		return a + b;
	case '-':
		return a - b;
	case '*':
		return a * b;
	case '/':
	case '%':
		return divide(a, b, is_unsigned, word == '%');
	case '&':
		return a & b;
	case '|':
		return a | b;
	case '^':
		return a ^ b;
	default:
		return shift(a, b, is_unsigned, word == '>');
	}
}

/* The exponent of the power of two that is a or the next above it. */
static uint64_t log2_up(uint64_t a)
{
	return a > 1 ? 64u - (unsigned int)__builtin_clzll(a - 1) : 0;
}

static uint64_t bits(uint64_t a, uint32_t by, uint32_t width, bool is_signed)
{
	uint32_t spare;

	if (by > 63 || !width)
		return 0;
	if (width > 64 - by)
		width = 64 - by;
	spare = 64 - width;
	a = a >> by << spare;
	return shift(a, spare, !is_signed, true);
}

static uint64_t field_whole(struct run *run, const struct code *c)
{
	const struct program_input *in = run->in;
	const struct program_field *f = &in->fields[CODE_GET(c->field) % PROGRAM_FIELDS_MAX];
	uint64_t value;

	if (f->class == PROGRAM_INT && load_number(f, in, &value)) {
		run->is_unsigned |= f->size == 8 && !f->is_signed;
		return value;
	}
	/* A reader of files takes what is not there for 0. */
	if (f->class != PROGRAM_INT || !run->for_files)
		run->missing = true;
	return 0;
}

static uint64_t var_whole(struct run *run, const struct code *c)
{
	uint64_t number = CODE_GET(c->num);

	if (number < run->in->nvars && run->in->vars)
		return run->in->vars[number];
	run->missing = true;
	return 0;
}

static uint64_t peek_whole(struct run *run, uint32_t i, const struct code *c)
{
	uint64_t at = run_whole(run, i, CODE_GET(c->a)) + CODE_GET(c->num), value = 0;
	uint32_t size = CODE_GET(c->len);
	uint8_t bytes[8];

	if (!(size == 1 || size == 2 || size == 4 || size == 8) || run->missing || !run->in->peek ||
	    run->in->peek(bytes, at, size, false) != size) {
		run->missing = true;
		return 0;
	}
	value = load_bytes(bytes, size, false);
	return CODE_GET(c->flags) & CODE_UNSIGNED ? value : load_extend(value, size);
}

static int32_t record_pid(const struct program_input *in)
{
	return in->len >= 8 ? (int32_t)load_bytes((const uint8_t *)in->rec + 4, 4, in->swap) : 0;
}

static uint64_t made_whole(struct run *run, uint32_t i, const struct code *c)
{
	uint64_t a = run_whole(run, i, CODE_GET(c->a)), num = CODE_GET(c->num);

	switch (CODE_GET(c->op)) {
	case CODE_NEG:
		return -a;
	case CODE_INVERT:
		return ~a;
	case CODE_LOG2:
		return log2_up(a);
	case CODE_BUCKET:
		return num ? a - a % num : a;
	case CODE_SYMBOL:
		return run->in->symbol && !run->missing ? run->in->symbol(a) : a;
	case CODE_BITS:
		return bits(a, CODE_GET(c->by), CODE_GET(c->len), !(CODE_GET(c->flags) & CODE_UNSIGNED));
	}
	return 0;
}

/* As a cast does where that is defined. */
static uint64_t real_to_whole(double value)
{
	if (!(value > -9223372036854775808.0))
		return value != value ? 0 : (uint64_t)INT64_MIN;
	if (value < 9223372036854775808.0)
		return (uint64_t)(int64_t)value;
	return value < 18446744073709551616.0 ? (uint64_t)value : UINT64_MAX;
}

static bool is_real(const struct run *run, const struct code *c)
{
	switch (CODE_GET(c->op)) {
	case CODE_REAL:
	case CODE_REAL_NEG:
	case CODE_REAL_MATH:
		return true;
	case CODE_FIELD:
		return run->in->fields[CODE_GET(c->field) % PROGRAM_FIELDS_MAX].class == PROGRAM_REAL;
	case CODE_VAR:
		return CODE_GET(c->by) == PROGRAM_REAL;
	default:
		return false;
	}
}

/* What has operands. */
static __attribute__((noinline)) uint64_t whole_of_more(struct run *run, uint32_t i, const struct code *c)
{
	uint64_t value = 0;

	if (!descend(run)) {
		run->missing = true;
		return 0;
	}
	switch (CODE_GET(c->op)) {
	case CODE_MATH:
		value = math(run, i, c);
		break;
	case CODE_PEEK:
		value = peek_whole(run, i, c);
		break;
	case CODE_NEG:
	case CODE_INVERT:
	case CODE_LOG2:
	case CODE_BUCKET:
	case CODE_BITS:
	case CODE_SYMBOL:
		value = made_whole(run, i, c);
		break;
	default:
		run->missing = true;
	}
	run->depth++;
	return value;
}

static inline uint64_t whole_of(struct run *run, uint32_t i, const struct code *c)
{
	uint64_t num;

	switch (CODE_GET(c->op)) {
	case CODE_NUM:
		return CODE_GET(c->num);
	case CODE_FIELD:
		return field_whole(run, c);
	case CODE_VAR:
		return var_whole(run, c);
	case CODE_CPU:
		return (uint64_t)(int64_t)run->in->cpu;
	case CODE_PID:
		return (uint64_t)(int64_t)record_pid(run->in);
	case CODE_TIME:
		num = CODE_GET(c->num);
		return num > 1 ? run->in->ts / num : run->in->ts;
	default:
		return whole_of_more(run, i, c);
	}
}

uint64_t run_whole(struct run *run, uint32_t user, uint32_t i)
{
	if (i < user)
		return whole_of(run, i, code_at(run->program) + i);
	run->missing = true;
	return 0;
}

static double real_math(struct run *run, uint32_t i, const struct code *c)
{
	double a = run_real(run, i, CODE_GET(c->a)), b = run_real(run, i, CODE_GET(c->b));

	switch (CODE_GET(c->word)) {
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

static double real_leaf(struct run *run, const struct code *c)
{
	const struct program_input *in = run->in;
	double value;

	if (CODE_GET(c->op) == CODE_REAL)
		return real_by_bits(CODE_GET(c->num), 8);
	if (CODE_GET(c->op) == CODE_VAR)
		return real_by_bits(var_whole(run, c), 8);
	if (load_real(&in->fields[CODE_GET(c->field) % PROGRAM_FIELDS_MAX], in, &value))
		return value;
	if (!run->for_files)
		run->missing = true;
	return 0;
}

static double real_of(struct run *run, uint32_t i, const struct code *c)
{
	uint64_t num;
	bool before;
	double value;

	switch (CODE_GET(c->op)) {
	case CODE_REAL_NEG:
		return -run_real(run, i, CODE_GET(c->a));
	case CODE_REAL_MATH:
		return real_math(run, i, c);
	}
	if (is_real(run, c))
		return real_leaf(run, c);
	before = run->is_unsigned;
	run->is_unsigned = CODE_GET(c->flags) & CODE_UNSIGNED;
	num = whole_of(run, i, c);
	value = run->is_unsigned ? (double)num : (double)(int64_t)num;
	run->is_unsigned |= before;
	return value;
}

double run_real(struct run *run, uint32_t user, uint32_t i)
{
	double value;

	if (i >= user || !descend(run)) {
		run->missing = true;
		return 0;
	}
	value = real_of(run, i, code_at(run->program) + i);
	run->depth++;
	return value;
}

/* ---- Texts ---- */

static struct program_text text_until_nul(const char *at, uint32_t len)
{
	const char *nul = len ? memchr(at, '\0', len) : NULL;

	return (struct program_text){ at, nul ? (uint32_t)(nul - at) : len };
}

/* A number that is asked for as a text. */
static struct program_text digits(const struct program_field *f, const struct program_input *in, char *out, uint32_t out_size)
{
	uint64_t num;
	uint32_t n = DIGITS_MAX;
	bool negative;

	if (out_size < DIGITS_MAX || !load_number(f, in, &num))
		return (struct program_text){ NULL, 0 };
	negative = f->is_signed && (int64_t)num < 0;
	num = negative ? -num : num;
	do {
		out[--n] = (char)('0' + num % 10);
		num /= 10;
	} while (num);
	if (negative)
		out[--n] = '-';
	return (struct program_text){ out + n, DIGITS_MAX - n };
}

static struct program_text field_text(const struct run *run, const struct code *c, char *scratch, uint32_t scratch_size)
{
	const struct program_input *in = run->in;
	const struct program_field *f = &in->fields[CODE_GET(c->field) % PROGRAM_FIELDS_MAX];
	struct program_text text;

	if (f->class == PROGRAM_INT && !run->for_files)
		return digits(f, in, scratch, scratch_size);
	if (f->class != PROGRAM_TEXT && f->class != PROGRAM_MASK && f->class != PROGRAM_WORDS)
		return (struct program_text){ NULL, 0 };
	text = load_text(f, in);
	return text.at && f->class == PROGRAM_TEXT ? text_until_nul(text.at, text.len) : text;
}

const char *run_literal(const struct run *run, uint64_t at, uint32_t len)
{
	if (at > run->size || len > run->size - at)
		return NULL;
	return (const char *)run->program + at;
}

struct program_text run_comm(const struct program_input *in)
{
	const char *name = in->comm;

	if (!name && in->names && in->names->comm)
		name = in->names->comm(in->names->arg, record_pid(in));
	return (struct program_text){ name, name ? (uint32_t)strlen(name) : 0 };
}

static struct program_text hex(uint64_t num, char *out, uint32_t out_size)
{
	uint32_t n = RUN_HEX_MAX;

	if (out_size < RUN_HEX_MAX)
		return (struct program_text){ NULL, 0 };
	do {
		out[--n] = "0123456789abcdef"[num & 15];
		num >>= 4;
	} while (num);
	out[--n] = 'x';
	out[--n] = '0';
	return (struct program_text){ out + n, RUN_HEX_MAX - n };
}

static struct program_text name_of(struct run *run, uint32_t i, const struct code *c, char *scratch, uint32_t scratch_size)
{
	const struct program_names *names = run->in->names;
	uint64_t num = run_whole(run, i, CODE_GET(c->a));
	const char *name = NULL;

	if (!(CODE_GET(c->flags) & CODE_PLAIN) && names && names->symbol)
		name = names->symbol(names->arg, record_pid(run->in), num);
	return name ? (struct program_text){ name, (uint32_t)strlen(name) } : hex(num, scratch, scratch_size);
}

static struct program_text peek_text(struct run *run, uint32_t i, const struct code *c, char *scratch, uint32_t scratch_size)
{
	uint64_t at = run_whole(run, i, CODE_GET(c->a)) + CODE_GET(c->num);
	uint32_t len = 0;

	if (!run->missing && run->in->peek && scratch_size)
		len = run->in->peek(scratch, at, scratch_size, true);
	if (!len || len > scratch_size)
		return (struct program_text){ NULL, 0 };
	return text_until_nul(scratch, len);
}

struct program_text run_text(struct run *run, uint32_t user, uint32_t i, char *scratch, uint32_t scratch_size)
{
	const struct code *c = code_at(run->program) + i;
	struct program_text text = { NULL, 0 };
	uint64_t number;

	if (i >= user)
		return text;
	switch (CODE_GET(c->op)) {
	case CODE_TEXT:
		text.len = CODE_GET(c->len);
		text.at = run_literal(run, CODE_GET(c->num), text.len);
		break;
	case CODE_FIELD:
		text = field_text(run, c, scratch, scratch_size);
		break;
	case CODE_COMM:
		text = run_comm(run->in);
		break;
	case CODE_STACK:
		text = (struct program_text){ (const char *)run->in->stack, run->in->nstack * 8 };
		break;
	case CODE_VAR:
		number = CODE_GET(c->num);
		if (number < run->in->nvars && run->in->texts)
			text = run->in->texts[number];
		break;
	case CODE_PEEK_TEXT:
		text = peek_text(run, i, c, scratch, scratch_size);
		break;
	case CODE_NAME_OF:
		text = name_of(run, i, c, scratch, scratch_size);
		break;
	}
	return text;
}

/* ---- Roots ---- */

bool program_fetch(const void *program, size_t size, uint32_t root, const struct program_input *in, uint64_t *value)
{
	const struct code *c = code_at(program) + root;
	const struct program_field *f;
	struct run run;

	if (!run_is_code(root, size)) {
		*value = 0;
		return false;
	}
	/* Most are a field, and that is all. */
	if (CODE_GET(c->op) == CODE_FIELD) {
		f = &in->fields[CODE_GET(c->field) % PROGRAM_FIELDS_MAX];
		if (f->shape && !in->swap && load_number(f, in, value))
			return true;
	}
	run_open(&run, program, size, in);
	*value = is_real(&run, c) ? real_to_whole(real_of(&run, root, c)) : whole_of(&run, root, c);
	return !run.missing;
}

uint64_t program_number(const void *program, size_t size, uint32_t root, const struct program_input *in)
{
	uint64_t value;

	program_fetch(program, size, root, in, &value);
	return value;
}

double program_real(const void *program, size_t size, uint32_t root, const struct program_input *in)
{
	struct run run;

	if (!run_is_code(root, size))
		return 0;
	run_open(&run, program, size, in);
	return real_of(&run, root, code_at(program) + root);
}

struct program_text program_text(const void *program, size_t size, uint32_t root, const struct program_input *in,
				 char *scratch, uint32_t scratch_size)
{
	struct run run;

	if (!run_is_code(root, size))
		return (struct program_text){ NULL, 0 };
	run_open(&run, program, size, in);
	return run_text(&run, root + 1, root, scratch, scratch_size);
}
