/*
 * decode/call: the functions that print formats call. One line in the table for each; a name that
 * is not there cannot be read, and the event prints as raw fields.
 */
#include <string.h>

#include "decode/compile.h"

struct func {
	const char *name;
	uint32_t (*compile)(struct compiler *c, uint8_t op);
	uint8_t op;
};

static bool comma(struct compiler *c)
{
	return prog_expect(c, ',', "expected ,");
}

/* The argument that names a field. */
static const struct decode_field *field_name(struct compiler *c)
{
	const struct decode_format *f = c->format;

	for (uint32_t i = 0; i < f->nr_fields; i++) {
		if (!prog_word_is(c, f->fields[i].name))
			continue;
		decode_lex_next(&c->lex);
		return &f->fields[i];
	}
	prog_fail(c, "no such field");
	return NULL;
}

static uint32_t bytes_of_field(struct compiler *c)
{
	const struct decode_field *f = field_name(c);

	return f ? prog_field(c, f) : 0;
}

/* __get_str(f) and its like: the bytes themselves. */
static uint32_t get_bytes(struct compiler *c, uint8_t op)
{
	(void)op;
	return bytes_of_field(c);
}

static uint32_t get_len(struct compiler *c, uint8_t op)
{
	const struct decode_field *f = field_name(c);

	if (!f)
		return 0;
	return prog_node(c, (struct node){ .op = op, .type = prog_int, .field = f });
}

static uint32_t get_bitmask(struct compiler *c, uint8_t op)
{
	uint32_t a = bytes_of_field(c);

	if (!a || c->prog->nodes[a].type.kind != DECODE_POINTER)
		return prog_fail(c, "a bitmask that is no array");
	return prog_node(c, (struct node){ .op = op, .type = prog_chars, .a = a });
}

/*
 * "{ value, "name" }", any number of them with commas between. Names of constants that the text
 * leaves unresolved have no value here; such an entry is dropped, and what it would have matched
 * prints as a number.
 */
static void entry(struct compiler *c)
{
	struct name name = { 0 };
	uint32_t value, text, before = c->prog->nr_nodes;

	if (!prog_expect(c, '{', "expected {") || c->lex.word == '}')
		return;
	c->lenient = true;
	value = prog_expr(c);
	if (value && comma(c)) {
		text = prog_expr(c);
		/* A list may be closed by an entry without a name, (void *)0 in place of it. */
		if (c->prog->nodes[value].op == OP_NUM && c->prog->nodes[text].op == OP_STRING) {
			name.value = c->prog->nodes[value].num;
			name.text = c->prog->nodes[text].text;
			prog_name(c, name);
		} else if (c->prog->nodes[text].op == OP_STRING) {
			c->prog->nr_dropped++;
		} else if (c->prog->nodes[text].op != OP_NUM) {
			prog_fail(c, "expected a string");
		}
	}
	c->lenient = false;
	c->prog->nr_nodes = before;
}

static void entries(struct compiler *c)
{
	while (!c->ret && c->lex.word == '{') {
		entry(c);
		if (!prog_expect(c, '}', "expected }") || c->lex.word != ',')
			return;
		decode_lex_next(&c->lex);
	}
}

static uint32_t print_names(struct compiler *c, uint8_t op)
{
	struct node n = { .op = op, .type = prog_chars, .a = prog_expr(c) };

	if (!comma(c))
		return 0;
	if (op == OP_FLAGS) {
		if (c->lex.word == LEX_STRING)
			prog_string(c, &n.text);
		else if (prog_word_is(c, "NULL"))
			decode_lex_next(&c->lex);
		else
			return prog_fail(c, "expected a string between flags");
		if (c->lex.word == ',')
			decode_lex_next(&c->lex);
	}
	n.list = c->prog->nr_names;
	entries(c);
	n.nr_list = c->prog->nr_names - n.list;
	return c->ret ? 0 : prog_node(c, n);
}

static uint32_t pointer_argument(struct compiler *c)
{
	uint32_t a = prog_expr(c);

	if (a && !prog_is_memory(c, a))
		return prog_fail(c, "expected an array of the record");
	return a;
}

static uint32_t print_hex(struct compiler *c, uint8_t op)
{
	struct node n = { .op = op, .type = prog_chars, .a = pointer_argument(c) };

	if (!comma(c))
		return 0;
	n.b = prog_expr(c);
	return n.b ? prog_node(c, n) : 0;
}

