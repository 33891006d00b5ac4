/*
 * collect/drive: see drive.h.
 */
#include "collect/drive.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/mono.h"
#include "collect/compat.h"
#include "collect/local.h"
#include "collect/session.h"
#include "net/desk.h"
#include "net/gate.h"

#define AGAIN_MS 100
#define AGAIN_MS_MAX 5000
/* How long one that was cut off is called again. */
#define LOST_MS 120000
#define STEP_MS 50
#define RUN_NUMBER 16
#define FIFOS "/var/lib/trace-cmd/virt"

struct driver {
	const struct drive_how *how;
	struct drive_shared *shared;
	struct buf run;			/* the body of RUN, */
	char again[RUN_NUMBER + 1];	/* and of the next ones */
	int line[2], stop[2];
	int file, bases;
	int fifos[GATE_PORTS_MAX];	/* of a guest */
	uint32_t nr_fifos;
	uint32_t nr_lanes;
	bool bound, stopped;
	bool ended, closed;		/* the last frame has come; and the file is closed up */
	uint8_t recording[16];
};

static void set_state(struct driver *driver, enum drive_state state)
{
	__atomic_store_n(&driver->shared->state, state, __ATOMIC_RELEASE);
}

static void fail(struct driver *driver, const struct err *err)
{
	driver->shared->code = err->code;
	snprintf(driver->shared->words, sizeof(driver->shared->words), "%s", err->text);
	set_state(driver, DRIVE_FAILED);
}

/* ---- what is asked at the desk ---- */

/* In the place of what was there. */
static int make_file(struct driver *driver, struct err *err)
{
	const char *path = driver->how->path;
	struct stat st;

	if (!lstat(path, &st) && !S_ISREG(st.st_mode))
		return err_set(err, -EINVAL, "cannot write %.300s: it is no regular file", path);
	unlink(path);
	driver->file = open(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
	driver->bases = memfd_create("ringside-bases", MFD_CLOEXEC);
	if (driver->file < 0 || driver->bases < 0)
		return err_set(err, -errno, "cannot write %.300s: %s", path, strerror(errno));
	return 0;
}

static void answer_file(struct driver *driver, const struct desk_ask *ask)
{
	struct desk_answer answer = { 0 };
	struct err err = ERR_INIT;
	int fds[2];

	if (driver->bound && (memcmp(driver->recording, ask->recording, sizeof(driver->recording)) || driver->nr_lanes != ask->len))
		err_set(&err, -EPROTO, "the board has begun another recording");
	else if (!driver->bound)
		make_file(driver, &err);
	answer.stands = driver->bound ? DESK_OPEN : DESK_NEW;
	if (err.code) {
		answer.code = err.code;
		snprintf(answer.words, sizeof(answer.words), "%.250s", err.text);
	} else {
		driver->bound = true;
		driver->nr_lanes = ask->len;
		memcpy(driver->recording, ask->recording, sizeof(driver->recording));
	}
	snprintf(answer.file, sizeof(answer.file), "%.250s", driver->how->path);
	fds[0] = driver->file;
	fds[1] = driver->bases;
	desk_answer(driver->line[0], &answer, fds, err.code ? 0 : 2);
}

static void note(struct driver *driver, const struct desk_ask *ask)
{
	driver->shared->events = ask->events;
	driver->shared->lost = ask->lost;
	driver->shared->lost_more = ask->lost_more;
	driver->shared->bytes = ask->bytes;
	if (ask->kind == DESK_NOTE && ask->wants)
		set_state(driver, DRIVE_RECORDS);
}

/* Lines of whatever it says, which may be anything. */
static void say(struct driver *driver, const struct desk_ask *ask)
{
	char text[DESK_TEXT], *at = text, *line;

	memcpy(text, ask->text, ask->text_len);
	text[ask->text_len] = '\0';
	for (char *c = text; *c; c++)
		if ((*c < ' ' && *c != '\n') || *c == 127)
			*c = '?';
	if (ask->wants) {
		snprintf(driver->shared->words, sizeof(driver->shared->words), "%.500s", text);
		return;
	}
	while ((line = strsep(&at, "\n")))
		if (*line && driver->how->say)
			driver->how->say(driver->how->ctx, line);
}

static void answer(struct driver *driver, const struct desk_ask *ask)
{
	struct desk_answer none = { 0 };

	switch (ask->kind) {
	case DESK_FILE:
		answer_file(driver, ask);
		break;
	case DESK_ENDED:
		driver->ended = true;
		note(driver, ask);
		desk_answer(driver->line[0], &none, NULL, 0);
		break;
	case DESK_CLOSED:
		driver->closed = true;
		driver->shared->offset = ask->offset;
		driver->shared->error = ask->error;
		/* fallthrough */
	case DESK_NOTE:
		note(driver, ask);
		break;
	case DESK_SAY:
		say(driver, ask);
		break;
	case DESK_EXIT:
		driver->shared->status = (int32_t)ask->len;
		break;
	default:
		none.code = -EPROTO;
		desk_answer(driver->line[0], &none, NULL, 0);
	}
}

static void attend(void *ctx)
{
	struct driver *driver = ctx;
	struct pollfd wait = { .fd = driver->line[0], .events = POLLIN };
	struct desk_ask ask;

	poll(&wait, 1, STEP_MS);
	while (desk_hear(driver->line[0], &ask) > 0)
		answer(driver, &ask);
	if (!driver->stopped && __atomic_load_n(&driver->shared->stop, __ATOMIC_ACQUIRE))
		driver->stopped = write(driver->stop[1], "", 1) == 1;
}

/* ---- the process ---- */

/* Those that `trace-cmd setup-guest` made, less what a recording before has left in them; held open at both ends, they never hang up. */
static void open_fifos(struct driver *driver)
{
	char path[256], left[4096];
	struct stat st;

	while (driver->how->guest && driver->nr_fifos < GATE_PORTS_MAX) {
		int fd;

		snprintf(path, sizeof(path), FIFOS "/%s/trace-pipe-cpu%u.out", driver->how->guest, driver->nr_fifos);
		fd = open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC);
		if (fd < 0)
			break;
		if (fstat(fd, &st) || !S_ISFIFO(st.st_mode)) {
			close(fd);
			break;
		}
		while (read(fd, left, sizeof(left)) > 0)
			;
		driver->fifos[driver->nr_fifos++] = fd;
	}
}

