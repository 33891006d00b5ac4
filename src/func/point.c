/*
 * func/point: which instructions of a file the state's probes are at: see point.h. While code is changed, in ordinary code.
 */
#include <link.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "func/point.h"

#if defined(__x86_64__) && !defined(__ILP32__)

#define BUCKETS (2 * FUNC_POINTS_MAX)
#define ARENA ((size_t)1 << 20)
#define SEMAPHORES_MAX 1024u

static struct func_probe *probes;	/* FUNC_PROBES_MAX of them */
static uint32_t nprobes;
static uint32_t npoints = 1;		/* the first is none */
static uint32_t *buckets;		/* of points, by address */
static unsigned char *arena;
static size_t arena_left;

void *func_map(size_t size)
{
	void *at = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	return at == MAP_FAILED ? NULL : at;
}

/* Room for all that may ever be is a lot where memory is limited. */
void *func_map_table(size_t size)
{
	return runtime_affordable(RLIMIT_AS, size) && runtime_affordable(RLIMIT_DATA, size) ? func_map(size) : NULL;
}

bool func_points_init(void)
{
	const size_t size = FUNC_PROBES_MAX * sizeof(*probes) + FUNC_POINTS_MAX * sizeof(*func_points) + BUCKETS * sizeof(*buckets);
	unsigned char *all;

	if (func_points)
		return true;
	all = func_map_table(size);
	if (!all)
		return false;
	probes = (struct func_probe *)(void *)all;
	buckets = (uint32_t *)(void *)(all + FUNC_PROBES_MAX * sizeof(*probes));
	func_points = (struct func_point *)(void *)(buckets + BUCKETS);
	return true;
}

static void *take(size_t size)
{
	void *at;

	size = (size + 7) & ~(size_t)7;
	if (size > arena_left) {
		arena = size <= ARENA ? func_map(ARENA) : NULL;
		arena_left = arena ? ARENA : 0;
		if (!arena)
			return NULL;
	}
	at = arena;
	arena += size;
	arena_left -= size;
	return at;
}

/* ---- Probes ---- */

static const struct state_probe *table(const struct state_head *state, uint32_t *n)
{
	*n = state->nprobes;
	return (const void *)((const char *)state + state->probes);
}

static const void *code_at(const struct state_head *state, uint32_t offset, size_t size)
{
	if (!offset || offset > state->code_size || size > state->code_size - offset)
		return NULL;
	return (const char *)state + state->code + offset;
}

static const char *text_at(const struct state_head *state, uint32_t offset)
{
	const char *text = code_at(state, offset, 1);

	return text && memchr(text, '\0', state->code_size - offset) ? text : NULL;
}

static struct probe_count *counts_at(const struct state_head *state, uint64_t offset)
{
	const uint64_t size = (uint64_t)(runtime.ncpu + 1) * sizeof(struct probe_count);
	struct hist_tables tables = runtime_tables_reach((uint64_t)state->tables * 4096);

	if (!offset || offset % 64 || offset < TABLES_DATA_OFFSET || offset > tables.size || size > tables.size - offset)
		return NULL;
	return (struct probe_count *)(void *)(tables.base + offset);
}

static bool copies_ok(const struct func_probe *probe)
{
	for (uint32_t i = 0; i < probe->ncopies; i++) {
		const struct probe_copy *one = &probe->copies[i];

		if ((one->size != 1 && one->size != 2 && one->size != 4 && one->size != 8) || one->to < sizeof(struct record_head) ||
		    one->to + one->size > probe->size || (!one->is_number && one->from + one->size > sizeof(struct probe_hit)))
			return false;
	}
	return probe->size % 4 == 0 && probe->size >= sizeof(struct record_head) && probe->size <= (2 + 2 * FUNC_COPIES_MAX) * 8;
}

/* What the hot path needs of it, if that is little enough. */
static void take_copies(struct func_probe *probe, const struct state_head *state, const struct state_probe *from)
{
	const void *copies = from->nquick <= FUNC_COPIES_MAX ? code_at(state, from->quick, from->nquick * sizeof(probe->copies[0])) : NULL;

	probe->flags &= ~(uint32_t)PROBE_QUICK;
	if (!(from->flags & PROBE_QUICK) || !copies)
		return;
	probe->ncopies = from->nquick;
	probe->size = from->size;
	memcpy(probe->copies, copies, from->nquick * sizeof(probe->copies[0]));
	if (copies_ok(probe))
		probe->flags |= PROBE_QUICK;
}

