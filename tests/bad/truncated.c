/*
 * Files that are cut short, punched full of holes or filled with garbage while four threads trace: the program runs on, exits as
 * it wanted to, and says nothing. SIGBUS may come in the middle of a section, of an overflow write and of a view being built.
 *
 * Each case is a run of its own: what (cut to nothing, to a half, punched, garbage) x which file x how events are written.
 */
#include "runtime/trace.h"

#include <pthread.h>

#include "runtime/local.h"

enum { READY = 9 };	/* a descriptor: the traced program says when it traces */
enum { WAYS = 4 };	/* by sections; by overflow rings; from handlers, and by threads, that hold off every signal */

static struct note_event event;
static uint32_t stop;
static int way;

static void *busy(void *arg)
{
	uint32_t who = (uint32_t)(uintptr_t)arg;

	sigset_t all;

	sigfillset(&all);
	if (way == 1)
		runtime_guard_enter();
	if (way == 3)
		pthread_sigmask(SIG_SETMASK, &all, NULL);
	for (uint32_t i = 0; !__atomic_load_n(&stop, __ATOMIC_RELAXED); i++) {
		if (way == 2)
			pause_us(1000);
		else
			note_write(&event, who, i, NOTE_MIN + i % 24 * 4);
	}
	return NULL;
}

static void on_timer(int signo)
{
	static uint32_t seq;

	(void)signo;
	note_write(&event, 99, seq++, NOTE_MIN);
}

static void handlers(void)
{
	struct sigaction act = { .sa_handler = on_timer, .sa_flags = SA_RESTART };
	struct itimerspec every = { { 0, 200000 }, { 0, 200000 } };
	struct sigevent tell = { .sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGALRM };
	timer_t timer;

	sigfillset(&act.sa_mask);
	sigaction(SIGALRM, &act, NULL);
	if (!timer_create(CLOCK_MONOTONIC, &tell, &timer))
		timer_settime(timer, 0, &every, NULL);
}

/* The traced program. Exits with 0 whatever becomes of its directory. */
static int traced(void)
{
	uint64_t end = now_ns() + 50000000;
	pthread_t thread[4];

	event = note_event("bad");
	if (way == 2)
		handlers();
	for (int i = 0; i < 4; i++)
		if (pthread_create(&thread[i], NULL, busy, (void *)(uintptr_t)i))
			return 1;
	if (write(READY, "x", 1) != 1)
		return 1;
	while (now_ns() < end)
		pause_us(1000);
	__atomic_store_n(&stop, 1, __ATOMIC_RELAXED);
	for (int i = 0; i < 4; i++)
		pthread_join(thread[i], NULL);
	/* What a program does that has been cut off. */
	struct note_event late;
	note_intern(&late, "test", "late");
	pid_t pid = fork();
	if (!pid) {
		note_write(&event, 7, 7, NOTE_MIN);
		_exit(0);
	}
	if (waitpid(pid, NULL, 0) != pid)
		return 1;
	return 0;
}

static void garbage(int fd, off_t size, uint64_t seed)
{
	static uint64_t bytes[8192];

	for (off_t at = 0; at < size; at += (off_t)sizeof(bytes)) {
		for (size_t i = 0; i < sizeof(bytes) / 8; i++)
			bytes[i] = (uint64_t)draw(&seed) << 32 | draw(&seed);
		/* Sparse files stay small. */
		if (at > (4 << 20))
			at += 1 << 20;
		if (pwrite(fd, bytes, (size_t)(size - at < (off_t)sizeof(bytes) ? size - at : (off_t)sizeof(bytes)), at) < 0)
			return;
	}
}

static const char *const harms[] = { "cut to nothing", "cut to a half", "punched", "filled with garbage", "removed" };
static const char *const files[] = { "control", "registry", "rings", "tables", "plans" };

static void harm(const char *dir, int what, int which, uint64_t seed)
{
	char path[4200];
	off_t size;
	int fd;

	snprintf(path, sizeof(path), "%s/%s", dir, files[which]);
	fd = open(path, O_RDWR | O_CLOEXEC);
	CHECK(fd >= 0, "%s: %s", path, strerror(errno));
	size = lseek(fd, 0, SEEK_END);
	switch (what) {
	case 0:
		CHECK(!ftruncate(fd, 0), "%s", strerror(errno));
		break;
	case 1:
		CHECK(!ftruncate(fd, size / 2), "%s", strerror(errno));
		break;
	case 2:
		CHECK(!fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, size), "%s", strerror(errno));
		break;
	case 3:
		garbage(fd, size, seed);
		break;
	default:
		CHECK(!unlink(path), "%s", strerror(errno));
	}
	close(fd);
}

static void run_case(const char *base, int what, int which, int how, uint64_t seed)
{
	struct control *control;
	char dir[4096], words[128], number[2] = { (char)('0' + how), 0 };
	int out[2], ready[2];
	pid_t pid;

	snprintf(dir, sizeof(dir), "%s/%d%d%d%llx", base, what, which, how, (unsigned long long)seed);
	setenv("RINGSIDE_DIR", dir, 1);
	control = tool_start(64);
	control_close(control);
	CHECK(!pipe2(out, O_CLOEXEC) && !pipe2(ready, O_CLOEXEC), "%s", strerror(errno));
	pid = fork();
	if (!pid) {
		dup2(out[1], 1);
		dup2(out[1], 2);
		dup2(ready[1], READY);
		execl("/proc/self/exe", "traced", number, (char *)NULL);
		_exit(127);
	}
	close(out[1]);
	close(ready[1]);
	CHECK(read(ready[0], words, 1) == 1, "the program does not start");
	close(ready[0]);
	pause_us((uint32_t)(seed * 7919 % 15000));
	harm(dir, what, which, seed + 1);
	snprintf(words, sizeof(words), "%s %s, way %d", files[which], harms[what], how);
	expect_exit(pid, 20, words);
	words[0] = '\0';
	CHECK(read(out[0], words, sizeof(words)) == 0, "the program says: %.100s", words);
	close(out[0]);
}

int main(int argc, char **argv)
{
	const char *base = getenv("RINGSIDE_SCRATCH");
	uint64_t rounds = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
	int cases = 0;

	if (argc == 2) {
		way = argv[1][0] - '0';
		return traced();
	}
	CHECK(base, "RINGSIDE_SCRATCH is not set");
	for (uint64_t seed = 0; seed < rounds; seed++)
		for (int what = 0; what < 5; what++)
			for (int which = 0; which < 4; which++)
				for (int how = 0; how < WAYS; how++, cases++)
					run_case(base, what, which, how, seed);
	printf("%d programs ran on\n", cases);
	return 0;
}
