/*
 * ring/arch/aarch64/section: the rseq sections of ring/core.h for aarch64.
 *
 * Loads and stores may pass each other here unless they are held, and these hold them:
 *
 *   the one store  a store-release (stlr): whoever has it by an acquiring load has all that it
 *                  publishes
 *   R9             dmb ishst in SWITCH, between the tail that made this page current and the first
 *                  store into the next; partner: the fence before the second load of tail in
 *                  ring/read.c
 *   generation,    each is branched on before any store into the ring, and no store passes a branch
 *   consumed       that it depends on
 *   own words      what another thread stored on this CPU is seen as if we had stored it: the
 *                  kernel's switch from that thread to us is a full barrier, and so is our move
 *   the counter    isb before it, so that it is not read ahead of what led up to the event
 *
 * As on x86-64, rarely taken turns come first in the text of a section, because its protected range
 * must end with the one store: `1:` begins the range, `20:` is where it is entered, `2:` lies
 * behind the one store. Ways out to C are plain branches among those turns, since a conditional one
 * may not reach.
 */
#ifndef RING_ARCH_SECTION_H
#define RING_ARCH_SECTION_H

#include "ring/core.h"

/*
 * Where members lie, as text for the assembler: OP_x of the event in hand, REF_x of the ring's
 * reference (in x8), HEAD_x of the ring (in x9). SLOT_x are those of the slot at x13, which is x9
 * plus 0 or 32.
 */
#define OP_REFS	      "[%[op], #0]"
#define OP_PUBLISHED  "[%[op], #8]"
#define OP_GENERATION "[%[op], #16]"
#define OP_PAYLOAD    "[%[op], #24]"
#define OP_TS	      "[%[op], #32]"
#define OP_NCPU	      "[%[op], #40]"
#define OP_LEN	      "[%[op], #44]"
#define OP_WORD	      "[%[op], #48]"
#define OP_EXTRA      "[%[op], #52]"
#define OP_NEED	      "[%[op], #56]"
#define OP_EXTEND     "[%[op], #60]"
#define OP_CPU	      "[%[op], #64]"
#define OP_RESULT     "[%[op], #68]"
#define OP_TAIL	      "[%[op], #72]"
static_assert(offsetof(struct ring_op, refs) == 0 && offsetof(struct ring_op, published) == 8 &&
	      offsetof(struct ring_op, generation) == 16 &&
	      offsetof(struct ring_op, payload) == 24 &&
	      offsetof(struct ring_op, ts) == 32 && offsetof(struct ring_op, ncpu) == 40 &&
	      offsetof(struct ring_op, len) == 44 && offsetof(struct ring_op, word) == 48 &&
	      offsetof(struct ring_op, extra) == 52 && offsetof(struct ring_op, need) == 56 &&
	      offsetof(struct ring_op, extend) == 60 && offsetof(struct ring_op, cpu) == 64 &&
	      offsetof(struct ring_op, result) == 68 && offsetof(struct ring_op, tail) == 72,
	      "OP_x");

#define REF_HEAD       "[x8, #0]"
#define REF_PAGES      "[x8, #8]"
#define REF_FIRST      "[x8, #16]"
#define REF_NPAGES     "[x8, #24]"
#define REF_DATA_SIZE  "[x8, #28]"
#define REF_PAGE_SHIFT "[x8, #32]"
#define REF_FLAGS      "[x8, #36]"
#define REF_MULT       "[x8, #40]"
#define REF_COUNTER0   "[x8, #48]"
#define REF_NS0	       "[x8, #56]"
static_assert(offsetof(struct ring_ref, head) == 0 && offsetof(struct ring_ref, pages) == 8 &&
	      offsetof(struct ring_ref, first) == 16 && offsetof(struct ring_ref, npages) == 24 &&
	      offsetof(struct ring_ref, data_size) == 28 &&
	      offsetof(struct ring_ref, page_shift) == 32 &&
	      offsetof(struct ring_ref, flags) == 36 && offsetof(struct ring_ref, mult) == 40 &&
	      offsetof(struct ring_ref, counter0) == 48 && offsetof(struct ring_ref, ns0) == 56,
	      "REF_x");

