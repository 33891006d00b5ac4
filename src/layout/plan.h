/*
 * layout/plan: the fifth file of a tracing directory, `plans`: how the functions of ELF files can be patched at their entry.
 *
 *   head | plan | plan ...
 *
 * Instructions are decoded in the tool, which files one plan for each ELF file of the registry that it was asked about; programs
 * map the file read-only and apply plans. A plan never changes once `plan[slot]` names it.
 *
 * A *site* is a function's entry. What is replaced is its *window*: the first whole instructions, behind an endbr64, that cover a
 * jump of five bytes. The plan has what stood there, since nothing is replaced that is not what was planned for, and the same
 * instructions as they can be run elsewhere:
 *
 *   f:  [endbr64]  jmp stub                    stub:  ... the window's instructions, moved; jmp f + at + window
 *
 * Probes are at any instruction, system calls at theirs. A site of that kind is a *point*: its window may begin before the instruction that
 * is meant, if only so a jump has room. Functions' entries and system calls are in a file's plan; the other points are in its *extra*
 * plan, of the same make, which is filed anew whenever a probe needs one that is not there: `extra[slot]` names the newest, which has
 * all points of those before it.
 */
#ifndef LAYOUT_PLAN_H
#define LAYOUT_PLAN_H

#include <assert.h>
#include <stdint.h>

#include "layout/registry.h"
#include "layout/segment.h"

#define PLANS_SIZE_MAX (1ull << 30)
#define PLAN_JUMP_SIZE 5u
#define PLAN_WINDOW_MAX 20u	/* a jump's last byte may be the first of a long instruction */
#define PLAN_MOVED_MAX 80u
#define PLAN_NAME_MAX 700u

struct plans_head {
	struct segment_head seg;
	uint64_t used;		/* plans lie below this byte */
	uint32_t filed;		/* counts plans as they are filed; programs that wait for one wait here (futex) */
	uint32_t planner;	/* a process that files plans for what programs bring from now on; 0: none does. Maybe dead */
	uint64_t reserved[6];
	uint64_t plan[REGISTRY_ELFS];	/* of each ELF file of the registry: its offset; 0: not yet; PLAN_NONE */
	uint64_t extra[REGISTRY_ELFS];	/* its extra plan's; 0: there is none */
};
#define PLANS_DATA_OFFSET ((sizeof(struct plans_head) + 4095) & ~4095ull)
#define PLAN_NONE 1ull		/* nothing of it can be patched: not this processor's, not readable, our own */

enum plan_kind {
	PLAN_NOT = 0,	/* cannot be patched; `reason` tells why */
	PLAN_JUMP,	/* by a jump */
	PLAN_TRAP,	/* its first instruction alone, by int3; `reason` tells why not by a jump */
};

/* Why not, or not by a jump. For people: plan/reason.h. */
enum plan_reason {
	PLAN_FINE = 0,
	PLAN_SHORT,		/* fewer bytes than a jump, and what follows is somebody else's */
	PLAN_ENTERED,		/* a branch, a table or a landing pad leads into the window */
	PLAN_CALLS,		/* a call within the window returns into it */
	PLAN_UNMOVABLE,		/* an instruction that means something else elsewhere */
	PLAN_UNDECODED,		/* bytes that are no instruction */
	PLAN_RESTARTED,		/* in a restartable sequence (rseq) */
	PLAN_OVERLAPS,		/* another symbol lies within it */
	PLAN_RESOLVER,		/* an indirect function: what runs is another one */
	PLAN_SPECIAL,		/* a signal's way back, the program's very first instruction, and the like */
	PLAN_MIDDLE,		/* a point in the middle of an instruction */
	PLAN_NOWHERE,		/* a point where no code is */
	PLAN_REASONS
};

enum {
	PLAN_SITE_FLAGS_LIVE = 1u << 0,	/* the first instructions may read the processor's flags */
	PLAN_SITE_NO_RETURN_HOOK = 1u << 1,	/* looks at its return address: leave that alone */
	PLAN_SITE_UNWINDS = 1u << 2,	/* walks the stack: it must find true return addresses */
	PLAN_SITE_LOADS = 1u << 3,	/* the loader's _dl_debug_state: files were loaded or unloaded */
	PLAN_SITE_GOES = 1u << 4,	/* the moved instructions end with a jump or a return: nothing comes behind */
	PLAN_SITE_HIDDEN = 1u << 5,	/* for the runtime itself: no function to trace */
	PLAN_SITE_POINT = 1u << 6,	/* an instruction anywhere: see below */
	PLAN_SITE_SYSCALL = 1u << 7,	/* a point: a system call. Always hidden, too */
	PLAN_SITE_CHILD = 1u << 8,	/* and one that makes a process or a thread */
};

