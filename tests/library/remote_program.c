/*
 * A program that brings a remote, and the command in other processes: events are read live while its threads write them, to the last one,
 * whether it takes the remote away, is killed, or is killed and has a child that lives on. Of one that is stopped or gone, or of an impostor
 * that answers anything, the files say so.
 */
#include <poll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "library/remote_lab.h"

#define NAP_US 300

/* What program and test share. */
static struct shared {
	_Atomic uint64_t written[BOARD_CPUS];
	atomic_int child;
} *shared;

static struct ringside_control *tree;

/* ---- the program ---- */

static struct board *board;
static atomic_bool stop;

static void *write_on(void *arg)
{
	uint32_t cpu = (uint32_t)(uintptr_t)arg;

	while (!stop) {
		pthread_mutex_lock(&board->lock);
		if (board->loaded && board->fw.control->on && ringside_fw_hosted_is_on(&board->fw, 1)) {
			trace_step(&board->fw, cpu, cpu, board->seq[cpu]++);
			shared->written[cpu] = board->seq[cpu];
		}
		pthread_mutex_unlock(&board->lock);
		usleep(NAP_US);
	}
	return NULL;
}

/* A letter in: l leaves, f has a child that lives on, e ends. A letter out: done. */
static void program(int line)
{
	struct ringside_control_remote *remote;
	pthread_t threads[BOARD_CPUS];
	char letter = 'b';

	board = board_new();
	board->careless = true;
	tree = lab_open();
	remote = board_register(board, tree, "sim");
	for (uint32_t i = 0; i < BOARD_CPUS; i++)
		CHECK(!pthread_create(&threads[i], NULL, write_on, (void *)(uintptr_t)i), "thread");
	do {
		if (letter == 'l') {
			board_unregister(board, remote);
			remote = NULL;
		}
		if (letter == 'f') {
			pid_t pid = fork();

			/* For long enough. */
			if (!pid) {
				alarm(60);
				for (;;)
					pause();
			}
			shared->child = pid;
		}
		CHECK(write(line, "d", 1) == 1, "answer");
	} while (letter != 'e' && read(line, &letter, 1) == 1);
	stop = true;
	for (uint32_t i = 0; i < BOARD_CPUS; i++)
		pthread_join(threads[i], NULL);
	board_unregister(board, remote);
	board_free(board);
	ringside_control_close(tree);
	exit(0);
}

struct peer {
	pid_t pid;
	int line;
};

static void tell(const struct peer *peer, char letter)
{
	char answer;

	CHECK(write(peer->line, &letter, 1) == 1 && read(peer->line, &answer, 1) == 1, "the program does not answer");
}

static struct peer bring(void)
{
	struct peer peer;
	int lines[2];
	char answer;

	CHECK(!socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, lines), "socketpair");
	memset(shared, 0, sizeof(*shared));
	peer.pid = fork();
	CHECK(peer.pid >= 0, "fork");
	if (!peer.pid) {
		close(lines[0]);
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		program(lines[1]);
	}
	close(lines[1]);
	peer.line = lines[0];
	CHECK(read(peer.line, &answer, 1) == 1, "the program has not begun");
	return peer;
}

/* How it ended: 0, or by a signal. */
static int bury(struct peer *peer)
{
	int status;

	CHECK(waitpid(peer->pid, &status, 0) == peer->pid, "wait");
	close(peer->line);
	return status;
}

/* ---- the command ---- */

struct run {
	pid_t pid;
	FILE *out;	/* what it says, on both ways out */
};

static struct run start(const char *const words[])
{
	const char *command = getenv("RINGSIDE");
	struct run run;
	int ends[2];

	CHECK(command && !pipe2(ends, O_CLOEXEC), "pipe");
	run.pid = fork();
	CHECK(run.pid >= 0, "fork");
	if (!run.pid) {
		dup2(ends[1], 1);
		dup2(ends[1], 2);
		execv(command, (char *const *)words);
		_exit(127);
	}
	close(ends[1]);
	run.out = fdopen(ends[0], "r");
	CHECK(run.out, "memory");
	return run;
}

static int finish(struct run *run)
{
	int status;

	fclose(run->out);
	CHECK(waitpid(run->pid, &status, 0) == run->pid && WIFEXITED(status), "%#x", status);
	return WEXITSTATUS(status);
}

