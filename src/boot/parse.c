/*
 * boot/parse: see config.h. Text to tree.
 *
 *   up to one of { } = + : ; # newline      what stands before it is a key: words, entered below the innermost open brace
 *   behind = += :=                          values, with commas between them, up to one of ; } # newline
 *
 * Braces and values are looked at in the order of the text; depth and length of keys in the end, as the kernel does: whatever else
 * is wrong is told first.
 */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "boot/config.h"

struct parse {
	struct boot_config *config;
	const char *text, *end;
	struct boot_node *open[BOOT_DEPTH_MAX + 1];	/* braces: open[0] is the root */
	uint32_t depth;
	bool bounded;
	struct err *err;
};

static int refuse(const struct parse *parse, const char *at, const char *words)
{
	return err_set_at(parse->err, -EINVAL, (int)(at - parse->text), "%s", words);
}

static struct boot_node *make(struct parse *parse, const char *text, size_t len)
{
	struct boot_config *config = parse->config;
	struct boot_node *node = NULL;

	if (parse->bounded && config->nodes == BOOT_NODES_MAX)
		refuse(parse, text, "there are more words and values than the kernel takes");
	else if (!(node = calloc(1, sizeof(*node))))
		err_set(parse->err, -ENOMEM, "out of memory");
	if (!node)
		return NULL;
	node->text = text;
	node->len = len;
	node->pos = (uint32_t)(text - parse->text);
	node->made = config->made;
	config->made = node;
	config->nodes++;
	return node;
}

static void hang(struct boot_node **first, struct boot_node **last, struct boot_node *node)
{
	if (*last)
		(*last)->next = node;
	else
		*first = node;
	*last = node;
}

/* ---- keys ---- */

static bool is_word(const char *text, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if (!isalnum((unsigned char)text[i]) && text[i] != '-' && text[i] != '_')
			return false;
	return len;
}

/* The word below a node, made if there is none. */
static struct boot_node *word_below(struct parse *parse, struct boot_node *parent, const char *text, size_t len)
{
	struct boot_node *node = parent->child;

	while (node && (node->len != len || memcmp(node->text, text, len)))
		node = node->next;
	if (node)
		return node;
	if (!is_word(text, len)) {
		refuse(parse, text, "this is no key: words of letters, digits, - and _, with dots between them");
		return NULL;
	}
	node = make(parse, text, len);
	if (node) {
		node->parent = parent;
		hang(&parent->child, &parent->last_child, node);
	}
	return node;
}

/* What stands there without blanks around it. */
static void trim(const char **text, const char **end)
{
	while (*end > *text && isspace((unsigned char)(*end)[-1]))
		--*end;
	while (*text < *end && isspace((unsigned char)**text))
		++*text;
}

/* The key between the two: its last word, or NULL. */
static struct boot_node *enter(struct parse *parse, const char *text, const char *end)
{
	struct boot_node *node = parse->open[parse->depth];

	trim(&text, &end);
	while (node) {
		const char *dot = memchr(text, '.', (size_t)(end - text));

		node = word_below(parse, node, text, (size_t)((dot ? dot : end) - text));
		if (!dot)
			break;
		text = dot + 1;
	}
	return node;
}

/* A key of its own, or nothing. */
static int enter_any(struct parse *parse, const char *text, const char *end)
{
	trim(&text, &end);
	return text == end || enter(parse, text, end) ? 0 : -EINVAL;
}

/* ---- braces ---- */

static int open_brace(struct parse *parse, const char *key, const char *brace)
{
	struct boot_node *node = enter(parse, key, brace);

	if (!node)
		return -EINVAL;
	if (parse->depth == BOOT_DEPTH_MAX)
		return refuse(parse, brace, "there are too many braces in each other");
	parse->open[++parse->depth] = node;
	return 0;
}

static int close_brace(struct parse *parse, const char *brace)
{
	if (!parse->depth)
		return refuse(parse, brace, "no brace is open that this one could close");
	parse->depth--;
	return 0;
}

/* ---- values ---- */

static const char *skip_line(const struct parse *parse, const char *at)
{
	const char *eol = memchr(at, '\n', (size_t)(parse->end - at));

	return eol ? eol + 1 : parse->end;
}

