/*
 * net/gate: who comes in: sockets that listen, a jailed child for each connection, and a desk at which the child asks (desk.h). The one
 * who keeps the gate looks at nothing that came from the network; what children say may be anybody's words.
 *
 * Of those that nobody knows yet there are only so many: whoever brings a thousand connections pushes out his own.
 */
#ifndef NET_GATE_H
#define NET_GATE_H

#include <stdbool.h>
#include <sys/types.h>

#include "net/address.h"
#include "net/desk.h"
#include "net/trust.h"

#define GATE_FDS 16
/* Of stock peers: one for each CPU, and one for the clock. Of all of them together a few times that. */
#define GATE_PORTS_MAX 513u
#define GATE_PORTS_ALL 4096u

struct visit {
	struct visit *next;
	pid_t pid;			/* 0: it was ended */
	int line;
	char from[ADDRESS_TEXT];
	int64_t since;
	bool bare;			/* it came without TLS where that is allowed */
	bool signed_once;
	unsigned int nr_ports;		/* that it was given */
	bool keyed;			/* it has shown a key */
	bool known;			/* it has a name: */
	char name[WIRE_NAME_MAX + 1];
	void *own;			/* of whoever keeps the gate */
};

struct gate_how {
	const struct address *at;	/* where; none: what `stdio` says */
	size_t nr;
	int stdio;			/* one connection that is there already, as standard input and output; -1: not */
	const char *keys;		/* directory; NULL: no TLS */
	bool insecure;			/* who comes from elsewhere needs no TLS either */
	bool near_needs_key;		/* nor does whoever comes from this machine go without, but by a path or a guest's number */
	unsigned int verb;		/* TRUST_*, that whoever comes needs; */
	uint32_t wants;			/* WIRE_*, what he wants */
	/* In the jail: an exit status. */
	int (*live)(void *ctx, int fd, int line, bool bare);
	/* Answers all but SIGN, WHO and SAY; false: it is to go. */
	bool (*answer)(void *ctx, struct visit *visit, const struct desk_ask *ask);
	/* It is gone. */
	void (*gone)(void *ctx, struct visit *visit);
	void (*say)(void *ctx, const char *text);
	void *ctx;
};

struct gate {
	struct gate_how how;
	pid_t self;
	struct tls_key *key;
	int fds[GATE_FDS];
	int nr_fds;
	struct visit *visits;
};

int gate_open(struct gate *gate, const struct gate_how *how, struct err *err);
void gate_close(struct gate *gate);
/* For a second, or until somebody was attended to. False: nobody can come any more. */
bool gate_attend(struct gate *gate);
/* Ends it at once; the visit stays until it is gone. */
void gate_end(struct visit *visit);

void gate_say(const struct gate *gate, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* An answer: the error's code and words, or `answer` with descriptors. */
bool gate_give(const struct visit *visit, struct desk_answer *answer, const struct err *err, const int *fds, int n);

/* DESK_PORT, of stock peers, who come without a key. */
bool gate_port(const struct gate *gate, struct visit *visit, const struct desk_ask *ask);

/* A child in a jail: its exit status, or -ECHILD. */
int gate_in_jail(int (*work)(void *ctx), void *ctx);

#endif
