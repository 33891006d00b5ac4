/*
 * runtime/module: see module.h.
 *
 * Places are claimed with a compare-and-swap and never given back: who finds none describes the file for itself, each time.
 */
#include "runtime/module.h"

#include <elf.h>
#include <errno.h>
#include <link.h>
#include <string.h>
#include <sys/auxv.h>

#include "runtime/local.h"
#include "runtime/runtime.h"
#include "runtime/unwind.h"

#define MODULES 2048u	/* a power of two */
#define PROBES 16u
#define NT_GO_BUILD_ID 4u

enum { MODULE_FREE, MODULE_CLAIMED, MODULE_READY };

static struct module modules[MODULES];

/* Taken where nobody can be asked: by address. Several, so that those in use are whole while another is made. */
#define LEARNT 256u
#define LEARNT_TABLES 4u
struct learnt {
	uint32_t n;
	struct module all[LEARNT];
};
static struct learnt learnt[LEARNT_TABLES];
static uint32_t learnt_now;	/* how often; 0: never. Which, modulo the tables */

/* As glibc fills it in; more room than any CPU's needs. */
struct found {
	unsigned long long flags;
	void *start, *end;
	struct link_map *map;
	void *frames;
	unsigned long long rest[12];
};
extern int find_object(void *address, struct found *found) __asm__("_dl_find_object") __attribute__((weak));

static void take_notes(struct module *module, const ElfW(Phdr) *phdr)
{
	const unsigned char *at = (const unsigned char *)(module->load + phdr->p_vaddr);
	const unsigned char *end = at + phdr->p_memsz;

	while (end - at >= (ptrdiff_t)sizeof(ElfW(Nhdr))) {
		const ElfW(Nhdr) *note = (const void *)at;
		const unsigned char *name = at + sizeof(*note);
		const unsigned char *desc = name + ((note->n_namesz + 3) & ~3u);

		if (note->n_namesz > 64 || note->n_descsz > (size_t)(end - at))
			return;
		if (note->n_type == NT_GNU_BUILD_ID && note->n_namesz == 4 && note->n_descsz >= 4 && !module->build_id &&
		    !memcmp(name, "GNU", 4)) {
			module->build_id = desc;
			module->build_id_len = note->n_descsz <= 64 ? note->n_descsz : 64;
			memcpy(&module->build_id_first, desc, 4);
		}
		module->go |= note->n_type == NT_GO_BUILD_ID && note->n_namesz == 4 && !memcmp(name, "Go\0", 4);
		at = desc + ((note->n_descsz + 3) & ~3u);
	}
}

/* What the program headers tell. */
static void describe(struct module *module, const ElfW(Phdr) *phdr, uint32_t n)
{
	uintptr_t frames = (uintptr_t)module->frames;

	for (uint32_t i = 0; i < n; i++) {
		if (phdr[i].p_type == PT_GNU_EH_FRAME && !frames)
			frames = module->load + phdr[i].p_vaddr;
		if (phdr[i].p_type == PT_NOTE)
			take_notes(module, &phdr[i]);
	}
	module->frames = (const unsigned char *)frames;
	for (uint32_t i = 0; i < n; i++) {
		uintptr_t start = module->load + phdr[i].p_vaddr;

		if (phdr[i].p_type == PT_LOAD && frames >= start && frames - start < phdr[i].p_memsz) {
			module->frames_start = start;
			module->frames_end = start + phdr[i].p_memsz;
		}
	}
	if (!module->frames_end)
		module->frames = NULL;
}

/* The ELF header is the first thing of its memory, or else nothing is told. */
static void describe_mapped(struct module *module)
{
	const ElfW(Ehdr) *head = (const void *)module->start;

	if (module->end - module->start < sizeof(*head) || memcmp(head->e_ident, ELFMAG, SELFMAG) ||
	    head->e_phentsize != sizeof(ElfW(Phdr)) || head->e_phoff % sizeof(void *) ||
	    head->e_phoff > module->end - module->start ||
	    head->e_phnum * sizeof(ElfW(Phdr)) > module->end - module->start - head->e_phoff) {
		module->frames = NULL;
		return;
	}
	describe(module, (const void *)(module->start + head->e_phoff), head->e_phnum);
}

