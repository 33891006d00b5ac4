/*
 * runtime/thread: who is writing, and by which means.
 *
 * A thread becomes ready at its first event: its tid, its rseq area (libc's, or one of ours where libc registers none), its
 * name for the registry. A guarded thread (see guard.c) stays unready, so each of its events takes the slow way.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "runtime/local.h"
#include "runtime/runtime.h"

#if defined(__aarch64__)
#define RSEQ_SIGNATURE 0xd428bc00u
#else
#define RSEQ_SIGNATURE 0x53053053u
#endif

__thread struct thread runtime_self __attribute__((tls_model("initial-exec")));
static __thread struct ring_rseq own_rseq __attribute__((tls_model("initial-exec")));

extern const ptrdiff_t __rseq_offset __attribute__((weak));
extern const unsigned int __rseq_size __attribute__((weak));

/* Of threads without rseq: a CPU that is none, so that every section sends them on. */
static struct ring_rseq no_rseq = { .cpu_id = UINT32_MAX };

static pthread_key_t ending_key;
static uint32_t ending_key_made;

static void *thread_pointer(void)
{
#if defined(__x86_64__)
	void *tp;

	__asm__("movq %%fs:0, %0" : "=r"(tp));
	return tp;
#elif defined(__i386__)
	void *tp;

	__asm__("movl %%gs:0, %0" : "=r"(tp));
	return tp;
#else
	return __builtin_thread_pointer();
#endif
}

/* Only a thread that is about to end may give up its area: the kernel writes to it until then. */
static void unregister(void *arg)
{
	(void)arg;
	runtime_self.ending = true;
	runtime_self.tid = 0;
	runtime_self.rs = &no_rseq;
	syscall(SYS_rseq, &own_rseq, sizeof(own_rseq), 1, RSEQ_SIGNATURE);
}

static struct ring_rseq *register_own(void)
{
	if (LOAD(runtime.locked) || runtime_self.ending)
		return NULL;
	if (LOAD_ACQUIRE(ending_key_made) != 1)
		return NULL;
	if (pthread_setspecific(ending_key, &own_rseq))
		return NULL;
	if (syscall(SYS_rseq, &own_rseq, sizeof(own_rseq), 0, RSEQ_SIGNATURE))
		return NULL;
	runtime_self.rs_ours = true;
	return &own_rseq;
}

static struct ring_rseq *find_rseq(void)
{
	if (runtime_self.bare)
		return NULL;
	if (&__rseq_size && __rseq_size) {
		struct ring_rseq *rs = (void *)((char *)thread_pointer() + __rseq_offset);

		/* Registered, and not refused: the kernel keeps cpu_id true. */
		if ((int32_t)LOAD(rs->cpu_id) >= 0)
			return rs;
	}
	return register_own();
}

/* Called once, at attach: keys cannot be made in signal handlers. */
void runtime_thread_init(void)
{
	const char *self = (const char *)pthread_self();
	int32_t tid = (int32_t)syscall(SYS_gettid);

	if (!(&__rseq_size && __rseq_size) && !pthread_key_create(&ending_key, unregister))
		STORE_RELEASE(ending_key_made, 1);
#if defined(__GLIBC__)
	/* A program that has given up system calls may still start threads or fork: libc knows their tid. */
	for (int at = 0; at < 1024; at += 4) {
		if (*(const int32_t *)(const void *)(self + at) == tid) {
			runtime.tid_offset = at;
			break;
		}
	}
#else
	(void)self;
	(void)tid;
#endif
}

int32_t runtime_thread_tid(void)
{
	if (runtime_self.as)
		return runtime_self.as;
	if (!LOAD(runtime.locked))
		return (int32_t)syscall(SYS_gettid);
	if (runtime.tid_offset >= 0)
		return *(const int32_t *)(const void *)((const char *)pthread_self() + runtime.tid_offset);
	return runtime.pid;
}

/* Field 22 of a stat file; low bits, 0 when it cannot be had. *state is field 3. Past libc, whose calls are cancellation
 * points: tracing is none. */
uint32_t runtime_start_time(const char *path, char *state)
{
	char text[512];
	long fd = syscall(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC);
	long n = fd < 0 ? -1 : syscall(SYS_read, fd, text, sizeof(text) - 1);
	char *at;

	if (fd >= 0)
		syscall(SYS_close, fd);
	if (n <= 0)
		return 0;
	text[n] = '\0';
	at = strrchr(text, ')');
	*state = at && at[1] ? at[2] : '\0';
	for (int field = 2; at && field < 22; field++)
		at = strchr(at + 1, ' ');
	return at ? (uint32_t)strtoull(at + 1, NULL, 10) : 0;
}

