/*
 * ring/section_stepped - a section under a debugger's single step is aborted, every time (R10).
 *
 * A stop at every instruction is the densest preemption there is. The kernel sends a thread that it
 * finds inside a section to the abort handler, and forgets the section of one that it finds
 * outside; so if a single instruction lay between the store that arms a section and its range, a
 * thread stopped just there would go on unguarded, and this stepped section would come through.
 * That shows in no run at full speed: it takes two preemptions within a few nanoseconds.
 *
 * Then ring_write(): it gives up after so many aborts, and says so, instead of trying for ever.
 */
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ring/arch.h"
#include "ring/write.h"
#include "area.h"

#define NCPU	   256u
#define NPAGES	   4u
#define PAGE_SHIFT 12u
#define STEPS_MAX  2000000u

static struct {
	unsigned char head[4096];
	uint64_t first[512];
	unsigned char pages[NPAGES << PAGE_SHIFT];
} ring __attribute__((aligned(4096)));

static struct ring_ref refs[NCPU];
static uint64_t published;
static uint64_t payload[2];

/* All CPUs share the one ring: only one thread runs here. */
static void rings_make(void)
{
	struct ring_head *head = (struct ring_head *)(void *)ring.head;

	head->slot[1].tag = ~0ull;
	for (uint32_t i = 0; i < NCPU; i++)
		refs[i] = (struct ring_ref){
			.head = head,
			.pages = ring.pages,
			.first = ring.first,
			.npages = NPAGES,
			.data_size = (1u << PAGE_SHIFT) - PAGE_HEAD_SIZE,
			.page_shift = PAGE_SHIFT,
			.flags = RING_REF_OVERWRITE | RING_REF_COUNTER,
			.mult = 1ull << 32,
		};
}

typedef enum ring_result write_fn(struct ring_rseq *rs, struct ring_op *op);

static int once(write_fn *write)
{
	struct ring_op op = {.refs = refs, .published = &published, .ncpu = NCPU};

	ring_op_payload(&op, payload, sizeof(payload));
	op.cpu = rseq_area()->cpu_id;
	return (int)write(rseq_area(), &op);
}

/* Left alone, it is preempted or moved only now and then. */
static int child_free(write_fn *write)
{
	int result = RING_ABORTED;

	for (int i = 0; i < 1000 && (result == RING_ABORTED || result == RING_AGAIN); i++)
		result = once(write);
	return result;
}

/* Stops, and goes on under the parent's steps. */
static int child_stepped(write_fn *write)
{
	ptrace(PTRACE_TRACEME, 0, NULL, NULL);
	raise(SIGSTOP);
	return once(write);
}

/* The result, or -1 when the child did not come to its end. */
static int step_through(write_fn *write, unsigned *steps)
{
	pid_t pid = fork();
	int status = 0;

	if (pid == 0)
		_exit(child_stepped(write));
	*steps = 0;
	while (pid > 0 && waitpid(pid, &status, 0) == pid && WIFSTOPPED(status)) {
		if (WSTOPSIG(status) != SIGSTOP && WSTOPSIG(status) != SIGTRAP)
			break;
		if (++*steps > STEPS_MAX || ptrace(PTRACE_SINGLESTEP, pid, NULL, NULL))
			break;
	}
	if (pid > 0 && WIFEXITED(status))
		return WEXITSTATUS(status);
	printf("after %u steps: wait status %#x\n", *steps, status);
	if (pid > 0) {
		kill(pid, SIGKILL);
		waitpid(pid, &status, 0);
	}
	return -1;
}

/* What it does unstepped must be something else, or the step proves nothing. */
static bool check(write_fn *write, const char *name, int free_result)
{
	unsigned steps;
	int unstepped = -1, stepped, status;
	pid_t pid = fork();

	if (pid == 0)
		_exit(child_free(write));
	if (pid > 0 && waitpid(pid, &status, 0) == pid && WIFEXITED(status))
		unstepped = WEXITSTATUS(status);
	stepped = step_through(write, &steps);
	printf("%s: result %d, stepped %d after %u steps\n", name, unstepped, stepped, steps);
	return unstepped == free_result && stepped == RING_ABORTED;
}

static enum ring_result call_write(struct ring_rseq *rs, struct ring_op *op)
{
	return section_write(rs, op);
}

static enum ring_result call_switch(struct ring_rseq *rs, struct ring_op *op)
{
	return section_switch(rs, op);
}

int main(void)
{
	bool ok = true;

	if (!rseq_registered()) {
		printf("libc has not registered rseq\n");
		return 77;
	}
	rings_make();
	/* In a pipe, a child must not repeat what is still buffered here. */
	setvbuf(stdout, NULL, _IONBF, 0);
	ok &= check(call_write, "section_write", RING_DONE);
	ok &= check(call_switch, "section_switch", RING_SWITCHED);
	ok &= check(ring_write, "ring_write", RING_DONE);
	return ok ? 0 : 1;
}
