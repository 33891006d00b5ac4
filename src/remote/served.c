/*
 * remote/served: remotes that another program brings, or another part of this one: what the kernel does by callbacks is asked of that program.
 * Events are read from its memory, of which it hands out a descriptor. See served.h for what is said.
 *
 * It may be gone, stopped, or anything at all: nothing that comes from there is trusted to be what it should, and nobody waits for long. Who
 * was not answered asks no more for a while, so that many files take no longer than one.
 */
#include "remote/served.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/mono.h"

#define ANSWER_MS 1000
/* Where something is done before it is answered. */
#define ACT_MS 2000
/* Before one who hung up is asked again. */
#define AGAIN_US 500
#define DEAF_NS 10000000000ull
#define ERRNO_MAX 4095

void served_address(struct sockaddr_un *address, int dir)
{
	*address = (struct sockaddr_un){ .sun_family = AF_UNIX };
	snprintf(address->sun_path, sizeof(address->sun_path), "/proc/self/fd/%d/" SERVED_SOCKET, dir);
}

static int gone(struct err *err)
{
	return err_set(err, -ENODEV, "the program that served it is gone");
}

static int deaf(struct err *err)
{
	return err_set(err, -ETIMEDOUT, "the program that serves it does not answer: it hangs, or is stopped");
}

/* ---- the connection ---- */

static void hang_up(struct remote *remote)
{
	if (remote->line >= 0)
		close(remote->line);
	remote->line = -1;
}

/* So is one that nobody has waited for yet, of which kill() does not tell. */
static bool is_dead(pid_t pid)
{
	struct pollfd look = { .fd = pid > 0 ? (int)syscall(SYS_pidfd_open, pid, 0) : -1, .events = POLLIN };
	bool ended;

	if (look.fd < 0)
		return pid > 0 && kill(pid, 0) && errno == ESRCH;
	ended = poll(&look, 1, 0) == 1;
	close(look.fd);
	return ended;
}

/* Who listens? A child may have inherited the socket of one that died. */
static int check_peer(int line, struct err *err)
{
	struct ucred peer;
	socklen_t len = sizeof(peer);

	if (getsockopt(line, SOL_SOCKET, SO_PEERCRED, &peer, &len))
		return err_set(err, -errno, "nobody knows who serves it: %s", strerror(errno));
	if (peer.uid != geteuid())
		return err_set(err, -EPERM, "it is served by a program of another user");
	return is_dead(peer.pid) ? gone(err) : 0;
}

static int connect_line(struct remote *remote, struct err *err)
{
	/* So long connect() waits for a place in the queue: hardly, when it is of one who died, kept by a child. */
	struct timeval patience = is_dead(remote->server) ? (struct timeval){ .tv_usec = 10000 }
							  : (struct timeval){ .tv_sec = ANSWER_MS / 1000 };
	struct sockaddr_un address;
	int line = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0), r;

	hang_up(remote);
	if (line < 0)
		return err_set(err, -errno, "no socket can be had: %s", strerror(errno));
	setsockopt(line, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience));
	served_address(&address, remote->dir);
	do
		r = connect(line, (struct sockaddr *)&address, sizeof(address)) ? -errno : 0;
	while (r == -EINTR);
	/* It is there, and cannot be reached: so it is where there is no /proc. */
	if (r == -ENOENT && !faccessat(remote->dir, SERVED_SOCKET, F_OK, 0))
		r = err_set(err, r, "the program that serves it cannot be reached without /proc");
	else if (r == -ECONNREFUSED || r == -ENOENT || r == -ENOTSOCK)
		r = gone(err);
	else if (r == -EAGAIN)
		r = is_dead(remote->server) ? gone(err) : deaf(err);
	else if (r)
		r = err_set(err, r, "the program that serves it cannot be reached: %s", strerror(-r));
	else
		r = check_peer(line, err);
	if (r) {
		close(line);
		return r;
	}
	remote->line = line;
	return 0;
}

bool served_is_alive(struct remote *remote)
{
	return connect_line(remote, NULL) != -ENODEV;
}

/* The first descriptor that came, or -1; there are to be no others. */
static int take_fd(struct msghdr *message)
{
	int found = -1, fd;

	for (struct cmsghdr *part = CMSG_FIRSTHDR(message); part; part = CMSG_NXTHDR(message, part)) {
		if (part->cmsg_level != SOL_SOCKET || part->cmsg_type != SCM_RIGHTS)
			continue;
		for (size_t at = 0; CMSG_LEN(at + sizeof(fd)) <= part->cmsg_len; at += sizeof(fd)) {
			memcpy(&fd, CMSG_DATA(part) + at, sizeof(fd));
			if (found < 0)
				found = fd;
			else
				close(fd);
		}
	}
	return found;
}

