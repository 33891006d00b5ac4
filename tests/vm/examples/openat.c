/* SPDX-License-Identifier: MIT */
/*
 * openat - opens a file whose name lies in a page that it has not touched before.
 */
#include <fcntl.h>
#include <unistd.h>

static const char *file = "/etc/passwd";

int main(void)
{
	int fd = open(file, O_RDONLY);

	return fd < 0 || close(fd);
}
