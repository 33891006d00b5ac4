/*
 * A plugin for `ringside report`: orders of the shop (../shop) as a sentence; those of nobody are
 * left to what prints them otherwise.
 *
 *   cc -shared -fPIC -o orders.so orders.c
 */
#include <ringside/plugin.h>

RINGSIDE_PLUGIN;

static const struct ringside_plugin_host *host;

static int print_order(const struct ringside_plugin_record *record, void *arg)
{
	size_t len;
	const char *customer = host->text(record, "customer", &len);

	(void)arg;
	if (!len)
		return 1;
	host->printf(record, "%.*s has ordered, which makes number %lld", (int)len, customer,
		     (long long)host->number(record, "id"));
	return 0;
}

int ringside_plugin_start(const struct ringside_plugin_host *from, struct ringside_plugin_set *set)
{
	host = from;
	return host->on_event(set, "shop", "order", print_order, NULL);
}
