/*
 * cmd/agent: a board that is driven.
 */
#include <errno.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/agent.h"
#include "cmd/cmd.h"
#include "cmd/places.h"
#include "cmd/units.h"

#define USUAL_WAIT 60
/* Who is at standard input does not come back. */
#define STDIO_WAIT 0

static const struct opt agent_opts[] = {
	PLACES_OPTS,
	{ 0, "wait", "TIME", "how long a recording goes on whose driver was cut off (60s)" },
	{ 0, "compat", NULL, "serve `trace-cmd record -A`, too: from this machine, or with --insecure" },
	{ 0, "insecure", NULL, "let anybody drive it, from anywhere, without TLS" },
	{ 0, "stdio", NULL, "for one driver, who is at standard input and output" },
	{ 'q', "quiet", NULL, "say nothing" },
	{ 0, NULL, NULL, NULL },
};

/* What may be asked for from elsewhere: nothing that runs a command, names a file, or stays. */
static const char *const allowed[] = {
	"event", "filter", "trigger", "tracer", "option", "stacktrace", "clock", "buffer-size", "subbuf-size", "cpumask", "pid", "function",
	"no-function", "graph", "module", "max-graph-depth", "func-stack", "negate", "children", "ignore-unknown", "quiet", "all-formats",
	"no-filter", "instance", "kernel", "programs", "remote", "spool", "linger", "priority", "proc-map", "cmdlines-size", "tsc2nsec",
	"sleep", "poll", "nosplice", "ts-offset", "date",
};

static int check(void *ctx, char **argv, struct err *err)
{
	struct opts opts;
	int n = 0, r;

	(void)ctx;
	while (argv[n])
		n++;
	r = opts_parse(&opts, n, argv, cmd_record.opts, cmd_common, cmd_record.verbatim, err);
	for (int i = 0; !r && i < opts.nitems; i++) {
		const struct opt *opt = opts.items[i].opt;
		size_t j = 0;

		if (!opt) {
			r = err_set(err, -EPERM, "'%.60s': an agent runs no commands", opts.items[i].value);
			break;
		}
		while (j < sizeof(allowed) / sizeof(allowed[0]) && strcmp(opt->word, allowed[j]))
			j++;
		if (j == sizeof(allowed) / sizeof(allowed[0]))
			r = err_set(err, -EPERM, "--%s: that is not for a driver to say", opt->word);
	}
	if (n)
		opts_fini(&opts);
	return r;
}

static int run(const struct opts *opts)
{
	static const char *const sources[] = { "--dir", "--kernel", "--tracefs" };
	struct agent_how how = { .wait = USUAL_WAIT, .check = check };
	const char *wait = opts_value(opts, "wait");
	struct places places = { 0 };
	struct agent *agent = NULL;
	struct err err = ERR_INIT;
	char place[ADDRESS_TEXT];
	uint64_t ns;
	int status, r;

	if (wait && !units_time(wait, &ns))
		return cmd_misuse(&cmd_agent, "agent: --wait '%s': a time like 60s is needed", wait);
	if (opts_value(opts, "stdio"))
		how.wait = STDIO_WAIT;
	if (wait)
		how.wait = (unsigned int)(ns / 1000000000);
	how.compat = opts_value(opts, "compat");
	for (size_t i = 0; i < sizeof(sources) / sizeof(sources[0]); i++) {
		const char *value = opts_value(opts, sources[i] + 2);

		if (!value)
			continue;
		how.prefix[0] = (char *)(uintptr_t)sources[i];
		how.prefix[1] = *value ? (char *)(uintptr_t)value : NULL;
	}
	status = places_ask(&places, &cmd_agent, opts);
	if (status)
		return status;
	r = places_prepare(&places, &how.gate, opts, "whoever can reach this port can have recorded what happens here", &err);
	if (!r)
		r = agent_open(&agent, &how, &err);
	for (size_t i = 0; !r && !opts_value(opts, "quiet") && agent_place(agent, i, place, sizeof(place)); i++)
		cmd_say("listens at %s", place);
	if (!r)
		agent_run(agent, &places_stop);
	agent_close(agent);
	return r ? cmd_fail(&err) : CMD_DONE;
}

const struct cmd cmd_agent = {
	.name = "agent",
	.synopsis = "[--at ADDRESS]... [OPTION]...",
	.summary = "let other machines have recorded what happens here",
	.text = "Waits for `ringside record -A` on machines that `ringside trust --may control` admits, and\n"
		"records for them what they ask for: they get it as it happens, no file is written here,\n"
		"and no command is run. Over ssh nothing need be set up: `record -A ssh://BOARD`.\n",
	.opts = agent_opts,
	.run = run,
};
