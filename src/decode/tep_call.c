/*
 * decode/tep_call: the functions of print formats that libtraceevent knows; see tep.h. One line in
 * the table for each. Any other name makes the format unreadable.
 */
#include "decode/tep.h"

#include <string.h>

struct call {
	const char *name;
	bool (*parse)(struct tep_compiler *c, struct tep_node *n);
	uint8_t kind;
};

static bool text_is(struct text text, const char *name)
{
	return strlen(name) == text.len && !memcmp(name, text.p, text.len);
}

/* An argument and the operators behind it, as a new node. */
static uint32_t whole(struct tep_compiler *c)
{
	uint32_t at = tep_node_new(c);

	if (!at || !tep_parse_arg(c, at))
		return 0;
	while (tep_is_op(c->lex.word))
		if (!tep_parse_op(c, at))
			return 0;
	return at;
}

/* The same; constants in it are worked out. */
static uint32_t whole_folded(struct tep_compiler *c)
{
	uint32_t at = tep_node_new(c);

	if (!at || !tep_parse_arg(c, at))
		return 0;
	if (tep_is_op(c->lex.word)) {
		if (!tep_parse_op(c, at))
			return 0;
		tep_fold(c, at);
	}
	return at;
}

static bool is_item(const struct tep_compiler *c)
{
	return c->lex.word == LEX_NAME || c->lex.word == LEX_NUM;
}

/* The argument that names a field; NULL when there is none of that name. */
static bool field_name(struct tep_compiler *c, struct tep_node *n)
{
	const struct decode_format *f = c->format;
	struct text name = { c->lex.at, (uint32_t)c->lex.len };

	if (!is_item(c))
		return tep_fail(c);
	decode_lex_next(&c->lex);
	for (uint32_t i = 0; i < f->nr_fields && !n->field; i++)
		if (text_is(name, f->fields[i].name))
			n->field = &f->fields[i];
	return true;
}

static bool known_field(struct tep_compiler *c, struct tep_node *n)
{
	return field_name(c, n) && (n->field || tep_fail(c));
}

/* The bytes of a dynamic array; an index behind it is more than libtraceevent can read. */
static bool dynamic(struct tep_compiler *c, struct tep_node *n)
{
	struct lex ahead = c->lex;

	if (!known_field(c, n))
		return false;
	ahead = c->lex;
	decode_lex_next(&ahead);
	return c->lex.word != ')' || ahead.word != '[' || tep_fail(c);
}

/* Softirqs and what timers return: the names that old kernels left in their formats. */
static const struct {
	const char *name;
	int64_t value;
} known[] = {
	{ "HI_SOFTIRQ", 0 },		{ "TIMER_SOFTIRQ", 1 },
	{ "NET_TX_SOFTIRQ", 2 },	{ "NET_RX_SOFTIRQ", 3 },
	{ "BLOCK_SOFTIRQ", 4 },		{ "IRQ_POLL_SOFTIRQ", 5 },
	{ "TASKLET_SOFTIRQ", 6 },	{ "SCHED_SOFTIRQ", 7 },
	{ "HRTIMER_SOFTIRQ", 8 },	{ "RCU_SOFTIRQ", 9 },
	{ "HRTIMER_NORESTART", 0 },	{ "HRTIMER_RESTART", 1 },
};

/* The value of an entry: a text that begins with a digit is a number, few names are known. */
static int64_t entry_value(struct tep_compiler *c, uint32_t at)
{
	const struct tep_node *n = &c->prog->nodes[at];

	if (n->text.len && n->text.p[0] >= '0' && n->text.p[0] <= '9')
		return (int64_t)n->num;
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (text_is(n->text, known[i].name))
			return known[i].value;
	return -1;
}

static bool constant_op(int op)
{
	static const int ops[] = {
		'|', '&', '<', '>', '-', '+', '~', LEX_TWO('|', '|'), LEX_TWO('&', '&'),
		LEX_TWO('<', '<'), LEX_TWO('>', '>'), LEX_TWO('<', '='), LEX_TWO('>', '='),
		LEX_TWO('=', '='), LEX_TWO('!', '='),
	};

	for (size_t i = 0; i < sizeof(ops) / sizeof(ops[0]); i++)
		if (ops[i] == op)
			return true;
	return false;
}

