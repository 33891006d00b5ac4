/*
 * A remote that this program brings, and peers that are too many, say what makes no sense, hang up, never listen, or interrupt: it goes on for
 * all others, asks its callbacks for nothing that there is not, and keeps no descriptor of theirs. Who is not answered is told so in a moment,
 * and what he asked for is not done behind his back.
 */
#include <pthread.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>

#include "library/remote_lab.h"

#define CROWD 150

static struct ringside_control *tree;
static struct board *board;

static int dial(void)
{
	struct sockaddr_un to = { .sun_family = AF_UNIX };
	int line = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0), r;

	CHECK((size_t)snprintf(to.sun_path, sizeof(to.sun_path), "%s/remotes/board/socket", getenv("RINGSIDE_DIR")) < sizeof(to.sun_path),
	      "the path is too long");
	do
		r = connect(line, (struct sockaddr *)&to, sizeof(to));
	while (r && errno == EINTR);
	CHECK(!r, "connect: %s", strerror(errno));
	return line;
}

static uint32_t draw(void)
{
	static uint64_t state = 88172645463325252ull;

	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return (uint32_t)(state >> 24);
}

/* A packet, and five descriptors that nobody asked for. */
static void send_gift(int line, const void *bytes, size_t len)
{
	union {
		struct cmsghdr head;
		char room[CMSG_SPACE(5 * sizeof(int))];
	} part = { 0 };
	struct iovec place = { (void *)bytes, len };
	struct msghdr message = { .msg_iov = &place, .msg_iovlen = 1, .msg_control = &part, .msg_controllen = sizeof(part.room) };
	int fds[5] = { 0, 1, 2, line, line };

	part.head.cmsg_level = SOL_SOCKET;
	part.head.cmsg_type = SCM_RIGHTS;
	part.head.cmsg_len = CMSG_LEN(sizeof(fds));
	memcpy(CMSG_DATA(&part.head), fds, sizeof(fds));
	sendmsg(line, &message, MSG_NOSIGNAL);
}

/* Packets of that length, whose words make sense now and then. False: it hung up. */
static int babble(int line, size_t len)
{
	static uint32_t buffer[2];
	uint32_t words[16] = { 1 }, answer[128];
	ssize_t n;

	for (size_t i = 1; i < 16; i++)
		words[i] = draw() % 4 ? draw() % 48 : draw();
	words[1] %= 12;
	words[4] %= 1u << 20;
	words[5] &= draw();
	/* The number of the buffer that there is, as the last answer had it. */
	if (draw() % 8)
		memcpy(words + 6, buffer, sizeof(buffer));
	words[0] += !(draw() % 16);
	if (draw() % 8)
		send(line, words, len, MSG_NOSIGNAL);
	else
		send_gift(line, words, len);
	n = recv(line, answer, sizeof(answer), 0);
	if (n >= 24)
		memcpy(buffer, answer + 4, sizeof(buffer));
	return n > 0;
}

static void garbage(void)
{
	static const size_t lengths[] = { 0, 1, 31, 33, 64 };
	int answered = 0;

	for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
		int line = dial();

		CHECK(!babble(line, lengths[i]), "%zu bytes are answered", lengths[i]);
		close(line);
	}
	for (int i = 0; i < 500; i++) {
		int line = dial();

		for (int n = 0; n < 8 && babble(line, 32); n++)
			answered++;
		close(line);
	}
	CHECK(answered > 1000, "%d were answered", answered);
}

/* It asks and asks, and takes no answer. */
static void deafness(void)
{
	uint32_t words[8] = { 1 };
	int line = dial();
	ssize_t n;

	do
		n = send(line, words, sizeof(words), MSG_NOSIGNAL);
	while (n > 0);
	CHECK(n < 0 && (errno == EPIPE || errno == ECONNRESET), "%s", strerror(errno));
	close(line);
}

/* Gone before it is answered. */
static void haste(void)
{
	uint32_t words[8] = { 1 };

	for (int i = 0; i < 200; i++) {
		int line = dial();

		send(line, words, sizeof(words), MSG_NOSIGNAL);
		close(line);
	}
}

/* Takes everybody's place, all the time. */
static void *crowd_in(void *arg)
{
	atomic_bool *stop = arg;
	int lines[40];

	for (int i = 0; i < 40; i++)
		lines[i] = dial();
	for (int i = 0; !*stop; i = (i + 1) % 40) {
		close(lines[i]);
		lines[i] = dial();
	}
	for (int i = 0; i < 40; i++)
		close(lines[i]);
	return NULL;
}

static void *one_of_many(void *arg)
{
	struct ringside_control *own = lab_open();

	for (int i = 0; i < 20; i++)
		board_expect(own, "board", "tracing_on", "1\n");
	ringside_control_close(own);
	return arg;
}

