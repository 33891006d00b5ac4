/*
 * func/update: code made what the state asks for: sites patched, and undone.
 *
 * Only where no thread can be running it: before the program has begun, in files that the loader has just brought, or while all
 * other threads stand still and it is known where. So no thread ever meets half a jump, and none needs a signal for it, which it
 * might have blocked or which would end a system call early. See doc/design/functions.md.
 */
#include <errno.h>
#include <link.h>
#include <linux/membarrier.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "func/point.h"
#include "runtime/unwind.h"

#if defined(__x86_64__) && !defined(__ILP32__)

#define PAGE ((uintptr_t)4096)
#define RUN_MAX ((uintptr_t)64 << 10)	/* bytes of text that are made writable at once */
#define FRAMES_MAX 256

struct change {
	uintptr_t at;
	uint32_t window;	/* bytes that no thread may be in the middle of; 0: any may */
	uint32_t number;
	uint32_t flags;		/* of the site, when it is done */
	uint32_t len;
	bool undo;
	bool optional;		/* not worth waiting for a thread that stands there */
	unsigned char bytes[PLAN_JUMP_SIZE];
	unsigned char was[PLAN_JUMP_SIZE];	/* in the file */
};

struct changes {
	struct change *all;
	size_t n, room;
};

static void *scratch(size_t size)
{
	void *at = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	return at == MAP_FAILED ? NULL : at;
}

/* ---- What is to be changed ---- */

static bool is_wanted(const struct func_selection *selection, const struct plan_site *site, const struct func_wanted *wanted)
{
	if (wanted->function || wanted->graph || wanted->acts || wanted->profile || wanted->deep)
		return true;
	if (site->flags & PLAN_SITE_UNWINDS && (selection->graphs || selection->profile || selection->kmalloc || selection->kfree))
		return true;
	return site->flags & PLAN_SITE_LOADS && func_selection_any(selection);
}

/* The bytes that lead to its code; how many, 0: it cannot be reached. */
static uint32_t patch_of(const struct func_file *file, const struct plan_site *plan, uint32_t number, bool graph,
			 unsigned char bytes[PLAN_JUMP_SIZE])
{
	const struct func_window *window = func_window_of(number);

	if (plan->kind == PLAN_JUMP && !(window && window->trap))
		return func_site_jump(file, plan, number, graph, bytes) ? PLAN_JUMP_SIZE : 0;
	bytes[0] = 0xcc;
	return 1;
}

static bool look_up(const struct func_selection *selection, const struct func_file *file, const struct plan_site *site,
		    struct func_wanted *wanted)
{
	*wanted = (struct func_wanted){ 0 };
	if (!selection->state || (site->kind == PLAN_TRAP && !file->traps))
		return false;
	if (!(site->flags & PLAN_SITE_HIDDEN))
		func_select(selection, func_plan_name(file->plan, site), file->name, wanted);
	return is_wanted(selection, site, wanted);
}

/* A file that is being looked at. */
struct looking {
	struct func_file *file;
	const struct func_selection *selection;
	struct func_layout layout;
	uint32_t *indexes;	/* of the plan's sites that are wanted, or needed for points */
	uint32_t n;
};

/* All that are, and of those the ones that have no code yet get it. */
static bool make_sites(struct looking *looking)
{
	struct func_file *file = looking->file;
	uint32_t *missing = scratch(file->plan->nsites * sizeof(*missing)), n = 0;
	struct func_wanted wanted;

	for (uint32_t i = 0; missing && i < file->plan->nsites; i++) {
		const struct plan_site *site = func_plan_site(file->plan, i);

		if (!site || site->flags & PLAN_SITE_POINT ||
		    (!look_up(looking->selection, file, site, &wanted) && !func_layout_needs(&looking->layout, i)))
			continue;
		if (site->kind == PLAN_TRAP && !file->traps)
			continue;
		looking->indexes[looking->n++] = i;
		if (!file->numbers[i])
			missing[n++] = i;
	}
	if (n)
		func_sites_make(file, missing, n);
	if (missing)
		munmap(missing, file->plan->nsites * sizeof(*missing));
	return missing;
}

/* Bytes of the file, wherever something of ours is in their place. */
static bool is_as_in_file(uintptr_t at, uint32_t len, const unsigned char *bytes)
{
	unsigned char there[PLAN_WINDOW_MAX];

	memcpy(there, (const void *)at, len);
	if (!memcmp(there, bytes, len))
		return true;
	for (uint32_t i = 1; i < func_all.nsites; i++) {
		const struct func_left *left = &func_all.left[i];

		for (uint32_t n = 0; n < left->len; n++)
			if (left->at + n - at < len && there[left->at + n - at] == left->bytes[n])
				there[left->at + n - at] = left->was[n];
	}
	return !memcmp(there, bytes, len);
}

