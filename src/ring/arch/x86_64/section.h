/*
 * ring/arch/x86_64/section: the rseq sections of ring/core.h for x86-64.
 *
 * TSO keeps stores in program order, so the one store that ends a section needs no barrier. Rarely taken turns come first
 * in the text of a section, because its protected range must end with the one store: `1:` begins the range, `20:` is where
 * it is entered, `2:` lies behind the one store.
 */
#ifndef RING_ARCH_SECTION_H
#define RING_ARCH_SECTION_H

#include "ring/core.h"

/*
 * Where members lie, as text for the assembler: OP_x of the event in hand, REF_x of the ring's reference (in r8),
 * HEAD_x of the ring (in r9). SLOT_x are those of the slot at rbx, which is 0 or 32.
 */
#define OP_REFS "0(%[op])"
#define OP_PUBLISHED "8(%[op])"
#define OP_GENERATION "16(%[op])"
#define OP_PAYLOAD "24(%[op])"
#define OP_TS "32(%[op])"
#define OP_NCPU "40(%[op])"
#define OP_LEN "44(%[op])"
#define OP_WORD "48(%[op])"
#define OP_EXTRA "52(%[op])"
#define OP_NEED "56(%[op])"
#define OP_EXTEND "60(%[op])"
#define OP_CPU "64(%[op])"
#define OP_RESULT "68(%[op])"
#define OP_TAIL "72(%[op])"
static_assert(offsetof(struct ring_op, published) == 8 && offsetof(struct ring_op, generation) == 16 &&
	      offsetof(struct ring_op, payload) == 24 && offsetof(struct ring_op, ts) == 32 &&
	      offsetof(struct ring_op, ncpu) == 40 && offsetof(struct ring_op, len) == 44 &&
	      offsetof(struct ring_op, word) == 48 && offsetof(struct ring_op, extra) == 52 &&
	      offsetof(struct ring_op, need) == 56 && offsetof(struct ring_op, extend) == 60 &&
	      offsetof(struct ring_op, cpu) == 64 && offsetof(struct ring_op, result) == 68 &&
	      offsetof(struct ring_op, tail) == 72, "OP_x");

#define REF_HEAD "0(%%r8)"
#define REF_PAGES "8(%%r8)"
#define REF_FIRST "16(%%r8)"
#define REF_NPAGES "24(%%r8)"
#define REF_DATA_SIZE "28(%%r8)"
#define REF_PAGE_SHIFT "32(%%r8)"
#define REF_FLAGS "36(%%r8)"
#define REF_MULT "40(%%r8)"
#define REF_COUNTER0 "48(%%r8)"
#define REF_NS0 "56(%%r8)"
static_assert(offsetof(struct ring_ref, pages) == 8 && offsetof(struct ring_ref, first) == 16 &&
	      offsetof(struct ring_ref, npages) == 24 && offsetof(struct ring_ref, data_size) == 28 &&
	      offsetof(struct ring_ref, page_shift) == 32 && offsetof(struct ring_ref, flags) == 36 &&
	      offsetof(struct ring_ref, mult) == 40 && offsetof(struct ring_ref, counter0) == 48 &&
	      offsetof(struct ring_ref, ns0) == 56, "REF_x");

#define HEAD_TAIL "0(%%r9)"
#define HEAD_DROPPED "8(%%r9)"
#define HEAD_SLOT0 "64(%%r9)"
#define HEAD_CONSUMED "128(%%r9)"
#define SLOT_TAG "64(%%r9,%%rbx)"
#define SLOT_TS "72(%%r9,%%rbx)"
#define SLOT_NR "80(%%r9,%%rbx)"
static_assert(offsetof(struct ring_head, tail) == 0 && offsetof(struct ring_head, dropped) == 8 &&
	      offsetof(struct ring_head, slot) == 64 && offsetof(struct ring_head, consumed) == 128 &&
	      offsetof(struct ring_slot, ts) == 8 && offsetof(struct ring_slot, nr) == 16 &&
	      sizeof(struct ring_slot) == 32, "HEAD_x and SLOT_x");

#define PAGE_TIME "0(%%r11)"
#define PAGE_COMMIT "8(%%r11)"

