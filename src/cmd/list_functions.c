/*
 * cmd/list_functions: see list_functions.h.
 *
 * Of a tracing directory from its plans, of other trees from their file, which says nothing of reasons.
 */
#include "cmd/list_functions.h"

#include <errno.h>
#include <string.h>

#include "base/glob.h"
#include "control/func_set.h"
#include "plan/plan.h"
#include "report/json.h"

static void put_string(struct buf *out, const char *key, const char *text)
{
	buf_printf(out, "\"%s\":", key);
	report_json_string(out, text, strlen(text));
}

static void put_json(struct buf *out, const char *name, const char *module, const char *how, const char *why)
{
	buf_putc(out, '{');
	put_string(out, "function", name);
	if (module) {
		buf_putc(out, ',');
		put_string(out, "module", module);
	}
	if (why) {
		buf_putc(out, ',');
		put_string(out, "traced", how);
		buf_putc(out, ',');
		put_string(out, "reason", why);
	}
	buf_puts(out, "}\n");
}

static void put(struct buf *out, const struct control_function *function, bool why, bool json)
{
	const char *how = function->kind == PLAN_TRAP ? "by a trap" : "no";
	const char *reason = why ? plan_reason(function->reason) : NULL;

	if (json) {
		put_json(out, function->name, function->program ? NULL : function->module, how, reason);
		return;
	}
	control_function_put(out, function);
	if (why)
		buf_printf(out, ": %s%s", function->kind == PLAN_TRAP ? "by a trap: " : "", reason);
	buf_putc(out, '\n');
}

static int list_plans(struct buf *out, struct control *control, const char *glob, bool why, bool json, struct err *err)
{
	struct control_functions functions = { 0 };
	int r = control_functions_read(&functions, control, err);

	for (size_t i = 0; !r && i < functions.n; i++) {
		const struct control_function *function = &functions.all[i];

		if (why ? function->kind != PLAN_JUMP : function->kind != PLAN_NOT)
			if (!glob || glob_match(glob, function->name))
				put(out, function, why, json);
	}
	control_functions_fini(&functions);
	return r;
}

/* A line of available_filter_functions: `name` or `name [module]`. */
static void put_line(struct buf *out, char *line, const char *glob, bool json)
{
	char *module = strstr(line, " [");

	if (module)
		*module = '\0';
	if (glob && !glob_match(glob, line))
		return;
	if (json) {
		if (module)
			module[strcspn(module + 2, "]") + 2] = '\0';
		put_json(out, line, module ? module + 2 : NULL, NULL, NULL);
	} else {
		buf_printf(out, "%s%s%s\n", line, module ? " [" : "", module ? module + 2 : "");
	}
}

int list_functions(struct buf *out, struct source *source, const char *glob, bool why, bool json, struct err *err)
{
	static const char file[] = "available_filter_functions";
	struct buf text = BUF_INIT;
	char *save;
	int r;

	if (source_control(source))
		return list_plans(out, source_control(source), glob, why, json, err);
	if (why)
		return err_set(err, -EOPNOTSUPP, "%s does not tell reasons", source_name(source));
	r = source_read(source, file, &text, err);
	for (char *line = r || !text.data ? NULL : strtok_r(text.data, "\n", &save); line; line = strtok_r(NULL, "\n", &save))
		put_line(out, line, glob, json);
	buf_fini(&text);
	return r;
}
