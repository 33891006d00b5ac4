/*
 * A session that somebody else has got hold of asks at the desk: it gets no file of another board, none outside, none without end, no
 * second recording, no port, no program, and can end none but itself.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "collect/local.h"
#include "insist.h"

static struct listener listener;
static char said[1000];
static struct err err = ERR_INIT;

static void hear_said(void *ctx, const char *text)
{
	(void)ctx;
	snprintf(said, sizeof(said), "%s", text);
}

/* ---- a session ---- */

struct session {
	struct visit visit;
	int line;
};

static struct session *come(const char *name)
{
	struct session *session = calloc(1, sizeof(*session));
	int line[2];

	CHECK(session && !socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, line), "no line");
	session->visit = (struct visit){ .line = line[0], .known = true };
	strcpy(session->visit.name, name);
	strcpy(session->visit.from, "192.0.2.1");
	session->line = line[1];
	session->visit.next = listener.gate.visits;
	listener.gate.visits = &session->visit;
	return session;
}

static void go(struct session *session)
{
	struct visit **link = &listener.gate.visits;

	while (*link != &session->visit)
		link = &(*link)->next;
	*link = session->visit.next;
	front_gone(&listener, &session->visit);
	close(session->visit.line);
	close(session->line);
	free(session);
}

/* True: it was answered, with that code. */
static bool ask(struct session *session, struct desk_ask *ask, int *code, int fds[2])
{
	struct desk_answer answer = { 0 };
	struct iovec iov = { &answer, sizeof(answer) };
	char control[CMSG_SPACE(2 * sizeof(int))];
	struct msghdr message = { .msg_iov = &iov, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof(control) };
	struct cmsghdr *c;

	fds[0] = fds[1] = -1;
	if (!front_answer(&listener, &session->visit, ask))
		return false;
	if (recvmsg(session->line, &message, MSG_DONTWAIT) != (ssize_t)sizeof(answer))
		return true;
	*code = answer.code;
	for (c = CMSG_FIRSTHDR(&message); c; c = CMSG_NXTHDR(&message, c))
		memcpy(fds, CMSG_DATA(c), c->cmsg_len - CMSG_LEN(0));
	return true;
}

static bool quietly(struct session *session, struct desk_ask *what)
{
	int code = 0, fds[2];
	bool answered = ask(session, what, &code, fds);

	/* What has nothing in it is forgotten. */
	if (what->kind == DESK_FILE && fds[0] >= 0)
		CHECK(write(fds[0], "x", 1) == 1, "no room");
	for (int i = 0; i < 2; i++)
		if (fds[i] >= 0)
			close(fds[i]);
	return answered && !code;
}

static struct desk_ask file(char recording)
{
	struct desk_ask about = { .kind = DESK_FILE, .len = 2, .error = UINT64_MAX };

	memset(about.recording, recording, sizeof(about.recording));
	return about;
}

static uint64_t inode(int fd)
{
	struct stat st;

	CHECK(!fstat(fd, &st) && S_ISREG(st.st_mode), "no file");
	return st.st_ino;
}

/* ---- what it tries ---- */

/* Another board's recording, by its number: a new one, in its own directory. */
static void asks_for_anothers(void)
{
	struct session *board = come("board"), *other = come("other");
	struct desk_ask about = file('a');
	int fds[2], others[2], code = 0;

	CHECK(ask(board, &about, &code, fds) && !code && fds[0] >= 0, "no file: %s", said);
	CHECK(ask(other, &about, &code, others) && !code && others[0] >= 0 && inode(fds[0]) != inode(others[0]), "the other one's file");
	/* Nor is the other one ended by it. */
	CHECK(board->visit.own && other->visit.own, "somebody was ended");
	for (int i = 0; i < 2; i++) {
		close(fds[i]);
		close(others[i]);
	}
	go(board);
	go(other);
}

static void asks_twice(void)
{
	struct session *board = come("twice");
	struct desk_ask one = file('b'), two = file('c');

	CHECK(quietly(board, &one) && !quietly(board, &two), "two recordings on one connection");
	go(board);
	board = come("twice");
	one.len = 3;
	CHECK(!quietly(board, &one), "a recording that has another shape is gone on with");
	go(board);
}

