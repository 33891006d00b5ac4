/*
 * runtime/stack: who called whom to get here, in addresses of the symbol space.
 *
 * Any thread, any signal handler, on whatever stack. A thread's own stack ends, at the top, with what libc keeps about the
 * thread, the first thread's with what the kernel put there: once all between here and there was found to be mapped, it
 * stays so, and the thread remembers how far down that goes. Other stacks (of signal handlers, of coroutines) may be gone
 * the next time: they are looked at page by page, each time.
 */
#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "runtime/local.h"
#include "runtime/runtime.h"
#include "runtime/unwind.h"

#ifndef MADV_POPULATE_READ
#define MADV_POPULATE_READ 22
#endif

#if defined(__has_feature)
#define HAS_FEATURE(x) __has_feature(x)
#else
#define HAS_FEATURE(x) 0
#endif
/* Stacks are full of places that nobody should look at, sanitizers find. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || HAS_FEATURE(address_sanitizer) || \
	HAS_FEATURE(thread_sanitizer)
#define RAW __attribute__((no_sanitize("address"), no_sanitize("thread"), noinline))
#else
#define RAW
#endif

#define PAGE ((uintptr_t)4096)
#define MAIN_MAX ((uintptr_t)128 << 20)	/* the kernel maps nothing else so near below the first thread's stack */
#define THREAD_MAX ((uintptr_t)1 << 30)
#define ASKED_MAX 64u	/* pages of a stack that nobody vouches for */
#define OWN_MAX 24u	/* frames among which the runtime's own are */
#define OWN_APART 3u	/* so many of its functions may lie between two that are known by name */

/* Emulators of user programs take every advice and heed none: one that says nothing of page 0 cannot be asked. */
static bool is_emulated(void)
{
	static uint32_t emulated;	/* 0: not known yet; 1 no, 2 yes */

	if (!LOAD(emulated))
		STORE(emulated, madvise(NULL, PAGE, MADV_POPULATE_READ) ? 1 : 2);
	return LOAD(emulated) == 2;
}

/* Can it all be read? An old kernel cannot say it of a whole range: then of no more than a page. */
bool runtime_is_mapped(uintptr_t from, uintptr_t to)
{
	struct iovec here, there = { (void *)from, 1 };
	int saved = errno;
	bool mapped;
	char byte;

	if (LOAD(runtime.locked) || is_emulated()) {
		errno = saved;
		return false;
	}
	from &= ~(PAGE - 1);
	to = (to + PAGE - 1) & ~(PAGE - 1);
	mapped = !madvise((void *)from, to - from, MADV_POPULATE_READ);
	here = (struct iovec){ &byte, 1 };
	if (!mapped && errno == EINVAL && to - from <= PAGE)
		mapped = syscall(SYS_process_vm_readv, getpid(), &here, 1ul, &there, 1ul, 0ul) == 1;
	errno = saved;
	return mapped;
}

/* [sp, top) as a stack, if that is what it is. */
static bool reaches(struct unwind_stack *stack, struct thread *thread, uintptr_t sp, uintptr_t top, uintptr_t max)
{
	uintptr_t low = sp & ~(PAGE - 1), high = thread->stack_high == top ? thread->stack_low : top;

	if (sp >= top || top - sp > max)
		return false;
	if (low < high) {
		bool mapped = runtime_is_mapped(low, high);

		/* Where nobody can be asked: of the first thread it is certain anyway. */
		if (!mapped && !(LOAD(runtime.locked) ? max == MAIN_MAX : is_emulated()))
			return false;
		/* A vfork child or the like is on its own stack, but in somebody else's place. */
		if (!thread->guard) {
			thread->stack_high = 0;
			__atomic_signal_fence(__ATOMIC_SEQ_CST);
			thread->stack_low = low;
			__atomic_signal_fence(__ATOMIC_SEQ_CST);
			thread->stack_high = top;
		}
	}
	*stack = (struct unwind_stack){ sp, top, false };
	return true;
}

void runtime_stack_at(struct unwind_stack *stack, uintptr_t sp)
{
	struct thread *thread = &runtime_self;

	if (thread->stack_high && sp >= thread->stack_low && sp < thread->stack_high) {
		*stack = (struct unwind_stack){ sp, thread->stack_high, false };
		return;
	}
	if (reaches(stack, thread, sp, (uintptr_t)getauxval(AT_RANDOM), MAIN_MAX) ||
	    reaches(stack, thread, sp, (uintptr_t)pthread_self(), THREAD_MAX))
		return;
	*stack = (struct unwind_stack){ sp, (sp + PAGE) & ~(PAGE - 1), true };
}

RAW bool runtime_stack_load(struct unwind_stack *stack, uintptr_t address, uintptr_t *word)
{
	uintptr_t end = address + sizeof(*word);

	if (address < stack->low || end < address || address % sizeof(*word))
		return false;
	while (end > stack->high) {
		if (!stack->may_ask || stack->high - stack->low > ASKED_MAX * PAGE ||
		    !runtime_is_mapped(stack->high, stack->high + 1))
			return false;
		stack->high += PAGE;
	}
	*word = *(const uintptr_t *)address;
	return true;
}

/* Where programs enter the runtime. A program that has it linked in statically is one file with it: its frames are
 * told by these. */