static const struct func_probe *find_probe(const struct state_head *state, uint32_t index)
{
	uint32_t n;
	const struct state_probe *from = table(state, &n) + index;
	struct func_probe *probe;

	if (from->event < EVENT_ID_FIRST || from->event >= EVENT_ID_END)
		return NULL;
	for (uint32_t i = nprobes; i-- > 0;) {
		if (probes[i].serial != from->serial)
			continue;
		STORE(probes[i].index, index);
		return &probes[i];
	}
	if (nprobes == FUNC_PROBES_MAX)
		return NULL;
	probe = &probes[nprobes++];
	*probe = (struct func_probe){
		.serial = from->serial, .event = from->event, .flags = from->flags, .index = index,
		.counts = counts_at(state, from->counts),
	};
	take_copies(probe, state, from);
	return probe;
}

/* One of the runtime's own. */
static const struct func_probe *find_own(uint32_t i, bool returns, uint32_t event)
{
	struct func_probe probe;

	func_allocator_fill(&probe, i, returns, event);
	for (uint32_t n = 0; n < nprobes; n++)
		if (probes[n].serial == probe.serial && probes[n].event == event)
			return &probes[n];
	if (nprobes == FUNC_PROBES_MAX)
		return NULL;
	probes[nprobes] = probe;
	return &probes[nprobes++];
}

/* ---- Where they are ---- */

static bool is_wanted(const struct state_probe *probe)
{
	return probe->flags & PROBE_WANTED && !LOAD(runtime.asleep);
}

bool func_points_any(const struct func_selection *selection)
{
	const struct state_probe *probe;
	uint32_t n = 0;

	if (!selection->state || !selection->state->nprobes)
		return false;
	probe = table(selection->state, &n);
	for (uint32_t i = 0; i < n; i++)
		if (is_wanted(&probe[i]))
			return true;
	return false;
}

/* The path of a file, by the loader; the program's own has none there. */
static const char *path_of(const struct func_file *file)
{
	const struct link_map *loaded = file->key;

	return loaded->l_name && *loaded->l_name ? loaded->l_name : "/proc/self/exe";
}

struct looking {
	const struct func_file *file;
	const struct func_selection *selection;
	const char *path;	/* the last one that was compared */
	bool same;
	bool known;		/* dev and ino of the file */
	dev_t dev;
	ino_t ino;
};

/* By what it is, not by what it is called: links lead to one file by many paths. */
static bool is_at(struct looking *looking, const char *path)
{
	struct stat st;

	if (looking->path && !strcmp(looking->path, path))
		return looking->same;
	if (!looking->known && !stat(path_of(looking->file), &st)) {
		looking->dev = st.st_dev;
		looking->ino = st.st_ino;
		looking->known = true;
	}
	looking->path = path;
	looking->same = looking->known && !stat(path, &st) && st.st_dev == looking->dev && st.st_ino == looking->ino;
	return looking->same;
}

static bool is_of_file(struct looking *looking, const struct state_probe *probe)
{
	const char *file = probe->file ? text_at(looking->selection->state, probe->file) : NULL;

	if (!probe->file)
		return true;
	if (!file)
		return false;
	return *file == '/' ? is_at(looking, file) : !strcmp(file, looking->file->name);
}

/* An offset in the file, of something that is loaded with the rights `flags`; 0: there is nothing. */
static uintptr_t address_of(const struct func_file *file, uint64_t offset, uint32_t flags)
{
	const ElfW(Ehdr) *head = (const void *)file->start;
	const ElfW(Phdr) *phdr;

	if (memcmp(head->e_ident, ELFMAG, SELFMAG) || head->e_phentsize != sizeof(*phdr))
		return 0;
	phdr = (const void *)(file->start + head->e_phoff);
	for (uint32_t i = 0; i < head->e_phnum; i++)
		if (phdr[i].p_type == PT_LOAD && (phdr[i].p_flags & flags) == flags && offset >= phdr[i].p_offset &&
		    offset - phdr[i].p_offset < phdr[i].p_filesz)
			return file->load + phdr[i].p_vaddr + (offset - phdr[i].p_offset);
	return 0;
}

