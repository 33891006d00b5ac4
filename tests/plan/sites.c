/*
 * Which functions get a jump, a trap or nothing, and why: functions made for each reason, by hand and by the compiler.
 */
#include <elf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "plan/make.h"
#include "plan/plan.h"

/* ---- a plan ---- */

static struct buf bytes;

static const struct plan *planned(const char *file)
{
	struct err err = ERR_INIT;
	char path[512];

	snprintf(path, sizeof(path), "%s/%s", place, file);
	buf_reset(&bytes);
	CHECK(!plan_make(&bytes, &(struct plan_file){ .path = path }, &err), "%s", err.text);
	CHECK(!plan_check((const struct plan *)bytes.data, bytes.len), "%s: %s", file,
	      plan_check((const struct plan *)bytes.data, bytes.len));
	return (const struct plan *)bytes.data;
}

static const struct plan_site *sites(const struct plan *plan)
{
	return (const struct plan_site *)((const char *)plan + plan->sites);
}

static const char *name_of(const struct plan *plan, const struct plan_site *site)
{
	return (const char *)plan + plan->names + site->name;
}

static const struct plan_site *find(const struct plan *plan, const char *name)
{
	for (uint32_t i = 0; i < plan->nsites; i++)
		if (!strcmp(name_of(plan, &sites(plan)[i]), name))
			return &sites(plan)[i];
	return NULL;
}

/* `flags` are those that it has of `of`. */
struct want {
	const char *name;
	enum plan_kind kind;
	enum plan_reason reason;
	uint16_t of, flags;
	uint8_t at, window;	/* window 0: whatever it is */
};

static void expect(const struct plan *plan, const struct want *want, size_t n)
{
	for (; n; n--, want++) {
		const struct plan_site *site = find(plan, want->name);

		CHECK(site, "%s is missing", want->name);
		CHECK(site->kind == want->kind && site->reason == want->reason, "%s: kind %d, %s", want->name, site->kind,
		      plan_reason(site->reason));
		CHECK((site->flags & want->of) == want->flags, "%s: flags %x", want->name, site->flags);
		CHECK(site->at == want->at && (!want->window || site->window == want->window), "%s: %d bytes at %d", want->name,
		      site->window, site->at);
	}
}

#define EXPECT(plan, ...) \
	expect(plan, (const struct want[]){ __VA_ARGS__ }, sizeof((const struct want[]){ __VA_ARGS__ }) / sizeof(struct want))

#define LIVE PLAN_SITE_FLAGS_LIVE
#define GOES PLAN_SITE_GOES

/* ---- by hand ---- */

