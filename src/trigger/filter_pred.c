/*
 * trigger/filter_pred: one comparison of a filter; see filter.h. Pure.
 *
 *   comparison = FIELD [ '.ustring' ] [ '.function' ] OP value    value = number | 'text' | "text" | CPUS{list} | FIELD
 *   OP = == != < <= > >= & ~
 *
 * Beyond the kernel: numbers with a point, and a field on the right. What is looked at, and in which order, is the kernel's:
 * where it gives up is where its caret is.
 */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trigger/filter.h"
#include "trigger/read.h"

#define TWO(a, b) ((a) << 8 | (b))
/* The kernel's longest number and text, NUL included. */
#define NUMBER_MAX 24u
#define TEXT_MAX 256u

/* What the language takes a field for. */
enum kind {
	KIND_NUMBER,		/* 1, 2, 4 or 8 bytes */
	KIND_REAL,
	KIND_TEXT,
	KIND_POINTER,		/* char *: the text that it points at */
	KIND_MASK,
	KIND_COMM,
	KIND_CPU,
	KIND_STACK,
	KIND_OTHER,		/* nothing can be said of it */
	KIND_UNKNOWN,		/* believed: what it is compared with tells */
};

struct field {
	char name[SPEC_NAME_MAX];
	enum kind kind;
	bool is_signed;
	bool is_long;		/* of the size of an address */
};

/* One comparison while it is read. */
struct pred {
	struct filter_reader *reader;
	const char *text;	/* where it begins */
	size_t pos;		/* of that in the whole filter, and one */
	size_t i;		/* what was scanned */
	struct field field;
	bool is_ustring, is_function;
	uint16_t op;
};

/* People are shown the comparison that it is about. */
static int refuse_for(const struct pred *p, int code, const char *message, size_t pos, const char *words)
{
	struct spec_error *error = p->reader->error;
	size_t len = 0;

	read_refuse_at(error, code, message, pos);
	while (p->text[len] && (!len || (strncmp(p->text + len, "&&", 2) && strncmp(p->text + len, "||", 2))))
		len++;
	while (len && read_is_blank(p->text[len - 1]))
		len--;
	snprintf(error->text, sizeof(error->text), "%s: %.*s", words, (int)(len > 80 ? 80 : len), p->text);
	return code;
}

static int refuse(const struct pred *p, const char *message)
{
	return refuse_for(p, -EINVAL, message, p->pos + p->i, message);
}

static void skip_blanks(struct pred *p)
{
	while (read_is_blank(p->text[p->i]))
		p->i++;
}

static size_t name_len(const char *text)
{
	size_t n = 0;

	while (isalnum((unsigned char)text[n]) || text[n] == '_')
		n++;
	return n;
}

/* ---- Fields ---- */

static enum kind kind_of(const struct decode_field *f)
{
	bool is_word = f->size == 1 || f->size == 2 || f->size == 4 || f->size == 8;

	if (strstr(f->type, "cpumask_t"))
		return KIND_MASK;
	if (f->is_string)
		return KIND_TEXT;
	if (f->is_array || f->place != DECODE_INLINE)
		return KIND_OTHER;
	if (!strcmp(f->type, "char *") || !strcmp(f->type, "const char *"))
		return KIND_POINTER;
	if (f->kind == DECODE_FLOAT)
		return KIND_REAL;
	return is_word ? KIND_NUMBER : KIND_OTHER;
}

/* What every event has, unless it has a field of that name itself. */
static bool find_generic(struct field *field)
{
	static const struct {
		const char *name;
		enum kind kind;
	} generic[] = {
		{ "CPU", KIND_CPU }, { "cpu", KIND_CPU }, { "common_cpu", KIND_CPU }, { "COMM", KIND_COMM },
		{ "comm", KIND_COMM }, { "stacktrace", KIND_STACK }, { "STACKTRACE", KIND_STACK },
	};

	for (size_t i = 0; i < sizeof(generic) / sizeof(generic[0]); i++) {
		if (strcmp(generic[i].name, field->name))
			continue;
		field->kind = generic[i].kind;
		field->is_signed = field->kind == KIND_CPU;
		return true;
	}
	return false;
}

/* An event that nobody has brought yet has these at least. */
static bool find_common(struct field *field)
{
	if (strcmp(field->name, "common_type") && strcmp(field->name, "common_flags") &&
	    strcmp(field->name, "common_preempt_count") && strcmp(field->name, "common_pid"))
		return false;
	field->kind = KIND_NUMBER;
	field->is_signed = !strcmp(field->name, "common_pid");
	return true;
}

