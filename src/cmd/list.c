/*
 * cmd/list: what there is: events, systems, instances, options, tracers, clocks.
 */
#include <errno.h>
#include <inttypes.h>
#include <regex.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "cmd/cmd.h"
#include "cmd/events.h"
#include "cmd/list_functions.h"
#include "cmd/pager.h"
#include "cmd/probe_local.h"
#include "control/named.h"
#include "decode/format.h"
#include "report/json.h"

static const struct opt list_opts[] = {
	{ 'e', "events", NULL, "events, all or those that match RE" },
	{ 's', "systems", NULL, "systems only" },
	{ 'a', "all", NULL, "also events that have the kernel's names and that no program brought" },
	{ 'F', "fields", NULL, "with the fields of each event" },
	{ 0, "full", NULL, "with the fields and the print format" },
	{ 'l', "filters", NULL, "with the filter of each event" },
	{ 'R', "triggers", NULL, "with the triggers of each event" },
	{ 0, "json", NULL, "one JSON object a line" },
	{ 'f', "functions", NULL, "functions that can be traced, all or those that match the glob RE" },
	{ 0, "sdt", NULL, "probes that files of programs tell of themselves (USDT), all or those that match the glob RE" },
	{ 0, "why", NULL, "with -f: those that cannot, or that are slower than others, and why" },
	{ 0, "proto", NULL, "with -f of the kernel: as C declares them, by the kernel's types (BTF)" },
	{ 'B', "instances", NULL, "instances" },
	{ 'o', "options", NULL, "trace options, with no before those that are off" },
	{ 't', "tracers", NULL, "tracers" },
	{ 'p', "plugins", NULL, "tracers, by their old name" },
	{ 'C', "clocks", NULL, "clocks, the present one in brackets" },
	{ 0, NULL, NULL, NULL },
};

/* What else can be listed than events: words of one file each. */
static const struct words {
	const char *option;
	const char *file;
} words[] = {
	{ "options", "trace_options" },
	{ "tracers", "available_tracers" },
	{ "plugins", "available_tracers" },
	{ "clocks", "trace_clock" },
	{ "instances", NULL },
};

#define NWORDS (sizeof(words) / sizeof(words[0]))

struct listing {
	struct source *source;
	struct events events;
	struct buf out;
	struct err err;
	const char *pattern;	/* NULL: everything */
	regex_t re;
	regex_t part[2];	/* SYSTEM:EVENT as one each */
	bool parts;
	const struct words *words;	/* NULL: events */
	bool all, systems, fields, full, filters, triggers, functions, sdt, why, proto, json;
	size_t left_out;	/* events that nothing records */
};

static void put_string(struct buf *out, const char *key, const char *text)
{
	buf_printf(out, "\"%s\":", key);
	report_json_string(out, text, strlen(text));
}

