/*
 * trigger/hist_expr: one expression of a histogram: fields with modifiers, literals, $variables, + - * / and -( ).
 *
 * The text is split at its root operator from the right, so that what stands left is done first; two literals become one.
 */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "trigger/hist.h"

#define SUBEXPRS_MAX 3

static struct spec_term *new_term(struct hist_read *read, enum spec_what what, const char *name)
{
	struct spec_term *term = read_alloc(read->mem, sizeof(*term));

	if (!term)
		return NULL;
	term->what = what;
	term->form = HOOK_NUMBER;
	term->size = 8;
	term->width = 8;
	term->type = "u64";
	if (!read_copy_name(term->name, name))
		return NULL;
	return term;
}

bool hist_is_usecs(const struct spec_term *term)
{
	while (term->what == SPEC_MATH || term->what == SPEC_NEG)
		term = term->a;
	return term->how == SPEC_USECS;
}

/* ---- Fields ---- */

static bool is_text(const struct decode_field *field)
{
	return field->is_array && field->elem_size == 1 && (field->is_string || strstr(field->type, "char"));
}

/* What the kernel calls the type: bounds of an array belong to it. */
static const char *type_name(struct read_mem *mem, const struct decode_field *field)
{
	char bounds[24] = "";
	size_t len = strlen(field->type);
	char *type = read_alloc(mem, len + sizeof(bounds));

	if (!type)
		return NULL;
	if (field->is_array && field->place == DECODE_INLINE)
		snprintf(bounds, sizeof(bounds), "[%u]", field->count);
	else if (field->is_array && field->place == DECODE_TAIL)
		snprintf(bounds, sizeof(bounds), "[]");
	snprintf(type, len + sizeof(bounds), "%s%s", field->type, bounds);
	return type;
}

/* As much of a text as there is room for in keys and variables. */
static void set_text(struct spec_term *term, uint32_t size)
{
	term->form = HOOK_TEXT;
	term->size = size && size < TABLE_TEXT_MAX ? (uint16_t)size : TABLE_TEXT_MAX;
	term->width = term->size;
	term->is_signed = 0;
}

static void set_stack(struct spec_term *term)
{
	term->form = HOOK_STACK;
	term->size = 8 * (TABLE_STACK_MAX + 1);
	term->width = term->size;
	term->is_signed = 0;
}

static bool set_value(struct spec_term *term, const struct decode_field *field, const struct decode_abi *abi)
{
	bool own_size = field->place != DECODE_INLINE;

	if (is_text(field)) {
		set_text(term, own_size ? 0 : field->size);
		return true;
	}
	if (field->is_array && own_size && field->elem_size == abi->long_size) {
		set_stack(term);
		return true;
	}
	if (field->is_array || (field->size != 1 && field->size != 2 && field->size != 4 && field->size != 8))
		return false;
	term->form = field->kind == DECODE_FLOAT ? HOOK_REAL : HOOK_NUMBER;
	term->width = (uint16_t)field->size;
	term->is_signed = field->is_signed;
	return true;
}

struct spec_term *hist_field_term(struct read_mem *mem, const struct decode_format *format, const char *name, int *code)
{
	const struct decode_field *field = decode_format_find(format, name);
	struct spec_term *term;

	*code = -EINVAL;
	if (!field || strlen(name) >= SPEC_NAME_MAX)
		return NULL;
	*code = -ENOMEM;
	term = read_alloc(mem, sizeof(*term));
	if (!term)
		return NULL;
	term->what = SPEC_FIELD;
	term->size = 8;
	term->type = type_name(mem, field);
	read_copy_name(term->name, name);
	return term->type && set_value(term, field, &format->abi) ? term : NULL;
}

/* Names of every event. */
static struct spec_term *special_term(struct hist_read *read, const char *name, bool old_names)
{
	struct spec_term *term;