/* Of a program of 32 bits it is half as large. */
static bool is_address(const struct decode_field *field, const struct decode_abi *abi)
{
	if (field->place != DECODE_INLINE || field->is_array)
		return false;
	return field->size == abi->long_size || (field->size == 4 && (strstr(field->type, "long") || strchr(field->type, '*')));
}

static bool find_field(const struct filter_reader *reader, const char *name, size_t len, struct field *out)
{
	const struct decode_field *f;

	memset(out, 0, sizeof(*out));
	if (len >= sizeof(out->name))
		return false;
	memcpy(out->name, name, len);
	f = reader->format ? decode_format_find(reader->format, out->name) : NULL;
	if (f) {
		out->kind = kind_of(f);
		out->is_signed = f->is_signed;
		out->is_long = is_address(f, &reader->format->abi);
		return true;
	}
	if (find_generic(out) || find_common(out))
		return true;
	out->kind = KIND_UNKNOWN;
	out->is_signed = out->is_long = true;
	return reader->world && reader->world->anything;
}

static bool is_text(enum kind kind)
{
	return kind == KIND_TEXT || kind == KIND_POINTER || kind == KIND_COMM;
}

/* The field as a value of the program. */
static uint32_t build_text(const struct pred *p, const struct field *field)
{
	struct program_build *build = p->reader->build;

	switch (field->kind) {
	case KIND_COMM:
		return program_build_moment(build, PROGRAM_COMM);
	case KIND_POINTER:
		return program_build_peek_text(build, program_build_field(build, field->name, PROGRAM_INT), 0);
	default:
		return program_build_field(build, field->name, PROGRAM_TEXT);
	}
}

static uint32_t build_number(const struct pred *p, const struct field *field)
{
	if (field->kind == KIND_CPU)
		return program_build_moment(p->reader->build, PROGRAM_CPU);
	return program_build_field(p->reader->build, field->name, field->kind == KIND_REAL ? PROGRAM_REAL : PROGRAM_INT);
}

/* ---- Values ---- */

/* Addresses of a function, by its name or by one of them. */
static int read_function(struct pred *p, uint32_t *truth)
{
	const struct spec_world *world = p->reader->world;
	struct program_build *build = p->reader->build;
	bool is_number = false;
	char name[TEXT_MAX];
	uint64_t start, end, num;
	uint32_t address;
	size_t from = p->i;

	if (!p->field.is_long)
		return refuse(p, "Illegal operation for field type");
	if (p->op != TWO('=', '=') && p->op != TWO('!', '='))
		return refuse(p, "Invalid operator");
	is_number = isdigit((unsigned char)p->text[p->i]);
	while (p->text[p->i] && (is_number ? isalnum((unsigned char)p->text[p->i]) : !read_is_blank(p->text[p->i])))
		p->i++;
	if (p->i - from >= (is_number ? NUMBER_MAX : sizeof(name)))
		return refuse(p, is_number ? "Operand too long" : "Function not found");
	memcpy(name, p->text + from, p->i - from);
	name[p->i - from] = '\0';
	if (is_number && read_number(name, &num))
		return refuse(p, "Invalid value (did you forget quotes)?");
	if (!name[0] || !world || !world->function || !world->function(world->arg, name, &start, &end))
		return refuse(p, "Function not found");
	address = program_build_symbol(build, program_build_field(build, p->field.name, PROGRAM_INT));
	*truth = program_build_range(build, address, start, end);
	if (p->op == TWO('!', '='))
		*truth = program_build_not(build, *truth);
	return 0;
}

static int read_cpus(struct pred *p, uint32_t *truth)
{
	struct program_build *build = p->reader->build;
	uint64_t words[FILTER_CPU_WORDS];
	uint32_t value;
	size_t from;

	if (p->field.kind == KIND_STACK || p->field.kind == KIND_REAL || is_text(p->field.kind) ||
	    (p->op != TWO('=', '=') && p->op != TWO('!', '=') && p->op != '&'))
		return refuse(p, "Illegal operation for field type");
	p->i += 4;
	if (p->text[p->i++] != '{')
		return refuse(p, "Missing '{'");
	from = p->i;
	while (p->text[p->i] && p->text[p->i] != '}')
		p->i++;
	if (!p->text[p->i])
		return refuse(p, "Missing '}'");
	if (p->i == from || !filter_read_cpus(p->text + from, p->i - from, words))
		return refuse(p, "Invalid cpulist");
	p->i++;
	if (p->field.kind == KIND_OTHER) {
		*truth = program_build_known(build, false);
		return 0;
	}
	value = p->field.kind == KIND_MASK ? program_build_field(build, p->field.name, PROGRAM_MASK)
					   : build_number(p, &p->field);
	*truth = program_build_cpus(build, p->op, value, words, FILTER_CPU_WORDS);
	return 0;
}

