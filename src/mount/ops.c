/*
 * mount/ops: what the kernel asks, in terms of the tree.
 *
 * A request comes in on any of the loop's threads and is answered there, but for reads that wait
 * (park.c) and for records, which are written on the CPU of their writer (cpus.c). The answer is the
 * last thing that happens to a request: behind it, what it was about may be gone.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>

#include "control/tree.h"
#include "mount/caller.h"
#include "mount/ops.h"
#include "mount/park.h"

/* The kernel's TRACE_MMAP_IOCTL_GET_READER. */
#define GET_READER _IO('R', 0x20)
#define TURN_SLICE_MS 100
#define SPLICE_WAIT_MS 50

/* Files and programs' events never go away, so the kernel may keep what it knows of them; instances and events of the
 * directory itself do. */
#define KEEP_S 60.0

static struct handle *handle_of(const struct fuse_file_info *fi)
{
	return (struct handle *)(uintptr_t)fi->fh;
}

int ops_join(char *path, size_t size, const char *dir, const char *name)
{
	int n = snprintf(path, size, "%s%s%s", dir, *dir ? "/" : "", name);

	return n < (int)size ? 0 : -ENAMETOOLONG;
}

double ops_keep(const char *path)
{
	return strncmp(path, "instances/", 10) ? KEEP_S : 0;
}

static int look(struct server *server, const char *path, struct tree_stat *stat)
{
	int r;

	pthread_mutex_lock(&server->look_lock);
	r = tree_stat(server->look, ops_in_tree(path), stat, NULL);
	pthread_mutex_unlock(&server->look_lock);
	return r;
}

int ops_fill_entry(struct server *server, const char *path, const struct tree_stat *stat,
		   struct fuse_entry_param *entry)
{
	struct tree_stat found;
	struct inode *inode;
	int r;

	if (!stat) {
		r = look(server, path, &found);
		if (r)
			return r;
		stat = &found;
	}
	inode = inode_get(&server->inodes, path);
	if (!inode)
		return -ENOMEM;
	memset(entry, 0, sizeof(*entry));
	entry->ino = (uintptr_t)inode;
	entry->attr_timeout = entry->entry_timeout = stat->is_fleeting ? 0 : ops_keep(path);
	inode_fill(&server->inodes, inode, stat, &entry->attr);
	return 0;
}

static void reply_entry(fuse_req_t req, const char *path, const struct tree_stat *stat)
{
	struct server *server = server_of(req);
	struct fuse_entry_param entry;
	int r;

	r = ops_fill_entry(server, path, stat, &entry);
	if (r)
		fuse_reply_err(req, -r);
	else if (fuse_reply_entry(req, &entry))
		inode_put(&server->inodes, inode_of(server, entry.ino), 1);
}

static void op_init(void *userdata, struct fuse_conn_info *conn)
{
	conn->max_write = PARK_PIECE_MAX;
	/* What is followed is read when it is asked for. */
	conn->max_readahead = 0;
	conn->want |= conn->capable & FUSE_CAP_ATOMIC_O_TRUNC;
	/* Pages of trace_pipe_raw are copied out of the ring anyway: a pipe in between gains nothing. */
	conn->want &= ~(unsigned int)(FUSE_CAP_SPLICE_READ | FUSE_CAP_SPLICE_WRITE);
	backings_want(&((struct server *)userdata)->backings);
	server_is_ready(userdata);
}

static void op_lookup(fuse_req_t req, fuse_ino_t parent, const char *name)
{
	char path[PATH_MAX];
	int r = ops_join(path, sizeof(path), inode_of(server_of(req), parent)->path, name);

	if (r)
		fuse_reply_err(req, -r);
	else
		reply_entry(req, path, NULL);
}

static void op_forget(fuse_req_t req, fuse_ino_t ino, uint64_t n)
{
	struct server *server = server_of(req);

	inode_put(&server->inodes, inode_of(server, ino), n);
	fuse_reply_none(req);
}

