/*
 * inject/x86_64/borrow: see borrow.h.
 *
 * What a call needs is mapped in the process by one system call, through a `syscall` instruction of its libc:
 *
 *	| code: call *%rbx; tgkill; rt_sigreturn | texts |   stack, downwards <- | signal frame |
 *
 * Behind the call the thread sends itself a signal that its program ignores, the bell: while it is traced it stops for that all
 * the same. We take the result out of %rbx, and restore everything ourselves. But if we are killed, or run out of patience, nothing
 * comes of the bell, and rt_sigreturn takes the thread back to where it was found, with all its registers and its mask, which is
 * less exact. The thread's own stack is not touched.
 *
 * So a call runs as fast as any: on a busy machine it takes long until tracer and thread have had their turns for each of its
 * system calls, and who takes that long to come for a lock never gets one that others want all the time. Only where no signal is
 * ignored, or code that is not ours might sleep in a thread that sleeps already, every system call is looked at, and
 * rt_sigreturn is what it is stopped at.
 *
 * Signals are held off meanwhile, but for those that faults send, one of libc's own and the bell.
 */
#include "inject/x86_64/borrow.h"

#if defined(__x86_64__)

#include <cpuid.h>
#include <dirent.h>
#include <elf.h>
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#include "inject/x86_64/safe.h"

#define CODE_SIZE 8192u		/* texts included: two paths */
#define STACK_SIZE (512u << 10)
#define MEMORY_SIZE (CODE_SIZE + STACK_SIZE)
#define TEXTS_AT 64u
#define FRAME_ROOM (sizeof(ucontext_t) + TRACEE_XSTATE_MAX + 256)

#define CALL_NS 10000000000ull
#define BEGIN_NS 5000000000ull

#define FAULTS (1ull << (SIGSEGV - 1) | 1ull << (SIGBUS - 1) | 1ull << (SIGILL - 1) | 1ull << (SIGFPE - 1) | \
		1ull << (SIGTRAP - 1) | 1ull << (SIGSYS - 1))

#define EVERYBODY (1ull << (TRACEE_EVERYBODY - 1))

#define EFLAGS_TRAP 0x100u
#define EFLAGS_BACKWARDS 0x400u

/* The kernel's codes for "do that again". */
enum { RESTART_SYS = 512, RESTART_NOINTR = 513, RESTART_NOHAND = 514, RESTART_BLOCK = 516 };

static const uint8_t code[] = {
	0xff, 0xd3,			/* call *%rbx */
	0x48, 0x89, 0xc3,		/* mov %rax, %rbx */
	0x44, 0x89, 0xe7,		/* mov %r12d, %edi: the process */
	0x44, 0x89, 0xee,		/* mov %r13d, %esi: the thread */
	0x44, 0x89, 0xf2,		/* mov %r14d, %edx: the bell */
	0xb8, SYS_tgkill, 0x00, 0x00, 0x00,
	0x0f, 0x05,			/* syscall */
#define BELL_AT 21u
	0xb8, SYS_rt_sigreturn, 0x00, 0x00, 0x00,
	0x0f, 0x05,
};

/* ---- stops on the way ---- */

static bool is_syscall_stop(int status)
{
	return status >> 16 == 0 && WSTOPSIG(status) == (SIGTRAP | 0x80);
}

static uint64_t bit(int sig)
{
	return sig ? 1ull << (sig - 1) : 0;
}

/* Would the program handle it? */
static bool is_caught(const struct borrow *borrow, int sig)
{
	char path[64], line[256];
	uint64_t caught = 0;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/status", (int)borrow->tracee.pid);
	file = fopen(path, "re");
	while (file && fgets(line, sizeof(line), file))
		sscanf(line, "SigCgt: %" SCNx64, &caught);
	if (file)
		fclose(file);
	return caught & bit(sig);
}

/* A signal that nothing comes of; 0: none. */
static int find_bell(const struct borrow *borrow)
{
	static const int ignored[] = { SIGURG, SIGWINCH };

	for (size_t i = 0; i < sizeof(ignored) / sizeof(ignored[0]); i++)
		if (!is_caught(borrow, ignored[i]))
			return ignored[i];
	return 0;
}

