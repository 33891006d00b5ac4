/*
 * plan/absent: in place of what makes plans, in a build without Zydis and in libringside-control.
 */
#include <errno.h>

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