/*
 * Tells the kernel where the section is. Its descriptor says: begins at 1, ends at 2, aborts to 4. The range begins right
 * behind the store that arms it: the kernel disarms a thread that it finds outside, and nothing would arm it again.
 */
#define SECTION_TELL(area)                                                                         \
	".pushsection __rseq_cs, \"aw\"\n\t"                                                       \
	".balign 32\n\t"                                                                           \
	"3:\n\t"                                                                                   \
	".long 0, 0\n\t"                                                                           \
	".quad 1f, 2f - 1f, 4f\n\t"                                                                \
	".popsection\n\t"                                                                          \
	"leaq 3b(%%rip), %%rax\n\t"                                                                \
	"movq %%rax, 8(" area ")\n\t"                                                              \
	"1:\n\t"

/* With turns that come first in the text, and without. */
#define SECTION_ARM SECTION_TELL("%[rs]") "jmp 20f\n\t"
#define SECTION_BEGIN SECTION_TELL("%%rdi")

/*
 * The abort handler stands behind the signature the kernel asks for, in an instruction that nobody can run into. It is a part of the
 * function, jump or no jump: this is where a thread stands when a signal has interrupted the section, and whoever unwinds
 * it then has to find the way.
 */
#define SECTION_END                                                                                \
	"2:\n\t"                                                                                   \
	"jmp 40f\n\t"                                                                              \
	".byte 0x0f, 0xb9, 0x3d\n\t"                                                               \
	".long 0x53053053\n\t"                                                                     \
	"4:\n\t"                                                                                   \
	"jmp %l[aborted]\n\t"                                                                      \
	"40:\n\t"

/* ecx: the CPU; r8: its ref; r9: the ring's head; r10: tail; r11: index of its page. */
#define SECTION_FIND                                                                               \
	"movl 4(%[rs]), %%ecx\n\t"                                                                 \
	"cmpl " OP_NCPU ", %%ecx\n\t"                                                  \
	"jae %l[nowhere]\n\t"                                                                      \
	"movq " OP_PUBLISHED ", %%rax\n\t"                                             \
	"movq (%%rax), %%rax\n\t"                                                                  \
	"cmpq " OP_GENERATION ", %%rax\n\t"                                            \
	"jne %l[stale]\n\t"                                                                        \
	"movq %%rcx, %%r8\n\t"                                                                     \
	"shlq $6, %%r8\n\t"                                                                        \
	"addq " OP_REFS ", %%r8\n\t"                                                   \
	"movq " REF_HEAD ", %%r9\n\t"                                                   \
	"testq %%r9, %%r9\n\t"                                                                     \
	"jz %l[nowhere]\n\t"                                                                      \
	"movq " HEAD_TAIL ", %%r10\n\t"                                                            \
	"movl %%r10d, %%r11d\n\t"                                                                  \
	"andl %[index_mask], %%r11d\n\t"

#define SECTION_FIND_OPERANDS                                                                      \
	[rs] "r"(rs), [op] "r"(op), [index_mask] "i"(RING_INDEX_MASK),                             \
	[offset_bits] "i"(RING_OFFSET_BITS)

#define SECTION_CLOBBERS                                                                           \
	"rax", "rbx", "rcx", "rdx", "rsi", "rdi", "r8", "r9", "r10", "r11", "r12", "r14", "memory", "cc"

static inline uint64_t section_counter(void)
{
	uint32_t low, high;

	__asm__ volatile("rdtsc" : "=a"(low), "=d"(high));
	return (uint64_t)high << 32 | low;
}

