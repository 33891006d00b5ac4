/*
 * query/parse: the words of a statement -> its tree. See tree.h.
 */
#include <errno.h>
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "query/lex.h"
#include "query/tree.h"

struct sql_memory {
	struct sql_memory *next;
	max_align_t bytes[];
};

void *sql_alloc(struct sql_tree *tree, size_t size)
{
	struct sql_memory *memory = calloc(1, sizeof(*memory) + size);

	if (!memory)
		return NULL;
	memory->next = tree->memory;
	tree->memory = memory;
	return memory->bytes;
}

void sql_tree_free(struct sql_tree *tree)
{
	struct sql_memory *next;

	for (struct sql_memory *memory = tree->memory; memory; memory = next) {
		next = memory->next;
		free(memory);
	}
	tree->memory = NULL;
}

/* Where the parser is. After a failure everything returns NULL or the failure. */
struct parse {
	struct sql_tree *tree;
	struct sql_lex lex;
	struct err *err;
	int code;
	int depth;
};

static int at(const struct parse *parse)
{
	return (int)(parse->lex.at - parse->lex.text);
}

static int refuse(struct parse *parse, const char *what)
{
	if (parse->code)
		return parse->code;
	parse->code = -EINVAL;
	if (parse->lex.word == SQL_BAD)
		return err_set_at(parse->err, -EINVAL, at(parse), "%s", parse->lex.why);
	if (parse->lex.word == SQL_END)
		return err_set_at(parse->err, -EINVAL, at(parse), "%s is missing", what);
	return err_set_at(parse->err, -EINVAL, at(parse), "%s is expected, not '%.*s'", what,
			  (int)(parse->lex.len > 64 ? 64 : parse->lex.len), parse->lex.at);
}

static void *no_memory(struct parse *parse)
{
	if (!parse->code)
		parse->code = err_set(parse->err, -ENOMEM, "out of memory");
	return NULL;
}

static bool skip_word(struct parse *parse, const char *word)
{
	if (!sql_lex_is(&parse->lex, word))
		return false;
	sql_lex_next(&parse->lex);
	return true;
}

static bool skip_sign(struct parse *parse, const char *sign)
{
	if (!sql_lex_sign(&parse->lex, sign))
		return false;
	sql_lex_next(&parse->lex);
	return true;
}

/* Is the current word followed by that one, or that sign? */
static bool before(const struct parse *parse, const char *next)
{
	struct sql_lex ahead = parse->lex;

	sql_lex_next(&ahead);
	return sql_lex_is(&ahead, next) || sql_lex_sign(&ahead, next);
}

/* Does a further part of the statement begin here? What these words are called can only be named behind a backslash. */
static bool ends_part(const struct parse *parse)
{
	static const char *const words[] = { "FROM", "JOIN", "ON", "WHERE", "AS", "AND", "OR" };

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		if (sql_lex_is(&parse->lex, words[i]))
			return true;
	}
	return sql_lex_is(&parse->lex, "ORDER") && before(parse, "BY");
}

/* `len` bytes of the statement, the tree's. */
static char *copy(struct parse *parse, const char *text, size_t len)
{
	char *to = sql_alloc(parse->tree, len + 1);

	if (!to)
		return no_memory(parse);
	memcpy(to, text, len);
	return to;
}

static const char *take_name(struct parse *parse, const char *what)
{
	const char *name;

	if (parse->code || parse->lex.word != SQL_WORD || ends_part(parse)) {
		refuse(parse, what);
		return NULL;
	}
	name = copy(parse, parse->lex.at, parse->lex.len);
	sql_lex_next(&parse->lex);
	return name;
}

static struct sql_node *node(struct parse *parse, enum sql_kind kind, int pos, struct sql_node *a, struct sql_node *b)
{
	struct sql_node *made = parse->code ? NULL : sql_alloc(parse->tree, sizeof(*made));