#define HEAD_TAIL     "[x9, #0]"
#define HEAD_DROPPED  "[x9, #8]"
#define HEAD_SLOT0    "[x9, #64]"
#define HEAD_CONSUMED "[x9, #128]"
#define SLOT_TAG      "[x13, #64]"
#define SLOT_TS	      "[x13, #72]"
#define SLOT_NR	      "[x13, #80]"
static_assert(offsetof(struct ring_head, tail) == 0 && offsetof(struct ring_head, dropped) == 8 &&
	      offsetof(struct ring_head, slot) == 64 &&
	      offsetof(struct ring_head, consumed) == 128 &&
	      offsetof(struct ring_slot, tag) == 0 && offsetof(struct ring_slot, ts) == 8 &&
	      offsetof(struct ring_slot, nr) == 16 && sizeof(struct ring_slot) == 32,
	      "HEAD_x and SLOT_x");

#define PAGE_TIME   "[x11, #0]"
#define PAGE_COMMIT "[x11, #8]"
static_assert(offsetof(struct page_head, time_stamp) == 0 &&
	      offsetof(struct page_head, commit) == 8 &&
	      PAGE_HEAD_SIZE == 16, "PAGE_x");

/*
 * Tells the kernel where the section is. Its descriptor says: begins at 1, ends at 2, aborts to 4.
 * The range begins right behind the store that arms it: the kernel disarms a thread that it finds
 * outside, and nothing would arm it again.
 */
#define SECTION_ARM                                                                                \
	".pushsection __rseq_cs, \"aw\"\n\t"                                                       \
	".balign 32\n\t"                                                                           \
	"3:\n\t"                                                                                   \
	".word 0, 0\n\t"                                                                           \
	".quad 1f, 2f - 1f, 4f\n\t"                                                                \
	".popsection\n\t"                                                                          \
	"adrp x4, 3b\n\t"                                                                          \
	"add x4, x4, :lo12:3b\n\t"                                                                 \
	"str x4, [%[rs], #8]\n\t"                                                                  \
	"1:\n\t"                                                                                   \
	"b 20f\n\t"                                                                                \
	"30:\n\t"                                                                                  \
	"b %l[nowhere]\n\t"                                                                        \
	"31:\n\t"                                                                                  \
	"b %l[stale]\n\t"

/*
 * The abort handler stands behind the signature the kernel asks for, a breakpoint that nobody runs
 * into. It is a part of the function: this is where a thread stands when a signal has interrupted
 * the section, and whoever unwinds it then has to find the way.
 */
#define SECTION_END                                                                                \
	"2:\n\t"                                                                                   \
	"b 40f\n\t"                                                                                \
	".inst 0xd428bc00\n\t"                                                                     \
	"4:\n\t"                                                                                   \
	"b %l[aborted]\n\t"                                                                        \
	"40:\n\t"

/* w7: the CPU; x8: its ref; x9: the ring's head; x10: tail; w11: index of its page. */
#define SECTION_FIND                                                                               \
	"ldr w7, [%[rs], #4]\n\t"                                                                  \
	"ldr w4, " OP_NCPU "\n\t"                                                                  \
	"cmp w7, w4\n\t"                                                                           \
	"b.hs 30b\n\t"                                                                             \
	"ldr x4, " OP_PUBLISHED "\n\t"                                                             \
	"ldr x4, [x4]\n\t"                                                                         \
	"ldr x5, " OP_GENERATION "\n\t"                                                            \
	"cmp x4, x5\n\t"                                                                           \
	"b.ne 31b\n\t"                                                                             \
	"ldr x8, " OP_REFS "\n\t"                                                                  \
	"add x8, x8, x7, lsl #6\n\t"                                                               \
	"ldr x9, " REF_HEAD "\n\t"                                                                 \
	"cbz x9, 30b\n\t"                                                                          \
	"ldr x10, " HEAD_TAIL "\n\t"                                                               \
	"and w11, w10, %[index_mask]\n\t"

