/*
 * decode/tep_parse: the arguments of a print format as libtraceevent groups them; see tep.h.
 *
 * An argument is read without the operators behind it. An operator then takes the argument read so
 * far as its left side and the next one as its right side, and the operator that follows joins the
 * tree
 *
 *   at the top		if it ranks looser than the top,
 *   at the right side	if not: so operators of one rank group to the right.
 *
 * A right side that has an operator at its top is turned round when that one ranks looser: of
 * "a * (b + c)" comes (a * b) + c, since nothing remembers the parentheses. What a ternary or a
 * unary operator makes has rank 0, and every operator behind it takes it as a whole.
 */
#include "decode/tep.h"

#include <stdlib.h>
#include <string.h>

static const struct {
	int word;
	uint8_t rank;
} ranks[] = {
	{ '~', 4 },		{ '!', 4 },
	{ '*', 6 },		{ '/', 6 },		{ '%', 6 },
	{ '+', 7 },		{ '-', 7 },
	{ LEX_TWO('<', '<'), 8 },	{ LEX_TWO('>', '>'), 8 },
	{ '<', 9 },		{ '>', 9 },
	{ LEX_TWO('<', '='), 9 },	{ LEX_TWO('>', '='), 9 },
	{ LEX_TWO('=', '='), 10 },	{ LEX_TWO('!', '='), 10 },
	{ '&', 11 },		{ '^', 12 },		{ '|', 13 },
	{ LEX_TWO('&', '&'), 14 },	{ LEX_TWO('|', '|'), 15 },
	{ '?', 16 },
};

static uint8_t rank(int word)
{
	for (size_t i = 0; i < sizeof(ranks) / sizeof(ranks[0]); i++)
		if (ranks[i].word == word)
			return ranks[i].rank;
	return 0;
}

/* Everything that is no word, string, parenthesis or comma. */
bool tep_is_op(int word)
{
	return word > LEX_BAD && word != '(' && word != ')' && word != ',';
}

static bool is_item(const struct tep_compiler *c)
{
	return c->lex.word == LEX_NAME ||
	       ((c->lex.word == LEX_NUM || c->lex.word == LEX_DOUBLE) && *c->lex.at != '\'');
}

static bool is_open(const struct tep_compiler *c)
{
	return is_item(c) || c->lex.word == '(';
}

static struct tep_node *node(struct tep_compiler *c, uint32_t at)
{
	return &c->prog->nodes[at];
}

static uint8_t depth_of(struct tep_compiler *c, uint32_t at)
{
	return at ? node(c, at)->depth : 0;
}

/* To be called after a node got its parts. */
static bool set_depth(struct tep_compiler *c, uint32_t at)
{
	struct tep_node *n = node(c, at);
	uint8_t a = depth_of(c, n->a), b = depth_of(c, n->b), third = depth_of(c, n->c);
	uint8_t most = a > b ? a : b;

	most = third > most ? third : most;
	n->depth = (uint8_t)(most + 1);
	return n->depth <= TEP_DEPTH_MAX || tep_fail(c);
}

/* The number that a text begins with, as strtoull reads it. */
static uint64_t leading_number(struct text text)
{
	char copy[32];
	size_t n = text.len < sizeof(copy) - 1 ? text.len : sizeof(copy) - 1;

	if (n)
		memcpy(copy, text.p, n);
	copy[n] = '\0';
	return strtoull(copy, NULL, 0);
}

void tep_set_atom(struct tep_compiler *c, uint32_t at, struct text text)
{
	*node(c, at) = (struct tep_node){ .kind = TEP_ATOM, .text = text, .depth = 1,
					  .num = leading_number(text) };
}

static struct text word_text(const struct tep_compiler *c)
{
	return (struct text){ c->lex.at, (uint32_t)c->lex.len };
}

/* Of a quoted word, what is between the quotes, escapes and all. */
static struct text quoted_text(const struct tep_compiler *c)
{
	return (struct text){ c->lex.at + 1, (uint32_t)(c->lex.len - 2) };
}

static bool quoted(struct tep_compiler *c, uint32_t at)
{
	struct text text = quoted_text(c);
	bool is_string = c->lex.word == LEX_STRING;

	decode_lex_next(&c->lex);
	for (; is_string && c->lex.word == LEX_STRING; decode_lex_next(&c->lex))
		text = tep_join(c, text, "", quoted_text(c));
	if (c->failed || !tep_is_printable(text.p, text.p + text.len))
		return tep_fail(c);
	tep_set_atom(c, at, text);
	return true;
}