static bool is_constant(const struct tep_compiler *c, uint32_t at)
{
	const struct tep_node *n = &c->prog->nodes[at];

	switch (n->kind) {
	case TEP_NONE:
	case TEP_ATOM:
		return true;
	case TEP_CAST:
		return is_constant(c, n->a);
	case TEP_OP:
		return constant_op(n->op) && is_constant(c, n->a) && is_constant(c, n->b);
	}
	return false;
}

/*
 * One side of an entry: a constant. An operation gives its result, where a negative one is as good
 * as a name that is not known; a cast around a constant says nothing.
 */
static bool entry_side(struct tep_compiler *c, uint32_t at, int64_t *value, struct text *text)
{
	struct frame f = { .format = c->format };
	const struct tep_node *n;

	while (c->prog->nodes[at].kind == TEP_CAST)
		at = c->prog->nodes[at].a;
	n = &c->prog->nodes[at];
	f.tep = c->prog;
	if (!is_constant(c, at) || n->kind == TEP_NONE)
		return tep_fail(c);
	*text = n->text;
	if (n->kind == TEP_ATOM) {
		*value = entry_value(c, at);
		return true;
	}
	*value = (int64_t)tep_number(&f, at);
	if (*value < 0)
		*value = -1;
	return true;
}

/* "{ value, "name" }" with commas between; the current word is the first brace. */
static bool entries(struct tep_compiler *c, struct tep_node *n)
{
	struct tep_name name = { 0 };
	struct text unused;
	int64_t ignored;
	uint32_t at;

	n->list = c->prog->nr_names;
	while (c->lex.word == '{') {
		decode_lex_next(&c->lex);
		at = tep_node_new(c);
		if (!at || !tep_parse_arg(c, at) ||
		    (tep_is_op(c->lex.word) && !tep_parse_op(c, at)) ||
		    !entry_side(c, at, &name.value, &unused) || !tep_expect(c, ','))
			return tep_fail(c);
		if (!tep_parse_arg(c, at) || c->lex.word != '}' ||
		    !entry_side(c, at, &ignored, &name.text) || !tep_name_add(c, name))
			return tep_fail(c);
		decode_lex_next(&c->lex);
		if (c->lex.word != ',')
			break;
		decode_lex_next(&c->lex);
	}
	n->nr_list = c->prog->nr_names - n->list;
	for (uint32_t i = 0; i < n->nr_list; i++)
		n->negative |= c->prog->names[n->list + i].value < 0;
	return true;
}

static bool symbolic(struct tep_compiler *c, struct tep_node *n)
{
	n->a = whole(c);
	return n->a && tep_expect(c, ',') && entries(c, n);
}

static bool flags(struct tep_compiler *c, struct tep_node *n)
{
	uint32_t between;

	n->a = whole(c);
	if (!n->a || !tep_expect(c, ','))
		return false;
	between = tep_node_new(c);
	if (!between || !tep_parse_arg(c, between))
		return false;
	if (c->prog->nodes[between].kind == TEP_ATOM)
		n->text = c->prog->nodes[between].text;
	return tep_expect(c, ',') && entries(c, n);
}

static bool hex(struct tep_compiler *c, struct tep_node *n)
{
	n->a = whole_folded(c);
	if (!n->a || !tep_expect(c, ','))
		return false;
	n->b = whole_folded(c);
	return n->b;
}

static bool array(struct tep_compiler *c, struct tep_node *n)
{
	if (!hex(c, n) || !tep_expect(c, ','))
		return false;
	n->c = whole_folded(c);
	return n->c;
}

/* __builtin_expect(x, y) is x. */
static bool expect(struct tep_compiler *c, struct tep_node *n)
{
	uint32_t at = tep_node_new(c), other = tep_node_new(c);

	if (!at || !other || !tep_parse_arg(c, at) || !tep_expect(c, ',') ||
	    !tep_parse_arg(c, other))
		return false;
	*n = c->prog->nodes[at];
	return true;
}

/* The bytes of int, long and long long, and of fields that are no arrays. */
static uint32_t size_of(struct tep_compiler *c)
{
	struct text type = { c->lex.at, (uint32_t)c->lex.len };
	uint32_t at = tep_node_new(c);
	const struct tep_node *n;

	if (!at || !is_item(c) || !tep_parse_arg(c, at))
		return 0;
	n = &c->prog->nodes[at];
	if (text_is(type, "REC"))
		return n->kind == TEP_FIELD && n->field && !n->field->is_array ? n->field->size : 0;
	if (n->kind != TEP_ATOM)
		return 0;
	type = n->text;
	if (text_is(type, "int") || text_is(type, "unsigned") || text_is(type, "unsigned int"))
		return 4;
	if (text_is(type, "long") || text_is(type, "unsigned long"))
		return c->format->abi.long_size;
	return text_is(type, "long long") || text_is(type, "unsigned long long") ? 8 : 0;
}

