/*
 * agent: see agent.h. Here are recorders; relay.c has the connections.
 */
#include "agent/agent.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "agent/compat.h"
#include "agent/relay.h"
#include "base/mono.h"

#define ARGS_MAX 256
#define PREFIX_MAX 4
#define RECORDERS_MAX 16
/* From its last frame to its end. */
#define END_MS 10000
/* Whoever has said nothing by then is no stock driver. */
#define SPEAK_MS 5000

struct recorder {
	struct recorder *next;
	pid_t pid;
	uint8_t run[16];		/* as the driver numbered it */
	char driver[WIRE_NAME_MAX + 1];	/* whose it is */
	int line;			/* by which it gets connections */
	int words;			/* what it says */
	struct visit *visit;		/* NULL: the driver was cut off, */
	int64_t cut_at;			/* then */
	uint32_t given;			/* connections, */
	uint32_t had;			/* and how many of them were over when it waited for one */
	bool stopped;
	bool once;			/* a stock driver's, who does not come back */
};

struct agent {
	struct agent_how how;
	struct gate gate;
	struct recorder *recorders;
	uint64_t machine;
	char name[WIRE_NAME_MAX + 1];
};

/* ---- a recorder ---- */

static void stop_recorder(struct recorder *recorder)
{
	if (!recorder->stopped)
		kill(recorder->pid, SIGINT);
	recorder->stopped = true;
}

static void forget(struct agent *agent, struct recorder *recorder)
{
	struct recorder **link = &agent->recorders;

	while (*link != recorder)
		link = &(*link)->next;
	*link = recorder->next;
	if (recorder->line >= 0)
		close(recorder->line);
	close(recorder->words);
	free(recorder);
}

static int run_recorder(char *const *prefix, char **argv, int line, int words)
{
	char *all[ARGS_MAX + PREFIX_MAX + 3] = { (char *)"ringside", (char *)"record" }, number[12];
	int null = open("/dev/null", O_RDWR);
	size_t n = 2;

	signal(SIGINT, SIG_DFL);
	signal(SIGTERM, SIG_DFL);
	signal(SIGHUP, SIG_DFL);
	signal(SIGPIPE, SIG_DFL);
	for (; *prefix; n++)
		all[n] = *prefix++;
	for (; *argv && n < ARGS_MAX + PREFIX_MAX + 2; n++)
		all[n] = *argv++;
	fcntl(line, F_SETFD, 0);
	snprintf(number, sizeof(number), "%d", line);
	setenv(AGENT_LINE, number, 1);
	dup2(null, 0);
	dup2(words, 1);
	dup2(words, 2);
	execv("/proc/self/exe", all);
	return 127;
}

static struct recorder *start(struct agent *agent, struct visit *visit, const uint8_t run[16], char **argv, struct err *err)
{
	struct recorder *recorder = calloc(1, sizeof(*recorder));
	int line[2] = { -1, -1 }, words[2] = { -1, -1 };

	if (!recorder || socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, line) || pipe2(words, O_CLOEXEC)) {
		err_set(err, errno ? -errno : -ENOMEM, "no recorder can be started: %s", strerror(errno ? errno : ENOMEM));
		free(recorder);
		for (int i = 0; i < 2; i++)
			if (line[i] >= 0)
				close(line[i]);
		return NULL;
	}
	fcntl(words[0], F_SETFL, O_NONBLOCK);
	recorder->pid = fork();
	if (!recorder->pid)
		_exit(run_recorder(agent->how.prefix, argv, line[1], words[1]));
	close(line[1]);
	close(words[1]);
	recorder->line = line[0];
	recorder->words = words[0];
	memcpy(recorder->run, run, sizeof(recorder->run));
	strcpy(recorder->driver, visit->name);
	recorder->next = agent->recorders;
	agent->recorders = recorder;
	return recorder;
}

/* It waits for another connection: what it had was cut, and it is not at its end. */
static bool wants_another(struct recorder *recorder)
{
	uint32_t had;

	while (recv(recorder->line, &had, sizeof(had), MSG_DONTWAIT) == (ssize_t)sizeof(had))
		recorder->had = had;
	return recorder->had == recorder->given;
}

