/*
 * source/files: files under a directory: the kernel's tracefs, a mount of ours, or a copy of either.
 *
 * Nothing blocks: files are opened with O_NONBLOCK, and one that is followed says EAGAIN when it has
 * nothing. Nothing is made where it was not, and no path leads out of the directory by "..".
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <mntent.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "source/kind.h"
#include "source/parts.h"

#define KERNEL_USUAL "/sys/kernel/tracing"

/* The path below the root, or NULL when it would lead out of it. */
static const char *below(const char *path)
{
	const char *at = path;

	while (*at) {
		size_t len = strcspn(at, "/");

		if (len == 2 && !memcmp(at, "..", 2))
			return NULL;
		at += len + (at[len] == '/');
	}
	while (*path == '/')
		path++;
	return *path ? path : ".";
}

/* What is a file of the tree elsewhere, or would be, a kernel has among its settings. */
static const char *elsewhere(const struct source *source, const char *at)
{
	if (!source->is_kernel)
		return NULL;
	return !strcmp(at, "stack_tracer_enabled") ? "/proc/sys/kernel/stack_tracer_enabled" :
	       !strcmp(at, "ftrace_enabled") ? "/proc/sys/kernel/ftrace_enabled" : NULL;
}

/* The option that a kernel would have to be built with: where all but the file itself is there. */
static const char *lacks(const struct source *source, const char *path)
{
	const char *at = below(path), *config = at && source->is_kernel ? source_part_config(at) : NULL;
	const char *slash = config ? strrchr(at, '/') : NULL;
	char parent[512];
	struct stat st;

	if (!config || !slash)
		return config;
	snprintf(parent, sizeof(parent), "%.*s", (int)(slash - at), at);
	return !fstatat(source->root, parent, &st, 0) || source_part_config(parent) ? config : NULL;
}

/* Words for a call that failed; `what` could not be done. */
static int refused(const struct source *source, const char *path, int code, const char *what,
		   struct err *err)
{
	const char *config;

	switch (code) {
	case -ENOENT:
		config = lacks(source, path);
		if (config)
			return err_set(err, code, "%.200s: there is no such file in %.200s: this kernel was built without %s", path,
				       source->name, config);
		return err_set(err, code, "%.200s: there is no such file in %.200s", path,
			       source->name);
	case -EISDIR:
		return err_set(err, code, "%.200s: is a directory of the tree", path);
	case -ENOTDIR:
		return err_set(err, code, "%.200s: is a file", path);
	case -EEXIST:
		return err_set(err, code, "%.200s: is there already", path);
	case -EBUSY:
		return err_set(err, code, "%.200s: cannot be %s: somebody else uses it", path, what);
	case -EACCES:
	case -EPERM:
		return err_set(err, code, "%.200s: cannot be %s: %s%s", path, what, strerror(-code),
			       geteuid() ? ": this takes root, or files that are open to you" : "");
	default:
		return err_set(err, code, "%.200s: cannot be %s: %s", path, what, strerror(-code));
	}
}

static int open_file(const struct source *source, const char *path, int flags, const char *what,
		     struct err *err)
{
	const char *at = below(path);
	int fd = -1;

