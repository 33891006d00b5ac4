/*
 * func/file: the ELF files that are loaded, with their plans. Whoever asks has the program to himself as far as the loader is
 * concerned: it is in the loader's hands, or stands still.
 */
#include <errno.h>
#include <link.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/crc32c.h"
#include "func/local.h"
#include "func/point.h"

#if defined(__x86_64__) && !defined(__ILP32__)

#define FILES_MAX 1024u

extern struct r_debug _r_debug __attribute__((weak));

/* The loader's own: a program that names it may have been given a copy, which nobody keeps up to date. */
const struct r_debug *func_loader(void)
{
	const struct link_map *first = &_r_debug ? _r_debug.r_map : NULL;

	for (const ElfW(Dyn) *dyn = first ? first->l_ld : NULL; dyn && dyn->d_tag != DT_NULL; dyn++)
		if (dyn->d_tag == DT_DEBUG && dyn->d_un.d_ptr)
			return (const struct r_debug *)dyn->d_un.d_ptr;
	return &_r_debug;
}

static struct func_file *files[FILES_MAX];
static uint32_t nfiles;

static bool is_inside(const struct plan *plan, uint32_t offset, uint64_t count, size_t each)
{
	return offset % 8 == 0 && offset >= sizeof(*plan) && offset <= plan->size && count * each <= plan->size - offset;
}

/* Tables within it, sums right. What is in them is looked at when it is used. */
static bool is_sound(const struct plan *plan)
{
	struct plan head = *plan;
	uint32_t crc = head.crc;

	head.crc = 0;
	return is_inside(plan, plan->sites, plan->nsites, sizeof(struct plan_site)) &&
	       is_inside(plan, plan->fixes, plan->nfixes, sizeof(struct plan_fix)) &&
	       is_inside(plan, plan->code, plan->code_size, 1) && is_inside(plan, plan->names, plan->names_size, 1) &&
	       is_inside(plan, plan->registers, plan->nsites, 1) &&
	       plan->names_size && !((const char *)plan)[plan->names + plan->names_size - 1] &&
	       crc32c(crc32c(0, &head, sizeof(head)), plan + 1, plan->size - sizeof(head)) == crc;
}

/* Behind the moved bytes, and the instruction that a point means is one of them. */
static bool has_steps(const struct plan *plan, const struct plan_site *site)
{
	const uint32_t used = (uint32_t)site->window + site->moved, room = plan->code_size - site->code - used;
	const uint8_t *steps = (const uint8_t *)plan + plan->code + site->code + used;
	const uint32_t n = room ? *steps++ : 0, before = site->flags & PLAN_SITE_POINT ? site->before : 0;
	uint32_t at = 0, moved = 0;
	bool met = false;

	if (!n || n > PLAN_WINDOW_MAX || n * sizeof(struct plan_step) > room - 1 || steps[0] || steps[1])
		return false;
	for (uint32_t i = 0; i < n; i++, steps += sizeof(struct plan_step)) {
		if (steps[0] >= site->window || steps[1] >= site->moved || (i && (steps[0] <= at || steps[1] < moved)))
			return false;
		at = steps[0];
		moved = steps[1];
		met |= at == before;
	}
	return met;
}

