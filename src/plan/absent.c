/*
 * plan/absent: in place of what makes plans, in a build without Zydis.
 */
#include <errno.h>

#include "plan/plan.h"

int plan_make(struct buf *out, const struct plan_file *file, struct err *err)
{
	(void)out;
	return err_set(err, -ENOTSUP, "%.300s: this ringside was built without Zydis, which decodes instructions", file->path);
}
