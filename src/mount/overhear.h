/*
 * mount/overhear: what a library or a child says on stderr meanwhile, to be told in our own words.
 * No other thread may be running.
 */
#ifndef MOUNT_OVERHEAR_H
#define MOUNT_OVERHEAR_H

#include <stddef.h>

struct overhear {
	int stderr_fd;	/* the real one; -1: nothing is overheard */
	int file;
};

void overhear_begin(struct overhear *ear);
/* The first line of what was said, without the name of who said it; "" when nothing was. */
void overhear_end(struct overhear *ear, char *line, size_t size);

#endif
