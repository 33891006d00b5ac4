/*
 * R10: a thread that a debugger steps through a section never gets through it, gives up after so
 * many aborts, and its event goes to an overflow ring: once, and not into the CPU's.
 *
 * The debugger is the parent, which steps the child through all of it, as many instructions as it
 * takes.
 */
#include <sched.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/wait.h>

#include "ring/audit.h"

#define STEPS_MAX 400000u
#define EVENTS 3u

static struct lab lab;

/* What the child tells. */
struct told {
	volatile uint32_t result[EVENTS];
	volatile uint32_t overflow[EVENTS];
	volatile uint32_t cpu;
};

static bool nobody_dead(uint64_t owner)
{
	(void)owner;
	return false;
}

static void child(struct told *told)
{
	struct ring_rseq *rs = lab_rseq();
	uint64_t me = (uint64_t)getpid() << 32 | 1;

	ptrace(PTRACE_TRACEME, 0, NULL, NULL);
	raise(SIGSTOP);
	for (uint32_t i = 0; i < EVENTS; i++) {
		struct record record;
		struct ring_op op;

		record_fill(&record, i, RECORD_MIN + i * 60, 100 + i);
		op = lab_op(&lab, &record, RECORD_MIN + i * 60);
		op.ts = 100 + i;
		told->result[i] = ring_write(rs, &op);
		if (told->result[i] == RING_ABORTED) {
			int slot = ring_overflow_take(lab.slots, lab.ncpu, 0, me, nobody_dead);

			told->overflow[i] = ring_twin_write(&lab.refs[lab.ncpu + (uint32_t)slot],
							    &op, told->cpu);
			ring_overflow_release(&lab.slots[slot]);
		}
	}
	_exit(0);
}

int main(void)
{
	struct told *told = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
				 0);
	struct audit own = { .lab = &lab, .where = "the CPU's ring" };
	struct audit overflow = { .lab = &lab, .twin = true, .where = "the overflow ring" };
	uint32_t steps = 0;
	int status;
	pid_t pid;

	if (!lab_rseq() || (int32_t)lab_rseq()->cpu_id < 0) {
		printf("libc has not registered rseq\n");
		return 77;
	}
	CHECK(told != MAP_FAILED, "memory");
	lab_open(&lab, (uint32_t)sysconf(_SC_NPROCESSORS_CONF), 4, 4096, RING_REF_OVERWRITE);
	memset((void *)told, 0xff, sizeof(*told));
	told->cpu = 0;
	pid = fork();
	CHECK(pid >= 0, "%s", strerror(errno));
	if (!pid)
		child(told);
	while (waitpid(pid, &status, 0) == pid && WIFSTOPPED(status)) {
		CHECK(WSTOPSIG(status) == SIGSTOP || WSTOPSIG(status) == SIGTRAP, "status %#x",
		      (unsigned)status);
		if (steps++ == STEPS_MAX || ptrace(PTRACE_SINGLESTEP, pid, NULL, NULL)) {
			kill(pid, SIGKILL);
			CHECK(false, "R10: no end after %u steps", steps);
		}
	}
	CHECK(WIFEXITED(status) && !WEXITSTATUS(status), "status %#x", (unsigned)status);
	for (uint32_t i = 0; i < EVENTS; i++) {
		CHECK(told->result[i] == RING_ABORTED, "R10: a stepped write gives %u",
		      told->result[i]);
		CHECK(told->overflow[i] == RING_DONE, "R10: the overflow ring gives %u",
		      told->overflow[i]);
	}
	for (own.ring = 0; own.ring < lab.ncpu; own.ring++) {
		audit_ring(&own);
		CHECK(!own.nr, "R10: an event in a CPU's ring that was aborted there");
	}
	overflow.ring = lab.ncpu;
	audit_ring(&overflow);
	CHECK(overflow.nr == EVENTS && overflow.seen == EVENTS,
	      "R10: %u events in the overflow ring", overflow.seen);
	printf("R10: given up and gone on %u times in %u steps\n", EVENTS, steps);
	lab_close(&lab);
	return 0;
}
