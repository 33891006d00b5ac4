/*
 * cmd/probe_event: events that are made of other events -> lines of dynamic_events; and lines that somebody writes as they are.
 *
 *   net/netif_receive_skb (struct sk_buff *)skbaddr->len   ->   e:probe/netif_receive_skb net.netif_receive_skb len=+112($skbaddr):u32
 *
 * A field that is a pointer to a struct that the kernel's types tell of needs no cast. Of a tracing directory there are fields, and no types.
 */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/events.h"
#include "cmd/nearest.h"
#include "cmd/probe_local.h"
#include "symbol/fetch.h"

/* ---- which event ---- */

/* Two names with one of these between them. */
static bool read_target(struct probe_target *target, const char *text, const char *marks)
{
	const size_t len = fetch_word(text);
	const char *event = text + len + 1;

	if (!len || len >= sizeof(target->system) || !text[len] || !strchr(marks, text[len]) || isdigit((unsigned char)*event) ||
	    fetch_word(event) != strlen(event) || strlen(event) >= sizeof(target->event))
		return false;
	snprintf(target->system, sizeof(target->system), "%.*s", (int)len, text);
	snprintf(target->event, sizeof(target->event), "%s", event);
	return true;
}

bool probe_is_event(struct probe_target *target, struct source *source, const char *text)
{
	struct buf path = BUF_INIT;
	bool is;

	if (!read_target(target, text, "/.:"))
		return false;
	buf_printf(&path, "events/%s/%s/format", target->system, target->event);
	is = path.data && source_exists(source, path.data);
	buf_fini(&path);
	return is;
}

int probe_no_event(struct source *source, const char *text, struct err *err)
{
	struct nearest nearest = { 0 };
	struct probe_target target;
	struct events events;
	char words[160];

	/* With another mark it may be a module's function, or a line. */
	if (!read_target(&target, text, "/") || events_load(&events, source, NULL))
		return 0;
	nearest.system = target.system;
	nearest.event = target.event;
	for (size_t i = 0; i < events.n; i++)
		nearest_offer(&nearest, events.item[i].system, events.item[i].name);
	err_set(err, -ENOENT, "there is no event %s:%s%s", target.system, target.event, nearest_words(&nearest, words));
	events_fini(&events);
	return -ENOENT;
}

static int read_format(struct decode_format **format, struct source *source, const struct probe_target *target, struct err *err)
{
	struct buf path = BUF_INIT, text = BUF_INIT;
	int r;

	buf_printf(&path, "events/%s/%s/format", target->system, target->event);
	r = buf_failed(&path) ? err_set(err, -ENOMEM, "out of memory") : source_read(source, path.data, &text, err);
	if (!r)
		r = decode_format_parse(target->system, text.data, text.len, NULL, format, err);
	buf_fini(&path);
	buf_fini(&text);
	return r;
}

/* ---- its fields ---- */

static const char *word_of(const struct decode_field *field)
{
	static const char *const words[3][4] = { { "u8", "u16", "u32", "u64" }, { "s8", "s16", "s32", "s64" }, { "x8", "x16", "x32", "x64" } };
	const bool pointer = field->kind == DECODE_POINTER || strchr(field->type, '*');

	if (field->is_string)
		return "string";
	if (field->is_array || field->kind == DECODE_FLOAT)
		return NULL;
	for (int i = 0; i < 4; i++)
		if (field->size == 1u << i)
			return words[pointer ? 2 : field->is_signed][i];
	return NULL;
}

static void put_field(struct btf_scope *scope, const struct decode_field *field)
{
	struct btf_root *root = &scope->roots[scope->n];
	const char *type = field->type;

	*root = (struct btf_root){ .text = field->type, .word = word_of(field) };
	snprintf(root->name, sizeof(root->name), "%s", field->name);
	if (root->word)
		snprintf(root->fetch[0], sizeof(root->fetch[0]), "$%.60s", field->name);
	else
		root->why = "of an event probes take integers, pointers and texts";
	/* Of most pointers an event tells nothing but that they are some. */
	if (root->word && scope->btf && strchr(type, '*') && !strstr(type, "void") &&
	    (btf_parse_type(scope->btf, &type, &root->type, NULL) || *type))
		root->type = (struct btf_ref){ 0 };
	scope->n++;
}

int probe_scope_event(struct btf_scope *scope, struct kernel *kernel, const struct probe_target *target, struct decode_format **format,
		      struct err *err)
{
	int r = read_format(format, kernel->source, target, err);

	if (r)
		return r;
	*scope = (struct btf_scope){ .where = target->event, .plain_char = !kernel_knows(kernel, "char,") };
	if (!source_control(kernel->source)) {
		scope->btf = kernel_btf(kernel, NULL);
		scope->why = kernel->btf_why.text;
	} else {
		scope->why = "types of programs are not known here";
	}
	for (uint32_t i = 0; i < (*format)->nr_fields && scope->n < BTF_ROOTS_MAX; i++)
		if (!(*format)->fields[i].is_common)
			put_field(scope, &(*format)->fields[i]);
	return 0;
}

/* ---- lines ---- */