/* F(name) begins a function, E(name) ends it. */
static const char by_hand[] =
	"#define F(n) .globl n; .type n, @function; .p2align 4; n:\n"
	"#define E(n) .size n, . - n\n"
	".text\n"
	"F(plain) push %rbp; mov %rsp, %rbp; sub $16, %rsp; leave; ret; E(plain)\n"
	"F(endbr) endbr64; push %rbp; mov %rsp, %rbp; sub $16, %rsp; leave; ret; E(endbr)\n"
	"F(near) mov data(%rip), %eax; ret; E(near)\n"
	"F(near_twice) cmpb $1, data(%rip); ret; E(near_twice)\n"
	"F(branches) test %edi, %edi; je 1f; xor %eax, %eax; ret; 1: mov $1, %eax; ret; E(branches)\n"
	"F(short_ret) ret; E(short_ret)\n"
	"F(short_jump) jmp plain; E(short_jump)\n"
	"F(short_jump8) jmp short_ret; E(short_jump8)\n"
	/* What follows is somebody else's. */
	"F(tight) ret; E(tight)\n"
	".globl tight_next; .type tight_next, @function; tight_next: xor %eax, %eax; ret; nop; nop; nop; E(tight_next)\n"
	"F(falls) xor %eax, %eax; E(falls)\n"
	".globl falls_into; .type falls_into, @function; falls_into: push %rbx; mov %rdi, %rbx; pop %rbx; ret; E(falls_into)\n"
	"F(label) push %rbx; mov %rdi, %rbx; .globl a_label; a_label: pop %rbx; ret; E(label)\n"
	"F(other_code) ret; E(other_code); .byte 0x55, 0x48, 0x89, 0xe5, 0x5d, 0xc3\n"
	/* Somebody comes in. */
	"F(loops) xor %eax, %eax; 1: inc %eax; cmp $3, %eax; jne 1b; ret; E(loops)\n"
	"F(loops_first) dec %edi; test %edi, %edi; jne loops_first; ret; E(loops_first)\n"
	"F(loops_short) dec %edi; jne loops_short; ret; nop; E(loops_short)\n"
	"F(from_outside) push %rbx; push %rbx; .Lin: push %rbx; push %rbx; add $32, %rsp; ret; E(from_outside)\n"
	"F(outside) lea 1(%rdi), %rdi; push %rbx; push %rbx; jmp .Lin; E(outside)\n"
	"F(taken) push %rbx; push %rbx; .Ltaken: push %rbx; push %rbx; add $32, %rsp; ret; E(taken)\n"
	"F(takes) lea .Ltaken(%rip), %rax; ret; E(takes)\n"
	"F(pointed) push %rbx; push %rbx; .Lpointed: push %rbx; push %rbx; add $32, %rsp; ret; E(pointed)\n"
	"F(tabled) push %rbx; push %rbx; .Ltabled: push %rbx; push %rbx; add $32, %rsp; ret; E(tabled)\n"
	"F(tables) lea .Ltable(%rip), %rdx; movslq (%rdx,%rdi,4), %rax; add %rdx, %rax; jmp *%rax; .Lcase: ret; E(tables)\n"
	/* Calls. */
	"F(calls_first) call plain; ret; E(calls_first)\n"
	"F(calls_last) sub $8, %rsp; call plain; add $8, %rsp; ret; E(calls_last)\n"
	"F(calls_got) push %rbx; call *pointer(%rip); pop %rbx; ret; E(calls_got)\n"
	"F(calls_register) push %rbx; push %rbx; push %rbx; call *%rax; pop %rbx; pop %rbx; pop %rbx; ret; E(calls_register)\n"
	"F(calls_early) push %rbx; call *%rax; pop %rbx; ret; nop; E(calls_early)\n"
	"F(calls_at_once) call *%rax; ret; nop; nop; nop; E(calls_at_once)\n"
	"F(calls_by_stack) push %rbx; call *8(%rsp); pop %rbx; ret; E(calls_by_stack)\n"
	/* What cannot be moved. */
	"F(counts) jrcxz 1f; nop; nop; nop; 1: ret; E(counts)\n"
	"F(counts_later) xor %eax, %eax; jrcxz 1f; nop; nop; nop; 1: ret; E(counts_later)\n"
	"F(begins) xbegin 1f; nop; nop; nop; 1: ret; E(begins)\n"
	"F(begins_later) xor %eax, %eax; xbegin 1f; nop; nop; nop; 1: ret; E(begins_later)\n"
	"F(ends_first) ud2; nop; nop; nop; E(ends_first)\n"
	"F(ends_later) xor %eax, %eax; ud2; nop; E(ends_later)\n"
	"F(no_code) .byte 0x06, 0x06, 0x06, 0x06, 0x06; ret; E(no_code)\n"
	"F(spins) jmp spins; nop; nop; nop; E(spins)\n"
	"F(asks_kernel) mov $39, %eax; syscall; ret; E(asks_kernel)\n"
	/* Flags. */
	"F(reads_flags) mov %rdi, %rax; adc %rsi, %rax; ret; E(reads_flags)\n"
	"F(sets_flags) mov %rdi, %rax; add %rsi, %rax; adc $0, %rax; ret; E(sets_flags)\n"
	"F(keeps_carry) inc %rdi; adc $0, %rdi; mov %rdi, %rax; ret; E(keeps_carry)\n"
	"F(pushes_flags) pushf; pop %rax; nop; nop; nop; ret; E(pushes_flags)\n"
	"F(jumps_away) mov %rdi, %rax; mov %rsi, %rdx; jmp *%rdx; E(jumps_away)\n"
	/* Names. */
	"F(__weak_name) push %rbx; mov %rdi, %rbx; pop %rbx; ret; E(__weak_name)\n"
	".weak weak_name; .set weak_name, __weak_name; .type weak_name, @function\n"
	".globl much_longer_name; .set much_longer_name, __weak_name; .type much_longer_name, @function\n"
	"F(dlsym) push %rbx; mov %rdi, %rbx; pop %rbx; ret; E(dlsym)\n"
	"F(_Unwind_Resume) push %rbx; mov %rdi, %rbx; pop %rbx; ret; E(_Unwind_Resume)\n"
	"F(setjmp) push %rbx; mov %rdi, %rbx; pop %rbx; ret; E(setjmp)\n"
	"F(plain.cold) push %rbx; mov %rdi, %rbx; pop %rbx; ret; E(plain.cold)\n"
	"F(__restore_rt) mov $15, %rax; syscall; E(__restore_rt)\n"
	".globl chosen; .type chosen, @gnu_indirect_function; .p2align 4; chosen: lea plain(%rip), %rax; ret; E(chosen)\n"
	/* In the middle of a frame, where the stack is another. */
	"F(framed) .cfi_startproc; push %rbx; .cfi_def_cfa_offset 16; mov %rdi, %rbx; xor %eax, %eax;\n"
	".globl middle; .type middle, @function; middle: mov %rbx, %rdi; add $5, %rdi; pop %rbx; .cfi_def_cfa_offset 8; ret;\n"
	".cfi_endproc; E(middle); E(framed)\n"
	"F(split) .cfi_startproc; .cfi_def_cfa_offset 32; mov %rbx, %rdi; add $5, %rdi; ret; .cfi_endproc; E(split)\n"
	/* rseq */
	"F(restarts) .Ls: mov %rdi, %rax; mov %rsi, (%rax); .Le: xor %eax, %eax; ret; E(restarts)\n"
	".p2align 4; .Labort: xor %eax, %eax; ret\n"
	"F(aborted_to) push %rbx; push %rbx; .Lto: push %rbx; push %rbx; add $32, %rsp; ret; E(aborted_to)\n"
	".section __rseq_cs, \"aw\"; .p2align 5; .long 0, 0; .quad .Ls, .Le - .Ls, .Lto\n"
	".data; .p2align 3; data: .long 1; .p2align 3; pointer: .quad .Lpointed\n"
	".section .rodata; .p2align 2; .Ltable: .long .Lcase - .Ltable, .Ltabled - .Ltable\n"
	".section .note.GNU-stack, \"\", @progbits\n";