	if (!strcmp(name, "common_timestamp"))
		return new_term(read, SPEC_TIMESTAMP, name);
	if (!strcmp(name, "hitcount"))
		return new_term(read, SPEC_HITCOUNT, name);
	if (!strcmp(name, "common_cpu") || (old_names && (!strcmp(name, "cpu") || !strcmp(name, "CPU")))) {
		term = new_term(read, SPEC_CPU, name);
		if (term) {
			term->width = 4;
			term->type = "unsigned int";
		}
		return term;
	}
	if (!strcmp(name, "common_stacktrace") ||
	    (old_names && (!strcmp(name, "stacktrace") || !strcmp(name, "STACKTRACE")))) {
		term = new_term(read, SPEC_STACK, "common_stacktrace");
		if (term) {
			set_stack(term);
			term->type = "unsigned long[]";
		}
		return term;
	}
	if (!strcmp(name, "common_comm")) {
		term = new_term(read, SPEC_COMM, name);
		if (term) {
			set_text(term, 16);
			term->type = "char[]";
		}
		return term;
	}
	return NULL;
}

static bool is_special(const char *name)
{
	static const char *const names[] = { "common_timestamp", "hitcount", "common_cpu", "common_stacktrace", "common_comm" };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (!strcmp(name, names[i]))
			return true;
	}
	return false;
}

/* Its own fields come before `cpu` and `stacktrace`, which every event has. */
static int field_or_special(struct hist_read *read, const char *name, struct spec_term **out)
{
	int code = -EINVAL;

	*out = NULL;
	if (is_special(name))
		*out = special_term(read, name, false);
	else if (read->format)
		*out = hist_field_term(read->mem, read->format, name, &code);
	if (!*out && code == -EINVAL && !is_special(name))
		*out = special_term(read, name, true);
	if (!*out && !read->format && !read->mem->failed && read_is_name(name))
		*out = new_term(read, SPEC_FIELD, name);
	if (*out)
		return 0;
	if (read->mem->failed)
		return -ENOMEM;
	if (code == -ENOMEM)
		return read_refuse_silently(read->error, code, "field %.80s is nothing that can be counted", name);
	return read_refuse(read->error, -EINVAL, "Couldn't find field", name);
}

/* ---- Modifiers ---- */

static const struct {
	const char *name;
	enum spec_how how;
	bool prefix, value_only;
} modifiers[] = {
	{ "hex", SPEC_HEX, false, false },
	{ "sym", SPEC_SYM, false, false },
	{ "symXoffset", SPEC_SYM_OFFSET, false, false },
	{ "syscall", SPEC_SYSCALL, false, false },
	{ "stacktrace", SPEC_STACKTRACE, false, false },
	{ "log2", SPEC_LOG2, false, false },
	{ "usecs", SPEC_USECS, false, false },
	{ "percent", SPEC_PERCENT, true, true },
	{ "graph", SPEC_GRAPH, true, true },
	{ "quantiles", SPEC_QUANTILES, false, true },
	{ "string", SPEC_STRING, false, false },
};

/* .bucket=N and .buckets=N. What is wrong with it begins at *modifier. */
static bool read_buckets(char **modifier, uint64_t *number)
{
	*modifier += strlen("bucket");
	if (**modifier == 's')
		++*modifier;
	if (**modifier != '=')
		return false;
	++*modifier;
	return !read_number(*modifier, number) && *number && *number <= INT64_MAX;
}

static int read_modifier(struct hist_read *read, const char *name, char *modifier, unsigned int as, enum spec_how *how,
			 uint64_t *number)
{
	*how = SPEC_PLAIN;
	if (!modifier)
		return 0;
	if (!strcmp(modifier, "execname") && !strcmp(name, "common_pid")) {
		*how = SPEC_EXECNAME;
		return 0;
	}
	if (!strncmp(modifier, "bucket", strlen("bucket"))) {
		*how = SPEC_BUCKETS;
		if (read_buckets(&modifier, number))
			return 0;
	}
	for (size_t i = 0; i < sizeof(modifiers) / sizeof(modifiers[0]); i++) {
		size_t len = strlen(modifiers[i].name) + !modifiers[i].prefix;

		if (strncmp(modifier, modifiers[i].name, len) || (modifiers[i].value_only && as))
			continue;
		*how = modifiers[i].how;
		return 0;
	}
	return read_refuse(read->error, -EINVAL, "Invalid field modifier", modifier);
}

