/*
 * cmd/list: which events there are.
 */
#include <errno.h>
#include <inttypes.h>
#include <regex.h>
#include <string.h>

#include "base/buf.h"
#include "cmd/cmd.h"
#include "control/enable.h"
#include "control/registry.h"
#include "control/rules.h"
#include "decode/format.h"
#include "report/json.h"

static const struct opt list_opts[] = {
	{ 'e', "events", NULL, "events, all or those that match RE" },
	{ 's', "systems", NULL, "systems only" },
	{ 'F', "fields", NULL, "with the fields of each event" },
	{ 0, "full", NULL, "with the fields and the print format" },
	{ 0, "json", NULL, "one JSON object a line" },
	{ 0, NULL, NULL, NULL },
};

struct listing {
	struct control *control;
	struct control_registry registry;
	struct buf out;
	const char *pattern;	/* NULL: everything */
	regex_t re;
	bool systems, fields, full, json;
};

static void put_string(struct buf *out, const char *key, const char *text)
{
	buf_printf(out, "\"%s\":", key);
	report_json_string(out, text, strlen(text));
}

static void put_json_fields(struct listing *list, const struct control_event *event)
{
	struct buf text = BUF_INIT;
	struct decode_format *format;
	bool first = true;

	control_event_format(event, &text);
	if (buf_failed(&text) ||
	    decode_format_parse(event->system, text.data, text.len, NULL, &format, NULL)) {
		buf_puts(&list->out, ",\"fields\":null");
		buf_fini(&text);
		return;
	}
	buf_puts(&list->out, ",\"fields\":[");
	for (uint32_t i = 0; i < format->nr_fields; i++) {
		const struct decode_field *field = &format->fields[i];

		buf_puts(&list->out, first ? "{" : ",{");
		first = false;
		put_string(&list->out, "name", field->name);
		buf_putc(&list->out, ',');
		put_string(&list->out, "type", field->type);
		buf_printf(&list->out, ",\"offset\":%" PRIu32 ",\"size\":%" PRIu32 ",\"signed\":%s}",
			   field->offset, field->size, field->is_signed ? "true" : "false");
	}
	buf_putc(&list->out, ']');
	if (list->full) {
		buf_putc(&list->out, ',');
		put_string(&list->out, "print_fmt", format->print_fmt);
	}
	decode_format_free(format);
	buf_fini(&text);
}

static void put_json(struct listing *list, const struct control_event *event)
{
	bool on = control_rules_on(&list->control->state, 0, event->system, event->name);

	buf_putc(&list->out, '{');
	put_string(&list->out, "system", event->system);
	buf_putc(&list->out, ',');
	put_string(&list->out, "event", event->name);
	buf_printf(&list->out, ",\"id\":%" PRIu32 ",\"enabled\":%s", event->id,
		   on ? "true" : "false");
	if (list->fields)
		put_json_fields(list, event);
	buf_puts(&list->out, "}\n");
}

/* The format file, with or without its last lines. */
static void put_fields(struct listing *list, const struct control_event *event)
{
	size_t start = list->out.len;
	char *print;

	buf_printf(&list->out, "system: %s\n", event->system);
	control_event_format(event, &list->out);
	if (buf_failed(&list->out))
		return;
	print = strstr(list->out.data + start, "\nprint fmt:");
	if (print && !list->full) {
		list->out.len = (size_t)(print - list->out.data);
		list->out.data[list->out.len] = '\0';
	} else {
		buf_putc(&list->out, '\n');
	}
}

static void put_event(struct listing *list, const struct control_event *event)
{
	if (list->json)
		put_json(list, event);
	else if (list->fields)
		put_fields(list, event);
	else
		buf_printf(&list->out, "%s:%s\n", event->system, event->name);
}

static bool wanted(const struct listing *list, const struct control_event *event)
{
	struct buf name = BUF_INIT;
	bool match;

	if (!event->shown)
		return false;
	if (!list->pattern)
		return true;
	buf_printf(&name, "%s:%s", event->system, event->name);
	match = name.data && !regexec(&list->re, name.data, 0, NULL, 0);
	buf_fini(&name);
	return match;
}

/* Events are sorted by system, so one look back is enough. */
static void put_systems(struct listing *list)
{
	const char *last = NULL;

	for (uint32_t i = 0; i < list->registry.nevents; i++) {
		const struct control_event *event = &list->registry.events[i];

		if (!wanted(list, event) || (last && !strcmp(last, event->system)))
			continue;
		last = event->system;
		if (list->json) {
			buf_putc(&list->out, '{');
			put_string(&list->out, "system", event->system);
			buf_puts(&list->out, "}\n");
		} else {
			buf_printf(&list->out, "%s\n", event->system);
		}
	}
}

static int put_all(struct listing *list, struct err *err)
{
	int r;

	r = control_refresh(list->control, err);
	if (!r)
		r = control_registry_read(&list->registry, &list->control->dir,
					  CONTROL_REGISTRY_EVENTS, err);
	if (r)
		return r;
	if (list->systems && !list->fields)
		put_systems(list);
	else
		for (uint32_t i = 0; i < list->registry.nevents; i++)
			if (wanted(list, &list->registry.events[i]))
				put_event(list, &list->registry.events[i]);
	control_registry_fini(&list->registry);
	if (buf_failed(&list->out))
		return err_set(err, -ENOMEM, "out of memory");
	return cmd_put(list->out.data ? list->out.data : "", list->out.len, err);
}

static int run(const struct opts *opts)
{
	struct listing list = {
		.out = BUF_INIT,
		.pattern = opts_arg(opts, 0),
		.systems = opts_value(opts, "systems") != NULL,
		.full = opts_value(opts, "full") != NULL,
		.fields = opts_value(opts, "fields") || opts_value(opts, "full"),
		.json = opts_value(opts, "json") != NULL,
	};
	struct err err = ERR_INIT;
	char wrong[128];
	int r;

	if (list.systems && opts_value(opts, "events"))
		return cmd_misuse(&cmd_list, "list: -e and -s exclude each other");
	if (list.pattern) {
		r = regcomp(&list.re, list.pattern, REG_EXTENDED | REG_ICASE | REG_NOSUB);
		if (r) {
			regerror(r, &list.re, wrong, sizeof(wrong));
			return cmd_misuse(&cmd_list, "list: '%s': %s", list.pattern, wrong);
		}
	}
	r = cmd_open(&list.control, opts, false, &err);
	if (!r) {
		r = put_all(&list, &err);
		control_close(list.control);
	}
	if (list.pattern)
		regfree(&list.re);
	buf_fini(&list.out);
	return r ? cmd_fail(&err) : CMD_DONE;
}

const struct cmd cmd_list = {
	.name = "list",
	.synopsis = "[-e [RE] | -s] [-F] [--full] [--json]",
	.summary = "list the events that programs brought",
	.text = "Lists the events that programs have brought to the tracing directory, as\n"
		"SYSTEM:EVENT. RE is an extended regular expression that is looked for in that.\n",
	.opts = list_opts,
	.args_max = 1,
	.run = run,
};
