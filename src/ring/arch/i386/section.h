/*
 * ring/arch/i386/section: the rseq sections of ring/core.h for 32-bit x86 with SSE2.
 *
 * The same steps and the same memory order as on x86-64. Registers are too few and too small, so
 *   - 64-bit words go through SSE2 registers, whose 8-byte stores are as whole as x86-64's;
 *   - a page's commit never needs its upper half: it is required to be 0, and the one store of
 *     WRITE is of the lower;
 *   - sections are naked functions with all seven registers to themselves and their arguments on
 *     the stack.
 *
 * Rarely taken turns come first in the text of a section, because its protected range must end with
 * the one store: `1:` begins the range, `20:` is where it is entered, `2:` lies behind the one
 * store. Each way out puts a ring_result into eax and goes to `50:`.
 */
#ifndef RING_ARCH_SECTION_H
#define RING_ARCH_SECTION_H

#include "ring/core.h"

#ifndef __SSE2__
#error "32-bit x86 needs -msse2: without it no store has 8 bytes"
#endif

/*
 * Where members lie, as text for the assembler: OP_x of the event in hand (in ebp), REF_x of the
 * ring's reference (in esi), HEAD_x of the ring (in edi). SLOT_x are those of the slot at ecx,
 * which is 0 or 32.
 */
#define OP_REFS	      "0(%ebp)"
#define OP_PUBLISHED  "4(%ebp)"
#define OP_GENERATION "8(%ebp)"
#define OP_PAYLOAD    "16(%ebp)"
#define OP_TS	      "20(%ebp)"
#define OP_NCPU	      "28(%ebp)"
#define OP_LEN	      "32(%ebp)"
#define OP_WORD	      "36(%ebp)"
#define OP_EXTRA      "40(%ebp)"
#define OP_NEED	      "44(%ebp)"
#define OP_EXTEND     "48(%ebp)"
#define OP_CPU	      "52(%ebp)"
#define OP_RESULT     "56(%ebp)"
#define OP_TAIL	      "60(%ebp)"
static_assert(offsetof(struct ring_op, refs) == 0 && offsetof(struct ring_op, published) == 4 &&
	      offsetof(struct ring_op, generation) == 8 &&
	      offsetof(struct ring_op, payload) == 16 &&
	      offsetof(struct ring_op, ts) == 20 && offsetof(struct ring_op, ncpu) == 28 &&
	      offsetof(struct ring_op, len) == 32 && offsetof(struct ring_op, word) == 36 &&
	      offsetof(struct ring_op, extra) == 40 && offsetof(struct ring_op, need) == 44 &&
	      offsetof(struct ring_op, extend) == 48 && offsetof(struct ring_op, cpu) == 52 &&
	      offsetof(struct ring_op, result) == 56 && offsetof(struct ring_op, tail) == 60,
	      "OP_x");

#define REF_HEAD       "0(%esi)"
#define REF_PAGES      "4(%esi)"
#define REF_FIRST      "8(%esi)"
#define REF_NPAGES     "12(%esi)"
#define REF_DATA_SIZE  "16(%esi)"
#define REF_PAGE_SHIFT "20(%esi)"
#define REF_FLAGS      "24(%esi)"
#define REF_MULT_LOW   "28(%esi)"
#define REF_MULT_HIGH  "32(%esi)"
#define REF_COUNTER0_L "36(%esi)"
#define REF_COUNTER0_H "40(%esi)"
#define REF_NS0	       "44(%esi)"
static_assert(offsetof(struct ring_ref, head) == 0 && offsetof(struct ring_ref, pages) == 4 &&
	      offsetof(struct ring_ref, first) == 8 && offsetof(struct ring_ref, npages) == 12 &&
	      offsetof(struct ring_ref, data_size) == 16 &&
	      offsetof(struct ring_ref, page_shift) == 20 &&
	      offsetof(struct ring_ref, flags) == 24 && offsetof(struct ring_ref, mult) == 28 &&
	      offsetof(struct ring_ref, counter0) == 36 && offsetof(struct ring_ref, ns0) == 44,
	      "REF_x");

