/*
 * Where libc registers no rseq the runtime registers its own, and threads end cleanly with it; where none can be had, all goes
 * through overflow rings. Either way every event is there (R10, R11).
 */
#include "runtime/trace.h"

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <sched.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include "runtime/overflows.h"

static struct ledger *ledger;
static struct note_event event;

static void *life(void *arg)
{
	uint32_t who = ledger_join(ledger);

	for (uint32_t i = 0; i < (uintptr_t)arg; i++) {
		ledger_say(ledger, who, &event, NOTE_MIN + i % 24 * 4);
		/* Lets others run between two events, and on the same CPU. */
		if (i % 32 == 0)
			pause_us(10);
	}
	return NULL;
}

static int traced(int fd, unsigned parallel)
{
	pthread_t thread[8];
	uint32_t who;

	ledger = mmap(NULL, sizeof(*ledger), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (ledger == MAP_FAILED)
		return 3;
	event = note_event("rseq");
	who = ledger_join(ledger);
	for (int round = 0; round < 20; round++) {
		for (unsigned i = 0; i < parallel; i++)
			if (pthread_create(&thread[i], NULL, life, (void *)(uintptr_t)(100 + round)))
				return 4;
		for (unsigned i = 0; i < parallel; i++)
			pthread_join(thread[i], NULL);
		ledger_say(ledger, who, &event, NOTE_MIN);
	}
	return 0;
}

static void refuse_rseq(void)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_rseq, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog prog = { sizeof(code) / sizeof(code[0]), code };

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &prog, 0, 0))
		_exit(77);
}

/* Gives the number of events that took overflow rings. */
static uint64_t run(struct control *control, const char *what, bool refuse, const char *parallel, uint32_t *lost)
{
	uint64_t before = overflows(control), gone;
	int fd = memfd_create("ledger", 0);
	char number[16];
	pid_t pid;

	CHECK(!ftruncate(fd, sizeof(*ledger)), "%s", strerror(errno));
	ledger = mmap(NULL, sizeof(*ledger), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	CHECK(ledger != MAP_FAILED, "%s", strerror(errno));
	snprintf(number, sizeof(number), "%d", fd);
	pid = fork();
	if (!pid) {
		setenv("GLIBC_TUNABLES", "glibc.pthread.rseq=0", 1);
		if (refuse)
			refuse_rseq();
		execl("/proc/self/exe", "traced", number, parallel, (char *)NULL);
		_exit(127);
	}
	expect_exit(pid, 60, what);
	if (!lost) {
		ledger_verify(ledger, control, true);
	} else {
		read_all(control, true, NULL, NULL, &gone);
		*lost = (uint32_t)gone;
	}
	munmap(ledger, sizeof(*ledger));
	close(fd);
	return overflows(control) - before;
}

static void set_owners(const struct control *control, uint64_t owner)
{
	for (uint32_t i = 0; i < control->dir.ncpu; i++) {
		off_t at = (off_t)(offsetof(struct rings_head, slot) + i * sizeof(struct overflow_slot));

		CHECK(pwrite(control->dir.fd[SEGMENT_RINGS], &owner, sizeof(owner),
			     at + (off_t)offsetof(struct overflow_slot, owner)) == sizeof(owner), "slots");
	}
}

static pid_t start_one(const char *words)
{
	pid_t pid = fork();

	if (!pid) {
		cpu_set_t one;

		/* All on one CPU: that one's stream tells. */
		CPU_ZERO(&one);
		CPU_SET(0, &one);
		sched_setaffinity(0, sizeof(one), &one);
		setenv("GLIBC_TUNABLES", "glibc.pthread.rseq=0", 1);
		refuse_rseq();
		execl("/proc/self/exe", "traced", words, (char *)NULL);
		_exit(127);
	}
	return pid;
}

/* Every overflow ring is somebody else's, who lives: nothing comes through, and the next page that comes tells so. When their
 * owner is dead, buried or not, they are taken from it. */
static void all_taken(struct control *control)
{
	pid_t dead;
	uint64_t lost, events;

	tool_resize(control, 100);
	set_owners(control, (uint64_t)(uint32_t)getpid() << 32);
	expect_exit(start_one("50"), 20, "a program without any way");
	set_owners(control, 0);
	expect_exit(start_one("1"), 20, "a program");
	events = read_all(control, true, NULL, NULL, &lost);
	CHECK(events == 1 && lost == 50, "R6: of 51 events %llu are there and %llu told lost", (unsigned long long)events,
	      (unsigned long long)lost);

	dead = fork();
	if (!dead)
		_exit(0);
	/* A zombie until we wait for it. */
	pause_us(20000);
	set_owners(control, (uint64_t)(uint32_t)dead << 32);
	expect_exit(start_one("50"), 20, "a program that takes from the dead");
	expect_exit(dead, 5, "the dead");
	events = read_all(control, true, NULL, NULL, &lost);
	CHECK(events == 50 && !lost, "R10: %llu of 50 events, %llu lost: the dead keep their rings",
	      (unsigned long long)events, (unsigned long long)lost);
	set_owners(control, 0);
}

int main(int argc, char **argv)
{
	struct control *control;
	uint64_t taken;
	uint32_t lost;

	if (argc > 2)
		return traced(atoi(argv[1]), (unsigned)atoi(argv[2]));
	if (argc == 2) {
		event = note_event("rseq");
		for (int i = 0; i < atoi(argv[1]); i++)
			note_write(&event, 1, (uint32_t)i, NOTE_MIN);
		return 0;
	}
	control = tool_start(2000);
	taken = run(control, "a program without libc's rseq", false, "8", NULL);
	printf("%llu of 17k events took overflow rings\n", (unsigned long long)taken);
	CHECK(taken < 1000, "the runtime did not register its own rseq");
	taken = run(control, "a program without any rseq", true, "1", NULL);
	CHECK(taken >= 2000, "only %llu events took overflow rings", (unsigned long long)taken);
	/* More writers than overflow rings: nobody waits, and what finds no way is counted. */
	taken = run(control, "many threads without any rseq", true, "8", &lost);
	all_taken(control);
	printf("8 threads without rseq: %llu by overflow rings, %u counted as lost\n", (unsigned long long)taken, lost);
	control_close(control);
	return 0;
}