static const struct decode_field *find_field(const struct decode_format *format, struct text name)
{
	for (uint32_t i = 0; i < format->nr_fields; i++)
		if (strlen(format->fields[i].name) == name.len &&
		    !memcmp(format->fields[i].name, name.p, name.len))
			return &format->fields[i];
	return NULL;
}

/* "->field" behind REC. A field that there is not counts as 0. */
static bool member(struct tep_compiler *c, uint32_t at)
{
	const struct decode_field *field;
	uint32_t size;

	if (!tep_expect(c, LEX_TWO('-', '>')) || !is_item(c))
		return tep_fail(c);
	field = find_field(c->format, word_text(c));
	decode_lex_next(&c->lex);
	*node(c, at) = (struct tep_node){ .kind = TEP_FIELD, .field = field, .depth = 1 };
	if (!field)
		return true;
	size = field->size;
	node(c, at)->offset = field->offset;
	if (size == 1 || size == 2 || size == 4 || size == 8)
		node(c, at)->size = (uint8_t)size;
	return true;
}

/* A word, or several: "unsigned int". */
static bool item(struct tep_compiler *c, uint32_t at)
{
	struct text text = word_text(c);
	bool is_rec = c->lex.len == 3 && !memcmp(c->lex.at, "REC", 3);

	decode_lex_next(&c->lex);
	if (is_rec)
		return member(c, at);
	if (c->lex.word == '(')
		return tep_parse_call(c, at, text);
	for (; is_item(c); decode_lex_next(&c->lex))
		text = tep_join(c, text, " ", word_text(c));
	if (c->failed)
		return false;
	tep_set_atom(c, at, text);
	node(c, at)->is_name = !node(c, at)->num;
	return true;
}

/* How many bytes a cast to the type of this name keeps; 0: all. Other names change nothing. */
static uint8_t cast_size(struct text type)
{
	static const struct {
		const char *name;
		uint8_t size;
	} types[] = {
		{ "u8", 1 }, { "s8", 1 }, { "u16", 2 }, { "s16", 2 }, { "u32", 4 }, { "s32", 4 },
		{ "char", 1 }, { "short", 2 }, { "int", 4 },
		{ "unsigned char", 1 }, { "unsigned short", 2 }, { "unsigned int", 4 },
	};

	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++)
		if (strlen(types[i].name) == type.len && !memcmp(types[i].name, type.p, type.len))
			return types[i].size;
	return 0;
}

/* Of "u8 *" the "u8"; empty for what is no pointer. */
static struct text pointed_at(struct text type)
{
	bool pointer = type.len > 2 && !memcmp(type.p + type.len - 2, " *", 2);

	return (struct text){ type.p, pointer ? type.len - 2 : 0 };
}

/* What follows in place makes of the text before it a type. */
static bool cast(struct tep_compiler *c, uint32_t at)
{
	struct text type = node(c, at)->text;
	uint32_t of;

	if (node(c, at)->kind != TEP_ATOM)
		return tep_fail(c);
	of = tep_node_new(c);
	if (!of || !tep_parse_arg(c, of))
		return false;
	*node(c, at) = (struct tep_node){ .kind = TEP_CAST, .a = of, .text = type,
					  .keep = cast_size(type),
					  .elem = cast_size(pointed_at(type)) };
	return set_depth(c, at);
}

/* (REC)->field is REC->field. */
static bool is_rec_in_parens(struct tep_compiler *c)
{
	struct lex back = c->lex;

	decode_lex_next(&c->lex);
	if (c->lex.word == LEX_NAME && c->lex.len == 3 && !memcmp(c->lex.at, "REC", 3)) {
		decode_lex_next(&c->lex);
		if (c->lex.word == ')') {
			decode_lex_next(&c->lex);
			return true;
		}
	}
	c->lex = back;
	return false;
}

static bool parens(struct tep_compiler *c, uint32_t at)
{
	if (is_rec_in_parens(c))
		return member(c, at);
	decode_lex_next(&c->lex);
	if (!tep_parse_arg(c, at))
		return false;
	while (tep_is_op(c->lex.word))
		if (!tep_parse_op(c, at))
			return false;
	if (!tep_expect(c, ')'))
		return false;
	return is_open(c) ? cast(c, at) : true;
}

/* The operator behind what was just put together, `right` being its right side. */
static bool follow(struct tep_compiler *c, uint32_t at, uint32_t right)
{
	if (!set_depth(c, at))
		return false;
	if (!tep_is_op(c->lex.word) || c->lex.word == ':')
		return true;
	return tep_parse_op(c, rank(c->lex.word) > node(c, at)->rank ? at : right) &&
	       set_depth(c, at);
}

