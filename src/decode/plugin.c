/*
 * decode/plugin: the set of printers and their options; see plugin.h and handler.h.
 */
#include "decode/plugin.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "decode/handler.h"
#include "decode/user.h"

struct option {
	const char *plugin;
	const char *name;
	const char *text;
	bool set;
};

static const struct option options[OPTION_NR] = {
	[OPTION_PARENT] = { "ftrace", "parent", "Print parent of functions for function events",
			    false },
	[OPTION_INDENT] = { "ftrace", "indent",
			    "Try to show function call indents, based on parents", true },
	[OPTION_OFFSET] = { "ftrace", "offset", "Show function names as well as their offsets",
			    false },
	[OPTION_TAILPRINT] = { "fgraph", "tailprint",
			       "Print function name at function exit in function graph", false },
	[OPTION_DEPTH] = { "fgraph", "depth", "Show the depth of each entry", false },
	[OPTION_RETVAL] = { "fgraph", "retval", "Show what functions return", false },
};

static const struct handler *const tables[] = {
	function_handlers, graph_handlers, sched_handlers, memory_handlers, timer_handlers,
	kvm_handlers, syscall_handlers, wireless_handlers,
};

struct decode_plugins {
	bool set[OPTION_NR];
	bool none;
	struct user_plugins users;
	/* Those that were found for formats. The head is apart from the set, which is read-only. */
	struct decode_plugin **found;
};

int decode_plugins_new(struct decode_plugins **out, unsigned int flags)
{
	struct decode_plugins *p = calloc(1, sizeof(*p));

	*out = NULL;
	if (!p)
		return -ENOMEM;
	p->found = calloc(1, sizeof(*p->found));
	if (!p->found) {
		free(p);
		return -ENOMEM;
	}
	p->none = flags & DECODE_PLUGINS_NONE;
	for (int i = 0; i < OPTION_NR; i++)
		p->set[i] = options[i].set;
	*out = p;
	return 0;
}

void decode_plugins_free(struct decode_plugins *plugins)
{
	struct decode_plugin *p, *next;

	if (!plugins)
		return;
	for (p = *plugins->found; p; p = next) {
		next = p->next;
		free(p);
	}
	free(plugins->found);
	user_unload(&plugins->users);
	free(plugins);
}

int decode_plugins_load(struct decode_plugins *plugins, const char *path, struct err *err)
{
	return user_load(&plugins->users, path, err);
}

/* The new value of an option that was `set`; without a value it changes. -1: not a value. */
static int truth(const char *value, bool set)
{
	if (!value)
		return !set;
	if (!strcmp(value, "1") || !strcasecmp(value, "true"))
		return 1;
	return !strcmp(value, "0") || !strcasecmp(value, "false") ? 0 : -1;
}

/* Whether `len` bytes of text name this option, with its plugin and a colon before it or not. */
static bool is_option(const struct option *o, const char *text, size_t len)
{
	const char *colon = memchr(text, ':', len);
	const char *name = colon ? colon + 1 : text;
	size_t name_len = len - (size_t)(name - text);

	if (colon && (strlen(o->plugin) != (size_t)(colon - text) ||
		      memcmp(o->plugin, text, (size_t)(colon - text))))
		return false;
	return strlen(o->name) == name_len && !memcmp(o->name, name, name_len);
}

int decode_plugins_set(struct decode_plugins *plugins, const char *text, struct err *err)
{
	const char *equals = strchr(text, '=');
	size_t len = equals ? (size_t)(equals - text) : strlen(text);
	int value;

	for (int i = 0; i < OPTION_NR; i++) {
		if (!is_option(&options[i], text, len))
			continue;
		value = truth(equals ? equals + 1 : NULL, plugins->set[i]);
		if (value < 0)
			return err_set(err, -EINVAL, "%s: expected 0 or 1 as its value", text);
		plugins->set[i] = value;
		return 0;
	}
	return err_set(err, -ENOENT, "%s: no plugin has this option", text);
}

void decode_plugins_list(const struct decode_plugins *plugins, struct buf *out)
{
	for (int i = 0; i < OPTION_NR; i++) {
		const struct option *o = &options[i];
		const char *before = i ? options[i - 1].plugin : o->plugin;

		if (i)
			buf_puts(out, strcmp(before, o->plugin) ? "============\n" :
								  "------------\n");
		buf_printf(out, "  plugin:\t%s\n  option:\t%s\n    desc:\t%s\n     set:\t%d\n",
			   o->plugin, o->name, o->text, plugins->set[i]);
	}
}

