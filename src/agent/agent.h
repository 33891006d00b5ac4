/*
 * agent: a board that is driven from elsewhere: a gate (net/gate.h) behind which whoever may control it has things recorded.
 *
 *	driver == relay, jailed --desk-- agent -- recorder
 *	             ||                              ||
 *	             ++==========  frames  ==========++
 *
 * The recorder is `ringside record`, started anew for each recording with options that are looked at here; its frames go through the
 * relay, which has the connection. A driver that was cut off comes back to the recorder that goes on meanwhile.
 */
#ifndef AGENT_AGENT_H
#define AGENT_AGENT_H

#include "net/gate.h"

struct agent_how {
	struct gate_how gate;		/* but for what it does */
	unsigned int wait;		/* seconds that a driver who was cut off is waited for */
	bool compat;			/* stock drivers are served, too, where no key is needed */
	char *prefix[4];		/* options of `record` before the driver's; ends with NULL */
	/* Are these options of `record` that a driver may give? `argv` ends with NULL. */
	int (*check)(void *ctx, char **argv, struct err *err);
};

struct agent;

int agent_open(struct agent **out, const struct agent_how *how, struct err *err);
void agent_close(struct agent *agent);
bool agent_place(const struct agent *agent, size_t i, char *text, size_t size);
void agent_run(struct agent *agent, const volatile int *stop);

/* What a recorder gets as RINGSIDE_LINE: the descriptor by which its connections come (net/caller.h). */
#define AGENT_LINE "RINGSIDE_LINE"

#endif
