/*
 * decode/plugin_graph: function_graph's records as trace-cmd prints them; see handler.h. The entry
 * of a function whose exit comes next prints as one line with it.
 *
 *   mark and duration | two blanks a depth  name() {  or  name();  or  }
 */
#include "decode/handler.h"

#include <string.h>

#include "decode/args.h"

enum { FUNC, DEPTH, CALLTIME, RETTIME, RETVAL };
enum { ARGS = 2 };

/* Digits, and " us" at the eleventh column. */
static void put_duration(uint64_t ns, struct sink *s)
{
	static const struct {
		uint64_t more_than;
		char mark;
	} marks[] = { { 1000000000, '$' }, { 1000000, '#' }, { 100000, '!' }, { 10000, '+' },
		      { 0, ' ' } };
	static const struct conv three = { .kind = 'u', .size = 8, .width = 3, .prec = -1,
					   .flags = CONV_ZERO };
	size_t mark, len;
	int i = 0;

	while (marks[i].more_than && ns <= marks[i].more_than)
		i++;
	sink_putc(s, marks[i].mark);
	sink_putc(s, ' ');
	mark = sink_used(s);
	sink_dec(s, ns / 1000);
	if (sink_used(s) - mark < 7) {
		sink_putc(s, '.');
		conv_int(s, &three, ns % 1000, false);
	}
	len = sink_used(s) - mark;
	sink_add(s, " us ", 4);
	if (len < 7)
		sink_fill(s, ' ', 7 - len);
	sink_add(s, "|  ", 3);
}

static void indent(const struct handling *h)
{
	int32_t depth = (int32_t)handler_num(h, DEPTH);

	if (depth > 0)
		sink_fill(h->s, ' ', (size_t)depth * 2);
}

static void put_name(const struct handling *h)
{
	uint64_t addr = handler_num(h, FUNC);
	struct decode_symbol sym;

	if (handler_symbol(h, addr, &sym))
		sink_text(h->s, sym.name, strlen(sym.name), h->f.escape);
	else
		sink_hex(h->s, addr, 0);
}

/* What an entry has of its arguments, or nothing between parentheses. */
static void put_args(const struct handling *h)
{
	const struct decode_field *args = h->plugin->fields[ARGS];

	if (!(h->f.ctx->flags & DECODE_NO_ARGS) && decode_args_count(h->f.format, args, (uint32_t)h->f.len))
		decode_args_put(h->s, decode_prototype(h->f.ctx, handler_num(h, FUNC)), h->f.format, args, h->f.rec,
				(uint32_t)h->f.len);
	else
		sink_add(h->s, "()", 2);
}

/* " = 0x1", if that is asked for and means something. */
static bool put_returned(const struct handling *h, bool has, uint64_t value, const char *before)
{
	const char *prototype = h->options[OPTION_RETVAL] && has ? decode_prototype(h->f.ctx, handler_num(h, FUNC)) : NULL;

	if (!h->options[OPTION_RETVAL] || !has || !decode_args_returns(prototype))
		return false;
	sink_puts(h->s, before);
	decode_args_put_returned(h->s, prototype, value, false);
	return true;
}

static void put_depth(const struct handling *h)
{
	if (!h->options[OPTION_DEPTH])
		return;
	sink_add(h->s, " (", 2);
	sink_dec(h->s, handler_num(h, DEPTH));
	sink_putc(h->s, ')');
}

static uint64_t named(const struct decode_moment *m, const char *name)
{
	const struct decode_field *field = decode_format_find(m->format, name);

	return field ? decode_field_int(m->format, field, m->rec, m->len) : 0;
}

/* Whether the next record is this function's exit, in the same task. */
static bool is_leaf(const struct handling *h, uint64_t *duration, struct decode_moment *exit)
{
	const struct decode_moment *m = h->moment;
	struct decode_moment next;
	struct record_head head;

	*exit = (struct decode_moment){ 0 };
	if (!m->next || !m->next(m->arg, &next) || strcmp(next.format->name, "funcgraph_exit") ||
	    strcmp(next.format->system, "ftrace") ||
	    !decode_record_head(&next.format->abi, next.rec, next.len, &head) ||
	    head.pid != h->f.pid || named(&next, "func") != handler_num(h, FUNC))
		return false;
	*duration = named(&next, "rettime") - named(&next, "calltime");
	*exit = next;
	return true;
}

static void pass_entry(const struct handling *h)
{
	struct decode_moment exit;
	uint64_t duration;

	if (is_leaf(h, &duration, &exit))
		h->moment->take(h->moment->arg);
}

static enum handled print_entry(const struct handling *h)
{
	uint64_t duration = 0;
	struct decode_moment exit;
	bool leaf = is_leaf(h, &duration, &exit);
	uint64_t returned = 0;
	bool returns = false;

	if (leaf && h->options[OPTION_RETVAL]) {
		/* Before it is taken: its bytes may go with it. */
		returns = decode_format_find(exit.format, "retval");
		returned = named(&exit, "retval");
	}
	if (leaf) {
		put_duration(duration, h->s);
		h->moment->take(h->moment->arg);
	} else {
		sink_puts(h->s, "             |  ");
	}
	indent(h);
	put_name(h);
	put_args(h);
	sink_puts(h->s, leaf ? ";" : " {");
	if (put_returned(h, returns, returned, " /* = "))
		sink_add(h->s, " */", 3);
	put_depth(h);
	return HANDLED;
}

static enum handled print_exit(const struct handling *h)
{
	struct decode_symbol sym;

	put_duration(handler_num(h, RETTIME) - handler_num(h, CALLTIME), h->s);
	indent(h);
	sink_putc(h->s, '}');
	if (h->options[OPTION_RETVAL]) {
		sink_add(h->s, " /* ", 4);
		put_name(h);
		if (handler_has(h, RETVAL))
			put_returned(h, true, handler_num(h, RETVAL), " = ");
		sink_add(h->s, " */", 3);
	} else if (h->options[OPTION_TAILPRINT]) {
		if (!handler_symbol(h, handler_num(h, FUNC), &sym))
			return HANDLED;
		sink_add(h->s, " /* ", 4);
		put_name(h);
		sink_add(h->s, " */", 3);
	}
	put_depth(h);
	return HANDLED;
}

const struct handler graph_handlers[] = {
	{ "ftrace", "funcgraph_entry", { "func", "depth", "?args" }, print_entry, pass_entry },
	{ "ftrace", "funcgraph_exit", { "func", "depth", "calltime", "rettime", "?retval" },
	  print_exit, NULL },
	{ NULL, NULL, { NULL }, NULL, NULL },
};
