/*
 * control/func_token: a word of set_ftrace_filter and its like, cut into its parts. Private to the room.
 *
 *   [!]FUNCTION            a glob, or a decimal number: that one of available_filter_functions
 *   [!]FUNCTION:mod:MODULE
 *   [!]FUNCTION:COMMAND[:PARAMETER]...
 */
#ifndef CONTROL_FUNC_TOKEN_H
#define CONTROL_FUNC_TOKEN_H

#include "control/func_set.h"
#include "control/node.h"

#define FUNC_TOKEN_MAX 1023

struct func_token {
	char text[FUNC_TOKEN_MAX + 1];	/* as it was written */
	char name[2 * FUNC_TOKEN_MAX + 1];	/* a glob; longer than what was written where a number stood */
	char parts[FUNC_TOKEN_MAX + 1];
	const char *module;		/* in parts; NULL: any */
	const char *command;		/* in parts, NULL: none */
	char *rest;			/* what follows that, NULL: nothing */
	bool out;
};

/* Takes the next one: 1, 0 at the end, -EINVAL. */
int func_token_next(const char **at, const char *end, const struct control_functions *functions, struct func_token *token,
		    struct err *err);

/* Does it mean that function? */
bool func_token_matches(const struct func_token *token, const struct control_function *function);
/* How many there are that it means. */
size_t func_token_count(const struct func_token *token, const struct control_functions *functions);

/* A pattern that matches that name and no other; cut to fit. */
void func_pattern(char *pattern, size_t size, const char *name);

/* func_act.c: what a command asks for. Part of a transaction. */
struct control_items;
int func_act_apply(struct control_items *items, uint32_t buffer, const struct func_token *token,
		   const struct control_functions *functions, struct err *err);

#endif
