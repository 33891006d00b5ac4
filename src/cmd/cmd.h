/*
 * cmd: what the commands have in common. Each stands in a file of its own that exports one
 * `const struct cmd`; main.c holds the table of them. This room alone prints and exits: data goes
 * to stdout, words to stderr.
 */
#ifndef CMD_CMD_H
#define CMD_CMD_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "cmd/opts.h"
#include "control/control.h"

/* Exit statuses. */
enum { CMD_DONE = 0, CMD_FAILED = 1, CMD_MISUSED = 2 };

struct cmd {
	const char *name;
	const char *synopsis;	/* behind "ringside NAME " */
	const char *summary;	/* one line */
	const char *text;	/* what `ringside help NAME` says, lines with their breaks */
	const struct opt *opts;
	int args_min;
	int args_max;		/* -1: any number */
	int verbatim;		/* see opts_parse() */
	int (*run)(const struct opts *opts);
};

extern const struct cmd cmd_cat, cmd_clear, cmd_doctor, cmd_help, cmd_list, cmd_mount, cmd_reset,
	cmd_show, cmd_start, cmd_stop, cmd_umount, cmd_write;

/* NULL when there is none of that name. */
const struct cmd *cmd_find(const char *name);
/* The i-th command in the order of the table, NULL behind the last. */
const struct cmd *cmd_at(size_t i);
/* Options that every command has. */
extern const struct opt cmd_common[];

/* Colour is for people: on a terminal, unless they said no. */
bool cmd_colour(int fd);

/* A line on stderr, "ringside: ...". */
void cmd_say(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* Tells what went wrong and returns CMD_FAILED. A reader of stdout that went away is no failure. */
int cmd_fail(const struct err *err);

/* Tells how it was used wrongly, and where to read how it is used rightly. Returns CMD_MISUSED. */
int cmd_misuse(const struct cmd *cmd, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Everything at once to stdout: 0 or -errno with words. */
int cmd_put(const void *bytes, size_t len, struct err *err);

/* As cmd_put, for whoever pumps text; `ctx` is a struct err. */
int cmd_put_piece(void *ctx, const void *bytes, size_t len);

/* The tracing directory that the command line or the environment names. */
int cmd_open(struct control **out, const struct opts *opts, bool create, struct err *err);

/* As `> path` with that text would; for commands that are no more than this. An exit status. */
int cmd_write_file(const struct opts *opts, const char *path, const char *text);

#endif