#define HOW (FUNC_SITE_PLAIN | FUNC_SITE_POINTS)

/* A site that is to be as `change` has it, or as it was. `window`: what was there, so many bytes from change->at on. */
static void note(struct changes *changes, struct change *change, bool wanted, const unsigned char *window)
{
	struct func_site *site = &func_all.sites[change->number];
	const struct func_left *left = &func_all.left[change->number];

	if (wanted && left->len == change->len && !memcmp(left->bytes, change->bytes, change->len)) {
		site->flags = change->flags;
		return;
	}
	if ((!wanted && !left->len) || changes->n == changes->room)
		return;
	/* Somebody else may change code, too: a debugger. */
	if (left->len ? memcmp((const void *)left->at, left->bytes, left->len) : !is_as_in_file(change->at, change->window, window))
		return;
	if (left->len) {
		change->window = 0;
		memcpy(change->was, left->was, left->len);
	} else {
		memcpy(change->was, window, change->len);
	}
	if (!wanted) {
		change->undo = true;
		change->at = left->at;
		change->len = left->len;
		memcpy(change->bytes, left->was, left->len);
	} else if (change->len == 1 && !func_trap_note(change->at, change->number)) {
		return;
	}
	/* One instruction alone has no middle that matters. */
	if (change->len == 1)
		change->window = 0;
	changes->all[changes->n++] = *change;
}

static bool by_graph(const struct func_site *site)
{
	return site->graph || site->flags & (FUNC_SITE_UNWINDS | FUNC_SITE_LOADS | FUNC_SITE_ACTS | FUNC_SITE_ARGS | FUNC_SITE_PROFILE |
					     FUNC_SITE_DEEP | FUNC_SITE_RETURNS);
}

static void note_function(struct changes *changes, const struct func_file *file, const struct plan_site *plan, uint32_t number,
			  bool wanted)
{
	struct func_site *site = &func_all.sites[number];
	const struct func_window *window = func_window_of(number);
	const bool points = window && window->npoints && window->code;
	struct change change = {
		.at = file->load + plan->address + plan->at, .window = plan->window, .number = number,
		.flags = (site->flags & ~(uint32_t)HOW) | (wanted ? FUNC_SITE_PATCHED : 0u) |
			 (wanted && by_graph(site) ? FUNC_SITE_BY_GRAPH : 0u) | (wanted && points ? FUNC_SITE_POINTS : 0u),
	};

	if (wanted) {
		site->flags = (site->flags & ~(uint32_t)FUNC_SITE_POINTS) | (points ? FUNC_SITE_POINTS : 0u);
		change.len = patch_of(file, plan, number, by_graph(site), change.bytes);
		if (!change.len)
			return;
	}
	note(changes, &change, wanted, func_plan_code(file->plan, plan));
}

#define FLAGS_WANTED (FUNC_SITE_BOTH | FUNC_SITE_ACTS | FUNC_SITE_PROFILE | FUNC_SITE_DEEP | FUNC_SITE_RETURNS)

static uint32_t flags_of(const struct func_wanted *wanted)
{
	return (wanted->not_root || (wanted->function && wanted->graph) || func_all.no_returns ? FUNC_SITE_BOTH : 0u) |
	       (wanted->acts ? FUNC_SITE_ACTS : 0u) | (wanted->profile ? FUNC_SITE_PROFILE : 0u) |
	       (wanted->deep ? FUNC_SITE_DEEP : 0u);
}

/* A site's window, if points are in it, and who wants its returns. */
static void set_window(struct func_site *site, uint32_t number)
{
	struct func_window *window = func_window_of(number);

	if (!window) {
		func_window_drop(number);
		return;
	}
	if (!window->npoints)
		func_window_drop(number);
	if (window->returns)
		site->flags |= FUNC_SITE_RETURNS;
	window->way = by_graph(site) ? FUNC_WAY_GRAPH : site->function ? FUNC_WAY_FUNCTION : FUNC_WAY_NONE;
}

