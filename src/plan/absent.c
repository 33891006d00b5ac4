/*
 * plan/absent: in place of what makes plans, in a build without Zydis and in libringside-control.
 */
#include <errno.h>
#include <stdlib.h>

#include "plan/plan.h"

static int absent(const struct plan_file *file, struct err *err)
{
	return err_set(err, -ENOSYS, "%.300s: what decodes instructions is not built in", file->path);
}

int plan_make(struct buf *out, const struct plan_file *file, struct err *err)
{
	(void)out;
	return absent(file, err);
}

int plan_make_extra(struct buf *out, const struct plan_file *file, const uint64_t *addresses, size_t n, struct err *err)
{
	(void)out;
	(void)addresses;
	(void)n;
	return absent(file, err);
}

/* Nobody looks into it. */
struct plan_memory *plan_memory_open(void)
{
	return malloc(1);
}

void plan_memory_close(struct plan_memory *memory)
{
	free(memory);
}

int plan_memory_extra(struct plan_memory *memory, struct buf *out, const struct plan_file *file, const uint64_t *addresses, size_t n,
		      struct err *err)
{
	(void)memory;
	return plan_make_extra(out, file, addresses, n, err);
}
