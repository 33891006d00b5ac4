/*
 * decode/plugin_wireless: mac80211's record of many fields as trace-cmd's plugin prints it; see
 * handler.h.
 */
#include "decode/handler.h"

#include <string.h>

/* Continued lines begin below the text. */
#define MARGIN 65

struct shown {
	const char *name;
	bool hex;
	const char *after;
};

/* More than a handler's list holds, so they are looked up by name. */
static const struct shown shown[] = {
	{ "assoc", false, " " }, { "aid", false, " " }, { "cts", false, " " },
	{ "shortpre", false, " " }, { "shortslot", false, " " }, { "dtimper", false, " \n" },
	{ "bcnint", false, " " }, { "assoc_cap", true, " " }, { "basic_rates", true, " " },
	{ "enable_beacon", false, "\n" }, { "ht_operation_mode", false, "" },
};

static void put_number(const struct handling *h, const struct shown *what)
{
	const struct decode_field *field = decode_format_find(h->f.format, what->name);
	struct conv conv = { .kind = what->hex ? 'x' : 'd', .size = 4, .prec = -1,
			     .flags = (uint8_t)(CONV_C | (what->hex ? CONV_ALT : 0)) };

	if (!field)
		return;
	sink_puts(h->s, what->name);
	sink_putc(h->s, ':');
	conv_int(h->s, &conv, tep_load(&h->f, field->offset, field->size), false);
}

static void put_text(const struct handling *h, int field)
{
	struct decode_bytes text = handler_text(h, field);

	sink_text(h->s, text.data, text.len, h->f.escape);
}

static enum handled print_bss(const struct handling *h)
{
	bool new_line = true;

	put_text(h, 0);
	sink_puts(h->s, " vif:");
	put_text(h, 1);
	if (handler_has(h, 2)) {
		sink_putc(h->s, '(');
		sink_dec(h->s, handler_num(h, 2));
		sink_putc(h->s, ')');
	} else {
		sink_puts(h->s, "CAN'T FIND FIELD \"vif_type\"");
	}
	sink_putc(h->s, '\n');
	for (size_t i = 0; i < sizeof(shown) / sizeof(shown[0]); i++) {
		if (new_line)
			sink_fill(h->s, ' ', MARGIN);
		put_number(h, &shown[i]);
		sink_puts(h->s, shown[i].after);
		new_line = strchr(shown[i].after, '\n');
	}
	return HANDLED;
}

const struct handler wireless_handlers[] = {
	{ "mac80211", "drv_bss_info_changed", { "wiphy_name", "vif_name", "?vif_type" }, print_bss,
	  NULL },
	{ NULL, NULL, { NULL }, NULL, NULL },
};
