/*
 * ring/segment: see segment.h. Runs in traced programs' constructors and in the tool.
 *
 * A file of the directory comes into being whole: it is made under a name of its maker's and linked to its real one, so
 * that of two makers one wins, and nobody ever opens a half-made file.
 */
#include "ring/segment.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "layout/control.h"
#include "layout/plan.h"
#include "layout/registry.h"
#include "layout/ring.h"
#include "layout/table.h"
#include "ring/arch.h"

static const struct {
	const char *name;
	uint64_t magic;
} kinds[SEGMENT_KINDS] = {
	[SEGMENT_CONTROL] = { "control", SEGMENT_MAGIC_CONTROL },
	[SEGMENT_REGISTRY] = { "registry", SEGMENT_MAGIC_REGISTRY },
	[SEGMENT_RINGS] = { "rings", SEGMENT_MAGIC_RINGS },
	[SEGMENT_TABLES] = { "tables", SEGMENT_MAGIC_TABLES },
	[SEGMENT_PLANS] = { "plans", SEGMENT_MAGIC_PLANS },
};

static uint64_t segment_size(enum segment_kind kind, uint32_t ncpu)
{
	switch (kind) {
	case SEGMENT_CONTROL:
		return CONTROL_FIRST_STATE;
	case SEGMENT_REGISTRY:
		return REGISTRY_SIZE;
	case SEGMENT_TABLES:
		return TABLES_DATA_OFFSET;
	case SEGMENT_PLANS:
		return PLANS_DATA_OFFSET;
	default:
		return rings_data_offset(ncpu);
	}
}

int segment_path(char *path, size_t size, bool secure)
{
	const char *given = secure ? NULL : getenv("RINGSIDE_DIR");
	unsigned uid = geteuid();
	struct stat st;
	int n;

	if (given && *given) {
		n = snprintf(path, size, "%s", given);
	} else {
		n = snprintf(path, size, "/run/user/%u", uid);
		if (!stat(path, &st) && S_ISDIR(st.st_mode) && st.st_uid == uid)
			n = snprintf(path, size, "/run/user/%u/ringside", uid);
		else
			n = snprintf(path, size, "/dev/shm/ringside-%u", uid);
	}
	return n < 0 || (size_t)n >= size ? -ENAMETOOLONG : 0;
}

/* The number of CPUs that can ever be: the end of a list such as 0-7 or 0,2-3. */
static uint32_t possible_cpus(void)
{
	char text[256];
	uint32_t last = 0, value = 0;
	ssize_t n = -1;
	int fd = open("/sys/devices/system/cpu/possible", O_RDONLY | O_CLOEXEC);

	if (fd >= 0) {
		n = read(fd, text, sizeof(text) - 1);
		close(fd);
	}
	if (n <= 0) {
		long conf = sysconf(_SC_NPROCESSORS_CONF);

		return conf > 0 && conf <= (long)SEGMENT_NCPU_MAX ? (uint32_t)conf : 1;
	}
	for (ssize_t i = 0; i < n; i++) {
		if (text[i] >= '0' && text[i] <= '9') {
			value = value * 10 + (uint32_t)(text[i] - '0');
			last = value;
		} else {
			value = 0;
		}
	}
	return last < SEGMENT_NCPU_MAX ? last + 1 : SEGMENT_NCPU_MAX;
}

static void fill_head(struct segment_head *head, enum segment_kind kind, uint32_t ncpu)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	*head = (struct segment_head){
		.magic = kinds[kind].magic,
		.version = SEGMENT_VERSION,
		.ncpu = ncpu,
		.size = segment_size(kind, ncpu),
		.birth_mono = (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec,
		.birth_tsc = section_counter(),
	};
}

/* Growing a file past RLIMIT_FSIZE would be a signal to a program that never asked for the file. */
static bool may_grow_to(uint64_t size)
{
	struct rlimit limit;

	return getrlimit(RLIMIT_FSIZE, &limit) || limit.rlim_cur == RLIM_INFINITY || limit.rlim_cur >= size;
}

static int fill_file(int fd, enum segment_kind kind, uint32_t ncpu)
{
	union {
		struct segment_head seg;
		struct registry_head registry;
		unsigned char bytes[4096];
	} first;
	uint64_t size = segment_size(kind, ncpu);

	memset(&first, 0, sizeof(first));
	fill_head(&first.seg, kind, ncpu);
	if (kind == SEGMENT_REGISTRY)
		first.registry.heap_used = REGISTRY_HEAP_OFFSET;
	if (!may_grow_to(size))
		return -EFBIG;
	if (ftruncate(fd, (off_t)size))
		return -errno;
	/* Programs use all of it without asking: it has to be there. */
	if (kind == SEGMENT_RINGS && fallocate(fd, 0, 0, (off_t)size) && errno == ENOSPC)
		return -ENOSPC;
	if (pwrite(fd, &first, sizeof(first), 0) != (ssize_t)sizeof(first))
		return -ENOSPC;
	return 0;
}

static int create_file(struct segment_dir *dir, enum segment_kind kind, uint32_t ncpu)
{
	char name[64];
	int fd, ret;

	snprintf(name, sizeof(name), ".%s.%d", kinds[kind].name, (int)getpid());
	unlinkat(dir->dir, name, 0);
	fd = openat(dir->dir, name, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0)
		return -errno;
	ret = fill_file(fd, kind, ncpu);
	if (!ret && linkat(dir->dir, name, dir->dir, kinds[kind].name, 0) && errno != EEXIST)
		ret = -errno;
	unlinkat(dir->dir, name, 0);
	close(fd);
	return ret;
}