/* A connection for its courier; the other end is the relay's. */
static int connect_recorder(struct recorder *recorder, int *end, struct err *err)
{
	union {
		struct cmsghdr head;
		char room[CMSG_SPACE(sizeof(int))];
	} control;
	struct iovec iov = { (char *)"", 1 };
	struct msghdr message = { .msg_iov = &iov, .msg_iovlen = 1, .msg_control = control.room, .msg_controllen = sizeof(control.room) };
	int ends[2], r = 0;

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends))
		return err_set(err, -errno, "no line to the recorder: %s", strerror(errno));
	/* So that there is room for what it says. */
	wants_another(recorder);
	memset(&control, 0, sizeof(control));
	control.head.cmsg_level = SOL_SOCKET;
	control.head.cmsg_type = SCM_RIGHTS;
	control.head.cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(&control.head), &ends[1], sizeof(int));
	if (sendmsg(recorder->line, &message, MSG_NOSIGNAL | MSG_DONTWAIT) < 0)
		r = err_set(err, -errno, "the recorder is gone");
	close(ends[1]);
	recorder->given += !r;
	if (r)
		close(ends[0]);
	else
		*end = ends[0];
	return r;
}

/* ---- what a relay asks ---- */

static struct recorder *find(struct agent *agent, const struct visit *visit, const uint8_t run[16])
{
	struct recorder *recorder = agent->recorders;

	while (recorder && (memcmp(recorder->run, run, sizeof(recorder->run)) || strcmp(recorder->driver, visit->name)))
		recorder = recorder->next;
	return recorder;
}

/* Strings behind each other. */
static int split(char *text, size_t len, char **argv, struct err *err)
{
	int n = 0;

	if (len && text[len - 1])
		return err_set(err, -EPROTO, "what is to be recorded makes no sense");
	for (size_t at = 0; at < len; at += strlen(text + at) + 1) {
		if (n == ARGS_MAX)
			return err_set(err, -E2BIG, "more than %d words cannot be taken", ARGS_MAX);
		argv[n++] = text + at;
	}
	argv[n] = NULL;
	return 0;
}

static int begin(struct agent *agent, struct visit *visit, const struct desk_ask *ask, struct recorder **out, struct err *err)
{
	char text[DESK_TEXT], *argv[ARGS_MAX + 1];
	int n = 0, r;

	for (const struct recorder *other = agent->recorders; other; other = other->next)
		n++;
	memcpy(text, ask->text, ask->text_len);
	r = split(text, ask->text_len, argv, err);
	if (!r && n >= RECORDERS_MAX)
		r = err_set(err, -EBUSY, "%d are recording here already", n);
	if (!r)
		r = agent->how.check(agent->how.gate.ctx, argv, err);
	if (!r && !(*out = start(agent, visit, ask->recording, argv, err)))
		r = err->code;
	if (!r)
		(*out)->once = ask->wants;
	return r;
}

static bool answer_run(struct agent *agent, struct visit *visit, const struct desk_ask *ask)
{
	struct recorder *recorder = find(agent, visit, ask->recording);
	struct desk_answer answer = { 0 };
	struct err err = ERR_INIT;
	int fds[2] = { -1, -1 }, r = 0;
	bool ok;

	if (visit->own)
		return false;
	if (!recorder && ask->text_len == 1)
		r = err_set(&err, -ESRCH, "what was recorded here has ended");
	else if (!recorder)
		r = begin(agent, visit, ask, &recorder, &err);
	else if (recorder->visit)
		gate_end(recorder->visit);
	gate_say(&agent->gate, "%s (%s): %s", visit->name, visit->from, r ? err.text : recorder->visit || recorder->cut_at ? "is back" :
		 "records");
	if (!r)
		r = connect_recorder(recorder, &fds[0], &err);
	if (!r) {
		if (recorder->visit)
			recorder->visit->own = NULL;
		fds[1] = recorder->words;
		recorder->visit = visit;
		visit->own = recorder;
	}
	ok = gate_give(visit, &answer, &err, fds, 2);
	if (fds[0] >= 0)
		close(fds[0]);
	return ok;
}

static bool answer_cut(struct visit *visit)
{
	struct desk_answer answer = { 0 };
	struct err err = ERR_INIT;

	err_set(&err, -ECHILD, "whoever talked for the recorder was killed");
	return gate_give(visit, &answer, &err, NULL, 0);
}

/* It ends when its last frame was taken. */
static bool answer_exit(struct agent *agent, struct visit *visit)
{
	struct recorder *recorder = visit->own;
	struct desk_answer answer = { 0 };
	struct err err = ERR_INIT;
	int64_t until = mono_ms() + END_MS;
	int status = 0;

	while (waitpid(recorder->pid, &status, WNOHANG) == 0) {
		if (wants_another(recorder))
			return answer_cut(visit);
		if (mono_ms() > until) {
			kill(recorder->pid, SIGKILL);
			waitpid(recorder->pid, &status, 0);
			break;
		}
		poll(NULL, 0, 5);
	}
	visit->own = NULL;
	answer.stands = WIFEXITED(status) ? (uint32_t)WEXITSTATUS(status) : 1;
	gate_say(&agent->gate, "%s (%s): is done", visit->name, visit->from);
	forget(agent, recorder);
	return gate_give(visit, &answer, &err, NULL, 0);
}