static bool unary(struct tep_compiler *c, uint32_t at)
{
	int op = c->lex.word;
	uint32_t none, right;

	if (op != '~' && op != '!' && op != '+' && op != '-')
		return tep_fail(c);
	decode_lex_next(&c->lex);
	none = tep_node_new(c);
	right = tep_node_new(c);
	if (!none || !right || !tep_parse_arg(c, right))
		return false;
	*node(c, at) = (struct tep_node){ .kind = TEP_OP, .op = op, .a = none, .b = right };
	return follow(c, at, right);
}

static bool argument(struct tep_compiler *c, uint32_t at)
{
	if (c->lex.word == LEX_STRING || (c->lex.word == LEX_NUM && *c->lex.at == '\''))
		return quoted(c, at);
	if (is_item(c))
		return item(c, at);
	if (c->lex.word == '(')
		return parens(c, at);
	return tep_is_op(c->lex.word) ? unary(c, at) : tep_fail(c);
}

/* Every way down goes through here or tep_parse_op, so here the stack is bounded. */
bool tep_parse_arg(struct tep_compiler *c, uint32_t at)
{
	bool ok;

	if (c->failed || ++c->nesting > TEP_DEPTH_MAX)
		return tep_fail(c);
	ok = argument(c, at);
	c->nesting--;
	return ok;
}

/* An operator's left side: what node `at` was. */
static uint32_t move_left(struct tep_compiler *c, uint32_t at)
{
	uint32_t left = tep_node_new(c);

	if (left)
		*node(c, left) = *node(c, at);
	return left;
}

static bool ternary(struct tep_compiler *c, uint32_t at)
{
	uint32_t left = move_left(c, at), yes = tep_node_new(c), no = tep_node_new(c);

	if (!left || !yes || !no)
		return false;
	decode_lex_next(&c->lex);
	if (!tep_parse_arg(c, yes))
		return false;
	while (tep_is_op(c->lex.word) && c->lex.word != ':')
		if (!tep_parse_op(c, yes))
			return false;
	if (!tep_expect(c, ':') || !tep_parse_arg(c, no))
		return false;
	*node(c, at) = (struct tep_node){ .kind = TEP_OP, .op = '?', .a = left, .b = yes,
					  .c = no };
	return follow(c, at, no);
}

static bool index_op(struct tep_compiler *c, uint32_t at)
{
	uint32_t left = move_left(c, at), right = tep_node_new(c);

	if (!left || !right)
		return false;
	decode_lex_next(&c->lex);
	if (!tep_parse_arg(c, right) || !tep_expect(c, ']'))
		return false;
	*node(c, at) = (struct tep_node){ .kind = TEP_OP, .op = '[', .a = left, .b = right };
	return follow(c, at, right);
}

static bool binary(struct tep_compiler *c, uint32_t at)
{
	int op = c->lex.word;
	uint32_t left, right;
	struct tep_node turned;

	decode_lex_next(&c->lex);
	/* "(char *)": the star belongs to a type's name. */
	if (op == '*' && c->lex.word == ')') {
		if (node(c, at)->kind != TEP_ATOM)
			return tep_fail(c);
		node(c, at)->text = tep_join(c, node(c, at)->text, " *", (struct text){ "", 0 });
		return !c->failed;
	}
	left = move_left(c, at);
	right = tep_node_new(c);
	if (!left || !right || !tep_parse_arg(c, right))
		return false;
	*node(c, at) = (struct tep_node){ .kind = TEP_OP, .op = op, .rank = rank(op), .a = left,
					  .b = right };
	if (node(c, right)->kind == TEP_OP && rank(op) < rank(node(c, right)->op)) {
		node(c, at)->b = node(c, right)->a;
		turned = *node(c, at);
		*node(c, at) = *node(c, right);
		*node(c, right) = turned;
		node(c, at)->a = right;
		if (!set_depth(c, right))
			return false;
	}
	return follow(c, at, right);
}

static bool operator(struct tep_compiler *c, uint32_t at)
{
	int op = c->lex.word;

	if (op == '?')
		return ternary(c, at);
	if (op == '[')
		return index_op(c, at);
	if (!rank(op) || op == '~' || op == '!')
		return tep_fail(c);
	return binary(c, at);
}

bool tep_parse_op(struct tep_compiler *c, uint32_t at)
{
	bool ok;

	if (c->failed || ++c->nesting > TEP_DEPTH_MAX)
		return tep_fail(c);
	ok = operator(c, at);
	c->nesting--;
	return ok;
}