/* A signal on its way to the thread: 0 and what it gets of it, or -EFAULT when the call cannot go on. */
static int on_signal(struct borrow *borrow, int sig, int *deliver)
{
	siginfo_t info;

	*deliver = 0;
	/* Nobody can hold it off, and what continues the process may come before we are done: the others stop, and this one with us. */
	if (sig == SIGSTOP) {
		*deliver = sig;
		return 0;
	}
	if ((EVERYBODY | bit(borrow->bell)) & bit(sig)) {
		*deliver = sig;
		borrow->broke_sleep = true;
		return 0;
	}
	if (FAULTS & bit(sig) && !ptrace(PTRACE_GETSIGINFO, borrow->tracee.tid, NULL, &info) && info.si_code > 0) {
		if (!is_caught(borrow, sig))
			return -EFAULT;
		*deliver = sig;
		borrow->broke_sleep = true;
		return 0;
	}
	borrow->held |= bit(sig);
	return 0;
}

/* Lets it run to the next system call's beginning or end. */
static int run_to_syscall(struct borrow *borrow, uint64_t deadline)
{
	int status, sig = 0, r;

	do {
		r = tracee_run(&borrow->tracee, PTRACE_SYSCALL, sig, deadline, &status);
		sig = 0;
		if (!r && !is_syscall_stop(status) && status >> 16 == 0)
			r = on_signal(borrow, WSTOPSIG(status), &sig);
	} while (!r && !is_syscall_stop(status));
	return r;
}

/* What a sleep is taken up again with is forgotten when the thread sleeps anew. */
static bool breaks_sleep(uint64_t number)
{
	return number == SYS_nanosleep || number == SYS_clock_nanosleep || number == SYS_restart_syscall;
}

/* ---- system calls without a stack ---- */

/* However long it takes until the thread has its turn: from there it does not find its way back alone. */
static int raw_syscall(struct borrow *borrow, long number, const uint64_t args[6], int64_t *result)
{
	struct user_regs_struct regs = borrow->tracee.regs;
	int r;

	regs.rip = borrow->gadget;
	regs.rax = (uint64_t)number;
	regs.orig_rax = (uint64_t)-1;
	regs.rdi = args[0];
	regs.rsi = args[1];
	regs.rdx = args[2];
	regs.r10 = args[3];
	regs.r8 = args[4];
	regs.r9 = args[5];
	r = tracee_set(&borrow->tracee, &regs);
	if (!r)
		r = run_to_syscall(borrow, TRACEE_NO_DEADLINE);
	if (!r)
		r = run_to_syscall(borrow, TRACEE_NO_DEADLINE);
	if (!r)
		r = tracee_get(&borrow->tracee, &regs);
	*result = (int64_t)regs.rax;
	return r;
}

/* The runtime's own: libc's may be patched, by the very call that it is used behind. */
static uint64_t find_own_gadget(const struct image *image)
{
	struct calls_dispatch calls;
	uint8_t there[2];

	return dispatch_known(image, &calls) && target_read(image, calls.start, there, sizeof(there)) &&
	       there[0] == 0x0f && there[1] == 0x05 ? calls.start : 0;
}

static uint64_t find_gadget(const struct image *image)
{
	const struct target_file *libc = target_libc(image);
	const uint64_t own = libc ? find_own_gadget(image) : 0;
	uint8_t page[4096 + 1];

	if (own)
		return own;
	for (uint64_t at = libc ? libc->code.start : 0; libc && at + sizeof(page) <= libc->code.end; at += 4096) {
		if (!target_read(image, at, page, sizeof(page)))
			return 0;
		for (uint32_t i = 0; i < 4096; i++)
			if (page[i] == 0x0f && page[i + 1] == 0x05)
				return at + i;
	}
	return 0;
}

bool borrow_can(const struct image *image)
{
	return find_gadget(image) != 0;
}

/* ---- the way back without us ---- */

struct sw_bytes {
	uint32_t magic, extended_size;
	uint64_t features;
	uint32_t size, padding[7];
};
#define SW_BYTES_AT 464u
#define SW_MAGIC 0x46505853u
#define SW_MAGIC_END 0x46505845u
#define TILE_DATA 18u

