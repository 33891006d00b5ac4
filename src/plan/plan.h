/*
 * plan: how the functions of an ELF file can be patched at their entry, found out by reading the file.
 *
 * In: a file that may hold anything and may change while it is read. Out: the bytes of a `struct plan` (layout/plan.h). A site is
 * given a jump only where that is proven to be safe: whatever cannot be proven is a trap or nothing at all, with its reason.
 */
#ifndef PLAN_PLAN_H
#define PLAN_PLAN_H

#include <stddef.h>

#include "base/buf.h"
#include "base/err.h"
#include "layout/plan.h"

struct plan_file {
	const char *path;
	const void *build_id;	/* that it must have; NULL: not known */
	size_t build_id_len;
};

/* -ENOTSUP: of another processor, or our own runtime; -ESTALE: its build-id is another; -ENOSYS: there is no decoder in here. */
int plan_make(struct buf *out, const struct plan_file *file, struct err *err);

/*
 * The extra plan of points at these addresses of the memory image, in any order; several of one address are one. Each becomes a site,
 * PLAN_NOT with its reason where that cannot be: in the middle of an instruction, in a restartable sequence. Errors as above.
 */
int plan_make_extra(struct buf *out, const struct plan_file *file, const uint64_t *addresses, size_t n, struct err *err);

/*
 * The same for who asks for points of a file again and again: to read all of its code takes a while, and what was learned of the last
 * one is kept, unless it is huge. Any thread may call. NULL: out of memory.
 */
struct plan_memory;
struct plan_memory *plan_memory_open(void);
void plan_memory_close(struct plan_memory *memory);
int plan_memory_extra(struct plan_memory *memory, struct buf *out, const struct plan_file *file, const uint64_t *addresses, size_t n,
		      struct err *err);

/* NULL, or what is wrong with bytes that claim to be a plan. Whoever reads one checks it, and once. */
const char *plan_check(const struct plan *plan, size_t size);

/* A few words for people: "a branch leads into its first bytes". "" for PLAN_FINE. */
const char *plan_reason(enum plan_reason reason);

#endif
