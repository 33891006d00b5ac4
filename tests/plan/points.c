/*
 * Which instructions get a jump, a trap or nothing, and why: places in functions made for each reason. And which system calls of a file
 * are points of its own plan.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "plan/make.h"
#include "plan/plan.h"

static struct buf functions, extra;

static const struct plan_site *sites(const struct buf *of)
{
	return (const struct plan_site *)(of->data + ((const struct plan *)of->data)->sites);
}

static uint32_t count(const struct buf *of)
{
	return ((const struct plan *)of->data)->nsites;
}

static const char *name_of(const struct buf *of, const struct plan_site *site)
{
	return of->data + ((const struct plan *)of->data)->names + site->name;
}

static uint64_t function(const char *name)
{
	for (uint32_t i = 0; i < count(&functions); i++)
		if (!(sites(&functions)[i].flags & PLAN_SITE_POINT) && !strcmp(name_of(&functions, &sites(&functions)[i]), name))
			return sites(&functions)[i].address;
	CHECK(false, "%s is missing", name);
	return 0;
}

static const struct plan_site *point(const struct buf *of, uint64_t address)
{
	for (uint32_t i = 0; i < count(of); i++)
		if (sites(of)[i].address == address && sites(of)[i].flags & PLAN_SITE_POINT)
			return &sites(of)[i];
	return NULL;
}

static void plan_functions(const char *file)
{
	struct err err = ERR_INIT;
	char path[512];

	snprintf(path, sizeof(path), "%s/%s", place, file);
	buf_reset(&functions);
	CHECK(!plan_make(&functions, &(struct plan_file){ .path = path }, &err), "%s", err.text);
	CHECK(!plan_check((const struct plan *)functions.data, functions.len), "sound");
}

static void plan_points(const char *file, const uint64_t *addresses, size_t n)
{
	struct err err = ERR_INIT;
	char path[512];

	snprintf(path, sizeof(path), "%s/%s", place, file);
	buf_reset(&extra);
	CHECK(!plan_make_extra(&extra, &(struct plan_file){ .path = path }, addresses, n, &err), "%s", err.text);
	CHECK(!plan_check((const struct plan *)extra.data, extra.len), "sound");
}

/* ---- by hand ---- */

#define LIVE PLAN_SITE_FLAGS_LIVE
#define GOES PLAN_SITE_GOES