/*
 * x13: the slot in force, from commit in x12, tail in x10 and the head; x4: our position, flags: is
 * it its tag?
 */
#define SECTION_SLOT                                                                               \
	"lsl x5, x10, %[offset_bits]\n\t"                                                          \
	"orr x4, x5, x12\n\t"                                                                      \
	"ldr x5, " HEAD_SLOT0 "\n\t"                                                               \
	"add x13, x9, #32\n\t"                                                                     \
	"cmp x5, x4\n\t"                                                                           \
	"csel x13, x9, x13, eq\n\t"                                                                \
	"ldr x5, " SLOT_TAG "\n\t"                                                                 \
	"cmp x5, x4\n\t"

/* x13: the other slot */
#define SECTION_OTHER                                                                              \
	"sub x13, x13, x9\n\t"                                                                     \
	"eor x13, x13, #32\n\t"                                                                    \
	"add x13, x9, x13\n\t"

#define SECTION_OPERANDS                                                                           \
	[rs] "r"(rs), [op] "r"(op), [index_mask] "i"(RING_INDEX_MASK),                             \
		[offset_bits] "i"(RING_OFFSET_BITS)

#define SECTION_CLOBBERS                                                                           \
	"x4", "x5", "x6", "x7", "x8", "x9", "x10", "x11", "x12", "x13", "x14", "x15", "x16",      \
		"x17", "memory", "cc"

static inline uint64_t section_counter(void)
{
	uint64_t value;

	__asm__ volatile("isb\n\t"
			 "mrs %0, cntvct_el0"
			 : "=r"(value)
			 :
			 : "memory");
	return value;
}