	if (!made)
		return no_memory(parse);
	made->kind = kind;
	made->pos = pos;
	made->side = -1;
	made->a = a;
	made->b = b;
	return made;
}

/* Makes the current sign the node's operator and goes on. */
static void take_op(struct parse *parse, struct sql_node *of, const char *instead)
{
	size_t len = parse->lex.len < sizeof(of->op) ? parse->lex.len : sizeof(of->op) - 1;

	if (of) {
		if (instead)
			memcpy(of->op, instead, strlen(instead) + 1);
		else
			memcpy(of->op, parse->lex.at, len);
	}
	sql_lex_next(&parse->lex);
}

static struct sql_node *parse_name(struct parse *parse)
{
	int pos = at(parse);
	const char *name = take_name(parse, "a field");
	struct sql_node *made = node(parse, SQL_NAME, pos, NULL, NULL);

	if (made)
		made->text = name;
	return made;
}

static struct sql_node *parse_number(struct parse *parse)
{
	bool minus = sql_lex_sign(&parse->lex, "-");
	struct sql_node *made = node(parse, SQL_NUMBER, at(parse), NULL, NULL);

	if (minus)
		take_op(parse, made, NULL);
	if (parse->lex.word != SQL_NUM) {
		refuse(parse, "a number");
		return NULL;
	}
	if (made)
		made->number = parse->lex.num;
	sql_lex_next(&parse->lex);
	return made;
}

/* ---- What is selected ---- */

static struct sql_node *parse_sum(struct parse *parse);

static struct sql_node *parse_factor(struct parse *parse)
{
	struct sql_node *inner;

	if (parse->lex.word == SQL_NUM || sql_lex_sign(&parse->lex, "-"))
		return parse_number(parse);
	if (!sql_lex_sign(&parse->lex, "("))
		return parse_name(parse);
	if (++parse->depth > SQL_DEPTH_MAX) {
		refuse(parse, "an end of parentheses");
		return NULL;
	}
	sql_lex_next(&parse->lex);
	inner = parse_sum(parse);
	parse->depth--;
	if (!parse->code && !skip_sign(parse, ")"))
		refuse(parse, "')'");
	return parse->code ? NULL : inner;
}

static struct sql_node *parse_product(struct parse *parse)
{
	struct sql_node *a = parse_factor(parse);

	while (!parse->code && (sql_lex_sign(&parse->lex, "*") || sql_lex_sign(&parse->lex, "/"))) {
		struct sql_node *made = node(parse, SQL_MATH, at(parse), a, NULL);

		take_op(parse, made, NULL);
		if (made)
			made->b = parse_factor(parse);
		a = made;
	}
	return a;
}

static struct sql_node *parse_sum(struct parse *parse)
{
	struct sql_node *a = parse_product(parse);

	while (!parse->code && (sql_lex_sign(&parse->lex, "+") || sql_lex_sign(&parse->lex, "-"))) {
		struct sql_node *made = node(parse, SQL_MATH, at(parse), a, NULL);

		take_op(parse, made, NULL);
		if (made)
			made->b = parse_product(parse);
		a = made;
	}
	return a;
}

/* The type of a CAST: what stands there up to the parenthesis, blanks aside. */
static char *cast_type(struct parse *parse)
{
	char *type = sql_alloc(parse->tree, strlen(parse->lex.at) + 1);
	size_t len = 0;

	if (!type)
		return no_memory(parse);
	while (!parse->code && !sql_lex_sign(&parse->lex, ")")) {
		if (parse->lex.word == SQL_END || parse->lex.word == SQL_BAD) {
			refuse(parse, "')'");
			return NULL;
		}
		for (size_t i = 0; i < parse->lex.len; i++)
			type[len++] = (char)tolower((unsigned char)parse->lex.at[i]);
		sql_lex_next(&parse->lex);
	}
	return type;
}