	errno = ENOENT;
	if (at)
		fd = openat(source->root, elsewhere(source, at) ? elsewhere(source, at) : at,
			    flags | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
	return fd < 0 ? refused(source, path, -errno, what, err) : fd;
}

static void close_files(struct source *source)
{
	close(source->root);
}

static bool exists(struct source *source, const char *path)
{
	const char *at = below(path);
	struct stat st;

	return at && !fstatat(source->root, elsewhere(source, at) ? elsewhere(source, at) : at, &st, 0);
}

/* Control characters but for line ends and tabs, so that what was recorded cannot drive a terminal. */
static int put_escaped(source_put *put, void *ctx, const char *bytes, size_t len)
{
	struct buf out = BUF_INIT;
	int r;

	for (size_t i = 0; i < len; i++) {
		unsigned char c = (unsigned char)bytes[i];

		if ((c < ' ' && c != '\n' && c != '\t') || c == 0x7f)
			buf_printf(&out, "\\x%02x", c);
		else
			buf_putc(&out, (char)c);
	}
	r = buf_failed(&out) ? -ENOMEM : put(ctx, out.data, out.len);
	buf_fini(&out);
	return r;
}

int source_shown(const struct source *source, const char *bytes, size_t len, source_put *put, void *ctx)
{
	return source->escape ? put_escaped(put, ctx, bytes, len) : put(ctx, bytes, len);
}

/* Bytes, 0 at the end, -EAGAIN, or -errno with words. */
static ssize_t read_piece(const struct source *source, const char *path, int fd, char *piece,
			  struct err *err)
{
	ssize_t n;

	do
		n = read(fd, piece, SOURCE_PIECE);
	while (n < 0 && errno == EINTR);
	if (n < 0 && errno == EAGAIN)
		return -EAGAIN;
	return n < 0 ? refused(source, path, -errno, "read", err) : n;
}

/* Everything that is there now; `put` gets it as it is. */
static int drain(struct source *source, const char *path, source_put *put, void *ctx,
		 struct err *err)
{
	char *piece = malloc(SOURCE_PIECE);
	ssize_t n = 0;
	int fd, r = 0;