static inline enum ring_result section_write(struct ring_rseq *rs, struct ring_op *op)
{
	__asm__ goto(
		SECTION_ARM
		"5:\n\t"	/* the time was read before */
		"movq " OP_TS ", %%rax\n\t"
		"jmp 6f\n\t"
		"7:\n\t"	/* the first event gives its page the time and needs none of its own */
		"movq %%rax, " PAGE_TIME "\n\t"
		"xorl %%edx, %%edx\n\t"
		"xorl %%r14d, %%r14d\n\t"
		"jmp 9f\n\t"
		"8:\n\t"	/* a time extend; one that is too long for that wants a page of its own */
		"movl %%edx, %%ecx\n\t"
		"shll $5, %%ecx\n\t"
		"orl %[extend_type], %%ecx\n\t"
		"movl %%ecx, (%%rdi)\n\t"
		"shrq $27, %%rdx\n\t"
		"movl %%edx, 4(%%rdi)\n\t"
		"shrq $32, %%rdx\n\t"
		"jnz %l[full]\n\t"
		"addq $8, %%rdi\n\t"
		"jmp 9f\n\t"
		"10:\n\t"	/* a length word */
		"leal 4(%%rcx), %%edx\n\t"
		"movl %%edx, (%%rdi)\n\t"
		"addq $4, %%rdi\n\t"
		"jmp 11f\n\t"

		"20:\n\t"
		SECTION_FIND
		"movl %%ecx, " OP_CPU "\n\t"
		"movq %%r10, " OP_TAIL "\n\t"
		"cmpl " REF_NPAGES ", %%r11d\n\t"
		"jae %l[corrupt]\n\t"
		/* r11: the page; r12: its commit; r14: bytes of extend. Unsigned: no commit makes us leave the page. */
		"movl " REF_PAGE_SHIFT ", %%ecx\n\t"
		"shlq %%cl, %%r11\n\t"
		"addq " REF_PAGES ", %%r11\n\t"
		"movq " PAGE_COMMIT ", %%r12\n\t"
		"movl " OP_EXTEND ", %%r14d\n\t"
		"movl " REF_DATA_SIZE ", %%eax\n\t"
		"subl " OP_NEED ", %%eax\n\t"
		"subl %%r14d, %%eax\n\t"
		"cmpq %%rax, %%r12\n\t"
		"ja %l[full]\n\t"
		/* rbx: offset of the slot whose tag is our position */
		"shlq %[offset_bits], %%r10\n\t"
		"leaq (%%r10,%%r12), %%rax\n\t"
		"xorl %%ebx, %%ebx\n\t"
		"cmpq " HEAD_SLOT0 ", %%rax\n\t"
		"setne %%bl\n\t"
		"shll $5, %%ebx\n\t"
		"cmpq " SLOT_TAG ", %%rax\n\t"
		"jne %l[corrupt]\n\t"
		/* rax: the time, not before the last event's; rdx: the time since that */
		"testl %[counter], " REF_FLAGS "\n\t"
		"jz 5b\n\t"
		"rdtsc\n\t"
		"shlq $32, %%rdx\n\t"
		"orq %%rdx, %%rax\n\t"
		"subq " REF_COUNTER0 ", %%rax\n\t"
		"imulq " REF_MULT "\n\t"
		"shrdq $32, %%rdx, %%rax\n\t"
		"addq " REF_NS0 ", %%rax\n\t"
		"6:\n\t"
		"movq " SLOT_TS ", %%rcx\n\t"
		"cmpq %%rcx, %%rax\n\t"
		"cmovbq %%rcx, %%rax\n\t"
		"movq %%rax, %%rdx\n\t"
		"subq %%rcx, %%rdx\n\t"
		"leaq 16(%%r11,%%r12), %%rdi\n\t"
		"testq %%r12, %%r12\n\t"
		"jz 7b\n\t"
		"testl %%r14d, %%r14d\n\t"
		"jnz 8b\n\t"
		"cmpq %[delta_max], %%rdx\n\t"
		"ja %l[extend]\n\t"
		"9:\n\t"
		"shll $5, %%edx\n\t"
		"orl " OP_WORD ", %%edx\n\t"
		"movl %%edx, (%%rdi)\n\t"
		"addq $4, %%rdi\n\t"
		"movl " OP_LEN ", %%ecx\n\t"
		"cmpl $0, " OP_EXTRA "\n\t"
		"jne 10b\n\t"
		/* the payload: its last eight bytes, then eights from the front until they meet */
		"11:\n\t"
		"movq " OP_PAYLOAD ", %%rsi\n\t"
		"movq -8(%%rsi,%%rcx), %%rdx\n\t"
		"movq %%rdx, -8(%%rdi,%%rcx)\n\t"
		"12:\n\t"
		"subl $8, %%ecx\n\t"
		"jle 13f\n\t"
		"movq (%%rsi), %%rdx\n\t"
		"movq %%rdx, (%%rdi)\n\t"
		"addq $8, %%rsi\n\t"
		"addq $8, %%rdi\n\t"
		"jmp 12b\n\t"
		"13:\n\t"
		/* the other slot, then the one store */
		"movq " SLOT_NR ", %%rcx\n\t"
		"xorl $32, %%ebx\n\t"
		"movl " OP_NEED ", %%edx\n\t"
		"addl %%r14d, %%edx\n\t"
		"addq %%rdx, %%r12\n\t"
		"addq $1, %%rcx\n\t"
		"movq %%rax, " OP_TS "\n\t"
		"movq %%rax, " SLOT_TS "\n\t"
		"movq %%rcx, " SLOT_NR "\n\t"
		"leaq (%%r10,%%r12), %%rcx\n\t"
		"movq %%rcx, " SLOT_TAG "\n\t"
		"movq %%r12, " PAGE_COMMIT "\n\t"
		SECTION_END
		:
		: SECTION_FIND_OPERANDS, [counter] "i"(RING_REF_COUNTER), [delta_max] "i"(EVENT_DELTA_MAX),
		  [extend_type] "i"(EVENT_TYPE_TIME_EXTEND)
		: SECTION_CLOBBERS
		: aborted, nowhere, stale, full, corrupt, extend);
	return RING_DONE;
aborted:
	return RING_ABORTED;
nowhere:
	return RING_NOWHERE;
stale:
	return RING_STALE;
full:
	return RING_FULL;
corrupt:
	return RING_CORRUPT;
extend:
	return RING_EXTEND;
}