/* F(name) begins a function, E(name) ends it. */
static const char by_hand[] =
	"#define F(n) .globl n; .type n, @function; .p2align 4; n:\n"
	"#define E(n) .size n, . - n\n"
	".text\n"
	"F(plain) push %rbp; mov %rsp, %rbp; mov $1, %eax; lea 1(%rax), %rax; xor %edx, %edx; pop %rbp; ret; E(plain)\n"
	/* 0 push, 1 mov, 4 test, 7 jne, 9 lea, 13: mov, 16 dec, 18 jne, 20 pop, 21 ret */
	"F(loops) push %rbx; mov %rdi, %rbx; test %rdi, %rdi; jne 1f; lea 1(%rdi), %rbx; 1: mov %rbx, %rax; dec %ebx; jne 1b;\n"
	"pop %rbx; ret;\n"
	".globl next; .type next, @function; next: ret; E(loops)\n"
	"F(calls) mov %rdi, %rbx; call *%rbx; test %eax, %eax; call *8(%rbx); ret; E(calls)\n"
	"F(carries) mov %rdi, %rax; add %rsi, %rax; mov %rdx, %rcx; adc $0, %rcx; mov %rcx, %rax; ret; E(carries)\n"
	"F(short_loop) mov %edi, %ecx; 1: dec %ecx; nop; jne 1b; ret; E(short_loop)\n"
	"F(spins) xor %eax, %eax; xor %edx, %edx; 1: jmp 1b; nop; nop; nop; nop; E(spins)\n"
	"F(stops) xor %eax, %eax; xor %edx, %edx; ud2; E(stops)\n"
	"F(broken) mov $1, %eax; .byte 0x06, 0x06, 0x06; mov $2, %eax; ret; E(broken)\n"
	"F(computes) and $3, %edi; lea 1f(%rip), %rax; add %rdi, %rax; jmp *%rax;\n"
	"1: nop; nop; nop; nop; mov $1, %eax; ret; E(computes)\n"
	"F(restarts) xor %eax, %eax; xor %edx, %edx; .Ls: mov %rdi, %rax; mov %rsi, (%rax); .Le: xor %eax, %eax;\n"
	"1: inc %eax; cmp $9, %eax; jl 1b; ret; E(restarts)\n"
	".p2align 4; .Labort: xor %eax, %eax; ret\n"
	"F(asks) mov $39, %eax; syscall; ret; nop; nop; nop; E(asks)\n"
	/* Somebody comes in right behind it. */
	"F(asks_early) mov $39, %eax; syscall; 1: dec %eax; jne 1b; ret; E(asks_early)\n"
	"F(asks_here) .byte 0x0f, 0x05; ret; nop; nop; E(asks_here)\n"
	"F(asks_and_restarts) xor %eax, %eax; .Ls2: syscall; mov %rsi, (%rax); .Le2: xor %eax, %eax; ret; E(asks_and_restarts)\n"
	"F(__restore_rt) mov $15, %rax; syscall; E(__restore_rt)\n"
	"F(waits) mov (%rdi), %eax; test %eax, %eax; jne 1f; mov %rdi, %r11; mov %rsi, %rax; mov %r11, 8(%rsp); syscall; ret; 1: ud2; E(waits)\n"
	"F(returns_too) mov $15, %eax; syscall; E(returns_too)\n"
	".globl chosen; .type chosen, @gnu_indirect_function; .p2align 4; chosen: lea plain(%rip), %rax; ret; E(chosen)\n"
	".globl numbers; .type numbers, @object; .p2align 4; numbers:\n"
	".byte 0x0f, 0x05, 0x0f, 0x05, 0xc3, 0x90, 0x90; .size numbers, . - numbers\n"
	"F(last.cold) xor %eax, %eax; mov $1, %edx; ret; E(last.cold)\n"
	".section __rseq_cs, \"aw\"; .p2align 5; .long 0, 0; .quad .Ls, .Le - .Ls, .Labort\n"
	".long 0, 0; .quad .Ls2, .Le2 - .Ls2, .Labort\n"
	".section .note.GNU-stack, \"\", @progbits\n";

