/*
 * runtime/attach: from a program's start to being part of its tracing directory.
 *
 * Everything is mapped once, before main, and every descriptor closed again: the program may close all of them, change
 * root and uid, or lock itself up. The rings file may grow later; its mapping is extended by mremap, which needs no
 * descriptor. If anything is wrong with the directory the program runs as if untraced.
 *
 * A file cut short or punched full of holes on a full file system turns an access into SIGBUS. Its handler puts zero pages
 * over all our ranges: every hint then reads "off", and the access is done again on those.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/membarrier.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "layout/plan.h"
#include "ring/segment.h"
#include "runtime/local.h"
#include "runtime/module.h"
#include "runtime/runtime.h"
#include "runtime/signal.h"

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

#define RINGS_WINDOW_MIN (32ull << 20)
#define TABLES_WINDOW_MIN (16ull << 20)
#define PLANS_WINDOW_MIN (16ull << 20)

struct runtime runtime = { .tid_offset = -1 };
struct wiped wiped __attribute__((aligned(4096)));

const uint32_t runtime_hint_off;

static bool windows_have(const struct window *windows, const unsigned char *at)
{
	for (uint32_t i = 0; i < RUNTIME_WINDOWS; i++) {
		const unsigned char *base = LOAD_ACQUIRE(windows[i].base);

		if (base && at >= base && at < base + windows[i].size)
			return true;
	}
	return false;
}

bool runtime_owns(const void *address)
{
	const unsigned char *at = address;
	const unsigned char *control = (const unsigned char *)runtime.control;
	const unsigned char *registry = (const unsigned char *)runtime.registry;

	if (control && at >= control && at < control + runtime.control_window)
		return true;
	if (registry && at >= registry && at < registry + REGISTRY_SIZE)
		return true;
	return windows_have(runtime.rings, at) || windows_have(runtime.tables, at) || windows_have(runtime.plans, at);
}

static void blank(const void *start, uint64_t size)
{
	if (start)
		mmap((void *)(uintptr_t)start, size, PROT_READ | PROT_WRITE,
		     MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE, -1, 0);
}

/* The directory is gone bad. Sites keep their pointers, which now lead to zeros. */
void runtime_detach(void)
{
	STORE(runtime.attached, false);
	blank(runtime.registry, REGISTRY_SIZE);
	blank(runtime.control, runtime.control_window);
	for (uint32_t i = 0; i < RUNTIME_WINDOWS; i++) {
		blank(LOAD_ACQUIRE(runtime.rings[i].base), runtime.rings[i].size);
		blank(LOAD_ACQUIRE(runtime.tables[i].base), runtime.tables[i].size);
		blank(LOAD_ACQUIRE(runtime.plans[i].base), runtime.plans[i].size);
	}
	STORE(wiped.view, NULL);
}

bool runtime_back(const void *start, uint64_t size)
{
	uintptr_t from = (uintptr_t)start & ~(uintptr_t)4095;
	size_t len = (size_t)((uintptr_t)start + size - from + 4095) & ~(size_t)4095;
	int saved = errno;
	/* EINVAL: the kernel is too old for that. */
	bool backed = LOAD(runtime.locked) || !madvise((void *)from, len, MADV_POPULATE_WRITE) || errno == EINVAL;

	errno = saved;
	return backed;
}

/* Libraries do not agree about what kind of number it is. */
#ifdef __GLIBC__
typedef __rlimit_resource_t rlimit_kind;
#else
typedef int rlimit_kind;
#endif

bool runtime_affordable(int resource, uint64_t size)
{
	struct rlimit limit;

	return getrlimit((rlimit_kind)resource, &limit) || limit.rlim_cur == RLIM_INFINITY ||
	       size <= limit.rlim_cur / 4;
}

/*
 * Window i is as large as window 0 shifted by i. Whoever needs a larger one maps it, in a signal handler too; of two who do
 * so at the same time one wins. The smaller ones stay for those who are using them.
 */
