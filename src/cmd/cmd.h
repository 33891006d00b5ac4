/*
 * cmd: what the commands have in common. Each stands in a file of its own that exports one
 * `const struct cmd`; main.c holds the table of them. This room alone prints and exits: data goes
 * to stdout, words to stderr.
 */
#ifndef CMD_CMD_H
#define CMD_CMD_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "base/err.h"
#include "cmd/opts.h"
#include "source/source.h"

/* Exit statuses. */
enum { CMD_DONE = 0, CMD_FAILED = 1, CMD_MISUSED = 2 };

struct cmd {
	const char *name;
	const char *synopsis;	/* behind "ringside NAME " */
	const char *summary;	/* one line */
	const char *text;	/* what `ringside help NAME` says, lines with their breaks */
	const struct opt *opts;
	const char *arg;	/* what the first of its arguments is, if that can be completed: see complete.c */
	bool mixes;		/* it may be about several sources at once: see party.h */
	bool on_file;		/* about trace files: there is no source to ask */
	bool hidden;		/* not for people: `help` does not list it */
	int args_min;
	int args_max;		/* -1: any number */
	int verbatim;		/* see opts_parse() */
	int (*run)(const struct opts *opts);
};

extern const struct cmd cmd_agent, cmd_apply, cmd_attach, cmd_detach, cmd_bootconfig, cmd_cat, cmd_check_events, cmd_clear, cmd_complete, cmd_convert, cmd_doctor,
	cmd_dump, cmd_extract, cmd_help, cmd_hist, cmd_join, cmd_key, cmd_latency, cmd_list, cmd_listen, cmd_mem, cmd_mount, cmd_probe, cmd_profile,
	cmd_record, cmd_remote, cmd_report, cmd_reset, cmd_restart, cmd_restore, cmd_save, cmd_set, cmd_show, cmd_snapshot, cmd_split, cmd_sqlhist, cmd_stack,
	cmd_start,
	cmd_stat, cmd_stop, cmd_stream, cmd_trace, cmd_trust, cmd_umount, cmd_write;

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

/* Programs that run and whose functions could not be patched, or put back, after a change: a line about them. */
void cmd_say_unreached(struct source *source);

/* Tells what went wrong and returns CMD_FAILED. A reader of stdout that went away is no failure. */
int cmd_fail(const struct err *err);

/* Tells how it was used wrongly, and where to read how it is used rightly. Returns CMD_MISUSED. */
int cmd_misuse(const struct cmd *cmd, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Everything at once to stdout: 0 or -errno with words. */
int cmd_put(const void *bytes, size_t len, struct err *err);

/* A text that a person names: a file, whole, - is standard input. Behind what `out` has, and with a NUL behind it. */
#define CMD_READ_MAX (16u << 20)
int cmd_read(const char *path, struct buf *out, struct err *err);

/* The source that the command line or the environment names. */
int cmd_open(struct source **out, const struct opts *opts, bool create, struct err *err);

/* For commands that are about a tracing directory and nothing else. */
int cmd_open_directory(struct control **out, const struct opts *opts, bool create, struct err *err);

/* The number of a CPU; false when it is none. */
bool cmd_parse_cpu(const char *text, int *cpu);

/* 0, or -ENXIO with words when the source, which says which CPUs it has, has none of that number. */
int cmd_check_cpu(struct source *source, int cpu, struct err *err);

#endif