static void op_forget_multi(fuse_req_t req, size_t count, struct fuse_forget_data *forgets)
{
	struct server *server = server_of(req);

	for (size_t i = 0; i < count; i++)
		inode_put(&server->inodes, inode_of(server, forgets[i].ino), forgets[i].nlookup);
	fuse_reply_none(req);
}

static void op_getattr(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi)
{
	struct server *server = server_of(req);
	struct inode *inode = inode_of(server, ino);
	struct tree_stat stat;
	struct stat attr;
	int r;

	(void)fi;
	r = look(server, inode->path, &stat);
	if (r) {
		/* It was there when it was looked up. */
		fuse_reply_err(req, r == -ENOENT ? ENODEV : -r);
		return;
	}
	inode_fill(&server->inodes, inode, &stat, &attr);
	fuse_reply_attr(req, &attr, stat.is_fleeting ? 0 : ops_keep(inode->path));
}

/* Sizes and times are accepted and mean nothing here, as in the kernel. */
static void op_setattr(fuse_req_t req, fuse_ino_t ino, struct stat *attr, int to_set,
		       struct fuse_file_info *fi)
{
	struct server *server = server_of(req);
	unsigned int set = 0;

	set |= to_set & FUSE_SET_ATTR_MODE ? INODE_MODE : 0;
	set |= to_set & FUSE_SET_ATTR_UID ? INODE_UID : 0;
	set |= to_set & FUSE_SET_ATTR_GID ? INODE_GID : 0;
	inode_set(&server->inodes, inode_of(server, ino), set, attr);
	op_getattr(req, ino, fi);
}

static void op_mkdir(fuse_req_t req, fuse_ino_t parent, const char *name, mode_t mode)
{
	const struct tree_stat made = { .is_dir = true, .mode = 0755 };
	struct server *server = server_of(req);
	char path[PATH_MAX];
	int r;

	(void)mode;
	r = ops_join(path, sizeof(path), inode_of(server, parent)->path, name);
	if (!r) {
		pthread_mutex_lock(&server->change_lock);
		server->change->asker = fuse_req_ctx(req)->pid;
		r = tree_mkdir(server->change, path, NULL);
		pthread_mutex_unlock(&server->change_lock);
	}
	/* Not looked at: somebody may have removed it by now, and it was made nevertheless. */
	if (r)
		fuse_reply_err(req, -r);
	else
		reply_entry(req, path, &made);
}

static int remove_dir(struct server *server, const char *path, pid_t asker)
{
	int r;

	if (handles_below(&server->handles, path))
		return -EBUSY;
	pthread_mutex_lock(&server->change_lock);
	server->change->asker = asker;
	r = tree_rmdir(server->change, path, NULL);
	pthread_mutex_unlock(&server->change_lock);
	return r;
}

static void op_rmdir(fuse_req_t req, fuse_ino_t parent, const char *name)
{
	struct server *server = server_of(req);
	uint64_t left = handles_left(&server->handles);
	char path[PATH_MAX];
	int r;

	r = ops_join(path, sizeof(path), inode_of(server, parent)->path, name);
	if (!r)
		r = remove_dir(server, path, fuse_req_ctx(req)->pid);
	if (r == -EBUSY && handles_wait_leaving(&server->handles, path, left))
		r = remove_dir(server, path, fuse_req_ctx(req)->pid);
	if (!r)
		inodes_unset_below(&server->inodes, path);
	fuse_reply_err(req, -r);
}

/* Another one may have come in the directory's place. */
static bool is_in_place(const struct control *control)
{
	struct stat dir, place;

	return !fstat(control->dir.dir, &dir) && !stat(control->dir.path, &place) && dir.st_dev == place.st_dev &&
	       dir.st_ino == place.st_ino;
}

static int open_control(struct server *server, struct control **control)
{
	int r;

	*control = handles_take_idle(&server->handles);
	if (*control && is_in_place(*control))
		return 0;
	control_close(*control);
	pthread_mutex_lock(&server->look_lock);
	r = control_again(control, server->look, NULL);
	pthread_mutex_unlock(&server->look_lock);
	return r;
}