static void check_by_hand(const char *command, const char *file)
{
	const struct plan *plan;

	make("hand.S", by_hand, command);
	plan = planned(file);
	EXPECT(plan,
	       { "plain", PLAN_JUMP, 0, LIVE | GOES, 0, 0, 8 },
	       { "endbr", PLAN_JUMP, 0, LIVE | GOES, 0, 4, 8 },
	       { "near", PLAN_JUMP, 0, 0, 0, 0, 6 },
	       { "near_twice", PLAN_JUMP, 0, 0, 0, 0, 7 },
	       { "branches", PLAN_JUMP, 0, LIVE | GOES, 0, 0, 6 },
	       { "short_ret", PLAN_JUMP, 0, LIVE | GOES, GOES, 0, 5 },
	       { "short_jump", PLAN_JUMP, 0, GOES, GOES, 0, 5 },
	       { "short_jump8", PLAN_JUMP, 0, GOES, GOES, 0, 5 },
	       { "tight", PLAN_TRAP, PLAN_SHORT, GOES, GOES, 0, 1 },
	       { "tight_next", PLAN_JUMP, 0, GOES, GOES, 0, 5 },
	       { "falls", PLAN_TRAP, PLAN_SHORT, GOES, 0, 0, 2 },
	       { "falls_into", PLAN_JUMP, 0, 0, 0, 0, 5 },
	       { "label", PLAN_TRAP, PLAN_OVERLAPS, 0, 0, 0, 1 },
	       { "other_code", PLAN_TRAP, PLAN_SHORT, GOES, GOES, 0, 1 },
	       { "loops", PLAN_TRAP, PLAN_ENTERED, 0, 0, 0, 2 },
	       { "loops_first", PLAN_TRAP, PLAN_ENTERED, 0, 0, 0, 2 },
	       { "loops_short", PLAN_TRAP, PLAN_ENTERED, 0, 0, 0, 2 },
	       { "from_outside", PLAN_TRAP, PLAN_ENTERED, 0, 0, 0, 1 },
	       { "outside", PLAN_JUMP, 0, 0, 0, 0, 5 },
	       { "taken", PLAN_TRAP, PLAN_ENTERED, 0, 0, 0, 1 },
	       { "takes", PLAN_JUMP, 0, 0, 0, 0, 7 },
	       { "pointed", PLAN_TRAP, PLAN_ENTERED, 0, 0, 0, 1 },
	       { "tabled", PLAN_TRAP, PLAN_ENTERED, 0, 0, 0, 1 },
	       { "tables", PLAN_JUMP, 0, 0, 0, 0, 7 },
	       { "calls_first", PLAN_JUMP, 0, GOES | LIVE, GOES, 0, 5 },
	       { "calls_last", PLAN_JUMP, 0, GOES | LIVE, GOES, 0, 9 },
	       { "calls_got", PLAN_JUMP, 0, GOES | LIVE, GOES, 0, 7 },
	       { "calls_register", PLAN_JUMP, 0, GOES | LIVE, GOES, 0, 5 },
	       { "calls_early", PLAN_TRAP, PLAN_CALLS, GOES, 0, 0, 1 },
	       { "calls_at_once", PLAN_TRAP, PLAN_CALLS, GOES, GOES, 0, 2 },
	       { "calls_by_stack", PLAN_JUMP, 0, GOES, GOES, 0, 5 },
	       { "counts", PLAN_JUMP, 0, GOES, 0, 0, 5 },
	       { "counts_later", PLAN_JUMP, 0, GOES, 0, 0, 5 },
	       { "begins", PLAN_NOT, PLAN_UNMOVABLE, 0, 0, 0, 0 },
	       { "begins_later", PLAN_TRAP, PLAN_UNMOVABLE, 0, 0, 0, 2 },
	       { "ends_first", PLAN_NOT, PLAN_UNMOVABLE, 0, 0, 0, 0 },
	       { "ends_later", PLAN_TRAP, PLAN_UNMOVABLE, 0, 0, 0, 2 },
	       { "no_code", PLAN_NOT, PLAN_UNDECODED, 0, 0, 0, 0 },
	       { "spins", PLAN_NOT, PLAN_UNMOVABLE, 0, 0, 0, 0 },
	       { "asks_kernel", PLAN_JUMP, 0, LIVE, 0, 0, 5 },
	       { "reads_flags", PLAN_JUMP, 0, LIVE, LIVE, 0, 6 },
	       { "sets_flags", PLAN_JUMP, 0, LIVE, 0, 0, 6 },
	       { "keeps_carry", PLAN_JUMP, 0, LIVE, LIVE, 0, 7 },
	       { "pushes_flags", PLAN_JUMP, 0, LIVE, LIVE, 0, 5 },
	       { "jumps_away", PLAN_JUMP, 0, LIVE, LIVE, 0, 6 },
	       { "weak_name", PLAN_JUMP, 0, 0, 0, 0, 5 },
	       { "dlsym", PLAN_JUMP, 0, PLAN_SITE_NO_RETURN_HOOK | PLAN_SITE_UNWINDS, PLAN_SITE_NO_RETURN_HOOK, 0, 5 },
	       { "_Unwind_Resume", PLAN_JUMP, 0, PLAN_SITE_UNWINDS, PLAN_SITE_UNWINDS, 0, 5 },
	       { "setjmp", PLAN_JUMP, 0, PLAN_SITE_NO_RETURN_HOOK, PLAN_SITE_NO_RETURN_HOOK, 0, 5 },
	       { "plain.cold", PLAN_NOT, PLAN_SPECIAL, 0, 0, 0, 0 },
	       { "__restore_rt", PLAN_NOT, PLAN_SPECIAL, 0, 0, 0, 0 },
	       { "chosen", PLAN_NOT, PLAN_RESOLVER, 0, 0, 0, 0 },
	       { "framed", PLAN_JUMP, 0, 0, 0, 0, 0 },
	       { "middle", PLAN_NOT, PLAN_SPECIAL, 0, 0, 0, 0 },
	       { "split", PLAN_NOT, PLAN_SPECIAL, 0, 0, 0, 0 },
	       { "restarts", PLAN_NOT, PLAN_RESTARTED, 0, 0, 0, 0 },
	       { "aborted_to", PLAN_TRAP, PLAN_ENTERED, 0, 0, 0, 1 });
	CHECK(!find(plan, "__weak_name") && !find(plan, "much_longer_name") && !find(plan, "a_label"), "one site for one address");
}