#define NEAR_HEAD "0(%%r8)"
#define NEAR_TAIL "8(%%r8)"
#define NEAR_PAGE "16(%%r8)"
#define NEAR_GENERATION "24(%%r8)"
#define NEAR_CPU "32(%%r8)"
#define NEAR_DATA_SIZE "36(%%r8)"
#define NEAR_MULT "40(%%r8)"
#define NEAR_COUNTER0 "48(%%r8)"
#define NEAR_NS0 "56(%%r8)"
static_assert(offsetof(struct ring_near, head) == 0 && offsetof(struct ring_near, tail) == 8 &&
	      offsetof(struct ring_near, page) == 16 && offsetof(struct ring_near, generation) == 24 &&
	      offsetof(struct ring_near, cpu) == 32 && offsetof(struct ring_near, data_size) == 36 &&
	      offsetof(struct ring_near, mult) == 40 && offsetof(struct ring_near, counter0) == 48 &&
	      offsetof(struct ring_near, ns0) == 56, "NEAR_x");

/*
 * Finds where this CPU writes and keeps it in `near`, for the section below. It is whole when it has a generation,
 * which the one store gives it: who is interrupted before leaves none, whoever used it meanwhile.
 */
static inline enum ring_result section_near(struct ring_rseq *rs, struct ring_near *near, const struct ring_ref *refs, uint32_t ncpu,
					    const uint64_t *published, uint64_t generation)
{
	register uint64_t in_rcx __asm__("rcx") = ncpu;
	register uint64_t in_rdx __asm__("rdx") = generation;
	register const void *in_rsi __asm__("rsi") = refs;
	register void *in_rdi __asm__("rdi") = rs;
	register void *in_r8 __asm__("r8") = near;
	register const void *in_r9 __asm__("r9") = published;

	__asm__ goto(
		SECTION_BEGIN
		"movq $-1, " NEAR_GENERATION "\n\t"
		"cmpq (%%r9), %%rdx\n\t"
		"jne %l[other]\n\t"
		"movl 4(%%rdi), %%eax\n\t"
		"cmpl %%ecx, %%eax\n\t"
		"jae %l[other]\n\t"
		"movl %%eax, " NEAR_CPU "\n\t"
		/* r8 is a ref's in REF_x: the two change places */
		"shlq $6, %%rax\n\t"
		"addq %%rsi, %%rax\n\t"
		"xchgq %%rax, %%r8\n\t"
		"movq " REF_HEAD ", %%r9\n\t"
		"testq %%r9, %%r9\n\t"
		"jz %l[other]\n\t"
		"movq " HEAD_TAIL ", %%r10\n\t"
		"movl %%r10d, %%r11d\n\t"
		"andl %[index_mask], %%r11d\n\t"
		"cmpl " REF_NPAGES ", %%r11d\n\t"
		"jae %l[other]\n\t"
		"movl " REF_PAGE_SHIFT ", %%ecx\n\t"
		"shlq %%cl, %%r11\n\t"
		"addq " REF_PAGES ", %%r11\n\t"
		"movl " REF_DATA_SIZE ", %%ecx\n\t"
		"xchgq %%rax, %%r8\n\t"
		"movq %%r9, " NEAR_HEAD "\n\t"
		"movq %%r10, " NEAR_TAIL "\n\t"
		"movq %%r11, " NEAR_PAGE "\n\t"
		"movl %%ecx, " NEAR_DATA_SIZE "\n\t"
		"xchgq %%rax, %%r8\n\t"
		"movq " REF_MULT ", %%r9\n\t"
		"movq " REF_COUNTER0 ", %%r10\n\t"
		"movq " REF_NS0 ", %%r11\n\t"
		"movq %%rax, %%r8\n\t"
		"movq %%r9, " NEAR_MULT "\n\t"
		"movq %%r10, " NEAR_COUNTER0 "\n\t"
		"movq %%r11, " NEAR_NS0 "\n\t"
		"movq %%rdx, " NEAR_GENERATION "\n\t"
		SECTION_END
		: "+r"(in_rcx), "+r"(in_rdx), "+r"(in_rsi), "+r"(in_rdi), "+r"(in_r8), "+r"(in_r9)
		: [index_mask] "i"(RING_INDEX_MASK)
		: "rax", "r10", "r11", "memory", "cc"
		: aborted, other);
	return RING_DONE;
aborted:
	return RING_ABORTED;
other:
	return RING_AGAIN;
}