/* ---- Semaphores: numbers of the program's that count who listens, so that it prepares nothing for nobody ---- */

static struct semaphore {
	uintptr_t at;
	const struct func_file *file;
	uint64_t update;	/* that wanted it last */
} semaphores[SEMAPHORES_MAX];
static uint32_t nsemaphores;

static void raise(const struct func_file *file, uintptr_t at)
{
	for (uint32_t i = 0; i < nsemaphores; i++)
		if (semaphores[i].at == at && semaphores[i].file == file) {
			semaphores[i].update = func_all.update;
			return;
		}
	if (!at || nsemaphores == SEMAPHORES_MAX)
		return;
	semaphores[nsemaphores++] = (struct semaphore){ at, file, func_all.update };
	__atomic_fetch_add((uint16_t *)at, 1, __ATOMIC_RELAXED);
}

void func_semaphores_lower(const struct func_file *file)
{
	for (uint32_t i = nsemaphores; i-- > 0;) {
		if (semaphores[i].file != file || semaphores[i].update == func_all.update)
			continue;
		__atomic_fetch_sub((uint16_t *)semaphores[i].at, 1, __ATOMIC_RELAXED);
		semaphores[i] = semaphores[--nsemaphores];
	}
}

void func_semaphores_forget(const struct func_file *file)
{
	for (uint32_t i = nsemaphores; i-- > 0;)
		if (semaphores[i].file == file)
			semaphores[i] = semaphores[--nsemaphores];
}

/* ---- Wants ---- */

static bool add(struct func_wants *wants, uintptr_t at, const struct func_probe *probe)
{
	if (wants->n == wants->room || !probe)
		return false;
	wants->all[wants->n++] = (struct func_want){ .at = at, .probe = probe };
	return true;
}

static bool is_before(const struct func_want *a, const struct func_want *b)
{
	if (a->at != b->at || !a->probe || !b->probe)
		return a->at != b->at ? a->at < b->at : a->probe && !b->probe;
	return a->probe->serial < b->probe->serial;
}

/* By hand: libc's takes memory, and the thread may have been borrowed in the middle of that. */
void func_wants_sort(struct func_wants *wants)
{
	for (uint32_t gap = wants->n / 2; gap; gap /= 2)
		for (uint32_t i = gap; i < wants->n; i++) {
			struct func_want one = wants->all[i];
			uint32_t at = i;

			for (; at >= gap && is_before(&one, &wants->all[at - gap]); at -= gap)
				wants->all[at] = wants->all[at - gap];
			wants->all[at] = one;
		}
}

/* Functions of that name: a file may have several. */
static void add_named(struct func_wants *wants, const struct func_file *file, const char *name, uint64_t offset,
		      const struct func_probe *probe)
{
	for (uint32_t i = 0; i < file->plan->nsites; i++) {
		const struct plan_site *site = func_plan_site(file->plan, i);

		if (site && !(site->flags & PLAN_SITE_HIDDEN) && !strcmp(func_plan_name(file->plan, site), name))
			add(wants, file->load + site->address + offset, probe);
	}
}

static void add_own(void *wants, uintptr_t at, uint32_t i, bool returns, uint32_t event)
{
	add(wants, at, find_own(i, returns, event));
}

/*
 * Calls that make a process come to us whenever anything of ours runs in the program's code, so that a child that has its parent's
 * memory, and its thread-local memory, writes nothing in its parent's name: those that libc makes by itself, for system(3), and vfork
 * where we came behind libc.
 */
static bool is_call(const struct plan_site *site, const struct func_selection *selection)
{
	return site && site->flags & PLAN_SITE_SYSCALL && site->kind == PLAN_JUMP && sys_thunk &&
	       (selection->calls || site->flags & PLAN_SITE_CHILD);
}

static void add_calls(struct func_wants *wants, const struct func_file *file, const struct func_selection *selection)
{
	for (uint32_t i = 0; i < file->plan->nsites && wants->n < wants->room; i++) {
		const struct plan_site *site = func_plan_site(file->plan, i);

		if (is_call(site, selection))
			wants->all[wants->n++] = (struct func_want){ .at = file->load + site->address };
	}
}