/* ---- by the compiler ---- */

static const char by_compiler[] =
	"int other(int); int data[64];\n"
	"__attribute__((noinline)) int work(int a) { return a * data[a & 63] + 1; }\n"
	"__attribute__((noinline)) int calls(int a) { return work(a + 1) + work(a); }\n"
	"int choose(int a, int b) {\n"
	"  switch (a) { case 0: return b + 1; case 1: return b * 7; case 2: return work(b); case 3: return b - 2;\n"
	"  case 4: return b ^ 3; case 5: return calls(b); case 6: return -b; case 7: return b / 3; default: return 0; } }\n"
	"int main(int argc, char **argv) { (void)argv; return choose(argc, 1) + calls(argc); }\n";

static void check_by_compiler(const char *options, const char *mode)
{
	char command[512], shown[64] = "";
	const struct plan *plan;

	snprintf(shown, sizeof(shown), "%.60s", mode);
	snprintf(command, sizeof(command), "gcc %s %s c.c -o c", options, shown);
	make("c.c", by_compiler, command);
	plan = planned("c");
	EXPECT(plan, { "work", PLAN_JUMP, 0, 0, 0, find(plan, "work")->at, 0 }, { "calls", PLAN_JUMP, 0, 0, 0, find(plan, "calls")->at, 0 },
	       { "choose", PLAN_JUMP, 0, 0, 0, find(plan, "choose")->at, 0 }, { "main", PLAN_JUMP, 0, 0, 0, find(plan, "main")->at, 0 },
	       { "_start", PLAN_NOT, PLAN_SPECIAL, 0, 0, find(plan, "_start")->at, 0 });
}