/* One more in the number that this CPU has, of those that lie 64 bytes apart. A locked addition takes five times as long. */
static inline enum ring_result section_count(struct ring_rseq *rs, uint64_t *counts, uint32_t ncpu)
{
	__asm__ goto(
		SECTION_TELL("%[rs]")
		"movl 4(%[rs]), %%eax\n\t"
		"cmpl %[ncpu], %%eax\n\t"
		"jae %l[other]\n\t"
		"shlq $6, %%rax\n\t"
		"incq (%[counts], %%rax)\n\t"
		SECTION_END
		:
		: [rs] "r"(rs), [counts] "r"(counts), [ncpu] "r"(ncpu)
		: "rax", "memory", "cc"
		: aborted, other);
	return RING_DONE;
aborted:
	return RING_ABORTED;
other:
	return RING_NOWHERE;
}

/*
 * WRITE once more, for what nearly every event is: a short record, not the first of its page, close to the one before, timed
 * by the counter, on the page that `near` tells. Anything else, and anything odd, is left to section_write(), which begins anew. All
 * it needs is in registers that a function may use as it likes. Gives the time it wrote.
 *
 * Processors let little pass a read of the counter, before or behind: what matters is the longest way of one value to the next. So
 * the counter comes first, and what was found out before is only compared, not found again.
 */
