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
#include <sys/syscall.h>
#include <unistd.h>

#include "ring/segment.h"
#include "runtime/local.h"
#include "runtime/runtime.h"
#include "runtime/signal.h"

#define RINGS_WINDOW_MIN (32ull << 20)

struct runtime runtime = { .tid_offset = -1 };
struct wiped wiped __attribute__((aligned(4096)));

const uint32_t runtime_hint_off;

bool runtime_owns(const void *address)
{
	const unsigned char *at = address;
	const unsigned char *control = (const unsigned char *)runtime.control;
	const unsigned char *registry = (const unsigned char *)runtime.registry;
	uint32_t n = LOAD_ACQUIRE(runtime.nrings);

	if (control && at >= control && at < control + runtime.control_window)
		return true;
	if (registry && at >= registry && at < registry + REGISTRY_SIZE)
		return true;
	for (uint32_t i = 0; i < n; i++)
		if (at >= runtime.rings[i].base && at < runtime.rings[i].base + runtime.rings[i].size)
			return true;
	return false;
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
	uint32_t n = LOAD_ACQUIRE(runtime.nrings);

	STORE(runtime.attached, false);
	blank(runtime.registry, REGISTRY_SIZE);
	blank(runtime.control, runtime.control_window);
	for (uint32_t i = 0; i < n; i++)
		blank(runtime.rings[i].base, runtime.rings[i].size);
	STORE(wiped.view, NULL);
}

/* Maps more of the rings file. The smaller mappings stay for those who are using them. */
static void grow(uint64_t size)
{
	uint32_t n = LOAD_ACQUIRE(runtime.nrings);
	uint64_t want = runtime.rings[n - 1].size;
	uint32_t idle = 0;
	void *more;

	while (want < size)
		want *= 2;
	if (n == RUNTIME_WINDOWS || LOAD(runtime.locked) || want > SIZE_MAX / 2)
		return;
	if (!__atomic_compare_exchange_n(&runtime.growing, &idle, 1, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
		return;
	/* Old size 0: the same file once more, for which no descriptor is needed. */
	more = mremap(runtime.rings[0].base, 0, want, MREMAP_MAYMOVE);
	if (more != MAP_FAILED) {
		runtime.rings[n].base = more;
		runtime.rings[n].size = want;
		/* Partner: the acquiring loads of nrings. */
		STORE_RELEASE(runtime.nrings, n + 1);
	}
	STORE_RELEASE(runtime.growing, 0);
}

void *runtime_rings_reach(uint64_t offset, uint64_t size)
{
	const struct window *window;
	uint32_t n = LOAD_ACQUIRE(runtime.nrings);

	if (!n || offset > UINT64_MAX / 4 || size > UINT64_MAX / 4)
		return NULL;
	if (offset + size > runtime.rings[n - 1].size)
		grow(offset + size);
	window = &runtime.rings[LOAD_ACQUIRE(runtime.nrings) - 1];
	return offset + size <= window->size ? window->base + offset : NULL;
}

static void *map(int fd, uint64_t size, int prot)
{
	void *at = mmap(NULL, size, prot, MAP_SHARED | MAP_NORESERVE, fd, 0);

	return at == MAP_FAILED ? NULL : at;
}

static int map_all(const struct segment_dir *dir)
{
	struct window *rings = &runtime.rings[0];

	rings->size = RINGS_WINDOW_MIN;
	while (rings->size < dir->size[SEGMENT_RINGS])
		rings->size *= 2;
	runtime.control_window = CONTROL_SIZE_MAX;
	runtime.control = map(dir->fd[SEGMENT_CONTROL], CONTROL_SIZE_MAX, PROT_READ);
	runtime.registry = map(dir->fd[SEGMENT_REGISTRY], REGISTRY_SIZE, PROT_READ | PROT_WRITE);
	rings->base = map(dir->fd[SEGMENT_RINGS], rings->size, PROT_READ | PROT_WRITE);
	runtime.nrings = rings->base ? 1 : 0;
	if (runtime.control && runtime.registry && rings->base)
		return 0;
	if (runtime.control)
		munmap((void *)(uintptr_t)runtime.control, CONTROL_SIZE_MAX);
	if (runtime.registry)
		munmap(runtime.registry, REGISTRY_SIZE);
	if (rings->base)
		munmap(rings->base, rings->size);
	runtime.control = NULL;
	runtime.registry = NULL;
	runtime.nrings = 0;
	return -ENOMEM;
}

int runtime_attach(const char *path)
{
	struct segment_dir dir;
	int ret;

	if (runtime.attached)
		return -EALREADY;
	ret = segment_open(&dir, path, true, NULL);
	if (ret)
		return ret;
	ret = map_all(&dir);
	segment_close(&dir);
	if (ret)
		return ret;
	runtime.ncpu = dir.ncpu;
	runtime.pid = getpid();
	if (!runtime_view_init())
		return -ENOMEM;
	/* Readers that go to sleep, and views that are built anew, rely on these; without them they wait longer. */
	syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_GLOBAL_EXPEDITED, 0, 0);
	syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED_RSEQ, 0, 0);
	madvise(&wiped, 4096, MADV_WIPEONFORK);
	wiped.alive = WIPED_ALIVE;
	pthread_atfork(NULL, NULL, runtime_fork_child);
	runtime_thread_init();
	runtime_signal_init();
	runtime_guard_init();
	runtime.attached = true;
	return 0;
}

/* Set by a program that is no traced program, such as the tool: it attaches when it wants to, if at all. */
extern const int ringside_no_attach __attribute__((weak));

/* Linked statically, constructors of events may come before ours: whoever is first starts the runtime. */
void runtime_start(void)
{
	char path[4096];
	int saved = errno;

	if (runtime.started)
		return;
	runtime.started = true;
	if (!&ringside_no_attach && !segment_path(path, sizeof(path), getauxval(AT_SECURE) != 0))
		runtime_attach(path);
	errno = saved;
}

__attribute__((constructor(101))) static void start(void)
{
	runtime_start();
}
