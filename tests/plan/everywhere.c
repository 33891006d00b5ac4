/*
 * A point at each instruction of a library in turn, as it is planned for: the library's work comes to the same, and the point is come by
 * as often as that instruction is executed, no more and no less.
 *
 *   reference   a child that is led instruction by instruction, by ptrace: how often each is executed
 *   points      another one, for all of them: the window is patched, what is moved is put near it, with a count before the point
 *
 *   W: jmp --> stub:  moved, up to the point | count | moved, from the point on | jmp W + window
 *
 * Where flags do not matter by the plan, the count spoils them.
 */
#include <stdint.h>
#include <stdio.h>

#if defined(__x86_64__) && !defined(__ILP32__)

#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/ucontext.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include "insist.h"
#include "plan/plan.h"

#define INPUTS 8u
#define STUB_SIZE 4096u
#define SECONDS 20u

/* What a child tells. */
struct told {
	uint64_t results[INPUTS];
	uint64_t hits;
	uint32_t at;		/* the site that it is about */
	bool done;
};

static const char *place;	/* of the test's files */
static uint64_t (*work)(uint64_t);
static uintptr_t load;
static unsigned char *stub;
static struct told *told;	/* behind the stub, shared with children */
static uint32_t *executed;	/* of each byte of the code */
static const struct plan *plan;
static uintptr_t trap_at;

static unsigned int jumps, before, traps, nots;

static const struct plan_site *sites(void)
{
	return (const struct plan_site *)((const char *)plan + plan->sites);
}

static const char *name_of(const struct plan_site *site)
{
	return (const char *)plan + plan->names + site->name;
}

/* ---- a library ---- */

static void compile(const char *command, const char *source)
{
	char line[1024];

	snprintf(line, sizeof(line), "%s -shared -fPIC -o %s/work.so %s/tests/plan/%s", command, place, getenv("RINGSIDE_SOURCE"), source);
	CHECK(!system(line), "%s", line);
}