/* Masks at once: a site that is not patched yet, or is not any more, looks at none. */
static void set_functions(const struct looking *looking)
{
	struct func_file *file = looking->file;

	for (uint32_t i = 0; i < file->plan->nsites; i++) {
		const struct plan_site *plan = file->numbers[i] ? func_plan_site(file->plan, i) : NULL;
		struct func_site *site = &func_all.sites[file->numbers[i]];
		struct func_wanted wanted;

		if (!plan)
			continue;
		/* It was unloaded and came again, as it is in its file. */
		if (file->fresh) {
			site->flags &= ~(uint32_t)HOW;
			func_all.left[file->numbers[i]].len = 0;
		}
		look_up(looking->selection, file, plan, &wanted);
		STORE(site->function, wanted.function);
		STORE(site->graph, wanted.graph);
		STORE(site->root, wanted.root);
		STORE(site->not_root, wanted.not_root);
		site->flags = (site->flags & ~(uint32_t)(FLAGS_WANTED | FUNC_SITE_ARGS)) | flags_of(&wanted);
		if (wanted.args)
			site->flags |= func_plan_registers(file->plan, i) * (FUNC_SITE_ARGS & -FUNC_SITE_ARGS);
		set_window(site, file->numbers[i]);
	}
}

static void note_functions(struct changes *changes, const struct looking *looking)
{
	const struct func_file *file = looking->file;

	for (uint32_t i = 0, n = 0; i < file->plan->nsites; i++) {
		const struct plan_site *plan = file->numbers[i] ? func_plan_site(file->plan, i) : NULL;
		bool want;

		while (n < looking->n && looking->indexes[n] < i)
			n++;
		want = n < looking->n && looking->indexes[n] == i;
		if (!plan)
			continue;
		note_function(changes, file, plan, file->numbers[i], want);
		if (want && !(plan->flags & PLAN_SITE_HIDDEN))
			func_touch(looking->selection, file, plan);
	}
}

struct noting {
	struct changes *changes;
	const struct func_file *file;
};

/* One that is there for its points alone. */
static void note_window(void *arg, uint32_t number, struct func_window *window)
{
	const struct noting *noting = arg;
	struct func_site *site = &func_all.sites[number];
	const bool wanted = window->update == func_all.update && window->npoints && window->code;
	struct change change = {
		.at = window->at, .number = number, .window = window->trap ? 1 : window->site->window,
		.optional = window->npoints == (uint32_t)__builtin_popcount(window->calls),
		.flags = FUNC_SITE_POINT | (wanted ? FUNC_SITE_PATCHED | FUNC_SITE_POINTS : 0u),
	};

	if (!(site->flags & FUNC_SITE_POINT) || window->file != noting->file)
		return;
	if (noting->file->fresh)
		func_all.left[number].len = 0;
	if (wanted) {
		site->flags |= FUNC_SITE_POINTS;
		change.len = patch_of(noting->file, window->site, number, false, change.bytes);
		if (!change.len)
			return;
	}
	note(noting->changes, &change, wanted,
	     func_plan_code(window->plan, window->site) + (window->at - func_window_at(window->file, window->site)));
}

static void look_at(struct changes *changes, struct func_file *file, const struct func_selection *selection)
{
	struct looking looking = { .file = file, .selection = selection };
	struct noting noting = { changes, file };

	looking.indexes = scratch((file->plan->nsites + 1) * sizeof(*looking.indexes));
	if (!looking.indexes)
		return;
	if (selection->state && func_layout_open(&looking.layout, file, selection))
		file->traps = file->traps || func_traps_allow(file);
	if (selection->state)
		make_sites(&looking);
	if (looking.layout.entries)
		func_layout_place(&looking.layout, looking.indexes, looking.n);
	set_functions(&looking);
	if (looking.layout.entries)
		func_layout_make(&looking.layout);
	note_functions(changes, &looking);
	func_windows_each(note_window, &noting);
	func_layout_close(&looking.layout);
	func_semaphores_lower(file);
	munmap(looking.indexes, (file->plan->nsites + 1) * sizeof(*looking.indexes));
}

/* ---- Where threads stand ---- */

/* In the middle, or behind a system call that the kernel may begin again, from where it was. */
static bool is_within(const struct change *change, uintptr_t ip)
{
	const uintptr_t off = ip - change->at;

	if (ip <= change->at || off > change->window)
		return false;
	return off < change->window || (off >= 2 && !memcmp((const char *)ip - 2, "\x0f\x05", 2));
}