uint64_t runtime_thread_identity(struct thread *thread)
{
	int32_t tid = thread->guard ? runtime_thread_tid() : thread->tid;
	char state;

	if (!thread->start && !LOAD(runtime.locked) && !thread->guard)
		thread->start = runtime_start_time("/proc/thread-self/stat", &state);
	return (uint64_t)(uint32_t)tid << 32 | (thread->guard ? 0 : thread->start);
}

/* Whether the thread that owns an overflow slot is gone. Not knowing means no. */
bool runtime_owner_dead(uint64_t owner)
{
	char path[32] = "/proc/", digits[12];
	uint32_t tid = (uint32_t)(owner >> 32), start = (uint32_t)owner, now;
	int n = 0;
	char *at = path + 6, state = '\0';

	if (LOAD(runtime.locked) || !tid)
		return false;
	if (syscall(SYS_tkill, tid, 0) && errno == ESRCH)
		return true;
	for (uint32_t rest = tid; rest; rest /= 10)
		digits[n++] = (char)('0' + rest % 10);
	while (n)
		*at++ = digits[--n];
	memcpy(at, "/stat", 6);
	now = runtime_start_time(path, &state);
	/* Dead and not buried yet: its parent may take its time. */
	return now && ((start && now != start) || state == 'Z' || state == 'X');
}

/* The newest name of a tid stays; the sequence word tells readers to look again. */
void runtime_tell_name(int32_t tid, int32_t tgid, uint32_t start, const char comm[16])
{
	struct registry_task *task = (struct registry_task *)(void *)((char *)runtime.registry + REGISTRY_TASKS_OFFSET);
	uint32_t seq;

	task += (uint32_t)tid % REGISTRY_TASKS;
	if (!runtime_back(task, sizeof(*task)))
		return;
	seq = LOAD(task->seq) | 1;
	STORE(task->seq, seq);
	__atomic_thread_fence(__ATOMIC_RELEASE);
	STORE(task->tid, tid);
	STORE(task->tgid, tgid);
	STORE(task->start, start);
	memcpy(task->comm, comm, sizeof(task->comm));
	/* Partner: readers of the registry, who take a slot only between two equal even words. */
	STORE_RELEASE(task->seq, seq + 1);
}

/* Asked of the kernel, not through the program's prctl(): that is ours. */
const char *runtime_comm(void)
{
	struct thread *thread = &runtime_self;
	uint32_t renames = LOAD(runtime.renames);
	char comm[16] = "";
	int saved = errno;

	if (thread->named == renames + 1 && !thread->guard)
		return thread->comm;
	if (!LOAD(runtime.locked) && !syscall(SYS_prctl, PR_GET_NAME, comm, 0, 0, 0)) {
		/* Of somebody else, in the place of a vfork child's parent: it asks again when that is back. */
		thread->named = 0;
		__atomic_signal_fence(__ATOMIC_SEQ_CST);
		memcpy(thread->comm, comm, sizeof(comm));
		__atomic_signal_fence(__ATOMIC_SEQ_CST);
		thread->named = thread->guard ? 0 : renames + 1;
	}
	errno = saved;
	return thread->comm;
}

static void tell_name(int32_t tid, const char comm[16])
{
	char state;

	if (!LOAD(runtime.start))
		STORE(runtime.start, runtime_start_time("/proc/self/stat", &state));
	runtime_tell_name(tid, runtime.pid, LOAD(runtime.start), comm);
}

static bool is_nameless(void)
{
	/* The newest: a child has none yet, and the one of before may have wanted names. */
	const struct view *view = runtime_view_refresh();

	return view && view->nameless;
}

static void tell_own_name(int32_t tid)
{
	const char *comm;

	if (is_nameless())
		return;
	/* It may have been named in ways that nobody sees. */
	runtime_self.named = 0;
	comm = runtime_comm();
	if (comm[0])
		tell_name(tid, comm);
}

bool runtime_thread_ready(struct thread *thread)
{
	int32_t tid;

	if (thread->guard)
		return false;
	if (thread->tid)
		return true;
	tid = runtime_thread_tid();
	thread->rs = find_rseq();
	if (!thread->rs)
		thread->rs = &no_rseq;
	if (!LOAD(runtime.locked))
		tell_own_name(tid);
	runtime_life_thread();
	thread->real_tid = tid;
	/* Last: a signal handler that comes in between does the same again. */
	__atomic_signal_fence(__ATOMIC_RELEASE);
	thread->tid = tid;
	return true;
}

/* The program named this thread anew. One that never traced is told of when it does. */
void runtime_thread_renamed(void)
{
	const uintptr_t own = runtime_own_begin();

	__atomic_fetch_add(&runtime.renames, 1, __ATOMIC_RELAXED);
	if (LOAD(runtime.attached) && runtime_self.tid && !LOAD(runtime.locked))
		tell_own_name(runtime_self.tid);
	runtime_own_end(own);
}

