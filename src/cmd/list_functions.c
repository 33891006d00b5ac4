/*
 * cmd/list_functions: see list_functions.h.
 *
 * Of a tracing directory from its plans, of the kernel by list_kernel.c, of other trees from their file, which says nothing of reasons.
 */
#include "cmd/list_functions.h"

#include <errno.h>
#include <string.h>

#include "base/glob.h"
#include "cmd/kernel.h"
#include "control/func_set.h"
#include "plan/plan.h"
#include "report/json.h"

static void put_string(struct buf *out, const char *key, const char *text)
{
	buf_printf(out, "\"%s\":", key);
	report_json_string(out, text, strlen(text));
}

static void put_json(struct buf *out, const char *name, const char *module, const char *how, const char *why, const char *proto)
{
	buf_putc(out, '{');
	put_string(out, "function", name);
	if (module) {
		buf_putc(out, ',');
		put_string(out, "module", module);
	}
	if (proto) {
		buf_putc(out, ',');
		put_string(out, "prototype", proto);
	}
	if (why) {
		buf_putc(out, ',');
		put_string(out, "traced", how);
		buf_putc(out, ',');
		put_string(out, "reason", why);
	}
	buf_puts(out, "}\n");
}

void list_put_function(struct buf *out, const char *name, const char *module, const char *how, const char *why, const char *proto,
		       bool json)
{
	if (json) {
		put_json(out, name, module, how, why, proto);
		return;
	}
	buf_printf(out, "%s%s%s%s%s%s\n", proto ? proto : name, module ? " [" : "", module ? module : "", module ? "]" : "", why ? ": " : "",
		   why ? why : "");
}

static void put(struct buf *out, const struct control_function *function, bool why, bool json)
{
	const char *how = function->kind == PLAN_TRAP ? "by a trap" : "no";
	const char *reason = why ? plan_reason(function->reason) : NULL;

	if (json) {
		put_json(out, function->name, function->program ? NULL : function->module, how, reason, NULL);
		return;
	}
	control_function_put(out, function);
	if (why)
		buf_printf(out, ": %s%s", function->kind == PLAN_TRAP ? "by a trap: " : "", reason);
	buf_putc(out, '\n');
}

static int list_plans(struct buf *out, struct control *control, const struct list_ask *ask, struct err *err)
{
	struct control_functions functions = { 0 };
	int r = control_functions_read(&functions, control, err);

	for (size_t i = 0; !r && i < functions.n; i++) {
		const struct control_function *function = &functions.all[i];

		if (ask->why ? function->kind != PLAN_JUMP : function->kind != PLAN_NOT)
			if (!ask->pattern || glob_match(ask->pattern, function->name))
				put(out, function, ask->why, ask->json);
	}
	control_functions_fini(&functions);
	return r;
}

/* A line of available_filter_functions: `name` or `name [module]`. */
static void put_line(struct buf *out, char *line, const struct list_ask *ask)
{
	char *module = strstr(line, " [");

	if (module) {
		*module = '\0';
		module += 2;
		module[strcspn(module, "]")] = '\0';
	}
	if (!ask->pattern || glob_match(ask->pattern, line))
		list_put_function(out, line, module, NULL, NULL, NULL, ask->json);
}

static int list_file(struct buf *out, struct source *source, const struct list_ask *ask, struct err *err)
{
	struct buf text = BUF_INIT;
	char *save;
	int r = source_read(source, "available_filter_functions", &text, err);

	for (char *line = r || !text.data ? NULL : strtok_r(text.data, "\n", &save); line; line = strtok_r(NULL, "\n", &save))
		put_line(out, line, ask);
	buf_fini(&text);
	return r;
}

/* The glob that a word stands for: itself, or, where it has none of a glob's signs, anything with that in it; ^ and $ are its ends. */
static void glob_make(struct buf *glob, const char *word)
{
	size_t len = strlen(word);
	bool plain = !strpbrk(word, "*?[\\");
	bool begins = plain && word[0] == '^';
	bool ends = plain && len && word[len - 1] == '$';

	buf_printf(glob, "%s%.*s%s", plain && !begins ? "*" : "", (int)(len - begins - ends), word + begins,
		   plain && !ends ? "*" : "");
}

int list_functions(struct buf *out, struct source *source, const struct list_ask *ask, struct err *err)
{
	struct list_ask by_glob = *ask;
	struct buf glob = BUF_INIT;
	int r;

	if (kernel_is_meant(ask->opts))
		return list_kernel_functions(out, source, ask, err);
	if (ask->proto)
		return err_set(err, -EOPNOTSUPP, "%s does not tell what functions are given: --proto is about the kernel (--kernel)",
			       source_name(source));
	if (ask->why && !source_control(source))
		return err_set(err, -EOPNOTSUPP, "%s does not tell reasons", source_name(source));
	if (ask->pattern)
		glob_make(&glob, ask->pattern);
	by_glob.pattern = glob.data;
	if (buf_failed(&glob))
		r = err_set(err, -ENOMEM, "out of memory");
	else if (source_control(source))
		r = list_plans(out, source_control(source), &by_glob, err);
	else
		r = list_file(out, source, &by_glob, err);
	buf_fini(&glob);
	return r;
}