/* Threads may be in a system call for ever: one that is to be patched is left out then. */
static bool is_in_window(struct changes *changes, uintptr_t ip)
{
	bool in = false;

	for (size_t i = 0; i < changes->n && !in; i++) {
		struct change *change = &changes->all[i];

		if (!is_within(change, ip))
			continue;
		if (change->optional)
			changes->all[i--] = changes->all[--changes->n];
		else
			in = true;
	}
	return in;
}

static bool is_untold(uintptr_t ip)
{
	return ip - (uintptr_t)sys_untold_begin < (uintptr_t)(sys_untold_end - sys_untold_begin);
}

/* The thread itself, and wherever signals interrupted it. */
static bool is_in_the_way(struct changes *changes, const struct stopped_thread *stopped)
{
	struct unwind unwind = { .pc = stopped->ip, .exact = true };
	enum unwind_step step;

	/* Of code that was made here no table tells who called it, and whether a signal came before that. */
	if (is_in_window(changes, stopped->ip) || (changes->n && (func_is_island(stopped->ip) || is_untold(stopped->ip))))
		return true;
	unwind.reg[FRAME_SP] = stopped->sp;
	unwind.reg[FRAME_FP] = stopped->bp;
	unwind.reg[FRAME_R11] = stopped->r11;
	unwind.known = 1ull << FRAME_SP | 1ull << FRAME_FP | 1ull << FRAME_R11;
	unwind.stack = (struct unwind_stack){ stopped->sp, (stopped->sp + PAGE) & ~(PAGE - 1), true };
	for (int i = 0; i < FRAMES_MAX; i++) {
		step = runtime_unwind(&unwind, runtime_module(unwind.pc));
		if (step == UNWIND_END)
			break;
		/* No call returns into a window, but for system calls that are done elsewhere. */
		if (is_in_window(changes, unwind.pc) || (changes->n && is_untold(unwind.pc)))
			return true;
	}
	return false;
}

/* ---- Changing it ---- */

/* Eight bytes that need not be aligned. */
typedef uint64_t __attribute__((aligned(1))) anywhere;

/* Where a store of eight bytes begins that has all of it: behind the page's end there may be something else. */
static uintptr_t store_at(const struct change *change)
{
	const uintptr_t off = change->at & (PAGE - 1);

	return off + sizeof(uint64_t) > PAGE && off + change->len <= PAGE ? change->at + change->len - sizeof(uint64_t) : change->at;
}

/* In one store, whatever interrupts us: bytes beside it as they are. */
static void store(const struct change *change)
{
	struct func_left *left = &func_all.left[change->number];
	const uintptr_t at = store_at(change);
	uint64_t word;

	memcpy(&word, (const void *)at, sizeof(word));
	memcpy((unsigned char *)&word + (change->at - at), change->bytes, change->len);
	*(volatile anywhere *)at = word;
	*left = (struct func_left){ .at = change->at, .len = change->undo ? 0 : (uint8_t)change->len };
	memcpy(left->bytes, change->bytes, change->len);
	memcpy(left->was, change->was, change->len);
	func_all.sites[change->number].flags = change->flags;
}

/*
 * Pages one behind the other, and none but those that are changed: beside a file's code may be its data, or another file. Executable all
 * the while: who interrupts us may run it.
 */
static size_t apply_run(const struct changes *changes, size_t from, bool undo)
{
	uintptr_t start = 0, end = 0;
	size_t n = from;

	for (; n < changes->n; n++) {
		const uintptr_t at = store_at(&changes->all[n]);

		if (changes->all[n].undo != undo)
			continue;
		if (!end)
			start = end = at & ~(PAGE - 1);
		else if (at < start || (at & ~(PAGE - 1)) > end || at - start >= RUN_MAX)
			break;
		if (at + sizeof(uint64_t) > end)
			end = (at + sizeof(uint64_t) + PAGE - 1) & ~(PAGE - 1);
	}
	if (!end || mprotect((void *)start, end - start, PROT_READ | PROT_WRITE | PROT_EXEC))
		return n;
	for (size_t i = from; i < n; i++)
		if (changes->all[i].undo == undo)
			store(&changes->all[i]);
	mprotect((void *)start, end - start, PROT_READ | PROT_EXEC);
	return n;
}

/* What goes makes room for what comes. */
static void apply(const struct changes *changes)
{
	for (size_t i = 0; i < changes->n;)
		i = apply_run(changes, i, true);
	for (size_t i = 0; i < changes->n;)
		i = apply_run(changes, i, false);
	if (changes->n)
		syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED_SYNC_CORE, 0, 0);
}