#define START(...) start((const char *const[]){ "ringside", __VA_ARGS__, NULL })

/* It ends so, and says that. */
#define EXPECT(want, text, ...)                                                                                                \
	do {                                                                                                                   \
		struct run expect_ = START(__VA_ARGS__);                                                                       \
		char said_[8192];                                                                                              \
		size_t len_ = fread(said_, 1, sizeof(said_) - 1, expect_.out);                                                 \
		int got_ = finish(&expect_);                                                                                   \
		said_[len_] = '\0';                                                                                            \
		CHECK(got_ == (want), "ended with %d: %s", got_, said_);                                                       \
		CHECK(strstr(said_, text), "does not say '%s': %s", text, said_);                                              \
	} while (0)

/* Reads lines of events; each CPU's follow each other, but for those that are told as lost. False at anything else, which is in `line`. */
static bool next_line(struct run *run, char line[512], uint64_t seq[BOARD_CPUS])
{
	unsigned long long number;
	unsigned int cpu;
	char *found;

	while (fgets(line, 512, run->out)) {
		if (sscanf(line, "CPU:%u [LOST %llu EVENTS]", &cpu, &number) == 2 && cpu < BOARD_CPUS) {
			seq[cpu] += number;
			continue;
		}
		found = strstr(line, " cpu=");
		if (!found || !strstr(line, " step"))
			return false;
		CHECK(sscanf(found, " cpu=%u seq=%llu", &cpu, &number) == 2 && cpu < BOARD_CPUS, "%s", line);
		CHECK(number == seq[cpu], "%s: not %llu", line, (unsigned long long)seq[cpu]);
		seq[cpu]++;
		return true;
	}
	*line = '\0';
	return false;
}

static void switch_on(void)
{
	EXPECT(0, "", "write", "remotes/sim/buffer_size_kb", "256");
	EXPECT(0, "", "write", "remotes/sim/events/enable", "1");
	EXPECT(0, "", "write", "remotes/sim/tracing_on", "1");
}

/* ---- what happens ---- */

static void live(void)
{
	struct peer peer = bring();
	uint64_t seq[BOARD_CPUS] = { 0 };
	struct run run;
	char line[512];

	EXPECT(0, "no buffer is loaded", "remote", "list");
	EXPECT(1, "goes with the program", "remote", "remove", "sim");
	switch_on();
	EXPECT(0, "256 (loaded)", "cat", "remotes/sim/buffer_size_kb");
	EXPECT(0, "loaded, tracing is on", "remote", "list");
	EXPECT(0, "Remotes that are on:\n    sim\n", "stat");
	EXPECT(0, "sim: tracing is on, served by process ", "doctor");
	run = START("cat", "-f", "remotes/sim/trace_pipe");
	for (int i = 0; i < 1000; i++)
		CHECK(next_line(&run, line, seq), "%s", line);
	EXPECT(1, "somebody else takes these events out", "cat", "remotes/sim/trace_pipe");
	EXPECT(1, "somebody takes events out", "remote", "remove", "sim");
	EXPECT(0, "", "write", "remotes/sim/tracing_on", "0");
	while (seq[0] + seq[1] < shared->written[0] + shared->written[1])
		CHECK(next_line(&run, line, seq), "%s", line);
	kill(run.pid, SIGINT);
	CHECK(!next_line(&run, line, seq), "more than was written");
	finish(&run);
	EXPECT(0, "unloaded", "cat", "remotes/sim/buffer_size_kb");
	tell(&peer, 'e');
	CHECK(!bury(&peer), "the program");
	EXPECT(1, "no", "cat", "remotes/sim/tracing_on");
}

/* All that was written is read, and then the words; `most`: one may be there that the program has not counted any more. */
static void read_to_end(struct run *run, uint64_t seq[BOARD_CPUS], unsigned int most)
{
	char line[512];

	while (next_line(run, line, seq))
		;
	CHECK(strstr(line, "is gone"), "it says '%s'", line);
	CHECK(finish(run) == 1, "it ends well");
	for (uint32_t i = 0; i < BOARD_CPUS; i++)
		CHECK(seq[i] >= shared->written[i] && seq[i] <= shared->written[i] + most, "cpu %u: %llu read of %llu", i,
		      (unsigned long long)seq[i], (unsigned long long)shared->written[i]);
}