static int check_head(const struct segment_dir *dir, enum segment_kind kind, const struct segment_head *head,
		      struct err *err)
{
	const char *name = kinds[kind].name;

	if (head->magic != kinds[kind].magic)
		return err_set(err, -EBADMSG, "%s/%s is not a Ringside file: remove the directory and start anew",
			       dir->path, name);
	if (head->version != SEGMENT_VERSION)
		return err_set(err, -EPROTO,
			       "%s/%s is of version %u, this is for version %u: use the ringside that made it, or "
			       "remove the directory", dir->path, name, head->version, SEGMENT_VERSION);
	if (head->ncpu == 0 || head->ncpu > SEGMENT_NCPU_MAX || head->size != segment_size(kind, head->ncpu) ||
	    (dir->ncpu && head->ncpu != dir->ncpu))
		return err_set(err, -EBADMSG, "%s/%s has a damaged header: remove the directory and start anew",
			       dir->path, name);
	return 0;
}

static int check_file(struct segment_dir *dir, enum segment_kind kind, int fd, struct err *err)
{
	const char *name = kinds[kind].name;
	struct segment_head head;
	struct stat st;
	int ret;

	if (fstat(fd, &st))
		return err_set(err, -errno, "%s/%s: %s", dir->path, name, strerror(errno));
	if (!S_ISREG(st.st_mode) || st.st_uid != dir->uid || st.st_mode & 022)
		return err_set(err, -EPERM, "%s/%s must be a plain file of yours that nobody else may write: "
			       "remove the directory and start anew", dir->path, name);
	if (pread(fd, &head, sizeof(head), 0) != (ssize_t)sizeof(head))
		return err_set(err, -EBADMSG, "%s/%s is cut short: remove the directory and start anew",
			       dir->path, name);
	ret = check_head(dir, kind, &head, err);
	if (ret)
		return ret;
	if ((uint64_t)st.st_size < head.size)
		return err_set(err, -EBADMSG, "%s/%s is cut short: remove the directory and start anew",
			       dir->path, name);
	dir->ncpu = head.ncpu;
	dir->size[kind] = (uint64_t)st.st_size;
	return 0;
}

static int open_file(struct segment_dir *dir, enum segment_kind kind, bool create, struct err *err)
{
	const char *name = kinds[kind].name;
	int fd = openat(dir->dir, name, O_RDWR | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);

	if (fd < 0 && errno == ENOENT && create) {
		int ret = create_file(dir, kind, dir->ncpu ? dir->ncpu : possible_cpus());

		if (ret)
			return err_set(err, ret, "cannot make %s/%s: %s", dir->path, name, strerror(-ret));
		fd = openat(dir->dir, name, O_RDWR | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
	}
	if (fd < 0)
		return err_set(err, -errno, "cannot open %s/%s: %s", dir->path, name, strerror(errno));
	dir->fd[kind] = fd;
	return check_file(dir, kind, fd, err);
}

static int open_dir(struct segment_dir *dir, bool create, struct err *err)
{
	struct stat st;

	dir->dir = open(dir->path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (dir->dir < 0 && errno == ENOENT && create) {
		if (mkdir(dir->path, 0700) && errno != EEXIST)
			return err_set(err, -errno, "cannot make %s: %s", dir->path, strerror(errno));
		dir->dir = open(dir->path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	}
	if (dir->dir < 0 && errno == ENOENT)
		return err_set(err, -ENOENT, "there is no tracing directory %s: start a program that traces, or set "
			       "RINGSIDE_DIR", dir->path);
	if (dir->dir < 0)
		return err_set(err, -errno, "cannot open the tracing directory %s: %s", dir->path, strerror(errno));
	if (fstat(dir->dir, &st))
		return err_set(err, -errno, "%s: %s", dir->path, strerror(errno));
	if (st.st_uid != dir->uid)
		return err_set(err, -EPERM, "%s belongs to uid %u, not to you: set RINGSIDE_DIR to a directory of yours",
			       dir->path, (unsigned)st.st_uid);
	if (st.st_mode & 022)
		return err_set(err, -EPERM, "%s may be written by others: chmod 700 it, or set RINGSIDE_DIR to another",
			       dir->path);
	return 0;
}

static int open_all(struct segment_dir *dir, const char *path, uid_t uid, bool create, struct err *err)
{
	int ret;

	dir->dir = -1;
	dir->uid = uid;
	dir->ncpu = 0;
	for (int i = 0; i < SEGMENT_KINDS; i++)
		dir->fd[i] = -1;
	if (strlen(path) >= sizeof(dir->path))
		return err_set(err, -ENAMETOOLONG, "the path of the tracing directory is too long");
	strcpy(dir->path, path);
	ret = open_dir(dir, create, err);
	for (int i = 0; !ret && i < SEGMENT_KINDS; i++)
		ret = open_file(dir, (enum segment_kind)i, create, err);
	if (ret)
		segment_close(dir);
	return ret;
}

int segment_open(struct segment_dir *dir, const char *path, bool create, struct err *err)
{
	return open_all(dir, path, geteuid(), create, err);
}

int segment_again(struct segment_dir *dir, const struct segment_dir *other, struct err *err)
{
	return open_all(dir, other->path, other->uid, false, err);
}

void segment_close(struct segment_dir *dir)
{
	for (int i = 0; i < SEGMENT_KINDS; i++) {
		if (dir->fd[i] >= 0)
			close(dir->fd[i]);
		dir->fd[i] = -1;
	}
	if (dir->dir >= 0)
		close(dir->dir);
	dir->dir = -1;
}