static int read_field(struct hist_read *read, const char *text, unsigned int as, const struct spec_term **out)
{
	char *copy = read_dup(read->mem, text, strlen(text));
	char *modifier = copy ? strchr(copy, '.') : NULL;
	struct spec_term *term;
	enum spec_how how;
	uint64_t number = 0;
	int ret;

	if (!copy)
		return -ENOMEM;
	if (modifier)
		*modifier++ = '\0';
	ret = read_modifier(read, copy, modifier, as, &how, &number);
	if (!ret)
		ret = field_or_special(read, copy, &term);
	if (ret)
		return ret;
	if (how == SPEC_STACKTRACE) {
		if (!read->format && term->what == SPEC_FIELD)
			set_stack(term);
		if (term->what != SPEC_FIELD || term->form != HOOK_STACK)
			return read_refuse(read->error, -EINVAL, "Invalid field modifier", text);
	}
	if (how == SPEC_STRING) {
		if (term->what != SPEC_FIELD || (term->form != HOOK_TEXT && term->form != HOOK_NUMBER))
			return read_refuse(read->error, -EINVAL, "Invalid field modifier", text);
		/* Of one size, whatever the field turns out to be. */
		set_text(term, 0);
		term->type = "char[]";
	}
	if (term->what == SPEC_TIMESTAMP)
		read->hist->uses_time = true;
	/* A stack is one with and without its modifier, and whatever other it has. */
	if (term->form == HOOK_STACK)
		how = term->what == SPEC_FIELD ? SPEC_STACKTRACE : SPEC_PLAIN;
	term->how = how;
	if (term->how == SPEC_BUCKETS)
		term->number = number;
	*out = term;
	return 0;
}

/* ---- Atoms ---- */

static int read_literal(struct hist_read *read, const char *text, const struct spec_term **out)
{
	struct spec_term *term = new_term(read, SPEC_NUMBER, "");

	if (!term)
		return -ENOMEM;
	if (read_number(text, &term->number))
		return read_refuse(read->error, -EINVAL, "Expecting numeric literal", text);
	*out = term;
	return 0;
}

static bool is_ref(const char *text)
{
	return text[0] == '$' && text[1];
}

static bool has_operator(const char *text)
{
	return strpbrk(text, "+-*/") != NULL;
}

/* The number of a variable of this line that may be referred to; -1: there is none. */
static int own_number(const struct hist_read *read, const char *name)
{
	return read->own_refs ? hist_own_var(read, name) : -1;
}

/* Numbers that were worked out count, since they are shown as one number. */
static bool is_number(const struct hist_read *read, const char *var)
{
	int number = own_number(read, var);

	return number >= 0 && read->hist->vars[number].value->what == SPEC_NUMBER;
}

static const struct hist_def *find_def(const struct hist_read *read, const char *name)
{
	for (uint32_t i = 0; i < read->ndefs; i++) {
		if (!strcmp(read->defs[i].name, name))
			return &read->defs[i];
	}
	return NULL;
}

/*
 * A variable of this line that is nothing but a field, or but such a variable, stands for that field. So does a number, and
 * no field is called that.
 */
static const char *own_field(const struct hist_read *read, const char *system, const char *event, const char *ref)
{
	const struct hist_def *def;

	if (system && (strcmp(system, read->system) || strcmp(event, read->event)))
		return NULL;
	/* Two that mean each other mean nothing. */
	for (uint32_t i = 0; is_ref(ref) && i < read->ndefs; i++) {
		def = find_def(read, ref + 1);
		if (!def)
			return NULL;
		ref = def->expr;
		if (is_number(read, def->name))
			return ref;
		/* A number that stands behind may have been worked out, and another's variable meant. */
		if (has_operator(ref) || isdigit((unsigned char)ref[0]))
			return NULL;
		if (!is_ref(ref))
			return ref;
	}
	return NULL;
}

/* A variable of this line that stands before; the kernel would take the first field of its expression for it. */
static const struct spec_term *own_ref(struct hist_read *read, const char *system, const char *event, const char *name)
{
	int number = own_number(read, name);

	if (number < 0 || (system && (strcmp(system, read->system) || strcmp(event, read->event))))
		return NULL;
	return hist_refer_own(read, (uint32_t)number);
}

