/*
 * The program's own signal handlers are what they would be without us: what sigaction and signal return, what a fault of the
 * program's own does, what a signal sent does, and that none of them hears of our faults.
 */
#include "runtime/trace.h"

#include <setjmp.h>

static sigjmp_buf back;
static volatile sig_atomic_t hits[65];
static struct note_event event;

static void on_fault(int signo, siginfo_t *info, void *context)
{
	(void)context;
	hits[signo]++;
	note_write(&event, 1, (uint32_t)signo, NOTE_MIN);
	if (info->si_code > 0)
		siglongjmp(back, 1);
}

static void on_plain(int signo)
{
	hits[signo]++;
}

/* A page of a file that was cut short. */
static volatile char *broken_page(void)
{
	int fd = memfd_create("broken", MFD_CLOEXEC);
	char *at;

	CHECK(fd >= 0 && !ftruncate(fd, 4096), "%s", strerror(errno));
	at = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	CHECK(at != MAP_FAILED && !ftruncate(fd, 0), "%s", strerror(errno));
	close(fd);
	return at;
}

static void own_faults(void)
{
	struct sigaction act = { .sa_sigaction = on_fault, .sa_flags = SA_SIGINFO | SA_NODEFER }, old;
	volatile char *page = broken_page();
	char *nowhere = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	CHECK(!sigaction(SIGBUS, NULL, &old) && old.sa_handler == SIG_DFL, "SIGBUS has a handler at the start");
	CHECK(!sigaction(SIGBUS, &act, &old) && old.sa_handler == SIG_DFL, "SIGBUS had a handler");
	CHECK(!sigaction(SIGBUS, NULL, &old) && old.sa_sigaction == on_fault && old.sa_flags & SA_SIGINFO,
	      "SIGBUS has not our handler");
	CHECK(!sigaction(SIGSEGV, &act, &old) && old.sa_handler == SIG_DFL, "SIGSEGV had a handler");
	for (int i = 0; i < 3; i++)
		if (!sigsetjmp(back, 1))
			page[0] = 1;
	CHECK(hits[SIGBUS] == 3, "%d of 3 faults came", hits[SIGBUS]);
	if (!sigsetjmp(back, 1))
		*nowhere = 1;
	CHECK(hits[SIGSEGV] == 1, "no SIGSEGV");
	raise(SIGBUS);
	CHECK(hits[SIGBUS] == 4, "a SIGBUS that was sent did not come");
	CHECK(signal(SIGBUS, on_plain) != SIG_ERR, "signal");
	CHECK(signal(SIGBUS, SIG_IGN) == on_plain, "signal does not tell the handler before");
	raise(SIGBUS);
	CHECK(hits[SIGBUS] == 4, "SIGBUS is not ignored");
	CHECK(signal(SIGBUS, SIG_DFL) == SIG_IGN, "signal does not tell SIG_IGN");
}

/* signal() as libc has it: interrupted calls go on, unless siginterrupt said otherwise. */
static void interrupts(void)
{
	struct sigaction old;

	CHECK(signal(SIGUSR1, on_plain) == SIG_DFL && !sigaction(SIGUSR1, NULL, &old) && old.sa_flags & SA_RESTART,
	      "signal() does not restart calls");
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
	siginterrupt(SIGUSR1, 1);
#pragma GCC diagnostic pop
	CHECK(signal(SIGUSR1, on_plain) == on_plain && !sigaction(SIGUSR1, NULL, &old) && !(old.sa_flags & SA_RESTART),
	      "signal() forgets what siginterrupt() said");
	errno = 0;
	CHECK(signal(SIGUSR1, SIG_ERR) == SIG_ERR && errno == EINVAL, "signal(SIG_ERR) is taken");
	CHECK(signal(999, on_plain) == SIG_ERR, "signal(999) is taken");
	CHECK(sigaction(999, NULL, &old) == -1 && errno == EINVAL, "sigaction(999) is taken");
}

static void expect_death(int how, const char *what)
{
	pid_t pid = fork();
	int status;

	if (!pid) {
		volatile char *page = broken_page();

		if (how == 0)
			raise(SIGBUS);
		if (how == 1)
			page[0] = 1;
		if (how == 2) {
			signal(SIGBUS, SIG_IGN);
			page[0] = 1;
		}
		_exit(0);
	}
	CHECK(waitpid(pid, &status, 0) == pid && WIFSIGNALED(status) && WTERMSIG(status) == SIGBUS,
	      "%s does not end the program: %x", what, status);
}

/* Our files are cut: the program's handler must not hear of it. */
static void our_fault(void)
{
	struct sigaction act = { .sa_sigaction = on_fault, .sa_flags = SA_SIGINFO }, old;
	char path[4200];
	int before = hits[SIGBUS];

	sigaction(SIGBUS, &act, NULL);
	snprintf(path, sizeof(path), "%s/rings", getenv("RINGSIDE_DIR"));
	CHECK(!truncate(path, 0), "%s", strerror(errno));
	for (uint32_t i = 0; i < 1000; i++)
		note_write(&event, 2, i, NOTE_MIN);
	CHECK(hits[SIGBUS] == before, "the program heard of our fault");
	CHECK(!sigaction(SIGBUS, NULL, &old) && old.sa_sigaction == on_fault, "cut off, we show our own handler");
	/* And its own still come. */
	if (!sigsetjmp(back, 1))
		*broken_page() = 1;
	CHECK(hits[SIGBUS] == before + 1, "cut off, the program's own fault is lost");
}

int main(void)
{
	struct control *control = tool_start(64);

	event = note_event("handlers");
	expect_death(0, "SIGBUS that was sent");
	expect_death(1, "a fault");
	expect_death(2, "a fault whose signal is ignored");
	own_faults();
	interrupts();
	our_fault();
	control_close(control);
	return 0;
}