/* Exceptions land in functions; what tells where is read, and if it cannot be read, nothing is sure. */
static const char thrower[] =
	"#include <stdexcept>\n"
	"struct held { ~held(); }; held::~held() { asm volatile(\"\"); }\n"
	"__attribute__((noinline)) int throws(int a) { held h; if (a > 3) throw std::runtime_error(\"x\"); return a; }\n"
	"__attribute__((noinline)) int catches(int a) { try { held h; return throws(a); } catch (std::exception &e) { return -1; } }\n"
	"int main(int argc, char **) { return catches(argc) + catches(argc + 3) != 0; }\n";

static void damage(const char *from, const char *to, const char *section)
{
	char line[1024];

	/* All of the section's bytes become ff. */
	snprintf(line, sizeof(line),
		 "cd %s && cp %s %s && set -- $(objdump -h -j %s %s | awk '$2 == \"%s\" { print $3, $6 }') && "
		 "head -c $((0x$1)) /dev/zero | tr '\\0' '\\377' | dd of=%s bs=1 seek=$((0x$2)) conv=notrunc 2>/dev/null",
		 place, from, to, section, from, section, to);
	CHECK(!system(line), "%s", line);
}

static void check_exceptions(void)
{
	const struct plan *plan;

	if (system("command -v g++ >/dev/null"))
		return;
	make("t.cc", thrower, "g++ -O2 t.cc -o t");
	plan = planned("t");
	EXPECT(plan, { "_Z7catchesi", PLAN_JUMP, 0, 0, 0, 0, 0 }, { "_Z6throwsi", PLAN_JUMP, 0, 0, 0, 0, 0 });
	/* They share a part that only exceptions come to. */
	if (find(plan, "_Z6throwsi.cold"))
		EXPECT(plan, { "_Z6throwsi.cold", PLAN_NOT, PLAN_SPECIAL, 0, 0, 0, 0 });
	damage("t", "t_pads", ".gcc_except_table");
	plan = planned("t_pads");
	EXPECT(plan, { "_Z7catchesi", PLAN_TRAP, PLAN_ENTERED, 0, 0, 0, 0 }, { "_ZN4heldD1Ev", PLAN_JUMP, 0, 0, 0, 0, 0 });
	damage("t", "t_frames", ".eh_frame");
	plan = planned("t_frames");
	EXPECT(plan, { "_Z7catchesi", PLAN_TRAP, PLAN_ENTERED, 0, 0, 0, 0 }, { "_ZN4heldD1Ev", PLAN_TRAP, PLAN_ENTERED, 0, 0, 0, 0 });
}