/* Types by the names that they have in statements, and as modifiers. Those that only values have make the item one. */
static const struct {
	const char *type, *modifier;
	bool is_value;
} casts[] = {
	{ "hex", "hex", false }, { "sym", "sym", false }, { "sym-offset", "sym-offset", false },
	{ "syscall", "syscall", false }, { "execname", "execname", false }, { "comm", "execname", false },
	{ "log", "log2", false }, { "log2", "log2", false }, { "usecs", "usecs", false },
	{ "stacktrace", "stacktrace", false }, { "stack", "stacktrace", false }, { "percent", "percent", true },
	{ "graph", "graph", true }, { "quantiles", "quantiles", true }, { "string", "string", false },
};

static int set_cast(struct parse *parse, struct sql_item *item, const char *type, int pos)
{
	if (parse->code)
		return parse->code;
	if (!strcmp(type, "_counter_") || !strcmp(type, "__counter__")) {
		item->counter = true;
		return 0;
	}
	for (size_t i = 0; i < sizeof(casts) / sizeof(casts[0]); i++) {
		if (!strcmp(type, casts[i].type)) {
			item->cast = casts[i].modifier;
			item->counter |= casts[i].is_value;
			return 0;
		}
	}
	if (!strncmp(type, "buckets=", 8) || !strncmp(type, "bucket=", 7)) {
		const char *number = strchr(type, '=') + 1;
		char *modifier = sql_alloc(parse->tree, strlen(number) + sizeof("buckets="));

		if (!modifier)
			return no_memory(parse), -ENOMEM;
		if (*number >= '1' && *number <= '9' && strspn(number, "0123456789") == strlen(number)) {
			item->cast = strcat(strcpy(modifier, "buckets="), number);
			return 0;
		}
	}
	parse->code = err_set_at(parse->err, -EINVAL, pos, "there is no type '%s' to cast to", type);
	return parse->code;
}

/* CAST(what AS type); a CAST may be in a CAST: of a modifier in one to a value. */
static struct sql_node *parse_cast(struct parse *parse, struct sql_item *item)
{
	struct sql_node *value;
	int pos;

	sql_lex_next(&parse->lex);
	sql_lex_next(&parse->lex);
	if (++parse->depth > SQL_DEPTH_MAX)
		refuse(parse, "an end of CAST");
	if (parse->code)
		return NULL;
	value = sql_lex_is(&parse->lex, "CAST") && before(parse, "(") ? parse_cast(parse, item) : parse_sum(parse);
	parse->depth--;
	if (!parse->code && !skip_word(parse, "AS"))
		refuse(parse, "AS");
	pos = at(parse);
	set_cast(parse, item, parse->code ? NULL : cast_type(parse), pos);
	if (!parse->code && !skip_sign(parse, ")"))
		refuse(parse, "')'");
	return parse->code ? NULL : value;
}

static struct sql_node *parse_count(struct parse *parse)
{
	struct sql_node *made = node(parse, SQL_COUNT, at(parse), NULL, NULL);

	sql_lex_next(&parse->lex);
	sql_lex_next(&parse->lex);
	if (!skip_sign(parse, "*"))
		refuse(parse, "'*'");
	else if (!skip_sign(parse, ")"))
		refuse(parse, "')'");
	return parse->code ? NULL : made;
}

