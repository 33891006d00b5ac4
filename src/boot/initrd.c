/*
 * boot/initrd: see initrd.h. Files that somebody else may be writing are none of our business; others are left as they were when
 * something goes wrong.
 */
#include "boot/initrd.h"

#include <endian.h>
#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "boot/config.h"

#define MAGIC "#BOOTCONFIG\n"
#define MAGIC_LEN 12
#define ALIGN 4

struct foot {
	uint32_t size, sum;
	char magic[MAGIC_LEN];
};

uint32_t boot_initrd_sum(const char *text, size_t len)
{
	uint32_t sum = 0;

	while (len--)
		sum += (unsigned char)*text++;
	return sum;
}

static int read_at(int fd, void *to, size_t len, off_t at, struct err *err)
{
	for (char *p = to; len;) {
		ssize_t n = pread(fd, p, len, at);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return err_set(err, n ? -errno : -EIO, "cannot be read: %s", strerror(n ? errno : EIO));
		p += n;
		at += n;
		len -= (size_t)n;
	}
	return 0;
}

static int write_at(int fd, const void *from, size_t len, off_t at, struct err *err)
{
	for (const char *p = from; len;) {
		ssize_t n = pwrite(fd, p, len, at);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return err_set(err, n ? -errno : -EIO, "cannot be written: %s", strerror(n ? errno : EIO));
		p += n;
		at += n;
		len -= (size_t)n;
	}
	return 0;
}

int boot_initrd_read(int fd, struct buf *text, off_t *image, struct err *err)
{
	struct foot foot;
	struct stat st;
	int r;

	if (fstat(fd, &st))
		return err_set(err, -errno, "%s", strerror(errno));
	if (!S_ISREG(st.st_mode))
		return err_set(err, S_ISDIR(st.st_mode) ? -EISDIR : -EINVAL, "is no file");
	*image = st.st_size;
	if (st.st_size < (off_t)sizeof(foot))
		return 0;
	r = read_at(fd, &foot, sizeof(foot), st.st_size - (off_t)sizeof(foot), err);
	if (r || memcmp(foot.magic, MAGIC, MAGIC_LEN))
		return r;
	foot.size = le32toh(foot.size);
	foot.sum = le32toh(foot.sum);
	*image = st.st_size - (off_t)sizeof(foot) - (off_t)foot.size;
	if (*image < 0 || foot.size > BOOT_SIZE_MAX + 1 + ALIGN)
		return err_set(err, -EINVAL, "the bootconfig at its end is damaged: it cannot have %u bytes", foot.size);
	if (!buf_room(text, foot.size + 1u))
		return err_set(err, -ENOMEM, "out of memory");
	r = read_at(fd, text->data + text->len, foot.size, *image, err);
	if (!r && boot_initrd_sum(text->data + text->len, foot.size) != foot.sum)
		r = err_set(err, -EINVAL, "the bootconfig at its end is damaged: the sum of its bytes is another");
	if (r)
		return r;
	text->len += strnlen(text->data + text->len, foot.size);
	text->data[text->len] = '\0';
	return 1;
}

/* All that stands behind an image of that size. */
static void put_end(struct buf *out, off_t image, const char *text, size_t len)
{
	struct foot foot = { .magic = "" };
	size_t size;

	buf_add(out, text, len);
	buf_putc(out, '\0');
	while (((size_t)image + out->len + sizeof(foot)) % ALIGN)
		buf_putc(out, '\0');
	size = out->len;
	if (buf_failed(out))
		return;
	foot.size = htole32((uint32_t)size);
	foot.sum = htole32(boot_initrd_sum(out->data, size));
	memcpy(foot.magic, MAGIC, MAGIC_LEN);
	buf_add(out, &foot, sizeof(foot));
}

int boot_initrd_write(int fd, const char *text, size_t len, struct err *err)
{
	struct buf before = BUF_INIT, end = BUF_INIT;
	off_t image;
	int r = boot_initrd_read(fd, &before, &image, err), had = r;

	if (r < 0) {
		buf_fini(&before);
		return r;
	}
	r = 0;
	if (text) {
		put_end(&end, image, text, len);
		r = buf_failed(&end) ? err_set(err, -ENOMEM, "out of memory") : write_at(fd, end.data, end.len, image, err);
	}
	/* What the next start depends on is not left in a cache. */
	if (!r && (ftruncate(fd, image + (off_t)end.len) || fsync(fd)))
		r = err_set(err, -errno, "cannot be written: %s", strerror(errno));
	if (r && text) {
		buf_reset(&end);
		if (had)
			put_end(&end, image, before.data, before.len);
		if (!end.len || !write_at(fd, end.data, end.len, image, NULL))
			(void)!ftruncate(fd, image + (off_t)end.len);
	}
	buf_fini(&before);
	buf_fini(&end);
	return r;
}
