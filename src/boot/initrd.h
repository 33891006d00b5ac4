/*
 * boot/initrd: a bootconfig at the end of an initrd, where the kernel looks for it.
 *
 *	image | text, a NUL, zeros until the whole can be divided by 4 | size | sum of the bytes | "#BOOTCONFIG\n"
 *
 * Both numbers have 32 bits, the lowest byte first, and count the text with what fills it up.
 */
#ifndef BOOT_INITRD_H
#define BOOT_INITRD_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/buf.h"
#include "base/err.h"

/* What stands there, behind the text that is yours to free. 1, or 0: nothing. -EINVAL: it is damaged. `image`: its size without. */
int boot_initrd_read(int fd, struct buf *text, off_t *image, struct err *err);

/* Instead of what is there; on failure that stays. NULL: nothing. */
int boot_initrd_write(int fd, const char *text, size_t len, struct err *err);

/* The sum that stands behind it. */
uint32_t boot_initrd_sum(const char *text, size_t len);

#endif