	if (!piece)
		return err_set(err, -ENOMEM, "out of memory");
	fd = open_file(source, path, O_RDONLY, "read", err);
	if (fd < 0) {
		free(piece);
		return fd;
	}
	while (!r && (n = read_piece(source, path, fd, piece, err)) > 0)
		r = put(ctx, piece, (size_t)n);
	close(fd);
	free(piece);
	if (r)
		return r;
	return n < 0 && n != -EAGAIN ? (int)n : 0;
}

static int collect(void *ctx, const void *bytes, size_t len)
{
	buf_add(ctx, bytes, len);
	return buf_failed(ctx) ? -ENOMEM : 0;
}

static int read_text(struct source *source, const char *path, struct buf *out, struct err *err)
{
	int r = drain(source, path, collect, out, err);

	return r == -ENOMEM ? err_set(err, r, "out of memory") : r;
}

struct sink {
	const struct source *source;
	source_put *put;
	void *ctx;
};

static int through(void *ctx, const void *bytes, size_t len)
{
	struct sink *sink = ctx;

	return source_shown(sink->source, bytes, len, sink->put, sink->ctx);
}

static int pump(struct source *source, const char *path, source_put *put, void *ctx, struct err *err)
{
	struct sink sink = { source, put, ctx };

	return drain(source, path, through, &sink, err);
}

/* A piece handed on, or a wait for one. 1 at the end. */
static int turn(struct source *source, const char *path, int fd, char *piece, source_put *put,
		void *ctx, struct err *err)
{
	struct pollfd wait = { fd, POLLIN, 0 };
	ssize_t n = read_piece(source, path, fd, piece, err);

	if (n > 0)
		return source_shown(source, piece, (size_t)n, put, ctx);
	if (n != -EAGAIN)
		return n ? (int)n : 1;
	/* One CPU's pipe is ready only at its watermark; what is below it is read when time is up. */
	if (poll(&wait, 1, SOURCE_WAIT_MS) < 0 && errno != EINTR)
		return refused(source, path, -errno, "waited for", err);
	return 0;
}

static int follow(struct source *source, const char *path, source_put *put,
		  bool (*over)(void *ctx), void *ctx, struct err *err)
{
	char *piece = malloc(SOURCE_PIECE);
	int fd, r;

	if (!piece)
		return err_set(err, -ENOMEM, "out of memory");
	fd = r = open_file(source, path, O_RDONLY, "read", err);
	if (fd >= 0) {
		do
			r = turn(source, path, fd, piece, put, ctx, err);
		while (!r && !over(ctx));
		close(fd);
	}
	free(piece);
	return r < 0 ? r : 0;
}

static int raw(struct source *source, const char *path, struct err *err)
{
	return open_file(source, path, O_RDONLY, "read", err);
}

static int refused_text(const struct source *source, const char *path, const char *text, size_t len,
			int code, struct err *err)
{
	const bool logged = code != -EBUSY && code != -EPERM && code != -EACCES && code != -ENOMEM;
	char reason[160] = "";

	while (len && text[len - 1] == '\n')
		len--;
	if (logged)
		source_reason((struct source *)source, path, text, len, reason, sizeof(reason));
	if (!*reason && code != -EINVAL)
		return refused(source, path, code, "written", err);
	if (!*reason && exists((struct source *)source, "error_log"))
		strcpy(reason, "error_log may say why");
	return err_set(err, code, "%.200s: '%.*s' is refused%s%s", path, len < 60 ? (int)len : 60, text, *reason ? ": " : "", reason);
}

static int write_text(struct source *source, const char *path, const char *text, size_t len,
		      bool append, struct err *err)
{
	int fd, r = 0;

	fd = open_file(source, path, O_WRONLY | (append ? O_APPEND : O_TRUNC), "written", err);
	if (fd < 0)
		return fd;
	/* Files of words take one at a time, markers as much as fits. */
	for (size_t done = 0; !r && done < len;) {
		ssize_t n = write(fd, text + done, len - done);

		if (n < 0 && errno == EINTR)
			continue;
		if (n > 0)
			done += (size_t)n;
		else
			r = refused_text(source, path, text, len, n ? -errno : -EIO, err);
	}
	/* A file system in user space may have its say here. */
	if (close(fd) && !r)
		r = refused_text(source, path, text, len, -errno, err);
	return r;
}

static int name_compare(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static bool is_dir(int dir, const struct dirent *entry)
{
	struct stat st;

	if (entry->d_type != DT_UNKNOWN && entry->d_type != DT_LNK)
		return entry->d_type == DT_DIR;
	return !fstatat(dir, entry->d_name, &st, 0) && S_ISDIR(st.st_mode);
}

/* All names of the directory; returns how many, or -ENOMEM. */
static ssize_t take_names(DIR *dir, char ***names)
{
	const struct dirent *entry;
	size_t n = 0, cap = 0;

	while ((entry = readdir(dir))) {
		if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, ".."))
			continue;
		if (n == cap) {
			char **more = realloc(*names, (cap = cap ? cap * 2 : 64) * sizeof(*more));

			if (!more)
				break;
			*names = more;
		}
		if (asprintf(&(*names)[n], "%s%s", entry->d_name,
			     is_dir(dirfd(dir), entry) ? "/" : "") < 0)
			break;
		n++;
	}
	if (!entry)
		return (ssize_t)n;
	while (n)
		free((*names)[--n]);
	return -ENOMEM;
}

static int list(struct source *source, const char *path, struct buf *out, struct err *err)
{
	int fd = open_file(source, path, O_RDONLY | O_DIRECTORY, "listed", err);
	char **names = NULL;
	ssize_t n;
	DIR *dir;

	if (fd < 0)
		return fd;
	dir = fdopendir(fd);
	if (!dir) {
		close(fd);
		return err_set(err, -ENOMEM, "out of memory");
	}
	n = take_names(dir, &names);
	closedir(dir);
	if (n > 0)
		qsort(names, (size_t)n, sizeof(*names), name_compare);
	for (ssize_t i = 0; i < n; i++) {
		buf_printf(out, "%s\n", names[i]);
		free(names[i]);
	}
	free(names);
	return n < 0 || buf_failed(out) ? err_set(err, -ENOMEM, "out of memory") : 0;
}

static int make(struct source *source, const char *path, struct err *err)
{
	const char *at = below(path);

	errno = ENOENT;
	return at && !mkdirat(source->root, at, 0755) ? 0 :
	       refused(source, path, -errno, "made", err);
}