static int open_handle(struct server *server, const char *path, unsigned int flags, pid_t asker,
		       struct handle **handle)
{
	struct control *control;
	int r = open_control(server, &control);

	if (r)
		return r;
	control->asker = asker;
	return handle_open(handle, &server->handles, control, path, flags, NULL);
}

static unsigned int open_flags(int flags)
{
	unsigned int tree = 0;

	if ((flags & O_ACCMODE) != O_WRONLY)
		tree |= TREE_READ;
	if ((flags & O_ACCMODE) != O_RDONLY)
		tree |= TREE_WRITE | (flags & O_TRUNC ? TREE_TRUNC : 0);
	return tree;
}

static bool is_raw(const char *path)
{
	static const char name[] = "trace_pipe_raw";
	size_t len = strlen(path);

	return len >= sizeof(name) && !strcmp(path + len - (sizeof(name) - 1), name);
}

/* What is mapped instead of a file of pages, if the kernel can do that; without it the file is read. */
static bool offer_mapping(struct server *server, struct handle *handle)
{
	const struct backing *backing = is_raw(handle->path) ? backings_get(&server->backings, handle->path)
							     : NULL;

	bool mapped;

	if (!backing || handle_begin(handle, NULL))
		return false;
	mapped = !tree_map(handle->file, backing->fd, NULL);
	handle_end(handle);
	if (mapped)
		backing_announce(backing);
	return mapped;
}

static void op_open(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi)
{
	struct server *server = server_of(req);
	uint64_t left = handles_left(&server->handles);
	const char *path = inode_of(server, ino)->path;
	unsigned int flags = open_flags(fi->flags);
	pid_t asker = fuse_req_ctx(req)->pid;
	struct handle *handle;
	int r;

	handles_wait_pipes(&server->handles, path);
	r = open_handle(server, path, flags, asker, &handle);
	if (r == -EBUSY && handles_wait_leaving(&server->handles, path, left))
		r = open_handle(server, path, flags, asker, &handle);
	if (r) {
		fuse_reply_err(req, r == -ENOENT ? ENODEV : -r);
		return;
	}
	handle->nonblock = fi->flags & O_NONBLOCK;
	fi->fh = (uintptr_t)handle;
	fi->direct_io = 1;
	/* The kernel takes a file that can be mapped for one that can be sought in; a followed one ignores where. */
	fi->nonseekable = !offer_mapping(server, handle) && handle->followed;
#if FUSE_MINOR_VERSION >= 11
	/* Whoever only looked at an event's files closes them without waiting for us: shells go over hundreds of them. */
	fi->noflush = flags == TREE_READ && !handle->followed && !strncmp(path, "events/", 7);
#endif
	if (fuse_reply_open(req, fi))
		handle_close(handle);
}

/*
 * For a splice the kernel reads into its cache, on nobody's behalf and with a page locked, so that no signal ends it: it may
 * wait a little, no more.
 */
static void read_for_splice(struct handle *handle, fuse_req_t req, size_t size, bool nonblock)
{
	if (!nonblock && !handle_begin(handle, NULL)) {
		tree_wait(handle->file, SPLICE_WAIT_MS, NULL);
		handle_end(handle);
	}
	park_read(handle, req, size, 0, true);
}

static void op_read(fuse_req_t req, fuse_ino_t ino, size_t size, off_t off, struct fuse_file_info *fi)
{
	struct handle *handle = handle_of(fi);
	ssize_t n = -ENOMEM;
	char *bytes;

	(void)ino;
	if (handle->followed && !fi->lock_owner) {
		read_for_splice(handle, req, size, fi->flags & O_NONBLOCK);
		return;
	}
	if (handle->followed) {
		park_read(handle, req, size, fi->lock_owner, fi->flags & O_NONBLOCK);
		return;
	}
	bytes = malloc(size ? size : 1);
	handle_touch(handle, fi->lock_owner, fuse_req_ctx(req)->pid);
	if (bytes)
		n = handle_begin(handle, NULL);
	if (!n) {
		n = tree_file_read(handle->file, bytes, size, (uint64_t)off, NULL);
		handle_end(handle);
	}
	if (n < 0)
		fuse_reply_err(req, (int)-n);
	else
		fuse_reply_buf(req, bytes, (size_t)n);
	free(bytes);
}

