/*
 * decode/plugin_function: function, func_repeats, kernel_stack and raw_data records as trace-cmd's
 * function plugin prints them; see handler.h.
 */
#include "decode/handler.h"

#include <string.h>

#include "decode/args.h"

enum { IP, PARENT_IP, COUNT, TOP_DELTA, BOTTOM_DELTA };
enum { ARGS = 2 };

static void put_function(const struct handling *h, uint64_t addr, struct sink *s)
{
	struct decode_symbol sym;

	if (!handler_symbol(h, addr, &sym)) {
		sink_add(s, "0x", 2);
		sink_hex(s, addr, 0);
		return;
	}
	sink_text(s, sym.name, strlen(sym.name), h->f.escape);
	if (h->options[OPTION_OFFSET]) {
		sink_add(s, "+0x", 3);
		sink_hex(s, sym.offset, 0);
		sink_putc(s, ' ');
	}
}

/* Who is called goes into the stack of the CPU by name; without a known caller nothing does. */
static uint32_t depth(const struct handling *h)
{
	struct decode_symbol parent, child;
	bool known;

	if (!h->options[OPTION_INDENT] || !h->moment->carry ||
	    !handler_symbol(h, handler_num(h, PARENT_IP), &parent))
		return 0;
	known = handler_symbol(h, handler_num(h, IP), &child);
	return carry_call(h->moment->carry, parent.name, known ? child.name : NULL);
}

static void pass_function(const struct handling *h)
{
	depth(h);
}

static void put_call(const struct handling *h, const struct decode_field *args)
{
	sink_fill(h->s, ' ', depth(h) * 3);
	put_function(h, handler_num(h, IP), h->s);
	if (args && !(h->f.ctx->flags & DECODE_NO_ARGS) && decode_args_count(h->f.format, args, (uint32_t)h->f.len))
		decode_args_put(h->s, decode_prototype(h->f.ctx, handler_num(h, IP)), h->f.format, args, h->f.rec,
				(uint32_t)h->f.len);
	if (h->options[OPTION_PARENT]) {
		sink_add(h->s, " <-- ", 5);
		put_function(h, handler_num(h, PARENT_IP), h->s);
	}
}

static enum handled print_function(const struct handling *h)
{
	put_call(h, h->plugin->fields[ARGS]);
	return HANDLED;
}

static enum handled print_repeats(const struct handling *h)
{
	uint64_t delta = handler_num(h, TOP_DELTA) << 32 | handler_num(h, BOTTOM_DELTA);
	uint64_t last = h->moment->ts - delta;
	bool all = h->f.ctx->flags & DECODE_NS;
	uint64_t unit = all ? 1000000000 : 1000000, shown = all ? last : (last + 500) / 1000;
	static const struct conv sec = { .kind = 'u', .size = 8, .width = 5, .prec = -1 };
	const struct conv part = { .kind = 'u', .size = 8, .width = all ? 9 : 6, .prec = -1,
				   .flags = CONV_ZERO };

	put_call(h, NULL);
	sink_puts(h->s, " (count: ");
	sink_dec(h->s, handler_num(h, COUNT));
	sink_puts(h->s, "  last_ts: ");
	conv_int(h->s, &sec, shown / unit, false);
	sink_putc(h->s, '.');
	conv_int(h->s, &part, shown % unit, false);
	sink_putc(h->s, ')');
	return HANDLED;
}

static enum handled print_stack(const struct handling *h)
{
	const struct decode_abi *abi = &h->f.format->abi;
	struct decode_bytes b = tep_bytes(&h->f, h->plugin->fields[0]->offset, UINT32_MAX);
	uint64_t none = decode_abi_extend(UINT64_MAX, abi->long_size, false), addr;
	struct decode_symbol sym;

	sink_puts(h->s, "<stack trace >\n");
	for (uint32_t i = 0; i + abi->long_size <= b.len && !h->s->full; i += abi->long_size) {
		addr = decode_abi_load(b.data + i, abi->long_size, abi->big_endian);
		if (addr == none)
			break;
		sink_add(h->s, "=> ", 3);
		if (handler_symbol(h, addr, &sym)) {
			sink_text(h->s, sym.name, strlen(sym.name), h->f.escape);
			sink_add(h->s, " (", 2);
			sink_hex(h->s, addr, 0);
			sink_putc(h->s, ')');
		} else {
			sink_hex(h->s, addr, 0);
		}
		sink_putc(h->s, '\n');
	}
	return HANDLED;
}

static enum handled print_raw_data(const struct handling *h)
{
	struct decode_bytes b = tep_bytes(&h->f, h->plugin->fields[1]->offset, UINT32_MAX);

	sink_add(h->s, "# ", 2);
	sink_hex(h->s, handler_num(h, 0), 0);
	for (uint32_t i = 0; i < b.len && !h->s->full; i++) {
		sink_putc(h->s, ' ');
		sink_hex(h->s, b.data[i], 2);
	}
	return HANDLED;
}

const struct handler function_handlers[] = {
	{ "ftrace", "function", { "ip", "parent_ip", "?args" }, print_function, pass_function },
	{ "ftrace", "func_repeats", { "ip", "parent_ip", "count", "top_delta_ts",
				      "bottom_delta_ts" }, print_repeats, pass_function },
	{ "ftrace", "kernel_stack", { "caller" }, print_stack, NULL },
	{ "ftrace", "raw_data", { "id", "buf" }, print_raw_data, NULL },
	{ NULL, NULL, { NULL }, NULL, NULL },
};