static int raw_word(void *ctx, const char *expr, struct buf *body, struct err *err)
{
	const struct probe_target *target = ctx;

	if (*expr == '%' || strstr(expr, "(%"))
		return err_set(err, -EINVAL, "%.60s: an event has fields, and no registers", expr);
	if (*expr == '$' && strcmp(expr, "$comm") && strncmp(expr, "$comm:", 6))
		return err_set(err, -ENOENT, "%.60s: the event %s:%s has no such field: -V %s/%s lists them", expr, target->system,
			       target->event, target->system, target->event);
	buf_puts(body, expr);
	return 0;
}

/* What stands behind `if` is one condition, and no arguments. */
static void cut_filter(struct probe_words *words, const struct probe_words *given, struct buf *filter)
{
	*words = *given;
	for (size_t i = 0; i < given->nargs; i++) {
		if (!filter->len && strcmp(given->args[i], "if"))
			continue;
		if (!filter->len)
			words->nargs = i;
		buf_printf(filter, " %s", given->args[i]);
	}
}

int probe_define_event(struct probe_events *events, struct kernel *kernel, const struct probe_target *target,
		       const struct probe_words *given, struct err *err)
{
	struct probe_put put = { BUF_INIT, BUF_INIT, BUF_INIT };
	struct btf_scope *scope = calloc(1, sizeof(*scope));
	struct buf line = BUF_INIT, where = BUF_INIT, filter = BUF_INIT;
	struct decode_format *format = NULL;
	struct probe_words words;
	struct probe_point point;
	int r;

	cut_filter(&words, given, &filter);
	point = (struct probe_point){ .group = *words.group ? words.group : "probe", .name = *words.name ? words.name : target->event,
				      .file = "dynamic_events", .path = "" };
	r = scope ? probe_scope_event(scope, kernel, target, &format, err) : err_set(err, -ENOMEM, "out of memory");
	if (!r)
		r = probe_put_scoped(&put, scope, &words, raw_word, (void *)target, err);
	buf_printf(&where, "%s:%s", target->system, target->event);
	buf_printf(&line, "e:%s/%s %s.%s%s%s\n", point.group, point.name, target->system, target->event,
		   put.args.data ? put.args.data : "", filter.len ? filter.data : "");
	if (!r && (buf_failed(&line) || buf_failed(&where) || buf_failed(&filter)))
		r = err_set(err, -ENOMEM, "out of memory");
	if (!r) {
		point.line = line.data;
		point.where = where.data;
		point.with = put.with.len ? put.with.data : "";
		r = probe_events_add(events, &point, err);
	}
	if (format)
		decode_format_free(format);
	probe_put_fini(&put);
	buf_fini(&line);
	buf_fini(&where);
	buf_fini(&filter);
	free(scope);
	return r;
}

/* ---- lines as they are ---- */

/* KIND[N]:[GROUP/]NAME PLACE */
bool probe_is_line(const char *text)
{
	const char *at = text + strspn(text, " \t");
	size_t group, name;

	if (!*at || !strchr("prfte", *at))
		return false;
	at += 1 + strspn(at + 1, "0123456789");
	if (*at++ != ':')
		return false;
	group = fetch_word(at);
	name = at[group] == '/' ? fetch_word(at + group + 1) : group;
	if (at[group] == '/')
		at += group + 1;
	return name && !isdigit((unsigned char)*at) && strspn(at + name, " \t") && at[name + strspn(at + name, " \t")];
}

static const char *group_of(char kind, bool in_file)
{
	switch (kind) {
	case 'e':
		return "eprobes";
	case 'f':
		return "fprobes";
	case 't':
		return "tracepoints";
	default:
		return in_file ? "uprobes" : "kprobes";
	}
}

int probe_define_line(struct probe_events *events, const char *text, struct err *err)
{
	char *copy = strdup(text + strspn(text, " \t")), *save, *name, *slash, *place;
	struct buf line = BUF_INIT, with = BUF_INIT;
	struct probe_point point = { .path = "" };
	bool in_file;
	int r;

	if (!copy)
		return err_set(err, -ENOMEM, "out of memory");
	buf_printf(&line, "%s\n", copy);
	name = strtok_r(copy, " \t\n", &save);
	place = strtok_r(NULL, " \t\n", &save);
	for (char *arg; (arg = strtok_r(NULL, " \t\n", &save)) && strcmp(arg, "if");)
		buf_printf(&with, " %.*s", (int)strcspn(arg, "="), arg);
	in_file = strchr(place, '/') && strchr(place, ':') && strchr("pr", *copy);
	name = strchr(name, ':') + 1;
	slash = strchr(name, '/');
	if (slash)
		*slash = '\0';
	point.group = slash ? name : group_of(*copy, in_file);
	point.name = slash ? slash + 1 : name;
	point.file = !strchr("pr", *copy) ? "dynamic_events" : in_file ? "uprobe_events" : "kprobe_events";
	point.where = place;
	point.line = line.data;
	point.with = with.len ? with.data : "";
	if (buf_failed(&line) || buf_failed(&with))
		r = err_set(err, -ENOMEM, "out of memory");
	else if (strlen(point.group) > 63 || strlen(point.name) > 63)
		r = err_set(err, -EINVAL, "%.80s: names of groups and events have 63 letters at most", text);
	else
		r = probe_events_add(events, &point, err);
	free(copy);
	buf_fini(&line);
	buf_fini(&with);
	return r;
}