#define HEAD_TAIL     "0(%edi)"
#define HEAD_DROPPED  "8(%edi)"
#define HEAD_SLOT0    "64(%edi)"
#define HEAD_CONSUMED "128(%edi)"
#define SLOT_TAG      "64(%edi,%ecx)"
#define SLOT_TS	      "72(%edi,%ecx)"
#define SLOT_TS_HIGH  "76(%edi,%ecx)"
#define SLOT_NR	      "80(%edi,%ecx)"
static_assert(offsetof(struct ring_head, tail) == 0 && offsetof(struct ring_head, dropped) == 8 &&
	      offsetof(struct ring_head, slot) == 64 &&
	      offsetof(struct ring_head, consumed) == 128 &&
	      offsetof(struct ring_slot, tag) == 0 && offsetof(struct ring_slot, ts) == 8 &&
	      offsetof(struct ring_slot, nr) == 16 && sizeof(struct ring_slot) == 32,
	      "HEAD_x and SLOT_x");

#define PAGE_TIME	 "0(%ebx)"
#define PAGE_COMMIT	 "8(%ebx)"
#define PAGE_COMMIT_HIGH "12(%ebx)"

/* A naked function has no operands; what the text below says in figures: */
#define INDEX_MASK  "0xfffff"
#define INDEX_BITS  "20"
#define OFFSET_BITS "20"
#define DELTA_MAX   "0x7ffffff"
static_assert(RING_INDEX_MASK == 0xfffff && RING_INDEX_BITS == 20 && RING_LAP == 0x100000 &&
	      RING_OFFSET_BITS == 20 && EVENT_DELTA_MAX == 0x7ffffff &&
	      EVENT_TYPE_TIME_EXTEND == 30 &&
	      RING_REF_OVERWRITE == 1 && RING_REF_COUNTER == 2, "figures");
static_assert(RING_DONE == 0 && RING_ABORTED == 1 && RING_FULL == 2 &&
	      RING_EXTEND == 3 && RING_STALE == 4 &&
	      RING_NOWHERE == 5 && RING_CORRUPT == 6 && RING_AGAIN == 7 && RING_DROPPED == 8 &&
	      RING_SWITCHED == 9, "results");

/* Unwinders are told of each: a thread may be cancelled right behind it. */
#define SECTION_PUSH(reg)                                                                          \
	"push %" reg "\n\t"                                                                        \
	".cfi_adjust_cfa_offset 4\n\t"                                                             \
	".cfi_rel_offset %" reg ", 0\n\t"
#define SECTION_POP(reg)                                                                           \
	"pop %" reg "\n\t"                                                                         \
	".cfi_adjust_cfa_offset -4\n\t"                                                            \
	".cfi_restore %" reg "\n\t"

/*
 * Tells the kernel where the section is. Its descriptor says: begins at 1, ends at 2, aborts to 4.
 * The range begins right behind the store that arms it: the kernel disarms a thread that it finds
 * outside, and nothing would arm it again. The upper half of rseq_cs is always 0.
 */
#define SECTION_ARM                                                                                \
	SECTION_PUSH("ebp")                                                                        \
	SECTION_PUSH("edi")                                                                        \
	SECTION_PUSH("esi")                                                                        \
	SECTION_PUSH("ebx")                                                                        \
	"mov 20(%esp), %ecx\n\t" /* rs */                                                          \
	"mov 24(%esp), %ebp\n\t" /* op */                                                          \
	".pushsection __rseq_cs, \"aw\"\n\t"                                                       \
	".balign 32\n\t"                                                                           \
	"3:\n\t"                                                                                   \
	".long 0, 0\n\t"                                                                           \
	".long 1f, 0, 2f - 1f, 0, 4f, 0\n\t"                                                       \
	".popsection\n\t"                                                                          \
	"call 40f\n\t"                                                                             \
	"41:\n\t"                                                                                  \
	"lea 3b - 41b(%eax), %eax\n\t"                                                             \
	"mov %eax, 8(%ecx)\n\t"                                                                    \
	"1:\n\t"                                                                                   \
	"jmp 20f\n\t"                                                                              \
	"30:\n\t"                                                                                  \
	"mov $5, %eax\n\t" /* RING_NOWHERE */                                                      \
	"jmp 50f\n\t"                                                                              \
	"31:\n\t"                                                                                  \
	"mov $4, %eax\n\t" /* RING_STALE */                                                        \
	"jmp 50f\n\t"

/*
 * The abort handler stands behind the signature the kernel asks for, in an instruction that nobody can run into. It is a part of the
 * function: this is where a thread stands when a signal has interrupted the section, and whoever unwinds it then has to find
 * the way.
 */