const struct plan_site *func_plan_site(const struct plan *plan, uint32_t i)
{
	const struct plan_site *site = (const struct plan_site *)(const void *)((const char *)plan + plan->sites) + i;
	const struct plan_fix *fixes = (const void *)((const char *)plan + plan->fixes);
	const uint64_t window = plan_site_window(site);

	if ((site->kind != PLAN_JUMP && site->kind != PLAN_TRAP) || !site->window ||
	    (site->kind == PLAN_JUMP && site->window < PLAN_JUMP_SIZE) || site->window > PLAN_WINDOW_MAX || site->moved > PLAN_MOVED_MAX ||
	    site->name >= plan->names_size || site->code > plan->code_size ||
	    (uint32_t)site->window + site->moved > plan->code_size - site->code || site->fixes > plan->nfixes ||
	    site->nfixes > plan->nfixes - site->fixes || window < plan->text_start || window >= plan->text_end ||
	    site->window > plan->text_end - window || !has_steps(plan, site))
		return NULL;
	for (uint32_t n = 0; n < site->nfixes; n++) {
		const struct plan_fix *fix = &fixes[site->fixes + n];

		if (fix->at + (fix->kind == PLAN_FIX_AT ? 8u : 4u) > site->moved)
			return NULL;
		/* A return address that no call pushed. */
		if (fix->kind == PLAN_FIX_AT && func_all.shadowed)
			return NULL;
	}
	return site;
}

const unsigned char *func_plan_code(const struct plan *plan, const struct plan_site *site)
{
	return (const unsigned char *)plan + plan->code + site->code;
}

uint32_t func_plan_registers(const struct plan *plan, uint32_t i)
{
	uint32_t n = ((const uint8_t *)plan + plan->registers)[i];

	return n <= PLAN_REGISTERS_MAX ? n : 0;
}

const char *func_plan_name(const struct plan *plan, const struct plan_site *site)
{
	return (const char *)plan + plan->names + site->name;
}

/* Of a file without a build-id: is it the code that was planned for? As it is before anything in it is patched. */
static bool is_same_text(const struct plan *plan, const struct module *module)
{
	const ElfW(Ehdr) *head = (const void *)module->start;
	const ElfW(Phdr) *phdr;
	uint32_t crc = 0;

	if (plan->build_id_len)
		return true;
	if (memcmp(head->e_ident, ELFMAG, SELFMAG) || head->e_phentsize != sizeof(*phdr))
		return false;
	phdr = (const void *)(module->start + head->e_phoff);
	for (uint32_t i = 0; i < head->e_phnum; i++)
		if (phdr[i].p_type == PT_LOAD && phdr[i].p_flags & PF_X)
			crc = crc32c(crc, (const void *)(module->load + phdr[i].p_vaddr), phdr[i].p_filesz);
	return crc == plan->text_crc;
}

/* One of the plans file; NULL: it is none, or of another file. */
static const struct plan *plan_at(uint64_t offset, const struct module *module)
{
	const struct plan *plan = runtime_plans_reach(offset, sizeof(*plan));
	if (!plan || offset % 8 || plan->size < sizeof(*plan) || plan->size % 8 || !runtime_plans_reach(offset, plan->size))
		return NULL;
	plan = runtime_plans_reach(offset, plan->size);
	if (plan->build_id_len != module->build_id_len || plan->build_id_len > sizeof(plan->build_id) ||
	    memcmp(plan->build_id, module->build_id, plan->build_id_len))
		return NULL;
	return plan;
}

/*
 * One of those that `all` has the places of, by the file's slot. A file may be known by several paths, and the tool may have come
 * by another one: the same build-id is the same file.
 */
static const struct plan *plan_in(const uint64_t *all, uint64_t slot, const struct module *module, uint64_t *at)
{
	const struct plan *plan = NULL;

	/* Partner: the planner files the plan, then its place. */
	*at = LOAD_ACQUIRE(all[slot]);
	if (*at)
		return *at > PLAN_NONE ? plan_at(*at, module) : NULL;
	for (uint32_t i = 0; module->build_id_len && !plan && i < REGISTRY_ELFS; i++) {
		*at = LOAD_ACQUIRE(all[i]);
		plan = *at > PLAN_NONE ? plan_at(*at, module) : NULL;
	}
	if (!plan)
		*at = 0;
	return plan;
}