/* `flags` are those that it has of `of`; window 0: whatever it is. */
static const struct want {
	const char *function;
	uint32_t offset;
	enum plan_kind kind;
	enum plan_reason reason;
	uint8_t before, window;
	uint16_t of, flags;
} wants[] = {
	{ "plain", 0, PLAN_JUMP, 0, 0, 9, 0, 0 },
	{ "plain", 1, PLAN_JUMP, 0, 0, 8, GOES, 0 },
	{ "plain", 2, PLAN_NOT, PLAN_MIDDLE, 0, 0, 0, 0 },
	{ "plain", 4, PLAN_JUMP, 0, 0, 5, 0, 0 },
	{ "plain", 8, PLAN_NOT, PLAN_MIDDLE, 0, 0, 0, 0 },
	{ "plain", 13, PLAN_JUMP, 0, 0, 5, GOES, GOES },	/* with what fills up */
	{ "plain", 16, PLAN_JUMP, 0, 0, 5, GOES, GOES },
	{ "loops", 0, PLAN_JUMP, 0, 0, 7, 0, 0 },
	{ "loops", 7, PLAN_JUMP, 0, 0, 6, LIVE, LIVE },
	{ "loops", 9, PLAN_JUMP, 0, 2, 6, 0, 0 },	/* from before: behind it somebody comes in */
	{ "loops", 13, PLAN_JUMP, 0, 0, 5, 0, 0 },
	{ "loops", 16, PLAN_JUMP, 0, 0, 5, 0, 0 },
	{ "loops", 18, PLAN_JUMP, 0, 2, 5, 0, 0 },
	{ "loops", 20, PLAN_JUMP, 0, 4, 5, 0, 0 },
	{ "loops", 21, PLAN_JUMP, 0, 5, 6, GOES, GOES },	/* what follows is somebody else's */
	{ "calls", 3, PLAN_JUMP, 0, 3, 5, GOES, GOES },
	{ "calls", 5, PLAN_JUMP, 0, 0, 5, GOES, GOES },
	{ "calls", 7, PLAN_JUMP, 0, 2, 5, GOES, GOES },
	{ "carries", 3, PLAN_JUMP, 0, 0, 6, LIVE, 0 },
	{ "carries", 6, PLAN_JUMP, 0, 0, 7, LIVE, LIVE },
	/* Back to where it is patched. */
	{ "short_loop", 2, PLAN_JUMP, 0, 0, 5, 0, 0 },
	{ "short_loop", 0, PLAN_TRAP, PLAN_ENTERED, 0, 2, 0, 0 },
	{ "spins", 4, PLAN_JUMP, 0, 0, 5, GOES, GOES },
	{ "stops", 2, PLAN_TRAP, PLAN_UNMOVABLE, 0, 2, 0, 0 },
	{ "stops", 4, PLAN_NOT, PLAN_UNMOVABLE, 0, 0, 0, 0 },
	{ "broken", 0, PLAN_JUMP, 0, 0, 5, 0, 0 },
	{ "broken", 5, PLAN_NOT, PLAN_UNDECODED, 0, 0, 0, 0 },
	{ "broken", 8, PLAN_NOT, PLAN_UNDECODED, 0, 0, 0, 0 },
	/* Nobody knows where it goes: windows of one instruction. */
	{ "computes", 0, PLAN_TRAP, PLAN_ENTERED, 0, 3, 0, 0 },
	{ "computes", 3, PLAN_JUMP, 0, 0, 7, 0, 0 },
	{ "computes", 13, PLAN_TRAP, PLAN_ENTERED, 0, 2, GOES, GOES },
	{ "computes", 15, PLAN_TRAP, PLAN_ENTERED, 0, 1, 0, 0 },
	{ "computes", 19, PLAN_JUMP, 0, 0, 5, 0, 0 },
	/* No jump reaches into a sequence, either. */
	{ "restarts", 2, PLAN_TRAP, PLAN_SHORT, 0, 2, 0, 0 },
	{ "restarts", 4, PLAN_NOT, PLAN_RESTARTED, 0, 0, 0, 0 },
	{ "restarts", 5, PLAN_NOT, PLAN_RESTARTED, 0, 0, 0, 0 },
	{ "restarts", 7, PLAN_NOT, PLAN_RESTARTED, 0, 0, 0, 0 },
	{ "restarts", 10, PLAN_TRAP, PLAN_ENTERED, 0, 2, GOES, 0 },
	{ "restarts", 12, PLAN_JUMP, 0, 0, 5, GOES, 0 },
	{ "asks", 5, PLAN_JUMP, 0, 0, 5, GOES, GOES },
	{ "asks_early", 5, PLAN_JUMP, 0, 5, 7, 0, 0 },
	{ "__restore_rt", 0, PLAN_NOT, PLAN_SPECIAL, 0, 0, 0, 0 },
	{ "__restore_rt", 7, PLAN_NOT, PLAN_SPECIAL, 0, 0, 0, 0 },
	{ "returns_too", 5, PLAN_NOT, PLAN_SPECIAL, 0, 0, 0, 0 },
	{ "waits", 6, PLAN_NOT, PLAN_SPECIAL, 0, 0, 0, 0 },
	{ "waits", 17, PLAN_NOT, PLAN_SPECIAL, 0, 0, 0, 0 },
	{ "chosen", 7, PLAN_NOT, PLAN_RESOLVER, 0, 0, 0, 0 },
	{ "last.cold", 2, PLAN_JUMP, 0, 0, 5, 0, 0 },
	/* Data, and what fills up. */
	{ "last.cold", (uint32_t)-16, PLAN_NOT, PLAN_NOWHERE, 0, 0, 0, 0 },
	{ "last.cold", (uint32_t)-8, PLAN_NOT, PLAN_NOWHERE, 0, 0, 0, 0 },
	{ "last.cold", 0x7000000, PLAN_NOT, PLAN_NOWHERE, 0, 0, 0, 0 },
};
#define NWANTS (sizeof(wants) / sizeof(wants[0]))

