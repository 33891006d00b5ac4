/*
 * Moved instructions do what they did where they came from: the window's bytes are run in one place and what site_make() has made of
 * them in another, from the same registers, flags and memory, and everything is compared: registers, flags, vector registers,
 * memory, where control goes, and which signal if any. Instructions are random ones, the first ones of real functions, and any of theirs.
 *
 *   low .. arena (data) .. A: the window, int3 around it .. M: the moved instructions; jmp behind the window .. high
 *
 * A run begins in a signal handler, which returns to it with the registers that are wanted, and ends with a signal: int3 behind the
 * window, or a fault at whatever else was jumped to or touched. Nothing of ours is mapped within reach.
 */
#include <stdint.h>
#include <stdio.h>

#if defined(__x86_64__)

#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ucontext.h>
#include <unistd.h>

#include <Zydis/Zydis.h>

#include "insist.h"
#include "plan/plan.h"
#include "plan/site.h"
#include "plan/x86.h"

#define BASE 0x200000000000ull
#define ARENA_AT BASE
#define ARENA_SIZE 16384u
#define CODE_SIZE 4096u
#define W_AT (BASE + 0x20000000ull + 2048)
#define NEARS_MAX 8
#define POINTS 40000u
#define REGS 16	/* general ones, as gregs[] has them, without rip */

static const uint64_t m_places[] = { BASE + 0x20100000ull, BASE + 0x58000000ull, BASE - 0x38000000ull };
#define NPLACES (sizeof(m_places) / sizeof(m_places[0]))

struct state {
	greg_t regs[REGS];
	uint64_t flags, rip;
	int signal;
	uint64_t touched;
	struct _libc_xmmreg xmm[16];
	uint8_t arena[ARENA_SIZE];
	uint8_t near_pages[NEARS_MAX][CODE_SIZE];
};

static uint8_t *window_page, *moved_page[NPLACES];	/* as we write them */
static uint8_t *near_at[NEARS_MAX];
static unsigned int nnears;
static struct state start, ended;
static uint64_t run_at;
static ucontext_t home;
static volatile sig_atomic_t running;
static uint64_t seed = 88172645463325252ull;

static uint64_t rnd(void)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return seed;
}

/* An address of a program's, mostly one with data. */
static uint64_t rnd_pointer(void)
{
	switch (rnd() % 8) {
	case 0:
		return rnd() % 256;
	case 1:
		return rnd() >> 17;
	default:
		return ARENA_AT + ARENA_SIZE / 4 + (rnd() % (ARENA_SIZE / 2) & ~7ull);
	}
}

/* ---- running ---- */

static const int order[REGS] = { REG_RAX, REG_RBX, REG_RCX, REG_RDX, REG_RSI, REG_RDI, REG_RBP, REG_RSP,
				 REG_R8, REG_R9, REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15 };
#define FLAGS 0x8d5ull	/* the arithmetic ones */

/* x87 and its like as a program has them at first, whatever was done to them. */
static void calm(struct _libc_fpstate *fpregs)
{
	memset(fpregs, 0, offsetof(struct _libc_fpstate, mxcsr));
	memset(fpregs->_st, 0, sizeof(fpregs->_st));
	fpregs->cwd = 0x37f;
	fpregs->mxcsr = 0x1f80;
}

static void begin(ucontext_t *uc)
{
	memcpy(&home, uc, sizeof(home));
	for (int i = 0; i < REGS; i++)
		uc->uc_mcontext.gregs[order[i]] = start.regs[i];
	uc->uc_mcontext.gregs[REG_EFL] = (greg_t)((uint64_t)(uc->uc_mcontext.gregs[REG_EFL] & ~(greg_t)FLAGS) | start.flags);
	uc->uc_mcontext.gregs[REG_RIP] = (greg_t)run_at;
	calm(uc->uc_mcontext.fpregs);
	memcpy(uc->uc_mcontext.fpregs->_xmm, start.xmm, sizeof(start.xmm));
	running = 1;
}

