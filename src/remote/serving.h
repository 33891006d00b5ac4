/*
 * remote/serving: a remote that this process brings, as serve.c, which answers, and register.c, which begins and ends that, share it.
 */
#ifndef REMOTE_SERVING_H
#define REMOTE_SERVING_H

#include <pthread.h>

#include "remote/local.h"
#include "remote/serve.h"

#define SERVING_PEERS 64
/* What is watched beside those. */
enum { SERVING_WAKE = SERVING_PEERS, SERVING_LISTENER };

struct serving_peer {
	int fd;			/* -1: the place is free */
	uint64_t used;		/* when it last said something, in turns */
};

struct remote_serving {
	struct ringside_control_remote_callbacks callbacks;
	void *priv;
	struct remote *remote;	/* its folder, its events, and the memory while that is loaded */
	int root;		/* the tracing directory */
	pid_t pid;		/* a child has no part in it */
	pthread_t thread;
	int listener, wake;
	int watch;		/* all of these, and the peers; poll() wants to be allowed as many descriptors */
	struct ringside_control_remote_buffer buffer;
	bool loaded;
	uint64_t number;	/* of the buffer that is, or was last, loaded */
	uint32_t enable[KEPT_EVENTS / 32];
	uint64_t turn;
	struct serving_peer peers[SERVING_PEERS];
};

int serving_watch(struct remote_serving *serving, int fd, uint32_t place);
/* The thread, which ends when `wake` can be read. */
void *serving_run(void *serving);
/* When it does not run any more: nothing is loaded behind this. */
void serving_end(struct remote_serving *serving);

#endif
