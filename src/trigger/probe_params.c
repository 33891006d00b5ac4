/*
 * trigger/probe_params: parameters of a function by its prototype (layout/prototype.h), fields of an event by its format.
 *
 * With them `$arg*` is an argument for each, `$argN` of the line is called by its name, and a plain name is `$argN`. The prototype
 * comes out of debug information and may hold anything.
 */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "layout/prototype.h"
#include "trigger/probe.h"

#define EXPANDED_MAX 256

/* ---- of a function ---- */

/* KIND [@FIRST[+COUNT]] [NAME], up to a comma or bracket. */
static const char *read_param(struct probe_read *read, const char *text, struct probe_param *param)
{
	char *end;
	size_t len;

	*param = (struct probe_param){ .name = "", .kind = text[0], .at = -1 };
	if (!*text || strchr(",()", *text))
		return text;
	param->size = (uint8_t)strtoul(text + 1, &end, 10);
	if (*end == '@') {
		unsigned long at = isdigit((unsigned char)end[1]) ? strtoul(end + 1, &end, 10) : PROTOTYPE_REGISTERS;

		param->at = at < PROTOTYPE_REGISTERS ? (int8_t)at : -1;
	}
	end += strcspn(end, " ,()");
	end += *end == ' ';
	len = strcspn(end, ",()");
	param->name = read_dup(read->mem, end, len);
	if (!param->name || !read_is_name(param->name))
		param->name = "";
	return end + len;
}

/* Debug information is not read for those who do not ask: a parameter, by number or name, or what is returned. */
static bool asks(const struct probe_read *read)
{
	for (uint32_t i = 2; i < read->nwords; i++) {
		const char *word = read->words[i], *body = strchr(word, '=');

		body = body ? body + 1 : word;
		if (strstr(word, "$arg") || strstr(word, "$retval") || isalpha((unsigned char)*body) || *body == '_')
			return true;
		body = strrchr(body, '(');
		if (body && (isalpha((unsigned char)body[1]) || body[1] == '_'))
			return true;
	}
	return false;
}

static void learn_function(struct probe_read *read)
{
	struct spec_probe *probe = read->probe;
	const struct spec_world *world = read->world;
	const char *text = NULL;

	probe->by_prototype = probe->symbol && asks(read);
	if (probe->by_prototype && world->prototype)
		text = world->prototype(world->arg, probe->file, probe->symbol);
	if (!text)
		return;
	text = read_param(read, text, &read->returned);
	/* All of them may be unknown. */
	if (*text != '(' || text[1] == '?')
		return;
	read->knows_params = true;
	for (text++; *text && *text != ')' && read->nparams < PROBE_PARAMS_MAX; text += *text == ',') {
		const char *from = text;

		text = read_param(read, text, &read->params[read->nparams++]);
		if (text == from)
			break;
	}
}

/* ---- of an event ---- */

static void learn_event(struct probe_read *read)
{
	read->knows_params = read->format;
	for (uint32_t i = 0; read->format && i < read->format->nr_fields && read->nparams < PROBE_PARAMS_MAX; i++) {
		const struct decode_field *field = &read->format->fields[i];

		if (field->is_common)
			continue;
		read->params[read->nparams++] = (struct probe_param){ .name = field->name, .at = -1,
			.kind = !field->is_array && strchr(field->type, '*') ? 'p' : '?' };
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

bool probe_has_params(const struct probe_read *read)
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
		if (!probe_has_params(read))
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
	int ret;

	*all = 0;
	*any = false;
	if (read->probe->kind == SPEC_PROBE_EVENT || probe_is_user(read->probe))
		return 0;
	if (read->probe->kind == SPEC_PROBE_TRACEPOINT)
		learn_event(read);
	else
		learn_function(read);
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
