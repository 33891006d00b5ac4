/*
 * cmd/trust: whom we know by which key, and what he may do here.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/cmd.h"
#include "net/trust.h"

#define USUAL "read,record"

static const struct opt trust_opts[] = {
	{ 0, "may", "VERBS", "what it may do here: read, record, control, with commas between (" USUAL ")" },
	{ 0, "remove", NULL, "it is not known any more" },
	{ 0, NULL, NULL, NULL },
};

static int list(const char *dir, struct err *err)
{
	struct buf text = BUF_INIT;
	struct trust *all;
	int n = trust_all(&all, dir, err), r;

	if (n < 0)
		return n;
	for (int i = 0; i < n; i++) {
		char may[24];

		trust_print_verbs(all[i].may, may);
		buf_printf(&text, "%-16s %s %s\n", all[i].name, all[i].fingerprint, may);
	}
	free(all);
	r = buf_failed(&text) ? err_set(err, -ENOMEM, "out of memory") : cmd_put(text.data, text.len, err);
	buf_fini(&text);
	return r;
}

static int drop(const char *dir, const char *name, struct err *err)
{
	int r = trust_drop(dir, name, err);

	return r < 0 ? r : r ? 0 : err_set(err, -ENOENT, "nobody is known as %.60s", name);
}

static int run(const struct opts *opts)
{
	const char *name = opts_arg(opts, 0), *fingerprint = opts_arg(opts, 1), *may = opts_value(opts, "may");
	bool remove = opts_value(opts, "remove");
	struct err err = ERR_INIT;
	struct trust one = { .may = trust_verbs(may ? may : USUAL) };
	char dir[4096];
	int r;

	if (name && !trust_is_name(name))
		return cmd_misuse(&cmd_trust, "trust: '%.80s' is no name: up to %u letters, digits and . _ : - are", name, WIRE_NAME_MAX);
	if (fingerprint && !trust_is_fingerprint(fingerprint))
		return cmd_misuse(&cmd_trust, "trust: '%.80s' is no fingerprint: `ringside key` over there prints it", fingerprint);
	if (may && !one.may)
		return cmd_misuse(&cmd_trust, "trust: --may %.60s: there are read, record and control", may);
	if (remove ? !name || fingerprint || may : name && !fingerprint)
		return cmd_misuse(&cmd_trust, remove ? "trust: --remove takes a name, and nothing else" : "trust: a fingerprint is missing");
	r = trust_dir(dir, sizeof(dir), &err);
	if (!r && remove) {
		r = drop(dir, name, &err);
	} else if (!r && name) {
		strcpy(one.name, name);
		strcpy(one.fingerprint, fingerprint);
		r = trust_put(dir, &one, &err);
	} else if (!r) {
		r = list(dir, &err);
	}
	return r ? cmd_fail(&err) : CMD_DONE;
}

const struct cmd cmd_trust = {
	.name = "trust",
	.synopsis = "[NAME FINGERPRINT [--may VERBS] | --remove NAME]",
	.summary = "say which other machines are known, by which key, and what they may do",
	.text = "Admits the machine whose `ringside key` prints FINGERPRINT, as NAME: what it records to\n"
		"us is kept under that name, and when we call NAME it has to have that key. Without\n"
		"arguments lists those that are known.\n",
	.opts = trust_opts,
	.arg = "machine",
	.on_file = true,
	.args_max = 2,
	.run = run,
};