static void endings(char how)
{
	struct peer peer = bring();
	uint64_t seq[BOARD_CPUS] = { 0 };
	struct run run;
	char line[512];
	int status;

	switch_on();
	run = START("cat", "-f", "remotes/sim/trace_pipe");
	for (int i = 0; i < 100; i++)
		CHECK(next_line(&run, line, seq), "%s", line);
	/* The child has the program's end of all connections, too. */
	if (how == 'f')
		tell(&peer, 'f');
	if (how == 'l') {
		tell(&peer, 'l');
		read_to_end(&run, seq, 0);
		EXPECT(1, "no", "cat", "remotes/sim/tracing_on");
		tell(&peer, 'e');
		CHECK(!bury(&peer), "the program");
		return;
	}
	kill(peer.pid, SIGKILL);
	/* Nobody has waited for it yet, and it is gone all the same. */
	CHECK(!waitid(P_PID, (id_t)peer.pid, NULL, WEXITED | WNOWAIT), "wait");
	EXPECT(1, "is gone", "cat", "remotes/sim/tracing_on");
	status = bury(&peer);
	CHECK(WIFSIGNALED(status), "%#x", status);
	read_to_end(&run, seq, 1);
	EXPECT(1, "is gone", "cat", "remotes/sim/tracing_on");
	EXPECT(1, "is gone", "cat", "remotes/sim/buffer_size_kb");
	EXPECT(1, "is gone", "cat", "remotes/sim/trace");
	EXPECT(1, "is gone", "cat", "-f", "remotes/sim/trace_pipe");
	EXPECT(1, "is gone", "cat", "remotes/sim/events/enable");
	EXPECT(1, "is gone", "write", "remotes/sim/events/sim/step/enable", "0");
	EXPECT(1, "is gone", "write", "remotes/sim/tracing_on", "0");
	EXPECT(1, "is gone", "write", "remotes/sim/buffer_size_kb", "9");
	EXPECT(0, "40", "cat", "remotes/sim/events/sim/stall/id");
	EXPECT(0, "is gone\n          `ringside remote remove sim`", "remote", "list");
	EXPECT(0, "Remotes that cannot be read:\n    sim: the program that served it is gone\n", "stat");
	EXPECT(0, "sim: the program that served it is gone\n                 -> ringside remote remove sim", "doctor");
	if (how == 'k') {
		/* The next one of that name is another one. */
		peer = bring();
		EXPECT(0, "7 (unloaded)", "cat", "remotes/sim/buffer_size_kb");
		EXPECT(0, "0", "cat", "remotes/sim/events/enable");
		tell(&peer, 'e');
		CHECK(!bury(&peer), "the program");
		return;
	}
	EXPECT(0, "", "remote", "remove", "sim");
	EXPECT(1, "no", "cat", "remotes/sim/tracing_on");
	kill(shared->child, SIGKILL);
}

/* A recording that the program does not live to see the end of: nobody had loaded its buffer before. */
static void recorded(void)
{
	struct peer peer = bring();
	uint64_t seq[BOARD_CPUS] = { 0 };
	char file[512], deed[64], line[512];
	struct run run;

	snprintf(file, sizeof(file), "%s/sim.dat", getenv("RINGSIDE_SCRATCH"));
	snprintf(deed, sizeof(deed), "sleep 0.3; kill -9 %d; sleep 0.1; exit 5", (int)peer.pid);
	EXPECT(0, "", "write", "remotes/sim/buffer_size_kb", "256");
	EXPECT(5, "remote sim: nothing could be read any more: the program that served it is gone", "record", "-o", file, "--remote", "sim", "sh", "-c", deed);
	CHECK(WIFSIGNALED(bury(&peer)), "it was to be killed");
	run = START("report", file);
	while (next_line(&run, line, seq) || *line)
		;
	CHECK(!finish(&run), "report");
	for (uint32_t i = 0; i < BOARD_CPUS; i++)
		CHECK(seq[i] && seq[i] >= shared->written[i] && seq[i] <= shared->written[i] + 1, "cpu %u: %llu recorded of %llu", i,
		      (unsigned long long)seq[i], (unsigned long long)shared->written[i]);
	EXPECT(0, "", "remote", "remove", "sim");
}