static int put_json_fields(struct listing *list, const struct events_item *event)
{
	struct buf text = BUF_INIT;
	struct decode_format *format;
	bool first = true;
	int r;

	r = events_format(&list->events, event, &text, &list->err);
	if (r || buf_failed(&text) ||
	    decode_format_parse(event->system, text.data, text.len, NULL, &format, NULL)) {
		buf_puts(&list->out, ",\"fields\":null");
		buf_fini(&text);
		return r;
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
	return 0;
}

/* What hangs on the event, by its file; ftrace's own have none. */
static int read_file(struct listing *list, const struct events_item *event, const char *file, struct buf *text)
{
	struct buf path = BUF_INIT;
	int r = 0;

	buf_printf(&path, "events/%s/%s/%s", event->system, event->name, file);
	if (buf_failed(&path))
		r = err_set(&list->err, -ENOMEM, "out of memory");
	else if (source_exists(list->source, path.data))
		r = source_read(list->source, path.data, text, &list->err);
	buf_fini(&path);
	return r;
}

static int put_json_filter(struct listing *list, const struct events_item *event)
{
	struct buf text = BUF_INIT;
	int r = read_file(list, event, "filter", &text);

	while (text.len && text.data[text.len - 1] == '\n')
		text.data[--text.len] = '\0';
	buf_putc(&list->out, ',');
	if (!text.len || !strcmp(text.data, "none"))
		buf_puts(&list->out, "\"filter\":null");
	else
		put_string(&list->out, "filter", text.data);
	buf_fini(&text);
	return r;
}

static int put_json_triggers(struct listing *list, const struct events_item *event)
{
	struct buf text = BUF_INIT;
	int r = read_file(list, event, "trigger", &text);
	char *save, *line;
	bool first = true;

	buf_puts(&list->out, ",\"triggers\":[");
	for (line = text.data ? strtok_r(text.data, "\n", &save) : NULL; line; line = strtok_r(NULL, "\n", &save)) {
		/* Where there is none the file tells what there could be. */
		if (*line == '#')
			continue;
		if (!first)
			buf_putc(&list->out, ',');
		report_json_string(&list->out, line, strlen(line));
		first = false;
	}
	buf_putc(&list->out, ']');
	buf_fini(&text);
	return r;
}

static int put_json(struct listing *list, const struct events_item *event)
{
	unsigned int id;
	bool on;
	int r;

	r = events_state(&list->events, event, &id, &on, &list->err);
	if (r)
		return r;
	buf_putc(&list->out, '{');
	put_string(&list->out, "system", event->system);
	buf_putc(&list->out, ',');
	put_string(&list->out, "event", event->name);
	buf_printf(&list->out, ",\"id\":%u,\"enabled\":%s", id, on ? "true" : "false");
	if (list->fields)
		r = put_json_fields(list, event);
	if (!r && list->filters)
		r = put_json_filter(list, event);
	if (!r && list->triggers)
		r = put_json_triggers(list, event);
	buf_puts(&list->out, "}\n");
	return r;
}

/* The format file, with or without its last lines. */
static int put_fields(struct listing *list, const struct events_item *event)
{
	size_t start;
	char *print;
	int r;

	buf_printf(&list->out, "system: %s\n", event->system);
	start = list->out.len;
	r = events_format(&list->events, event, &list->out, &list->err);
	if (r || buf_failed(&list->out))
		return r;
	print = strstr(list->out.data + start, "\nprint fmt:");
	if (print && !list->full) {
		list->out.len = (size_t)(print - list->out.data);
		list->out.data[list->out.len] = '\0';
	} else {
		buf_putc(&list->out, '\n');
	}
	return 0;
}

static int put_event(struct listing *list, const struct events_item *event)
{
	int r = 0;

	if (list->json)
		return put_json(list, event);
	if (list->fields)
		r = put_fields(list, event);
	else
		buf_printf(&list->out, "%s:%s\n", event->system, event->name);
	if (!r && list->filters)
		r = read_file(list, event, "filter", &list->out);
	if (!r && list->triggers)
		r = read_file(list, event, "trigger", &list->out);
	if (list->filters || list->triggers)
		buf_putc(&list->out, '\n');
	return r;
}

static bool matches(const struct listing *list, const char *text)
{
	return !list->pattern || !regexec(&list->re, text, 0, NULL, 0);
}

/* Part of a system and part of an event will do: `raw_syscall:sys_enter`. */
static bool matches_event(const struct listing *list, const struct events_item *event)
{
	struct buf name = BUF_INIT;
	bool match;

	if (list->parts && !regexec(&list->part[0], event->system, 0, NULL, 0) &&
	    !regexec(&list->part[1], event->name, 0, NULL, 0))
		return true;
	buf_printf(&name, "%s:%s", event->system, event->name);
	match = name.data && matches(list, name.data);
	buf_fini(&name);
	return match;
}

static bool wanted(struct listing *list, const struct events_item *event)
{
	/* Who names some gets them all; else those would bury what there is to trace. */
	if (!list->pattern && !list->all &&
	    (!event->has_source || (source_control(list->source) && control_event_is_call(event->system)))) {
		list->left_out++;
		return false;
	}
	return matches_event(list, event);
}

static void put_word(struct listing *list, const char *key, const char *word)
{
	if (!list->json) {
		buf_printf(&list->out, "%s\n", word);
		return;
	}
	buf_putc(&list->out, '{');
	put_string(&list->out, key, word);
	buf_puts(&list->out, "}\n");
}

static int put_events(struct listing *list)
{
	const char *last = NULL;
	int r;

	r = events_load(&list->events, list->source, &list->err);
	if (r)
		return r;
	for (size_t i = 0; !r && i < list->events.n; i++) {
		const struct events_item *event = &list->events.item[i];

		if (!wanted(list, event))
			continue;
		/* Events are sorted by system, so one look back is enough. */
		if (!list->systems)
			r = put_event(list, event);
		else if (!last || strcmp(last, event->system))
			put_word(list, "system", event->system);
		last = event->system;
	}
	events_fini(&list->events);
	return r;
}

/* The words of a file, or the names of instances. */
static int put_words(struct listing *list)
{
	struct buf text = BUF_INIT;
	char *save, *word;
	int r;

	if (list->words->file)
		r = source_read(list->source, list->words->file, &text, &list->err);
	else if (!source_exists(list->source, "instances"))
		r = 0;
	else
		r = source_list(list->source, "instances", &text, &list->err);
	for (word = r || !text.data ? NULL : strtok_r(text.data, " \t\n", &save); word;
	     word = strtok_r(NULL, " \t\n", &save)) {
		char *slash = list->words->file ? NULL : strrchr(word, '/');
		char key[16] = "";

		if (slash)
			*slash = '\0';
		/* "options" of one is "option". */
		memcpy(key, list->words->option, strlen(list->words->option) - 1);
		if (matches(list, word))
			put_word(list, key, word);
	}
	buf_fini(&text);
	return r;
}

/* Files that cannot be read any more have none. */
static int put_sdt(struct listing *list, const struct opts *opts)
{
	char **paths;
	size_t n;
	int r = probe_files_known(&paths, &n, opts, &list->err);

	for (size_t i = 0; i < n; i++) {
		probe_list_usdt(&list->out, paths[i], list->pattern, true, list->json, NULL);
		free(paths[i]);
	}
	free(paths);
	return r;
}

static int list_source(struct listing *list, const struct opts *opts)
{
	int r;

	if (list->sdt) {
		r = put_sdt(list, opts);
		return r ? r : pager_show(opts, &list->out, &list->err);
	}
	r = cmd_open(&list->source, opts, false, &list->err);
	if (r)
		return r;
	if (list->functions)
		r = list_functions(&list->out, list->source,
				   &(struct list_ask){ .opts = opts, .pattern = list->pattern, .why = list->why, .proto = list->proto,
						       .json = list->json },
				   &list->err);
	else
		r = list->words ? put_words(list) : put_events(list);
	if (!r)
		r = pager_show(opts, &list->out, &list->err);
	if (!r && list->left_out && !list->json)
		cmd_say("%zu events of the kernel's names are left out, which no program has brought: -a, or an RE, lists "
			"them", list->left_out);
	source_close(list->source);
	return r;
}

/* Options that can stand together? An exit status. */
static int check(struct listing *list, const struct opts *opts)
{
	bool hooks = list->filters || list->triggers;
	int kinds = list->systems + list->functions + list->sdt + (opts_value(opts, "events") || list->fields || hooks);

	for (size_t i = 0; i < NWORDS; i++) {
		if (!opts_value(opts, words[i].option))
			continue;
		list->words = &words[i];
		kinds++;
	}
	if (list->systems && (list->fields || hooks))
		return cmd_misuse(&cmd_list, "list: systems have no fields, filters and triggers: -s goes without -F, --full, "
				  "-l and -R");
	if ((list->why || list->proto) && !list->functions)
		return cmd_misuse(&cmd_list, "list: %s is about functions: -f", list->why ? "--why" : "--proto");
	if (kinds > 1)
		return cmd_misuse(&cmd_list, "list: one thing at a time: -e, -s, -f, --sdt, -B, -o, -t, -p or -C");
	return CMD_DONE;
}

#define RE_FLAGS (REG_EXTENDED | REG_ICASE | REG_NOSUB)

/* A colon may be part of something else, such as [[:digit:]]: what is on its sides is no expression then. */
static void compile_parts(struct listing *list)
{
	size_t len = strcspn(list->pattern, ":/");
	char *system = strndup(list->pattern, len);

	if (system && list->pattern[len] && !regcomp(&list->part[0], system, RE_FLAGS)) {
		list->parts = !regcomp(&list->part[1], list->pattern + len + 1, RE_FLAGS);
		if (!list->parts)
			regfree(&list->part[0]);
	}
	free(system);
}

/* An exit status. */
static int compile(struct listing *list)
{
	char wrong[128];
	int r = regcomp(&list->re, list->pattern, RE_FLAGS);

	if (r) {
		regerror(r, &list->re, wrong, sizeof(wrong));
		return cmd_misuse(&cmd_list, "list: '%s': %s", list->pattern, wrong);
	}
	compile_parts(list);
	return CMD_DONE;
}

static void compiled_free(struct listing *list)
{
	regfree(&list->re);
	for (size_t i = 0; list->parts && i < 2; i++)
		regfree(&list->part[i]);
}

static int run(const struct opts *opts)
{
	struct listing list = {
		.out = BUF_INIT,
		.err = ERR_INIT,
		.pattern = opts_arg(opts, 0),
		.all = opts_value(opts, "all") != NULL,
		.systems = opts_value(opts, "systems") != NULL,
		.full = opts_value(opts, "full") != NULL,
		.fields = opts_value(opts, "fields") || opts_value(opts, "full"),
		.filters = opts_value(opts, "filters") != NULL,
		.triggers = opts_value(opts, "triggers") != NULL,
		.functions = opts_value(opts, "functions") != NULL,
		.sdt = opts_value(opts, "sdt") != NULL,
		.why = opts_value(opts, "why") != NULL,
		.proto = opts_value(opts, "proto") != NULL,
		.json = opts_value(opts, "json") != NULL,
	};
	bool regular = list.pattern && !list.functions && !list.sdt;
	int r;

	r = check(&list, opts);
	if (!r && regular)
		r = compile(&list);
	if (r)
		return r;
	r = list_source(&list, opts);
	if (regular)
		compiled_free(&list);
	buf_fini(&list.out);
	return r ? cmd_fail(&list.err) : CMD_DONE;
}

const struct cmd cmd_list = {
	.name = "list",
	.synopsis = "[-e | -s | -f | --sdt | -B | -o | -t | -p | -C] [-a] [-F] [--full] [-l] [-R] [--why] [--proto] [--json] [RE]",
	.summary = "list events and what else there is",
	.text = "Lists the events that there are: those that programs have brought to the tracing\n"
		"directory, or the kernel's. They are written SYSTEM:EVENT. RE is an extended regular\n"
		"expression that is looked for in that, or in what else is listed; or one for the system\n"
		"and one for the event, with : or / between them. Events of the\n"
		"kernel's names that no program has brought (sched, syscalls, ...) are only listed with RE\n"
		"or -a. Of functions (-f) and probes of files (--sdt) RE is a glob, as in\n"
		"set_ftrace_filter; a plain word, with -f, is part of a function's name, and of the\n"
		"kernel's functions it may be a regular expression, too.\n",
	.opts = list_opts,
	.args_max = 1,
	.run = run,
};
