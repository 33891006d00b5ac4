/*
 * decode/plugin_memory: allocations and TLB flushes as trace-cmd's plugins print them; see
 * handler.h.
 */
#include "decode/handler.h"

#include <string.h>

/* Who called, before the usual text. */
static enum handled print_call_site(const struct handling *h)
{
	struct decode_symbol sym;

	if (!handler_symbol(h, handler_num(h, 0), &sym))
		return HANDLED_FIRST;
	sink_putc(h->s, '(');
	sink_text(h->s, sym.name, strlen(sym.name), h->f.escape);
	sink_add(h->s, "+0x", 3);
	sink_hex(h->s, (uint32_t)sym.offset, 0);
	sink_add(h->s, ") ", 2);
	return HANDLED_FIRST;
}

static enum handled print_tlb_flush(const struct handling *h)
{
	static const char *const reasons[] = {
		"flush on task switch", "remote shootdown", "local shootdown",
		"local mm shootdown",
	};
	uint64_t reason = handler_num(h, 1);
	int64_t pages = (int64_t)handler_num(h, 0);

	sink_puts(h->s, pages < 0 ? "pages=-" : "pages=");
	sink_dec(h->s, pages < 0 ? 0 - (uint64_t)pages : (uint64_t)pages);
	sink_puts(h->s, " reason=");
	if (reason < sizeof(reasons) / sizeof(reasons[0]))
		sink_puts(h->s, reasons[reason]);
	sink_add(h->s, " (", 2);
	sink_dec(h->s, reason);
	sink_putc(h->s, ')');
	return HANDLED;
}

const struct handler memory_handlers[] = {
	{ "kmem", "kfree", { "call_site" }, print_call_site, NULL },
	{ "kmem", "kmalloc", { "call_site" }, print_call_site, NULL },
	{ "kmem", "kmalloc_node", { "call_site" }, print_call_site, NULL },
	{ "kmem", "kmem_cache_alloc", { "call_site" }, print_call_site, NULL },
	{ "kmem", "kmem_cache_alloc_node", { "call_site" }, print_call_site, NULL },
	{ "kmem", "kmem_cache_free", { "call_site" }, print_call_site, NULL },
	{ "tlb", "tlb_flush", { "pages", "reason" }, print_tlb_flush, NULL },
	{ NULL, NULL, { NULL }, NULL, NULL },
};