static ssize_t write_now(struct handle *handle, const char *text, size_t len,
			 const struct tree_caller *caller)
{
	ssize_t n = handle_begin(handle, NULL);

	if (n)
		return n;
	n = tree_file_write(handle->file, text, len, caller, NULL);
	handle_end(handle);
	return n;
}

static void reply_written(fuse_req_t req, ssize_t n)
{
	if (n < 0)
		fuse_reply_err(req, (int)-n);
	else
		fuse_reply_write(req, (size_t)n);
}

/* A record on its way to the CPU of its writer, who waits. */
struct record {
	struct cpus_job job;
	fuse_req_t req;
	struct handle *handle;
	struct tree_caller caller;
	size_t len;
	char text[];
};

static void write_record(struct cpus_job *job)
{
	struct record *record = (struct record *)job;

	reply_written(record->req,
		      write_now(record->handle, record->text, record->len, &record->caller));
	free(record);
}

static int send_record(fuse_req_t req, struct handle *handle, const char *text, size_t len)
{
	struct record *record = malloc(sizeof(*record) + len);
	int cpu, r;

	if (!record)
		return -ENOMEM;
	record->job.run = write_record;
	record->req = req;
	record->handle = handle;
	record->len = len;
	memcpy(record->text, text, len);
	cpu = caller_read(&record->caller, fuse_req_ctx(req)->pid);
	r = cpus_do(&server_of(req)->cpus, cpu, &record->job);
	if (r)
		free(record);
	return r;
}

/* Does what is written there become a record? */
static bool takes_records(const char *path)
{
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;

	return !strcmp(name, "trace_marker") || !strcmp(name, "trace_marker_raw") ||
	       !strcmp(name, "inject") || !strcmp(name, "write_event");
}

static void op_write(fuse_req_t req, fuse_ino_t ino, const char *text, size_t len, off_t off,
		     struct fuse_file_info *fi)
{
	struct server *server = server_of(req);
	uint64_t left = handles_left(&server->handles);
	struct handle *handle = handle_of(fi);
	ssize_t n;

	(void)ino;
	(void)off;
	handle_touch(handle, fi->lock_owner, fuse_req_ctx(req)->pid);
	if (takes_records(handle->path)) {
		n = send_record(req, handle, text, len);
		if (n)
			fuse_reply_err(req, (int)-n);
		return;
	}
	n = write_now(handle, text, len, NULL);
	if (n == -EBUSY && handles_wait_leaving(&server->handles, handle->path, left))
		n = write_now(handle, text, len, NULL);
	reply_written(req, n);
}

static void op_flush(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi)
{
	struct handle *handle = handle_of(fi);
	bool others = park_wake(handle, &fi->lock_owner);

	(void)ino;
	fuse_reply_err(req, -handle_flush(handle, fi->lock_owner, fuse_req_ctx(req)->pid, others, NULL));
}

static void op_release(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi)
{
	struct handle *handle = handle_of(fi);

	(void)ino;
	park_stop(handle);
	handle_close(handle);
	fuse_reply_err(req, 0);
}

static void op_poll(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi,
		    struct fuse_pollhandle *poll)
{
	struct handle *handle = handle_of(fi);

	(void)ino;
	if (handle->polled) {
		park_poll(handle, req, poll);
		return;
	}
	if (poll)
		fuse_pollhandle_destroy(poll);
	fuse_reply_poll(req, POLLIN | POLLOUT | POLLRDNORM | POLLWRNORM);
}

/* The next page for who has the file mapped. Who does not want to wait is told that there was none by the numbers. */
static int turn_page(fuse_req_t req, struct handle *handle, bool nonblock)
{
	int r;

	for (;;) {
		r = handle_begin(handle, NULL);
		if (r)
			return r;
		if (nonblock || tree_ready(handle->file)) {
			r = tree_map_turn(handle->file, NULL);
			handle_end(handle);
			return r;
		}
		r = tree_wait(handle->file, TURN_SLICE_MS, NULL);
		handle_end(handle);
		if (fuse_req_interrupted(req))
			return -EINTR;
		if (r < 0 && r != -EINTR)
			return r;
	}
}