static void many(void)
{
	pthread_t threads[CROWD], crowd[4];
	atomic_bool stop = false;
	int lines[CROWD];

	for (int i = 0; i < CROWD; i++)
		lines[i] = dial();
	board_expect(tree, "board", "tracing_on", "1\n");
	for (int i = 0; i < 4; i++)
		CHECK(!pthread_create(&crowd[i], NULL, crowd_in, &stop), "thread");
	for (int i = 0; i < CROWD; i++)
		CHECK(!pthread_create(&threads[i], NULL, one_of_many, NULL), "thread");
	for (int i = 0; i < CROWD; i++)
		pthread_join(threads[i], NULL);
	stop = true;
	for (int i = 0; i < 4; i++)
		pthread_join(crowd[i], NULL);
	for (int i = 0; i < CROWD; i++)
		close(lines[i]);
}

static void on_alarm(int signo)
{
	(void)signo;
}

static void interrupted(void)
{
	const struct sigaction action = { .sa_handler = on_alarm };
	const struct itimerval often = { { 0, 300 }, { 0, 300 } }, never = { { 0, 0 }, { 0, 0 } };

	sigaction(SIGALRM, &action, NULL);
	setitimer(ITIMER_REAL, &often, NULL);
	for (int i = 0; i < 50; i++) {
		board_write(tree, "board", "tracing_on", i % 2 ? "1" : "0");
		board_write(tree, "board", "events/enable", i % 2 ? "1" : "0");
	}
	setitimer(ITIMER_REAL, &never, NULL);
}

/* Switches event 40 on, without the patience to see that done. */
static void ask_and_leave(void)
{
	const uint32_t words[8] = { 1, 5, 40, 1 };
	int line = dial();

	CHECK(send(line, words, sizeof(words), MSG_NOSIGNAL) == sizeof(words), "%s", strerror(errno));
	close(line);
}

static void *let_go(void *arg)
{
	sleep(5);
	board->held = false;
	return arg;
}

/* A callback takes five seconds: nobody waits for that long, and nothing is done that was given up. */
static void slow(void)
{
	struct ringside_control_remote *remote = board_register(board, tree, "board");
	pthread_t thread;

	board_write(tree, "board", "tracing_on", "1");
	board_write(tree, "board", "tracing_on", "0");
	board_said(board, "init, load 7168, on 1, on 0, unload");
	board->held = true;
	CHECK(!pthread_create(&thread, NULL, let_go, NULL), "thread");
	REFUSED(tree, board_try(tree, "board", "tracing_on", "1"), ETIMEDOUT);
	REFUSED(tree, board_try(tree, "board", "events/enable", "1"), ETIMEDOUT);
	CHECK(strstr(ringside_control_error(tree), "does not answer"), "%s", ringside_control_error(tree));
	ask_and_leave();
	/* What its events are called is known all the same, and so are CPUs, without asking again and again. */
	board_expect(tree, "board", "events/board/stall/id", "40\n");
	for (int i = 0; i < 5; i++)
		board_cpus(tree, "board", "cpu0/ cpu1/ ");
	CHECK(board->held, "that took longer than five seconds");
	pthread_join(thread, NULL);
	/* Nobody has wanted that one in the end: it goes, and another size may be asked for. */
	board_expect(tree, "board", "events/enable", "0\n");
	board_said(board, "load 7168, unload");
	board_write(tree, "board", "buffer_size_kb", "8");
	board_said(board, "");
	board_write(tree, "board", "tracing_on", "1");
	board_said(board, "load 8192, on 1");
	board_write(tree, "board", "tracing_on", "0");
	board_unregister(board, remote);
	board_said(board, "on 0, unload");
}

/* Where the oldest stay, who reads makes room, whether or not the program has the time to hear of it. */
static void slow_pages(void)
{
	struct ringside_control_remote *remote;
	uint64_t seq[BOARD_CPUS] = { 0, 0 };

	board->page = 256;
	board->flags = RINGSIDE_CONTROL_REMOTE_DISCARD;
	remote = board_register(board, tree, "board");
	board_write(tree, "board", "buffer_size_kb", "1");
	board_write(tree, "board", "events/enable", "1");
	board_write(tree, "board", "tracing_on", "1");
	board_steps(board, 0, 100);
	board->held = true;
	CHECK(board_lines(tree, "board", "trace_pipe", seq) > 8 && board->fw.rings[0].consumed == 3, "no room");
	board->held = false;
	board_write(tree, "board", "tracing_on", "0");
	board_said(board, "init, event 1 1, event 40 1, load 1024, on 1, swap 0, on 0, unload");
	board_unregister(board, remote);
	board->page = 0;
	board->flags = 0;
}

int main(void)
{
	struct ringside_control_remote *remote;
	int before;

	tree = lab_open();
	board = board_new();
	/* Whoever is killed by SIGPIPE has failed. */
	signal(SIGPIPE, SIG_DFL);
	slow();
	slow_pages();
	before = lab_descriptors();
	board->careless = true;
	remote = board_register(board, tree, "board");
	garbage();
	deafness();
	haste();
	board_write(tree, "board", "events/enable", "1");
	board_write(tree, "board", "tracing_on", "1");
	board_write(tree, "board", "trace", "");
	board_steps(board, 1, 1);
	CHECK(board_lines(tree, "board", "trace", NULL) == 1, "it goes on");
	many();
	interrupted();
	board_unregister(board, remote);
	CHECK(lab_descriptors() == before, "%d descriptors, not %d", lab_descriptors(), before);
	board_free(board);
	ringside_control_close(tree);
	return 0;
}
