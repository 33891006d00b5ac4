/*
 * trigger/probe_params: parameters of a function by its declaration, fields of an event by its format.
 *
 *   "ssize_t vfs_read(struct file *file, char *buf, size_t count, loff_t *pos)"  ->  names and types
 *
 * With them `$arg*` is an argument for each, `$argN` of the line is called by its name, and a plain name is `$argN`. The declaration
 * comes out of debug information and may hold anything.
 */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trigger/probe.h"

#define EXPANDED_MAX 256

static bool is_word(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

/* The last word of a declarator: `char *buf`, `int (*call)(void *)`, `int v[4]`. 0: it has no name. */
static size_t find_name(const char *text, size_t len, size_t *at)
{
	const char *inner = NULL;
	size_t end = len;

	for (size_t i = 0; i + 1 < len && !inner; i++) {
		if (text[i] == '(' && text[i + 1] == '*')
			inner = text + i + 2;
	}
	if (inner) {
		*at = (size_t)(inner - text);
		for (end = *at; end < len && is_word(text[end]); end++)
			;
		return end - *at;
	}
	while (end && text[end - 1] != '[' && memchr(text, '[', end))
		end--;
	while (end && (text[end - 1] == '[' || read_is_blank(text[end - 1])))
		end--;
	for (*at = end; *at && is_word(text[*at - 1]); --*at)
		;
	return end - *at;
}

/* `struct file *file`: the type is all but the name; an array is a pointer. */
static int add_param(struct probe_read *read, const char *text, size_t len)
{
	struct probe_param *param = &read->params[read->nparams];
	size_t at, name_len;
	bool is_array = memchr(text, '[', len);
	char *type;

	name_len = find_name(text, len, &at);
	param->name = read_dup(read->mem, text + at, name_len);
	type = read_alloc(read->mem, len + 3);
	if (!param->name || !type)
		return -ENOMEM;
	memcpy(type, text, at);
	if (is_array || memchr(text, '(', len))
		strcat(type, " *");
	param->type = read_strip(type);
	read->nparams++;
	return 0;
}

/* ---- of a function ---- */

static int read_params(struct probe_read *read, const char *text, const char *end)
{
	const char *from = text;
	int depth = 0, ret = 0;

	for (const char *c = text; !ret && c <= end && read->nparams < PROBE_PARAMS_MAX; c++) {
		if (c < end && (*c == '(' || *c == '['))
			depth++;
		if (c < end && (*c == ')' || *c == ']'))
			depth--;
		if (c < end && (*c != ',' || depth))
			continue;
		while (from < c && read_is_blank(*from))
			from++;
		if (from < c && memcmp(from, "...", c - from < 3 ? (size_t)(c - from) : 3) &&
		    !(c - from == 4 && !memcmp(from, "void", 4)))
			ret = add_param(read, from, (size_t)(c - from));
		from = c + 1;
	}
	return ret;
}

static int learn_function(struct probe_read *read)
{
	const struct spec_probe *probe = read->probe;
	const struct spec_world *world = read->world;
	const char *text = world->prototype && probe->symbol ? world->prototype(world->arg, probe->file, probe->symbol) : NULL;
	const char *open = text ? strchr(text, '(') : NULL, *close = open ? strrchr(open, ')') : NULL, *name = open;
	char *returned;

	if (!close)
		return 0;
	while (name > text && read_is_blank(name[-1]))
		name--;
	while (name > text && is_word(name[-1]))
		name--;
	returned = read_dup(read->mem, text, (size_t)(name - text));
	if (!returned)
		return -ENOMEM;
	read->returned = read_strip(returned);
	read->knows_params = true;
	return read_params(read, open + 1, close);
}

/* ---- of an event ---- */

static void learn_event(struct probe_read *read)
{
	read->knows_params = read->format;
	for (uint32_t i = 0; read->format && i < read->format->nr_fields && read->nparams < PROBE_PARAMS_MAX; i++) {
		const struct decode_field *field = &read->format->fields[i];

		if (!field->is_common)
			read->params[read->nparams++] = (struct probe_param){ field->name, field->type };
	}
}

int probe_param(const struct probe_read *read, const char *name, size_t len)
{
	for (uint32_t i = 0; i < read->nparams; i++) {
		if (strlen(read->params[i].name) == len && !memcmp(read->params[i].name, name, len))
			return (int)i;
	}
	return -1;
}

/* ---- what stands for them in the line ---- */

static bool at_function(const struct probe_read *read)
{
	const struct spec_probe *probe = read->probe;

	return probe->kind == SPEC_PROBE_TRACEPOINT || (spec_probe_is_code(probe) && !probe_is_user(probe) && read->at_entry);
}

/* Which word is `$arg*`; 0: none is. *any: some word begins with $arg. */
static int find_all(struct probe_read *read, uint32_t *which, bool *any)
{
	*which = 0;
	*any = false;
	for (uint32_t i = 2; i < read->nwords; i++) {
		const char *word = read->words[i];

		if (strncmp(word, "$arg", 4))
			continue;
		read->at = i;
		if (!at_function(read))
			return probe_refuse(read, -EINVAL, "$arg* can be used only on function entry or exit", 0);
		*any = true;
		if (isdigit((unsigned char)word[4]))
			continue;
		if (word[4] != '*')
			return probe_refuse(read, -EINVAL, "Invalid $-variable specified", 0);
		if (*which)
			return probe_refuse(read, -EINVAL, "$arg* can be used only once in the parameters", 0);
		*which = i;
	}
	return 0;
}

static int put_word(struct probe_read *read, const char *name, const char *behind)
{
	char *word = read_alloc(read->mem, strlen(name) + strlen(behind) + 1);

	if (!word)
		return -ENOMEM;
	strcpy(word, name);
	strcat(word, behind);
	if (read->nargs == EXPANDED_MAX)
		return read_refuse_silently(read->error, -E2BIG, "too many arguments");
	read->args[read->nargs++] = word;
	return 0;
}

/* A parameter may have no name. */
static int put_param(struct probe_read *read, uint32_t i, const char *behind)
{
	char number[16];

	if (read->params[i].name[0])
		return put_word(read, read->params[i].name, behind);
	snprintf(number, sizeof(number), "$arg%u", i + 1);
	return put_word(read, number, behind);
}

/* $argN is the parameter's name, so that the argument is called so. */
static int put_numbered(struct probe_read *read, char *word)
{
	char *end;
	unsigned long n = strtoul(word + 4, &end, 10);

	if (*end && *end != ':')
		return probe_refuse(read, -ENOENT, "Invalid $-variable specified", 0);
	if (!n)
		return probe_refuse(read, -EINVAL, "Invalid argument number", 0);
	if (n > read->nparams)
		return probe_refuse(read, -ENOENT, "This variable is not found at this probe point", 0);
	return put_param(read, (uint32_t)n - 1, end);
}

/* What there is to know, and what of the line asks for it. */
static int learn(struct probe_read *read, uint32_t *all, bool *any)
{
	int ret = 0;

	*all = 0;
	*any = false;
	if (read->probe->kind == SPEC_PROBE_EVENT || probe_is_user(read->probe))
		return 0;
	if (read->probe->kind == SPEC_PROBE_TRACEPOINT)
		learn_event(read);
	else
		ret = learn_function(read);
	if (!ret)
		ret = find_all(read, all, any);
	if (ret || !*all || read->knows_params)
		return ret;
	read->at = *all;
	return probe_refuse(read, -EINVAL, "BTF is not available or not supported", 0);
}

int probe_expand(struct probe_read *read)
{
	uint32_t all;
	bool any;
	int ret = learn(read, &all, &any);

	read->args = read_alloc(read->mem, EXPANDED_MAX * sizeof(*read->args));
	if (ret || !read->args)
		return ret ? ret : -ENOMEM;
	for (uint32_t i = 2; !ret && i < read->nwords; i++) {
		read->at = i;
		if (any && i == all) {
			for (uint32_t n = 0; !ret && n < read->nparams; n++)
				ret = put_param(read, n, "");
		} else if (any && read->knows_params && !strncmp(read->words[i], "$arg", 4)) {
			ret = put_numbered(read, read->words[i]);
		} else {
			ret = put_word(read, read->words[i], "");
		}
	}
	return ret;
}