static void op_ioctl(fuse_req_t req, fuse_ino_t ino, unsigned int cmd, void *arg,
		     struct fuse_file_info *fi, unsigned int flags, const void *in, size_t in_size,
		     size_t out_size)
{
	struct server *server = server_of(req);

	(void)arg;
	(void)in;
	(void)in_size;
	if (flags & FUSE_IOCTL_DIR) {
		if (ino == FUSE_ROOT_ID && cmd == PLACE_IDENTITY &&
		    out_size >= sizeof(server->identity))
			fuse_reply_ioctl(req, 0, &server->identity, sizeof(server->identity));
		else
			fuse_reply_err(req, ENOTTY);
		return;
	}
	if (cmd == GET_READER && is_raw(handle_of(fi)->path)) {
		int r = turn_page(req, handle_of(fi), handle_of(fi)->nonblock);

		if (r)
			fuse_reply_err(req, -r);
		else
			fuse_reply_ioctl(req, 0, NULL, 0);
		return;
	}
	if (cmd || !is_raw(handle_of(fi)->path)) {
		fuse_reply_err(req, ENOTTY);
		return;
	}
	park_wake(handle_of(fi), NULL);
	fuse_reply_ioctl(req, 0, NULL, 0);
}

/* Nobody makes, removes or renames files: as the kernel says it. */
static void op_create(fuse_req_t req, fuse_ino_t parent, const char *name, mode_t mode,
		      struct fuse_file_info *fi)
{
	(void)parent;
	(void)name;
	(void)mode;
	(void)fi;
	fuse_reply_err(req, EACCES);
}

static void op_mknod(fuse_req_t req, fuse_ino_t parent, const char *name, mode_t mode, dev_t dev)
{
	(void)parent;
	(void)name;
	(void)mode;
	(void)dev;
	fuse_reply_err(req, EPERM);
}

static void op_unlink(fuse_req_t req, fuse_ino_t parent, const char *name)
{
	(void)parent;
	(void)name;
	fuse_reply_err(req, EPERM);
}

static void op_symlink(fuse_req_t req, const char *link, fuse_ino_t parent, const char *name)
{
	(void)link;
	(void)parent;
	(void)name;
	fuse_reply_err(req, EPERM);
}

static void op_rename(fuse_req_t req, fuse_ino_t parent, const char *name, fuse_ino_t newparent,
		      const char *newname, unsigned int flags)
{
	(void)parent;
	(void)name;
	(void)newparent;
	(void)newname;
	(void)flags;
	fuse_reply_err(req, EPERM);
}

static void op_link(fuse_req_t req, fuse_ino_t ino, fuse_ino_t newparent, const char *newname)
{
	(void)ino;
	(void)newparent;
	(void)newname;
	fuse_reply_err(req, EPERM);
}

void server_close_all(struct server *server)
{
	while (server->handles.first) {
		struct handle *handle = server->handles.first;

		park_stop(handle);
		handle_close(handle);
	}
	dirs_close_all(server);
}

const struct fuse_lowlevel_ops server_ops = {
	.init = op_init,
	.lookup = op_lookup,
	.forget = op_forget,
	.forget_multi = op_forget_multi,
	.getattr = op_getattr,
	.setattr = op_setattr,
	.mkdir = op_mkdir,
	.rmdir = op_rmdir,
	.open = op_open,
	.read = op_read,
	.write = op_write,
	.flush = op_flush,
	.release = op_release,
	.poll = op_poll,
	.ioctl = op_ioctl,
	.opendir = op_opendir,
	.readdir = op_readdir,
	.readdirplus = op_readdirplus,
	.releasedir = op_releasedir,
	.create = op_create,
	.mknod = op_mknod,
	.unlink = op_unlink,
	.symlink = op_symlink,
	.rename = op_rename,
	.link = op_link,
};