static uint32_t count_calls(const struct func_file *file, const struct func_selection *selection)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < file->plan->nsites; i++)
		n += is_call(func_plan_site(file->plan, i), selection);
	return n;
}

bool func_points_of(struct func_wants *wants, const struct func_file *file, const struct func_selection *selection)
{
	struct looking looking = { .file = file, .selection = selection };
	const struct state_head *state = selection->state;
	const struct state_probe *probe;
	uint32_t n;

	*wants = (struct func_wants){ 0 };
	if (!state || !func_selection_any(selection) || !func_points_init())
		return false;
	probe = table(state, &n);
	wants->room = 2 * n + 64 + count_calls(file, selection);
	wants->all = func_map(wants->room * sizeof(*wants->all));
	if (!wants->all)
		return false;
	for (uint32_t i = 0; i < n; i++) {
		const char *symbol = probe[i].symbol ? text_at(state, probe[i].symbol) : NULL;
		uintptr_t at;

		if (!is_wanted(&probe[i]) || (probe[i].symbol && !symbol) || !is_of_file(&looking, &probe[i]))
			continue;
		if (symbol) {
			add_named(wants, file, symbol, probe[i].offset, find_probe(state, i));
			continue;
		}
		at = probe[i].file ? address_of(file, probe[i].offset, PF_X) : 0;
		if (at && add(wants, at, find_probe(state, i)) && probe[i].semaphore)
			raise(file, address_of(file, probe[i].semaphore, PF_W));
	}
	if (selection->kmalloc || selection->kfree)
		func_allocator_wants(file, selection, add_own, wants);
	add_calls(wants, file, selection);
	func_wants_sort(wants);
	return wants->n;
}

void func_points_done(struct func_wants *wants)
{
	if (wants->all)
		munmap(wants->all, wants->room * sizeof(*wants->all));
	*wants = (struct func_wants){ 0 };
}

/* ---- Points ---- */

static bool is_same(const struct func_list *list, const struct func_want *wants, uint32_t n, bool returns)
{
	uint32_t at = 0;

	for (uint32_t i = 0; i < n; i++) {
		if (!(wants[i].probe->flags & PROBE_RETURNS) == returns)
			continue;
		if (at == list->n || list->probe[at++] != wants[i].probe)
			return false;
	}
	return at == list->n;
}

const struct func_list *func_list_make(const struct func_list *old, const struct func_want *wants, uint32_t n, bool returns)
{
	struct func_list *list;

	if (old && is_same(old, wants, n, returns))
		return old;
	list = take(sizeof(*list) + n * sizeof(list->probe[0]));
	if (!list)
		return NULL;
	list->n = 0;
	list->memory = false;
	for (uint32_t i = 0; i < n; i++) {
		if (!(wants[i].probe->flags & PROBE_RETURNS) == returns)
			continue;
		list->probe[list->n++] = wants[i].probe;
		list->memory |= wants[i].probe->allocator != NULL;
	}
	return list;
}

static uint32_t number_at(uintptr_t at)
{
	uint32_t hash = (uint32_t)((at * 0x9e3779b97f4a7c15ull) >> 40);

	for (uint32_t i = 0;; i++) {
		uint32_t *bucket = &buckets[(hash + i) % BUCKETS];

		if (!*bucket) {
			if (npoints == FUNC_POINTS_MAX)
				return 0;
			*bucket = npoints++;
			func_points[*bucket].at = at;
		}
		if (func_points[*bucket].at == at)
			return *bucket;
	}
}

uint32_t func_point_make(const struct func_file *file, const struct func_want *wants, uint32_t n)
{
	uint32_t number = number_at(wants[0].at);
	struct func_point *point = &func_points[number];
	const struct func_list *list;

	if (!number)
		return 0;
	list = func_list_make(point->list, wants, n, false);
	if (!list)
		return 0;
	point->ip = point->at + file->delta;
	/* Partner: func_hit(). */
	STORE_RELEASE(point->list, list);
	return list->n ? number : 0;
}

#endif
