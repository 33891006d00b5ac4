/*
 * cmd/keep: see keep.h.
 */
#include "cmd/keep.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "control/func_set.h"

/* The one in brackets, the size that is to be, or else the first line; a star behind it is said of what others do with it. */
static void put_word(struct buf *out, const char *text)
{
	static const char later[] = "(expanded: ";
	const char *mark = strchr(text, '['), *expanded = strstr(text, later);

	if (mark)
		buf_printf(out, "%.*s", (int)strcspn(mark + 1, "]"), mark + 1);
	else if (expanded)
		buf_printf(out, "%.*s", (int)strcspn(expanded + sizeof(later) - 1, ")"),
			   expanded + sizeof(later) - 1);
	else
		buf_printf(out, "%.*s", (int)strcspn(text, "*\n"), text);
}

/* A function of a module: NAME [MODULE] is shown, and NAME:mod:MODULE is written. What functions set off stays when the list is emptied. */
static void put_function(struct buf *out, const char *line, size_t len)
{
	const char *module = memchr(line, '[', len), *end = line + len - 1;

	if (memchr(line, ':', len) && !memmem(line, len, ":mod:", 5))
		return;
	if (module && module > line && *end == ']')
		buf_printf(out, "%.*s:mod:%.*s\n", (int)strcspn(line, " \t["), line, (int)(end - module - 1), module + 1);
	else
		buf_printf(out, "%.*s\n", (int)len, line);
}

/* Lines, without those for people. */
static void put_lines(struct buf *out, const char *file, const char *text)
{
	bool functions = !strncmp(file, "set_ftrace_", 11) && !strstr(file, "pid");
	bool bare = !strncmp(file, "set_graph_", 10) || !strcmp(file, "stack_trace_filter");

	while (*text) {
		size_t len = strcspn(text, "\n");

		if (functions && *text != '#' && len)
			put_function(out, text, len);
		/* These show the module, too, and take the name alone. */
		else if (bare && *text != '#' && len)
			buf_printf(out, "%.*s\n", (int)strcspn(text, " \t\n"), text);
		else if (*text != '#' && len && strncmp(text, "no pid", 6))
			buf_printf(out, "%.*s\n", (int)len, text);
		text += len + (text[len] == '\n');
	}
}

/* Brackets in it are its own. One that was refused is told, and is none. */
static void put_filter(struct buf *out, const char *text)
{
	if (!strncmp(text, "none", 4) || strstr(text, "\nparse_error: "))
		buf_putc(out, '0');
	else
		buf_printf(out, "%.*s", (int)strcspn(text, "\n"), text);
}

/* Of a tracing directory, whose lines about functions are patterns: those, not what they mean now. False: it is no such file. */
static bool put_functions(struct source *source, const struct scope *scope, const char *file, struct buf *out)
{
	struct control *control = source_control(source);
	uint32_t kind = control ? control_funcs_kind(file) : 0;
	int place;

	if (!kind || control_follow(control, NULL))
		return false;
	place = control_state_buffer(&control->state, scope->instance ? scope->instance : "");
	if (place >= 0)
		control_funcs_put_lines(&control->state, (uint32_t)place, kind, out);
	return place >= 0;
}

int keep_read(struct source *source, const struct scope *scope, const char *file, enum setup_keep kind, struct buf *out,
	      struct err *err)
{
	struct buf text = BUF_INIT;
	int r;

	buf_puts(out, "");
	if (put_functions(source, scope, file, out))
		return buf_failed(out) ? err_set(err, -ENOMEM, "out of memory") : 0;
	r = scope_read(scope, source, file, &text, err);
	if (!r && text.data && kind == KEEP_WORD)
		put_word(out, text.data);
	else if (!r && text.data && kind == KEEP_LIST)
		put_lines(out, file, text.data);
	else if (!r && text.data)
		put_filter(out, text.data);
	if (!r && (buf_failed(out) || buf_failed(&text)))
		r = err_set(err, -ENOMEM, "out of memory");
	buf_fini(&text);
	return r;
}

bool keep_is_on(struct source *source, const struct scope *scope, const char *line, size_t len)
{
	struct buf text = BUF_INIT;
	size_t system = strcspn(line, ":");
	char file[256];
	bool on;

	if (system >= len)
		return false;
	snprintf(file, sizeof(file), "events/%.*s/%.*s/enable", (int)system, line, (int)(len - system - 1), line + system + 1);
	on = scope_read(scope, source, file, &text, NULL) || !text.data || *text.data != '0';
	buf_fini(&text);
	return on;
}

int keep_events(struct source *source, const struct scope *scope, struct buf *out, struct err *err)
{
	struct buf text = BUF_INIT;
	int r = keep_read(source, scope, "set_event", KEEP_LIST, &text, err);

	buf_puts(out, "");
	for (const char *line = text.data; !r && line && *line;) {
		size_t len = strcspn(line, "\n");

		if (keep_is_on(source, scope, line, len))
			buf_printf(out, "%.*s\n", (int)len, line);
		line += len + (line[len] == '\n');
	}
	buf_fini(&text);
	return !r && buf_failed(out) ? err_set(err, -ENOMEM, "out of memory") : r;
}
