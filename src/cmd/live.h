/*
 * cmd/live: a picture of something that goes on, redrawn on a terminal, printed once elsewhere, and a tidy end.
 *
 *	live_open()	the source, and an instance that goes with us
 *	...		what is to be looked at is hung up there
 *	live_run()	the command, if there is one; pictures; the last one stays
 *	live_close()	nothing is left behind
 *
 * Who is killed leaves an instance without an owner, which the next one to come removes.
 */
#ifndef CMD_LIVE_H
#define CMD_LIVE_H

#include "cmd/cmd.h"
#include "cmd/launch.h"
#include "cmd/switches.h"
#include "control/look.h"

#define LIVE_OPTS                                                                                      \
	{ 0, "for", "TIME", "end after so long: 5s, 200ms" },                                          \
	{ 'q', "quiet", NULL, "say nothing but what goes wrong" }

struct live {
	struct source *source;
	struct control *control;	/* of a tracing directory; NULL: files, such as a kernel's */
	char instance[64];
	bool owned;		/* the instance is ours */
	char **argv;		/* of the command, NULL: there is none */
	struct launch launch;
	struct switches switches;
	bool ended;		/* the command has */
	int status;
	uint64_t for_ns;	/* 0: no end */
	int64_t end_ms;		/* by mono_ms(), from live_count_down() on; 0: none */
	bool quiet;
	bool is_screen;		/* stdout is a terminal, and nobody else writes to it */
	struct err err;
	/* Draws into `out`, in so many columns and lines; 0 lines: as many as it takes. */
	int (*draw)(struct live *live, uint32_t width, uint32_t height, struct buf *out);
	/* Ten times a second, and before the last picture; may be NULL. */
	int (*tick)(struct live *live);
	void *arg;
};

/* What the line says; arguments from `command` on are a command. CMD_DONE, or an exit status. */
int live_ask(struct live *live, const struct cmd *cmd, const struct opts *opts, int command);

/* `instance` NULL: one of our own, NAME-PID, by a name that own.c knows. One that is not there yet is made, and then ours, too. */
int live_open(struct live *live, const struct opts *opts, const char *name, const char *instance);

/* EVENT as people write it: SYSTEM:EVENT, SYSTEM/EVENT, or a name that one event alone has, of those that are there or of the
 * command's. */
int live_event(struct live *live, const char *text, char system[64], char event[64]);
bool live_knows(struct live *live, const char *system, const char *event);
/* Keys of a histogram. Of an event that is still to come nobody knows which fields are numbers: all are taken as texts. */
void live_put_keys(struct buf *out, const char *keys, bool known);

/* For who waits by itself: --for counts from here on; is it over, has the command ended, did a signal ask for the end? */
void live_count_down(struct live *live);
bool live_over(struct live *live);

/* An exit status. */
int live_run(struct live *live);
/* Ahead of the rest: the instance, if it is ours. */
void live_close_instance(struct live *live);
void live_close(struct live *live);

#endif
