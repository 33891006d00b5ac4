/*
 * What plan/everywhere has run with a point at each of its instructions: every way of going through code that compilers and people
 * write. Each piece of work is a number made of a number. Compiled by the test, in several ways.
 */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define NOINLINE __attribute__((noinline))

static const uint32_t table[16] = { 3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8, 9, 7, 9, 3 };
static volatile uint64_t global;

static NOINLINE uint64_t mix(uint64_t a, uint64_t b)
{
	return (a ^ b) * 0x9e3779b97f4a7c15ull + (a >> 29);
}

/* ---- branches ---- */

static NOINLINE uint64_t switches(uint64_t n)
{
	uint64_t sum = n;

	for (uint64_t i = 0; i < 12; i++)
		switch ((n + i) % 11) {
		case 0: sum += 7; break;
		case 1: sum ^= n; break;
		case 2: sum *= 3; /* fall through */
		case 3: sum -= i; break;
		case 4: sum = mix(sum, i); break;
		case 5: sum <<= 1; break;
		case 6: sum = ~sum; break;
		case 7: sum += table[i]; break;
		case 8: sum = (sum >> 3) | sum << 61; break;
		case 9: sum -= n / (i + 1); break;
		default: return sum;
		}
	return sum;
}

static NOINLINE uint64_t loops(uint64_t n)
{
	uint64_t sum = 0;

	for (uint64_t i = 0; i < n % 7 + 2; i++)
		for (uint64_t j = i; j; j--)
			sum += i & 1 ? j * i : j ^ i;
	while (n > 1) {
		n = n & 1 ? n * 3 + 1 : n / 2;
		if (++sum > 40)
			break;
	}
	do
		sum -= n & 3;
	while (n-- > 2 && n < 9);
	return sum;
}

static NOINLINE uint64_t recursion(uint64_t n)
{
	return n < 2 ? n : recursion(n - 1) + recursion(n - 2);
}

static NOINLINE uint64_t tail_odd(uint64_t n, uint64_t sum);
static NOINLINE uint64_t tail_even(uint64_t n, uint64_t sum)
{
	return n ? tail_odd(n - 1, sum + n) : sum;
}

static NOINLINE uint64_t tail_odd(uint64_t n, uint64_t sum)
{
	return n ? tail_even(n - 1, sum ^ n) : ~sum;
}

/* Labels as addresses, and as distances from one of them. */
static NOINLINE uint64_t computed(uint64_t n)
{
	static void *const far[] = { &&add, &&rotate, &&flip, &&done };
	static const int32_t near[] = { (char *)&&n_add - (char *)&&n_base, (char *)&&n_flip - (char *)&&n_base,
					(char *)&&n_base - (char *)&&n_base, (char *)&&n_done - (char *)&&n_base };
	uint64_t sum = n, steps = 0;

	goto *far[n & 3];
add:
	sum += 11;
	goto *far[++steps & 3];
rotate:
	sum = sum << 5 | sum >> 59;
	goto *far[++steps & 3];
flip:
	sum = ~sum;
	goto *far[++steps & 3];
done:
	steps = 0;
	goto *((char *)&&n_base + near[sum & 3]);
n_add:
	sum += 5;
	goto *((char *)&&n_base + near[++steps & 3]);
n_flip:
	sum ^= 0x55;
	goto *((char *)&&n_base + near[++steps & 3]);
n_base:
	sum -= steps;
	goto *((char *)&&n_base + near[++steps & 3]);
n_done:
	return sum;
}

/* ---- calls ---- */

struct shape {
	uint64_t (*area)(const struct shape *, uint64_t);
	uint64_t side;
};

static uint64_t square(const struct shape *s, uint64_t n) { return s->side * s->side + n; }
static uint64_t line(const struct shape *s, uint64_t n) { return s->side ^ n; }

static NOINLINE uint64_t by_pointer(const struct shape *s, uint64_t n)
{
	return s->area(s, n) + s[1].area(&s[1], n + 1);
}

static NOINLINE uint64_t calls(uint64_t n)
{
	struct shape shapes[3] = { { square, n }, { line, n + 1 }, { square, 3 } };
	uint64_t (*volatile kept)(const struct shape *, uint64_t) = n & 1 ? square : line;

	return by_pointer(shapes, n) * by_pointer(shapes + 1, n) + kept(shapes, n) + kept(shapes + 2, n);
}

static NOINLINE uint64_t sum_of(int n, ...)
{
	uint64_t sum = 0;
	va_list ap;

	va_start(ap, n);
	while (n--)
		sum = sum * 5 + va_arg(ap, uint64_t);
	va_end(ap);
	return sum;
}