/* The plan of an ELF file of the registry, NULL: none (yet). */
static const struct plan *plan_of(uint64_t base, const struct module *module, uint64_t *at, bool *waiting)
{
	const struct plans_head *head = runtime_plans_reach(0, sizeof(*head));
	uint64_t slot = ((base - SYMBOL_SPACE_BASE) >> SYMBOL_SPACE_SHIFT) - 1;
	const struct plan *plan;

	if (!head || slot >= REGISTRY_ELFS)
		return NULL;
	plan = plan_in(head->plan, slot, module, at);
	*waiting |= !*at;
	return plan;
}

/* The newest of its points. */
static void look_for_extra(struct func_file *file, uint64_t base, const struct module *module)
{
	const struct plans_head *head = runtime_plans_reach(0, sizeof(*head));
	uint64_t slot = ((base - SYMBOL_SPACE_BASE) >> SYMBOL_SPACE_SHIFT) - 1, offset;
	const struct plan *extra = head && slot < REGISTRY_ELFS ? plan_in(head->extra, slot, module, &offset) : NULL;

	if (!extra || offset == file->extra_offset || !is_sound(extra))
		return;
	file->extra = extra;
	file->extra_offset = offset;
}

static void put_name(struct func_file *file, const struct module *module)
{
	char path[4096];
	const char *name = module->name, *slash;
	ssize_t n;

	if (!*name) {
		n = readlink("/proc/self/exe", path, sizeof(path) - 1);
		path[n > 0 ? n : 0] = '\0';
		name = path;
	}
	slash = strrchr(name, '/');
	name = slash ? slash + 1 : name;
	memcpy(file->name, name, strnlen(name, sizeof(file->name) - 1));
}

static struct func_file *file_make(const struct module *module, const void *key, const struct plan *plan, uint64_t offset,
				   uint64_t base)
{
	const size_t size = sizeof(struct func_file) + plan->nsites * sizeof(uint32_t);
	struct func_file *file;

	if (nfiles == FILES_MAX || !is_sound(plan) || !is_same_text(plan, module))
		return NULL;
	file = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (file == MAP_FAILED)
		return NULL;
	*file = (struct func_file){
		.start = module->start, .end = module->end, .load = module->load, .delta = base - module->load, .key = key,
		.plan = plan, .offset = offset, .numbers = (uint32_t *)(file + 1), .sound = true,
	};
	put_name(file, module);
	files[nfiles++] = file;
	return file;
}

/* One that was loaded here before counts again, with its code. */
static struct func_file *file_find(const struct module *module, const struct plan *plan)
{
	for (uint32_t i = 0; i < nfiles; i++)
		if (files[i]->load == module->load && files[i]->plan == plan)
			return files[i];
	return NULL;
}

static void look_at(const struct link_map *map, bool *waiting)
{
	const struct module *module = runtime_module((uintptr_t)map->l_ld);
	struct module loading;
	const struct plan *plan;
	struct func_file *file;
	uint64_t base, offset;

	if (!module && runtime_module_loading(&loading, map))
		module = &loading;
	base = module ? runtime_module_address(module, module->load) : 0;
	if (base < SYMBOL_SPACE_BASE)
		return;
	plan = plan_of(base, module, &offset, waiting);
	if (!plan)
		return;
	if (plan->flags & PLAN_OWN_UNWINDER)
		func_no_returns();
	file = file_find(module, plan);
	if (!file)
		file = file_make(module, map, plan, offset, base);
	if (file) {
		look_for_extra(file, base, module);
		/* New here, or it was gone for a while. */
		if (file->seen + 1 != func_all.update) {
			file->fresh = true;
			func_semaphores_forget(file);
		}
		file->seen = func_all.update;
	}
}

int func_files_look(struct func_file ***all, uint32_t *n)
{
	bool waiting = false;

	if (!func_loader())
		return -ENOTSUP;
	func_all.update++;
	for (const struct link_map *map = func_loader()->r_map; map; map = map->l_next)
		look_at(map, &waiting);
	*all = files;
	*n = nfiles;
	return waiting ? 1 : 0;
}

#endif
