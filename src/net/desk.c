/*
 * net/desk: see desk.h.
 */
#include "net/desk.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static int hear_answer(int line, struct desk_answer *answer, int fds[2])
{
	union {
		struct cmsghdr head;
		char room[CMSG_SPACE(2 * sizeof(int))];
	} control;
	struct iovec iov = { answer, sizeof(*answer) };
	struct msghdr message = { .msg_iov = &iov, .msg_iovlen = 1, .msg_control = control.room, .msg_controllen = sizeof(control.room) };
	ssize_t n;

	do
		n = recvmsg(line, &message, MSG_CMSG_CLOEXEC);
	while (n < 0 && errno == EINTR);
	for (struct cmsghdr *c = n > 0 ? CMSG_FIRSTHDR(&message) : NULL; c; c = CMSG_NXTHDR(&message, c))
		if (c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_RIGHTS)
			memcpy(fds, CMSG_DATA(c), c->cmsg_len >= CMSG_LEN(2 * sizeof(int)) ? 2 * sizeof(int) : sizeof(int));
	return n == (ssize_t)sizeof(*answer) ? 0 : -ECHILD;
}

int desk_ask(int line, const struct desk_ask *ask, struct desk_answer *answer, int fds[2], struct err *err)
{
	struct desk_answer ours;
	int none[2];

	fds = fds ? fds : none;
	fds[0] = fds[1] = -1;
	if (send(line, ask, sizeof(*ask), MSG_NOSIGNAL) != (ssize_t)sizeof(*ask))
		return err_set(err, -ECHILD, "whoever keeps the files is gone");
	if (!answer)
		return 0;
	if (hear_answer(line, &ours, fds))
		return err_set(err, -ECHILD, "whoever keeps the files is gone");
	*answer = ours;
	answer->words[sizeof(answer->words) - 1] = answer->name[sizeof(answer->name) - 1] = answer->file[sizeof(answer->file) - 1] = '\0';
	return answer->code ? err_set(err, answer->code, "%s", answer->words) : 0;
}

int desk_hear(int line, struct desk_ask *ask)
{
	ssize_t n;

	do
		n = recv(line, ask, sizeof(*ask), MSG_DONTWAIT | MSG_TRUNC);
	while (n < 0 && errno == EINTR);
	if (n < 0)
		return -errno;
	if (!n)
		return 0;
	ask->fingerprint[sizeof(ask->fingerprint) - 1] = ask->name[sizeof(ask->name) - 1] = ask->text[sizeof(ask->text) - 1] = '\0';
	if (ask->text_len >= sizeof(ask->text))
		return -EPROTO;
	return n == (ssize_t)sizeof(*ask) ? 1 : -EPROTO;
}

int desk_answer(int line, const struct desk_answer *answer, const int *fds, int n)
{
	union {
		struct cmsghdr head;
		char room[CMSG_SPACE(2 * sizeof(int))];
	} control;
	struct iovec iov = { (void *)(uintptr_t)answer, sizeof(*answer) };
	struct msghdr message = { .msg_iov = &iov, .msg_iovlen = 1 };

	memset(&control, 0, sizeof(control));
	if (n) {
		message.msg_control = control.room;
		message.msg_controllen = CMSG_SPACE((size_t)n * sizeof(int));
		control.head.cmsg_level = SOL_SOCKET;
		control.head.cmsg_type = SCM_RIGHTS;
		control.head.cmsg_len = CMSG_LEN((size_t)n * sizeof(int));
		memcpy(CMSG_DATA(&control.head), fds, (size_t)n * sizeof(int));
	}
	/* One question has one answer: there is room for it, or nobody waits. */
	return sendmsg(line, &message, MSG_NOSIGNAL | MSG_DONTWAIT) == (ssize_t)sizeof(*answer) ? 0 : -EPIPE;
}