static int parse_item(struct parse *parse)
{
	struct sql_item *item = &parse->tree->items[parse->tree->nitems];

	if (parse->tree->nitems == SQL_ITEMS_MAX)
		return refuse(parse, "an end of what is selected");
	if (sql_lex_is(&parse->lex, "CAST") && before(parse, "("))
		item->value = parse_cast(parse, item);
	else if (sql_lex_is(&parse->lex, "COUNT") && before(parse, "("))
		item->value = parse_count(parse);
	else if (parse->lex.word == SQL_WORD && before(parse, "("))
		parse->code = err_set_at(parse->err, -EINVAL, at(parse),
					 "there is no function '%.*s': COUNT(*) counts, CAST(FIELD AS _COUNTER_) adds up",
					 (int)(parse->lex.len > 64 ? 64 : parse->lex.len), parse->lex.at);
	else
		item->value = parse_sum(parse);
	if (parse->code)
		return parse->code;
	if (skip_word(parse, "AS") || (parse->lex.word == SQL_WORD && !ends_part(parse))) {
		item->name_pos = at(parse);
		item->name = take_name(parse, "a name");
		if (item->name && strchr(item->name, '.'))
			parse->code = err_set_at(parse->err, -EINVAL, item->name_pos, "a name has no dots");
	}
	parse->tree->nitems++;
	return parse->code;
}

/* ---- Where it is from ---- */

static int parse_event(struct parse *parse, struct sql_event *event)
{
	event->pos = at(parse);
	/* No word is reserved here: there are events called order. */
	if (parse->lex.word != SQL_WORD)
		return refuse(parse, "an event");
	event->text = copy(parse, parse->lex.at, parse->lex.len);
	sql_lex_next(&parse->lex);
	if (!parse->code && sql_lex_is(&parse->lex, "GROUP") && before(parse, "BY"))
		parse->code = err_set_at(parse->err, -EINVAL, at(parse), "there is no GROUP BY: a row is of all fields that are selected");
	if (!parse->code && (skip_word(parse, "AS") || (parse->lex.word == SQL_WORD && !ends_part(parse))))
		event->alias = take_name(parse, "a name");
	return parse->code;
}

static int parse_match(struct parse *parse)
{
	struct sql_match *match = &parse->tree->matches[parse->tree->nmatches];

	if (parse->tree->nmatches == SQL_MATCHES_MAX)
		return refuse(parse, "an end of fields to match");
	match->pos = at(parse);
	match->a = parse_name(parse);
	if (!parse->code && !skip_sign(parse, "=") && !skip_sign(parse, "=="))
		return refuse(parse, "'='");
	match->b = parse_name(parse);
	parse->tree->nmatches++;
	return parse->code;
}

static int parse_join(struct parse *parse)
{
	if (!skip_word(parse, "JOIN"))
		return 0;
	parse->tree->is_join = true;
	if (parse_event(parse, &parse->tree->events[1]))
		return parse->code;
	if (!skip_word(parse, "ON"))
		return refuse(parse, "ON");
	do {
		if (parse_match(parse))
			return parse->code;
	} while (skip_sign(parse, ",") || skip_sign(parse, "&&") || skip_word(parse, "AND"));
	return 0;
}

/* ---- Which ones ---- */

static struct sql_node *parse_or(struct parse *parse);

static struct sql_node *parse_compare(struct parse *parse)
{
	static const char *const ops[][2] = {
		{ "==", NULL }, { "=", "==" }, { "!=", NULL }, { "<>", "!=" }, { "<=", NULL }, { ">=", NULL },
		{ "<", NULL }, { ">", NULL }, { "&", NULL }, { "~", NULL },
	};
	struct sql_node *a = parse_name(parse), *b, *made = node(parse, SQL_COMPARE, at(parse), a, NULL);
	size_t i;

	for (i = 0; i < sizeof(ops) / sizeof(ops[0]) && !sql_lex_sign(&parse->lex, ops[i][0]);)
		i++;
	if (parse->code || i == sizeof(ops) / sizeof(ops[0])) {
		refuse(parse, "a comparison");
		return NULL;
	}
	take_op(parse, made, ops[i][1]);
	if (parse->lex.word == SQL_QUOTED) {
		b = node(parse, SQL_TEXT, at(parse), NULL, NULL);
		if (b)
			b->text = copy(parse, parse->lex.at + 1, parse->lex.len - 2);
		sql_lex_next(&parse->lex);
	} else if (parse->lex.word == SQL_WORD) {
		b = parse_name(parse);
	} else {
		b = parse_number(parse);
	}
	if (made)
		made->b = b;
	return parse->code ? NULL : made;
}