static bool is_program(const struct module *module)
{
	uintptr_t entry = (uintptr_t)getauxval(AT_ENTRY);

	return entry >= module->start && entry < module->end;
}

/* The loader may know less of it than the kernel has told: if there is no loader, its code alone. */
static void describe_program(struct module *module)
{
	const ElfW(Phdr) *phdr = (const void *)(uintptr_t)getauxval(AT_PHDR);
	uint32_t n = (uint32_t)getauxval(AT_PHNUM);

	for (uint32_t i = 0; phdr && i < n; i++) {
		uintptr_t start = module->load + phdr[i].p_vaddr;

		if (phdr[i].p_type != PT_LOAD)
			continue;
		if (start < module->start)
			module->start = start;
		if (start + phdr[i].p_memsz > module->end)
			module->end = start + phdr[i].p_memsz;
	}
	if (phdr)
		describe(module, phdr, n);
	else
		module->frames = NULL;
}

static bool is_same(const struct module *module, const struct found *found)
{
	uint32_t first;

	if (module->key != found->map || (uintptr_t)found->start < module->start ||
	    (uintptr_t)found->end > module->end || (module->frames && found->frames && module->frames != found->frames))
		return false;
	if (!module->build_id)
		return true;
	memcpy(&first, module->build_id, sizeof(first));
	return first == module->build_id_first;
}

static void make(struct module *module, const struct found *found)
{
	module->start = (uintptr_t)found->start;
	module->end = (uintptr_t)found->end;
	module->load = found->map->l_addr;
	module->key = found->map;
	module->name = found->map->l_name;
	module->frames = found->frames;
	if (is_program(module))
		describe_program(module);
	else
		describe_mapped(module);
}

