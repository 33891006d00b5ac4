/*
 * runtime/life: processes and threads that begin and end, as events of the kernel's names and formats.
 *
 *   sched_process_fork   in the parent's name: by a child that has its parent's thread-local memory, or a copy of it, before it runs
 *                        on, so that whatever it does comes later; of others by the parent when it has the child's id
 *   sched_process_exec   as the new image's first event
 *   sched_process_exit   before a thread or a process ends itself
 *
 * Seen at the system calls themselves, which come to us while one of these events is wanted (src/sys), whoever makes them: libc for
 * system(3), the program past libc. And at doors of libc, where system calls cannot be seen: then what goes past these is missing.
 * Each is told once: who tells of a fork takes `forker`, and of an end leaves `exited`. What nobody sees is a signal that kills, and the
 * other threads' ends when a process ends as a whole.
 *
 * Nobody who does not ask for these events pays more than a load: they are made known when some buffer first wants one of them. The
 * wrappers may be called before the constructor has run, and from signal handlers.
 */
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stddef.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "layout/page.h"
#include "runtime/local.h"
#include "runtime/runtime.h"
#include "runtime/unwind.h"

#define EXPORT __attribute__((visibility("default")))

enum { LIFE_FORK, LIFE_EXEC, LIFE_EXIT, LIFE_KINDS };

/* The tool brings the same texts for directories without programs: one id for both. */
static const struct {
	const char *name, *body;
} events[LIFE_KINDS] = {
	{ "sched_process_fork",
	  RECORD_HEAD_FORMAT "\tfield:__data_loc char[] parent_comm;\toffset:8;\tsize:4;\tsigned:0;\n"
		 "\tfield:pid_t parent_pid;\toffset:12;\tsize:4;\tsigned:1;\n"
		 "\tfield:__data_loc char[] child_comm;\toffset:16;\tsize:4;\tsigned:0;\n"
		 "\tfield:pid_t child_pid;\toffset:20;\tsize:4;\tsigned:1;\n\n"
		 "print fmt: \"comm=%s pid=%d child_comm=%s child_pid=%d\", __get_str(parent_comm), REC->parent_pid, "
		 "__get_str(child_comm), REC->child_pid" },
	{ "sched_process_exec",
	  RECORD_HEAD_FORMAT "\tfield:__data_loc char[] filename;\toffset:8;\tsize:4;\tsigned:0;\n"
		 "\tfield:pid_t pid;\toffset:12;\tsize:4;\tsigned:1;\n"
		 "\tfield:pid_t old_pid;\toffset:16;\tsize:4;\tsigned:1;\n\n"
		 "print fmt: \"filename=%s pid=%d old_pid=%d\", __get_str(filename), REC->pid, REC->old_pid" },
	{ "sched_process_exit",
	  RECORD_HEAD_FORMAT "\tfield:char comm[16];\toffset:8;\tsize:16;\tsigned:0;\n"
		 "\tfield:pid_t pid;\toffset:24;\tsize:4;\tsigned:1;\n"
		 "\tfield:int prio;\toffset:28;\tsize:4;\tsigned:1;\n"
		 "\tfield:bool group_dead;\toffset:32;\tsize:1;\tsigned:0;\n\n"
		 "print fmt: \"comm=%s pid=%d prio=%d group_dead=%s\", REC->comm, REC->pid, REC->prio, "
		 "REC->group_dead ? \"true\" : \"false\"" },
};

struct fork_record {
	struct record_head head;
	uint32_t parent_comm;
	int32_t parent_pid;
	uint32_t child_comm;
	int32_t child_pid;
	char text[16];		/* of both */
};

struct exec_record {
	struct record_head head;
	uint32_t filename;
	int32_t pid;
	int32_t old_pid;
	char text[1024];
};

struct exit_record {
	struct record_head head;
	char comm[16];
	int32_t pid;
	int32_t prio;
	uint8_t group_dead;
	uint8_t fill[3];
};
static_assert(offsetof(struct fork_record, text) == 24 && offsetof(struct exec_record, text) == 20 &&
	      sizeof(struct exit_record) == 36, "records as their formats tell");