static uint32_t print_array(struct compiler *c, uint8_t op)
{
	struct node n = { .op = op, .type = prog_chars, .a = pointer_argument(c) };

	if (!comma(c))
		return 0;
	n.b = prog_expr(c);
	if (!comma(c))
		return 0;
	n.c = prog_expr(c);
	return n.c ? prog_node(c, n) : 0;
}

/* Whole seconds of a count of nanoseconds, and what is left of them. */
static uint32_t print_ns(struct compiler *c, uint8_t op)
{
	static const struct decode_type u64 = { .kind = DECODE_INT, .size = 8 };
	uint32_t a = prog_cast(c, prog_expr(c), u64);

	return prog_binary(c, op, a, prog_node(c, (struct node){ .op = OP_NUM, .type = u64,
								       .num = 1000000000 }));
}

static uint32_t expect(struct compiler *c, uint8_t op)
{
	uint32_t a = prog_expr(c);

	(void)op;
	if (!comma(c))
		return 0;
	return prog_expr(c) ? a : 0;
}

static const struct func funcs[] = {
	{ "__get_str", get_bytes, 0 },
	{ "__get_rel_str", get_bytes, 0 },
	{ "__get_dynamic_array", get_bytes, 0 },
	{ "__get_rel_dynamic_array", get_bytes, 0 },
	{ "__get_sockaddr", get_bytes, 0 },
	{ "__get_rel_sockaddr", get_bytes, 0 },
	{ "__get_dynamic_array_len", get_len, OP_LEN },
	{ "__get_rel_dynamic_array_len", get_len, OP_LEN },
	{ "__get_bitmask", get_bitmask, OP_BITMASK },
	{ "__get_rel_bitmask", get_bitmask, OP_BITMASK },
	{ "__get_cpumask", get_bitmask, OP_BITMASK },
	{ "__get_rel_cpumask", get_bitmask, OP_BITMASK },
	{ "__print_flags", print_names, OP_FLAGS },
	{ "__print_flags_u64", print_names, OP_FLAGS },
	{ "__print_symbolic", print_names, OP_SYMBOLIC },
	{ "__print_symbolic_u64", print_names, OP_SYMBOLIC },
	{ "__print_hex", print_hex, OP_HEX },
	{ "__print_hex_str", print_hex, OP_HEX_STR },
	{ "__print_array", print_array, OP_ARRAY },
	{ "__print_ns_to_secs", print_ns, OP_DIV },
	{ "__print_ns_without_secs", print_ns, OP_MOD },
	{ "__builtin_expect", expect, 0 },
};

/* sizeof(type), sizeof(expression), sizeof expression. */
static uint32_t size_of(struct compiler *c)
{
	struct decode_type type = { 0 };
	uint32_t a, size;

	decode_lex_next(&c->lex);
	if (c->lex.word != '(' || !prog_type_in_parens(c, &type)) {
		a = prog_expr(c);
		if (!a)
			return 0;
		size = c->prog->nodes[a].op == OP_RANGE ? c->prog->nodes[a].range.size :
							  c->prog->nodes[a].type.size;
	} else {
		size = type.size;
	}
	if (!size)
		return prog_fail(c, "the size of an unknown type");
	return prog_node(c, (struct node){
		.op = OP_NUM, .num = size,
		.type = { .kind = DECODE_INT, .size = c->format->abi.long_size } });
}

uint32_t prog_call(struct compiler *c)
{
	uint32_t n;

	if (prog_word_is(c, "sizeof"))
		return size_of(c);
	for (size_t i = 0; i < sizeof(funcs) / sizeof(funcs[0]); i++) {
		if (!prog_word_is(c, funcs[i].name))
			continue;
		decode_lex_next(&c->lex);
		if (!prog_expect(c, '(', "expected ("))
			return 0;
		n = funcs[i].compile(c, funcs[i].op);
		return prog_expect(c, ')', "expected )") ? n : 0;
	}
	if (!c->lenient)
		return prog_fail(c, "a name that is not known");
	decode_lex_next(&c->lex);
	if (c->lex.word == '(')
		return prog_fail(c, "a function that is not known");
	return prog_node(c, (struct node){ .op = OP_UNKNOWN, .type = prog_int });
}