/* Without a recording, or behind one that was refused. */
static void asks_out_of_turn(void)
{
	static const uint32_t kinds[] = { DESK_NEXT, DESK_TURNED, DESK_NOTE, DESK_ENDED, DESK_CLOSED, DESK_PORT, DESK_RUN, DESK_STOP, DESK_EXIT, 0, 99, UINT32_MAX };
	struct session *board = come("early"), *refused = come("twice"), *at_work = come("at-work");
	struct desk_ask wrong = file('b'), right = file('d');

	wrong.len = 7;
	CHECK(!quietly(refused, &wrong) && quietly(at_work, &right), "%s", said);
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		struct desk_ask one = file('b');

		one.kind = kinds[i];
		CHECK(!quietly(board, &one), "%u: is answered to whoever has no recording", kinds[i]);
		CHECK(!quietly(refused, &one), "%u: is answered to whoever was refused", kinds[i]);
		/* What is an agent's, a stock peer's, or comes behind another question. */
		if (kinds[i] != DESK_NOTE && kinds[i] != DESK_ENDED && kinds[i] != DESK_CLOSED)
			CHECK(!quietly(at_work, &one), "%u: is answered to whoever records", kinds[i]);
	}
	go(board);
	go(refused);
	go(at_work);
}

static void asks_for_files_without_end(void)
{
	struct session *board = come("greedy");
	struct desk_ask about = file('e');
	int fds[2], code = 0;

	listener.how.rotate_bytes = 1 << 20;
	CHECK(ask(board, &about, &code, fds) && !code, "%s", said);
	about.kind = DESK_NEXT;
	CHECK(!quietly(board, &about), "a file behind one that is empty");
	CHECK(!ftruncate(fds[0], 1 << 20), "no room");
	CHECK(quietly(board, &about), "no file behind one that is full: %s", said);
	about.kind = DESK_TURNED;
	CHECK(quietly(board, &about) && !quietly(board, &about), "turned twice");
	about.kind = DESK_NEXT;
	CHECK(!quietly(board, &about), "a third one behind one that is empty");
	close(fds[0]);
	close(fds[1]);
	go(board);
	listener.how.rotate_bytes = 0;
}

/* It writes, and does not say how much. */
static void writes_too_much(void)
{
	struct session *board = come("fat"), *thin = come("thin");
	struct desk_ask about = file('f');
	int fds[2], code = 0;
	static char bytes[1 << 20];

	CHECK(ask(board, &about, &code, fds) && !code && quietly(thin, &about), "%s", said);
	listener.how.limits.quota = 512 << 10;
	board->visit.pid = fork();
	if (!board->visit.pid)
		for (;;)
			pause();
	memset(bytes, 1, sizeof(bytes));
	front_watch(&listener);
	CHECK(board->visit.pid, "ended before it has too much");
	CHECK(write(fds[0], bytes, sizeof(bytes)) == (ssize_t)sizeof(bytes) && !fsync(fds[0]), "no room");
	front_watch(&listener);
	CHECK(!board->visit.pid, "whoever has too much goes on");
	go(board);
	go(thin);
	/* And does not come again while that is so: what is still held is not thinned. */
	board = come("fat");
	about = file('g');
	CHECK(!quietly(board, &about) && strstr(said, "used up"), "whoever has too much gets more: %s", said);
	go(board);
	close(fds[0]);
	close(fds[1]);
	listener.how.limits.quota = 0;
}

/* Names that are none are never a directory, whoever lets them in. */
static void is_called_a_path(void)
{
	static const char *const names[] = { "../out", "..", ".", "a/b", "/etc", ".hidden", "", "-rf" };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		struct session *board = come(names[i]);
		struct desk_ask about = file('h');

		CHECK(!quietly(board, &about), "'%s' is the name of a directory", names[i]);
		go(board);
	}
}

/* Its directory leads elsewhere, by whoever put it there. */
static void follows_nothing(void)
{
	struct session *board = come("link");
	struct desk_ask about = file('i');

	CHECK(!symlinkat("/tmp", listener.store.dir, "link"), "no link");
	CHECK(!quietly(board, &about), "a link is followed");
	go(board);
}

static void moves_no_terminal(void)
{
	gate_say(&listener.gate, "%s", "\033]0;x\007 \n words");
	CHECK(!strcmp(said, "?]0;x? ? words"), "'%s'", said);
}

int main(void)
{
	char path[300];

	snprintf(path, sizeof(path), "%s/boards", getenv("RINGSIDE_SCRATCH"));
	listener.gate.how.say = hear_said;
	listener.how.dir = path;
	CHECK(!store_open(&listener.store, path, true, &err), "%s", err.text);
	asks_for_anothers();
	asks_twice();
	asks_out_of_turn();
	asks_for_files_without_end();
	writes_too_much();
	is_called_a_path();
	follows_nothing();
	moves_no_terminal();
	store_close(&listener.store);
	return 0;
}
