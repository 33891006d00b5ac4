/*
 * control/func_token: see func_token.h.
 */
#include "control/func_token.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/glob.h"

static const char blanks[] = " \t\n\r";

static bool is_number(const char *text)
{
	return *text && !text[strspn(text, "0123456789")];
}

void func_pattern(char *pattern, size_t size, const char *name)
{
	size_t len = 0;

	for (; *name && len + 2 < size; name++) {
		if (strchr("*?[]\\", *name))
			pattern[len++] = '\\';
		pattern[len++] = *name;
	}
	pattern[len] = '\0';
}

/* A number: the name of that function, counted from 1 as they are shown. */
static int by_number(struct func_token *token, const char *digits, const struct control_functions *functions, struct err *err)
{
	unsigned long long want = strtoull(digits, NULL, 10);

	for (size_t i = 0; i < functions->n; i++) {
		if (!control_function_is_there(&functions->all[i]) || --want)
			continue;
		func_pattern(token->name, sizeof(token->name), functions->all[i].name);
		token->module = functions->all[i].module;
		return 0;
	}
	return err_set(err, -EINVAL, "there is no function of number %.20s: ringside list -f", digits);
}

/* FUNCTION[:COMMAND[:REST]], in parts. */
static int cut(struct func_token *token, const struct control_functions *functions, struct err *err)
{
	char *name = token->parts + token->out, *colon = strchr(name, ':');

	token->module = token->command = NULL;
	token->rest = NULL;
	if (colon) {
		*colon = '\0';
		token->command = colon + 1;
		token->rest = strchr(colon + 1, ':');
		if (token->rest)
			*token->rest++ = '\0';
	}
	if (!*name && !colon)
		return err_set(err, -EINVAL, "a lone '!' names no function");
	if (is_number(name))
		return by_number(token, name, functions, err);
	snprintf(token->name, sizeof(token->name), "%s", *name ? name : "*");
	if (!token->command || strcmp(token->command, "mod"))
		return 0;
	if (!token->rest || !*token->rest || *token->rest == '!' || strchr(token->rest, ':'))
		return err_set(err, -EINVAL, "'%.80s': which module? FUNCTION:mod:MODULE", token->text);
	token->module = token->rest;
	token->command = token->rest = NULL;
	return 0;
}

int func_token_next(const char **at, const char *end, const struct control_functions *functions, struct func_token *token,
		    struct err *err)
{
	size_t len = 0;

	while (*at < end && (!**at || strchr(blanks, **at)))
		(*at)++;
	while (*at + len < end && (*at)[len] && !strchr(blanks, (*at)[len]))
		len++;
	if (!len)
		return 0;
	if (len > FUNC_TOKEN_MAX)
		return err_set(err, -EINVAL, "'%.40s...' is too long for a function's name", *at);
	memcpy(token->text, *at, len);
	token->text[len] = '\0';
	memcpy(token->parts, token->text, len + 1);
	token->out = token->text[0] == '!';
	*at += len;
	return cut(token, functions, err) ? -EINVAL : 1;
}

bool func_token_matches(const struct func_token *token, const struct control_function *function)
{
	return control_function_is_there(function) && glob_match(token->name, function->name) &&
	       (!token->module || glob_match(token->module, function->module));
}

size_t func_token_count(const struct func_token *token, const struct control_functions *functions)
{
	size_t n = 0;

	for (size_t i = 0; i < functions->n; i++)
		n += func_token_matches(token, &functions->all[i]);
	return n;
}