/* The registers as sigreturn wants them: what the kernel gives away only on request is left out. */
static uint32_t sigreturn_xstate(uint8_t *to, const struct tracee *tracee)
{
	uint32_t size = tracee->xstate_len, a, b = 0, c, d, end = SW_MAGIC_END;
	struct sw_bytes sw = { .magic = SW_MAGIC };

	memcpy(to, tracee->xstate, size);
	memcpy(&sw.features, to + SW_BYTES_AT, sizeof(sw.features));
	if (sw.features >> TILE_DATA & 1 && __get_cpuid_count(0xd, TILE_DATA, &a, &b, &c, &d) && b && b < size) {
		sw.features &= ~(1ull << TILE_DATA);
		size = b;
	}
	sw.size = size;
	sw.extended_size = size + 4;
	memcpy(to + SW_BYTES_AT, &sw, sizeof(sw));
	memcpy(to + size, &end, sizeof(end));
	return size + 4;
}

/* Of a call that was interrupted before, the kernel has forgotten the number: libc says it right before the call. */
static uint64_t call_number(const struct borrow *borrow, const struct user_regs_struct *regs)
{
	uint8_t before[7];	/* mov $number, %eax; syscall */
	uint32_t number;

	if (regs->orig_rax != SYS_restart_syscall || !target_read(borrow->image, regs->rip - sizeof(before), before, sizeof(before)) ||
	    before[0] != 0xb8)
		return regs->orig_rax;
	memcpy(&number, before + 1, sizeof(number));
	return number;
}

/* A call that was interrupted is made anew: what the kernel would do is more exact, but it does that for us alone. */
static void rewind_call(const struct borrow *borrow, struct user_regs_struct *regs)
{
	int64_t result = -(int64_t)regs->rax;

	if ((int64_t)regs->orig_rax < 0 || (result != RESTART_SYS && result != RESTART_NOINTR && result != RESTART_NOHAND &&
					     result != RESTART_BLOCK))
		return;
	regs->rax = call_number(borrow, regs);
	regs->rip -= 2;
	regs->orig_rax = (uint64_t)-1;
}

static void fill_gregs(greg_t *g, const struct user_regs_struct *regs)
{
	g[REG_R8] = (greg_t)regs->r8, g[REG_R9] = (greg_t)regs->r9, g[REG_R10] = (greg_t)regs->r10;
	g[REG_R11] = (greg_t)regs->r11, g[REG_R12] = (greg_t)regs->r12, g[REG_R13] = (greg_t)regs->r13;
	g[REG_R14] = (greg_t)regs->r14, g[REG_R15] = (greg_t)regs->r15, g[REG_RDI] = (greg_t)regs->rdi;
	g[REG_RSI] = (greg_t)regs->rsi, g[REG_RBP] = (greg_t)regs->rbp, g[REG_RBX] = (greg_t)regs->rbx;
	g[REG_RDX] = (greg_t)regs->rdx, g[REG_RAX] = (greg_t)regs->rax, g[REG_RCX] = (greg_t)regs->rcx;
	g[REG_RSP] = (greg_t)regs->rsp, g[REG_RIP] = (greg_t)regs->rip, g[REG_EFL] = (greg_t)regs->eflags;
	g[REG_CSGSFS] = (greg_t)((regs->cs & 0xffff) | (regs->ss & 0xffff) << 48);
}

static bool write_frame(struct borrow *borrow)
{
	struct user_regs_struct regs = borrow->tracee.regs;
	uint64_t at = (borrow->memory + MEMORY_SIZE - FRAME_ROOM) & ~63ull;
	uint64_t xstate_at = (at + sizeof(ucontext_t) + 63) & ~63ull;
	uint8_t xstate[TRACEE_XSTATE_MAX + 64];
	uint32_t len = sigreturn_xstate(xstate, &borrow->tracee);
	ucontext_t context;

	memset(&context, 0, sizeof(context));
	rewind_call(borrow, &regs);
	/* The extended registers are there, and SS is meant. */
	context.uc_flags = 1 | 2 | 4;
	/* No flags of a signal stack: the one it has stays. */
	context.uc_stack.ss_flags = 7;
	fill_gregs(context.uc_mcontext.gregs, &regs);
	context.uc_mcontext.fpregs = (fpregset_t)(uintptr_t)xstate_at;
	memcpy(&context.uc_sigmask, &borrow->tracee.mask, sizeof(borrow->tracee.mask));
	borrow->frame = at;
	return target_write(borrow->image, at, &context, sizeof(context)) && target_write(borrow->image, xstate_at, xstate, len);
}