static int talk(void *ctx, int fd, const struct greet_how *greet)
{
	struct driver *driver = ctx;
	struct session_how how = { .machine = driver->how->machine, .fifos = driver->fifos, .nr_fifos = driver->nr_fifos };

	if (driver->how->compat)
		return compat_drive(fd, driver->line[1], driver->stop[0], greet, &how, driver->run.data, driver->run.len);
	/* Behind its number an empty word: that one, and no other. */
	return session_drive(fd, driver->line[1], driver->stop[0], greet, &how, driver->bound ? driver->again : driver->run.data,
			     driver->bound ? sizeof(driver->again) : driver->run.len);
}

static bool prepare(struct driver *driver)
{
	uint8_t number[RUN_NUMBER];

	if (getrandom(number, sizeof(number), 0) != (ssize_t)sizeof(number))
		return false;
	buf_add(&driver->run, number, sizeof(number));
	memcpy(driver->again, number, sizeof(number));
	for (char **arg = driver->how->argv; *arg; arg++)
		buf_add(&driver->run, *arg, strlen(*arg) + 1);
	return !buf_failed(&driver->run) && !socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, driver->line) &&
	       !fcntl(driver->line[1], F_SETFL, 0) && !pipe2(driver->stop, O_CLOEXEC);
}