static void end(int signo, siginfo_t *info, ucontext_t *uc)
{
	struct _libc_fpstate *fpregs = uc->uc_mcontext.fpregs;

	for (int i = 0; i < REGS; i++)
		ended.regs[i] = uc->uc_mcontext.gregs[order[i]];
	ended.flags = (uint64_t)uc->uc_mcontext.gregs[REG_EFL] & (FLAGS | 0x400);
	ended.rip = (uint64_t)uc->uc_mcontext.gregs[REG_RIP];
	ended.signal = signo;
	ended.touched = signo == SIGSEGV || signo == SIGBUS ? (uint64_t)info->si_addr : 0;
	memcpy(ended.xmm, fpregs->_xmm, sizeof(ended.xmm));
	memcpy(uc->uc_mcontext.gregs, home.uc_mcontext.gregs, sizeof(home.uc_mcontext.gregs));
	calm(fpregs);
	running = 0;
}

static void handler(int signo, siginfo_t *info, void *context)
{
	if (signo == SIGUSR1)
		begin(context);
	else if (running)
		end(signo, info, context);
	else
		_exit(99);
}

static void handlers(void)
{
	static char stack[65536];
	const int all[] = { SIGUSR1, SIGTRAP, SIGSEGV, SIGBUS, SIGILL, SIGFPE };
	struct sigaction action = { .sa_sigaction = handler, .sa_flags = SA_SIGINFO | SA_ONSTACK };

	sigfillset(&action.sa_mask);
	CHECK(!sigaltstack(&(stack_t){ .ss_sp = stack, .ss_size = sizeof(stack) }, NULL), "sigaltstack");
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		CHECK(!sigaction(all[i], &action, NULL), "sigaction");
}

static void run(uint64_t at, struct state *out)
{
	memcpy((void *)ARENA_AT, start.arena, ARENA_SIZE);
	for (unsigned int i = 0; i < nnears; i++)
		memcpy(near_at[i], start.near_pages[i], CODE_SIZE);
	run_at = at;
	/* The upper halves, which we have no names for. */
	if (__builtin_cpu_supports("avx"))
		__asm__ volatile("vzeroupper" ::: "memory");
	raise(SIGUSR1);
	*out = ended;
	memcpy(out->arena, (void *)ARENA_AT, ARENA_SIZE);
	for (unsigned int i = 0; i < nnears; i++)
		memcpy(out->near_pages[i], near_at[i], CODE_SIZE);
}

/* ---- places ---- */