static bool sizeof_call(struct tep_compiler *c, struct tep_node *n)
{
	uint32_t size = size_of(c);
	char text[8] = { (char)('0' + size % 10) };
	struct text digits = { text, 1 };

	if (!size || size > 9)
		return tep_fail(c);
	*n = (struct tep_node){ .kind = TEP_ATOM, .num = size,
				.text = tep_join(c, digits, "", (struct text){ "", 0 }) };
	return !c->failed;
}

static const struct call calls[] = {
	{ "__print_flags", flags, TEP_FLAGS },
	{ "__print_symbolic", symbolic, TEP_SYMBOLIC },
	{ "__print_hex", hex, TEP_HEX },
	{ "__print_hex_str", hex, TEP_HEX_STR },
	{ "__print_array", array, TEP_ARRAY },
	{ "__get_str", field_name, TEP_STRING },
	{ "__get_rel_str", field_name, TEP_STRING },
	{ "__get_bitmask", field_name, TEP_BITMASK },
	{ "__get_rel_bitmask", field_name, TEP_BITMASK },
	{ "__get_cpumask", field_name, TEP_CPUMASK },
	{ "__get_rel_cpumask", field_name, TEP_CPUMASK },
	{ "__get_dynamic_array", dynamic, TEP_DYNAMIC },
	{ "__get_rel_dynamic_array", dynamic, TEP_DYNAMIC },
	{ "__get_sockaddr", dynamic, TEP_DYNAMIC },
	{ "__get_sockaddr_rel", dynamic, TEP_DYNAMIC },
	{ "__get_dynamic_array_len", known_field, TEP_LEN },
	{ "__get_rel_dynamic_array_len", known_field, TEP_LEN },
	{ "__builtin_expect", expect, 0 },
	{ "sizeof", sizeof_call, 0 },
};

/* A chain of arguments, as many as the function has. */
static uint32_t arguments(struct tep_compiler *c, unsigned int nr)
{
	uint32_t at = tep_node_new(c), value, rest = 0;
	struct tep_node n = { .kind = TEP_ARGUMENT };

	if (!at || !(value = whole(c)))
		return 0;
	if (nr > 1 && (!tep_expect(c, ',') || !(rest = arguments(c, nr - 1))))
		return 0;
	n.a = value;
	n.b = rest;
	n.depth = (uint8_t)(c->prog->nodes[value].depth + 1);
	if (rest && c->prog->nodes[rest].depth >= n.depth)
		n.depth = (uint8_t)(c->prog->nodes[rest].depth + 1);
	c->prog->nodes[at] = n;
	return n.depth < TEP_DEPTH_MAX || tep_fail(c) ? at : 0;
}

static bool plugin_call(struct tep_compiler *c, struct tep_node *n, struct text name)
{
	n->func = tep_func_find(name);
	if (!n->func)
		return tep_fail(c);
	n->kind = TEP_FUNC;
	c->prog->calls = true;
	n->a = arguments(c, n->func->nr_args);
	return n->a;
}

bool tep_parse_call(struct tep_compiler *c, uint32_t at, struct text name)
{
	struct tep_node n = { 0 };
	bool ok = false, found = false;

	if (!tep_expect(c, '('))
		return false;
	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]) && !found; i++) {
		if (!text_is(name, calls[i].name))
			continue;
		found = true;
		n.kind = calls[i].kind;
		ok = calls[i].parse(c, &n);
	}
	if (!found)
		ok = plugin_call(c, &n, name);
	if (!ok || !tep_expect(c, ')'))
		return tep_fail(c);
	n.depth = 1;
	for (int i = 0; i < 3; i++) {
		uint32_t part = i == 0 ? n.a : i == 1 ? n.b : n.c;

		if (part && c->prog->nodes[part].depth >= n.depth)
			n.depth = (uint8_t)(c->prog->nodes[part].depth + 1);
	}
	c->prog->nodes[at] = n;
	return n.depth <= TEP_DEPTH_MAX || tep_fail(c);
}