/* Blanks, line ends and comments. */
static const char *skip_all(const struct parse *parse, const char *at)
{
	while (at < parse->end && (isspace((unsigned char)*at) || *at == '#'))
		at = *at == '#' ? skip_line(parse, at) : at + 1;
	return at;
}

struct value {
	const char *text, *end;
	const char *behind;	/* the delimiter, or the end of the text */
};

static bool is_printable(char c)
{
	return isprint((unsigned char)c) || isspace((unsigned char)c);
}

/* What ends a value that has quotes, which is `at`. */
static int find_quoted_end(struct parse *parse, const char *at, struct value *value)
{
	char quote = *at++;

	value->text = at;
	for (; at < parse->end && *at != quote; at++)
		if (!is_printable(*at))
			return refuse(parse, at, "a value has characters that can be printed, and no others");
	if (at == parse->end)
		return refuse(parse, at, "the quotes around a value are not closed");
	value->end = at++;
	while (at < parse->end && isspace((unsigned char)*at) && *at != '\n')
		at++;
	if (at < parse->end && !strchr(",;\n#}", *at))
		return refuse(parse, at, "behind a value comes one of , ; } # or the end of the line");
	value->behind = at;
	return 0;
}

static int find_end(struct parse *parse, const char *at, struct value *value)
{
	value->text = at;
	for (; at < parse->end && !strchr(",;\n#}", *at); at++)
		if (!is_printable(*at))
			return refuse(parse, at, "a value has characters that can be printed, and no others");
	value->end = value->behind = at;
	/* Blanks belong to a value that nothing ends but the text, as the kernel has it. */
	if (at < parse->end)
		trim(&value->text, &value->end);
	return 0;
}

static int next_value(struct parse *parse, const char *at, struct value *value)
{
	at = skip_all(parse, at);
	return at < parse->end && (*at == '"' || *at == '\'') ? find_quoted_end(parse, at, value)
							       : find_end(parse, at, value);
}

/* The first value of an override takes the place of the first that was there. */
static int put_value(struct parse *parse, struct boot_node *key, const struct value *value, bool instead)
{
	struct boot_node *node = instead ? key->value : NULL;
	size_t len = (size_t)(value->end - value->text);

	if (node) {
		node->text = value->text;
		node->len = len;
		node->pos = (uint32_t)(value->text - parse->text);
		node->next = NULL;
		key->last_value = node;
		return 0;
	}
	node = make(parse, value->text, len);
	if (!node)
		return -EINVAL;
	node->parent = key;
	node->is_value = true;
	hang(&key->value, &key->last_value, node);
	return 0;
}

/* Key, operator, values; *at ends behind what ends them. */
static int pair(struct parse *parse, const char **at, const char *operator)
{
	struct boot_node *key = enter(parse, *at, operator);
	const char *behind = operator + (*operator != '=') + 1;
	bool first = true;
	struct value value;
	int r = key ? 0 : -EINVAL;

	while (!r) {
		r = next_value(parse, behind, &value);
		if (!r && first && *operator == '=' && key->value)
			r = refuse(parse, value.text, "the key has a value: := gives it another, += one more");
		if (!r)
			r = put_value(parse, key, &value, first && *operator == ':');
		if (r)
			break;
		behind = value.behind;
		first = false;
		if (behind == parse->end || *behind != ',')
			break;
		behind++;
	}
	if (r)
		return r;
	if (behind < parse->end && *behind == '}')
		r = close_brace(parse, behind);
	*at = behind == parse->end ? behind : *behind == '#' ? skip_line(parse, behind) : behind + 1;
	return r;
}

/* ---- the whole ---- */

static const char *next_delimiter(const struct parse *parse, const char *at)
{
	while (at < parse->end && !strchr("{}=+;:\n#", *at))
		at++;
	return at;
}