/* x*, *x and *x* need no more than to look there; what begins with a digit is never more than itself. */
static uint32_t build_glob(struct program_build *build, uint32_t value, const char *pattern, size_t len)
{
	bool is_not = len && pattern[0] == '!', at_end;
	const char *star;
	uint32_t truth;

	pattern += is_not;
	len -= is_not;
	at_end = len && pattern[0] == '*';
	star = len > at_end ? memchr(pattern + at_end, '*', len - at_end) : NULL;
	if (len && isdigit((unsigned char)pattern[0]))
		truth = program_build_match(build, value, PROGRAM_FULL, pattern, len);
	else if ((star && star != pattern + len - 1) || memchr(pattern, '?', len) || memchr(pattern, '[', len) ||
		 memchr(pattern, '\\', len))
		truth = program_build_match(build, value, PROGRAM_GLOB, pattern, len);
	else if (star)
		truth = program_build_match(build, value, at_end ? PROGRAM_MIDDLE : PROGRAM_FRONT, pattern + at_end,
					    len - at_end - 1);
	else
		truth = program_build_match(build, value, at_end ? PROGRAM_END : PROGRAM_FULL, pattern + at_end, len - at_end);
	return is_not ? program_build_not(build, truth) : truth;
}

static int read_text(struct pred *p, uint32_t *truth)
{
	struct program_build *build = p->reader->build;
	const char *text = p->text + p->i + 1;
	char quote = p->text[p->i];
	struct field field = p->field;
	uint32_t value;
	size_t len;

	if (p->op != TWO('=', '=') && p->op != TWO('!', '=') && p->op != '~')
		return refuse(p, "Illegal operation for field type");
	if (field.kind == KIND_UNKNOWN)
		field.kind = p->is_ustring ? KIND_POINTER : KIND_TEXT;
	if (!is_text(field.kind))
		return refuse(p, "Expecting numeric field");
	len = strcspn(text, quote == '"' ? "\"" : "'");
	p->i += 1 + len;
	if (!p->text[p->i])
		return refuse(p, "Missing matching quote");
	if (len >= TEXT_MAX)
		return refuse(p, "Operand too long");
	p->i++;
	value = build_text(p, &field);
	*truth = p->op == '~' ? build_glob(build, value, text, len)
			      : program_build_compare(build, p->op, 0, value, program_build_literal(build, text, len));
	return 0;
}

/* A whole number as the kernel reads it: a sign only where the field has one. */
static bool read_whole(const char *text, bool is_signed, uint64_t *out)
{
	bool is_negative = text[0] == '-';

	if ((is_negative && !is_signed) || read_number(text + is_negative, out))
		return false;
	if (is_signed && *out > (uint64_t)INT64_MAX + is_negative)
		return false;
	if (is_negative)
		*out = -*out;
	return true;
}

/* Behind the digits: a point or an exponent, which make the number a real one. */
static size_t real_len(const char *text)
{
	size_t n = text[0] == '-';

	if (text[n] == '0' && (text[n + 1] | 0x20) == 'x')
		return 0;
	n += strspn(text + n, "0123456789");
	if (text[n] != '.' || !isdigit((unsigned char)text[n + 1]))
		return 0;
	n++;
	n += strspn(text + n, "0123456789");
	if ((text[n] | 0x20) == 'e') {
		size_t sign = text[n + 1] == '-' || text[n + 1] == '+';

		if (isdigit((unsigned char)text[n + 1 + sign]))
			n += 1 + sign + strspn(text + n + 1 + sign, "0123456789");
	}
	return n;
}

/* What can never be compared with a number compares as false. */
static uint32_t build_compare(const struct pred *p, uint32_t constant)
{
	struct program_build *build = p->reader->build;

	if (p->field.kind == KIND_STACK || p->field.kind == KIND_MASK || p->field.kind == KIND_OTHER ||
	    (p->field.kind == KIND_CPU && p->op == '&'))
		return program_build_known(build, false);
	return program_build_compare(build, p->op, PROGRAM_WRAP, build_number(p, &p->field), constant);
}

static int read_real(struct pred *p, size_t len, uint32_t *truth)
{
	char digits[64];

	if (p->op == '&')
		return refuse(p, "Illegal operation for field type");
	p->i += len;
	if (len >= sizeof(digits))
		return refuse(p, "Operand too long");
	memcpy(digits, p->text + p->i - len, len);
	digits[len] = '\0';
	*truth = build_compare(p, program_build_real(p->reader->build, strtod(digits, NULL)));
	return 0;
}