/* A variable by its whole name: this line's own, or else another's. */
static const struct spec_term *find_ref(struct hist_read *read, const char *system, const char *event, const char *name)
{
	const struct spec_term *term = own_ref(read, system, event, name);
	struct hist_owner owner;

	if (!term && hist_find_var(read, system, event, name, &owner))
		term = hist_refer(read, &owner, system != NULL);
	return term;
}

/*
 * sys.event.$name or $name. Listings show the first as $sys.event.name, and microseconds with their modifier behind the
 * name: both are understood, since what is shown is written again to remove it.
 */
static bool read_ref(struct hist_read *read, char *system, char *event, char *ref, const struct spec_term **out)
{
	char *dot;

	if (!is_ref(ref) && system && system[0] == '$')
		system++;
	else if (is_ref(ref))
		ref++;
	else
		return false;
	*out = find_ref(read, system, event, ref);
	dot = strchr(ref, '.');
	if (!*out && dot && !strcmp(dot, ".usecs")) {
		*dot = '\0';
		*out = find_ref(read, system, event, ref);
		if (*out && !hist_is_usecs(*out))
			*out = NULL;
		*dot = '.';
	}
	return *out != NULL;
}

/* Listings tell microseconds of an operand twice. */
static void cut_second_usecs(char *text)
{
	size_t len = strlen(text), twice = strlen(".usecs.usecs");

	if (len > twice && !strcmp(text + len - twice, ".usecs.usecs"))
		text[len - strlen(".usecs")] = '\0';
}

int hist_read_atom(struct hist_read *read, char *text, unsigned int as, const struct spec_term **out)
{
	char *system = NULL, *event = NULL, *dot;
	const char *field;

	cut_second_usecs(text);
	if (isdigit((unsigned char)text[0]))
		return read_literal(read, text, out);
	dot = strchr(text, '.');
	if (dot && strchr(dot + 1, '.')) {
		system = strsep(&text, ".");
		event = strsep(&text, ".");
	}
	field = own_field(read, system, event, text);
	if (field)
		return read_field(read, field, as, out);
	if (read_ref(read, system, event, text, out))
		return 0;
	if (read->mem->failed)
		return -ENOMEM;
	if (is_ref(text))
		read_refuse(read->error, -EINVAL, "Couldn't find variable", text + 1);
	/* The kernel forgets what stands before the points; a variable that is not there is no field of its name. */
	if (system && system[0] == '$')
		return read_refuse(read->error, -EINVAL, "Couldn't find variable", text);
	return read_field(read, text, as, out);
}

/* ---- Operators ---- */

/* The operator that is done last; '-' with *at == text is the sign of all. */
static char root_operator(char *text, char **at)
{
	char *minus = strrchr(text, '-'), *plus = strrchr(text, '+');
	char *over = strrchr(text, '/'), *times = strrchr(text, '*');

	if (minus == text && minus)
		*at = minus;
	else if (minus || plus)
		*at = !minus || (plus && plus > minus) ? plus : minus;
	else
		*at = !over || (times && times > over) ? times : over;
	return *at ? **at : '\0';
}

static int read_part(struct hist_read *read, char *text, unsigned int as, uint32_t *subexprs, const struct spec_term **out);

/* -( ... ), of which only the brackets' presence is asked for. */
static int read_neg(struct hist_read *read, char *text, uint32_t *subexprs, const struct spec_term **out)
{
	const struct spec_term *a;
	struct spec_term *term;
	char *end;
	int ret;

	if (++*subexprs > SUBEXPRS_MAX)
		return read_refuse(read->error, -EINVAL, "Too many subexpressions (3 max)", text);
	if (!strchr(++text, '('))
		return read_refuse_silently(read->error, -EINVAL, "a minus sign needs brackets: -(...)");
	text++;
	end = strrchr(text, ')');
	if (!end)
		return read_refuse_silently(read->error, -EINVAL, "no closing bracket behind -(");
	if (end[1] && strcmp(end, ").usecs"))
		return read_refuse(read->error, -EINVAL, "Unary minus not supported in sub-expressions", text);
	*end = '\0';
	ret = read_part(read, text, 0, subexprs, &a);
	if (ret)
		return ret;
	if (a->form == HOOK_TEXT || a->form == HOOK_STACK)
		return read_refuse(read->error, -EINVAL, "String type can not be an operand in expression", text);
	term = new_term(read, SPEC_NEG, "");
	if (!term)
		return -ENOMEM;
	term->a = a;
	term->form = a->form;
	term->is_signed = a->is_signed;
	term->width = a->width;
	term->type = a->type;
	*out = term;
	return 0;
}