static struct {
	bool lives;		/* this is a traced program, not the tool */
	uint64_t published;	/* the state that `wanted` is of */
	uint32_t wanted;	/* bits */
	uint32_t id[LIFE_KINDS];	/* 0: not known yet */
	pthread_key_t ending;
	bool has_ending;
} life;

static struct {
	void (*exit)(int status);
} real;

static void look(uint64_t published)
{
	const struct state_head *state = runtime_state_peek(published);
	bool may = state && (LOAD(state->nrules) || LOAD(state->nhooks));
	const struct view *view = may ? runtime_view_settle() : NULL;
	uint32_t wanted = 0;

	for (uint32_t i = 0; view && i < LIFE_KINDS; i++)
		if (runtime_view_wants(view, "sched", events[i].name))
			wanted |= 1u << i;
	/* Two threads may look at once, and find the same, or the next event finds it. */
	STORE(life.wanted, wanted);
	/* Without a view nothing was found out. */
	if (view || !may)
		STORE(life.published, published);
}

/* The id of an event that is wanted now; 0: it is not. */
static uint32_t wanted(uint32_t kind)
{
	const uint32_t *hint;
	uint64_t published;
	uint32_t id;

	if (!life.lives || !LOAD(runtime.attached))
		return 0;
	published = LOAD_ACQUIRE(runtime.control->published);
	if (LOAD(life.published) != published)
		look(published);
	if (!(LOAD(life.wanted) & 1u << kind))
		return 0;
	id = LOAD(life.id[kind]);
	if (!id && !runtime_event_intern("sched", events[kind].name, events[kind].body, strlen(events[kind].body), 0, &id,
					 &hint))
		STORE(life.id[kind], id);
	return id;
}

static void tell_fork(uint32_t id, int32_t parent, int32_t child)
{
	struct fork_record record;
	uint32_t len;

	memset(&record, 0, sizeof(record));
	memcpy(record.text, runtime_comm(), sizeof(record.text) - 1);
	len = (uint32_t)strlen(record.text) + 1;
	/* A child is called as its parent is, so far. */
	record.parent_comm = record.child_comm = len << 16 | offsetof(struct fork_record, text);
	record.parent_pid = parent;
	record.child_pid = child;
	runtime_write(id, &record, (offsetof(struct fork_record, text) + len + 3) & ~3u);
}

/* Whoever comes first of parent and child. */
static int32_t take_forker(void)
{
	return __atomic_exchange_n(&runtime_self.forker, 0, __ATOMIC_RELAXED);
}

void runtime_life_forked(int32_t child)
{
	const uintptr_t own = runtime_own_begin();
	int saved = errno;
	int32_t parent = take_forker();

	if (parent && child > 0)
		tell_fork(life.id[LIFE_FORK], parent, child);
	errno = saved;
	runtime_own_end(own);
}

bool runtime_life_is_telling(void)
{
	return runtime_self.forker != 0;
}

void runtime_life_forking(void)
{
	const uintptr_t own = runtime_own_begin();
	int saved = errno;

	STORE(runtime_self.forker, wanted(LIFE_FORK) ? runtime_thread_tid() : 0);
	errno = saved;
	runtime_own_end(own);
}

void runtime_life_born(void)
{
	struct thread *thread = &runtime_self;
	int32_t child, parent = take_forker();
	int saved = errno;
	uintptr_t own;

	if (!parent)
		return;
	own = runtime_own_begin();
	child = runtime_thread_tid();
	/* As somebody else: in the way of those who are in somebody else's place. */
	runtime_guard_enter();
	thread->as = parent;
	tell_fork(life.id[LIFE_FORK], parent, child);
	thread->as = 0;
	runtime_guard_leave();
	errno = saved;
	runtime_own_end(own);
}

/* As the kernel counts: 120 and what nice adds to it, or less than 100. */
static int32_t priority(void)
{
	struct sched_param param;
	long policy, nice;

	if (LOAD(runtime.locked))
		return 120;
	policy = syscall(SYS_sched_getscheduler, 0) & ~SCHED_RESET_ON_FORK;
	if ((policy == SCHED_FIFO || policy == SCHED_RR) && !syscall(SYS_sched_getparam, 0, &param))
		return 99 - param.sched_priority;
	/* 20 less what nice says: 1 to 40. */
	nice = syscall(SYS_getpriority, 0, 0);
	return nice > 0 ? (int32_t)(140 - nice) : 120;
}

