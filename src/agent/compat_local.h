/*
 * agent/compat_local: a stock driver that is served: compat.c has the recording, compat_clock.c the questions about the clock. Private to
 * the two.
 */
#ifndef AGENT_COMPAT_LOCAL_H
#define AGENT_COMPAT_LOCAL_H

#include "agent/compat.h"
#include "layout/tracecmd.h"
#include "stock/feed.h"

/* A burst of ptp. */
#define COMPAT_PROBES 339u
#define COMPAT_PTP "ptp"
#define COMPAT_NAME_SIZE 16

struct times {
	uint64_t sent, got;
};

struct compat {
	const struct admit_how *how;
	int fd;
	struct channel recorder;
	int words;
	struct stock_feed feed;
	int *doors, *fds;	/* of CPUs, and the last one for its clock */
	struct times *probes;
	uint64_t traceid, at;
	bool greeted, sync, stopped, done;
	int64_t asked_at, done_at;
	uint64_t asked;
	int failed;		/* while it was asked for the clock */
	struct err err;
};

struct message {
	uint32_t cmd, own_len, len;
	uint8_t bytes[TRACECMD_MSG_MAX];
};

/* compat.c. driven_breathe(): what is recorded goes on. */
int driven_breathe(struct compat *compat);
int driven_nonsense(struct compat *compat);
int driven_hear(struct compat *compat, int fd, struct message *message);
int driven_say(struct compat *compat, int fd, enum tracecmd_msg cmd, const void *own, uint32_t own_len, const void *rest, uint32_t len);

/* compat_clock.c: it has said something on the clock's connection. */
int driven_hear_clock(struct compat *compat);

#endif
