/*
 * func/site: the code that a patched function jumps to, made from its plan, near its file: jumps and data that the moved
 * instructions name reach 2 GiB.
 *
 *   island:  four addresses of thunks
 *            push $NUMBER; jmp *thunk          <- by function_graph
 *            call *thunk; nopl NUMBER(%rax)    <- by function
 *            moved instructions; jmp behind the window
 *            ...
 *
 * What was made stays: a thread may be in it at any time.
 */
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include "func/point.h"

#if defined(__x86_64__) && !defined(__ILP32__)

#define REACH ((uintptr_t)0x70000000)
#define STRIDE ((uintptr_t)2 << 20)
#define PAGE ((uintptr_t)4096)
#define BY_GRAPH 24u	/* bytes before the body where the way of each tracer begins */
#define BY_FUNCTION 13u
#define SITE_ROOM(moved) ((BY_GRAPH + (size_t)(moved) + PLAN_JUMP_SIZE + 15) & ~(size_t)15)

enum { THUNK_FUNCTION, THUNK_GRAPH, THUNK_FLAGS, THUNKS = 4 };

#ifndef MAP_FIXED_NOREPLACE
#define MAP_FIXED_NOREPLACE 0x100000
#endif

bool func_sites_init(void)
{
	const size_t sites = (size_t)FUNC_SITES_MAX * sizeof(struct func_site);
	const size_t size = sites + (size_t)FUNC_SITES_MAX * sizeof(struct func_left);
	void *all;

	if (func_all.sites)
		return true;
	if (!runtime_affordable(RLIMIT_AS, size) || !runtime_affordable(RLIMIT_DATA, size))
		return false;
	all = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (all == MAP_FAILED)
		return false;
	func_vectors_init();
	func_all.left = (struct func_left *)(void *)((char *)all + sites);
	func_all.sites = all;
	func_all.nsites = 1;
	return true;
}

static bool is_near(uintptr_t at, size_t size, const struct func_file *file)
{
	uintptr_t low = at < file->start ? at : file->start, end = at + size > file->end ? at + size : file->end;

	return end - low < REACH;
}

static void *map_at(uintptr_t at, size_t size, const struct func_file *file)
{
	void *got = mmap((void *)at, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);

	if (got == MAP_FAILED)
		return NULL;
	if (is_near((uintptr_t)got, size, file))
		return got;
	munmap(got, size);
	return NULL;
}

/* Below the file first: above a program its heap grows. */
static void *find_near(size_t size, const struct func_file *file)
{
	void *got;

	for (uintptr_t off = size; off < REACH && file->start > off + (64u << 10); off += STRIDE) {
		got = map_at((file->start - off) & ~(PAGE - 1), size, file);
		if (got)
			return got;
	}
	for (uintptr_t off = PAGE; off < REACH; off += STRIDE) {
		got = map_at((file->end + off) & ~(PAGE - 1), size, file);
		if (got)
			return got;
	}
	return NULL;
}

static struct {
	uintptr_t start;
	size_t size;
} islands[1024];
static uint32_t nislands;

unsigned char *func_map_near(size_t size, const struct func_file *file)
{
	unsigned char *got = find_near(size, file);

	if (got && nislands < sizeof(islands) / sizeof(islands[0])) {
		islands[nislands].start = (uintptr_t)got;
		islands[nislands++].size = size;
	}
	return got;
}

bool func_is_island(uintptr_t address)
{
	for (uint32_t i = 0; i < nislands; i++)
		if (address - islands[i].start < islands[i].size)
			return true;
	return false;
}

bool func_site_fix(unsigned char *body, uintptr_t window, const struct plan_fix *fix)
{
	int64_t wide;
	int32_t near;

	if (fix->kind == PLAN_FIX_AT) {
		memcpy(&wide, body + fix->at, sizeof(wide));
		wide += (int64_t)window;
		memcpy(body + fix->at, &wide, sizeof(wide));
		return true;
	}
	memcpy(&near, body + fix->at, sizeof(near));
	wide = (int64_t)near + (int64_t)(window - (uintptr_t)body);
	near = (int32_t)wide;
	memcpy(body + fix->at, &near, sizeof(near));
	return wide == near;
}

static void put_near(unsigned char *at, uintptr_t to)
{
	int32_t distance = (int32_t)(to - ((uintptr_t)at + sizeof(distance)));

	memcpy(at, &distance, sizeof(distance));
}

/* The ways to the body. */
static void put_ways(unsigned char *body, uint32_t number, const uintptr_t *thunks, bool flags)
{
	unsigned char *graph = body - BY_GRAPH, *function = body - BY_FUNCTION;

	graph[0] = 0x68;
	memcpy(graph + 1, &number, sizeof(number));
	graph[5] = 0xff;
	graph[6] = 0x25;
	put_near(graph + 7, (uintptr_t)&thunks[THUNK_GRAPH + (flags ? THUNK_FLAGS : 0)]);
	function[0] = 0xff;
	function[1] = 0x15;
	put_near(function + 2, (uintptr_t)&thunks[THUNK_FUNCTION + (flags ? THUNK_FLAGS : 0)]);
	memcpy(function + 6, "\x0f\x1f\x80", 3);
	memcpy(function + 9, &number, sizeof(number));
}

