/*
 * net/courier: see courier.h. Here is who calls again; talk.c is who talks.
 */
#include "net/courier.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "net/talk.h"

#define AGAIN_MS 100
#define AGAIN_MS_MAX 5000

struct carrier {
	struct spool *spool;
	struct caller caller;
	const struct courier_talk *talk;
	int life;
};

static const struct courier_talk ours = { talk_through, false };

static bool is_over(const struct carrier *carrier)
{
	return __atomic_load_n(&carrier->spool->shared->gives_up, __ATOMIC_ACQUIRE);
}

static int talk_to(void *ctx, int fd, const struct greet_how *greet)
{
	const struct carrier *carrier = ctx;

	return carrier->talk->through(carrier->spool, fd, carrier->life, greet);
}

static int carry_once(struct carrier *carrier)
{
	struct err err = ERR_INIT;
	int r = caller_once(&carrier->caller, talk_to, carrier, &err);
	/* Whoever was never there may be a mistake; who was will be again. */
	bool answered = *carrier->spool->shared->peer;

	if (r >= 0)
		return r;
	if (carrier->caller.how->line && r == -EAGAIN)
		return TALK_CUT;
	/* A host that hangs up at once says that, too. */
	if (carrier->caller.how->line)
		answered &= r != -EPIPE;
	spool_say(carrier->spool, answered ? SPOOL_DOWN : SPOOL_FAILED, err.code, err.text);
	return answered ? TALK_CUT : TALK_FAILED;
}

static void carry(struct carrier *carrier)
{
	struct spool_shared *shared = carrier->spool->shared;
	struct pollfd life = { .fd = carrier->life, .events = POLLIN };
	int wait = AGAIN_MS, r;

	for (;;) {
		uint64_t taken = shared->taken;

		r = carry_once(carrier);
		if (r == TALK_DONE || r == TALK_FAILED || is_over(carrier))
			return;
		/* An orphan tries for what it has, and not for ever. */
		if (poll(&life, 1, 0) > 0 && (shared->put == shared->taken || wait == AGAIN_MS_MAX))
			return;
		if (*shared->peer && shared->cuts < UINT32_MAX)
			shared->cuts++;
		wait = shared->taken != taken ? AGAIN_MS : wait * 2 < AGAIN_MS_MAX ? wait * 2 : AGAIN_MS_MAX;
		poll(NULL, 0, wait);
		if (is_over(carrier))
			return;
	}
}

static void run(struct spool *spool, const struct caller_how *how, const struct courier_talk *talk, int life, int free)
{
	const int keep[] = { spool->fd, spool->more, spool->room, life, how->line };
	struct carrier carrier = { .spool = spool, .talk = talk, .life = life };

	caller_settle("courier");
	caller_drop_files(keep, how->line ? 5 : 4);
	close(free);
	caller_init(&carrier.caller, how);
	carrier.caller.calls = talk->calls;
	carrier.caller.lines = &spool->shared->lines;
	carry(&carrier);
}

int courier_start(struct courier *courier, struct spool *spool, const struct caller_how *how, const struct courier_talk *talk,
		  struct err *err)
{
	int ends[2], free[2];
	char none;
	int code;

	*courier = (struct courier){ .life = -1 };
	if (pipe2(ends, O_CLOEXEC))
		return err_set(err, -errno, "no pipe: %s", strerror(errno));
	if (pipe2(free, O_CLOEXEC)) {
		close(ends[0]);
		close(ends[1]);
		return err_set(err, -errno, "no pipe: %s", strerror(errno));
	}
	courier->pid = fork();
	code = -errno;
	if (!courier->pid) {
		run(spool, how, talk ? talk : &ours, ends[0], free[1]);
		_exit(0);
	}
	close(ends[0]);
	close(free[1]);
	/* Until it has let go of what is open here, locks among it. */
	while (courier->pid > 0 && read(free[0], &none, 1) < 0 && errno == EINTR)
		;
	close(free[0]);
	courier->life = ends[1];
	if (courier->pid > 0)
		return 0;
	close(ends[1]);
	courier->life = -1;
	return err_set(err, code, "no process for the connection: %s", strerror(-code));
}

bool courier_is_gone(const struct courier *courier)
{
	siginfo_t info = { 0 };

	return courier->pid > 0 && !waitid(P_PID, (id_t)courier->pid, &info, WEXITED | WNOHANG | WNOWAIT) && info.si_pid == courier->pid;
}

void courier_stop(struct courier *courier)
{
	if (courier->pid > 0) {
		kill(courier->pid, SIGTERM);
		while (waitpid(courier->pid, NULL, 0) < 0 && errno == EINTR)
			;
	}
	if (courier->life >= 0)
		close(courier->life);
	*courier = (struct courier){ .life = -1 };
}