static int remove_dir(const struct source *source, const char *at)
{
	return unlinkat(source->root, at, AT_REMOVEDIR) ? -errno : 0;
}

/* "instances/NAME/", where the path is an instance's. */
static bool is_instance(const char *at, char buffer[256])
{
	const char *name = strncmp(at, "instances/", 10) ? "" : at + 10;
	size_t len = strcspn(name, "/");

	return len && !name[len + strspn(name + len, "/")] && snprintf(buffer, 256, "instances/%.*s/", (int)len, name) < 256;
}

/*
 * A kernel's instance is held by histograms with variables in it. And a kernel (6.12 does) that removes triggers of synthetic events
 * together with their instance goes on counting them, and does not let those events go before it is booted again.
 */
static int drop(struct source *source, const char *path, struct err *err)
{
	const char *at = below(path);
	char buffer[256];
	bool kernels = at && source->is_kernel && is_instance(at, buffer);
	int r;

	if (kernels)
		source_drop_triggers(source, buffer, "synthetic/", NULL);
	r = at ? remove_dir(source, at) : -ENOENT;
	if (r == -EBUSY && kernels && !source_drop_triggers(source, buffer, NULL, NULL))
		r = remove_dir(source, at);
	return r ? refused(source, path, r, "removed", err) : 0;
}

static const struct source_kind kind = {
	close_files, exists, read_text, pump, follow, raw, write_text, list, make, drop,
};

/* Where the kernel's tracefs is mounted; yours to free. */
static int find_kernel(char **path, struct err *err)
{
	FILE *mounts = setmntent("/proc/mounts", "re");
	const struct mntent *mount;

	*path = NULL;
	while (mounts && (mount = getmntent(mounts))) {
		if (strcmp(mount->mnt_type, "tracefs") ||
		    (*path && strcmp(mount->mnt_dir, KERNEL_USUAL)))
			continue;
		free(*path);
		*path = strdup(mount->mnt_dir);
	}
	if (mounts)
		endmntent(mounts);
	if (*path)
		return 0;
	return err_set(err, -ENOENT, "the kernel's tracefs is not mounted: as root, `mount -t tracefs "
		       "nodev " KERNEL_USUAL "`");
}

/* A person who means a tracing directory, or mistyped, is told so. */
static int check_root(struct source *source, struct err *err)
{
	if (exists(source, "tracing_on") || exists(source, "events") || exists(source, "trace"))
		return 0;
	if (errno == EACCES || errno == EPERM)
		return err_set(err, -errno, "%.300s: %s%s", source->name, strerror(errno),
			       geteuid() ? ": this takes root, or files that are open to you" : "");
	if (exists(source, "registry") && exists(source, "rings"))
		return err_set(err, -EINVAL, "%.200s: is a tracing directory: `--dir %.200s`",
			       source->name, source->name);
	return err_set(err, -EINVAL, "%.300s: is no tracing tree: it has no tracing_on and no events",
		       source->name);
}

int source_files_open(struct source *source, const struct source_how *how, struct err *err)
{
	struct statfs fs;
	int r = 0;

	if (how->tracefs)
		source->name = strdup(how->tracefs);
	else
		r = find_kernel(&source->name, err);
	if (r)
		return r;
	if (!source->name)
		return err_set(err, -ENOMEM, "out of memory");
	source->root = open(source->name, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (source->root < 0)
		r = err_set(err, -errno, "%.300s: %s", source->name, strerror(errno));
	if (!r)
		r = check_root(source, err);
	source->is_kernel = !r && !fstatfs(source->root, &fs) && (unsigned long)fs.f_type == TRACEFS_MAGIC;
	if (r) {
		if (source->root >= 0)
			close(source->root);
		free(source->name);
		return r;
	}
	source->kind = &kind;
	return 0;
}
