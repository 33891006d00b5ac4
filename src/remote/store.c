/*
 * remote/store: what a tracing directory keeps of its remotes.
 *
 *   remotes/NAME/config   where the memory is, or that it is served, and by which process: "word value" a line
 *   remotes/NAME/texts    what the events are called, as the ELF file has it
 *   remotes/NAME/state    struct kept, a struct kept_ring for each ring, and locks
 *   remotes/NAME/lent     what who has it for a while has switched on: loan.c
 *   remotes/NAME/socket   of who serves it: served.h
 *   remotes/test/memory   the buffer of the built-in one, while it is loaded
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/crc32c.h"
#include "remote/local.h"

#define REMOTES "remotes"
#define CONFIG_MAX 16384
#define TEXTS_BYTES_MAX (16u << 20)
/* Who holds a lock does so for a moment. */
#define LOCK_TRIES 2000
#define LOCK_NAP_US 1000
/* Who writes is through long before. */
#define LOOK_TRIES 100

bool remote_store_is_name(const char *name)
{
	/* What lies beside its events, in events/. */
	static const char *const taken[] = { "enable", "header_event", "header_page" };
	size_t len = strlen(name);

	for (size_t i = 0; i < sizeof(taken) / sizeof(*taken); i++)
		if (!strcmp(name, taken[i]))
			return false;

	if (!len || len > REMOTE_NAME_MAX || *name == '.' || name[len - 1] == '.')
		return false;
	return strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.") == len;
}