#define SECTION_FAST 1
#define SECTION_FAST_FUNCTION(name, room, grow, header, copy, behind, waited)                      \
static inline __attribute__((always_inline)) enum ring_result                                      \
name(struct ring_rseq *rs, const struct ring_near *near, const uint64_t *published, uint64_t generation, const void *payload, \
     uint64_t len, uint64_t *ts)                                                                   \
{                                                                                                  \
	register uint64_t out_rax __asm__("rax");                                                  \
	register uint64_t in_rcx __asm__("rcx") = len;                                             \
	register uint64_t in_rdx __asm__("rdx") = generation;                                      \
	register const void *in_rsi __asm__("rsi") = payload;                                      \
	register void *in_rdi __asm__("rdi") = rs;                                                 \
	register const void *in_r8 __asm__("r8") = near;                                           \
	register const void *in_r9 __asm__("r9") = published;                                      \
                                                                                                   \
	__asm__ goto(                                                                              \
		SECTION_BEGIN                                                                      \
		"cmpq (%%r9), %%rdx\n\t"                                                           \
		"jne %l[other]\n\t"                                                                \
		"cmpq " NEAR_GENERATION ", %%rdx\n\t"                                              \
		"jne %l[other]\n\t"                                                                \
		"rdtsc\n\t"                                                                        \
		"shlq $32, %%rdx\n\t"                                                              \
		"orq %%rax, %%rdx\n\t"                                                             \
		"movl 4(%%rdi), %%eax\n\t"                                                         \
		"cmpl " NEAR_CPU ", %%eax\n\t"                                                     \
		"jne %l[other]\n\t"                                                                \
		"movq " NEAR_HEAD ", %%r9\n\t"                                                     \
		"movq " NEAR_TAIL ", %%r10\n\t"                                                    \
		"cmpq " HEAD_TAIL ", %%r10\n\t"                                                    \
		"jne %l[other]\n\t"                                                                \
		/* r11: the page; rdi: its commit. Unsigned: no commit makes us leave the page. */ \
		"movq " NEAR_PAGE ", %%r11\n\t"                                                    \
		"movq " PAGE_COMMIT ", %%rdi\n\t"                                                  \
		"testq %%rdi, %%rdi\n\t"                                                           \
		"jz %l[other]\n\t"                                                                 \
		"movl " NEAR_DATA_SIZE ", %%eax\n\t"                                               \
		room                                                                               \
		"cmpq %%rax, %%rdi\n\t"                                                            \
		"ja %l[other]\n\t"                                                                 \
		/* r9: the slot whose tag is our position; the two differ in one bit of their address */ \
		"shlq %[offset_bits], %%r10\n\t"                                                   \
		"leaq (%%r10,%%rdi), %%rax\n\t"                                                    \
		"addq $64, %%r9\n\t"                                                               \
		"cmpq (%%r9), %%rax\n\t"                                                           \
		"je 5f\n\t"                                                                        \
		"xorq $32, %%r9\n\t"                                                               \
		"cmpq (%%r9), %%rax\n\t"                                                           \
		"jne %l[other]\n\t"                                                                \
		"5:\n\t"                                                                           \
		/* rax: the time, not before the last event's; r8: the time since that */          \
		"movq %%rdx, %%rax\n\t"                                                            \
		"subq " NEAR_COUNTER0 ", %%rax\n\t"                                                \
		"imulq " NEAR_MULT "\n\t"                                                          \
		"shrdq $32, %%rdx, %%rax\n\t"                                                      \
		"addq " NEAR_NS0 ", %%rax\n\t"                                                     \
		"movq 8(%%r9), %%rdx\n\t"                                                          \
		"cmpq %%rdx, %%rax\n\t"                                                            \
		"cmovbq %%rdx, %%rax\n\t"                                                          \
		"movq %%rax, %%r8\n\t"                                                             \
		"subq %%rdx, %%r8\n\t"                                                             \
		"cmpq %[delta_max], %%r8\n\t"                                                      \
		"ja %l[other]\n\t"                                                                 \
		/* time and number into the other slot */                                          \
		"movq 16(%%r9), %%rdx\n\t"                                                         \
		"addq $1, %%rdx\n\t"                                                               \
		"xorq $32, %%r9\n\t"                                                               \
		"movq %%rax, 8(%%r9)\n\t"                                                          \
		"movq %%rdx, 16(%%r9)\n\t"                                                         \
		/* header: type_len is the length in words */                                      \
		"leaq 16(%%r11,%%rdi), %%rdx\n\t"                                                  \
		grow                                                                               \
		header                                                                             \
		"movl %%r8d, (%%rdx)\n\t"                                                          \
		copy                                                                               \
		/* the other slot's tag, then the one store */                                     \
		"addq %%rdi, %%r10\n\t"                                                            \
		"movq %%r10, (%%r9)\n\t"                                                           \
		"movq %%rdi, " PAGE_COMMIT "\n\t"                                                  \
		SECTION_END                                                                        \
		behind                                                                             \
		: "=r"(out_rax), "+r"(in_rcx), "+r"(in_rdx), "+r"(in_rsi), "+r"(in_rdi), "+r"(in_r8), "+r"(in_r9) \
		: [offset_bits] "i"(RING_OFFSET_BITS), [delta_max] "i"(EVENT_DELTA_MAX)            \
		: "r10", "r11", "memory", "cc"                                                     \
		: aborted, other);                                                                 \
	*ts = out_rax;                                                                             \
	return (waited) ? RING_WAITED : RING_DONE;                                                 \
aborted:                                                                                           \
	return RING_ABORTED;                                                                       \
other:                                                                                             \
	return RING_AGAIN;                                                                         \
}