/* ---- memory ---- */

static int map_memory(struct borrow *borrow)
{
	const uint64_t map[6] = { 0, MEMORY_SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, (uint64_t)-1, 0 };
	uint64_t protect[6] = { 0, CODE_SIZE, PROT_READ | PROT_EXEC, 0, 0, 0 };
	int64_t at;
	int r = raw_syscall(borrow, SYS_mmap, map, &at);

	if (r || (at < 0 && at > -4096))
		return r ? r : (int)at;
	borrow->memory = (uint64_t)at;
	borrow->text = borrow->memory + TEXTS_AT;
	if (!target_write(borrow->image, borrow->memory, code, sizeof(code)) || !write_frame(borrow))
		return -EFAULT;
	protect[0] = borrow->memory;
	r = raw_syscall(borrow, SYS_mprotect, protect, &at);
	return r ? r : (int)at;
}

/* Through the kernel, since the process itself must not write there. */
static bool poke(const struct borrow *borrow, uint64_t at, const char *bytes, size_t len)
{
	for (size_t i = 0; i < len; i += sizeof(long)) {
		long word = 0;

		memcpy(&word, bytes + i, len - i < sizeof(word) ? len - i : sizeof(word));
		if (ptrace(PTRACE_POKEDATA, borrow->tracee.tid, (void *)(uintptr_t)(at + i), (void *)word))
			return false;
	}
	return true;
}

uint64_t borrow_text(struct borrow *borrow, const char *text)
{
	size_t len = strlen(text) + 1;
	uint64_t at = borrow->text;

	if (borrow->left || at + len + sizeof(long) > borrow->memory + CODE_SIZE || !poke(borrow, at, text, len))
		return 0;
	borrow->text = (at + len + 7) & ~7ull;
	return at;
}

uint64_t borrow_list(struct borrow *borrow, const void *bytes, size_t len)
{
	const uint64_t at = borrow->memory + CODE_SIZE;

	return !borrow->left && len <= STACK_SIZE / 2 && target_write(borrow->image, at, bytes, len) ? at : 0;
}

/* ---- calls ---- */

/* As a function expects to be called: no arithmetic left over from whoever was interrupted. */
static int clean_xstate(struct borrow *borrow)
{
	uint8_t xstate[TRACEE_XSTATE_MAX];
	struct iovec iov = { xstate, borrow->tracee.xstate_len };
	const uint16_t control = 0x37f;
	const uint32_t mxcsr = 0x1f80;

	memcpy(xstate, borrow->tracee.xstate, iov.iov_len);
	memcpy(xstate, &control, sizeof(control));
	memset(xstate + 2, 0, 3);
	memcpy(xstate + 24, &mxcsr, sizeof(mxcsr));
	return ptrace(PTRACE_SETREGSET, borrow->tracee.tid, NT_X86_XSTATE, &iov) ? -errno : 0;
}

static int hold_signals(struct borrow *borrow, uint64_t mask)
{
	return ptrace(PTRACE_SETSIGMASK, borrow->tracee.tid, sizeof(mask), &mask) ? -errno : 0;
}

static int set_out(struct borrow *borrow, uint64_t function, uint64_t a, uint64_t b)
{
	struct user_regs_struct regs = borrow->tracee.regs;
	int r = clean_xstate(borrow);

	if (!r)
		r = hold_signals(borrow, ~(FAULTS | EVERYBODY | bit(borrow->bell)));
	if (r)
		return r;
	regs.orig_rax = (uint64_t)-1;
	regs.rip = borrow->memory;
	regs.rsp = borrow->frame;
	regs.rbp = 0;
	regs.rbx = function;
	regs.r12 = (uint64_t)borrow->tracee.pid;
	regs.r13 = (uint64_t)borrow->tracee.tid;
	regs.r14 = (uint64_t)borrow->bell;
	regs.rdi = a;
	regs.rsi = b;
	regs.rax = 0;
	regs.eflags &= ~(uint64_t)(EFLAGS_TRAP | EFLAGS_BACKWARDS);
	return tracee_set(&borrow->tracee, &regs);
}

