/*
 * remote/target: what a tracing memory says of itself: found, checked, and turned into our own terms.
 *
 * In: bytes that anybody may have written. Out: a description whose every place lies within the memory, or words about
 * what is wrong. The memory may change right after: whoever reads goes by this description and checks what changes.
 */
#ifndef REMOTE_TARGET_H
#define REMOTE_TARGET_H

#include "decode/abi.h"
#include "remote/memory.h"

#define TARGET_RINGS_MAX 1024u
#define TARGET_PAGES_MAX (1u << 20)
#define TARGET_PAGE_MAX 4096u
#define TARGET_HZ_MAX 18000000000ull

struct remote_ring {
	uint64_t at;		/* of the ring itself */
	uint64_t pages;		/* of its page 0 */
	uint32_t mask;
	uint32_t cpu;
	bool discard;
};

struct remote_target {
	struct decode_abi abi;
	uint64_t at;		/* of the header */
	uint64_t control;	/* of the control words */
	uint64_t self;		/* the header's address on the target */
	uint64_t tick_hz;
	uint32_t clock_bits;
	uint32_t page_size;
	uint32_t nr_events;
	uint32_t texts_size;
	uint32_t build;
	uint32_t boots;
	uint32_t crc;		/* of all this: with another one it is another life */
	uint32_t mark;		/* that a host has left there, 0: none; with another one it is, too */
	uint32_t nr_rings;
	struct remote_ring *rings;
};

/* The header at `at`: -ENOENT: there is none. -EBADMSG: it is damaged, or makes no sense. */
int remote_target_read(struct remote_target *target, struct remote_memory *memory, uint64_t at, struct err *err);
void remote_target_fini(struct remote_target *target);

/*
 * Looks for headers in all of a file: 0 and the place of the only one (with `self`, of the only one that says that this is its address),
 * -ENOENT, -EEXIST: there are several, which the words name.
 */
int remote_target_find(struct remote_memory *memory, const uint64_t *self, uint64_t *at, struct err *err);

/* Has the memory a header there that is whole, and the same as this one (and the same rings)? 0; -ESTALE: tracing was begun again; -EBADMSG. */
int remote_target_check_header(const struct remote_target *target, struct remote_memory *memory, struct err *err);
int remote_target_check(const struct remote_target *target, struct remote_memory *memory, struct err *err);
/* The mark that is there now. 0, -errno. */
int remote_target_mark(const struct remote_target *target, struct remote_memory *memory, uint32_t *mark);

/* Bytes of a page before its data, and the most that it can hold. */
uint32_t remote_target_page_head(const struct remote_target *target);
uint32_t remote_target_page_room(const struct remote_target *target);

#endif
