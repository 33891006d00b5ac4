/*
 * net/admit: the first words to whoever calls us: TLS or not, HELLO both ways, and the desk says who it is. Runs in a jail.
 */
#ifndef NET_ADMIT_H
#define NET_ADMIT_H

#include <stdbool.h>

#include "net/channel.h"
#include "net/desk.h"

struct admit_how {
	int line;			/* to the desk */
	const struct tls_key *key;	/* hollow, and outlives the channel; NULL: we have none */
	bool bare;			/* without TLS is good enough */
	const char *name;		/* our own */
	uint64_t machine;
};

/* Fills `channel`, which is to be ended also when it fails. All of it has ten seconds. */
int admit(struct channel *channel, int fd, const struct admit_how *how, struct err *err);
/* What an error is worth, as a REFUSE, and until the other one hangs up, so that it arrives. */
void admit_refuse(struct channel *channel, const struct err *err);
void admit_linger(struct channel *channel, int ms);

#endif
