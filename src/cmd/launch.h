/*
 * cmd/launch: the program that a command line ends with, started to be traced.
 *
 *	launch_start()	forked, and waiting at a gate: it has its number, and nothing of it has run
 *	launch_go()	it runs, or words say why it cannot
 *	launch_poll()	has it ended?
 *
 * The program meets the signals as ringside itself met them. Who dies before launch_go() takes it along.
 */
#ifndef CMD_LAUNCH_H
#define CMD_LAUNCH_H

#include <limits.h>
#include <stdbool.h>
#include <sys/types.h>

#include "base/err.h"
#include "cmd/opts.h"
#include "source/source.h"

struct launch_how {
	char *const *argv;	/* ends with NULL; has to stay until launch_go() */
	const char *user;	/* whose program it is to be; NULL: ours */
	const char *dir;	/* its tracing directory; NULL: as our environment says, or the user's own */
	bool preload;		/* with libringside, if it can be had and the program can take it */
	bool quiet;		/* no word when that is not so */
};

struct launch {
	const char *name;
	pid_t pid;
	const void *environment;	/* where it had it when it began: no memory of ours any more */
	int gate;		/* -1: it was opened */
	int pidfd;		/* readable when the program has ended; -1 where there are none */
	bool ended;
	int status;
	void (*meanwhile)(void *ctx);	/* called now and then while it is waited for; NULL: nothing */
	void *ctx;
};

/* No program: there is nothing to close. */
#define LAUNCH_NONE { .name = NULL, .pid = -1, .gate = -1, .pidfd = -1 }

/* For main, before it changes anything about signals. */
void launch_note_signals(void);

/* Fails where it can be seen that the program is none. */
int launch_start(struct launch *launch, const struct launch_how *how, struct err *err);
int launch_go(struct launch *launch, struct err *err);
/* 1 and what wait(2) says, 0 when it runs on, -errno. May be asked again. */
int launch_poll(struct launch *launch, int *status);
/* What a shell makes of that: an exit status. */
int launch_exit_status(int status);
/* A program that was not let go ends; others run on. */
void launch_close(struct launch *launch);

/* The runtime's file: RINGSIDE_LIBRARY, or what lies where the command was installed. */
int launch_library(char path[PATH_MAX], struct err *err);
/* Why what this command runs cannot be given the library, in words; NULL: nothing speaks against it. `carries`: it has the runtime
 * all the same, as a part of itself. */
const char *launch_preload_why(const char *command, bool *carries);

/*
 * The source of the command line, as cmd_open(); of a tracing directory that user's: --dir, which has to be his, or the one
 * that his programs use by themselves. It is found, made and checked with his rights. `user` NULL: cmd_open().
 */
int launch_open_source(struct source **out, const struct opts *opts, const char *user, struct err *err);

#endif
