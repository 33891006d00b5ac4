/*
 * A program that shuts itself off and goes on tracing: closes every descriptor, changes root, drops its uid, forks into the
 * background, execs itself (and so attaches anew). Also one that starts with descriptors 0 to 2 closed.
 */
#include "runtime/trace.h"

#include <sys/syscall.h>

#include "runtime/local.h"

static struct ledger *ledger;
static struct note_event event;

static void speak(uint32_t n)
{
	uint32_t who = ledger_join(ledger);

	for (uint32_t i = 0; i < n; i++)
		ledger_say(ledger, who, &event, NOTE_MIN + i % 24 * 4);
	runtime_guard_enter();
	for (uint32_t i = 0; i < 5; i++)
		ledger_say(ledger, who, &event, NOTE_MIN);
	runtime_guard_leave();
}

static void shut_off(struct control *control, const char *base)
{
	pid_t pid = fork();

	if (!pid) {
		speak(100);
		setsid();
		if (!geteuid() && (chdir(base) || chroot(".") || setgid(65534) || setuid(65534)))
			_exit(3);
		if (!geteuid())
			_exit(4);
		if (syscall(SYS_close_range, 0u, ~0u, 0u))
			for (int fd = 0; fd < 1024; fd++)
				close(fd);
		for (int i = 0; i < 50; i++) {
			speak(100);
			pause_us(1000);
		}
		_exit(0);
	}
	/* Sizes change meanwhile: more of the rings file has to be mapped, without a descriptor. */
	for (int i = 0; i < 3; i++) {
		pause_us(10000);
		tool_resize(control, 3000 + (uint64_t)i);
	}
	expect_exit(pid, 20, "a daemon");
}

static void by_exec(void)
{
	int fd = memfd_create("ledger", 0);
	char number[16];
	pid_t pid;

	/* The ledger again, in a form that survives exec. */
	CHECK(fd >= 0 && write(fd, ledger, sizeof(*ledger)) == (ssize_t)sizeof(*ledger), "%s", strerror(errno));
	snprintf(number, sizeof(number), "%d", fd);
	for (int i = 0; i < 5; i++) {
		pid = fork();
		if (!pid) {
			if (i == 4)
				for (int n = 0; n < 3; n++)
					close(n);
			execl("/proc/self/exe", "traced", number, i % 2 ? "again" : "", (char *)NULL);
			_exit(127);
		}
		expect_exit(pid, 20, "a program that execs");
	}
	munmap(ledger, sizeof(*ledger));
	ledger = mmap(NULL, sizeof(*ledger), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
}

int main(int argc, char **argv)
{
	const char *base = getenv("RINGSIDE_SCRATCH");
	struct control *control;

	if (argc > 2) {
		ledger = mmap(NULL, sizeof(*ledger), PROT_READ | PROT_WRITE, MAP_SHARED, atoi(argv[1]), 0);
		if (ledger == MAP_FAILED || note_intern(&event, "test", "daemon"))
			return 3;
		speak(50);
		if (*argv[2])
			execl("/proc/self/exe", "traced", argv[1], "", (char *)NULL);
		return 0;
	}
	CHECK(base, "RINGSIDE_SCRATCH is not set");
	control = tool_start(500);
	ledger = shared_memory(sizeof(*ledger));
	event = note_event("daemon");
	shut_off(control, base);
	by_exec();
	ledger_verify(ledger, control, false);
	if (geteuid())
		printf("chroot and setuid were left out: not root\n");
	control_close(control);
	return 0;
}