void runtime_other_renamed(int32_t tid, const char *name)
{
	char comm[16] = "";
	int saved = errno;

	__atomic_fetch_add(&runtime.renames, 1, __ATOMIC_RELAXED);
	if (tid <= 0 || !LOAD(runtime.attached) || LOAD_ACQUIRE(wiped.alive) != WIPED_ALIVE || LOAD(runtime.locked))
		return;
	memcpy(comm, name, strnlen(name, sizeof(comm) - 1));
	if (!is_nameless())
		tell_name(tid, comm);
	errno = saved;
}

static void begin_as_child(void)
{
	uint32_t forked = WIPED_FORKED;
	int32_t forker = runtime_self.real_tid;

	/* The kernel gives the child what its parent had, and a guarded one may have had nothing. */
	if (runtime_self.guard)
		runtime_self.bare = true;
	runtime_self.tid = 0;
	runtime_self.real_tid = 0;
	runtime_self.start = 0;
	runtime_self.guard = 0;
	runtime_self.held = NULL;
	runtime_self.stages = 0;
	runtime_self.chosen.in = 0;
	runtime_self.func_chosen.in = 0;
	runtime_self.locking = false;
	runtime_self.exited = 0;
	runtime_self.as = 0;
	if (!__atomic_compare_exchange_n(&wiped.alive, &forked, WIPED_RESETTING, false, __ATOMIC_ACQUIRE,
					 __ATOMIC_RELAXED)) {
		/* The page was not wiped: an old kernel. */
		if (forked != WIPED_ALIVE || LOAD(runtime.pid) == runtime_thread_tid())
			return;
		wiped.view = NULL;
		wiped.registering = 0;
		memset(wiped.stage_tid, 0, sizeof(wiped.stage_tid));
	}
	runtime_family_grow(runtime.pid, forker);
	/* The first event may be another thread's. */
	runtime.pid = LOAD(runtime.locked) ? runtime_thread_tid() : (int32_t)syscall(SYS_getpid);
	runtime.start = 0;
	for (int i = 0; i < RUNTIME_VIEWS && runtime.views[i]; i++) {
		runtime.views[i]->holders = 0;
		runtime.views[i]->state = VIEW_FREE;
	}
	STORE_RELEASE(wiped.alive, WIPED_ALIVE);
}

/* In the child of a fork, before it runs on, or at its first event if it was forked past libc. */
void runtime_fork_child(void)
{
	const uintptr_t own = runtime_own_begin();

	begin_as_child();
	runtime_own_end(own);
}

/*
 * Guards nest: a vfork child may vfork. Whoever runs between enter and leave shares this thread's TLS but maybe not its
 * rseq registration, so sections would not be aborted there.
 */
void runtime_guard_enter(void)
{
	/* Forked past libc, and no event since: a child that shares our memory must not be the one to find out. */
	if (LOAD(runtime.attached) && LOAD_ACQUIRE(wiped.alive) == WIPED_FORKED)
		runtime_fork_child();
	runtime_self.guard++;
	runtime_self.tid = 0;
}

void runtime_guard_leave(void)
{
	/* A child that was killed on its way through an overflow ring. */
	if (runtime_self.held)
		__atomic_fetch_sub(&runtime_self.held->holders, 1, __ATOMIC_SEQ_CST);
	runtime_self.held = NULL;
	if (runtime_self.locking) {
		runtime_self.locking = false;
		STORE(runtime.locked, 0);
		sys_dispatch();
	}
	if (!--runtime_self.guard)
		runtime_self.tid = runtime_self.real_tid;
}

/* Past libc, which would leave its own signals through: a thread that is cancelled never returns here either. */
void runtime_signals_hold(uint64_t *before)
{
	const uint64_t faults = 1ull << (SIGBUS - 1) | 1ull << (SIGSEGV - 1) | 1ull << (SIGILL - 1) |
				1ull << (SIGFPE - 1) | 1ull << (SIGTRAP - 1) | 1ull << (SIGSYS - 1);
	uint64_t all = ~faults;
	const uintptr_t own = runtime_own_begin();

	*before = 0;
	if (LOAD(runtime.locked) || syscall(SYS_rt_sigprocmask, SIG_SETMASK, &all, before, sizeof(all)))
		*before = UINT64_MAX;
	runtime_own_end(own);
}

void runtime_signals_restore(const uint64_t *before)
{
	const uintptr_t own = runtime_own_begin();

	/* No mask has all bits: SIGKILL cannot be held off. */
	if (*before != UINT64_MAX)
		syscall(SYS_rt_sigprocmask, SIG_SETMASK, before, NULL, sizeof(*before));
	runtime_own_end(own);
}
