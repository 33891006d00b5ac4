/*
 * func/block: the code that a window with points leads to, near its file:
 *
 *   [call-out of the first instruction]  [a function tracer's way]  body: moved instructions, call-outs between them; jmp behind
 *
 *   call-out:  lea -128(%rsp), %rsp; push $POINT; call *thunk; lea 136(%rsp), %rsp
 *
 * A system call that is wanted is not among the moved instructions: it is the thunk's to do.
 *
 * It jumps over what a function may keep below its stack without having taken it. What was made stays: a thread may be in it at any time.
 */
#include <string.h>
#include <sys/mman.h>

#include "func/point.h"

#if defined(__x86_64__) && !defined(__ILP32__)

#define PAGE ((uintptr_t)4096)
#define CALL_OUT 24u
#define WAY_MAX 13u
#define SYSCALL_SIZE 2u

enum { THUNK_POINT, THUNK_FUNCTION, THUNK_GRAPH, THUNK_CALL, THUNKS };

bool func_blocks_open(struct func_blocks *blocks, const struct func_file *file, uint32_t windows, uint32_t points)
{
	size_t size = THUNKS * sizeof(uintptr_t) + (size_t)points * CALL_OUT +
		      (size_t)windows * (WAY_MAX + PLAN_MOVED_MAX + PLAN_JUMP_SIZE + 16);

	size = (size + PAGE - 1) & ~(PAGE - 1);
	*blocks = (struct func_blocks){ .island = func_map_near(size, file) };
	if (!blocks->island)
		return false;
	memset(blocks->island, 0xcc, size);
	blocks->end = blocks->island + size;
	blocks->thunks = (uintptr_t *)(void *)blocks->island;
	blocks->thunks[THUNK_POINT] = (uintptr_t)func_thunk_point;
	blocks->thunks[THUNK_FUNCTION] = (uintptr_t)func_thunk_function_flags;
	blocks->thunks[THUNK_GRAPH] = (uintptr_t)func_thunk_graph_flags;
	blocks->thunks[THUNK_CALL] = (uintptr_t)sys_thunk;
	blocks->at = blocks->island + THUNKS * sizeof(uintptr_t);
	return true;
}

bool func_blocks_close(struct func_blocks *blocks)
{
	return !mprotect(blocks->island, (size_t)(blocks->end - blocks->island), PROT_READ | PROT_EXEC);
}

static void put(struct func_blocks *blocks, const void *bytes, size_t len)
{
	memcpy(blocks->at, bytes, len);
	blocks->at += len;
}

/* The last four bytes of an instruction that names a place. */
static void put_near(struct func_blocks *blocks, uintptr_t to)
{
	int32_t distance = (int32_t)(to - ((uintptr_t)blocks->at + sizeof(distance)));

	put(blocks, &distance, sizeof(distance));
}

static void put_call_out(struct func_blocks *blocks, uint32_t point)
{
	put(blocks, "\x48\x8d\x64\x24\x80\x68", 6);
	put(blocks, &point, sizeof(point));
	put(blocks, "\xff\x15", 2);
	put_near(blocks, (uintptr_t)&blocks->thunks[THUNK_POINT]);
	put(blocks, "\x48\x8d\xa4\x24\x88\x00\x00\x00", 8);
}

/*
 * In the place of a system call: lea behind, %rcx; lea behind the original, %r11; jmp *thunk. The kernel leaves nothing of the program's in
 * these two either.
 */
static void put_call(struct func_blocks *blocks, uintptr_t behind)
{
	put(blocks, "\x48\x8d\x0d", 3);
	put_near(blocks, (uintptr_t)blocks->at + 4 + 7 + 6);
	put(blocks, "\x4c\x8d\x1d", 3);
	put_near(blocks, behind);
	put(blocks, "\xff\x25", 2);
	put_near(blocks, (uintptr_t)&blocks->thunks[THUNK_CALL]);
}

/* As func/site has them. */
static void put_way(struct func_blocks *blocks, uint32_t number, uint8_t way)
{
	if (way == FUNC_WAY_GRAPH) {
		put(blocks, "\x68", 1);
		put(blocks, &number, sizeof(number));
		put(blocks, "\xff\x25", 2);
		put_near(blocks, (uintptr_t)&blocks->thunks[THUNK_GRAPH]);
	} else if (way == FUNC_WAY_FUNCTION) {
		put(blocks, "\xff\x15", 2);
		put_near(blocks, (uintptr_t)&blocks->thunks[THUNK_FUNCTION]);
		put(blocks, "\x0f\x1f\x80", 3);
		put(blocks, &number, sizeof(number));
	}
}

static uint32_t step_end(const struct plan_step *steps, uint32_t n, uint32_t i, uint32_t whole)
{
	return i + 1 < n ? steps[i + 1].moved : whole;
}

/* The moved form of instruction i; what depends on its place counts from where all of them would begin. */
static bool put_step(struct func_blocks *blocks, const struct func_window *window, const struct plan_step *steps, uint32_t n, uint32_t i)
{
	const struct plan_site *site = window->site;
	const struct plan_fix *fixes = (const void *)((const char *)window->plan + window->plan->fixes);
	const uint32_t from = steps[i].moved, end = step_end(steps, n, i, site->moved);
	unsigned char *begin = blocks->at - from;

	put(blocks, func_plan_code(window->plan, site) + site->window + from, end - from);
	for (uint32_t f = 0; f < site->nfixes; f++) {
		const struct plan_fix *fix = &fixes[site->fixes + f];

		if (fix->at >= from && fix->at < end && !func_site_fix(begin, func_window_at(window->file, site), fix))
			return false;
	}
	return true;
}

/* Where to go on behind the last of them. */
static void put_back(struct func_blocks *blocks, const struct func_window *window, const struct plan_step *steps, uint32_t n)
{
	const struct plan_site *site = window->site;
	const bool last = !window->trap || window->first + 1u == n;
	const uint32_t behind = last ? site->window : steps[window->first + 1].at;

	if (last && site->flags & PLAN_SITE_GOES)
		return;
	put(blocks, "\xe9", 1);
	put_near(blocks, func_window_at(window->file, site) + behind);
}

bool func_block_make(struct func_blocks *blocks, uint32_t number, struct func_window *window)
{
	struct func_site *site = &func_all.sites[number];
	const struct plan_step *steps;
	const uint32_t n = func_steps(window->plan, window->site, &steps);
	const uint32_t first = window->trap ? window->first : 0, end = window->trap ? first + 1u : n;
	uintptr_t code, body;

	blocks->at += -(uintptr_t)blocks->at & 15;
	code = (uintptr_t)blocks->at;
	if (window->point[first])
		put_call_out(blocks, window->point[first]);
	put_way(blocks, number, window->way);
	body = (uintptr_t)blocks->at;
	for (uint32_t i = first; i < end; i++) {
		if (i > first && window->point[i])
			put_call_out(blocks, window->point[i]);
		if (window->calls >> i & 1)
			put_call(blocks, func_window_at(window->file, window->site) + steps[i].at + SYSCALL_SIZE);
		else if (!put_step(blocks, window, steps, n, i))
			return false;
	}
	put_back(blocks, window, steps, n);
	site->body = body;
	/* Others lead to the body that was. */
	STORE(site->edge, 0);
	memcpy(window->made, window->point, sizeof(window->made));
	window->made_calls = window->calls;
	window->made_way = window->way;
	window->code = code;
	return true;
}

#endif