#define SECTION_END                                                                                \
	".cfi_remember_state\n\t"                                                                  \
	"50:\n\t"                                                                                  \
	SECTION_POP("ebx")                                                                         \
	SECTION_POP("esi")                                                                         \
	SECTION_POP("edi")                                                                         \
	SECTION_POP("ebp")                                                                         \
	"ret\n\t"                                                                                  \
	".cfi_restore_state\n\t"                                                                   \
	".byte 0x0f, 0xb9, 0x3d\n\t"                                                               \
	".long 0x53053053\n\t"                                                                     \
	"4:\n\t"                                                                                   \
	"mov $1, %eax\n\t" /* RING_ABORTED */                                                      \
	"jmp 50b\n\t"                                                                              \
	"40:\n\t" /* where am I? */                                                                \
	".cfi_adjust_cfa_offset 4\n\t"                                                             \
	"mov (%esp), %eax\n\t"                                                                     \
	"ret\n\t"

/* Flags: are the 64 bits of two SSE registers, loaded by movq, equal? Spoils b and eax. */
#define SECTION_EQUAL(a, b)                                                                        \
	"pcmpeqd %" a ", %" b "\n\t"                                                               \
	"pmovmskb %" b ", %eax\n\t"                                                                \
	"cmp $0xffff, %eax\n\t"

/* to <- to + 1. Spoils eax and xmm7. */
#define SECTION_ADD_ONE(to)                                                                        \
	"mov $1, %eax\n\t"                                                                         \
	"movd %eax, %xmm7\n\t"                                                                     \
	"paddq %xmm7, %" to "\n\t"

/* ecx: the CPU; esi: its ref; edi: the ring's head; xmm0: tail; ebx: index of its page. */
#define SECTION_FIND                                                                               \
	"mov 4(%ecx), %ecx\n\t"                                                                    \
	"cmp " OP_NCPU ", %ecx\n\t"                                                                \
	"jae 30b\n\t"                                                                              \
	"mov " OP_PUBLISHED ", %eax\n\t"                                                           \
	"movq (%eax), %xmm1\n\t"                                                                   \
	"movq " OP_GENERATION ", %xmm2\n\t"                                                        \
	SECTION_EQUAL("xmm1", "xmm2")                                                              \
	"jne 31b\n\t"                                                                              \
	"mov %ecx, %esi\n\t"                                                                       \
	"shl $6, %esi\n\t"                                                                         \
	"add " OP_REFS ", %esi\n\t"                                                                \
	"mov " REF_HEAD ", %edi\n\t"                                                               \
	"test %edi, %edi\n\t"                                                                      \
	"jz 30b\n\t"                                                                               \
	"movq " HEAD_TAIL ", %xmm0\n\t"                                                            \
	"movd %xmm0, %ebx\n\t"                                                                     \
	"and $" INDEX_MASK ", %ebx\n\t"

/*
 * xmm3: the counter as time, ns0 + ((counter - counter0) * mult >> 32), by halves. Spoils all but
 * xmm0 and xmm6.
 */
#define SECTION_TIME                                                                               \
	"rdtsc\n\t"                                                                                \
	"sub " REF_COUNTER0_L ", %eax\n\t"                                                         \
	"sbb " REF_COUNTER0_H ", %edx\n\t"                                                         \
	"movd %eax, %xmm1\n\t"                                                                     \
	"movd %edx, %xmm2\n\t"                                                                     \
	"movd " REF_MULT_LOW ", %xmm4\n\t"                                                         \
	"movd " REF_MULT_HIGH ", %xmm5\n\t"                                                        \
	"movdqa %xmm1, %xmm3\n\t"                                                                  \
	"pmuludq %xmm4, %xmm3\n\t"                                                                 \
	"psrlq $32, %xmm3\n\t"                                                                     \
	"pmuludq %xmm5, %xmm1\n\t"                                                                 \
	"paddq %xmm1, %xmm3\n\t"                                                                   \
	"pmuludq %xmm2, %xmm4\n\t"                                                                 \
	"paddq %xmm4, %xmm3\n\t"                                                                   \
	"pmuludq %xmm2, %xmm5\n\t"                                                                 \
	"psllq $32, %xmm5\n\t"                                                                     \
	"paddq %xmm5, %xmm3\n\t"                                                                   \
	/* a counter before counter0 was taken for 2^64 more than it is */                         \
	"sar $31, %edx\n\t"                                                                        \
	"and " REF_MULT_LOW ", %edx\n\t"                                                           \
	"movd %edx, %xmm1\n\t"                                                                     \
	"psllq $32, %xmm1\n\t"                                                                     \
	"psubq %xmm1, %xmm3\n\t"                                                                   \
	"movq " REF_NS0 ", %xmm1\n\t"                                                              \
	"paddq %xmm1, %xmm3\n\t"