static size_t sites_of(struct func_file **files, uint32_t n)
{
	size_t sum = 0;

	for (uint32_t i = 0; i < n; i++)
		sum += files[i]->seen == func_all.update ? files[i]->plan->nsites : 0;
	return sum + FUNC_POINTS_MAX;
}

static int count_patched(void)
{
	int n = 0;

	for (uint32_t i = 1; i < func_all.nsites; i++)
		n += !!(func_all.sites[i].flags & FUNC_SITE_PATCHED);
	return n;
}

static bool has_traps(const struct func_file *file)
{
	for (uint32_t i = 0; i < file->plan->nsites; i++) {
		const struct plan_site *site = func_plan_site(file->plan, i);

		if (site && site->kind == PLAN_TRAP && !(site->flags & PLAN_SITE_HIDDEN))
			return true;
	}
	return false;
}

/* One at a time: a thread that has just loaded a file may be stopped in the middle of this. */
static uint32_t changing;

bool func_begin(void)
{
	return !__atomic_exchange_n(&changing, 1, __ATOMIC_ACQUIRE);
}

void func_end(void)
{
	/* Partner: func_begin(). */
	STORE_RELEASE(changing, 0);
}

/* While a thread loads or unloads, files may be listed that are not there. */
static bool is_settled(void)
{
	return !func_loader() || func_loader()->r_state == RT_CONSISTENT;
}

static int change_all(const struct func_selection *selection, const struct stopped_thread *stopped, size_t n, bool fresh)
{
	struct changes changes = { 0 };
	struct func_file **files;
	uint32_t nfiles;
	int r = func_files_look(&files, &nfiles);

	if (r < 0)
		return r;
	changes.room = sites_of(files, nfiles);
	changes.all = scratch(changes.room * sizeof(*changes.all));
	if (!changes.room || !changes.all)
		return 0;
	for (uint32_t i = 0; i < nfiles; i++) {
		if (files[i]->seen != func_all.update || (fresh && !files[i]->fresh))
			continue;
		if (selection->state)
			files[i]->traps = files[i]->traps || (has_traps(files[i]) && func_traps_allow(files[i]));
		look_at(&changes, files[i], selection);
	}
	/* That some file waits for its plan is no matter here. */
	r = 0;
	for (size_t i = 0; i < n && !r; i++)
		r = is_in_the_way(&changes, &stopped[i]) ? -EAGAIN : 0;
	if (r >= 0)
		apply(&changes);
	for (uint32_t i = 0; r >= 0 && i < nfiles; i++)
		files[i]->fresh = files[i]->seen != func_all.update;
	munmap(changes.all, changes.room * sizeof(*changes.all));
	return r < 0 ? r : count_patched();
}

static int change_if_settled(const struct func_selection *selection, const struct stopped_thread *stopped, size_t n, bool fresh)
{
	uintptr_t own;
	int r;

	if (!is_settled() || !func_begin())
		return -EAGAIN;
	/* Some of the calls that this makes are patched on the way. */
	own = runtime_own_begin();
	r = change_all(selection, stopped, n, fresh);
	runtime_own_end(own);
	func_end();
	return r;
}

int func_update(const struct stopped_thread *stopped, size_t n, bool fresh)
{
	struct func_selection selection;
	uintptr_t own;
	int r;

	if (!LOAD(runtime.attached))
		return -ENOTCONN;
	/* Where nothing was published yet nothing is wanted. */
	func_select_begin(&selection);
	if (!func_selection_any(&selection) && !func_all.sites) {
		func_select_end(&selection);
		return 0;
	}
	if (!func_sites_init() || !func_edges_init()) {
		func_select_end(&selection);
		return -ENOMEM;
	}
	r = change_if_settled(&selection, stopped, n, fresh);
	own = runtime_own_begin();
	func_select_end(&selection);
	runtime_own_end(own);
	return r;
}

int func_drop(const struct stopped_thread *stopped, size_t n)
{
	const struct func_selection nothing = { 0 };

	return func_all.sites ? change_if_settled(&nothing, stopped, n, false) : 0;
}

#else

int func_update(const struct stopped_thread *stopped, size_t n, bool fresh)
{
	(void)stopped;
	(void)n;
	(void)fresh;
	return 0;
}

int func_drop(const struct stopped_thread *stopped, size_t n)
{
	(void)stopped;
	(void)n;
	return 0;
}

uintptr_t func_true_return(uintptr_t address)
{
	return address;
}

#endif
