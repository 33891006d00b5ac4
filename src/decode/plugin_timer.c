/*
 * decode/plugin_timer: high-resolution timers as trace-cmd's plugin prints them; see handler.h.
 */
#include "decode/handler.h"

#include <string.h>

/* A function's name; behind a slash what leads from the address back to where it begins. */
static void put_function(const struct handling *h, uint64_t addr)
{
	struct decode_symbol sym;

	sink_puts(h->s, " function=");
	if (!handler_symbol(h, addr, &sym)) {
		sink_add(h->s, "0x", 2);
		sink_hex(h->s, addr, 8);
		return;
	}
	sink_text(h->s, sym.name, strlen(sym.name), h->f.escape);
	sink_add(h->s, "/0x", 3);
	sink_hex(h->s, 0 - sym.offset, 0);
}

static void put_timer(const struct handling *h)
{
	sink_puts(h->s, "hrtimer=0x");
	sink_hex(h->s, handler_num(h, 0), 0);
}

static enum handled print_expire(const struct handling *h)
{
	put_timer(h);
	sink_puts(h->s, " now=");
	sink_dec(h->s, handler_num(h, 1));
	if (handler_has(h, 2))
		put_function(h, handler_num(h, 2));
	return HANDLED;
}

static enum handled print_start(const struct handling *h)
{
	put_timer(h);
	put_function(h, handler_num(h, 1));
	sink_puts(h->s, " expires=");
	sink_dec(h->s, handler_num(h, 2));
	sink_puts(h->s, " softexpires=");
	sink_dec(h->s, handler_num(h, 3));
	return HANDLED;
}

const struct handler timer_handlers[] = {
	{ "timer", "hrtimer_expire_entry", { "hrtimer", "now", "?function" }, print_expire, NULL },
	{ "timer", "hrtimer_start", { "hrtimer", "function", "expires", "softexpires" },
	  print_start, NULL },
	{ NULL, NULL, { NULL }, NULL, NULL },
};