/* Code and counts within reach of the library. */
static void stub_near(uintptr_t address)
{
	const int prot = PROT_READ | PROT_WRITE | PROT_EXEC, flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE;

	for (uintptr_t at = (address & ~4095ull) - (16u << 20); address - at < 1u << 30; at -= 1u << 20) {
		stub = mmap((void *)at, 2 * STUB_SIZE, prot, flags, -1, 0);
		if (stub == (void *)at)
			break;
	}
	CHECK(stub != MAP_FAILED, "no room within reach");
	told = mmap(stub + STUB_SIZE, STUB_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
	CHECK(told != MAP_FAILED, "mmap");
}

static void *library_open(void)
{
	char path[512];
	struct link_map *map;
	void *library;

	snprintf(path, sizeof(path), "%s/work.so", place);
	library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	CHECK(library && !dlinfo(library, RTLD_DI_LINKMAP, &map), "%s", dlerror());
	load = map->l_addr;
	work = (uint64_t (*)(uint64_t))dlsym(library, "work");
	CHECK(work, "no work");
	stub_near(load);
	return library;
}

/* A point at each byte of the code. */
static void plan_everywhere(struct buf *out)
{
	struct err err = ERR_INIT;
	uint64_t start, n;
	uint64_t *points;
	char path[512];

	snprintf(path, sizeof(path), "%s/work.so", place);
	CHECK(!plan_make(out, &(struct plan_file){ .path = path }, &err), "%s", err.text);
	start = ((const struct plan *)out->data)->text_start;
	n = ((const struct plan *)out->data)->text_end - start;
	buf_reset(out);
	points = calloc(n, sizeof(*points));
	executed = calloc(n, sizeof(*executed));
	CHECK(points && executed, "memory");
	for (uint64_t i = 0; i < n; i++)
		points[i] = start + i;
	CHECK(!plan_make_extra(out, &(struct plan_file){ .path = path }, points, n, &err), "%s", err.text);
	plan = (const struct plan *)out->data;
	CHECK(!plan_check(plan, out->len), "%s", plan_check(plan, out->len));
	CHECK(plan->nsites == n, "a site for each");
	free(points);
}

/* ---- children ---- */

static void work_all(void)
{
	for (uint32_t i = 0; i < INPUTS; i++)
		told->results[i] = work(i * 5 + 1 + i / 4);
	told->done = true;
}

/* Strings: each round is a step, but one instruction. */
static bool is_repeated(uintptr_t ip, uintptr_t last)
{
	const unsigned char *code = (const unsigned char *)ip;

	return ip == last && (code[0] == 0xf2 || code[0] == 0xf3);
}

static void note(uintptr_t ip, uintptr_t last)
{
	const uint64_t at = ip - load - plan->text_start;

	if (at < plan->text_end - plan->text_start && !is_repeated(ip, last))
		executed[at]++;
}

static void reference(void)
{
	struct user_regs_struct regs;
	uintptr_t last = 0;
	int status, signo = 0;
	pid_t child;

	memset(told, 0, sizeof(*told));
	child = fork();
	if (!child) {
		ptrace(PTRACE_TRACEME, 0, NULL, NULL);
		raise(SIGSTOP);
		work_all();
		_exit(0);
	}
	CHECK(child > 0 && waitpid(child, &status, 0) == child && WIFSTOPPED(status), "fork");
	for (;;) {
		CHECK(!ptrace(PTRACE_SINGLESTEP, child, NULL, (void *)(intptr_t)signo) && waitpid(child, &status, 0) == child, "step");
		if (!WIFSTOPPED(status))
			break;
		signo = WSTOPSIG(status) == SIGTRAP ? 0 : WSTOPSIG(status);
		CHECK(!ptrace(PTRACE_GETREGS, child, NULL, &regs), "registers");
		if (!signo)
			note(regs.rip, last);
		last = regs.rip;
	}
	CHECK(WIFEXITED(status) && !WEXITSTATUS(status) && told->done, "status %x", status);
}

/* ---- one point ---- */

static unsigned char *put(unsigned char *to, const void *bytes, size_t len)
{
	memcpy(to, bytes, len);
	return to + len;
}

static unsigned char *put_distance(unsigned char *to, const void *from)
{
	const int64_t wide = (int64_t)((uintptr_t)from - ((uintptr_t)to + 4));
	const int32_t distance = (int32_t)wide;

	CHECK(distance == wide, "out of reach");
	return put(to, &distance, 4);
}

static unsigned char *put_count(unsigned char *to, const struct plan_site *site)
{
	const bool live = site->flags & PLAN_SITE_FLAGS_LIVE;

	to = put(to, "\x48\x8d\x64\x24\x80", 5);	/* lea -128(%rsp), %rsp: what is below belongs to the function */
	to = put(to, "\x9c", live);			/* pushf */
	to = put(to, "\x48\xff\x05", 3);		/* incq hits(%rip) */
	to = put_distance(to, &told->hits);
	to = live ? put(to, "\x9d", 1) : put(to, site->address & 1 ? "\xf9" : "\xf8", 1);	/* popf, stc, clc */
	return put(to, "\x48\x8d\xa4\x24\x80\x00\x00\x00", 8);
}

static void apply_fixes(const struct plan_site *site, uint8_t split, unsigned char *rest)
{
	const struct plan_fix *fixes = (const struct plan_fix *)((const char *)plan + plan->fixes) + site->fixes;
	const uintptr_t window = load + plan_site_window(site);

	for (uint8_t i = 0; i < site->nfixes; i++) {
		unsigned char *m = fixes[i].at < split ? stub : rest - split;
		int32_t near;
		int64_t wide;

		if (fixes[i].kind == PLAN_FIX_AT) {
			memcpy(&wide, m + fixes[i].at, 8);
			wide += (int64_t)window;
			memcpy(m + fixes[i].at, &wide, 8);
			continue;
		}
		memcpy(&near, m + fixes[i].at, 4);
		wide = near + (int64_t)(window - (uintptr_t)m);
		near = (int32_t)wide;
		CHECK(near == wide, "out of reach");
		memcpy(m + fixes[i].at, &near, 4);
	}
}

static uint8_t split_of(const struct plan_site *site)
{
	const uint8_t *steps = (const uint8_t *)plan + plan->code + site->code + site->window + site->moved;

	for (uint8_t i = 0; i < steps[0]; i++)
		if (steps[1 + i * 2] == site->before)
			return steps[2 + i * 2];
	CHECK(false, "the point is no step");
	return 0;
}

static void put_stub(const struct plan_site *site)
{
	const unsigned char *moved = (const unsigned char *)plan + plan->code + site->code + site->window;
	const uint8_t split = split_of(site);
	unsigned char *at = put(stub, moved, split), *rest;

	rest = put_count(at, site);
	at = put(rest, moved + split, site->moved - split);
	at = put(at, "\xe9", 1);
	put_distance(at, (void *)(load + plan_site_window(site) + site->window));
	apply_fixes(site, split, rest);
}

static void on_trap(int signo, siginfo_t *info, void *context)
{
	ucontext_t *uc = context;

	(void)signo;
	(void)info;
	if ((uintptr_t)uc->uc_mcontext.gregs[REG_RIP] != trap_at + 1)
		_exit(98);
	uc->uc_mcontext.gregs[REG_RIP] = (greg_t)(uintptr_t)stub;
}

static void writable(void)
{
	const uintptr_t start = (load + plan->text_start) & ~4095ull, end = (load + plan->text_end + 4095) & ~4095ull;
	struct sigaction action = { .sa_sigaction = on_trap, .sa_flags = SA_SIGINFO };

	CHECK(!mprotect((void *)start, end - start, PROT_READ | PROT_WRITE | PROT_EXEC), "mprotect");
	CHECK(!sigaction(SIGTRAP, &action, NULL), "sigaction");
}

static void patch(const struct plan_site *site)
{
	unsigned char *at = (unsigned char *)(load + plan_site_window(site));

	CHECK(!memcmp(at, (const char *)plan + plan->code + site->code, site->window), "other code");
	put_stub(site);
	if (site->kind == PLAN_TRAP) {
		trap_at = (uintptr_t)at;
		*at = 0xcc;
		return;
	}
	*at = 0xe9;
	put_distance(at + 1, stub);
	/* Whoever comes into the window is not to get away with it. */
	memset(at + PLAN_JUMP_SIZE, 0xcc, site->window - PLAN_JUMP_SIZE);
}

static void check_point(const struct plan_site *site, const uint64_t *results)
{
	const uint32_t want = executed[site->address - plan->text_start];

	alarm(SECONDS);
	told->hits = 0;
	patch(site);
	work_all();
	memcpy((void *)(load + plan_site_window(site)), (const char *)plan + plan->code + site->code, site->window);
	CHECK(!memcmp(told->results, results, sizeof(told->results)), "other results");
	CHECK(told->hits == want, "%llu hits, executed %u times", (unsigned long long)told->hits, want);
}

/* ---- all of them ---- */

static bool is_run(uint32_t i)
{
	return executed[i] && sites()[i].kind != PLAN_NOT;
}

static void count(uint32_t i)
{
	const struct plan_site *site = &sites()[i];

	if (!executed[i])
		return;
	/* By hand there is one that is come into behind its prefix. */
	CHECK((site->reason != PLAN_MIDDLE && site->reason != PLAN_NOWHERE) || !strcmp(name_of(site), "by_hand"),
	      "%llx in %s: is executed, but %s", (unsigned long long)site->address, name_of(site), plan_reason(site->reason));
	jumps += site->kind == PLAN_JUMP;
	before += site->kind == PLAN_JUMP && site->before;
	traps += site->kind == PLAN_TRAP;
	nots += site->kind == PLAN_NOT;
}

static void check_points(void)
{
	uint64_t results[INPUTS];
	const struct plan_site *site;
	pid_t child;
	int status;

	memcpy(results, told->results, sizeof(results));
	told->done = false;
	child = fork();
	if (!child) {
		writable();
		for (told->at = 0; told->at < plan->nsites; told->at++)
			if (is_run(told->at))
				check_point(&sites()[told->at], results);
		_exit(0);
	}
	CHECK(child > 0 && waitpid(child, &status, 0) == child, "fork");
	site = &sites()[told->at < plan->nsites ? told->at : 0];
	CHECK(WIFEXITED(status) && !WEXITSTATUS(status) && told->done, "%llx in %s, kind %d, %u before: status %x",
	      (unsigned long long)site->address, name_of(site), site->kind, site->before, status);
}

static void check_library(const char *command, const char *source)
{
	struct buf out = BUF_INIT;
	void *library;

	compile(command, source);
	library = library_open();
	plan_everywhere(&out);
	reference();
	for (uint32_t i = 0; i < plan->nsites; i++)
		count(i);
	check_points();
	free(executed);
	buf_fini(&out);
	munmap(stub, 2 * STUB_SIZE);
	dlclose(library);
}

/* On one CPU: steps are handed from one process to the other and back. */
static void here_only(void)
{
	cpu_set_t cpus;

	CPU_ZERO(&cpus);
	CPU_SET(sched_getcpu(), &cpus);
	sched_setaffinity(0, sizeof(cpus), &cpus);
}

int main(void)
{
	static const char *const ways[] = { "gcc -O2", "gcc -O0", "gcc -O3 -mno-red-zone", "gcc -Os -fcf-protection=full",
					    "gcc -O2 -fno-plt -fno-asynchronous-unwind-tables", "clang -O2" };

	here_only();
	place = getenv("RINGSIDE_SCRATCH");
	CHECK(place && getenv("RINGSIDE_SOURCE"), "where am I?");
	for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++)
		if (strncmp(ways[i], "clang", 5) || !system("command -v clang >/dev/null"))
			check_library(ways[i], "everywhere_work.c");
	if (!system("command -v g++ >/dev/null")) {
		check_library("g++ -O2", "everywhere_throws.cc");
		check_library("g++ -O0", "everywhere_throws.cc");
	}
	printf("%u instructions by a jump, %u of them from before; %u by a trap, %u not at all\n", jumps, before, traps, nots);
	CHECK(jumps > 3000 && before > 100 && traps > 100, "too few of a kind");
	return 0;
}

#else

int main(void)
{
	puts("instructions of x86-64 run on x86-64");
	return 77;
}

#endif
