/*
 * plan/absent: in place of what makes plans, in a build without Zydis and in libringside-control.
 */
#include <errno.h>

#include "plan/plan.h"

int plan_make(struct buf *out, const struct plan_file *file, struct err *err)
{
	(void)out;
	return err_set(err, -ENOSYS, "%.300s: what decodes instructions is not built in", file->path);
}
