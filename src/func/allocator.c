/*
 * func/allocator: the functions by which this program gets memory and gives it back, for kmem:kmalloc and kmem:kfree. While code is
 * changed, in ordinary code.
 *
 * They are those that the loader gives to who asks for their names: the first in the order of its list, which may be the C library's, those
 * of a library that was put before it, or the program's own. They get probes as if somebody had written them: what these record is told
 * in memory.c.
 */
#include <link.h>
#include <string.h>

#include "func/point.h"
#include "ring/intern.h"

#if defined(__x86_64__) && !defined(__ILP32__)

#define SYMBOLS_MAX (1u << 20)
#define SERIAL 0xffff0000u	/* behind all that items have */
#define RECORD_KMALLOC 52u
#define RECORD_KFREE 24u

static const struct func_allocator functions[] = {
	{ "malloc", .size = 1 },
	{ "calloc", .size = 1, .times = 2 },
	{ "realloc", .size = 2, .frees = true },
	{ "reallocarray", .size = 2, .times = 3, .frees = true },
	{ "memalign", .size = 2 },
	{ "aligned_alloc", .size = 2 },
	{ "valloc", .size = 1 },
	{ "pvalloc", .size = 1 },
	{ "posix_memalign", .size = 3, .stored = true },
	{ "free", .frees = true },
};
#define FUNCTIONS (sizeof(functions) / sizeof(functions[0]))

struct func_heap func_heap;

/* ---- Where they are ---- */

/* What a file exports, as it is loaded. */
struct exports {
	const ElfW(Sym) *symbols;
	const char *names;
	const uint32_t *gnu_hash, *hash;
	uintptr_t load;
};

/* Most loaders put addresses of memory there, some leave those of the file. */
static const void *in_memory(const struct link_map *map, uintptr_t address)
{
	return (const void *)(address < map->l_addr ? address + map->l_addr : address);
}

static bool read_exports(struct exports *exports, const struct link_map *map)
{
	*exports = (struct exports){ .load = map->l_addr };
	for (const ElfW(Dyn) *dyn = map->l_ld; dyn && dyn->d_tag != DT_NULL; dyn++) {
		if (dyn->d_tag == DT_SYMTAB)
			exports->symbols = in_memory(map, dyn->d_un.d_ptr);
		else if (dyn->d_tag == DT_STRTAB)
			exports->names = in_memory(map, dyn->d_un.d_ptr);
		else if (dyn->d_tag == DT_GNU_HASH)
			exports->gnu_hash = in_memory(map, dyn->d_un.d_ptr);
		else if (dyn->d_tag == DT_HASH)
			exports->hash = in_memory(map, dyn->d_un.d_ptr);
	}
	return exports->symbols && exports->names && (exports->gnu_hash || exports->hash);
}

/* What runs must be what is there: no resolver. And not a place that the program has only for comparing pointers. */
static bool is_it(const struct exports *exports, uint32_t i, const char *name)
{
	const ElfW(Sym) *symbol = &exports->symbols[i];

	return symbol->st_shndx != SHN_UNDEF && symbol->st_value && ELF64_ST_TYPE(symbol->st_info) == STT_FUNC &&
	       !strcmp(exports->names + symbol->st_name, name);
}

static uint32_t find_by_gnu_hash(const struct exports *exports, const char *name)
{
	const uint32_t *head = exports->gnu_hash, nbuckets = head[0], first = head[1];
	const uint32_t *buckets = head + 4 + head[2] * (sizeof(ElfW(Addr)) / sizeof(*head)), *chains = buckets + nbuckets;
	uint32_t hash = 5381, i;

	for (const char *at = name; *at; at++)
		hash = hash * 33 + (unsigned char)*at;
	i = nbuckets ? buckets[hash % nbuckets] : 0;
	for (; i >= first && i && i < SYMBOLS_MAX; i++) {
		if ((chains[i - first] | 1) == (hash | 1) && is_it(exports, i, name))
			return i;
		if (chains[i - first] & 1)
			break;
	}
	return 0;
}

static uint32_t find_one_by_one(const struct exports *exports, const char *name)
{
	for (uint32_t i = 1; i < exports->hash[1] && i < SYMBOLS_MAX; i++)
		if (is_it(exports, i, name))
			return i;
	return 0;
}

static uintptr_t find(const struct exports *exports, const char *name)
{
	const uint32_t i = exports->gnu_hash ? find_by_gnu_hash(exports, name) : find_one_by_one(exports, name);

	return i ? exports->load + exports->symbols[i].st_value : 0;
}