static void stopped(void)
{
	struct peer peer = bring();
	uint64_t seq[BOARD_CPUS] = { 0 };
	struct run run;
	char line[512];
	int status;

	switch_on();
	CHECK(!kill(peer.pid, SIGSTOP) && waitpid(peer.pid, &status, WUNTRACED) == peer.pid && WIFSTOPPED(status), "stop");
	EXPECT(1, "does not answer", "cat", "remotes/sim/tracing_on");
	EXPECT(1, "goes with the program", "remote", "remove", "sim");
	EXPECT(0, "does not answer", "remote", "list");
	EXPECT(0, "    sim: the program that serves it does not answer", "stat");
	EXPECT(1, "remote sim is not reset: the program that serves it does not answer", "reset");
	EXPECT(0, "40", "cat", "remotes/sim/events/sim/stall/id");
	kill(peer.pid, SIGCONT);
	EXPECT(0, "1", "cat", "remotes/sim/tracing_on");
	run = START("cat", "-f", "remotes/sim/trace_pipe");
	CHECK(next_line(&run, line, seq), "%s", line);
	/* Who reads already goes on with what there is, and when there is more. */
	CHECK(!kill(peer.pid, SIGSTOP) && waitpid(peer.pid, &status, WUNTRACED) == peer.pid && WIFSTOPPED(status), "stop");
	while (seq[0] + seq[1] < shared->written[0] + shared->written[1])
		CHECK(next_line(&run, line, seq), "%s", line);
	kill(peer.pid, SIGCONT);
	for (int i = 0; i < 100; i++)
		CHECK(next_line(&run, line, seq), "%s", line);
	tell(&peer, 'l');
	read_to_end(&run, seq, 0);
	tell(&peer, 'e');
	CHECK(!bury(&peer), "the program");
}

/* Somebody else listens there: answers of all lengths, good ones among them, and descriptors. */
static void impostor(void)
{
	struct sockaddr_un at = { .sun_family = AF_UNIX };
	struct peer peer = bring();
	int listener = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	uint32_t words[128] = { 0 };

	kill(peer.pid, SIGKILL);
	bury(&peer);
	snprintf(at.sun_path, sizeof(at.sun_path), "%s/remotes/sim/socket", getenv("RINGSIDE_DIR"));
	unlink(at.sun_path);
	CHECK(!bind(listener, (struct sockaddr *)&at, sizeof(at)) && !listen(listener, 5), "%s: %s", at.sun_path, strerror(errno));
	for (unsigned int i = 0; i < 21; i++) {
		static const size_t lengths[] = { 192, 191, 193, 4, 192 };
		struct run run = START("cat", "remotes/sim/tracing_on");
		struct pollfd look[2] = { { listener, POLLIN, 0 }, { fileno(run.out), POLLIN, 0 } };
		char said[1024] = "", question[64];
		int status, kind = (int)(i % 5);
		size_t len;

		while (poll(look, 2, 10000) > 0 && !look[1].revents) {
			int line = accept4(listener, NULL, NULL, SOCK_CLOEXEC);

			CHECK(line >= 0 && recv(line, question, sizeof(question), 0) == 32, "a question");
			for (size_t w = 0; w < 128; w++)
				words[w] = 0x01010101u * (i + 1) * (uint32_t)(w + 3);
			words[0] = kind == 4 ? 2 : 1;
			words[1] = i / 5 == 0 ? 0 : i / 5 == 1 ? (uint32_t)-5 : i / 5 == 2 ? 1 : 0x80000000u;
			/* The last one hangs up. */
			if (i < 20)
				send(line, words, lengths[kind], MSG_NOSIGNAL);
			close(line);
		}
		len = fread(said, 1, sizeof(said) - 1, run.out);
		fclose(run.out);
		CHECK(waitpid(run.pid, &status, 0) == run.pid && WIFEXITED(status) && WEXITSTATUS(status) == 1 && len > 10,
		      "impostor %u: %#x: %s", i, status, said);
	}
	close(listener);
	EXPECT(0, "", "remote", "remove", "sim");
}

int main(void)
{
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	CHECK(shared != MAP_FAILED, "memory");
	setvbuf(stdout, NULL, _IONBF, 0);
	live();
	endings('l');
	endings('k');
	endings('f');
	recorded();
	stopped();
	impostor();
	return 0;
}