static uint8_t *code_at(uint64_t address)
{
	int fd = memfd_create("code", 0);
	uint8_t *ours;

	CHECK(fd >= 0 && !ftruncate(fd, CODE_SIZE), "memfd");
	CHECK(mmap((void *)address, CODE_SIZE, PROT_READ | PROT_EXEC, MAP_SHARED | MAP_FIXED_NOREPLACE, fd, 0) == (void *)address,
	      "%llx", (unsigned long long)address);
	ours = mmap(NULL, CODE_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	CHECK(ours != MAP_FAILED, "mmap");
	close(fd);
	return ours;
}

static void places(void)
{
	CHECK(mmap((void *)ARENA_AT, ARENA_SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0) ==
	      (void *)ARENA_AT, "arena");
	window_page = code_at(W_AT & ~4095ull);
	for (size_t i = 0; i < NPLACES; i++)
		moved_page[i] = code_at(m_places[i]);
}

/* Data where an instruction expects it. */
static void near_add(uint64_t address)
{
	void *page = (void *)(address & ~4095ull), *got;

	if (nnears == NEARS_MAX)
		return;
	got = mmap(page, CODE_SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
	if (got == MAP_FAILED)
		return;
	CHECK(got == page, "another place");
	near_at[nnears++] = got;
}

static void nears_drop(void)
{
	while (nnears)
		munmap(near_at[--nnears], CODE_SIZE);
}

/* ---- one window ---- */

/* What would do more than compute. */
static bool is_tame(const uint8_t *bytes, size_t len)
{
	ZydisDecoder decoder;
	ZydisDecodedInstruction in;

	ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
	if (!ZYAN_SUCCESS(ZydisDecoderDecodeInstruction(&decoder, NULL, bytes, len, &in)))
		return false;
	/* Reading a thread's own words, as prologues do. */
	if (in.attributes & ZYDIS_ATTRIB_HAS_SEGMENT_FS)
		return in.opcode_map == ZYDIS_OPCODE_MAP_DEFAULT && (in.opcode == 0x8b || in.opcode == 0x33 || in.opcode == 0x2b);
	if (in.attributes & (ZYDIS_ATTRIB_HAS_SEGMENT_GS | ZYDIS_ATTRIB_IS_PRIVILEGED))
		return false;
	/* Segment registers: the thread's own words are found by one. */
	if (in.opcode_map == ZYDIS_OPCODE_MAP_DEFAULT && in.opcode == 0x8e)
		return false;
	if (in.opcode_map == ZYDIS_OPCODE_MAP_0F && (in.opcode == 0xa1 || in.opcode == 0xa9 || (in.opcode >= 0xb2 && in.opcode <= 0xb5)))
		return false;
	switch (in.meta.category) {
	case ZYDIS_CATEGORY_SYSCALL: case ZYDIS_CATEGORY_SYSRET: case ZYDIS_CATEGORY_SYSTEM: case ZYDIS_CATEGORY_INTERRUPT:
	case ZYDIS_CATEGORY_IO: case ZYDIS_CATEGORY_IOSTRINGOP: case ZYDIS_CATEGORY_SEGOP: case ZYDIS_CATEGORY_XSAVE:
	case ZYDIS_CATEGORY_XSAVEOPT: case ZYDIS_CATEGORY_CET: case ZYDIS_CATEGORY_RDRAND: case ZYDIS_CATEGORY_RDSEED:
	case ZYDIS_CATEGORY_RDWRFSGS: case ZYDIS_CATEGORY_PKU: case ZYDIS_CATEGORY_WAITPKG: case ZYDIS_CATEGORY_MPX:
	case ZYDIS_CATEGORY_SGX: case ZYDIS_CATEGORY_UINTR: case ZYDIS_CATEGORY_AMX_TILE: case ZYDIS_CATEGORY_RDPID:
	case ZYDIS_CATEGORY_AVX512: case ZYDIS_CATEGORY_KMASK:
		return false;
	default:
		break;
	}
	switch (in.mnemonic) {
	case ZYDIS_MNEMONIC_RDTSC: case ZYDIS_MNEMONIC_RDTSCP: case ZYDIS_MNEMONIC_POPF: case ZYDIS_MNEMONIC_POPFD:
	case ZYDIS_MNEMONIC_POPFQ: case ZYDIS_MNEMONIC_LDMXCSR: case ZYDIS_MNEMONIC_VLDMXCSR: case ZYDIS_MNEMONIC_FLDCW:
	case ZYDIS_MNEMONIC_FLDENV: case ZYDIS_MNEMONIC_FRSTOR: case ZYDIS_MNEMONIC_FXRSTOR: case ZYDIS_MNEMONIC_FXRSTOR64:
	case ZYDIS_MNEMONIC_CPUID: case ZYDIS_MNEMONIC_XGETBV: case ZYDIS_MNEMONIC_FNINIT: case ZYDIS_MNEMONIC_RDPMC:
	case ZYDIS_MNEMONIC_MONITOR: case ZYDIS_MNEMONIC_MWAIT: case ZYDIS_MNEMONIC_MONITORX: case ZYDIS_MNEMONIC_MWAITX:
	/* They tell where they were. */
	case ZYDIS_MNEMONIC_FNSTENV: case ZYDIS_MNEMONIC_FNSAVE: case ZYDIS_MNEMONIC_FXSAVE: case ZYDIS_MNEMONIC_FXSAVE64:
	/* What they leave in flags is nobody's to tell. */
	case ZYDIS_MNEMONIC_XBEGIN: case ZYDIS_MNEMONIC_XEND: case ZYDIS_MNEMONIC_XABORT: case ZYDIS_MNEMONIC_XTEST:
		return false;
	default:
		return true;
	}
}

/*
 * Where each of the window's instructions went, by its steps; UINT8_MAX: in the middle of one. `call` is where one begins, and `spares` is
 * whether it keeps its target below the return address.
 */
struct way {
	uint8_t to[PLAN_WINDOW_MAX + 1];
	uint32_t call;
	bool spares;
};

static bool follow(const struct site *site, struct way *way)
{
	uint32_t from = 0;
	struct x86 x86;

	memset(way->to, UINT8_MAX, sizeof(way->to));
	way->call = UINT32_MAX;
	way->spares = false;
	for (uint32_t i = 0; i < site->nsteps; i++) {
		CHECK(site->steps[i].at == from && site->steps[i].moved < site->moved, "step %u", i);
		if (!is_tame(site->original + from, site->window - from))
			return false;
		CHECK(x86_decode(&x86, site->original + from, site->window - from), "an instruction at %u", from);
		way->to[from] = site->steps[i].moved;
		if (x86.near_at)
			near_add(W_AT + from + (uint64_t)x86.to);
		if (x86.kind == X86_CALL) {
			way->call = from;
			way->spares = !x86.direct && x86.by_stack;
		}
		from += x86.len;
	}
	return true;
}

static bool put_moved(const struct site *site, size_t place)
{
	const uint64_t m = m_places[place] + 64;
	uint8_t *to = moved_page[place] + 64, *end = to + site->moved;
	int64_t value;
	int32_t rel;

	memset(moved_page[place], 0xcc, CODE_SIZE);
	memcpy(to, site->code, site->moved);
	for (unsigned int i = 0; i < site->nfixes; i++) {
		uint8_t *at = to + site->fixes[i].at;

		if (site->fixes[i].kind == PLAN_FIX_AT) {
			memcpy(&value, at, 8);
			value += (int64_t)W_AT;
			memcpy(at, &value, 8);
			continue;
		}
		memcpy(&rel, at, 4);
		value = rel + (int64_t)(W_AT - m);
		rel = (int32_t)value;
		if (rel != value)
			return false;
		memcpy(at, &rel, 4);
	}
	*end = 0xe9;
	rel = (int32_t)(int64_t)(W_AT + site->window - (m + site->moved + 5));
	memcpy(end + 1, &rel, 4);
	return true;
}

static void rnd_state(void)
{
	uint64_t word;

	for (int i = 0; i < REGS; i++)
		start.regs[i] = (greg_t)rnd_pointer();
	start.regs[7] = (greg_t)(ARENA_AT + ARENA_SIZE / 2);
	start.flags = rnd() & FLAGS;
	for (size_t i = 0; i < sizeof(start.xmm) / 4; i++)
		((uint32_t *)start.xmm)[i] = (uint32_t)rnd();
	for (size_t i = 0; i < ARENA_SIZE; i += 8) {
		word = rnd_pointer();
		memcpy(start.arena + i, &word, 8);
	}
	for (unsigned int n = 0; n < nnears; n++)
		for (size_t i = 0; i < CODE_SIZE; i += 8) {
			word = rnd_pointer();
			memcpy(start.near_pages[n] + i, &word, 8);
		}
}

static void show(const struct site *site, const char *of)
{
	fprintf(stderr, "%s: window", of);
	for (int i = 0; i < site->window; i++)
		fprintf(stderr, " %02x", site->original[i]);
	fprintf(stderr, ", moved");
	for (int i = 0; i < site->moved; i++)
		fprintf(stderr, " %02x", site->code[i]);
	fputc('\n', stderr);
}

static struct { unsigned long runs, ends, faults, left, traps; } sum;

static void compare(const struct site *site, const struct state *a, struct state *b, uint64_t m, const struct way *way, const char *of)
{
	const uint8_t *to = way->to;
	uint64_t rip = a->rip, touched = a->touched;

	/* What stopped within the window stopped at the same instruction; behind an int3 is before the window, too. */
	if (a->signal != SIGTRAP && rip >= W_AT && rip < W_AT + site->window && to[rip - W_AT] != UINT8_MAX) {
		rip = m + to[rip - W_AT];
		sum.faults++;
	} else if (a->rip == W_AT + site->window + 1) {
		sum.ends++;
	} else {
		sum.left++;
	}
	/* Below the stack is nothing that anybody keeps across a call. */
	if (way->spares && (uint64_t)b->regs[7] - 8 - ARENA_AT <= ARENA_SIZE - 8)
		memcpy(b->arena + (b->regs[7] - 8 - (greg_t)ARENA_AT), a->arena + (b->regs[7] - 8 - (greg_t)ARENA_AT), 8);
	if (rip != b->rip || a->signal != b->signal || touched != b->touched || a->flags != b->flags ||
	    memcmp(a->regs, b->regs, sizeof(a->regs)) || memcmp(a->xmm, b->xmm, sizeof(a->xmm)) ||
	    memcmp(a->arena, b->arena, ARENA_SIZE) || memcmp(a->near_pages, b->near_pages, nnears * sizeof(a->near_pages[0]))) {
		show(site, of);
		for (int i = 0; i < REGS; i++)
			if (a->regs[i] != b->regs[i])
				fprintf(stderr, "register %d: %llx, moved %llx\n", i, a->regs[i], b->regs[i]);
		CHECK(false, "signal %d %d, at %llx (%llx) and %llx, flags %llx %llx, touched %llx %llx", a->signal, b->signal,
		      (unsigned long long)a->rip, (unsigned long long)rip, (unsigned long long)b->rip,
		      (unsigned long long)a->flags, (unsigned long long)b->flags, (unsigned long long)a->touched,
		      (unsigned long long)b->touched);
	}
}

static void side_by_side(const struct site *site, const char *of, int times)
{
	static struct state a, b;
	struct way way;

	if (follow(site, &way)) {
		memset(window_page, 0xcc, CODE_SIZE);
		memcpy(window_page + (W_AT & 4095), site->original, site->window);
		for (int i = 0; i < times; i++) {
			size_t place = rnd() % NPLACES;

			if (!put_moved(site, place))
				continue;
			rnd_state();
			run(W_AT, &a);
			/* A call that cannot even begin has not pushed anything. */
			if (way.call != UINT32_MAX && a.rip == W_AT + way.call)
				continue;
			run(m_places[place] + 64, &b);
			compare(site, &a, &b, m_places[place] + 64, &way, of);
			sum.runs++;
		}
	}
	nears_drop();
}

/* ---- windows ---- */

static void rnd_instruction(uint8_t *to)
{
	static const uint8_t ops[] = { 0x01, 0x03, 0x29, 0x2b, 0x31, 0x33, 0x39, 0x3b, 0x85, 0x89, 0x8b, 0x8d, 0x80, 0x81, 0x83, 0xc7,
				       0xc6, 0xf6, 0xf7, 0x63, 0x69, 0x6b, 0xd1, 0xd3, 0xc1, 0x87, 0xff, 0xfe, 0x11, 0x19 };
	static const uint8_t two[] = { 0x10, 0x11, 0x28, 0x29, 0x6f, 0x7f, 0xaf, 0xb6, 0xb7, 0xbe, 0xbf, 0x44, 0x4f, 0x92, 0x95, 0xba,
				       0xa3, 0xab, 0xb1, 0xc1, 0x57, 0x58, 0x59, 0x2f, 0xc6, 0x70, 0x1f, 0xc7, 0xfe, 0xef };

	for (int i = 0; i < 15; i++)
		to[i] = (uint8_t)rnd();
	switch (rnd() % 8) {
	case 0:		/* anything */
		return;
	case 1:		/* short branches, and long ones */
		to[0] = (uint8_t)(rnd() % 8 ? 0x70 | rnd() % 16 : rnd() % 2 ? 0xe0 | rnd() % 4 : 0xeb);
		return;
	case 2:
		to[0] = (uint8_t)(rnd() % 2 ? 0xe8 : 0xe9);
		to[4] = rnd() % 2 ? 0 : 0xff;
		return;
	case 3:		/* calls and jumps by memory and registers */
		to[0] = 0xff;
		to[1] = (uint8_t)((rnd() % 2 ? 0x05 : rnd() & 0xc7) | (rnd() % 2 ? 0x10 : 0x20));
		break;
	case 4:
		if (rnd() % 2)
			*to++ = (uint8_t)(rnd() % 3 ? 0x66 : 0xf3);
		if (rnd() % 2)
			*to++ = (uint8_t)(0x40 | rnd() % 16);
		*to++ = 0x0f;
		*to++ = two[rnd() % sizeof(two)];
		*to = (uint8_t)(rnd() % 2 ? (*to & 0x38) | 5 : *to);
		to[4] = rnd() % 2 ? 0 : to[4];
		return;
	case 5:		/* what prologues are made of */
		to[0] = (uint8_t)(0x50 | rnd() % 16);
		return;
	case 6:		/* short ones that end it */
		to[0] = (uint8_t)(rnd() % 2 ? 0xc3 : 0x90);
		return;
	default:
		if (rnd() % 2)
			*to++ = (uint8_t)(0x40 | rnd() % 16);
		to[0] = ops[rnd() % sizeof(ops)];
		to[1] = (uint8_t)(rnd() % 2 ? (to[1] & 0x38) | 5 : to[1]);
	}
	/* Places near enough to be had from everywhere. */
	to[5] = rnd() % 2 ? 0x00 : 0xff;
}

static void random_windows(long n)
{
	uint8_t bytes[64], marks[IMAGE_MARKS][8] = { { 0 } };
	struct image_text text = {
		.start = W_AT, .end = W_AT + sizeof(bytes), .bytes = bytes, .marks = { marks[0], marks[1], marks[2], marks[3] },
	};
	struct image image = { .texts = &text, .ntexts = 1 };
	struct site site;

	for (long i = 0; i < n; i++) {
		struct x86 x86;
		uint32_t at = 0;

		memset(bytes, 0x90, sizeof(bytes));
		while (at < PLAN_JUMP_SIZE) {
			rnd_instruction(bytes + at);
			if (x86_decode(&x86, bytes + at, 15))
				at += x86.len;
		}
		memset(bytes + at, 0x90, sizeof(bytes) - at);
		site_make(&site, &image, W_AT, 0, false);
		if (site.kind == PLAN_NOT)
			continue;
		sum.traps += site.kind == PLAN_TRAP;
		CHECK(site.window <= PLAN_WINDOW_MAX && site.moved <= PLAN_MOVED_MAX && site.nfixes <= SITE_FIXES_MAX, "too large");
		side_by_side(&site, "random", 4);
	}
}

/* Of a plan's sites about so many. */
static void plan_windows(const struct buf *out, long max)
{
	const struct plan *plan = (const struct plan *)out->data;
	const struct plan_site *sites = (const struct plan_site *)(out->data + plan->sites);

	for (uint32_t i = 0; i < plan->nsites; i += (uint32_t)(1 + plan->nsites / (uint64_t)max)) {
		const struct plan_site *from = &sites[i];
		struct site site = { .kind = from->kind, .window = from->window, .moved = from->moved, .nfixes = from->nfixes };
		const char *code = out->data + plan->code + from->code;

		if (from->kind == PLAN_NOT)
			continue;
		memcpy(site.original, code, from->window);
		memcpy(site.code, code + from->window, from->moved);
		site.nsteps = (uint8_t)code[from->window + from->moved];
		memcpy(site.steps, code + from->window + from->moved + 1, site.nsteps * sizeof(*site.steps));
		memcpy(site.fixes, (const struct plan_fix *)(out->data + plan->fixes) + from->fixes,
		       from->nfixes * sizeof(struct plan_fix));
		side_by_side(&site, out->data + plan->names + from->name, 2);
	}
}

/* Functions, then instructions anywhere. */
static void real_windows(const char *path, long max)
{
	struct buf out = BUF_INIT, extra = BUF_INIT;
	uint64_t *points = calloc(POINTS, sizeof(*points));
	struct err err = ERR_INIT;
	const struct plan *plan;

	CHECK(points, "memory");
	if (!access(path, R_OK)) {
		CHECK(!plan_make(&out, &(struct plan_file){ .path = path }, &err), "%s", err.text);
		plan_windows(&out, max);
		plan = (const struct plan *)out.data;
		for (size_t i = 0; i < POINTS; i++)
			points[i] = plan->text_start + rnd() % (plan->text_end - plan->text_start);
		CHECK(!plan_make_extra(&extra, &(struct plan_file){ .path = path }, points, POINTS, &err), "%s", err.text);
		plan_windows(&extra, max * 8);
	}
	free(points);
	buf_fini(&out);
	buf_fini(&extra);
}

int main(int argc, char **argv)
{
	long n = argc > 1 ? atol(argv[1]) : 40000;

	if (argc > 2)
		seed = strtoull(argv[2], NULL, 0);
	handlers();
	places();
	random_windows(n);
	CHECK(sum.runs > (unsigned long)n / 2 && sum.ends && sum.faults && sum.left && sum.traps, "%lu runs", sum.runs);
	real_windows("/lib/x86_64-linux-gnu/libc.so.6", n / 20);
	real_windows("/usr/lib/x86_64-linux-gnu/libstdc++.so.6", n / 20);
	real_windows("/usr/lib/x86_64-linux-gnu/libcrypto.so.3", n / 20);
	real_windows("/usr/bin/bash", n / 20);
	real_windows("/usr/bin/python3", n / 20);
	printf("%lu runs side by side: %lu to the window's end, %lu stopped within it, %lu went elsewhere\n", sum.runs, sum.ends,
	       sum.faults, sum.left);
	return 0;
}

#else

int main(void)
{
	puts("instructions of x86-64 run on x86-64");
	return 77;
}

#endif