static const struct module *remember(const struct found *found)
{
	uint32_t hash = (uint32_t)((uintptr_t)found->map >> 4) * 2654435761u >> 16;

	for (uint32_t i = 0; i < PROBES; i++) {
		uint32_t at = (hash + i) % MODULES, idle = MODULE_FREE, state;
		struct module *module = &modules[at];

		/* Partner: the store below. */
		state = LOAD_ACQUIRE(module->state);
		if (state == MODULE_READY && is_same(module, found))
			return module;
		if (state != MODULE_FREE || !__atomic_compare_exchange_n(&module->state, &idle, MODULE_CLAIMED, false,
									 __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
			continue;
		module->number = at + 1;
		make(module, found);
		STORE_RELEASE(module->state, MODULE_READY);
		return module;
	}
	return NULL;
}

static const struct module *look_up(uintptr_t address)
{
	uint32_t now = LOAD_ACQUIRE(learnt_now);
	const struct learnt *table = &learnt[now % LEARNT_TABLES];
	uint32_t low = 0, high;

	if (!now)
		return NULL;
	high = LOAD(table->n);
	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (table->all[middle].end <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low < table->n && address >= table->all[low].start ? &table->all[low] : NULL;
}

const struct module *runtime_module(uintptr_t address)
{
	struct found found;

	if (!find_object)
		return look_up(address);
	if (find_object((void *)address, &found) || !found.map)
		return look_up(address);
	return remember(&found);
}

uint64_t runtime_module_address(const struct module *module, uintptr_t address)
{
	uint64_t base;

	if (!module)
		return address;
	base = LOAD(module->base);
	if (!base) {
		base = runtime_elf_intern(module->name, module->build_id, module->build_id_len);
		/* Whoever else does that finds the same. */
		if (base)
			STORE(((struct module *)(uintptr_t)module)->base, base);
	}
	return base > MODULE_NOWHERE ? base + (address - module->load) : address;
}

static bool is_at(const struct module *module, uint64_t base)
{
	return LOAD(module->base) == base && runtime_module(module->start) == module;
}

uintptr_t runtime_module_place(uint64_t symbol)
{
	const uint64_t base = symbol & ~((1ull << SYMBOL_SPACE_SHIFT) - 1);
	const uint32_t now = LOAD_ACQUIRE(learnt_now);
	const struct learnt *table = &learnt[now % LEARNT_TABLES];
	static uint32_t last;

	/* Mostly it is the one that was asked for before. */
	for (uint32_t i = 0, first = LOAD(last); i < MODULES; i++) {
		const struct module *module = &modules[(first + i) % MODULES];

		if (LOAD_ACQUIRE(module->state) != MODULE_READY || !is_at(module, base))
			continue;
		STORE(last, (first + i) % MODULES);
		return module->load + (uintptr_t)(symbol - base);
	}
	for (uint32_t i = 0; now && i < LOAD(table->n); i++)
		if (is_at(&table->all[i], base))
			return table->all[i].load + (uintptr_t)(symbol - base);
	return 0;
}

/* ---- What the loader is about to tell ---- */

bool runtime_module_loading(struct module *module, const struct link_map *map)
{
	const ElfW(Ehdr) *head = (const void *)(uintptr_t)map->l_addr;
	const ElfW(Phdr) *phdr;

	if (!map->l_addr || map->l_addr % 4096 || !runtime_is_mapped(map->l_addr, map->l_addr + sizeof(*head)) ||
	    memcmp(head->e_ident, ELFMAG, SELFMAG) || head->e_phentsize != sizeof(*phdr) || head->e_phoff != sizeof(*head) ||
	    head->e_phnum * sizeof(*phdr) > 4096 - sizeof(*head))
		return false;
	phdr = (const void *)(head + 1);
	*module = (struct module){ .start = map->l_addr, .load = map->l_addr, .key = map, .name = map->l_name };
	for (uint32_t i = 0; i < head->e_phnum; i++)
		if (phdr[i].p_type == PT_LOAD && map->l_addr + phdr[i].p_vaddr + phdr[i].p_memsz > module->end)
			module->end = map->l_addr + phdr[i].p_vaddr + phdr[i].p_memsz;
	describe(module, phdr, head->e_phnum);
	return true;
}

/* ---- Where nobody can be asked ---- */

static int learn_one(struct dl_phdr_info *info, size_t size, void *arg)
{
	struct learnt *table = arg;
	struct module *module = &table->all[table->n];

	(void)size;
	if (table->n == LEARNT)
		return 1;
	memset(module, 0, sizeof(*module));
	module->load = info->dlpi_addr;
	module->name = info->dlpi_name ? info->dlpi_name : "";
	module->start = UINTPTR_MAX;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		uintptr_t start = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr;

		if (info->dlpi_phdr[i].p_type != PT_LOAD)
			continue;
		if (start < module->start)
			module->start = start;
		if (start + info->dlpi_phdr[i].p_memsz > module->end)
			module->end = start + info->dlpi_phdr[i].p_memsz;
	}
	if (module->start >= module->end)
		return 0;
	describe(module, info->dlpi_phdr, info->dlpi_phnum);
	/* Another file in its place has another number, mostly. */
	module->number = MODULES + ((uint32_t)(module->load >> 12) ^ module->build_id_first) % 1024;
	table->n++;
	return 0;
}

static void sort(struct learnt *table)
{
	for (uint32_t i = 1; i < table->n; i++) {
		struct module one = table->all[i];
		uint32_t at = i;

		for (; at && table->all[at - 1].start > one.start; at--)
			table->all[at] = table->all[at - 1];
		table->all[at] = one;
	}
}

static int place_one(struct dl_phdr_info *info, size_t size, void *arg)
{
	(void)size;
	(void)arg;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		uintptr_t start = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr;

		if (info->dlpi_phdr[i].p_type == PT_LOAD && info->dlpi_phdr[i].p_flags & PF_X) {
			runtime_module_address(runtime_module(start), start);
			break;
		}
	}
	return 0;
}

void runtime_modules_learn(bool places)
{
	static uint32_t busy;
	uint32_t next = LOAD(learnt_now) + 1;
	struct learnt *table = &learnt[next % LEARNT_TABLES];

	if (!find_object && !__atomic_exchange_n(&busy, 1, __ATOMIC_ACQUIRE)) {
		STORE(table->n, 0);
		dl_iterate_phdr(learn_one, table);
		sort(table);
		/* Partner: look_up(). */
		STORE_RELEASE(learnt_now, next);
		STORE_RELEASE(busy, 0);
	}
	if (places)
		dl_iterate_phdr(place_one, NULL);
}