/* `used`, so that no compiler gives them another calling convention than this. */
#define SECTION_FUNCTION __attribute__((naked, noinline, used)) static enum ring_result

static inline uint64_t section_counter(void)
{
	uint32_t low, high;

	__asm__ volatile("rdtsc" : "=a"(low), "=d"(high));
	return (uint64_t)high << 32 | low;
}

SECTION_FUNCTION section_write(struct ring_rseq *rs __attribute__((unused)),
			       struct ring_op *op __attribute__((unused)))
{
	__asm__(
		SECTION_ARM
		"32:\n\t"
		"mov $2, %eax\n\t"	/* RING_FULL */
		"jmp 50f\n\t"
		"33:\n\t"
		"mov $6, %eax\n\t"	/* RING_CORRUPT */
		"jmp 50f\n\t"
		"34:\n\t"
		"mov $3, %eax\n\t"	/* RING_EXTEND */
		"jmp 50f\n\t"
		"5:\n\t"	/* the time was read before */
		"movq " OP_TS ", %xmm3\n\t"
		"jmp 6f\n\t"
		"16:\n\t"	/* not before the last event's */
		"movq " SLOT_TS ", %xmm3\n\t"
		"xor %eax, %eax\n\t"
		"xor %edx, %edx\n\t"
		"jmp 17f\n\t"
		"7:\n\t"	/* the first event gives its page the time, and has none itself */
		"movq %xmm3, " PAGE_TIME "\n\t"
		"xor %eax, %eax\n\t"
		"jmp 9f\n\t"
		"8:\n\t"	/* a time extend; one too long for that wants a page of its own */
		"mov %eax, (%esi)\n\t"
		"shll $5, (%esi)\n\t"
		"orl $30, (%esi)\n\t"
		"shrd $27, %edx, %eax\n\t"
		"mov %eax, 4(%esi)\n\t"
		"shr $27, %edx\n\t"
		"jnz 32b\n\t"
		"xor %eax, %eax\n\t"
		"add $8, %esi\n\t"
		"jmp 9f\n\t"
		"10:\n\t"	/* a length word */
		"lea 4(%edx), %eax\n\t"
		"mov %eax, (%esi)\n\t"
		"add $4, %esi\n\t"
		"jmp 11f\n\t"

		"20:\n\t"
		SECTION_FIND
		"mov %ecx, " OP_CPU "\n\t"
		"movq %xmm0, " OP_TAIL "\n\t"
		"cmp " REF_NPAGES ", %ebx\n\t"
		"jae 33b\n\t"
		/* ebx: the page; edx: its commit. Unsigned: no commit makes us leave the page. */
		"mov " REF_PAGE_SHIFT ", %ecx\n\t"
		"shl %cl, %ebx\n\t"
		"add " REF_PAGES ", %ebx\n\t"
		"cmpl $0, " PAGE_COMMIT_HIGH "\n\t"
		"jne 32b\n\t"
		"mov " PAGE_COMMIT ", %edx\n\t"
		"mov " REF_DATA_SIZE ", %eax\n\t"
		"sub " OP_NEED ", %eax\n\t"
		"jb 32b\n\t"
		"sub " OP_EXTEND ", %eax\n\t"
		"jb 32b\n\t"
		"cmp %eax, %edx\n\t"
		"ja 32b\n\t"
		/*
		 * ecx: offset of the slot whose tag is our position; xmm0: the position of our page
		 */
		"psllq $" OFFSET_BITS ", %xmm0\n\t"
		"movd %edx, %xmm6\n\t"	/* the commit that was looked at: in memory it may change */
		"movdqa %xmm6, %xmm1\n\t"
		"por %xmm0, %xmm1\n\t"
		"movq " HEAD_SLOT0 ", %xmm2\n\t"
		"xor %ecx, %ecx\n\t"
		SECTION_EQUAL("xmm1", "xmm2")
		"setne %cl\n\t"
		"shl $5, %ecx\n\t"
		"movq " SLOT_TAG ", %xmm2\n\t"
		SECTION_EQUAL("xmm1", "xmm2")
		"jne 33b\n\t"
		/* xmm3: the time, not before the last event's; edx:eax: the time since that */
		"testl $2, " REF_FLAGS "\n\t"
		"jz 5b\n\t"
		SECTION_TIME
		"6:\n\t"
		"movdqa %xmm3, %xmm1\n\t"
		"movd %xmm1, %eax\n\t"
		"psrlq $32, %xmm1\n\t"
		"movd %xmm1, %edx\n\t"
		"sub " SLOT_TS ", %eax\n\t"
		"sbb " SLOT_TS_HIGH ", %edx\n\t"
		"jb 16b\n\t"
		"17:\n\t"
		/* esi: where the bytes go; the ref has done its work */
		"movd %xmm6, %esi\n\t"
		"test %esi, %esi\n\t"
		"lea 16(%ebx,%esi), %esi\n\t"
		"jz 7b\n\t"
		"cmpl $0, " OP_EXTEND "\n\t"
		"jne 8b\n\t"
		"test %edx, %edx\n\t"
		"jnz 34b\n\t"
		"cmp $" DELTA_MAX ", %eax\n\t"
		"ja 34b\n\t"
		"9:\n\t"
		"shl $5, %eax\n\t"
		"or " OP_WORD ", %eax\n\t"
		"mov %eax, (%esi)\n\t"
		"add $4, %esi\n\t"
		"mov " OP_LEN ", %edx\n\t"
		"cmpl $0, " OP_EXTRA "\n\t"
		"jne 10b\n\t"
		/* the payload: its last eight bytes, then eights from the front until they meet */
		"11:\n\t"
		"mov " OP_PAYLOAD ", %eax\n\t"
		"movq -8(%eax,%edx), %xmm1\n\t"
		"movq %xmm1, -8(%esi,%edx)\n\t"
		"12:\n\t"
		"sub $8, %edx\n\t"
		"jle 13f\n\t"
		"movq (%eax), %xmm1\n\t"
		"movq %xmm1, (%esi)\n\t"
		"add $8, %eax\n\t"
		"add $8, %esi\n\t"
		"jmp 12b\n\t"
		"13:\n\t"
		/* esi: the new commit, from where the payload ended */
		"lea 8(%esi,%edx), %esi\n\t"
		"sub %ebx, %esi\n\t"
		"sub $16, %esi\n\t"
		/* the other slot, then the one store */
		"movq " SLOT_NR ", %xmm1\n\t"
		SECTION_ADD_ONE("xmm1")
		"xor $32, %ecx\n\t"
		"movq %xmm3, " OP_TS "\n\t"
		"movq %xmm3, " SLOT_TS "\n\t"
		"movq %xmm1, " SLOT_NR "\n\t"
		"movd %esi, %xmm1\n\t"
		"por %xmm0, %xmm1\n\t"
		"movq %xmm1, " SLOT_TAG "\n\t"
		"mov %esi, " PAGE_COMMIT "\n\t"
		"2:\n\t"
		"xor %eax, %eax\n\t"	/* RING_DONE */
		SECTION_END);
}