static struct sql_node *parse_not(struct parse *parse)
{
	struct sql_node *made;
	int pos = at(parse);

	if (++parse->depth > SQL_DEPTH_MAX) {
		refuse(parse, "an end of parentheses");
		return NULL;
	}
	if (skip_sign(parse, "!") || skip_word(parse, "NOT")) {
		made = parse_not(parse);
		made = made ? node(parse, SQL_NOT, pos, made, NULL) : NULL;
	} else if (skip_sign(parse, "(")) {
		made = parse_or(parse);
		made = made ? node(parse, SQL_GROUP, pos, made, NULL) : NULL;
		if (!parse->code && !skip_sign(parse, ")"))
			refuse(parse, "')'");
	} else {
		made = parse_compare(parse);
	}
	parse->depth--;
	return parse->code ? NULL : made;
}

static struct sql_node *parse_and(struct parse *parse)
{
	struct sql_node *a = parse_not(parse), *b;
	int pos = at(parse);

	while (!parse->code && (skip_sign(parse, "&&") || skip_word(parse, "AND"))) {
		b = parse_not(parse);
		a = b ? node(parse, SQL_AND, pos, a, b) : NULL;
		pos = at(parse);
	}
	return parse->code ? NULL : a;
}

static struct sql_node *parse_or(struct parse *parse)
{
	struct sql_node *a = parse_and(parse), *b;
	int pos = at(parse);

	while (!parse->code && (skip_sign(parse, "||") || skip_word(parse, "OR"))) {
		b = parse_and(parse);
		a = b ? node(parse, SQL_OR, pos, a, b) : NULL;
		pos = at(parse);
	}
	return parse->code ? NULL : a;
}

/* ---- In which order ---- */

static int parse_sort(struct parse *parse)
{
	struct sql_sort *sort = &parse->tree->sorts[parse->tree->nsorts];

	if (parse->tree->nsorts == SQL_SORTS_MAX)
		return refuse(parse, "an end of what is sorted by");
	sort->pos = at(parse);
	if (sql_lex_is(&parse->lex, "COUNT") && before(parse, "(")) {
		parse_count(parse);
		sort->text = "hitcount";
	} else {
		sort->text = take_name(parse, "a field");
	}
	if (skip_word(parse, "DESC"))
		sort->descending = true;
	else
		skip_word(parse, "ASC");
	parse->tree->nsorts++;
	return parse->code;
}

static int parse_order(struct parse *parse)
{
	if (!skip_word(parse, "ORDER"))
		return 0;
	if (!skip_word(parse, "BY"))
		return refuse(parse, "BY");
	do {
		if (parse_sort(parse))
			return parse->code;
	} while (skip_sign(parse, ","));
	return 0;
}

int sql_parse(struct sql_tree *tree, const char *statement, size_t begin, struct err *err)
{
	struct parse parse = { .tree = tree, .err = err };

	memset(tree, 0, sizeof(*tree));
	tree->statement = statement;
	tree->begin = begin;
	sql_lex_open(&parse.lex, statement, begin);
	if (!skip_word(&parse, "SELECT"))
		return refuse(&parse, "SELECT");
	do {
		if (parse_item(&parse))
			return parse.code;
	} while (skip_sign(&parse, ","));
	if (!skip_word(&parse, "FROM"))
		return refuse(&parse, "FROM");
	if (parse_event(&parse, &tree->events[0]) || parse_join(&parse))
		return parse.code;
	if (skip_word(&parse, "WHERE"))
		tree->where = parse_or(&parse);
	if (parse.code || parse_order(&parse))
		return parse.code;
	if (parse.lex.word != SQL_END && !skip_sign(&parse, ";"))
		return refuse(&parse, "an end");
	tree->end = (size_t)at(&parse);
	return 0;
}
