/*
 * cmd/places: see places.h.
 */
#include "cmd/places.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

volatile int places_stop;

int places_ask(struct places *places, const struct cmd *cmd, const struct opts *opts)
{
	const char *text = opts_value(opts, "port");
	unsigned long port = text ? strtoul(text, NULL, 10) : WIRE_PORT;
	struct err err = ERR_INIT;

	if (text && (strspn(text, "0123456789") != strlen(text) || !port || port > 65535))
		return cmd_misuse(cmd, "%s: -p '%s': a port from 1 to 65535 is needed", cmd->name, text);
	for (int i = 0; i < opts->nitems; i++) {
		if (!opts->items[i].opt || strcmp(opts->items[i].opt->word, "at"))
			continue;
		if (places->n == PLACES_MAX)
			return cmd_misuse(cmd, "%s: --at: there are %d places at most", cmd->name, PLACES_MAX);
		if (address_parse(&places->at[places->n++], opts->items[i].value, (uint32_t)port, &err))
			return cmd_misuse(cmd, "%s: --at: %s", cmd->name, err.text);
	}
	if (!places->n && !opts_value(opts, "stdio"))
		address_parse(&places->at[places->n++], "", (uint32_t)port, &err);
	return CMD_DONE;
}

static void on_end(int number)
{
	(void)number;
	places_stop = 1;
}

static void say(void *ctx, const char *text)
{
	(void)ctx;
	cmd_say("%s", text);
}

int places_prepare(struct places *places, struct gate_how *gate, const struct opts *opts, const char *warning, struct err *err)
{
	struct sigaction end = { .sa_handler = on_end }, ignore = { .sa_handler = SIG_IGN };
	struct err none = ERR_INIT;
	struct tls_key *key;
	int r = trust_dir(places->keys, sizeof(places->keys), err);

	if (r)
		return r;
	*gate = (struct gate_how){
		.at = places->at, .nr = places->n, .stdio = opts_value(opts, "stdio") ? 0 : -1, .insecure = opts_value(opts, "insecure"),
		.say = opts_value(opts, "quiet") ? NULL : say,
	};
	r = trust_own(&key, places->keys, false, &none);
	tls_key_free(key);
	if (!r)
		gate->keys = places->keys;
	if (r && r != -ENOENT && r != -ENOSYS)
		return err_set(err, r, "%s", none.text);
	if (gate->insecure)
		cmd_say("--insecure: %s, and everybody on the way can read it", warning);
	else if (!gate->keys && gate->stdio < 0)
		cmd_say(tls_is_there() ? "there is no key yet (`ringside key` makes one): only this machine itself gets in" :
			"there is no TLS here: only this machine itself gets in, or whoever has ssh");
	sigaction(SIGINT, &end, NULL);
	sigaction(SIGTERM, &end, NULL);
	sigaction(SIGHUP, &end, NULL);
	sigaction(SIGPIPE, &ignore, NULL);
	return 0;
}