static void *window_make(struct window *windows, uint32_t i)
{
	uint64_t size = windows[0].size << i;
	unsigned char *none = NULL;
	void *more;

	if (LOAD(runtime.locked) || size > SIZE_MAX / 2 || !runtime_affordable(RLIMIT_AS, 2 * size))
		return NULL;
	/* Old size 0: the same file once more, for which no descriptor is needed. */
	more = mremap(windows[0].base, 0, size, MREMAP_MAYMOVE);
	if (more == MAP_FAILED)
		return NULL;
	windows[i].size = size;
	/* Partner: the acquiring loads of base. */
	if (__atomic_compare_exchange_n(&windows[i].base, &none, more, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
		return more;
	munmap(more, size);
	return none;
}

/* The window that reaches to that byte, made if need be; NULL. */
static const struct window *window_to(struct window *windows, uint64_t end)
{
	uint32_t i = 0;

	if (!windows[0].base)
		return NULL;
	while (i < RUNTIME_WINDOWS && windows[0].size << i < end)
		i++;
	if (i == RUNTIME_WINDOWS)
		return NULL;
	return LOAD_ACQUIRE(windows[i].base) || window_make(windows, i) ? &windows[i] : NULL;
}

void *runtime_rings_reach(uint64_t offset, uint64_t size)
{
	const struct window *window;

	if (offset > UINT64_MAX / 4 || size > UINT64_MAX / 4)
		return NULL;
	window = window_to(runtime.rings, offset + size);
	return window ? window->base + offset : NULL;
}

const void *runtime_plans_reach(uint64_t offset, uint64_t size)
{
	const struct window *window;

	if (offset > PLANS_SIZE_MAX || size > PLANS_SIZE_MAX - offset)
		return NULL;
	window = window_to(runtime.plans, offset + size);
	return window ? window->base + offset : NULL;
}

struct hist_tables runtime_tables_reach(uint64_t size)
{
	const struct window *window = size <= TABLES_SIZE_MAX ? window_to(runtime.tables, size) : NULL;

	/* Tables behind what we can have are not for this program; the words are. */
	if (!window)
		window = &runtime.tables[0];
	return (struct hist_tables){ window->base, window->size };
}

static void *map(int fd, uint64_t size, int prot)
{
	void *at = mmap(NULL, size, prot, MAP_SHARED | MAP_NORESERVE, fd, 0);

	return at == MAP_FAILED ? NULL : at;
}

static int map_all(const struct segment_dir *dir)
{
	struct window *rings = &runtime.rings[0], *tables = &runtime.tables[0];

	rings->size = RINGS_WINDOW_MIN;
	while (rings->size < dir->size[SEGMENT_RINGS])
		rings->size *= 2;
	tables->size = TABLES_WINDOW_MIN;
	if (!runtime_affordable(RLIMIT_AS, CONTROL_SIZE_MAX + REGISTRY_SIZE + rings->size + tables->size))
		return -ENOMEM;
	runtime.control_window = CONTROL_SIZE_MAX;
	runtime.control = map(dir->fd[SEGMENT_CONTROL], CONTROL_SIZE_MAX, PROT_READ);
	runtime.registry = map(dir->fd[SEGMENT_REGISTRY], REGISTRY_SIZE, PROT_READ | PROT_WRITE);
	rings->base = map(dir->fd[SEGMENT_RINGS], rings->size, PROT_READ | PROT_WRITE);
	tables->base = map(dir->fd[SEGMENT_TABLES], tables->size, PROT_READ | PROT_WRITE);
	/* Without these no function is traced, and that is all. */
	runtime.plans[0].size = PLANS_WINDOW_MIN;
	if (runtime_affordable(RLIMIT_AS, 8 * PLANS_WINDOW_MIN))
		runtime.plans[0].base = map(dir->fd[SEGMENT_PLANS], PLANS_WINDOW_MIN, PROT_READ);
	return runtime.control && runtime.registry && rings->base && tables->base ? 0 : -ENOMEM;
}

static void unmap_all(void)
{
	struct window *rings = &runtime.rings[0], *tables = &runtime.tables[0];

	if (runtime.control)
		munmap((void *)(uintptr_t)runtime.control, CONTROL_SIZE_MAX);
	if (runtime.registry)
		munmap(runtime.registry, REGISTRY_SIZE);
	if (rings->base)
		munmap(rings->base, rings->size);
	if (tables->base)
		munmap(tables->base, tables->size);
	tables->base = NULL;
	if (runtime.plans[0].base)
		munmap(runtime.plans[0].base, runtime.plans[0].size);
	runtime.plans[0].base = NULL;
	runtime.control = NULL;
	runtime.registry = NULL;
	rings->base = NULL;
}

bool runtime_is_at(const char *path)
{
	struct segment_dir dir;
	struct stat st;
	bool same;

	if (!runtime.attached || segment_open(&dir, path, false, NULL))
		return false;
	same = !fstat(dir.fd[SEGMENT_CONTROL], &st) && st.st_dev == runtime.dev && st.st_ino == runtime.ino;
	segment_close(&dir);
	return same;
}

/* Which directory this is: by its control file, which the mappings keep from going. */
static void note_place(const struct segment_dir *dir)
{
	struct stat st;

	if (!fstat(dir->fd[SEGMENT_CONTROL], &st)) {
		runtime.dev = st.st_dev;
		runtime.ino = st.st_ino;
	}
}

int runtime_attach(const char *path)
{
	struct segment_dir dir;
	int ret;

	if (runtime.attached)
		return runtime_is_at(path) ? -EALREADY : -EBUSY;
	ret = segment_open(&dir, path, true, NULL);
	if (ret)
		return ret;
	runtime.ncpu = dir.ncpu;
	runtime.pid = getpid();
	ret = map_all(&dir);
	note_place(&dir);
	segment_close(&dir);
	if (!ret && !runtime_view_init())
		ret = -ENOMEM;
	if (ret) {
		unmap_all();
		return ret;
	}
	/* Readers that go to sleep, and views that are built anew, rely on these; without them they wait longer. */
	syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_GLOBAL_EXPEDITED, 0, 0);
	syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED_RSEQ, 0, 0);
	syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED_SYNC_CORE, 0, 0);
	/* Where pages are larger that would wipe the neighbours, too: such a child is told by pthread_atfork alone. */
	if (getauxval(AT_PAGESZ) == sizeof(wiped))
		madvise(&wiped, sizeof(wiped), MADV_WIPEONFORK);
	wiped.alive = WIPED_ALIVE;
	pthread_atfork(NULL, NULL, runtime_fork_child);
	runtime_modules_learn(false);
	runtime_thread_init();
	runtime_signal_init();
	runtime_guard_init();
	runtime.attached = true;
	return 0;
}

