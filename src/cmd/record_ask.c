/*
 * cmd/record_ask: see record_ask.h.
 */
#include "cmd/record_ask.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/files.h"
#include "cmd/record_flight.h"
#include "cmd/units.h"

/* Pairs that cannot both be meant. */
static const char *const contradictions[][2] = {
	{ "max-size", "rotate" }, { "flight", "rotate" }, { "flight", "max-size" }, { "flight", "keep-buffers" },
	{ "flight", "proc-map" },
	{ "max-size", "compression" }, { "flight", "daemonize" },
};

/* Options that are about another one, or about a command. */
static const char *const companions[][2] = {
	{ "keep", "rotate" }, { "before", "flight" }, { "after", "flight" }, { "on", "flight" },
};

static const char *const of_commands[] = { "only-command", "user" };

static int check_together(const struct cmd *cmd, const struct opts *opts)
{
	const char *packed = opts_value(opts, "compression"), *version = opts_value(opts, "file-version");

	for (size_t i = 0; i < sizeof(contradictions) / sizeof(contradictions[0]); i++)
		if (opts_value(opts, contradictions[i][0]) && opts_value(opts, contradictions[i][1]) &&
		    !(packed && !strcmp(packed, "none") && !strcmp(contradictions[i][1], "compression")))
			return cmd_misuse(cmd, "record: --%s and --%s do not go together", contradictions[i][0],
					  contradictions[i][1]);
	for (size_t i = 0; i < sizeof(companions) / sizeof(companions[0]); i++)
		if (opts_value(opts, companions[i][0]) && !opts_value(opts, companions[i][1]))
			return cmd_misuse(cmd, "record: --%s is about --%s, which is not there", companions[i][0],
					  companions[i][1]);
	for (size_t i = 0; i < sizeof(of_commands) / sizeof(of_commands[0]); i++)
		if (opts_value(opts, of_commands[i]) && !opts->nargs)
			return cmd_misuse(cmd, "record: --%s is about a command, and there is none", of_commands[i]);
	if (opts_value(opts, "children") && !opts_value(opts, "only-command") && !opts_value(opts, "pid"))
		return cmd_misuse(cmd, "record: -c is about the threads of -F or -P, and there is neither");
	if (opts_value(opts, "daemonize") && opts->nargs)
		return cmd_misuse(cmd, "record: --daemonize records in the background, where no command can be waited for");
	if (version && !strcmp(version, "6") && packed && strcmp(packed, "none"))
		return cmd_misuse(cmd, "record: version 6 knows no compression");
	return CMD_DONE;
}

static int take_rotation(struct record_ask *ask, const struct cmd *cmd, const struct opts *opts)
{
	const char *rotate = opts_value(opts, "rotate"), *keep = opts_value(opts, "keep");
	uint64_t ns;
	char *end;

	if (rotate && units_size(rotate, &ask->how.rotate_bytes)) {
		if (!ask->how.rotate_bytes)
			return cmd_misuse(cmd, "record: --rotate '%s': files of no size hold nothing", rotate);
	} else if (rotate) {
		if (!strcmp(rotate, "0") || !units_time(rotate, &ns) || ns < 1000000)
			return cmd_misuse(cmd, "record: --rotate '%s': a size like 100M or a time like 30s is needed",
					  rotate);
		ask->how.rotate_ms = ns / 1000000;
	}
	if (keep) {
		unsigned long n = strtoul(keep, &end, 10);

		if (*keep < '0' || *keep > '9' || *end || !n || n > 1000000)
			return cmd_misuse(cmd, "record: --keep '%s': a number of files is needed", keep);
		ask->how.rotate_keep = (unsigned int)n;
	}
	return CMD_DONE;
}

static int take_flight(struct record_ask *ask, const struct cmd *cmd, const struct opts *opts)
{
	const char *before = opts_value(opts, "before"), *after = opts_value(opts, "after");
	struct err err = ERR_INIT;

	ask->flight = opts_value(opts, "flight");
	ask->on = opts_value(opts, "on");
	ask->before_ns = 5000000000;
	ask->after_ns = 1000000000;
	if (before && !units_time(before, &ask->before_ns))
		return cmd_misuse(cmd, "record: --before '%s': a time like 5s is needed", before);
	if (after && !units_time(after, &ask->after_ns))
		return cmd_misuse(cmd, "record: --after '%s': a time like 1s is needed", after);
	if (ask->flight && !ask->on)
		ask->on = ask->has_command || opts_value(opts, "pid") ? "death" : "signal";
	if (ask->flight && !*ask->on)
		return cmd_misuse(cmd, "record: --on: an event, death or signal is needed");
	if (ask->flight && !strcmp(ask->on, "death") && !ask->has_command && !opts_value(opts, "pid"))
		return cmd_misuse(cmd, "record: --on death: whose? A command is needed, or -P");
	if (ask->flight && record_flight_check(ask->on, &err))
		return cmd_misuse(cmd, "record: --on: %s", err.text);
	return CMD_DONE;
}

static int take_file(struct record_ask *ask, const struct cmd *cmd, const struct opts *opts)
{
	const char *version = opts_value(opts, "file-version"), *size = opts_value(opts, "max-size");
	const char *offset = opts_value(opts, "ts-offset"), *priority = opts_value(opts, "priority");
	char *end;

	ask->path = opts_value(opts, "output") ? opts_value(opts, "output") : FILES_DEFAULT;
	if (!*ask->path)
		return cmd_misuse(cmd, "record: -o: the name of a file is needed");
	ask->how.path = ask->path;
	ask->how.compression = opts_value(opts, "compression");
	ask->how.version = version ? *version - '0' : 7;
	if (version && strcmp(version, "6") && strcmp(version, "7"))
		return cmd_misuse(cmd, "record: --file-version %s: there are 6 and 7", version);
	if (size && (!units_kilobytes(size, &ask->how.keep) || !ask->how.keep))
		return cmd_misuse(cmd, "record: -m '%s': a number of KiB is needed", size);
	ask->how.all_formats = opts_value(opts, "all-formats");
	ask->how.date = opts_value(opts, "date");
	if (priority) {
		ask->priority = (int)strtoul(priority, &end, 10);
		if (*priority < '0' || *priority > '9' || *end || ask->priority < 1 || ask->priority > 99)
			return cmd_misuse(cmd, "record: -r '%s': a number from 1 to 99 is needed", priority);
	}
	if (offset) {
		errno = 0;
		ask->how.ts_offset = strtoll(offset, &end, 0);
		if (!*offset || *end || errno)
			return cmd_misuse(cmd, "record: --ts-offset '%s': a number of nanoseconds is needed", offset);
	}
	return CMD_DONE;
}

int record_ask(struct record_ask *ask, const struct cmd *cmd, const struct opts *opts)
{
	int status;

	*ask = (struct record_ask){
		.has_command = opts->nargs,
		.quiet = opts_value(opts, "quiet"),
		.keep_buffers = opts_value(opts, "keep-buffers"),
		.proc_map = opts_value(opts, "proc-map"),
		.daemonize = opts_value(opts, "daemonize"),
		.user = opts_value(opts, "user"),
	};
	status = check_together(cmd, opts);
	if (!status)
		status = take_file(ask, cmd, opts);
	if (!status)
		status = take_rotation(ask, cmd, opts);
	return status ? status : take_flight(ask, cmd, opts);
}