SECTION_FUNCTION section_switch(struct ring_rseq *rs __attribute__((unused)),
				struct ring_op *op __attribute__((unused)))
{
	__asm__(
		SECTION_ARM
		"32:\n\t"
		"mov $7, %eax\n\t"	/* RING_AGAIN */
		"jmp 50f\n\t"
		"5:\n\t"	/* past the last page: the first one of the next lap */
		"movdqa %xmm0, %xmm4\n\t"
		"psrlq $" INDEX_BITS ", %xmm4\n\t"
		SECTION_ADD_ONE("xmm4")
		"psllq $" INDEX_BITS ", %xmm4\n\t"
		"xor %edx, %edx\n\t"
		"jmp 6f\n\t"
		"7:\n\t"	/* discard mode: is the page after the next the one that is being read? */
		"movdqa %xmm4, %xmm1\n\t"
		"lea 1(%edx), %eax\n\t"
		"cmp " REF_NPAGES ", %eax\n\t"
		"jae 10f\n\t"
		"mov $0xfffff, %eax\n\t"	/* RING_LAP - 1 */
		"movd %eax, %xmm2\n\t"
		"psubq %xmm2, %xmm1\n\t"
		"jmp 11f\n\t"
		"10:\n\t"
		"psrlq $" INDEX_BITS ", %xmm1\n\t"
		"psllq $" INDEX_BITS ", %xmm1\n\t"
		"11:\n\t"
		"psllq $" OFFSET_BITS ", %xmm1\n\t"
		"movq " HEAD_CONSUMED ", %xmm2\n\t"
		"psrlq $" OFFSET_BITS ", %xmm2\n\t"
		"psllq $" OFFSET_BITS ", %xmm2\n\t"
		SECTION_EQUAL("xmm1", "xmm2")
		"jne 8f\n\t"
		"movl $8, " OP_RESULT "\n\t"	/* RING_DROPPED */
		"movq " HEAD_DROPPED ", %xmm4\n\t"
		SECTION_ADD_ONE("xmm4")
		"lea " HEAD_DROPPED ", %eax\n\t"
		"jmp 15f\n\t"

		"20:\n\t"
		SECTION_FIND
		"cmp " OP_CPU ", %ecx\n\t"
		"jne 32b\n\t"
		"movq " OP_TAIL ", %xmm1\n\t"
		SECTION_EQUAL("xmm0", "xmm1")
		"jne 32b\n\t"
		/* xmm4: the next tail; edx: its index */
		"movdqa %xmm0, %xmm4\n\t"
		SECTION_ADD_ONE("xmm4")
		"lea 1(%ebx), %edx\n\t"
		"cmp " REF_NPAGES ", %edx\n\t"
		"jae 5b\n\t"
		"6:\n\t"
		"testl $1, " REF_FLAGS "\n\t"
		"jz 7b\n\t"
		"8:\n\t"
		/*
		 * ecx: offset of the slot in force. An index that is none leaves the second slot,
		 * good enough to heal.
		 */
		"mov " REF_PAGE_SHIFT ", %ecx\n\t"
		"mov $32, %eax\n\t"
		"cmp " REF_NPAGES ", %ebx\n\t"
		"jae 9f\n\t"
		"shl %cl, %ebx\n\t"
		"add " REF_PAGES ", %ebx\n\t"
		"movq " PAGE_COMMIT ", %xmm1\n\t"
		"psllq $" OFFSET_BITS ", %xmm0\n\t"
		"por %xmm0, %xmm1\n\t"
		"movq " HEAD_SLOT0 ", %xmm2\n\t"
		SECTION_EQUAL("xmm1", "xmm2")
		"setne %al\n\t"
		"movzbl %al, %eax\n\t"
		"shl $5, %eax\n\t"
		"9:\n\t"
		/* ebx: the next page */
		"mov %edx, %ebx\n\t"
		"shl %cl, %ebx\n\t"
		"add " REF_PAGES ", %ebx\n\t"
		"mov %eax, %ecx\n\t"
		"movq " SLOT_TS ", %xmm3\n\t"
		"movq " SLOT_NR ", %xmm5\n\t"
		"xor $32, %ecx\n\t"
		/* it is empty and knows the number of its first event */
		"pxor %xmm1, %xmm1\n\t"
		"movq %xmm1, " PAGE_COMMIT "\n\t"
		"movq " HEAD_DROPPED ", %xmm1\n\t"
		"paddq %xmm5, %xmm1\n\t"
		"mov " REF_FIRST ", %eax\n\t"
		"movq %xmm1, (%eax,%edx,8)\n\t"
		/* the other slot, then the one store */
		"movq %xmm3, " SLOT_TS "\n\t"
		"movq %xmm5, " SLOT_NR "\n\t"
		"movdqa %xmm4, %xmm1\n\t"
		"psllq $" OFFSET_BITS ", %xmm1\n\t"
		"movq %xmm1, " SLOT_TAG "\n\t"
		"movl $9, " OP_RESULT "\n\t"	/* RING_SWITCHED */
		"lea " HEAD_TAIL ", %eax\n\t"
		"15:\n\t"
		"movq %xmm4, (%eax)\n\t"
		"2:\n\t"
		"mov " OP_RESULT ", %eax\n\t"
		SECTION_END);
}

#endif
