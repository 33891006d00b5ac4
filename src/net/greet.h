/*
 * net/greet: the first words of whoever calls: TLS, whose key is there, HELLO both ways. Runs in a jail.
 */
#ifndef NET_GREET_H
#define NET_GREET_H

#include "net/channel.h"

struct greet_how {
	struct tls_key *key;			/* NULL: without TLS */
	char expected[FINGERPRINT_TEXT];	/* of the far end; "": we know nobody there */
	char host[256], text[300];		/* it, as the person calls it, and in full */
	char name[WIRE_NAME_MAX + 1];		/* our own */
	uint64_t machine;
};

#define GREET_MS 10000

/* Fills `channel`, which is to be ended also when it fails. -EACCES: somebody is there whom we do not know, or who refuses us. */
int greet(struct channel *channel, int fd, const struct greet_how *how, uint32_t wants, char peer[WIRE_NAME_MAX + 1], struct err *err);

#endif