static bool put_site(unsigned char *body, const struct func_file *file, const struct plan_site *site, uint32_t number,
		     const uintptr_t *thunks)
{
	const struct plan_fix *fixes = (const void *)((const char *)file->plan + file->plan->fixes);
	const uintptr_t window = file->load + site->address + site->at;

	memcpy(body, func_plan_code(file->plan, site) + site->window, site->moved);
	for (uint32_t i = 0; i < site->nfixes; i++)
		if (!func_site_fix(body, window, &fixes[site->fixes + i]))
			return false;
	body[site->moved] = 0xe9;
	put_near(body + site->moved + 1, window + site->window);
	put_ways(body, number, thunks, site->flags & PLAN_SITE_FLAGS_LIVE);
	return true;
}

/* It gives tables to whoever unwinds; the unwinder itself is somewhere above. */
static bool is_asked(const struct plan *plan, const struct plan_site *site)
{
	const char *name = func_plan_name(plan, site);

	return !strcmp(name, "_dl_find_object") || !strcmp(name, "dl_iterate_phdr") || !strcmp(name, "__dl_iterate_phdr");
}

static void fill(struct func_site *to, const struct func_file *file, const struct plan_site *site, uintptr_t body)
{
	*to = (struct func_site){
		.ip = file->load + site->address + file->delta,
		.file = file,
		.body = body,
		.flags = (site->flags & PLAN_SITE_NO_RETURN_HOOK ? FUNC_SITE_NO_RETURN_HOOK : 0) |
			 (site->flags & PLAN_SITE_UNWINDS ? FUNC_SITE_UNWINDS : 0) |
			 (site->flags & PLAN_SITE_UNWINDS && is_asked(file->plan, site) ? FUNC_SITE_ASKED : 0) |
			 (site->flags & PLAN_SITE_LOADS ? FUNC_SITE_LOADS : 0),
	};
}

bool func_sites_make(struct func_file *file, uint32_t *indexes, uint32_t n)
{
	size_t size = THUNKS * sizeof(uintptr_t);
	unsigned char *island, *at;
	uintptr_t *thunks;

	if (n > FUNC_SITES_MAX - func_all.nsites)
		return false;
	for (uint32_t i = 0; i < n; i++)
		size += SITE_ROOM(func_plan_site(file->plan, indexes[i])->moved);
	size = (size + PAGE - 1) & ~(PAGE - 1);
	island = func_map_near(size, file);
	if (!island)
		return false;
	memset(island, 0xcc, size);
	thunks = (uintptr_t *)(void *)island;
	thunks[THUNK_FUNCTION] = (uintptr_t)func_thunk_function;
	thunks[THUNK_GRAPH] = (uintptr_t)func_thunk_graph;
	thunks[THUNK_FUNCTION + THUNK_FLAGS] = (uintptr_t)func_thunk_function_flags;
	thunks[THUNK_GRAPH + THUNK_FLAGS] = (uintptr_t)func_thunk_graph_flags;
	at = island + THUNKS * sizeof(uintptr_t);
	for (uint32_t i = 0; i < n; i++) {
		const struct plan_site *site = func_plan_site(file->plan, indexes[i]);
		uint32_t number = func_all.nsites;

		if (put_site(at + BY_GRAPH, file, site, number, thunks)) {
			fill(&func_all.sites[number], file, site, (uintptr_t)at + BY_GRAPH);
			func_all.nsites++;
			file->numbers[indexes[i]] = number;
		}
		at += SITE_ROOM(site->moved);
	}
	if (!mprotect(island, size, PROT_READ | PROT_EXEC))
		return true;
	/* Nobody may run these: they are as if they had not been made. */
	for (uint32_t i = 0; i < n; i++)
		file->numbers[indexes[i]] = 0;
	return false;
}

bool func_site_jump(const struct func_file *file, const struct plan_site *site, uint32_t number, bool graph,
		    unsigned char jump[PLAN_JUMP_SIZE])
{
	const uintptr_t window = func_window_at(file, site);
	const uintptr_t to = func_all.sites[number].flags & FUNC_SITE_POINTS ? func_window_of(number)->code :
			     func_all.sites[number].body - (graph ? BY_GRAPH : BY_FUNCTION);
	const int64_t distance = (int64_t)(to - (window + PLAN_JUMP_SIZE));
	const int32_t near = (int32_t)distance;

	jump[0] = 0xe9;
	memcpy(jump + 1, &near, sizeof(near));
	return distance == near;
}

#endif