int remote_store_open(int dir, const char *name, bool create)
{
	int all, one;

	if (!remote_store_is_name(name))
		return -ENOENT;
	if (create && mkdirat(dir, REMOTES, 0700) && errno != EEXIST)
		return -errno;
	all = openat(dir, REMOTES, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (all < 0)
		return -errno;
	if (create && mkdirat(all, name, 0700) && errno != EEXIST) {
		one = -errno;
	} else {
		one = openat(all, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		one = one < 0 ? -errno : one;
	}
	close(all);
	return one;
}

int remote_store_lock_all(int dir)
{
	int all;

	if (mkdirat(dir, REMOTES, 0700) && errno != EEXIST)
		return -errno;
	all = openat(dir, REMOTES, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	for (int i = 0; all >= 0 && flock(all, LOCK_EX | LOCK_NB); i++) {
		int r = -errno;

		if (r == -EINTR)
			continue;
		if (r != -EWOULDBLOCK || i >= LOCK_TRIES) {
			close(all);
			return r == -EWOULDBLOCK ? -EBUSY : r;
		}
		usleep(LOCK_NAP_US);
	}
	return all < 0 ? -errno : all;
}

void remote_store_unlock_all(int lock)
{
	if (lock < 0)
		return;
	/* A child of fork() may have it, too. */
	flock(lock, LOCK_UN);
	close(lock);
}

/* ---- files ---- */

static int read_file(int dir, const char *name, struct buf *out, size_t max)
{
	int fd = openat(dir, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
	ssize_t n = 1;

	if (fd < 0)
		return -errno;
	while (n > 0 && out->len <= max) {
		char *to = buf_room(out, 4096);

		n = to ? read(fd, to, 4096) : -1;
		out->len += n > 0 ? (size_t)n : 0;
	}
	close(fd);
	if (n)
		return n < 0 ? -EIO : -EFBIG;
	buf_putc(out, '\0');
	out->len--;
	return buf_failed(out) ? -ENOMEM : 0;
}

/* Under another name first: nobody sees half of it. */
static int write_file(int dir, const char *name, const void *bytes, size_t len)
{
	char part[64];
	ssize_t n;
	int fd, r = 0;

	snprintf(part, sizeof(part), ".%s.%d", name, (int)getpid());
	fd = openat(dir, part, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0)
		return -errno;
	n = write(fd, bytes, len);
	if (n != (ssize_t)len)
		r = n < 0 ? -errno : -ENOSPC;
	close(fd);
	if (!r && renameat(dir, part, dir, name))
		r = -errno;
	if (r)
		unlinkat(dir, part, 0);
	return r;
}

int remote_store_read(struct remote *remote, const char *file, struct buf *out, size_t max)
{
	return remote->dir < 0 ? -ENOENT : read_file(remote->dir, file, out, max);
}

int remote_store_write(struct remote *remote, const char *file, const void *bytes, size_t len, struct err *err)
{
	int r = write_file(remote->dir, file, bytes, len);

	return r ? err_set(err, r, "remotes/%s/%s cannot be written: %s", remote->name, file, strerror(-r)) : 0;
}

/* ---- config ---- */

static int take_line(struct remote *remote, const char *word, const char *value)
{
	if (!strcmp(word, "memory") && !remote->path) {
		remote->kind = &remote_kind_memory;
		remote->path = strdup(value);
		return remote->path ? 0 : -ENOMEM;
	}
	if (!strcmp(word, "served")) {
		remote->kind = &remote_kind_served;
		remote->server = (pid_t)strtol(value, NULL, 10);
	}
	if (!strcmp(word, "elf") && !remote->elf) {
		remote->elf = strdup(value);
		return remote->elf ? 0 : -ENOMEM;
	}
	if (!strcmp(word, "order"))
		remote->abi.big_endian = !strcmp(value, "big");
	if (!strcmp(word, "long"))
		remote->abi.long_size = !strcmp(value, "4") ? 4 : 8;
	if (!strcmp(word, "at"))
		remote->at = strtoull(value, NULL, 0);
	if (!strcmp(word, "build"))
		remote->build = (uint32_t)strtoul(value, NULL, 0);
	if (!strcmp(word, "cpus"))
		remote->nr_cpus = (uint32_t)strtoul(value, NULL, 0);
	return 0;
}

static int read_config(struct remote *remote, struct err *err)
{
	struct buf text = BUF_INIT;
	char *save, *line;
	int r = read_file(remote->dir, "config", &text, CONFIG_MAX);

	for (line = r ? NULL : strtok_r(text.data, "\n", &save); line && !r; line = strtok_r(NULL, "\n", &save)) {
		char *value = strchr(line, ' ');

		if (value) {
			*value++ = '\0';
			r = take_line(remote, line, value);
		}
	}
	buf_fini(&text);
	if (!r && (!remote->kind || remote->nr_cpus > TARGET_RINGS_MAX))
		r = -EUCLEAN;
	return r ? err_set(err, r, "remotes/%s/config cannot be read: %s", remote->name, strerror(-r)) : 0;
}

static int read_texts(struct remote *remote, struct err *err)
{
	struct buf bytes = BUF_INIT;
	int r = read_file(remote->dir, "texts", &bytes, TEXTS_BYTES_MAX);

	if (!r)
		r = remote_texts_parse(&remote->texts, remote->name, bytes.data, bytes.len, &remote->abi, err);
	remote->texts_size = (uint32_t)bytes.len;
	buf_fini(&bytes);
	if (r == -ENOENT)
		return 0;
	if (r && err && !err->code)
		return err_set(err, r, "remotes/%s/texts cannot be read: %s", remote->name, strerror(-r));
	if (r)
		err_prefix(err, "remotes/%s/texts: ", remote->name);
	return r;
}

static int open_state(struct remote *remote, struct err *err)
{
	remote->state = openat(remote->dir, "state", O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
	return remote->state < 0 ? err_set(err, -errno, "remotes/%s/state: %s", remote->name, strerror(errno)) : 0;
}

int remote_store_load(struct remote *remote, struct err *err)
{
	int r = read_config(remote, err);

	if (!r)
		r = read_texts(remote, err);
	return r ? r : open_state(remote, err);
}

int remote_store_make(struct remote *remote, struct err *err)
{
	if (remote->state >= 0)
		return 0;
	if (remote->dir < 0)
		remote->dir = remote_store_open(remote->root, remote->name, true);
	if (remote->dir < 0)
		return err_set(err, remote->dir, "remotes/%s cannot be made: %s", remote->name, strerror(-remote->dir));
	return open_state(remote, err);
}

int remote_store_save(struct remote *remote, const void *texts, size_t len, struct err *err)
{
	struct buf text = BUF_INIT;
	int r = len > TEXTS_BYTES_MAX ? -EFBIG : len ? write_file(remote->dir, "texts", texts, len) : 0;

	if (remote->kind == &remote_kind_served)
		buf_printf(&text, "served %d\n", (int)getpid());
	else
		buf_printf(&text, "memory %s\nat %#" PRIx64 "\ncpus %" PRIu32 "\nbuild %#" PRIx32 "\n", remote->path, remote->at,
			   remote->nr_cpus, remote->build);
	buf_printf(&text, "order %s\nlong %u\n", remote->abi.big_endian ? "big" : "little", remote->abi.long_size);
	if (remote->elf)
		buf_printf(&text, "elf %s\n", remote->elf);
	if (!r)
		r = buf_failed(&text) ? -ENOMEM : write_file(remote->dir, "config", text.data, text.len);
	buf_fini(&text);
	return r ? err_set(err, r, "remotes/%s cannot be written: %s", remote->name, strerror(-r)) : 0;
}

/* ---- state ---- */

/* Some of it; the last word is the checksum. Who does not hold the lock may look while it is written. */
static bool get_whole(const struct remote *remote, void *bytes, size_t len, off_t at)
{
	uint32_t crc;

	for (int i = 0; remote->state >= 0 && i < LOOK_TRIES; i++) {
		if (pread(remote->state, bytes, len, at) != (ssize_t)len)
			return false;
		memcpy(&crc, (char *)bytes + len - sizeof(crc), sizeof(crc));
		if (crc == crc32c(0, bytes, len - sizeof(crc)))
			return true;
	}
	return false;
}

static int put(struct remote *remote, const void *bytes, size_t len, off_t at, struct err *err)
{
	ssize_t n = pwrite(remote->state, bytes, len, at);

	if (n == (ssize_t)len)
		return 0;
	return err_set(err, n < 0 ? -errno : -ENOSPC, "remotes/%s/state cannot be written: %s", remote->name,
		       strerror(n < 0 ? errno : ENOSPC));
}

int remote_store_kept(struct remote *remote, struct kept *kept)
{
	if (get_whole(remote, kept, sizeof(*kept), 0) && kept->magic == KEPT_MAGIC)
		return 0;
	*kept = (struct kept){ .magic = KEPT_MAGIC };
	return -ENOENT;
}

int remote_store_keep(struct remote *remote, const struct kept *kept, struct err *err)
{
	struct kept whole = *kept;

	whole.crc = crc32c(0, &whole, offsetof(struct kept, crc));
	return put(remote, &whole, sizeof(whole), 0, err);
}

static off_t ring_place(uint32_t ring)
{
	return (off_t)(sizeof(struct kept) + ring * sizeof(struct kept_ring));
}

static bool get_ring(const struct remote *remote, uint32_t ring, struct kept_ring *kept)
{
	return get_whole(remote, kept, sizeof(*kept), ring_place(ring)) && kept->ring == ring;
}

void remote_store_cursor(struct remote *remote, uint32_t ring, struct remote_cursor *cursor)
{
	struct kept_ring kept;

	*cursor = get_ring(remote, ring, &kept) ? kept.cursor : (struct remote_cursor){ 0 };
}

uint32_t remote_store_cpu(const struct remote *remote, uint32_t ring)
{
	struct kept_ring kept;

	return get_ring(remote, ring, &kept) ? kept.cpu : ring;
}

int remote_store_set_cursor(struct remote *remote, uint32_t ring, const struct remote_cursor *cursor, struct err *err)
{
	struct kept_ring kept = { .cursor = *cursor, .cpu = remote_cpu(remote, ring), .ring = ring };

	kept.crc = crc32c(0, &kept, offsetof(struct kept_ring, crc));
	return put(remote, &kept, sizeof(kept), ring_place(ring), err);
}

int remote_store_lock(struct remote *remote, off_t byte, int type, bool wait)
{
	struct flock lock = { .l_type = (short)type, .l_whence = SEEK_SET, .l_start = byte, .l_len = 1 };

	for (int i = 0; fcntl(remote->state, F_OFD_SETLK, &lock); i++) {
		if (errno == EINTR)
			continue;
		if ((errno != EAGAIN && errno != EACCES) || !wait || i == LOCK_TRIES)
			return errno == EACCES ? -EAGAIN : -errno;
		usleep(LOCK_NAP_US);
	}
	return 0;
}

bool remote_store_is_locked(struct remote *remote, off_t byte)
{
	struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = byte, .l_len = 1 };

	return !fcntl(remote->state, F_OFD_GETLK, &lock) && lock.l_type != F_UNLCK;
}

/* ---- all of them ---- */

bool remote_exists(int dir, const char *name)
{
	int fd;

	if (!strcmp(name, REMOTE_TEST))
		return true;
	fd = remote_store_open(dir, name, false);
	if (fd < 0)
		return false;
	if (faccessat(fd, "config", F_OK, 0)) {
		close(fd);
		return false;
	}
	close(fd);
	return true;
}

static int compare(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Those in the folder; *names is the caller's to free, with what is in it. */
static size_t gather(int dir, char ***names)
{
	int fd = openat(dir, REMOTES, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	DIR *all = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *entry;
	size_t n = 0;

	*names = NULL;
	if (!all && fd >= 0)
		close(fd);
	while (all && (entry = readdir(all))) {
		char **more;

		if (!remote_store_is_name(entry->d_name) || !strcmp(entry->d_name, REMOTE_TEST) || !remote_exists(dir, entry->d_name))
			continue;
		more = realloc(*names, (n + 1) * sizeof(**names));
		if (!more)
			break;
		*names = more;
		more[n] = strdup(entry->d_name);
		n += more[n] != NULL;
	}
	if (all)
		closedir(all);
	return n;
}

int remote_list(int dir, struct buf *out, struct err *err)
{
	char **names;
	size_t n = gather(dir, &names);
	bool tested = false;

	if (n)
		qsort(names, n, sizeof(*names), compare);
	for (size_t i = 0; i < n; i++) {
		if (!tested && strcmp(names[i], REMOTE_TEST) > 0) {
			buf_puts(out, REMOTE_TEST "\n");
			tested = true;
		}
		buf_printf(out, "%s\n", names[i]);
		free(names[i]);
	}
	if (!tested)
		buf_puts(out, REMOTE_TEST "\n");
	free(names);
	return buf_failed(out) ? err_set(err, -ENOMEM, "out of memory") : 0;
}

/* Takes the descriptor. Also what somebody who died left half-written. */
static void remove_files(int fd)
{
	DIR *one = fdopendir(fd);
	struct dirent *entry;

	if (!one) {
		close(fd);
		return;
	}
	/* Without that one it is no remote any more. */
	unlinkat(fd, "config", 0);
	while ((entry = readdir(one)))
		unlinkat(fd, entry->d_name, 0);
	closedir(one);
}

/* Its files, then its folder; who still has it open keeps what he has. */
int remote_store_remove(int dir, const char *name, struct err *err)
{
	int one = remote_store_open(dir, name, false), all;

	if (one < 0)
		return err_set(err, one, "remotes/%s: %s", name, strerror(-one));
	remove_files(one);
	all = openat(dir, REMOTES, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (all < 0 || unlinkat(all, name, AT_REMOVEDIR)) {
		int r = err_set(err, -errno, "remotes/%s: %s", name, strerror(errno));

		if (all >= 0)
			close(all);
		return r;
	}
	close(all);
	return 0;
}