/* Set by a program that is no traced program, such as the tool: it attaches when it wants to, if at all. */
extern const int ringside_no_attach __attribute__((weak));

/* Started where reading the CPU's counter is a fault: we would not get far. */
static bool no_counter(void)
{
#if defined(__x86_64__) || defined(__i386__)
	int how = PR_TSC_ENABLE;

	return !prctl(PR_GET_TSC, &how) && how == PR_TSC_SIGSEGV;
#else
	return false;
#endif
}

/* Loaded by the tool into a program that was running, under a name that lies in the directory that is meant (see late.c). */
static bool path_of_loader(char *path, size_t size)
{
	static const char name[] = "/libringside.so";
	const struct module *own;
	struct segment_dir dir;
	size_t len;

	runtime_modules_learn(false);
	own = runtime_module((uintptr_t)&runtime_start);
	len = own && own->name ? strnlen(own->name, size) : 0;
	if (len < sizeof(name) || len >= size || strcmp(own->name + len - (sizeof(name) - 1), name))
		return false;
	len -= sizeof(name) - 1;
	memcpy(path, own->name, len);
	path[len] = '\0';
	if (segment_open(&dir, path, false, NULL))
		return false;
	segment_close(&dir);
	runtime.late = true;
	return true;
}

static bool find_path(char *path, size_t size)
{
	bool secure = getauxval(AT_SECURE) != 0;

	return (!secure && path_of_loader(path, size)) || !segment_path(path, size, secure);
}

/* Linked statically, constructors of events may come before ours: whoever is first starts the runtime. */
void runtime_start(void)
{
	char path[4096];
	int saved = errno;

	if (runtime.started)
		return;
	runtime.started = true;
	if (!&ringside_no_attach && !no_counter() && find_path(path, sizeof(path))) {
		/* One that is loaded into a program has missed its start. */
		if (!runtime.late)
			runtime_profile(path);
		if (!runtime_attach(path))
			runtime_life_start();
	}
	errno = saved;
}

__attribute__((constructor(101))) static void start(void)
{
	runtime_start();
}
