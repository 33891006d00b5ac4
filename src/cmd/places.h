/*
 * cmd/places: where a command that others call listens, and how they have to show who they are.
 */
#ifndef CMD_PLACES_H
#define CMD_PLACES_H

#include "cmd/cmd.h"
#include "net/gate.h"

#define PLACES_MAX 8
#define PLACES_OPTS \
	{ 'p', "port", "PORT", "the port (5877)" }, \
	{ 0, "at", "ADDRESS", "where: HOST[:PORT], unix:PATH or vsock:CID[:PORT], also several times; anywhere without it" }

struct places {
	struct address at[PLACES_MAX];
	size_t n;
	char keys[4096];
};

/* An exit status. */
int places_ask(struct places *places, const struct cmd *cmd, const struct opts *opts);
/* The gate's part of it; `warning` is said of --insecure. Signals that end set places_stop from now on. */
int places_prepare(struct places *places, struct gate_how *gate, const struct opts *opts, const char *warning, struct err *err);
extern volatile int places_stop;

#endif
