/*
 * A visitor gets ports for pages, each of which can be reached, but only so many, and all visitors together only so many.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "insist.h"
#include "net/gate.h"

/* What gate_port() answers: 0 or the code, and the port that it opened. */
static int ask(struct gate *gate, struct visit *visit, int line, bool udp, int *fd)
{
	struct desk_ask ask = { .kind = DESK_PORT, .wants = udp };
	struct desk_answer answer = { 0 };
	char room[CMSG_SPACE(2 * sizeof(int))];
	struct iovec iov = { &answer, sizeof(answer) };
	struct msghdr message = { .msg_iov = &iov, .msg_iovlen = 1, .msg_control = room, .msg_controllen = sizeof(room) };

	*fd = -1;
	CHECK(gate_port(gate, visit, &ask), "nothing is answered");
	CHECK(recvmsg(line, &message, 0) == (ssize_t)sizeof(answer), "no answer");
	if (CMSG_FIRSTHDR(&message))
		memcpy(fd, CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof(*fd));
	CHECK((answer.code < 0) == (*fd < 0), "a code and a port");
	CHECK(answer.code < 0 || (answer.at > 0 && answer.at < 65536), "no port");
	return answer.code;
}

static unsigned int ask_all(struct gate *gate, struct visit *visit, int line, int *code)
{
	unsigned int n = 0;
	int fd;

	while (n < 2 * GATE_PORTS_MAX && !(*code = ask(gate, visit, line, n % 2, &fd))) {
		close(fd);
		n++;
	}
	return n;
}

int main(void)
{
	static struct visit visits[GATE_PORTS_ALL / GATE_PORTS_MAX + 2];
	const size_t nr = sizeof(visits) / sizeof(visits[0]);
	struct gate gate = { .visits = &visits[0] };
	unsigned int all = 0;
	int line[2], code;

	CHECK(!socketpair(AF_UNIX, SOCK_SEQPACKET, 0, line), "no sockets");
	for (size_t i = 0; i < nr; i++) {
		visits[i].line = line[0];
		visits[i].next = i + 1 < nr ? &visits[i + 1] : NULL;
		strcpy(visits[i].from, "192.0.2.7");
	}
	CHECK(ask_all(&gate, &visits[0], line[1], &code) == GATE_PORTS_MAX && code == -E2BIG, "code %d", code);
	all = GATE_PORTS_MAX;
	for (size_t i = 1; i < nr; i++)
		all += ask_all(&gate, &visits[i], line[1], &code);
	CHECK(all == GATE_PORTS_ALL && code == -EAGAIN, "code %d", code);
	/* Whoever leaves gives his back. */
	gate.visits = &visits[1];
	CHECK(ask_all(&gate, &visits[nr - 1], line[1], &code) == GATE_PORTS_MAX && code == -E2BIG, "code %d", code);
	return 0;
}