/* A landing pad in the window, which no compiler would put there. */
static const char pads[] =
	".text; .globl pad; .type pad, @function; .p2align 4\n"
	"pad: .cfi_startproc; .cfi_lsda 0x1b, table; push %rbx; .Lfirst: push %rbx; .Lpad: push %rbx; push %rbx; push %rbx; add $40, %rsp\n"
	"ret; .cfi_endproc; .size pad, . - pad\n"
	".section .gcc_except_table, \"a\"; .p2align 2\n"
	"table: .byte 0xff, 0xff, 0x01, .Lend - .Lsites; .Lsites: .uleb128 0, 1, .Lpad - pad, 0; .Lend:\n"
	".section .note.GNU-stack, \"\", @progbits\n";

static void check_pads(void)
{
	make("p.S", pads, "gcc -shared -nostdlib p.S -o p.so");
	EXPECT(planned("p.so"), { "pad", PLAN_TRAP, PLAN_ENTERED, 0, 0, 0, 1 });
}

/* ---- whole files ---- */

static void refuse(const char *file, int code, const char *words)
{
	struct err err = ERR_INIT;
	struct buf out = BUF_INIT;
	char path[512];
	int r;

	snprintf(path, sizeof(path), "%s%s%s", *file == '/' ? "" : place, *file == '/' ? "" : "/", file);
	r = plan_make(&out, &(struct plan_file){ .path = path }, &err);
	CHECK(r == code && strstr(err.text, words), "%s: %d, %s", file, r, err.text);
	CHECK(!out.len, "nothing is put out");
	buf_fini(&out);
}