/* Runs until it rings; *result is what the function gave. */
static int run_to_bell(struct borrow *borrow, uint64_t deadline, uint64_t *result)
{
	struct user_regs_struct regs;
	int status, sig = 0, r;

	for (;;) {
		r = tracee_run(&borrow->tracee, PTRACE_CONT, sig, deadline, &status);
		if (!r)
			r = tracee_get(&borrow->tracee, &regs);
		if (r)
			return r;
		sig = borrow->tracee.signal;
		if (sig == borrow->bell && regs.rip == borrow->memory + BELL_AT)
			break;
		if (sig)
			r = on_signal(borrow, sig, &sig);
		if (r)
			return r;
	}
	*result = regs.rbx;
	return 0;
}

/* The same, watched, until it is about to go back. */
static int run_to_return(struct borrow *borrow, uint64_t deadline, uint64_t *result)
{
	struct user_regs_struct regs;
	int r;

	for (;;) {
		r = run_to_syscall(borrow, deadline);
		if (!r)
			r = tracee_get(&borrow->tracee, &regs);
		if (r)
			return r;
		if (breaks_sleep(regs.orig_rax))
			borrow->broke_sleep = true;
		if (regs.rip == borrow->memory + sizeof(code) && regs.orig_rax == SYS_rt_sigreturn)
			break;
	}
	*result = regs.rbx;
	/* And does not. */
	regs.orig_rax = (uint64_t)-1;
	r = tracee_set(&borrow->tracee, &regs);
	return r ? r : run_to_syscall(borrow, TRACEE_NO_DEADLINE);
}

/* What came and was kept from it. */
static void give_signals(const struct borrow *borrow)
{
	for (int sig = 1; sig <= 64; sig++)
		if (borrow->held & bit(sig))
			syscall(SYS_tgkill, borrow->tracee.pid, borrow->tracee.tid, sig);
}

static void leave(struct borrow *borrow)
{
	borrow->left = true;
	/* It is stopped then, or it is not ours any more. */
	tracee_interrupt(&borrow->tracee);
	tracee_let_go(&borrow->tracee);
	give_signals(borrow);
}

static int run_call(struct borrow *borrow, uint64_t *result)
{
	uint64_t deadline = tracee_deadline(CALL_NS);
	bool asleep = -(int64_t)borrow->tracee.regs.rax == RESTART_BLOCK;

	if (borrow->bell && !(asleep && borrow->foreign))
		return run_to_bell(borrow, deadline, result);
	return run_to_return(borrow, deadline, result);
}

int borrow_call(struct borrow *borrow, uint64_t function, uint64_t a, uint64_t b, uint64_t *result, struct err *err)
{
	int r = borrow->left ? -ETIMEDOUT : set_out(borrow, function, a, b), masked;

	*result = 0;
	if (!r)
		r = run_call(borrow, result);
	/* Also one that failed: what comes from now on waits until it is given back. */
	masked = r == -ETIMEDOUT ? 0 : hold_signals(borrow, ~FAULTS);
	r = r ? r : masked;
	if (r == -ETIMEDOUT) {
		if (!borrow->left)
			leave(borrow);
		return err_set(err, r, "a thread of process %d waits for a lock that nobody gives away: "
			       "it goes on when it gets that. Try again", (int)borrow->tracee.pid);
	}
	if (r == -EFAULT)
		return err_set(err, r, "process %d met a fault in a call of ours, and went on without it",
			       (int)borrow->tracee.pid);
	if (r == -ESRCH)
		return err_set(err, r, "process %d ended meanwhile", (int)borrow->tracee.pid);
	return r ? err_set(err, r, "process %d: %s", (int)borrow->tracee.pid, strerror(-r)) : 0;
}

/* ---- which thread ---- */