static uint64_t fold(char op, uint64_t a, uint64_t b)
{
	switch (op) {
	case '+':
		return a + b;
	case '-':
		return a - b;
	case '*':
		return a * b;
	default:
		return a / b;
	}
}

/* The literal that a term is, or that the variable it means is set to. */
static bool literal_of(const struct hist_read *read, const struct spec_term *term, uint64_t *number)
{
	const char *system, *event;
	const struct spec_hist *hist;

	if (term->what == SPEC_VAR && term->is_own)
		term = read->hist->vars[term->var_number].value;
	for (uint32_t i = 0; term->what == SPEC_VAR; i++) {
		hist = read->world->hist ? read->world->hist(read->world->arg, i, &system, &event) : NULL;
		if (!hist)
			return false;
		if (hist->serial == term->var_serial && term->var_number < hist->nvars) {
			term = hist->vars[term->var_number].value;
			break;
		}
	}
	*number = term->number;
	return term->what == SPEC_NUMBER;
}

static int join(struct hist_read *read, char op, const struct spec_term *a, const struct spec_term *b, const char *right,
		const struct spec_term **out)
{
	uint64_t left_number, right_number;
	bool left_known = literal_of(read, a, &left_number), right_known = literal_of(read, b, &right_number);
	struct spec_term *term;

	if (hist_is_usecs(a) != hist_is_usecs(b))
		return read_refuse(read->error, -EINVAL, "Timestamp units in expression don't match", NULL);
	if (op == '/' && right_known && !right_number)
		return read_refuse(read->error, -EDOM, "Division by zero", right);
	term = new_term(read, left_known && right_known ? SPEC_NUMBER : SPEC_MATH, "");
	if (!term)
		return -ENOMEM;
	*out = term;
	if (term->what == SPEC_NUMBER) {
		term->number = fold(op, left_number, right_number);
		return 0;
	}
	term->op = (uint8_t)op;
	term->a = a;
	term->b = b;
	term->form = b->form == HOOK_REAL ? HOOK_REAL : a->form;
	term->is_signed = a->is_signed;
	term->width = a->width;
	term->type = a->type;
	return 0;
}

static int read_operand(struct hist_read *read, char *text, uint32_t *subexprs, const struct spec_term **out)
{
	int ret = read_part(read, text, 0, subexprs, out);

	if (!ret && ((*out)->form == HOOK_TEXT || (*out)->form == HOOK_STACK))
		ret = read_refuse(read->error, -EINVAL, "String type can not be an operand in expression", text);
	return ret;
}

static int read_part(struct hist_read *read, char *text, unsigned int as, uint32_t *subexprs, const struct spec_term **out)
{
	const struct spec_term *a, *b;
	char *at, op;
	int ret;

	if (*subexprs > SUBEXPRS_MAX)
		return read_refuse(read->error, -EINVAL, "Too many subexpressions (3 max)", text);
	op = root_operator(text, &at);
	if (!op)
		return hist_read_atom(read, text, as, out);
	if (at == text && op == '-')
		return read_neg(read, text, subexprs, out);
	++*subexprs;
	*at++ = '\0';
	if (!*text || !*at)
		return read_refuse_silently(read->error, -EINVAL, "an operator lacks something on one side");
	ret = read_operand(read, text, subexprs, &a);
	if (!ret)
		ret = read_operand(read, at, subexprs, &b);
	return ret ? ret : join(read, op, a, b, at, out);
}

void hist_change_dash(char *text, char from, char to)
{
	while ((text = strstr(text, ".sym")) != NULL) {
		text += strlen(".sym");
		if (*text == from && !strncmp(text + 1, "offset", strlen("offset")))
			*text = to;
	}
}

int hist_read_expr(struct hist_read *read, char *text, unsigned int as, const struct spec_term **out)
{
	uint32_t subexprs = 0;

	return read_part(read, text, as, &subexprs, out);
}
