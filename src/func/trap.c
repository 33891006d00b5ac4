/*
 * func/trap: functions whose first bytes have no room for a jump: int3 there, and a signal for each call.
 *
 * Only where that signal can be delivered at all times: libc holds off all signals in some of its own functions, so none of those.
 */
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>

#include "func/point.h"
#include "runtime/signal.h"

#if defined(__x86_64__) && !defined(__ILP32__)

#define TRAPS_MAX 65536u	/* a power of two */
#define PROBES 64u

struct trap {
	uintptr_t at;		/* of the int3 */
	uint32_t number;
};
static struct trap *traps;

/* The place of that address, or where it would be; NULL: no room. */
static struct trap *find(uintptr_t at)
{
	uint32_t hash = (uint32_t)((at * 0x9e3779b97f4a7c15ull) >> 40);

	for (uint32_t i = 0; traps && i < PROBES; i++) {
		struct trap *trap = &traps[(hash + i) % TRAPS_MAX];
		uintptr_t there = LOAD_ACQUIRE(trap->at);

		if (there == at || !there)
			return trap;
	}
	return NULL;
}

/* The thread goes on as if it had come by a stub; or where it was, if another has just taken the int3 away. */
static bool hit(void *arg)
{
	greg_t *regs = ((ucontext_t *)arg)->uc_mcontext.gregs;
	const struct trap *trap = find((uintptr_t)regs[REG_RIP] - 1);
	const struct func_regs args = {
		.rdi = (uint64_t)regs[REG_RDI], .rsi = (uint64_t)regs[REG_RSI], .rdx = (uint64_t)regs[REG_RDX],
		.rcx = (uint64_t)regs[REG_RCX], .r8 = (uint64_t)regs[REG_R8], .r9 = (uint64_t)regs[REG_R9],
	};
	/* Nobody has anything below the return address where a function begins. */
	struct func_way *way = (struct func_way *)(regs[REG_RSP] - (greg_t)offsetof(struct func_way, parent));

	if (!trap || !LOAD(trap->at))
		return false;
	if (func_all.sites[trap->number].flags & FUNC_SITE_POINTS) {
		regs[REG_RIP] = (greg_t)func_window_code(trap->number);
		return true;
	}
	if (func_enter_graph(&func_all.sites[trap->number], way, &args))
		regs[REG_RSP] += (greg_t)sizeof(way->parent);
	regs[REG_RIP] = (greg_t)way->to;
	return true;
}

bool func_traps_allow(const struct func_file *file)
{
	if (!strncmp(file->name, "libc.so", 7) || !strncmp(file->name, "libc-", 5) || !strncmp(file->name, "libpthread", 10))
		return false;
	if (!runtime_signal_traps(hit))
		return false;
	if (!traps) {
		void *all = mmap(NULL, TRAPS_MAX * sizeof(*traps), PROT_READ | PROT_WRITE,
				 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

		traps = all == MAP_FAILED ? NULL : all;
	}
	return traps != NULL;
}

bool func_trap_note(uintptr_t at, uint32_t number)
{
	struct trap *trap = find(at);

	if (!trap)
		return false;
	STORE(trap->number, number);
	/* Partner: find(). */
	STORE_RELEASE(trap->at, at);
	return true;
}

#endif
