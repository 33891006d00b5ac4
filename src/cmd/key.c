/*
 * cmd/key: our own key, by which others know us.
 */
#include "cmd/cmd.h"

#include <stdio.h>

#include "net/trust.h"

static int run(const struct opts *opts)
{
	struct err err = ERR_INIT;
	struct tls_key *key;
	char dir[4096], fingerprint[FINGERPRINT_TEXT];
	struct buf line = BUF_INIT;
	int r = trust_dir(dir, sizeof(dir), &err);

	(void)opts;
	if (!r)
		r = trust_own(&key, dir, true, &err);
	if (r)
		return cmd_fail(&err);
	tls_key_fingerprint(key, fingerprint);
	tls_key_free(key);
	buf_printf(&line, "%s\n", fingerprint);
	r = buf_failed(&line) ? err_set(&err, -12, "out of memory") : cmd_put(line.data, line.len, &err);
	buf_fini(&line);
	return r ? cmd_fail(&err) : CMD_DONE;
}

const struct cmd cmd_key = {
	.name = "key",
	.synopsis = "",
	.summary = "print the fingerprint by which other machines know this one",
	.text = "Prints the fingerprint of this machine's key, and makes the key first if there is none.\n"
		"Other machines admit it with `ringside trust NAME FINGERPRINT`. The key lies in\n"
		"$RINGSIDE_KEYS, else in /etc/ringside for root and in ~/.config/ringside for others.\n",
	.on_file = true,
	.run = run,
};