static struct {
	uint64_t update;	/* that found them */
	uintptr_t at[FUNCTIONS];
} found;

/* The file that malloc() is of: what else is known of it. */
static void find_heap(const struct exports *exports, uintptr_t malloc_at)
{
	const struct module *module = find(exports, "gnu_get_libc_version") ? runtime_module(malloc_at) : NULL;

	func_heap = (struct func_heap){ .usable_size = find(exports, "malloc_usable_size") };
	if (module) {
		func_heap.gnu = module->start;
		func_heap.gnu_size = module->end - module->start;
	}
}

static void find_all(void)
{
	struct exports exports;

	memset(&found, 0, sizeof(found));
	found.update = func_all.update;
	func_heap = (struct func_heap){ 0 };
	for (const struct link_map *map = func_loader()->r_map; map; map = map->l_next) {
		if (!read_exports(&exports, map))
			continue;
		for (uint32_t i = 0; i < FUNCTIONS; i++) {
			if (found.at[i])
				continue;
			found.at[i] = find(&exports, functions[i].name);
			if (!i && found.at[i])
				find_heap(&exports, found.at[i]);
		}
	}
}

/* ---- Their probes ---- */

#define FROM(field) offsetof(struct probe_hit, field)

static const struct probe_copy kmalloc[] = {
	{ .from = FROM(ret_ip), .to = 8, .size = 8 },
	{ .from = FROM(arg[FUNC_MEMORY_PTR]), .to = 16, .size = 8 },
	{ .from = FROM(arg[FUNC_MEMORY_REQ]), .to = 24, .size = 8 },
	{ .from = FROM(arg[FUNC_MEMORY_ALLOC]), .to = 32, .size = 8 },
	{ .to = 40, .size = 8, .is_number = 1, .number = 0 },
	{ .to = 48, .size = 4, .is_number = 1, .number = UINT32_MAX },
};

static const struct probe_copy kfree[] = {
	{ .from = FROM(ret_ip), .to = 8, .size = 8 },
	{ .from = FROM(arg[FUNC_MEMORY_PTR]), .to = 16, .size = 8 },
};

void func_allocator_fill(struct func_probe *probe, uint32_t i, bool returns, uint32_t event)
{
	*probe = (struct func_probe){
		.serial = SERIAL + 2 * i + returns, .event = event, .flags = PROBE_QUICK | (returns ? PROBE_RETURNS : PROBE_RAW),
		.size = returns ? RECORD_KMALLOC : RECORD_KFREE,
		.ncopies = returns ? sizeof(kmalloc) / sizeof(kmalloc[0]) : sizeof(kfree) / sizeof(kfree[0]),
		.allocator = &functions[i],
	};
	memcpy(probe->copies, returns ? kmalloc : kfree, probe->ncopies * sizeof(probe->copies[0]));
}

/* Two names of one function are one. */
static bool is_known(uint32_t i)
{
	for (uint32_t n = 0; n < i; n++)
		if (found.at[n] == found.at[i])
			return true;
	return false;
}

void func_allocator_wants(const struct func_file *file, const struct func_selection *selection,
			  void (*want)(void *arg, uintptr_t at, uint32_t i, bool returns, uint32_t event), void *arg)
{
	if (found.update != func_all.update)
		find_all();
	for (uint32_t i = 0; i < FUNCTIONS; i++) {
		if (found.at[i] - file->start >= file->end - file->start || is_known(i))
			continue;
		if (functions[i].frees && selection->kfree)
			want(arg, found.at[i], i, false, selection->kfree);
		/* Also for nobody: what it calls in turn is a part of it. */
		if (functions[i].size)
			want(arg, found.at[i], i, true, selection->kmalloc);
	}
}

/* The events are among those that programs bring, from now on. */
static uint32_t adopt(uint32_t id)
{
	if (id < EVENT_ID_FIRST || id >= EVENT_ID_END)
		return 0;
	intern_adopt(runtime.registry, intern_slot(runtime.registry, REGISTRY_EVENT, id - EVENT_ID_FIRST));
	return id;
}

void func_allocator_select(struct func_selection *selection)
{
	if (LOAD(runtime.asleep))
		return;
	selection->kmalloc = adopt(selection->state->kmalloc);
	selection->kfree = adopt(selection->state->kfree);
}

#endif