static bool bind_fields(struct decode_plugin *p)
{
	const char *name;

	for (int i = 0; i < HANDLER_FIELDS && (name = p->handler->fields[i]); i++) {
		p->fields[i] = decode_format_find(p->format, name + (*name == '?'));
		if (!p->fields[i] && *name != '?')
			return false;
	}
	return true;
}

static bool is_for(const struct handler *h, const struct decode_format *format)
{
	return !strcmp(h->system, format->system) && !strcmp(h->event, format->name);
}

static bool find_handler(struct decode_plugin *p)
{
	for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++) {
		for (const struct handler *h = tables[i]; h->system; h++) {
			if (!is_for(h, p->format))
				continue;
			p->handler = h;
			return bind_fields(p);
		}
	}
	/* A print format that calls what only plugins know. */
	return p->format->tep && p->format->tep->calls;
}

const struct decode_plugin *decode_plugins_find(const struct decode_plugins *plugins,
						const struct decode_format *format)
{
	struct decode_plugin found = { .set = plugins, .format = format }, *p;

	found.user = user_find(&plugins->users, format);
	if (!found.user && (plugins->none || !find_handler(&found)))
		return NULL;
	p = malloc(sizeof(*p));
	if (!p)
		return NULL;
	*p = found;
	p->next = *plugins->found;
	*plugins->found = p;
	return p;
}

bool handler_has(const struct handling *h, int i)
{
	return h->plugin->fields[i];
}

uint64_t handler_num(const struct handling *h, int i)
{
	const struct decode_field *field = h->plugin->fields[i];

	return field ? tep_load(&h->f, field->offset, field->size) : 0;
}

struct decode_bytes handler_bytes(const struct handling *h, int i)
{
	const struct decode_field *field = h->plugin->fields[i];
	struct tep_loc loc;

	if (!field)
		return (struct decode_bytes){ NULL, 0 };
	if (field->place == DECODE_LOC || field->place == DECODE_REL_LOC) {
		loc = tep_locate(&h->f, field);
		return tep_bytes(&h->f, loc.offset, loc.len);
	}
	return tep_bytes(&h->f, field->offset, field->size ? field->size : UINT32_MAX);
}

struct decode_bytes handler_text(const struct handling *h, int i)
{
	return decode_bytes_text(handler_bytes(h, i));
}

bool handler_symbol(const struct handling *h, uint64_t addr, struct decode_symbol *out)
{
	const struct decode_ctx *ctx = h->f.ctx;

	*out = (struct decode_symbol){ 0 };
	return ctx->symbol && ctx->symbol(ctx->arg, h->f.pid, addr, out) && out->name;
}

void handler_usual(const struct handling *h)
{
	if (h->f.tep)
		tep_run(&h->f, h->s);
	else
		tep_failed(&h->f, h->s);
}

static struct handling begin(const struct decode_plugin *plugin,
			     const struct decode_moment *moment, struct sink *s)
{
	return (struct handling){
		.f = decode_frame(moment->format, moment->rec, moment->len, moment->ctx),
		.plugin = plugin, .moment = moment, .options = plugin->set->set, .s = s,
	};
}

bool decode_plugin_print(const struct decode_plugin *plugin, const struct decode_moment *moment,
			 struct buf *out)
{
	enum handled done = HANDLED_FIRST;
	struct handling h;
	struct sink s;

	sink_open(&s, out, DECODE_TEXT_MAX);
	h = begin(plugin, moment, &s);
	if (plugin->user)
		done = user_print(plugin->user, &h);
	else if (plugin->handler)
		done = plugin->handler->print(&h);
	if (done == HANDLED_FIRST)
		handler_usual(&h);
	/* What was printed before a printer changed its mind is taken back. */
	if (done == HANDLED_NOT) {
		s.at = s.buf->data ? s.buf->data + s.start : s.at;
		s.full = false;
	}
	decode_end_line(&h.f, &s);
	return done != HANDLED_NOT;
}

void decode_plugin_pass(const struct decode_plugin *plugin, const struct decode_moment *moment)
{
	struct handling h;

	if (!decode_plugin_carries(plugin))
		return;
	h = begin(plugin, moment, NULL);
	plugin->handler->pass(&h);
}

bool decode_plugin_carries(const struct decode_plugin *plugin)
{
	return plugin->handler && plugin->handler->pass;
}