void runtime_life_ends(bool whole)
{
	const uintptr_t own = runtime_own_begin();
	int saved = errno;
	struct thread *thread = &runtime_self;
	uint32_t id = wanted(LIFE_EXIT);
	int32_t tid = id ? runtime_thread_tid() : 0;
	struct exit_record record;

	if (id && thread->exited != tid) {
		memset(&record, 0, sizeof(record));
		memcpy(record.comm, runtime_comm(), sizeof(record.comm) - 1);
		record.pid = tid;
		record.prio = priority();
		record.group_dead = whole;
		runtime_write(id, &record, sizeof(record));
		thread->exited = tid;
	}
	errno = saved;
	runtime_own_end(own);
}

/* Is the loader starting the program, and not loading us into one that has long been running? Then nobody but it calls us. */
static __attribute__((noinline)) bool is_beginning(void)
{
	uintptr_t loader = (uintptr_t)getauxval(AT_BASE);
	const struct module *own, *module;
	struct unwind unwind;

	FRAME_HERE(unwind.pc, unwind.reg[FRAME_SP], unwind.reg[FRAME_FP]);
	unwind.known = 1ull << FRAME_SP | 1ull << FRAME_FP;
	unwind.exact = true;
	own = module = runtime_module(unwind.pc);
	/* Part of the program itself: its constructors run once. */
	if (!own || own == runtime_module((uintptr_t)getauxval(AT_ENTRY)))
		return true;
	runtime_stack_at(&unwind.stack, unwind.reg[FRAME_SP]);
	for (int i = 0; i < 32 && runtime_unwind(&unwind, module) == UNWIND_CALLER; i++) {
		module = runtime_module(unwind.pc);
		if (module != own && (!module || loader < module->start || loader >= module->end))
			return false;
	}
	return true;
}

static void tell_exec(void)
{
	const char *name = (const char *)getauxval(AT_EXECFN);
	uint32_t id = wanted(LIFE_EXEC);
	struct exec_record record;
	size_t len;

	if (!id || !name || !is_beginning())
		return;
	memset(&record, 0, sizeof(record));
	len = strnlen(name, sizeof(record.text) - 1);
	memcpy(record.text, name, len++);
	record.filename = (uint32_t)len << 16 | offsetof(struct exec_record, text);
	record.pid = record.old_pid = runtime.pid;
	runtime_write(id, &record, (offsetof(struct exec_record, text) + len + 3) & ~3u);
}

static void thread_ends(void *arg)
{
	(void)arg;
	runtime_life_ends(false);
}

static void forking_ends(void)
{
	runtime_self.forker = 0;
}

/* Once, behind attaching: keys cannot be made in signal handlers. */
void runtime_life_start(void)
{
	life.lives = true;
	real.exit = (void (*)(int))dlsym(RTLD_NEXT, "_exit");
	/* Further ones would need memory when a thread sets its own. */
	life.has_ending = !pthread_key_create(&life.ending, thread_ends);
	if (life.has_ending && life.ending >= 32) {
		pthread_key_delete(life.ending);
		life.has_ending = false;
	}
	pthread_atfork(runtime_life_forking, forking_ends, runtime_life_born);
	tell_exec();
}

/* [any] A thread records for the first time: it is seen when it ends. */
void runtime_life_thread(void)
{
	if (life.has_ending)
		pthread_setspecific(life.ending, &life);
}

/* Behind the program's own, which may still record. */
__attribute__((destructor(101))) static void finish(void)
{
	runtime_life_ends(true);
}

/* ---- Doors of libc: what is behind them is found at start, since a handler cannot look for it ---- */

EXPORT __attribute__((noreturn)) void _exit(int status)
{
	runtime_life_ends(true);
	if (real.exit)
		real.exit(status);
	for (;;)
		syscall(SYS_exit_group, status);
}

EXPORT __attribute__((noreturn)) void _Exit(int status)
{
	_exit(status);
}