static bool answer(void *ctx, struct visit *visit, const struct desk_ask *ask)
{
	struct agent *agent = ctx;

	if (ask->kind == DESK_RUN)
		return answer_run(agent, visit, ask);
	if (!visit->own)
		return false;
	if (ask->kind == DESK_EXIT)
		return answer_exit(agent, visit);
	if (ask->kind == DESK_PORT)
		return agent->how.compat && visit->bare && gate_port(&agent->gate, visit, ask);
	if (ask->kind != DESK_STOP)
		return false;
	stop_recorder(visit->own);
	return true;
}

static void gone(void *ctx, struct visit *visit)
{
	struct recorder *recorder = visit->own;
	struct agent *agent = ctx;

	if (!recorder)
		return;
	gate_say(&agent->gate, "%s (%s): was cut off", visit->name, visit->from);
	recorder->visit = NULL;
	recorder->cut_at = mono_ms();
	if (!recorder->once)
		return;
	/* So it knows that it need not wait for anybody. */
	recorder->cut_at -= (int64_t)agent->how.wait * 1000;
	close(recorder->line);
	recorder->line = -1;
	stop_recorder(recorder);
}

/* ---- all of it ---- */

/* Drivers that do not come back. */
static void tidy(struct agent *agent)
{
	struct recorder *recorder, *next;
	int status;

	for (recorder = agent->recorders; recorder; recorder = next) {
		next = recorder->next;
		if (recorder->visit)
			continue;
		if (mono_ms() - recorder->cut_at > (int64_t)agent->how.wait * 1000) {
			stop_recorder(recorder);
			if (mono_ms() - recorder->cut_at > (int64_t)agent->how.wait * 1000 + END_MS)
				kill(recorder->pid, SIGKILL);
		}
		if (waitpid(recorder->pid, &status, WNOHANG) == recorder->pid)
			forget(agent, recorder);
	}
}

static int live(void *ctx, int fd, int line, bool bare)
{
	const struct agent *agent = ctx;
	const struct admit_how how = {
		.line = line, .key = agent->gate.key, .bare = bare, .name = agent->name, .machine = agent->machine,
	};

	if (agent->how.compat && bare && compat_speaks(fd, SPEAK_MS))
		return compat_run_agent(fd, &how);
	return relay_run(fd, &how);
}

int agent_open(struct agent **out, const struct agent_how *how, struct err *err)
{
	struct agent *agent = calloc(1, sizeof(*agent));
	struct gate_how gate = how->gate;
	int r;

	*out = NULL;
	if (!agent)
		return err_set(err, -ENOMEM, "out of memory");
	agent->how = *how;
	agent->machine = trust_machine();
	trust_host(agent->name);
	/* Stock drivers know no keys. */
	gate.near_needs_key = !how->compat;
	gate.verb = TRUST_CONTROL;
	gate.wants = WIRE_DRIVES;
	gate.live = live;
	gate.answer = answer;
	gate.gone = gone;
	gate.ctx = agent;
	r = gate_open(&agent->gate, &gate, err);
	if (r) {
		free(agent);
		return r;
	}
	*out = agent;
	return 0;
}

void agent_close(struct agent *agent)
{
	if (!agent)
		return;
	gate_close(&agent->gate);
	while (agent->recorders) {
		struct recorder *recorder = agent->recorders;

		stop_recorder(recorder);
		if (recorder->line >= 0)
			close(recorder->line);
		recorder->line = -1;
		kill(recorder->pid, SIGINT);
		while (waitpid(recorder->pid, NULL, 0) < 0 && errno == EINTR)
			;
		forget(agent, recorder);
	}
	free(agent);
}

bool agent_place(const struct agent *agent, size_t i, char *text, size_t size)
{
	if (i >= (size_t)agent->gate.nr_fds)
		return false;
	address_own(agent->gate.fds[i], text, size);
	return true;
}

/* Nobody can come any more, but those who were cut off are waited for. */
static bool waits(const struct agent *agent)
{
	if (!agent->recorders || !agent->how.wait)
		return false;
	poll(NULL, 0, 100);
	return true;
}

void agent_run(struct agent *agent, const volatile int *stop)
{
	do
		tidy(agent);
	while (!*stop && (gate_attend(&agent->gate) || waits(agent)));
}