/*
 * By address; several names of one address are one site, with the name that says most. Of a point: `address` is the instruction's and
 * `name` that of the function around it; its window begins `before` bytes before it, `at` and `size` are 0.
 */
struct plan_site {
	uint64_t address;	/* of the function, in the file's memory image */
	union {
		uint32_t size;		/* of the function */
		uint32_t before;	/* PLAN_SITE_POINT */
	};
	uint32_t name;		/* in names */
	uint32_t code;		/* in code, unless PLAN_NOT: the window's bytes as they were, the moved ones, a byte that counts steps, then
				   a struct plan_step for each instruction of the window */
	uint32_t fixes;		/* the first of them */
	uint16_t flags;		/* PLAN_SITE_* */
	uint8_t kind;
	uint8_t reason;
	uint8_t at;		/* where in the function the window begins: behind endbr64 */
	uint8_t window;		/* bytes */
	uint8_t moved;		/* bytes */
	uint8_t nfixes;
};
static_assert(sizeof(struct plan_site) == 32, "site");

/* An instruction of a window: where it begins, and where its moved form does. What only fills a window up has none. */
struct plan_step {
	uint8_t at, moved;
};

/* Where its window begins. Windows of functions are apart; those of points may overlap any other. */
static inline uint64_t plan_site_window(const struct plan_site *site)
{
	return site->flags & PLAN_SITE_POINT ? site->address - site->before : site->address + site->at;
}

/*
 * Where the moved instructions depend on their place. Let W be where the window is and M where the moved instructions are; or, of
 * those that are moved further by what is put between them, less their place among the moved ones.
 *   PLAN_FIX_NEAR  four bytes: add W - M, and it must fit into a signed number of 32 bits
 *   PLAN_FIX_AT    eight bytes: add W
 */
enum { PLAN_FIX_NEAR = 1, PLAN_FIX_AT = 2 };
struct plan_fix {
	uint8_t at;		/* in the moved bytes */
	uint8_t kind;
};

/* How many argument registers hold the parameters of a site, by the file's debug information; none: not known, or there are none. */
#define PLAN_REGISTERS_MAX 6u

enum {
	PLAN_OWN_UNWINDER = 1u << 0,	/* has an unwinder of its own that cannot be told: hook no returns in its process */
	PLAN_OWN_WALKER = 1u << 1,	/* and that one may ask nobody for frames: a garbage collector's, a virtual machine's */
};

/* Of a file without a build-id, in its place: whether it is still the same tells who makes plans. */
struct plan_stamp {
	int64_t changed_s, changed_ns;
	uint64_t size, inode;
};

/* Offsets count from its first byte and are multiples of 8. */
struct plan {
	uint32_t size;		/* bytes, all of it; a multiple of 8 */
	uint32_t crc;		/* CRC-32C of the `size` bytes with this word 0 */
	uint32_t flags;		/* PLAN_* */
	uint32_t build_id_len;
	uint8_t build_id[64];	/* build_id_len 0: struct plan_stamp */
	uint32_t machine;	/* EM_* */
	uint32_t nsites;
	uint32_t sites;		/* struct plan_site[] */
	uint32_t nfixes;
	uint32_t fixes;		/* struct plan_fix[] */
	uint32_t code_size;
	uint32_t code;
	uint32_t names_size;
	uint32_t names;		/* texts with their NULs; the last byte is one */
	uint32_t text_crc;	/* CRC-32C of the parts that can be executed: tells two builds apart that have no build-id */
	uint64_t text_start, text_end;	/* of the memory image: all that can be executed lies between */
	uint32_t registers;	/* uint8_t[], of each site: PLAN_REGISTERS_MAX at most */
	uint32_t reserved;
};
static_assert(sizeof(struct plan) == 144, "plan");

/* Sites are in the order of addresses: the one there, or NULL. Of a plan that was checked. */
static inline const struct plan_site *plan_site_find(const struct plan *plan, uint64_t address)
{
	const struct plan_site *sites = (const struct plan_site *)(const void *)((const char *)plan + plan->sites);
	uint32_t low = 0, high = plan->nsites;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (sites[middle].address < address)
			low = middle + 1;
		else
			high = middle;
	}
	return low < plan->nsites && sites[low].address == address ? &sites[low] : NULL;
}

#endif