static void run(const struct drive_how *how, struct drive_shared *shared)
{
	struct driver driver = { .how = how, .shared = shared, .run = BUF_INIT, .file = -1, .bases = -1 };
	int64_t heard = mono_ms();
	struct err err = ERR_INIT;
	struct caller caller;
	int wait = AGAIN_MS, r;

	prctl(PR_SET_PDEATHSIG, SIGTERM);
	caller_settle("driver");
	shared->error = UINT64_MAX;
	caller_init(&caller, &how->caller);
	caller.attend = attend;
	caller.calls = how->compat;
	if (!prepare(&driver)) {
		err_set(&err, -ENOMEM, "no memory for a board");
		fail(&driver, &err);
		return;
	}
	open_fifos(&driver);
	for (;;) {
		uint64_t events = shared->events;

		err = (struct err)ERR_INIT;
		*shared->words = '\0';
		r = caller_once(&caller, talk, &driver, &err);
		attend(&driver);
		/* Whoever is killed behind the last frame is not missed. */
		if (driver.ended && !driver.closed)
			listen_close_left(driver.file, how->path);
		if (r == SESSION_DONE || driver.ended)
			break;
		if (r > 0 && how->caller.to.kind == ADDRESS_SSH && driver.bound && r != SESSION_FAILED)
			err_set(&err, -ECONNRESET, "%.100s: ssh has ended, and with it whoever recorded there: %.300s", caller.greet.text,
				shared->words);
		else if (r > 0)
			err_set(&err, -ECONNRESET, "%.100s: %.380s", caller.greet.text, shared->words);
		if (r == SESSION_FAILED || !driver.bound || how->caller.to.kind == ADDRESS_SSH || mono_ms() - heard > LOST_MS) {
			fail(&driver, &err);
			return;
		}
		if (shared->events != events) {
			heard = mono_ms();
			wait = AGAIN_MS;
		}
		shared->cuts++;
		set_state(&driver, DRIVE_CUT);
		poll(NULL, 0, wait);
		wait = wait * 2 < AGAIN_MS_MAX ? wait * 2 : AGAIN_MS_MAX;
	}
	set_state(&driver, DRIVE_DONE);
}

int drive_start(struct drive *drive, const struct drive_how *how, struct err *err)
{
	void *shared = mmap(NULL, sizeof(*drive->shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	*drive = (struct drive){ 0 };
	if (shared == MAP_FAILED)
		return err_set(err, -errno, "no memory for a board: %s", strerror(errno));
	drive->shared = shared;
	address_print(&how->caller.to, drive->name, sizeof(drive->name));
	drive->pid = fork();
	if (!drive->pid) {
		run(how, drive->shared);
		_exit(0);
	}
	if (drive->pid > 0)
		return 0;
	drive->pid = 0;
	return err_set(err, -errno, "no process for a board: %s", strerror(errno));
}

static bool is_gone(const struct drive *drive)
{
	siginfo_t info = { 0 };

	return drive->pid <= 0 || (!waitid(P_PID, (id_t)drive->pid, &info, WEXITED | WNOHANG | WNOWAIT) && info.si_pid == drive->pid);
}

/* What it said last counts: it says so before it ends. */
static void look_after(const struct drive *drive)
{
	struct drive_shared *shared = drive->shared;
	uint32_t state;

	if (!is_gone(drive))
		return;
	state = __atomic_load_n(&shared->state, __ATOMIC_ACQUIRE);
	if (state == DRIVE_DONE || state == DRIVE_FAILED)
		return;
	shared->code = -ECHILD;
	snprintf(shared->words, sizeof(shared->words), "%s: whoever talked to it was killed", drive->name);
	__atomic_store_n(&shared->state, DRIVE_FAILED, __ATOMIC_RELEASE);
}

enum drive_state drive_wait(const struct drive *drive, enum drive_state state, int ms)
{
	int64_t until = mono_ms() + ms;
	uint32_t now;

	for (;;) {
		look_after(drive);
		now = __atomic_load_n(&drive->shared->state, __ATOMIC_ACQUIRE);
		if (now != state || mono_ms() >= until)
			break;
		poll(NULL, 0, 5);
	}
	return now <= DRIVE_FAILED ? (enum drive_state)now : DRIVE_FAILED;
}

void drive_stop(struct drive *drive)
{
	if (drive->shared)
		__atomic_store_n(&drive->shared->stop, 1, __ATOMIC_RELEASE);
}

void drive_close(struct drive *drive)
{
	if (drive->pid > 0) {
		kill(drive->pid, SIGTERM);
		while (waitpid(drive->pid, NULL, 0) < 0 && errno == EINTR)
			;
	}
	if (drive->shared)
		munmap(drive->shared, sizeof(*drive->shared));
	*drive = (struct drive){ 0 };
}