/* Of any length, in rcx: by eights, and a last four; rcx counts up to 0. Who waits is up to the caller. */
SECTION_FAST_FUNCTION(section_fast,
		      "subl %%ecx, %%eax\n\tsubl $4, %%eax\n\t",
		      "leaq 4(%%rdi,%%rcx), %%rdi\n\t",
		      "shlq $7, %%r8\n\torq %%rcx, %%r8\n\tshrq $2, %%r8\n\t",
		      "addq %%rcx, %%rsi\n\t"
		      "leaq 4(%%rdx,%%rcx), %%rdx\n\t"
		      "negq %%rcx\n\t"
		      "addq $8, %%rcx\n\t"
		      "6:\n\t"
		      "movq -8(%%rsi,%%rcx), %%r8\n\t"
		      "movq %%r8, -8(%%rdx,%%rcx)\n\t"
		      "addq $8, %%rcx\n\t"
		      "jle 6b\n\t"
		      "cmpq $8, %%rcx\n\t"
		      "je 7f\n\t"
		      "movl -4(%%rsi), %%r8d\n\t"
		      "movl %%r8d, -4(%%rdx)\n\t"
		      "7:\n\t", "", 0)

/* The slots have a line of their own in the head. */
#define SECTION_WAITERS "andq $-64, %%r9\n\tmovl -48(%%r9), %%r9d\n\t"
static_assert((int)offsetof(struct ring_head, waiters) - (int)offsetof(struct ring_head, slot) == -48, "SECTION_WAITERS");

#define SECTION_FIXED(name, len, copy)                                                             \
	SECTION_FAST_FUNCTION(name, "subl $4 + " #len ", %%eax\n\t", "leaq 4 + " #len "(%%rdi), %%rdi\n\t",	\
			      "shlq $5, %%r8\n\torq $" #len " / 4, %%r8\n\t", copy, SECTION_WAITERS,		\
			      (uintptr_t)in_r9 & RING_WAIT_EVENT)
#define SECTION_EIGHT(at) "movq " #at "(%%rsi), %%r8\n\tmovq %%r8, 4 + " #at "(%%rdx)\n\t"

/* Of the lengths that records of functions have. The last eight bytes of the longest are its own time. These tell who waits. */
SECTION_FIXED(section_fast20, 20, SECTION_EIGHT(0) SECTION_EIGHT(8) "movl 16(%%rsi), %%r8d\n\tmovl %%r8d, 20(%%rdx)\n\t")
SECTION_FIXED(section_fast24, 24, SECTION_EIGHT(0) SECTION_EIGHT(8) SECTION_EIGHT(16))
SECTION_FIXED(section_stamped48, 48, SECTION_EIGHT(0) SECTION_EIGHT(8) SECTION_EIGHT(16) SECTION_EIGHT(24) SECTION_EIGHT(32)
	      "movq %%rax, 44(%%rdx)\n\t")

