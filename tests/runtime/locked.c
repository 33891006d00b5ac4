/*
 * Programs that give up system calls and go on tracing: seccomp's strict mode, and a filter that kills for everything but a
 * few calls. A reader waits all the while, and the tool changes generations: neither may cost the program its life. A
 * vfork child that locks itself up does not lock up its parent.
 */
#include "runtime/trace.h"

#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include "runtime/local.h"

#define NOTES 4000u

static struct ledger *ledger;
static struct note_event event;
static struct ring_rseq nowhere = { .cpu_id = UINT32_MAX };

/* Kills for everything but write, exit and sigreturn. */
static int install_filter(bool by_syscall)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_write, 4, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_exit, 3, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_exit_group, 2, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_rt_sigreturn, 1, 0),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog prog = { sizeof(code) / sizeof(code[0]), code };

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
		return -1;
	if (by_syscall)
		return (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &prog);
	return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &prog, 0, 0);
}

static void lock_up(int kind)
{
	if (kind == 0 ? prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT, 0, 0, 0) : install_filter(kind == 2))
		_exit(77);
}

static void leave(void)
{
	/* exit_group is not among strict mode's calls. */
	syscall(SYS_exit, 0);
}

/* fresh: locked up before its first event of all. */
static void traced(int kind, bool fresh)
{
	uint32_t who = ledger_join(ledger);

	if (!fresh)
		ledger_say(ledger, who, &event, NOTE_MIN);
	lock_up(kind);
	for (uint32_t i = 0; i < NOTES; i++) {
		ledger_say(ledger, who, &event, NOTE_MIN + i % 16 * 4);
		/* Time for readers to fall asleep, without a call. */
		if (i % 64 == 0)
			for (volatile int n = 0; n < 20000; n++)
				;
	}
	/* As when the section is broken off again and again: the overflow rings take no call either. */
	runtime_self.rs = &nowhere;
	for (uint32_t i = 0; i < 16; i++)
		ledger_say(ledger, who, &event, NOTE_MIN);
	leave();
}

static uint32_t stop;

static void *waiting(void *arg)
{
	struct control *control = tool_open();
	struct stream *stream[64];
	uint32_t ncpu = control->dir.ncpu < 64 ? control->dir.ncpu : 64;

	(void)arg;
	while (!__atomic_load_n(&stop, __ATOMIC_RELAXED)) {
		tool_refresh(control);
		for (uint32_t cpu = 0; cpu < ncpu; cpu++) {
			struct reading reading = { 0 };
			struct err err = ERR_INIT;

			CHECK(!stream_open(&stream[cpu], control->dir.fd[SEGMENT_RINGS], &control->state.buffers[0],
					   control->dir.ncpu, cpu, false, &err), "%s", err.text);
			if (control_state_current(&control->state, &control->dir))
				read_stream(&reading, stream[cpu], cpu);
		}
		for (int i = 0; i < 20; i++)
			stream_wait_any(stream, ncpu, 1);
		for (uint32_t cpu = 0; cpu < ncpu; cpu++)
			stream_close(stream[cpu]);
	}
	control_close(control);
	return NULL;
}

static void child_locks_itself_up(void)
{
	pid_t pid = vfork();

	if (!pid) {
		lock_up(1);
		leave();
	}
	expect_exit(pid, 10, "a vfork child that locks itself up");
	CHECK(!runtime.locked, "the parent counts as locked up");
}

int main(void)
{
	static const char *const what[] = { "strict", "a filter by prctl", "a filter by syscall" };
	struct control *control = tool_start(400);
	pthread_t reader;

	ledger = shared_memory(sizeof(*ledger));
	event = note_event("locked");
	child_locks_itself_up();
	CHECK(!pthread_create(&reader, NULL, waiting, NULL), "pthread_create");
	for (int i = 0; i < 6; i++) {
		pid_t pid = fork();

		if (!pid)
			traced(i % 3, i >= 3);
		for (int n = 0; n < 10; n++) {
			tool_enable(control, "other", "locked", n % 2);
			pause_us(1000);
		}
		if (i == 2)
			tool_resize(control, 410);
		expect_exit(pid, 30, what[i % 3]);
	}
	__atomic_store_n(&stop, 1, __ATOMIC_RELAXED);
	pthread_join(reader, NULL);
	ledger_verify(ledger, control, false);
	control_close(control);
	return 0;
}