static void check_files(void)
{
	const struct plan *plan;
	struct err err = ERR_INIT;
	struct buf out = BUF_INIT;
	char path[512];

	make("go.S", ".section .go.buildinfo, \"aw\"; .quad 1\n.text; .globl f; .type f, @function; f: ret; .size f, . - f\n",
	     "gcc -shared -nostdlib go.S -o go.so 2>/dev/null");
	refuse("go.so", -95, "Go");
	make("own.c", "int ringside_x(void) { return 1; }\n", "gcc -shared -fPIC -Wl,-soname,libringside.so.0 own.c -o own.so");
	refuse("own.so", -95, "our own");
	make("own.c", "int ringside_runtime_lend(void) { return 1; } int main(void) { return 0; }\n", "gcc own.c -o own");
	refuse("own", -95, "our own");
	refuse("/nonexistent", -2, "/nonexistent");
	refuse("own.c", -8, "ELF");
	make("own.o.c", "int x(void) { return 1; }\n", "gcc -c own.o.c -o x.o");
	CHECK(!planned("x.o")->nsites, "nothing of it can be run");

	/* The loader: nothing but what tells that files were loaded. */
	make("loader.c", "int inside(int a) { return a * a * a; } void _dl_debug_state(void) { __asm__(\"nop;nop;nop;nop;nop\"); }\n",
	     "gcc -O2 -shared -fPIC -nostdlib -Wl,-soname,ld-linux-x86-64.so.2 loader.c -o loader.so");
	EXPECT(planned("loader.so"), { "inside", PLAN_NOT, PLAN_SPECIAL, 0, 0, 0, 0 },
	       { "_dl_debug_state", PLAN_JUMP, 0, PLAN_SITE_LOADS | PLAN_SITE_HIDDEN, PLAN_SITE_LOADS | PLAN_SITE_HIDDEN, 0, 0 });

	/* An unwinder that cannot be told. */
	make("u.c", "int dl_iterate_phdr(); int walks(void) { return dl_iterate_phdr(0, 0); }\n", "gcc -O2 -shared -fPIC u.c -o u.so");
	CHECK(planned("u.so")->flags & PLAN_OWN_UNWINDER, "one of its own");
	make("u.c", "int dl_iterate_phdr(); int walks(void) { return dl_iterate_phdr(0, 0); }\n"
		    "int _Unwind_RaiseException(int a) { return a * a * a; }\n", "gcc -O2 -shared -fPIC u.c -o u2.so");
	plan = planned("u2.so");
	CHECK(!(plan->flags & PLAN_OWN_UNWINDER), "one that can be told");
	EXPECT(plan, { "_Unwind_RaiseException", PLAN_JUMP, 0, PLAN_SITE_UNWINDS, PLAN_SITE_UNWINDS, 0, 0 });

	/* A garbage collector that looks for its frames by itself, and somebody who asks the system for all. */
	make("u.c", "int caml_call_gc(int a) { return a * a * a; }\n", "gcc -O2 -shared -fPIC u.c -o u3.so");
	CHECK(planned("u3.so")->flags == (PLAN_OWN_UNWINDER | PLAN_OWN_WALKER), "%x", planned("u3.so")->flags);
	make("u.c", "int dl_iterate_phdr(), _Unwind_Backtrace(); int walks(void) { return dl_iterate_phdr(0, 0) + _Unwind_Backtrace(0, 0); }\n",
	     "gcc -O2 -shared -fPIC u.c -o u4.so");
	CHECK(!planned("u4.so")->flags, "%x", planned("u4.so")->flags);
	make("u.c", "int main(void) { return 0; }\n", "gcc -O2 -static -s u.c -o u5 2>/dev/null || cp u3.so u5");
	CHECK(planned("u5")->flags, "%x", planned("u5")->flags);
	plan = planned("u2.so");

	/* Another build-id. */
	snprintf(path, sizeof(path), "%s/u2.so", place);
	CHECK(plan_make(&out, &(struct plan_file){ path, "0123456789", 10 }, &err) == -ESTALE && *err.text, "%s", err.text);
	CHECK(plan->build_id_len == 20 && plan->machine == EM_X86_64, "%u", plan->build_id_len);
	err = (struct err)ERR_INIT;
	CHECK(!plan_make(&out, &(struct plan_file){ path, plan->build_id, plan->build_id_len }, &err), "%s", err.text);
	CHECK(out.len == plan->size && !memcmp(out.data, plan, plan->size), "made twice, the same");
	buf_fini(&out);
}

int main(void)
{
	place = getenv("RINGSIDE_SCRATCH");
	CHECK(place, "where am I?");
#if !defined(__x86_64__)
	puts("the compiler makes no code of x86-64 here");
	return 77;
#endif
	check_by_hand("gcc -shared -nostdlib -Wl,-Bsymbolic hand.S -o hand.so", "hand.so");
	check_by_hand("gcc -no-pie -nostdlib -Wl,-e,plain hand.S -o hand", "hand");
	check_by_compiler("-O2", "");
	check_by_compiler("-O0", "-no-pie");
	check_by_compiler("-O2 -pg", "");
	check_by_compiler("-O2 -pg -fno-plt", "-no-pie");
	check_by_compiler("-O2 -pg -mfentry", "-fno-pie -no-pie");
	check_by_compiler("-O2 -fpatchable-function-entry=5", "");
	check_by_compiler("-O2 -fpatchable-function-entry=16,8", "");
	check_by_compiler("-O2 -fcf-protection=full", "");
	check_by_compiler("-O2 -finstrument-functions", "");
	check_by_compiler("-Os -fstack-protector-all", "");
	check_by_compiler("-O3 -ffunction-sections -Wl,--gc-sections", "");
	check_exceptions();
	check_pads();
	check_files();
	buf_fini(&bytes);
	return 0;
}
