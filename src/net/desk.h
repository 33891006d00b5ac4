/*
 * net/desk: what a session, which talks to the network in its jail, may ask of whoever watches it, and what it is told. Packets on a
 * socket between the two, each of one size. The one side takes nothing the other says for more than it is.
 */
#ifndef NET_DESK_H
#define NET_DESK_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "layout/wire.h"
#include "net/tls.h"

#define DESK_TEXT 3072

enum desk_kind {
	/* all who are connected to */
	DESK_SIGN = 1,	/* the hash of a handshake -> signature; once */
	DESK_WHO,	/* fingerprint, or none, and what is wanted -> name */
	/* who receives */
	DESK_FILE,	/* a recording -> where it stands, and its file */
	DESK_NEXT,	/* the file is full -> the next one, which counts when it was */
	DESK_TURNED,	/* made ready */
	DESK_NOTE,	/* how far it is, and whether what is recorded is switched on; no answer */
	DESK_ENDED,	/* the last frame is in the file -> it is known now that nothing more will come */
	DESK_CLOSED,	/* and closed up; no answer */
	DESK_PORT,	/* for pages of a CPU, by UDP if that is wanted -> a socket, and its port */
	/* an agent */
	DESK_RUN,	/* what is to be recorded, once if it `wants` that -> whoever records it, and what he says */
	DESK_STOP,	/* he is to end; no answer */
	DESK_EXIT,	/* -> how he ended */
	/* all */
	DESK_SAY,	/* words for people; no answer */
};

/* Where a recording stands. */
enum desk_stands { DESK_NEW, DESK_OPEN, DESK_DONE };

struct desk_ask {
	uint32_t kind;
	uint32_t len;			/* of `said`, or how many lanes */
	uint8_t recording[16];
	uint8_t said[64];
	char fingerprint[FINGERPRINT_TEXT];
	char name[WIRE_NAME_MAX + 1];	/* that it gave itself */
	uint32_t wants;
	uint64_t at;			/* the position behind the last frame */
	uint64_t events, lost, bytes;
	int64_t offset;
	uint64_t error;
	uint32_t lost_more;
	uint32_t text_len;
	char text[DESK_TEXT];		/* strings behind each other; words */
};

struct desk_answer {
	int32_t code;			/* 0, or why not, with words */
	uint32_t len;			/* of the signature */
	uint32_t stands;		/* enum desk_stands */
	uint32_t again;			/* it may be asked again later */
	uint32_t generation;		/* files before that one */
	uint64_t at;			/* of one that is done */
	uint8_t signature[128];
	char name[WIRE_NAME_MAX + 1];	/* what it is called here */
	char file[256];			/* for words */
	char words[256];
};

/* Asks: 0 or the answer's code, with its words. `fds`: up to two descriptors that come with it, else -1. NULL: no answer is waited for. */
int desk_ask(int line, const struct desk_ask *ask, struct desk_answer *answer, int fds[2], struct err *err);

/* The other side: 1 and a packet, 0 at the end, -EAGAIN, -EPROTO. */
int desk_hear(int line, struct desk_ask *ask);
int desk_answer(int line, const struct desk_answer *answer, const int *fds, int n);

#endif