/* Stops one of the process's threads that is at a safe place, and a parent or not. 1: got it; 0: none now. */
static int find_thread(struct borrow *borrow, bool parents, int *refused)
{
	pid_t pid = borrow->image->pid;
	struct dirent *entry;
	char path[64];
	int found = 0;
	DIR *tasks;

	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	tasks = opendir(path);
	if (!tasks)
		return -ESRCH;
	while (!found && (entry = readdir(tasks))) {
		pid_t tid = (pid_t)strtol(entry->d_name, NULL, 10);
		int r = -ESRCH;

		if (tid > 0 && tracee_is_parent(pid, tid) == parents)
			r = tracee_stop(&borrow->tracee, pid, tid);
		if (!r && safe_to_borrow(borrow->image, &borrow->tracee))
			found = 1;
		else if (!r)
			tracee_let_go(&borrow->tracee);
		else if (r != -ESRCH && r != -EAGAIN)
			*refused = r;
	}
	closedir(tasks);
	return found;
}

static int wait_for_thread(struct borrow *borrow, struct err *err)
{
	uint64_t deadline = tracee_deadline(BEGIN_NS);
	struct timespec nap = { .tv_nsec = 500000 };
	int pid = (int)borrow->image->pid, refused = 0, r;

	while (!(r = find_thread(borrow, false, &refused)) && !(r = find_thread(borrow, true, &refused))) {
		if (refused)
			return err_set(err, refused, "process %d cannot be stopped for a moment: %s", pid, strerror(-refused));
		if (tracee_deadline(0) > deadline)
			return err_set(err, -EBUSY, "process %d has no thread that can be disturbed now: each is loading, "
				       "allocating or waiting where one must not. Try again", pid);
		nanosleep(&nap, NULL);
		if (nap.tv_nsec < 2000000)
			nap.tv_nsec *= 2;
	}
	return r < 0 ? err_set(err, r, "process %d ended meanwhile", pid) : 0;
}

static void save_errno(struct borrow *borrow)
{
	uint64_t where = target_find(borrow->image, "__errno_location");

	if (where && !borrow_call(borrow, where, 0, 0, &borrow->errno_at, NULL) &&
	    !target_read(borrow->image, borrow->errno_at, &borrow->error, sizeof(borrow->error)))
		borrow->errno_at = 0;
}

/* Now that it stands still: it may have become another program after it was looked at. */
static bool is_same(const struct borrow *borrow)
{
	uint8_t there[2];

	return target_read(borrow->image, borrow->gadget, there, sizeof(there)) && there[0] == 0x0f && there[1] == 0x05;
}

int borrow_begin(struct borrow *borrow, const struct image *image, struct err *err)
{
	int r;

	memset(borrow, 0, sizeof(*borrow));
	borrow->image = image;
	borrow->gadget = find_gadget(image);
	if (!borrow->gadget)
		return err_set(err, -ENOTSUP, "process %d has no libc that is known here: nothing can be loaded into it",
			       (int)image->pid);
	r = wait_for_thread(borrow, err);
	if (r)
		return r;
	if (!is_same(borrow)) {
		tracee_let_go(&borrow->tracee);
		return err_set(err, -ESTALE, "process %d has just become another program", (int)image->pid);
	}
	dispatch_pause(borrow->tracee.tid, &borrow->dispatch);
	borrow->bell = find_bell(borrow);
	r = hold_signals(borrow, ~FAULTS);
	if (!r)
		r = map_memory(borrow);
	if (r) {
		borrow_end(borrow);
		return err_set(err, r, "process %d cannot be given memory to call from: %s", (int)image->pid, strerror(-r));
	}
	save_errno(borrow);
	return 0;
}

void borrow_end(struct borrow *borrow)
{
	const uint64_t unmap[6] = { borrow->memory, MEMORY_SIZE, 0, 0, 0, 0 };
	struct tracee *tracee = &borrow->tracee;
	int64_t result;

	if (borrow->left)
		return;
	if (borrow->errno_at)
		target_write(borrow->image, borrow->errno_at, &borrow->error, sizeof(borrow->error));
	if (borrow->memory)
		raw_syscall(borrow, SYS_munmap, unmap, &result);
	tracee_settle(tracee);
	if (borrow->broke_sleep && -(int64_t)tracee->regs.rax == RESTART_BLOCK)
		rewind_call(borrow, &tracee->regs);
	if (borrow->dispatch.mode)
		tracee->mask &= ~(1ull << (SIGSYS - 1));
	tracee_restore(tracee);
	dispatch_resume(tracee->tid, &borrow->dispatch);
	tracee_let_go(tracee);
	give_signals(borrow);
}

#endif