static uint64_t address_of(const struct want *want)
{
	return function(want->function) + (uint64_t)(int64_t)(int32_t)want->offset;
}

static void check_wants(const char *file)
{
	uint64_t addresses[NWANTS];

	for (size_t i = 0; i < NWANTS; i++)
		addresses[i] = address_of(&wants[i]);
	plan_points(file, addresses, NWANTS);
	CHECK(count(&extra) == NWANTS, "a site for each");
	for (size_t i = 0; i < NWANTS; i++) {
		const struct want *want = &wants[i];
		const struct plan_site *site = point(&extra, addresses[i]);

		CHECK(site && !(site->flags & PLAN_SITE_HIDDEN), "%s+%u is missing", want->function, want->offset);
		CHECK(site->kind == want->kind && site->reason == want->reason, "%s+%u: kind %d, %s", want->function, want->offset,
		      site->kind, plan_reason(site->reason));
		CHECK(site->before == want->before && (!want->window || site->window == want->window), "%s+%u: %d bytes from %u before",
		      want->function, want->offset, site->window, site->before);
		CHECK((site->flags & want->of) == want->flags, "%s+%u: flags %x", want->function, want->offset, site->flags);
		CHECK(!strcmp(name_of(&extra, site), site->reason == PLAN_NOWHERE ? "" : want->function), "%s+%u: of %s", want->function,
		      want->offset, name_of(&extra, site));
	}
}

static void check_syscall(const char *name, uint32_t offset, int before, int window)
{
	const struct plan_site *site = point(&functions, function(name) + offset);

	if (before < 0) {
		CHECK(!site, "%s has a system call", name);
		return;
	}
	CHECK(site && site->flags & PLAN_SITE_SYSCALL && site->flags & PLAN_SITE_HIDDEN && site->kind == PLAN_JUMP, "%s has none", name);
	CHECK(site->before == (uint32_t)before && site->window == window, "%s: %d bytes from %u before", name, site->window, site->before);
	CHECK(!strcmp(name_of(&functions, site), name), "%s: of %s", name, name_of(&functions, site));
}

static void check_by_hand(const char *command, const char *file)
{
	uint32_t n = 0;

	make("points.S", by_hand, command);
	plan_functions(file);
	check_wants(file);
	check_syscall("asks", 5, 0, 5);
	check_syscall("asks_early", 5, 5, 7);
	check_syscall("asks_here", 0, -1, 0);
	check_syscall("asks_and_restarts", 2, -1, 0);
	check_syscall("__restore_rt", 7, -1, 0);
	check_syscall("returns_too", 5, -1, 0);
	check_syscall("waits", 17, -1, 0);
	for (uint32_t i = 0; i < count(&functions); i++)
		n += !!(sites(&functions)[i].flags & PLAN_SITE_SYSCALL);
	CHECK(n == 2, "%u system calls", n);
	/* None at all is a plan, too. */
	plan_points(file, NULL, 0);
	CHECK(!count(&extra), "%u", count(&extra));
}

/* ---- whole files ---- */

static void refuse(const char *file, const char *words)
{
	struct err err = ERR_INIT;
	struct buf out = BUF_INIT;
	char path[512];
	int r;

	snprintf(path, sizeof(path), "%s/%s", place, file);
	r = plan_make_extra(&out, &(struct plan_file){ .path = path }, (const uint64_t[]){ 0x1000 }, 1, &err);
	CHECK(r == -95 && strstr(err.text, words) && !out.len, "%s: %d, %s", file, r, err.text);
	buf_fini(&out);
}

