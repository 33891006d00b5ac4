/*
 * cmd/record_ask: what a `record` line asks for beside the buffers (setup.h), read and checked before anything is done.
 */
#ifndef CMD_RECORD_ASK_H
#define CMD_RECORD_ASK_H

#include "cmd/cmd.h"
#include "record/record.h"

struct record_ask {
	const char *path;
	struct record_how how;		/* but for the source and its buffers */
	bool has_command;
	bool quiet, keep_buffers, proc_map, daemonize, flight;
	const char *user;
	int priority;			/* 0: the usual one */
	/* Of a flight recorder. */
	uint64_t before_ns, after_ns;
	const char *on;			/* "death", "signal", or an event */
};

/* An exit status. */
int record_ask(struct record_ask *ask, const struct cmd *cmd, const struct opts *opts);

#endif
