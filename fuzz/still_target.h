/*
 * What stands around a session that is fed: a connection on which all has come already, and then the end; a desk that answers at once,
 * with files in memory; a clock that goes on when somebody waits.
 */
#ifndef FUZZ_STILL_TARGET_H
#define FUZZ_STILL_TARGET_H

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "net/desk.h"

#define OWN_FDS 64

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int still_poll(struct pollfd *fds, nfds_t n, int ms);
int still_clock(clockid_t clock, struct timespec *now);

static uint64_t still_now;
static int still_peer = -1;	/* the other end of the connection */
static unsigned int still_silent;	/* looks at it before the first word comes */

static inline void still_insist(bool holds)
{
	if (!holds)
		abort();
}

int still_clock(clockid_t clock, struct timespec *now)
{
	(void)clock;
	still_now += 1000;
	*now = (struct timespec){ .tv_sec = (time_t)(still_now / 1000000000), .tv_nsec = (long)(still_now % 1000000000) };
	return 0;
}

int still_poll(struct pollfd *fds, nfds_t n, int ms)
{
	struct timespec none = { 0 };
	char heard[4096];
	int r;

	while (still_peer >= 0 && recv(still_peer, heard, sizeof(heard), MSG_DONTWAIT) > 0)
		;
	r = still_silent ? 0 : (int)syscall(SYS_ppoll, fds, n, &none, NULL, 0);
	still_silent -= still_silent > 0;
	/* Nobody waits for ever. */
	still_insist(r || ms >= 0);
	still_now += r ? 1000 : (uint64_t)ms * 1000000;
	return r;
}

/* Descriptors of a run are above those of whoever runs it. */
static inline void still_begin(void)
{
	while (dup(2) < OWN_FDS)
		;
	still_now = 1000000000;
	still_silent = 0;
}

static inline void still_end(void)
{
	close_range(OWN_FDS + 1, ~0u, 0);
	still_peer = -1;
}

/* All that is ever said there. */
static inline int still_line(const uint8_t *bytes, size_t len, int *other)
{
	int pair[2];

	still_insist(!socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, pair));
	still_insist(send(pair[1], bytes, len, MSG_NOSIGNAL) == (ssize_t)len || !len);
	shutdown(pair[1], SHUT_WR);
	*other = pair[1];
	return pair[0];
}

/* A port that two words came by. */
static inline int still_port(const uint8_t *bytes, size_t len)
{
	int pair[2];

	still_insist(!socketpair(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK, 0, pair));
	send(pair[1], bytes, len / 2, MSG_NOSIGNAL | MSG_DONTWAIT);
	send(pair[1], bytes + len / 2, len - len / 2, MSG_NOSIGNAL | MSG_DONTWAIT);
	return pair[0];
}

int desk_hear(int line, struct desk_ask *ask)
{
	(void)line;
	(void)ask;
	return -EAGAIN;
}

int desk_answer(int line, const struct desk_answer *answer, const int *fds, int n)
{
	(void)line;
	(void)answer;
	(void)fds;
	(void)n;
	return 0;
}

#endif