static int wait_for(int line, uint64_t until)
{
	struct pollfd look = { .fd = line, .events = POLLIN };
	uint64_t now;
	int r;

	do {
		now = mono_ns();
		r = now >= until ? 0 : poll(&look, 1, (int)((until - now) / 1000000) + 1);
	} while (r < 0 && errno == EINTR);
	return r < 0 ? -errno : r ? 0 : -ETIMEDOUT;
}

static int receive(int line, struct served_answer *answer, int *fd)
{
	union {
		struct cmsghdr head;
		char room[CMSG_SPACE(4 * sizeof(int))];
	} parts;
	struct iovec place = { answer, sizeof(*answer) };
	struct msghdr message = { .msg_iov = &place, .msg_iovlen = 1, .msg_control = &parts, .msg_controllen = sizeof(parts) };
	ssize_t n = recvmsg(line, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);

	if (n <= 0)
		return n && errno != ECONNRESET ? -errno : -ECONNRESET;
	*fd = take_fd(&message);
	if (n == (ssize_t)sizeof(*answer) && !(message.msg_flags & MSG_TRUNC) && answer->version == SERVED_VERSION &&
	    answer->result <= 0 && answer->result >= -ERRNO_MAX)
		return 0;
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
	return -EPROTO;
}

/* -ECONNRESET: the connection is no more. */
static int talk(int line, const struct served_ask *ask, struct served_answer *answer, int *fd)
{
	uint64_t until = mono_ns() + (ask->op <= SERVED_FIND ? ANSWER_MS : ACT_MS) * 1000000ull;
	int r;

	if (line < 0)
		return -ECONNRESET;
	/* There is room for it: nothing else is under way. */
	if (send(line, ask, sizeof(*ask), MSG_NOSIGNAL | MSG_DONTWAIT) != (ssize_t)sizeof(*ask))
		return errno == EAGAIN ? -ETIMEDOUT : -ECONNRESET;
	r = wait_for(line, until);
	return r ? r : receive(line, answer, fd);
}

/* What it says is shown to people. */
static void clean(char *text, size_t size)
{
	text[size - 1] = '\0';
	for (; *text; text++)
		if ((unsigned char)*text < ' ' || *text == 0x7f)
			*text = '?';
}

static int ask(struct remote *remote, struct served_ask *ask, struct served_answer *answer, int *fd, struct err *err)
{
	uint64_t until = mono_ns() + ANSWER_MS * 1000000ull;
	int none = -1, r;

	fd = fd ? fd : &none;
	*fd = -1;
	if (mono_ns() < remote->deaf_until)
		return deaf(err);
	ask->version = SERVED_VERSION;
	ask->buffer = remote->buffer;
	r = talk(remote->line, ask, answer, fd);
	/* It ends those that were silent for longest, where many come. */
	for (bool again = false; r == -ECONNRESET && mono_ns() < until; again = true) {
		if (again)
			usleep(AGAIN_US);
		r = connect_line(remote, err);
		if (!r)
			r = talk(remote->line, ask, answer, fd);
	}
	if (none >= 0)
		close(none);
	if (!r) {
		clean(answer->text, sizeof(answer->text));
		return answer->result;
	}
	hang_up(remote);
	if (r == -ETIMEDOUT || r == -ECONNRESET)
		remote->deaf_until = mono_ns() + DEAF_NS;
	return r == -ETIMEDOUT ? deaf(err) : r == -ECONNRESET ? err_set(err, r, "the program that serves it hangs up")
	     : err_set(err, r, "the program that serves it answers what makes no sense: %s", strerror(-r));
}

/* Where there is nothing to be had but the words. */
static int tell(struct remote *remote, struct served_ask question, struct err *err)
{
	struct served_answer answer = { .text = "" };
	int r = ask(remote, &question, &answer, NULL, err);

	return r ? err_set(err, r, "%s", *answer.text ? answer.text : strerror(-r)) : 0;
}

/* ---- its memory ---- */

static int take_memory(struct remote *remote, const struct served_answer *answer, int fd, struct err *err)
{
	int r;

	if (fd < 0)
		return err_set(err, -EPROTO, "the program that serves it hands out no memory");
	r = remote_memory_take(&remote->memory, fd, (fcntl(fd, F_GETFL) & O_ACCMODE) == O_RDWR, err);
	if (r)
		return r;
	remote->at = answer->header;
	remote->buffer = answer->buffer;
	r = remote_attach(remote, err);
	if (r)
		return r;
	free(remote->swapped);
	remote->swapped = calloc(remote->target.nr_rings, sizeof(*remote->swapped));
	if (remote->swapped)
		return 0;
	remote_detach(remote);
	return err_set(err, -ENOMEM, "out of memory");
}

