/*
 * func/start: function tracing from a program's first moment, and of what it loads later.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <link.h>
#include <signal.h>
#include <sys/auxv.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "func/local.h"

#if defined(__x86_64__) && !defined(__ILP32__)

#include <cpuid.h>

#define VECTORS 0xe6u	/* SSE, AVX, AVX-512; ours leaves the others alone */
#define WAIT_MS 5000	/* for a planner that files nothing */
#define PAUSE_MS 20
#define SHSTK_STATUS 0x5005
#define SHSTK_ON 1u

uint64_t func_vectors_size;
uint64_t func_vectors_mask;

/* As far as the last part of them goes in the processor's layout. Asking for that takes long in a virtual machine. */
void func_vectors_init(void)
{
	uint32_t a, b, c, d, low, high;

	if (!__get_cpuid(1, &a, &b, &c, &d) || !(c & bit_OSXSAVE))
		return;
	__asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
	func_vectors_mask = low & VECTORS;
	func_vectors_size = 576;
	for (uint32_t i = 2; i < 8; i++) {
		if (!(func_vectors_mask & 1u << i))
			continue;
		__cpuid_count(0xd, i, a, b, c, d);
		if ((uint64_t)a + b > func_vectors_size)
			func_vectors_size = (uint64_t)a + b;
	}
}

/* Sites that are patched already are not plain any more. */
void func_no_returns(void)
{
	if (func_all.no_returns)
		return;
	func_all.no_returns = true;
	for (uint32_t i = 1; i < func_all.nsites; i++)
		STORE(func_all.sites[i].flags, func_all.sites[i].flags | FUNC_SITE_BOTH);
	if (LOAD(runtime.attached))
		__atomic_fetch_add(&runtime.registry->no_returns, 1, __ATOMIC_RELAXED);
}

/* Does the processor compare return addresses with a stack of its own? */
static bool is_shadowed(void)
{
	uint64_t features = 0;

	return !syscall(SYS_arch_prctl, SHSTK_STATUS, &features) && features & SHSTK_ON;
}

/* As the kernel lays it out. */
struct entry {
	uint64_t inode, offset;
	uint16_t len;
	uint8_t type;
	char name[];
};

/* The thread that asks is the only one. Past libc, whose memory is the program's to take first. */
static bool is_alone(void)
{
	const int fd = open("/proc/self/task", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	_Alignas(8) char buf[512];
	long len, at, n = 0;

	while (fd >= 0 && (len = syscall(SYS_getdents64, fd, buf, sizeof(buf))) > 0)
		for (at = 0; at < len; at += ((const struct entry *)(const void *)(buf + at))->len)
			n += ((const struct entry *)(const void *)(buf + at))->name[0] != '.';
	if (fd >= 0)
		close(fd);
	return n == 1;
}

static bool has_planner(const struct plans_head *head)
{
	uint32_t planner = head ? LOAD(head->planner) : 0;

	return planner && (!kill((pid_t)planner, 0) || errno == EPERM);
}

/* Of files that nobody has traced here before: a planner, if there is one, makes their plans now. */
static void wait_for_plans(void)
{
	const struct plans_head *head = runtime_plans_reach(0, sizeof(*head));
	const struct timespec pause = { .tv_nsec = PAUSE_MS * 1000000 };
	struct func_file **files;
	uint32_t n;
	int r;

	for (int waited = 0; waited < WAIT_MS && has_planner(head);) {
		uint32_t filed = LOAD_ACQUIRE(head->filed);

		if (!func_begin())
			return;
		r = func_files_look(&files, &n);
		func_end();
		if (r != 1)
			return;
		__atomic_fetch_add(&runtime.registry->wishes, 1, __ATOMIC_RELEASE);
		syscall(SYS_futex, &runtime.registry->wishes, FUTEX_WAKE, 1, NULL, NULL, 0);
		syscall(SYS_futex, &head->filed, FUTEX_WAIT, filed, &pause, NULL, 0);
		/* Others may have asked before us. */
		waited = LOAD(head->filed) == filed ? waited + PAUSE_MS : 0;
	}
}

/* The loader has brought files, or taken some away: its own code runs, and none of theirs yet. */
void func_loads_aside(void *unused)
{
	(void)unused;
	if (func_loader() && func_loader()->r_state == RT_CONSISTENT && !LOAD(runtime.locked)) {
		wait_for_plans();
		func_update(NULL, 0, true);
	}
}

static void find_own(void)
{
	const struct module *own = runtime_module((uintptr_t)func_thunk_function);

	if (own && own != runtime_module((uintptr_t)getauxval(AT_ENTRY))) {
		func_all.own = own->start;
		func_all.own_size = own->end - own->start;
	}
}

static bool is_any_on(void)
{
	struct func_selection selection;
	bool any;

	if (!func_may_be_wanted())
		return false;
	any = func_select_begin(&selection) && func_selection_any(&selection);
	func_select_end(&selection);
	return any;
}

/* Behind runtime_start(), before main. */
__attribute__((constructor(102))) static void start(void)
{
	int saved = errno;

	runtime_start();
	find_own();
	if (LOAD(runtime.attached) && !LOAD(runtime.locked)) {
		runtime_modules_learn(true);
		/* Where a thread stands in a program that was running is known to the tool alone: it asks for it. */
		func_all.shadowed = is_shadowed();
		if (func_all.shadowed)
			func_no_returns();
		if (!runtime.late && is_any_on() && is_alone()) {
			wait_for_plans();
			func_update(NULL, 0, false);
		}
	}
	errno = saved;
}

#endif