static NOINLINE uint64_t variadic(uint64_t n)
{
	return sum_of(3, n, n + 1, n * n) + sum_of(9, n, n, n, n, n, n, n, n, 1ul);
}

static jmp_buf back;

static NOINLINE void leaps(uint64_t n)
{
	if (n & 1)
		longjmp(back, (int)(n & 7) + 1);
	global += n;
}

static NOINLINE uint64_t jumps(uint64_t n)
{
	volatile uint64_t sum = n;
	int r = setjmp(back);

	if (r)
		return sum * 3 + (uint64_t)r;
	sum += 2;
	leaps(n);
	sum += 4;
	leaps(n + 1);
	return sum;
}

/* ---- memory ---- */

static NOINLINE uint64_t strings(uint64_t n)
{
	char text[64], copy[64];

	memset(text, 'a' + (int)(n % 20), sizeof(text));
	text[n % 50 + 3] = '\0';
	strcpy(copy, text);
	return strlen(copy) * 31 + (uint64_t)memcmp(text, copy, strlen(text) + 1) + (uint64_t)copy[1];
}

static NOINLINE uint64_t stacked(uint64_t n)
{
	uint64_t room[n % 9 + 2];
	uint64_t *more = __builtin_alloca(n % 5 * 8 + 16);

	for (uint64_t i = 0; i < n % 9 + 2; i++)
		room[i] = i * n;
	more[0] = room[1];
	more[1] = room[n % 9 + 1];
	return mix(more[0], more[1]);
}

/* Below the stack pointer: nothing is called here. */
static NOINLINE uint64_t red(uint64_t n)
{
	volatile uint64_t kept[8];

	for (int i = 0; i < 8; i++)
		kept[i] = n + (uint64_t)i * n;
	return kept[3] ^ kept[7] ^ kept[n & 7];
}

static NOINLINE uint64_t floats(uint64_t n)
{
	double a = (double)(n & 0xffff), b = 1.5, sum = 0;
	long double wide = (long double)n / 3;

	for (int i = 0; i < 6; i++) {
		sum += a * b - (double)i;
		b = sum > 100 ? b / 2 : b + 1;
	}
	wide = wide > 10 ? wide - 10 : -wide;
	return (uint64_t)(int64_t)sum + (uint64_t)(int64_t)wide;
}

static NOINLINE uint64_t vectors(uint64_t n)
{
	uint32_t a[40], b[40], sum = 0;

	for (uint32_t i = 0; i < 40; i++) {
		a[i] = (uint32_t)n + i * table[i & 15];
		b[i] = a[i] ^ (i << 3);
	}
	for (uint32_t i = 0; i < 40; i++)
		b[i] = b[i] * 7 + (a[i] > b[i] ? a[i] : 1);
	for (uint32_t i = 0; i < 40; i++)
		sum += b[i];
	return sum;
}

#define WIDE(name, with) \
	static NOINLINE __attribute__((target(with))) uint64_t name(uint64_t n) \
	{ \
		double a[32], sum = 0; \
		uint64_t bits = n; \
		for (int i = 0; i < 32; i++) \
			a[i] = (double)(uint32_t)(n * (uint64_t)i) + 0.5; \
		for (int i = 0; i < 32; i++) \
			a[i] = a[i] * a[31 - i] + 2; \
		for (int i = 0; i < 32; i++) \
			sum += a[i] / 1e6; \
		for (int i = 0; i < 4; i++) \
			bits = (bits << 3 | bits >> 5) & ~(bits >> 7); \
		return (uint64_t)(int64_t)sum ^ bits ^ (uint64_t)__builtin_ctzll(n | 1ull << 40); \
	}
WIDE(wide256, "avx2,fma,bmi,bmi2")
WIDE(wide512, "avx512f,avx512vl,bmi2")

static NOINLINE uint64_t wide(uint64_t n)
{
	if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl"))
		n = wide512(n);
	return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi2") ? wide256(n) : n;
}