extern void ringside_event_compose(void) __attribute__((weak));
extern void ringside_emit(void) __attribute__((weak));
extern void ringside_mark(void) __attribute__((weak));
extern void ringside_markf(void) __attribute__((weak));
extern void ringside_vmarkf(void) __attribute__((weak));
extern void ringside_format_write(void) __attribute__((weak));

/* Before the first two there are functions that every declared event has in the program: one, or two (ringside/event.h). */
enum entry { ENTRY_NONE, ENTRY_PLAIN, ENTRY_SITE, ENTRY_SITES };

static enum entry find_entry(const struct module *module, uintptr_t pc)
{
	const uintptr_t function = runtime_unwind_function(module, pc);
	const uintptr_t plain[] = {
		(uintptr_t)ringside_emit,   (uintptr_t)ringside_mark,	     (uintptr_t)ringside_markf,
		(uintptr_t)ringside_vmarkf, (uintptr_t)ringside_format_write,
	};
	/* Where compilers do not optimize, all that led there have frames. */
	const uintptr_t sites[] = {
		(uintptr_t)runtime_write,	 (uintptr_t)runtime_write_unready, (uintptr_t)runtime_write_passed,
		(uintptr_t)runtime_write_looked, (uintptr_t)runtime_write_other,
	};

	if (!function)
		return ENTRY_NONE;
	for (uint32_t i = 0; i < sizeof(sites) / sizeof(sites[0]); i++)
		if (function == sites[i])
			return ENTRY_SITE;
	if (function == (uintptr_t)ringside_event_compose)
		return ENTRY_SITES;
	for (uint32_t i = 0; i < sizeof(plain) / sizeof(plain[0]); i++)
		if (function == plain[i])
			return ENTRY_PLAIN;
	return ENTRY_NONE;
}

/* What was found out about places in the runtime's own file, which never goes: the place four times, and which it is. */
static enum entry entry_at(const struct module *module, uintptr_t pc)
{
	static uintptr_t kept[256];
	uintptr_t *word = &kept[(pc ^ pc >> 8) % 256], known = LOAD(*word);
	enum entry entry;

	if (known >> 2 == (pc & UINTPTR_MAX >> 2))
		return known & 3;
	entry = find_entry(module, pc);
	STORE(*word, pc << 2 | entry);
	return entry;
}

struct own {
	const struct module *module;	/* the runtime's */
	bool alone;		/* nothing else is in that */
	bool past;
	uintptr_t last;		/* place of the last frame that is in it */
	uint32_t looked;	/* frames */
	uint32_t since;		/* the last one that was known */
	uint32_t sites;		/* so many frames behind that are of no interest either */
};

static uint32_t sites_of(enum entry entry)
{
	return entry == ENTRY_SITE ? 1 : entry == ENTRY_SITES ? 2 : 0;
}

/* One of a program that is one file with the runtime. */
static bool is_known(struct own *own, const struct module *module, uintptr_t pc)
{
	enum entry entry = module == own->module ? entry_at(module, pc) : ENTRY_NONE;

	own->past = ++own->looked == OWN_MAX;
	if (entry) {
		own->since = 1;
		own->sites = sites_of(entry);
		return true;
	}
	own->past |= own->since && own->since++ == OWN_APART;
	return false;
}

/* Is the frame at pc one of the runtime's, which nobody wants to see? All before it are then, too. */
static bool is_own(struct own *own, const struct module *module, uintptr_t pc)
{
	if (!own->past && !own->alone && is_known(own, module, pc))
		return true;
	if (!own->past && own->alone) {
		if (module == own->module) {
			own->last = pc;
			return true;
		}
		own->past = true;
		own->sites = own->last ? sites_of(entry_at(own->module, own->last)) : 0;
	}
	if (!own->sites)
		return false;
	own->sites--;
	return true;
}

__attribute__((noinline)) uint32_t runtime_stack(uint64_t *addresses, uint32_t max, uint32_t skip)
{
	static uint32_t alone;	/* 0: not known yet; 1 yes, 2 no */
	enum unwind_step step;
	struct own own = { 0 };
	struct unwind unwind;
	uint32_t n = 0, left = skip, frames = 0;
	const struct module *module;

	FRAME_HERE(unwind.pc, unwind.reg[FRAME_SP], unwind.reg[FRAME_FP]);
	unwind.known = 1ull << FRAME_SP | 1ull << FRAME_FP;
	unwind.exact = true;
	runtime_stack_at(&unwind.stack, unwind.reg[FRAME_SP]);
	own.module = module = runtime_module(unwind.pc);
	if (!LOAD(alone))
		STORE(alone, module != runtime_module((uintptr_t)getauxval(AT_ENTRY)) ? 1 : 2);
	own.alone = alone == 1;
	/* Until it is clear which are the runtime's, there may be more than asked for. */
	while (n < max || (!own.past && !own.alone)) {
		step = runtime_unwind(&unwind, module);
		if (step == UNWIND_END || frames++ == 2 * (max + skip) + OWN_MAX)
			break;
		/* Whatever has a frame here stays loaded. */
		if (!module || unwind.pc - module->start >= module->end - module->start)
			module = runtime_module(unwind.pc);
		if (step == UNWIND_INTERRUPTED) {
			own.past = true;
			own.sites = 0;
		}
		if (is_own(&own, module, unwind.pc - !unwind.exact)) {
			n = 0;
			left = skip;
		} else if (left) {
			left--;
		} else {
			if (n < max)
				addresses[n] = runtime_module_address(module, unwind.pc);
			n++;
		}
	}
	return n < max ? n : max;
}
