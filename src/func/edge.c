/*
 * func/edge: see func_edge in local.h. Found by hashing; made and found by any thread and in any signal handler, without locks.
 *
 * All edges have the same code, since it reaches its data by their distance. Pages of it are made as they are needed.
 */
#include "base/regs.h"

#if defined(__x86_64__) && !defined(__ILP32__)

#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>

#include "func/point.h"

#define BUCKETS (2 * FUNC_EDGES_MAX)
#define PROBES 32u
#define CHUNK 2048u	/* edges whose code is made at once */

unsigned char *func_edge_code;
struct func_edge *func_edges;
/* For the tool, which walks stacks here from outside, and looks at what is mapped from the file. */
__attribute__((visibility("default"), section(".data"))) struct stopped_edges __ringside_edges;

static uint32_t *buckets;
static uint32_t nedges = 1;	/* the first is none */
static uint32_t ready[FUNC_EDGES_MAX / CHUNK];	/* chunks: 0 none, 1 being made, 2 made */

static int32_t distance(size_t member, size_t end)
{
	return (int32_t)((unsigned char *)func_edges - func_edge_code + (ptrdiff_t)member - (ptrdiff_t)end);
}

static void put_edge_code(unsigned char *at)
{
	const int32_t body = distance(offsetof(struct func_edge, body), FUNC_EDGE_BACK),
		      thunk = distance(offsetof(struct func_edge, thunk), FUNC_EDGE_AWAY),
		      parent = distance(offsetof(struct func_edge, parent), FUNC_EDGE_AWAY + 6);
	unsigned char code[FUNC_EDGE_CODE] = {
		[0] = 0xff, 0x15, [6] = 0xff, 0x15, [12] = 0xff, 0x35, [18] = 0xc3,
	};

	__builtin_memcpy(code + 2, &body, 4);
	__builtin_memcpy(code + 8, &thunk, 4);
	__builtin_memcpy(code + 14, &parent, 4);
	for (uint32_t i = 19; i < FUNC_EDGE_CODE; i++)
		code[i] = 0xcc;
	for (uint32_t i = 0; i < CHUNK; i++)
		for (uint32_t j = 0; j < FUNC_EDGE_CODE; j += 8)
			*(uint64_t *)(void *)(at + i * FUNC_EDGE_CODE + j) = *(const uint64_t *)(const void *)(code + j);
}

/* Nobody has an edge of this chunk yet. */
static bool chunk_make(uint32_t chunk)
{
	unsigned char *at = func_edge_code + (size_t)chunk * CHUNK * FUNC_EDGE_CODE;
	uint32_t none = 0;
	uintptr_t own;
	long r = -1;

	if (!__atomic_compare_exchange_n(&ready[chunk], &none, 1, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
		return false;
	put_edge_code(at);
	if (!LOAD(runtime.locked)) {
		own = runtime_own_begin();
		r = regs_syscall(SYS_mprotect, (long)at, (long)(CHUNK * FUNC_EDGE_CODE), PROT_READ | PROT_EXEC);
		runtime_own_end(own);
	}
	if (r) {
		STORE(ready[chunk], 0);
		return false;
	}
	STORE_RELEASE(ready[chunk], 2);
	return true;
}

bool func_edges_init(void)
{
	const size_t each = (size_t)FUNC_EDGES_MAX * FUNC_EDGE_CODE, whole = 2 * each + BUCKETS * sizeof(*buckets);
	unsigned char *all;

	if (func_edge_code)
		return true;
	if (!runtime_affordable(RLIMIT_AS, whole) || !runtime_affordable(RLIMIT_DATA, whole))
		return false;
	all = mmap(NULL, whole, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (all == MAP_FAILED)
		return false;
	func_edges = (struct func_edge *)(void *)(all + each);
	buckets = (uint32_t *)(void *)(all + 2 * each);
	func_edge_code = all;
	__ringside_edges = (struct stopped_edges){
		.code = (uintptr_t)all, .size = each, .data = (uintptr_t)func_edges, .stride = FUNC_EDGE_CODE,
		.parent = offsetof(struct func_edge, parent),
	};
	/* Without it there are no edges yet, and the first who wants one tries again. */
	chunk_make(0);
	return true;
}

static uintptr_t thunk_of(const struct func_site *site)
{
	return (uintptr_t)(LOAD(site->flags) & FUNC_SITE_RETURNS ? func_thunk_return_point : func_thunk_return);
}

/* The next chunk is made long before it is needed: whoever comes to one that another has not made yet does without. */
static uint32_t edge_make(struct func_site *site, uintptr_t parent)
{
	uint32_t i = LOAD(nedges), chunk;

	do {
		if (i >= FUNC_EDGES_MAX)
			return 0;
		chunk = i / CHUNK;
		if (LOAD_ACQUIRE(ready[chunk]) != 2 && !chunk_make(chunk))
			return 0;
	} while (!__atomic_compare_exchange_n(&nedges, &i, i + 1, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED));
	if (i % CHUNK == CHUNK / 2 && i + CHUNK < FUNC_EDGES_MAX)
		chunk_make(chunk + 1);
	func_edges[i] = (struct func_edge){ site->body, parent, site, thunk_of(site) };
	return i;
}

uint32_t func_edge_find(struct func_site *site, uintptr_t parent)
{
	uint64_t hash = ((uint64_t)(uintptr_t)site ^ parent * 0x9e3779b97f4a7c15ull) * 0xff51afd7ed558ccdull;
	uint32_t at = (uint32_t)(hash >> 40), made = 0;

	for (uint32_t i = 0; i < PROBES; i++, at++) {
		uint32_t *bucket = &buckets[at % BUCKETS], edge = LOAD_ACQUIRE(*bucket);

		if (!edge) {
			if (!made)
				made = edge_make(site, parent);
			/* Partner: the acquiring load above. */
			if (!made || __atomic_compare_exchange_n(bucket, &edge, made, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
				return made;
		}
		if (func_edges[edge].site == site && func_edges[edge].parent == parent && func_edges[edge].body == site->body &&
		    func_edges[edge].thunk == thunk_of(site))
			return edge;
	}
	return made;
}

uintptr_t func_true_return(uintptr_t address)
{
	/* Tail calls do not nest edges, but a file may be traced that calls through one. */
	for (int i = 0; i < 8 && func_edge_code && func_is_back(address); i++)
		address = func_edges[func_edge_at(address)].parent;
	return address;
}

#endif

REGS_END