static inline enum ring_result section_write(struct ring_rseq *rs, struct ring_op *op)
{
	__asm__ goto(
		SECTION_ARM
		"32:\n\t"
		"b %l[full]\n\t"
		"33:\n\t"
		"b %l[corrupt]\n\t"
		"34:\n\t"
		"b %l[extend]\n\t"
		"5:\n\t"	/* the time was read before */
		"ldr x16, " OP_TS "\n\t"
		"b 6f\n\t"
		"7:\n\t"	/* the first event gives its page the time, and has none itself */
		"str x16, " PAGE_TIME "\n\t"
		"mov x17, #0\n\t"
		"mov w14, #0\n\t"
		"b 9f\n\t"
		"8:\n\t"	/* a time extend; one too long for that wants a page of its own */
		"lsl w4, w17, #5\n\t"
		"orr w4, w4, %[extend_type]\n\t"
		"str w4, [x15]\n\t"
		"lsr x17, x17, #27\n\t"
		"str w17, [x15, #4]\n\t"
		"lsr x17, x17, #32\n\t"
		"cbnz x17, 32b\n\t"
		"add x15, x15, #8\n\t"
		"b 9f\n\t"
		"10:\n\t"	/* a length word */
		"add w4, w6, #4\n\t"
		"str w4, [x15], #4\n\t"
		"b 11f\n\t"

		"20:\n\t"
		SECTION_FIND
		"str w7, " OP_CPU "\n\t"
		"str x10, " OP_TAIL "\n\t"
		"ldr w4, " REF_NPAGES "\n\t"
		"cmp w11, w4\n\t"
		"b.hs 33b\n\t"
		/*
		 * x11: the page; x12: its commit; w14: bytes of extend. Unsigned: no commit makes
		 * us leave the page.
		 */
		"ldr w5, " REF_PAGE_SHIFT "\n\t"
		"lsl x11, x11, x5\n\t"
		"ldr x5, " REF_PAGES "\n\t"
		"add x11, x5, x11\n\t"
		"ldr x12, " PAGE_COMMIT "\n\t"
		"ldr w14, " OP_EXTEND "\n\t"
		"ldr w4, " REF_DATA_SIZE "\n\t"
		"ldr w5, " OP_NEED "\n\t"
		"add w5, w5, w14\n\t"
		"subs w4, w4, w5\n\t"
		"b.lo 32b\n\t"
		"cmp x12, x4\n\t"
		"b.hi 32b\n\t"
		SECTION_SLOT
		"b.ne 33b\n\t"
		/* x16: the time, not before the last event's; x17: the time since that */
		"ldr w4, " REF_FLAGS "\n\t"
		"tst w4, %[counter]\n\t"
		"b.eq 5b\n\t"
		"isb\n\t"
		"mrs x16, cntvct_el0\n\t"
		"ldr x4, " REF_COUNTER0 "\n\t"
		"ldr x5, " REF_MULT "\n\t"
		"sub x16, x16, x4\n\t"
		"smulh x4, x16, x5\n\t"
		"mul x16, x16, x5\n\t"
		"extr x16, x4, x16, #32\n\t"
		"ldr x4, " REF_NS0 "\n\t"
		"add x16, x16, x4\n\t"
		"6:\n\t"
		"ldr x4, " SLOT_TS "\n\t"
		"cmp x16, x4\n\t"
		"csel x16, x4, x16, lo\n\t"
		"sub x17, x16, x4\n\t"
		"add x15, x11, x12\n\t"
		"add x15, x15, #16\n\t"
		"cbz x12, 7b\n\t"
		"cbnz w14, 8b\n\t"
		"lsr x4, x17, %[delta_bits]\n\t"
		"cbnz x4, 34b\n\t"
		"9:\n\t"
		"ldr w4, " OP_WORD "\n\t"
		"orr w4, w4, w17, lsl #5\n\t"
		"str w4, [x15], #4\n\t"
		"ldr w6, " OP_LEN "\n\t"
		"ldr w4, " OP_EXTRA "\n\t"
		"cbnz w4, 10b\n\t"
		/* the payload: its last eight bytes, then eights from the front until they meet */
		"11:\n\t"
		"ldr x7, " OP_PAYLOAD "\n\t"
		"add x5, x7, x6\n\t"
		"ldur x4, [x5, #-8]\n\t"
		"add x5, x15, x6\n\t"
		"stur x4, [x5, #-8]\n\t"
		"12:\n\t"
		"subs w6, w6, #8\n\t"
		"b.le 13f\n\t"
		"ldr x4, [x7], #8\n\t"
		"str x4, [x15], #8\n\t"
		"b 12b\n\t"
		"13:\n\t"
		/* the other slot, then the one store */
		"ldr x6, " SLOT_NR "\n\t"
		SECTION_OTHER
		"ldr w5, " OP_NEED "\n\t"
		"add w5, w5, w14\n\t"
		"add x12, x12, x5\n\t"
		"add x6, x6, #1\n\t"
		"str x16, " OP_TS "\n\t"
		"str x16, " SLOT_TS "\n\t"
		"str x6, " SLOT_NR "\n\t"
		"lsl x5, x10, %[offset_bits]\n\t"
		"orr x5, x5, x12\n\t"
		"str x5, " SLOT_TAG "\n\t"
		"add x4, x11, #8\n\t"
		"stlr x12, [x4]\n\t"	/* PAGE_COMMIT; partner: its load in ring/read.c */
		SECTION_END
		:
		: SECTION_OPERANDS, [counter] "i"(RING_REF_COUNTER),
		  [delta_bits] "i"(EVENT_DELTA_BITS), [extend_type] "i"(EVENT_TYPE_TIME_EXTEND)
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

static inline enum ring_result section_switch(struct ring_rseq *rs, struct ring_op *op)
{
	__asm__ goto(
		SECTION_ARM
		"32:\n\t"
		"b %l[again]\n\t"
		"5:\n\t"	/* past the last page: the first one of the next lap */
		"and x17, x10, %[lap_mask]\n\t"
		"add x17, x17, %[lap]\n\t"
		"mov w15, #0\n\t"
		"b 6f\n\t"
		"7:\n\t"	/* discard mode: is the page after the next the one that is being read? */
		"and x4, x17, %[lap_mask]\n\t"
		"add w5, w15, #1\n\t"
		"cmp w5, w6\n\t"
		"b.hs 10f\n\t"
		"sub x4, x17, %[lap]\n\t"
		"add x4, x4, #1\n\t"
		"10:\n\t"
		"lsl x4, x4, %[offset_bits]\n\t"
		"ldr x5, " HEAD_CONSUMED "\n\t"
		"and x5, x5, %[offset_mask]\n\t"
		"cmp x4, x5\n\t"
		"b.ne 8f\n\t"
		"mov w4, %[dropped]\n\t"
		"str w4, " OP_RESULT "\n\t"
		"ldr x17, " HEAD_DROPPED "\n\t"
		"add x17, x17, #1\n\t"
		"add x5, x9, #8\n\t"	/* HEAD_DROPPED */
		"b 15f\n\t"

		"20:\n\t"
		SECTION_FIND
		"ldr w4, " OP_CPU "\n\t"
		"cmp w7, w4\n\t"
		"b.ne 32b\n\t"
		"ldr x4, " OP_TAIL "\n\t"
		"cmp x10, x4\n\t"
		"b.ne 32b\n\t"
		/* x17: the next tail; w15: its index; w6: the number of pages */
		"add x17, x10, #1\n\t"
		"add w15, w11, #1\n\t"
		"ldr w6, " REF_NPAGES "\n\t"
		"cmp w15, w6\n\t"
		"b.hs 5b\n\t"
		"6:\n\t"
		"ldr w4, " REF_FLAGS "\n\t"
		"tst w4, %[overwrite]\n\t"
		"b.eq 7b\n\t"
		"8:\n\t"
		/*
		 * x13: the slot in force. An index that is none leaves the second slot, good enough
		 * to heal.
		 */
		"add x13, x9, #32\n\t"
		"ldr w7, " REF_PAGE_SHIFT "\n\t"
		"ldr x14, " REF_PAGES "\n\t"
		"cmp w11, w6\n\t"
		"b.hs 9f\n\t"
		"lsl x11, x11, x7\n\t"
		"add x11, x14, x11\n\t"
		"ldr x12, " PAGE_COMMIT "\n\t"
		SECTION_SLOT
		"9:\n\t"
		"ldr x16, " SLOT_TS "\n\t"
		"ldr x12, " SLOT_NR "\n\t"
		SECTION_OTHER
		/* the next page is empty and knows the number of its first event */
		"lsl x11, x15, x7\n\t"
		"add x11, x14, x11\n\t"
		"ldr x4, " HEAD_DROPPED "\n\t"
		"add x4, x4, x12\n\t"
		"ldr x5, " REF_FIRST "\n\t"
		"dmb ishst\n\t"		/* R9 */
		"str xzr, " PAGE_COMMIT "\n\t"
		"str x4, [x5, x15, lsl #3]\n\t"
		/* the other slot, then the one store */
		"str x16, " SLOT_TS "\n\t"
		"str x12, " SLOT_NR "\n\t"
		"lsl x4, x17, %[offset_bits]\n\t"
		"str x4, " SLOT_TAG "\n\t"
		"mov w4, %[switched]\n\t"
		"str w4, " OP_RESULT "\n\t"
		"mov x5, x9\n\t"	/* HEAD_TAIL */
		"15:\n\t"
		"stlr x17, [x5]\n\t"	/* partner: the first load of tail in ring/read.c */
		SECTION_END
		:
		: SECTION_OPERANDS, [lap] "i"(RING_LAP), [lap_mask] "i"(~(uint64_t)RING_INDEX_MASK),
		  [offset_mask] "i"(~((1ull << RING_OFFSET_BITS) - 1)),
		  [overwrite] "i"(RING_REF_OVERWRITE), [dropped] "i"(RING_DROPPED),
		  [switched] "i"(RING_SWITCHED)
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