static inline enum ring_result section_switch(struct ring_rseq *rs, struct ring_op *op)
{
	__asm__ goto(
		SECTION_ARM
		"5:\n\t"	/* past the last page: the first one of the next lap */
		"movq %%r10, %%rdx\n\t"
		"andq %[lap_mask], %%rdx\n\t"
		"addq %[lap], %%rdx\n\t"
		"xorl %%edi, %%edi\n\t"
		"jmp 6f\n\t"
		"7:\n\t"	/* discard mode: is the page after the next the one that is being read? */
		"movq %%rdx, %%rax\n\t"
		"andq %[lap_mask], %%rax\n\t"
		"leal 1(%%rdi), %%esi\n\t"
		"cmpl " REF_NPAGES ", %%esi\n\t"
		"jae 10f\n\t"
		"leaq 1-%c[lap](%%rdx), %%rax\n\t"
		"10:\n\t"
		"shlq %[offset_bits], %%rax\n\t"
		"movq " HEAD_CONSUMED ", %%rsi\n\t"
		"andq %[offset_mask], %%rsi\n\t"
		"cmpq %%rsi, %%rax\n\t"
		"jne 8f\n\t"
		"movl %[dropped], " OP_RESULT "\n\t"
		"movq " HEAD_DROPPED ", %%rdx\n\t"
		"addq $1, %%rdx\n\t"
		"leaq " HEAD_DROPPED ", %%rsi\n\t"
		"jmp 15f\n\t"

		"20:\n\t"
		SECTION_FIND
		"cmpl " OP_CPU ", %%ecx\n\t"
		"jne %l[again]\n\t"
		"cmpq " OP_TAIL ", %%r10\n\t"
		"jne %l[again]\n\t"
		/* rdx: the next tail; edi: its index */
		"leaq 1(%%r10), %%rdx\n\t"
		"leal 1(%%r11), %%edi\n\t"
		"cmpl " REF_NPAGES ", %%edi\n\t"
		"jae 5b\n\t"
		"6:\n\t"
		"testl %[overwrite], " REF_FLAGS "\n\t"
		"jz 7b\n\t"
		"8:\n\t"
		/* rbx: offset of the slot in force. An index that is none leaves the second slot, good enough to heal. */
		"movl $32, %%ebx\n\t"
		"movl " REF_PAGE_SHIFT ", %%ecx\n\t"
		"cmpl " REF_NPAGES ", %%r11d\n\t"
		"jae 9f\n\t"
		"shlq %%cl, %%r11\n\t"
		"addq " REF_PAGES ", %%r11\n\t"
		"movq " PAGE_COMMIT ", %%rax\n\t"
		"shlq %[offset_bits], %%r10\n\t"
		"orq %%r10, %%rax\n\t"
		"xorl %%ebx, %%ebx\n\t"
		"cmpq " HEAD_SLOT0 ", %%rax\n\t"
		"setne %%bl\n\t"
		"shll $5, %%ebx\n\t"
		"9:\n\t"
		"movq " SLOT_TS ", %%rax\n\t"
		"movq " SLOT_NR ", %%r12\n\t"
		"xorl $32, %%ebx\n\t"
		/* the next page is empty and knows the number of its first event */
		"movq %%rdi, %%r11\n\t"
		"shlq %%cl, %%r11\n\t"
		"addq " REF_PAGES ", %%r11\n\t"
		"movq $0, " PAGE_COMMIT "\n\t"
		"movq %%r12, %%r14\n\t"
		"addq " HEAD_DROPPED ", %%r14\n\t"
		"movq " REF_FIRST ", %%rcx\n\t"
		"movq %%r14, (%%rcx,%%rdi,8)\n\t"
		/* the other slot, then the one store */
		"movq %%rax, " SLOT_TS "\n\t"
		"movq %%r12, " SLOT_NR "\n\t"
		"movq %%rdx, %%rax\n\t"
		"shlq %[offset_bits], %%rax\n\t"
		"movq %%rax, " SLOT_TAG "\n\t"
		"movl %[switched], " OP_RESULT "\n\t"
		"leaq " HEAD_TAIL ", %%rsi\n\t"
		"15:\n\t"
		"movq %%rdx, (%%rsi)\n\t"
		SECTION_END
		:
		: SECTION_FIND_OPERANDS, [lap] "i"((int)RING_LAP), [lap_mask] "i"(~(int)RING_INDEX_MASK),
		  [offset_mask] "i"(~((1 << RING_OFFSET_BITS) - 1)), [overwrite] "i"(RING_REF_OVERWRITE),
		  [dropped] "i"(RING_DROPPED), [switched] "i"(RING_SWITCHED)
		: SECTION_CLOBBERS
		: aborted, nowhere, stale, again);
	return op->result;
aborted:
	return RING_ABORTED;
nowhere:
	return RING_NOWHERE;
stale:
	return RING_STALE;
again:
	return RING_AGAIN;
}

#endif
