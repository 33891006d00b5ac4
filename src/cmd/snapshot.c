/*
 * cmd/snapshot: a buffer put aside while recording goes on: taken, printed, emptied, given back.
 */
#include <stdio.h>

#include "cmd/cmd.h"
#include "cmd/pager.h"
#include "cmd/scope.h"

static const struct opt snapshot_opts[] = {
	{ 's', "take", NULL, "put what is in the buffer aside" },
	{ 'r', "reset", NULL, "empty the snapshot" },
	{ 'f', "free", NULL, "give its memory back" },
	{ 'c', "cpu", "CPU", "about this CPU only" },
	SCOPE_OPT,
	{ 0, NULL, NULL, NULL },
};

struct snapshot {
	struct source *source;
	struct scopes scopes;
	char file[64];
	const char *text;	/* to be written; NULL: print */
	struct err err;
};

static int print(struct snapshot *snapshot, const struct opts *opts)
{
	char path[SCOPE_PATH];
	struct pager pager;
	int r = 0;

	pager_begin(&pager, opts, PAGER_TRACE, &snapshot->err);
	for (int i = 0; !r && i < snapshot->scopes.n; i++) {
		scope_path(path, &snapshot->scopes.scope[i], snapshot->file);
		r = source_pump(snapshot->source, path, pager_put, &pager, &snapshot->err);
	}
	return pager_end(&pager, r);
}

static int change(struct snapshot *snapshot)
{
	int r = 0;

	for (int i = 0; !r && i < snapshot->scopes.n; i++)
		r = scope_write(&snapshot->scopes.scope[i], snapshot->source, snapshot->file,
				snapshot->text, false, &snapshot->err);
	return r;
}

static int work(struct snapshot *snapshot, const struct opts *opts, int cpu)
{
	int r;

	r = cmd_open(&snapshot->source, opts, false, &snapshot->err);
	if (r)
		return r;
	if (cpu >= 0)
		r = cmd_check_cpu(snapshot->source, cpu, &snapshot->err);
	if (!r)
		r = scopes_choose(&snapshot->scopes, opts, snapshot->source, true, &snapshot->err);
	if (!r) {
		r = snapshot->text ? change(snapshot) : print(snapshot, opts);
		scopes_fini(&snapshot->scopes);
	}
	source_close(snapshot->source);
	return r;
}

static int run(const struct opts *opts)
{
	struct snapshot snapshot = { .file = "snapshot", .err = ERR_INIT };
	const char *cpu_text = opts_value(opts, "cpu");
	int actions = !!opts_value(opts, "take") + !!opts_value(opts, "reset") +
		      !!opts_value(opts, "free");
	int cpu = -1;

	if (actions > 1)
		return cmd_misuse(&cmd_snapshot, "snapshot: one thing at a time: -s, -r or -f");
	if (cpu_text && !cmd_parse_cpu(cpu_text, &cpu))
		return cmd_misuse(&cmd_snapshot, "snapshot: -c %s: the number of a CPU is needed",
				  cpu_text);
	if (cpu_text && opts_value(opts, "free"))
		return cmd_misuse(&cmd_snapshot, "snapshot: memory is given back for all CPUs: -f goes "
				  "without -c");
	if (actions)
		snapshot.text = opts_value(opts, "take") ? "1" : opts_value(opts, "reset") ? "2" : "0";
	if (cpu >= 0)
		snprintf(snapshot.file, sizeof(snapshot.file), "per_cpu/cpu%d/snapshot", cpu);
	return work(&snapshot, opts, cpu) ? cmd_fail(&snapshot.err) : CMD_DONE;
}

const struct cmd cmd_snapshot = {
	.name = "snapshot",
	.synopsis = "[-s | -r | -f] [-c CPU] [-B INSTANCE]...",
	.summary = "put the buffer aside while recording goes on",
	.text = "Takes a snapshot, empties it or gives its memory back; without one of these options\n"
		"it prints the snapshot.\n",
	.opts = snapshot_opts,
	.run = run,
};