static int step(struct parse *parse, const char **at)
{
	const char *key = *at, *stop = next_delimiter(parse, key);
	int r = 0;

	if (stop == parse->end) {
		const char *end = stop;

		trim(&key, &end);
		*at = stop;
		return key == end ? 0 : refuse(parse, key, "behind a key comes one of = { ; } # or the end of the line");
	}
	switch (*stop) {
	case ':':
	case '+':
		if (stop + 1 == parse->end || stop[1] != '=')
			return refuse(parse, stop, "here belongs a = behind it");
		return pair(parse, at, stop);
	case '=':
		return pair(parse, at, stop);
	case '{':
		r = open_brace(parse, key, stop);
		break;
	case '}':
		r = enter_any(parse, key, stop);
		if (!r)
			r = close_brace(parse, stop);
		break;
	default:
		r = enter_any(parse, key, stop);
	}
	*at = *stop == '#' ? skip_line(parse, stop) : stop + 1;
	return r;
}

static int check_key(struct parse *parse, const struct boot_node *node)
{
	size_t len = 0;
	uint32_t depth = 0;

	for (const struct boot_node *up = node; up->parent; up = up->parent) {
		len += up->len + (up->parent->parent ? 1 : 0);
		depth++;
	}
	if (depth > BOOT_DEPTH_MAX)
		return refuse(parse, parse->text + node->pos, "a key has 16 words at most");
	if (len > BOOT_KEY_MAX)
		return refuse(parse, parse->text + node->pos, "a key has 255 letters at most, dots included");
	return 0;
}

/* In the order of the tree. */
static int check_keys(struct parse *parse, const struct boot_node *node)
{
	int r = node->parent ? check_key(parse, node) : 0;

	for (const struct boot_node *child = node->child; !r && child; child = child->next)
		r = check_keys(parse, child);
	return r;
}

static int parse_all(struct parse *parse)
{
	const char *at = parse->text;
	int r = 0;

	if (parse->bounded && (size_t)(parse->end - parse->text) > BOOT_SIZE_MAX)
		return refuse(parse, parse->text, "it is larger than the kernel takes: 32766 bytes");
	while (!r && at < parse->end)
		r = step(parse, &at);
	if (!r && parse->depth)
		r = refuse(parse, parse->text + parse->open[parse->depth]->pos, "the brace behind this key is not closed");
	if (!r && !parse->config->root.child)
		r = refuse(parse, parse->text, "there is no key in it");
	return r ? r : check_keys(parse, &parse->config->root);
}

/* Words and values end where their delimiters were. */
static int cut(struct boot_config *config, const char *text)
{
	config->cut = strdup(text);
	if (!config->cut)
		return -ENOMEM;
	for (struct boot_node *node = config->made; node; node = node->made) {
		char *at = config->cut + node->pos;

		at[node->len] = '\0';
		node->text = at;
	}
	return 0;
}

int boot_config_parse(struct boot_config **out, const char *text, size_t len, bool bounded, struct err *err)
{
	struct boot_config *config = calloc(1, sizeof(*config));
	struct parse parse = { .config = config, .bounded = bounded, .err = err };
	int r = 0;

	if (config)
		config->text = strndup(text, len);
	if (!config || !config->text) {
		free(config);
		return err_set(err, -ENOMEM, "out of memory");
	}
	parse.text = config->text;
	parse.end = parse.text + strlen(parse.text);
	parse.open[0] = &config->root;
	r = parse_all(&parse);
	if (!r)
		r = cut(config, config->text);
	if (r) {
		boot_config_free(config);
		return err_set(err, r, "out of memory");
	}
	*out = config;
	return 0;
}

void boot_config_free(struct boot_config *config)
{
	struct boot_node *node = config ? config->made : NULL;

	while (node) {
		struct boot_node *before = node->made;

		free(node);
		node = before;
	}
	if (config) {
		free(config->text);
		free(config->cut);
	}
	free(config);
}

void boot_text_place(const char *text, size_t len, int pos, unsigned int *line, unsigned int *column)
{
	*line = *column = 1;
	for (size_t i = 0; i < len && (int)i < pos; i++) {
		*column = text[i] == '\n' ? 1 : *column + 1;
		*line += text[i] == '\n';
	}
}

void boot_config_place(const struct boot_config *config, uint32_t pos, unsigned int *line, unsigned int *column)
{
	boot_text_place(config->text, strlen(config->text), (int)pos, line, column);
}

const struct boot_node *boot_find(const struct boot_node *node, const char *word)
{
	const struct boot_node *child = node ? node->child : NULL;

	while (child && strcmp(child->text, word))
		child = child->next;
	return child;
}
