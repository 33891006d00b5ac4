/*
 * func/memory: a thread gets memory, or gives some back: records of kmem:kmalloc and kmem:kfree. Hot; any thread, any signal handler, with
 * general registers only.
 *
 * What is given back is recorded before that happens, what is got behind it: so whoever gets the same place next, in whatever thread, has
 * the later record. An allocator's functions call each other; what a thread does within one of them is a part of that one.
 */
#include "base/regs.h"

#if defined(__x86_64__) && !defined(__ILP32__)

#include "func/point.h"
#include "func/put.h"

/* In an allocator's function already? One that was left by a jump is not where it was any more. */
static bool is_within(uintptr_t slot)
{
	const struct func_stack *stack = runtime_self.func_stack;
	const uintptr_t above = func_self.allocating;
	uintptr_t known = slot & ~(uintptr_t)4095;

	if (LIKELY(!above) || above < slot || above - slot >= FUNC_SAME_STACK || !func_is_there(above, &known))
		return false;
	return (stack && stack->walking) || func_is_back(*(const uintptr_t *)above);
}

/*
 * Called by the GNU C library's allocator itself, as when a thread ends and what it kept for reuse is given up: all others there call these
 * functions as programs do, so that they get those of another library if there is one; it alone calls them where they are.
 */
static bool is_inner(uintptr_t parent, uintptr_t function)
{
	const unsigned char *call = (const unsigned char *)parent - 5;
	int32_t distance;

	if (LIKELY(parent - func_heap.gnu >= func_heap.gnu_size) || *call != 0xe8)
		return false;
	__builtin_memcpy(&distance, call + 1, sizeof(distance));
	return parent + (uintptr_t)(intptr_t)distance == function;
}

uint64_t func_memory_begin(const struct func_site *site, uintptr_t slot)
{
	const uintptr_t before = func_self.allocating;

	if (is_within(slot) || is_inner(*(const uintptr_t *)slot, site->ip - site->file->delta))
		return 0;
	func_self.allocating = slot;
	return before | FUNC_MEMORY_OUTERMOST;
}

/* ---- Sizes ---- */

struct asking {
	uint64_t ptr;
	uint64_t size;		/* out */
};

static void ask_aside(void *arg)
{
	struct asking *asking = arg;

	asking->size = ((size_t (*)(void *))func_heap.usable_size)((void *)asking->ptr);
}

/* As the GNU C library has it before each piece of memory: its size, with 16 bytes of its own where bit 1 says so, else 8. */
static uint64_t by_head(uint64_t ptr)
{
	const uint64_t head = ((const uint64_t *)ptr)[-1];

	return (head & ~7ull) - (head & 2 ? 16 : 8);
}

/* How much there is, where only so much was asked for. */
static uint64_t usable(uint64_t ptr, uint64_t size)
{
	struct asking asking = { ptr, size };

	if (!ptr || !func_heap.usable_size)
		return size;
	if (LIKELY(func_heap.gnu))
		return by_head(ptr);
	func_aside(ask_aside, &asking);
	return asking.size;
}

/* ---- Records ---- */

void func_memory_free(const struct func_probe *probe, struct probe_hit *hit)
{
	const uintptr_t parent = *(const uintptr_t *)hit->sp;

	/* To resize nothing is to get something, and no more. */
	if (UNLIKELY(func_is_own(parent) || is_within(hit->sp) || is_inner(parent, hit->ip)) || (!hit->di && probe->allocator->size))
		return;
	hit->ret_ip = func_symbol_of(NULL, parent);
	hit->arg[FUNC_MEMORY_PTR] = hit->di;
	func_hit_one(probe, hit);
}

void func_memory_return(const struct func_probe *probe, struct probe_hit *hit)
{
	const struct func_allocator *allocator = probe->allocator;
	uint64_t ptr = hit->ax, size = hit->arg[allocator->size - 1], old = allocator->frees ? hit->arg[0] : 0;

	if (!probe->event)
		return;
	if (allocator->times && __builtin_mul_overflow(size, hit->arg[allocator->times - 1], &size))
		size = UINT64_MAX;
	if (allocator->stored)
		ptr = (uint32_t)ptr ? 0 : *(const uint64_t *)hit->arg[0];
	if (old && !ptr) {
		/* It was given back, and that is all; or it was not, and is there again. */
		if (!size)
			return;
		ptr = old;
		size = usable(ptr, 0);
	}
	hit->arg[FUNC_MEMORY_PTR] = ptr;
	hit->arg[FUNC_MEMORY_REQ] = size;
	hit->arg[FUNC_MEMORY_ALLOC] = usable(ptr, size);
	func_hit_one(probe, hit);
}

#endif

REGS_END
