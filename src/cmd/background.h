/*
 * cmd/background: going on as a daemon while whoever called is told that it has begun.
 */
#ifndef CMD_BACKGROUND_H
#define CMD_BACKGROUND_H

#include "base/err.h"

struct background {
	int tell;	/* to the process that was called; -1: it knows */
	char *pidfile;
};

/*
 * Forks. In the process that goes on: 0. In the one that was called: an exit status plus one, when the other has begun or
 * failed; -errno. Before anything is opened.
 */
int background_fork(struct background *background, struct err *err);

/* It has begun: the pid goes into PATH.pid and to standard output, and nothing more to the terminal. */
int background_begin(struct background *background, const char *path, struct err *err);

/* Removes the file with the pid. */
void background_end(struct background *background);

#endif
