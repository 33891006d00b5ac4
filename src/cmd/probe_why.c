/*
 * cmd/probe_why: see probe_why.h.
 */
#include "cmd/probe_why.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* Is there a line "NAME" or "NAME [MODULE]"? -1: the file cannot be read. */
static int is_traced(struct source *source, const char *name)
{
	struct buf text = BUF_INIT, line = BUF_INIT;
	int is = -1;

	if (!source_read(source, "available_filter_functions", &text, NULL) && text.len) {
		buf_printf(&line, "\n%s", name);
		is = 0;
		for (const char *at = text.data; line.data && !is && (at = strstr(at, line.data)); at++)
			is = strchr(" \n", at[line.len]) != NULL;
		is |= !strncmp(text.data, name, strlen(name)) && text.data[strlen(name)] == '\n';
	}
	buf_fini(&text);
	buf_fini(&line);
	return is;
}

/* What can be found out of a function that is refused without a reason. */
static const char *guess_function(struct source *source, const struct probe_event *event)
{
	const char *where = event->where.data, *colon = strchr(where, ':');
	char name[128];

	where = colon ? colon + 1 : where;
	snprintf(name, sizeof(name), "%.*s", (int)strcspn(where, "+%"), where);
	if (!is_traced(source, name))
		return ": the kernel lets nobody probe what it does not trace, and it is not in available_filter_functions";
	return "";
}

/* Nothing is logged of a kind that nobody knows. */
static const char *guess_kind(const struct probe_event *event)
{
	switch (*event->lines.data) {
	case 'e':
		return ": this kernel may have been built without probes of events (CONFIG_EPROBE_EVENTS)";
	case 'f':
	case 't':
		return ": this kernel may have been built without probes of functions and tracepoints by ftrace (CONFIG_FPROBE_EVENTS)";
	default:
		return "";
	}
}

void probe_why(struct source *source, const struct probe_event *event, const struct err *why, struct err *err)
{
	const char *more = "";

	if (source_control(source) || why->code != -EINVAL)
		more = "";
	else if (strstr(why->text, "error_log may say why"))
		more = guess_kind(event);
	else if (!strcmp(event->file, "kprobe_events") && strstr(why->text, "Failed to register"))
		more = guess_function(source, event);
	err_set_at(err, why->code, why->pos, "%s%s", why->text, more);
}
