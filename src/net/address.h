/*
 * net/address: where the other end is, as people write it, and connections to there.
 *
 *	HOST  HOST:PORT  [ADDRESS]:PORT		TCP
 *	unix:PATH				a socket in the file system
 *	vsock:CID  vsock:CID:PORT		between a guest and its host
 *	ssh://[USER@]HOST[:PORT]		a command over ssh, which is in no need of us to be safe
 */
#ifndef NET_ADDRESS_H
#define NET_ADDRESS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

#include "base/err.h"

enum address_kind { ADDRESS_TCP, ADDRESS_UNIX, ADDRESS_VSOCK, ADDRESS_SSH };

struct address {
	enum address_kind kind;
	char host[256];		/* or the path */
	uint32_t cid;
	uint32_t port;		/* 0: of ssh, its own */
};

/* Checks all of it; looks nothing up. An empty host of TCP is any, which only those who listen can mean. */
int address_parse(struct address *address, const char *text, uint32_t port, struct err *err);
/* As it was written, with the port. */
void address_print(const struct address *address, char *text, size_t size);
#define ADDRESS_TEXT 300

/* Can nobody listen in on the way, since there is none? Of TCP: of a connection or a socket that listens. */
bool address_is_near(int fd);
/* Of a connection that is near: could it be any user of this machine? No path has kept him out, and he is no guest and no host. */
bool address_is_anybody(int fd);

/* Not blocking, at most so long: a descriptor, or -errno. */
int address_connect(const struct address *address, int ms, struct err *err);
/* Another port of whoever is at the other end of a connection, by TCP or vsock; it may not be open yet. Blocking. */
int address_beside(int fd, uint32_t port, int ms, struct err *err);
/* Sockets that listen, at most `max`: their number, or -errno. A path that nobody listens at any more is taken over. */
int address_listen(const struct address *address, int *fds, int max, struct err *err);

/* Who is there, in numbers: "192.0.2.7", "unix", "vsock:3". */
void address_peer(int fd, char *text, size_t size);
/* What a socket that listens is bound to. */
void address_own(int fd, char *text, size_t size);

#endif
