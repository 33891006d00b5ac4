/*
 * The calling thread's stack in addresses of the symbol space: in recursion, in threads, in a callback from a library that was
 * loaded late, in handlers on a stack of their own, in coroutines. A stack full of nonsense ends it early and harms nobody.
 */
#include "runtime/trace.h"

#include <dlfcn.h>
#include <pthread.h>
#include <setjmp.h>
#include <sys/prctl.h>
#include <ucontext.h>
#include <unwind.h>

#include "runtime/unwind.h"

#if defined(__clang__)
#define NOINLINE __attribute__((noinline))
#else
#define NOINLINE __attribute__((noinline, noclone))
#endif
#define DEPTH 100

static uint64_t got[256];
static uint32_t ngot;
static volatile int sink;

/* Functions whose frames are looked for; other code of this program may lie between them. */
typedef void function(void);
struct known {
	const char *name;
	function *at;
};
static const struct known *known_at(uint64_t address);

static NOINLINE void take(uint32_t max, uint32_t skip)
{
	ngot = runtime_stack(got, max, skip);
	sink++;
}

static NOINLINE void recurse(int depth)
{
	char room[200];

	memset(room, depth, sizeof(room));
	sink += room[depth];
	if (depth)
		recurse(depth - 1);
	else
		take(31, 0);
	sink += room[0];
}

static NOINLINE void shallow(void)
{
	take(256, 0);
	sink++;
}

static NOINLINE void skipping(void)
{
	take(256, 2);
	sink++;
}

static NOINLINE int compare(const void *a, const void *b)
{
	if (!ngot)
		take(256, 0);
	return *(const int *)a - *(const int *)b;
}

static NOINLINE void sorting(void)
{
	int numbers[] = { 3, 1, 2 };

	ngot = 0;
	qsort(numbers, 3, sizeof(int), compare);
	sink += numbers[0];
}

static NOINLINE _Unwind_Reason_Code visit(struct _Unwind_Context *context, void *arg)
{
	(void)context;
	(void)arg;
	take(256, 0);
	sink++;
	return _URC_END_OF_STACK;
}

static NOINLINE void loading(void)
{
	void *library = dlopen("libgcc_s.so.1", RTLD_NOW | RTLD_LOCAL);
	_Unwind_Reason_Code (*walk)(_Unwind_Trace_Fn, void *) = NULL;

	ngot = 0;
	if (library)
		*(void **)&walk = dlsym(library, "_Unwind_Backtrace");
	if (walk)
		walk(visit, NULL);
	sink++;
}

static sigjmp_buf back;

static NOINLINE void handler(int signo)
{
	take(256, 0);
	sink += signo;
	siglongjmp(back, 1);
}

static NOINLINE void handler_info(int signo, siginfo_t *info, void *context)
{
	(void)info;
	(void)context;
	take(256, 0);
	sink += signo;
	siglongjmp(back, 1);
}

/* A leaf: its return address may be in a register. */
static NOINLINE void faulty(void)
{
	volatile int *nowhere = (volatile int *)sizeof(int);

	__asm__ volatile("" : "+r"(nowhere));
	*nowhere = 1;
}

static NOINLINE void calls_faulty(void)
{
	faulty();
	sink++;
}

static NOINLINE void in_coroutine(void)
{
	take(256, 0);
	sink++;
}

static NOINLINE void coroutine(void)
{
	in_coroutine();
	sink++;
}

static NOINLINE void *thread_life(void *arg)
{
	shallow();
	recurse(DEPTH);
	(void)arg;
	sink++;
	return NULL;
}

#define KNOWN(name) { #name, (function *)(void *)name }
static const struct known all[] = {
	KNOWN(take),	KNOWN(recurse), KNOWN(shallow),	     KNOWN(skipping), KNOWN(compare),	   KNOWN(sorting),
	KNOWN(visit),	KNOWN(loading), KNOWN(handler),	     KNOWN(faulty),   KNOWN(calls_faulty), KNOWN(handler_info),
	KNOWN(coroutine), KNOWN(in_coroutine), KNOWN(thread_life),
};

static const struct known *known_at(uint64_t address)
{
	const struct known *best = NULL;
	uint64_t nearest = 4096;

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		uint64_t start = runtime_symbol_address((void *)all[i].at);

		if (address >= start && address - start < nearest) {
			nearest = address - start;
			best = &all[i];
		}
	}
	return best;
}

static const char *name_of(uint32_t i)
{
	const struct known *known = i < ngot ? known_at(got[i]) : NULL;

	return known ? known->name : "?";
}

/* Names in that order, innermost first; "..." leaves out any number of others. */
static void expect(const char *what, const char *const *names)
{
	uint32_t i = 0;

	for (; *names; names++) {
		if (!strcmp(*names, "...")) {
			names++;
			while (i < ngot && strcmp(name_of(i), *names))
				i++;
		}
		CHECK(i < ngot && !strcmp(name_of(i), *names), "%s: frame %u of %u is %s (%llx), not %s", what, i, ngot,
		      name_of(i), (unsigned long long)(i < ngot ? got[i] : 0), *names);
		i++;
	}
}
#define EXPECT(what, ...) expect(what, (const char *const[]){ __VA_ARGS__, NULL })

static void all_in_symbol_space(const char *what)
{
	for (uint32_t i = 0; i < ngot; i++)
		CHECK(got[i] > SYMBOL_SPACE_BASE, "%s: frame %u is %llx", what, i, (unsigned long long)got[i]);
}