static void check_files(void)
{
	make("own.c", "int ringside_x(void) { return 1; }\n", "gcc -shared -fPIC -Wl,-soname,libringside.so.0 own.c -o own.so");
	refuse("own.so", "our own");
	make("own.c", "int ringside_runtime_lend(void) { return 1; } int main(void) { return 0; }\n", "gcc own.c -o own");
	refuse("own", "our own");
	/* Nothing in the loader can be patched. */
	make("loader.c", "int inside(int a) { return a * a * a + 5; }\n",
	     "gcc -O2 -shared -fPIC -nostdlib -Wl,-soname,ld-linux-x86-64.so.2 loader.c -o loader.so");
	plan_functions("loader.so");
	plan_points("loader.so", (const uint64_t[]){ function("inside") }, 1);
	CHECK(sites(&extra)[0].kind == PLAN_NOT && sites(&extra)[0].reason == PLAN_SPECIAL, "%s", plan_reason(sites(&extra)[0].reason));
}

static uint64_t number_in(const char *file)
{
	char path[512], text[64] = "";
	FILE *from;

	snprintf(path, sizeof(path), "%s/%s", place, file);
	from = fopen(path, "r");
	CHECK(from && fgets(text, sizeof(text), from), "%s", path);
	fclose(from);
	return strtoull(text, NULL, 16);
}

/* What is kept of one file is the same as read anew, and nothing of it is left when there is another one by its name. */
static void check_memory(void)
{
	struct plan_memory *memory = plan_memory_open();
	const struct plan_site *site;
	struct buf out = BUF_INIT;
	struct err err = ERR_INIT;
	char path[512];

	CHECK(memory, "no memory");
	snprintf(path, sizeof(path), "%s/kept.so", place);
	for (int i = 0; i < 3; i++) {
		make("kept.c", i < 2 ? "int first(int a) { return a * 3 + 1; }\n" :
		     "int other(int a) { return a - 1; } int first(int a) { return a * a * a + 5; }\n",
		     i == 1 ? "true" : "gcc -O2 -shared -fPIC kept.c -o kept.so");
		plan_functions("kept.so");
		plan_points("kept.so", (const uint64_t[]){ function("first") + 4, function("first") }, 2);
		buf_reset(&out);
		CHECK(!plan_memory_extra(memory, &out, &(struct plan_file){ .path = path },
					 (const uint64_t[]){ function("first"), function("first") + 4 }, 2, &err), "%s", err.text);
		CHECK(out.len == extra.len && !memcmp(out.data, extra.data, out.len), "time %d", i);
	}
	/* A function that nothing names: what the loader calls first. */
	make("kept.c", "int main(void) { return 0; }\n", "gcc -O2 -s kept.c -o kept.so && "
	     "readelf -SW kept.so | sed -n 's/^.*\\] \\.init  *PROGBITS  *\\([0-9a-f]*\\) .*/\\1/p' >init");
	plan_points("kept.so", (const uint64_t[]){ number_in("init") }, 1);
	site = sites(&extra);
	CHECK(site[0].kind != PLAN_NOT, "%s", plan_reason(site[0].reason));
	buf_fini(&out);
	plan_memory_close(memory);
}

int main(void)
{
	place = getenv("RINGSIDE_SCRATCH");
	CHECK(place, "where am I?");
#if !defined(__x86_64__)
	puts("the compiler makes no code of x86-64 here");
	return 77;
#endif
	check_by_hand("gcc -shared -nostdlib -Wl,-Bsymbolic points.S -o points.so", "points.so");
	check_by_hand("gcc -no-pie -nostdlib -Wl,-e,plain points.S -o points", "points");
	check_files();
	check_memory();
	for (int i = 1; i < PLAN_REASONS; i++)
		CHECK(*plan_reason((enum plan_reason)i), "words for reason %d", i);
	buf_fini(&functions);
	buf_fini(&extra);
	return 0;
}
