/*
 * mount/absent: in place of the server where libfuse is not to be had.
 */
#include <errno.h>

#include "mount/mount.h"

int mount_serve(struct control *control, const char *place, const struct mount_how *how,
		struct err *err)
{
	(void)control;
	(void)how;
	return err_set(err, -ENOSYS, "%s: this ringside was built without libfuse 3: install "
		       "libfuse3-dev and build it again", place);
}
