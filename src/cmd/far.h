/*
 * cmd/far: `record -N`: whoever receives the recording, from the first call to the last word.
 */
#ifndef CMD_FAR_H
#define CMD_FAR_H

#include "cmd/cmd.h"
#include "net/courier.h"
#include "record/record.h"

#define FAR_OPTS \
	{ 'N', "to", "HOST[:PORT]", "into no file: to whoever runs `ringside listen` there; also unix:PATH, vsock:CID, ssh://HOST" }, \
	{ 0, "spool", "SIZE", "memory for what is on its way (8M)" }, \
	{ 0, "linger", "TIME", "how long, in the end, one that cannot be reached is waited for (60s)" }, \
	{ 0, "tls", NULL, "TLS on the loopback, too, where nobody could listen in" }, \
	{ 0, "insecure", NULL, "without TLS to anywhere: everybody on the way can read it, and anybody can receive it" }, \
	{ 0, "compat", NULL, "a stock `trace-cmd listen` is there" }, \
	{ 't', "tcp", NULL, "accepted: it is never UDP" }

struct far_end {
	bool on, compat;
	struct caller_how how;
	struct courier courier;
	struct spool spool;
	char keys[4096], text[ADDRESS_TEXT];
	uint64_t spool_size, linger_ms;
	int64_t until;			/* of the linger, from then on that there is an end; 0: there is none yet */
	uint64_t left;			/* what was still to be sent when last looked */
	int64_t mended_at;
};

/* What the line says; nothing is touched. An exit status. */
int far_ask(struct far_end *far, const struct cmd *cmd, const struct opts *opts);
/* Calls, and waits for an answer. While there is one thread. */
int far_call(struct far_end *far, struct err *err);
/* Where the recording goes. */
void far_set(struct far_end *far, struct record_how *how);
/* Whether somebody still sends: whoever did may have been killed. Again and again while it records. */
void far_mend(struct far_end *far);
/* From now on nothing more comes: how long it may still take. */
void far_end(struct far_end *far);
/* In the end: whether whoever receives it has taken all. */
bool far_has_all(const struct far_end *far);
/* What is to be told of it in the end. */
void far_tell(const struct far_end *far, bool quiet);
void far_close(struct far_end *far);

#endif