static void in_depth(void)
{
	recurse(DEPTH);
	CHECK(ngot == 31, "31 frames were asked for, %u are there", ngot);
	EXPECT("recursion", "take", "recurse", "recurse");
	CHECK(!strcmp(name_of(30), "recurse"), "the last is %s", name_of(30));
	for (int i = 0; i < 2; i++) {
		/* The second time by what was learnt the first time. */
		shallow();
		EXPECT("shallow", "take", "shallow");
		CHECK(ngot > 3 && ngot < 12, "main is %u frames deep", ngot);
		all_in_symbol_space("shallow");
	}
	skipping();
	CHECK(strcmp(name_of(0), "skipping") && ngot > 1, "two were to be left out, %s is there", name_of(0));
}

static void through_libraries(void)
{
	sorting();
	EXPECT("callback of libc", "take", "compare", "...", "sorting");
	all_in_symbol_space("callback of libc");
	loading();
	if (ngot) {
		EXPECT("callback of a library loaded late", "take", "visit", "...", "loading");
		all_in_symbol_space("loaded");
	}
}

static void on_fault(int flags, bool info)
{
	struct sigaction act = { .sa_flags = flags }, old;

	if (info)
		act.sa_sigaction = handler_info;
	else
		act.sa_handler = handler;
	sigaction(SIGSEGV, &act, &old);
	if (!sigsetjmp(back, 1))
		calls_faulty();
	sigaction(SIGSEGV, &old, NULL);
	if (info)
		EXPECT("handler with information", "take", "handler_info", "...", "faulty", "calls_faulty");
	else
		EXPECT("handler", "take", "handler", "...", "faulty", "calls_faulty");
}

static void in_handlers(void)
{
	size_t size = 65536;
	stack_t stack = { .ss_sp = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0),
			  .ss_size = size };

	on_fault(0, false);
	on_fault(SA_SIGINFO, true);
	CHECK(!sigaltstack(&stack, NULL), "%s", strerror(errno));
	on_fault(SA_ONSTACK, false);
	on_fault(SA_SIGINFO | SA_ONSTACK, true);
	stack.ss_flags = SS_DISABLE;
	sigaltstack(&stack, NULL);
}

/* Each on a stack that was not there before, and is gone afterwards. */
static void in_coroutines(void)
{
	static ucontext_t here, there;

	for (int i = 0; i < 3; i++) {
		size_t size = 65536;
		char *at = mmap(NULL, size + 8192, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		CHECK(at != MAP_FAILED && !mprotect(at + 4096, size, PROT_READ | PROT_WRITE), "%s", strerror(errno));
		getcontext(&there);
		there.uc_stack.ss_sp = at + 4096;
		there.uc_stack.ss_size = size;
		there.uc_link = &here;
		makecontext(&there, coroutine, 0);
		swapcontext(&here, &there);
		EXPECT("coroutine", "take", "in_coroutine", "coroutine");
		munmap(at, size + 8192);
	}
}

/* On aarch64 a function's own variables lie above its frame pointer: it would smash those it works with. */
#ifdef __aarch64__
#define CAN_SMASH 0
#else
#define CAN_SMASH 1
#endif

/* Puts nonsense over all that lies above, then asks. Never returns. */
static NOINLINE __attribute__((no_sanitize("address"), noreturn, no_stack_protector)) void smash(uint64_t seed)
{
	volatile uintptr_t *from = (volatile uintptr_t *)__builtin_frame_address(0);
	uintptr_t top = (uintptr_t)from + 2048;

	for (volatile uintptr_t *at = from; (uintptr_t)at < top; at++) {
		uint32_t kind = draw(&seed) % 6;
		uintptr_t word = draw(&seed);

		word = kind == 0   ? word
		       : kind == 1 ? (uintptr_t)at + word % 4096
		       : kind == 2 ? (uintptr_t)recurse + word % 64
		       : kind == 3 ? (uintptr_t)-1 - word % 4096
		       : kind == 4 ? (uintptr_t)qsort + word % 4096
				   : (uintptr_t)at - word % 512;
		*at = kind < 5 && seed % 2 ? word & ~(uintptr_t)15 : word;
	}
	ngot = runtime_stack(got, 31, 0);
	_exit(ngot <= 31 ? 0 : 1);
}

static void smashed(void)
{
	for (uint64_t seed = 1; seed <= 200; seed++) {
		pid_t pid = fork();

		if (!pid)
			smash(seed * 0x9e3779b97f4a7c15ull);
		expect_exit(pid, 60, "a smashed stack");
	}
}

static void names(void)
{
	char before[16] = "";

	prctl(PR_GET_NAME, before);
	CHECK(!strcmp(runtime_comm(), before), "%s, not %s", runtime_comm(), before);
	prctl(PR_SET_NAME, "by-prctl");
	CHECK(!strcmp(runtime_comm(), "by-prctl"), "%s", runtime_comm());
	pthread_setname_np(pthread_self(), "by-pthread");
	CHECK(!strcmp(runtime_comm(), "by-pthread"), "%s", runtime_comm());
}

int main(void)
{
	bool valgrind = getenv("LD_PRELOAD") && strstr(getenv("LD_PRELOAD"), "vgpreload");
	struct control *control = tool_start(100);
	struct note_event event = note_event("stack");
	pthread_t thread;

	(void)event;
	in_depth();
	through_libraries();
	CHECK(!pthread_create(&thread, NULL, thread_life, NULL), "pthread_create");
	pthread_join(thread, NULL);
	CHECK(ngot == 31, "31 frames of a thread were asked for, %u are there", ngot);
	EXPECT("thread", "take", "recurse", "recurse");
	/* Handlers return to a place of valgrind's there, or of another emulator's, and stacks are not what they seem. */
	if (!valgrind && runtime_is_mapped((uintptr_t)&event, (uintptr_t)(&event + 1))) {
		in_handlers();
		in_coroutines();
	}
	if (!valgrind && CAN_SMASH)
		smashed();
	names();
	control_close(control);
	return 0;
}