static int read_constant(struct pred *p, uint32_t *truth)
{
	size_t from = p->i, len = real_len(p->text + p->i);
	bool is_signed = p->field.is_signed || p->field.kind == KIND_REAL;
	char digits[NUMBER_MAX];
	uint64_t num;

	if (is_text(p->field.kind))
		return refuse(p, "Expecting string field");
	if (p->op == '~' || (p->op == '&' && p->field.kind == KIND_REAL))
		return refuse(p, "Illegal operation for field type");
	if (len)
		return read_real(p, len, truth);
	p->i += p->text[p->i] == '-';
	while (isalnum((unsigned char)p->text[p->i]))
		p->i++;
	len = p->i - from;
	if (len >= sizeof(digits))
		return refuse(p, "Operand too long");
	memcpy(digits, p->text + from, len);
	digits[len] = '\0';
	/* Of a field that is still to come nobody knows whether it has a sign. */
	if (!read_whole(digits, p->field.kind == KIND_UNKNOWN ? digits[0] == '-' : is_signed, &num)) {
		p->i = from;
		return refuse(p, "Illegal integer value");
	}
	*truth = build_compare(p, program_build_num(p->reader->build, num));
	return 0;
}

/* A field on the right: of the same kind, text or number. */
static int read_field(struct pred *p, uint32_t *truth)
{
	struct program_build *build = p->reader->build;
	size_t len = name_len(p->text + p->i);
	struct field right;
	bool text;

	/* The kernel's own tests insist that the common fields are compared with values alone. */
	if (!len || !strncmp(p->field.name, "common_", 7) || !find_field(p->reader, p->text + p->i, len, &right) ||
	    right.kind == KIND_UNKNOWN)
		return refuse(p, "Invalid value (did you forget quotes)?");
	text = is_text(right.kind);
	if (p->field.kind == KIND_UNKNOWN)
		p->field.kind = text ? KIND_TEXT : KIND_NUMBER;
	if (text != is_text(p->field.kind))
		return refuse(p, text ? "Expecting numeric field" : "Expecting string field");
	if (right.kind == KIND_STACK || right.kind == KIND_MASK || right.kind == KIND_OTHER || p->field.kind == KIND_STACK ||
	    p->field.kind == KIND_MASK || p->field.kind == KIND_OTHER || p->op == '~' ||
	    (text && p->op != TWO('=', '=') && p->op != TWO('!', '=')) ||
	    (p->op == '&' && (right.kind == KIND_REAL || p->field.kind == KIND_REAL)))
		return refuse(p, "Illegal operation for field type");
	p->i += len;
	if (text)
		*truth = program_build_compare(build, p->op, 0, build_text(p, &p->field), build_text(p, &right));
	else
		*truth = program_build_compare(build, p->op, 0, build_number(p, &p->field), build_number(p, &right));
	return 0;
}

/* ---- All of it ---- */

static bool take(struct pred *p, const char *word)
{
	size_t len = strlen(word);

	if (strncmp(p->text + p->i, word, len))
		return false;
	p->i += len;
	return true;
}

static bool read_operator(struct pred *p)
{
	static const char *const two[] = { "==", "!=", "<=", ">=" };
	char c;

	for (size_t k = 0; k < sizeof(two) / sizeof(two[0]); k++) {
		if (take(p, two[k])) {
			p->op = (uint16_t)TWO(two[k][0], two[k][1]);
			return true;
		}
	}
	c = p->text[p->i];
	if (c != '<' && c != '>' && c != '&' && c != '~')
		return false;
	p->op = (uint8_t)c;
	p->i++;
	return true;
}

static int read_value(struct pred *p, uint32_t *truth)
{
	char c = p->text[p->i];

	if (p->is_function)
		return read_function(p, truth);
	if (!strncmp(p->text + p->i, "CPUS", 4))
		return read_cpus(p, truth);
	if (c == '\'' || c == '"')
		return read_text(p, truth);
	if (isdigit((unsigned char)c) || c == '-')
		return read_constant(p, truth);
	return read_field(p, truth);
}

int filter_read_pred(struct filter_reader *reader, size_t at, uint32_t *truth)
{
	struct pred p = { .reader = reader, .text = reader->text + at, .pos = at + 1 };
	size_t len = name_len(p.text);
	int ret;

	/* The kernel knows that something is wrong, but not what. */
	if (!len)
		return refuse_for(&p, -EPERM, "Error", 0, "a field is expected");
	p.i = len;
	if (!find_field(reader, p.text, len, &p.field))
		return refuse(&p, "Field not found");
	p.is_ustring = take(&p, ".ustring");
	p.is_function = take(&p, ".function");
	skip_blanks(&p);
	if (!read_operator(&p))
		return refuse(&p, "Invalid operator");
	skip_blanks(&p);
	ret = read_value(&p, truth);
	return ret ? ret : (int)p.i;
}