static int get(struct remote *remote, struct served_ask question, struct err *err)
{
	struct served_answer answer = { .text = "" };
	int fd, r = ask(remote, &question, &answer, &fd, err);

	if (!r)
		return take_memory(remote, &answer, fd, err);
	if (fd >= 0)
		close(fd);
	/* Nothing is wrong: it is not loaded. */
	if (r == -ENOENT && question.op == SERVED_FIND)
		return r;
	return err_set(err, r, "%s", *answer.text ? answer.text : strerror(-r));
}

void served_recall(struct remote *remote)
{
	struct kept kept;

	remote_store_kept(remote, &kept);
	if (kept.nr_rings <= TARGET_RINGS_MAX)
		remote->nr_cpus = kept.nr_rings;
}

static int find(struct remote *remote, struct err *err)
{
	served_recall(remote);
	return get(remote, (struct served_ask){ .op = SERVED_FIND }, err);
}

/* Another buffer: what was read of the one before means nothing now. */
static void forget(struct remote *remote, uint32_t nr_rings)
{
	struct kept kept;

	remote_store_kept(remote, &kept);
	kept.boots = 0;
	kept.nr_rings = nr_rings;
	remote_store_keep(remote, &kept, NULL);
}

static void unload(struct remote *remote)
{
	uint32_t nr_rings = remote->target.nr_rings;

	if (tell(remote, (struct served_ask){ .op = SERVED_UNLOAD }, NULL))
		return;
	forget(remote, nr_rings);
	remote_detach(remote);
}

static int load(struct remote *remote, uint64_t kb, struct err *err)
{
	int r = get(remote, (struct served_ask){ .op = SERVED_LOAD, .size = (kb ? kb : REMOTE_USUAL_KB) * 1024 }, err);

	if (!r)
		forget(remote, remote->target.nr_rings);
	return r;
}

static bool is_same(struct remote *remote)
{
	struct served_ask question = { .op = SERVED_LOOK };
	struct served_answer answer;

	return !ask(remote, &question, &answer, NULL, NULL) && answer.buffer == remote->buffer;
}

/* Without a question: the end of a connection tells, or the end of who had it, since a child of his may have it, too. */
static int alive(struct remote *remote, struct err *err)
{
	struct pollfd look = { .fd = remote->line, .events = POLLIN };
	bool quiet = remote->line >= 0 && poll(&look, 1, 0) <= 0;

	return (quiet ? check_peer(remote->line, NULL) : connect_line(remote, NULL)) == -ENODEV ? gone(err) : 0;
}

/* ---- callbacks ---- */

static int enable_tracing(struct remote *remote, bool on, struct err *err)
{
	return tell(remote, (struct served_ask){ .op = SERVED_ENABLE_TRACING, .value = on }, err);
}

static int enable_event(struct remote *remote, uint32_t id, bool on, struct err *err)
{
	return tell(remote, (struct served_ask){ .op = SERVED_ENABLE_EVENT, .number = id, .value = on }, err);
}

static int reset(struct remote *remote, uint32_t first, uint32_t n, struct err *err)
{
	int r = 0;

	for (uint32_t ring = first; !r && ring < first + n; ring++)
		r = tell(remote, (struct served_ask){ .op = SERVED_RESET, .number = remote_cpu(remote, ring) }, err);
	return r;
}

/* Told once a page, if somebody hears it; there is room in any case. */
static int swap_reader_page(struct remote *remote, uint32_t ring, uint32_t number)
{
	int r;

	if (remote->swapped[ring] == number)
		return 0;
	remote_word_swap(remote, ring, number);
	r = tell(remote, (struct served_ask){ .op = SERVED_SWAP, .number = remote_cpu(remote, ring) }, NULL);
	if (remote->line >= 0)
		remote->swapped[ring] = number;
	return r;
}

const struct remote_kind remote_kind_served = {
	.load_trace_buffer = load,
	.unload_trace_buffer = unload,
	.enable_tracing = enable_tracing,
	.enable_event = enable_event,
	.enable_early = true,
	.reset = reset,
	.swap_reader_page = swap_reader_page,
	.find = find,
	.is_same = is_same,
	.alive = alive,
};