static NOINLINE uint64_t atomics(uint64_t n)
{
	uint64_t was = __atomic_fetch_add(&global, n, __ATOMIC_SEQ_CST), want = was + n;

	__atomic_compare_exchange_n(&global, &want, 5, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
	return __atomic_exchange_n(&global, 0, __ATOMIC_SEQ_CST) + was;
}

static NOINLINE uint64_t asks(uint64_t n)
{
	long r;

	__asm__ volatile("syscall" : "=a"(r) : "a"(SYS_close), "D"(-1l) : "rcx", "r11", "memory");
	return n + (uint64_t)r + (syscall(SYS_getpid) == getpid());
}

/* A fault within moved code, and away from it. */
static sigjmp_buf fault;

static void on_fault(int signo)
{
	siglongjmp(fault, signo);
}

static volatile uint64_t *volatile nowhere;
static volatile uint64_t none;

static NOINLINE uint64_t faults(uint64_t n)
{
	struct sigaction action = { .sa_handler = on_fault }, before[2];
	volatile uint64_t sum = n;
	int r;

	sigaction(SIGSEGV, &action, &before[0]);
	sigaction(SIGFPE, &action, &before[1]);
	r = sigsetjmp(fault, 1);
	if (!r && n & 1)
		sum = *nowhere;
	else if (!r)
		sum = 10 / none;
	sigaction(SIGSEGV, &before[0], NULL);
	sigaction(SIGFPE, &before[1], NULL);
	return sum + (uint64_t)r;
}

/* ---- by hand ---- */

uint64_t by_hand(uint64_t n);
__asm__(
	".text; .p2align 4; .type by_hand, @function; by_hand: .cfi_startproc\n"
	"push %rbx; .cfi_adjust_cfa_offset 8\n"
	"mov %rdi, %rax; mov %rdi, %rcx; and $15, %ecx\n"
	"jrcxz 2f\n"
	"1: add %rcx, %rax; rol %rax; loop 1b\n"
	"2: mov %edi, %ecx; and $7, %ecx; inc %ecx; cmp %ecx, %ecx\n"
	"3: lea 3(%rax), %rax; loope 3b\n"
	/* Carry goes from one to the next. */
	"stc; adc $0, %rax; rcl $1, %rax; setc %bl; movzbl %bl, %ebx; add %rbx, %rax; cmc; sbb %rbx, %rbx; xor %rbx, %rax\n"
	/* Into the middle of an instruction: with the prefix, or without it. */
	"test $1, %dil; je 4f+1; 4: lock xadd %rax, by_hand_word(%rip)\n"
	"movq $9, by_hand_word(%rip)\n"
	/* Short jumps forth and back. */
	"jmp 6f; 5: dec %rax; jmp 7f; 6: inc %rax; test $2, %dil; jne 5b; nop; 7:\n"
	/* Targets by the stack and below it, and by registers. */
	"lea by_hand_leaf(%rip), %rdx; push %rdx; .cfi_adjust_cfa_offset 8;\n"
	"call *(%rsp); call *%rdx; mov %rsp, %rcx; call *(%rcx)\n"
	"pop %rdx; .cfi_adjust_cfa_offset -8; mov %rdx, -8(%rsp); call *-8(%rsp);\n"
	"mov %rdx, -16(%rsp); lea -16(%rsp), %rcx; call *(%rcx)\n"
	"call by_hand_leaf; call *by_hand_pointer(%rip)\n"
	/* An unrolled loop that is jumped into. */
	"mov %edi, %ecx; and $3, %ecx; lea 8f(%rip), %rdx; lea (%rcx,%rcx,2), %rcx; add %rcx, %rdx; jmp *%rdx\n"
	"8: inc %rax; inc %rax; inc %rax; inc %rax\n"
	/* Strings and flags in memory. */
	"lea by_hand_text(%rip), %rsi; lea -64(%rsp), %rdi; mov $16, %ecx; cld; rep movsb;\n"
	"lea -64(%rsp), %rdi; mov $16, %ecx; mov %eax, %edx\n"
	"mov $'o', %eax; repne scasb; mov %edx, %eax; add %rcx, %rax\n"
	"enter $16, $0; .cfi_adjust_cfa_offset 8; mov %rax, -8(%rbp); lea by_hand_text(%rip), %rbx; xlat; xor %al, -8(%rbp); mov -8(%rbp), %rax;\n"
	"leave; .cfi_adjust_cfa_offset -8\n"
	"pop %rbx; .cfi_adjust_cfa_offset -8; ret\n"
	".cfi_endproc; .size by_hand, . - by_hand\n"
	".p2align 4; .type by_hand_leaf, @function; by_hand_leaf: .cfi_startproc; add $3, %rax; xor (%rsp), %eax; sub (%rsp), %eax;\n"
	"and $0xff, %eax; ret; .cfi_endproc; .size by_hand_leaf, . - by_hand_leaf\n"
	".data; .p2align 3; by_hand_word: .quad 9; by_hand_pointer: .quad by_hand_leaf; by_hand_text: .ascii \"what goes around \"; .zero 240\n"
	".text\n");

/* ---- all of it ---- */

uint64_t work(uint64_t n);
uint64_t work(uint64_t n)
{
	static uint64_t (*const all[])(uint64_t) = { switches, loops, computed, calls, variadic, jumps, strings, stacked, red, floats,
						     vectors, wide, atomics, asks, faults };
	uint64_t sum = recursion(n % 6) + tail_even(n % 9, n);

	global = 0;
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		sum = mix(sum, all[i](n));
	return sum ^ by_hand(n);
}
