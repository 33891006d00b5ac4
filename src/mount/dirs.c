/*
 * mount/dirs: listing directories. A listing is taken when a directory is read from its start, and read from
 * then on, so that what others make and remove meanwhile neither repeats names nor skips them.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "control/tree.h"
#include "mount/ops.h"

/* A directory that is being listed. */
struct listing {
	struct listing *next, **link;	/* under listings_lock */
	struct buf names;	/* as tree_list() gives them, since the last look from the start */
};

/* Positions in a listing: the two that every directory has, then the byte at which a name starts. */
enum { AT_SELF, AT_PARENT, AT_NAMES };

static struct listing *listing_of(const struct fuse_file_info *fi)
{
	return (struct listing *)(uintptr_t)fi->fh;
}

/* events/SYSTEM/EVENT: there are thousands, and none ever gets another file. */
static bool is_event(const char *path)
{
	const char *event;

	if (strncmp(path, "events/", strlen("events/")))
		return false;
	event = strchr(path + strlen("events/"), '/');
	return event && !strchr(event + 1, '/');
}

static void add(struct server *server, struct listing *listing)
{
	pthread_mutex_lock(&server->listings_lock);
	listing->next = server->listings;
	listing->link = &server->listings;
	if (listing->next)
		listing->next->link = &listing->next;
	server->listings = listing;
	pthread_mutex_unlock(&server->listings_lock);
}

static void drop(struct server *server, struct listing *listing)
{
	pthread_mutex_lock(&server->listings_lock);
	*listing->link = listing->next;
	if (listing->next)
		listing->next->link = listing->link;
	pthread_mutex_unlock(&server->listings_lock);
	buf_fini(&listing->names);
	free(listing);
}

void op_opendir(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi)
{
	struct server *server = server_of(req);
	struct listing *listing = calloc(1, sizeof(*listing));

	if (!listing) {
		fuse_reply_err(req, ENOMEM);
		return;
	}
	add(server, listing);
	fi->fh = (uintptr_t)listing;
	fi->cache_readdir = fi->keep_cache = is_event(inode_of(server, ino)->path);
	if (fuse_reply_open(req, fi))
		drop(server, listing);
}

void op_releasedir(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi)
{
	(void)ino;
	drop(server_of(req), listing_of(fi));
	fuse_reply_err(req, 0);
}

void dirs_close_all(struct server *server)
{
	while (server->listings)
		drop(server, server->listings);
}

/* The names as they are now, for whoever reads from the start. */
static int list(struct server *server, struct listing *listing, const char *path)
{
	int r;

	buf_reset(&listing->names);
	pthread_mutex_lock(&server->look_lock);
	r = tree_list(server->look, ops_in_tree(path), &listing->names, NULL);
	pthread_mutex_unlock(&server->look_lock);
	return r;
}

/* The name at that position, and the position of the next. False behind the last. */
static bool name_at(const struct listing *listing, off_t at, char *name, size_t size, bool *is_dir,
		    off_t *next)
{
	size_t from = (size_t)(at - AT_NAMES), len;

	if (at < AT_NAMES) {
		snprintf(name, size, "%s", at == AT_SELF ? "." : "..");
		*is_dir = true;
		*next = at + 1;
		return true;
	}
	if (from >= listing->names.len)
		return false;
	len = strcspn(listing->names.data + from, "\n");
	*next = at + (off_t)len + 1;
	*is_dir = len && listing->names.data[from + len - 1] == '/';
	len -= *is_dir;
	snprintf(name, size, "%.*s", (int)len, listing->names.data + from);
	return true;
}

/*
 * What the kernel is told of a name beside the name. It is to remember directories that it may keep, into which whoever lists goes
 * next. Of files it has to be told when they are looked up: there are thousands, and most are listed for nothing.
 */
static void fill_direntry(struct server *server, const char *dir, const char *name, bool is_dir,
			  bool plus, struct fuse_entry_param *entry)
{
	char path[PATH_MAX];

	memset(entry, 0, sizeof(*entry));
	entry->attr.st_mode = is_dir ? S_IFDIR : S_IFREG;
	entry->attr.st_ino = FUSE_ROOT_ID;
	if (!strcmp(name, ".") || !strcmp(name, "..") || ops_join(path, sizeof(path), dir, name))
		return;
	if (plus && is_dir && ops_keep(path) > 0 && !ops_fill_entry(server, path, NULL, entry))
		return;
	entry->attr.st_ino = inode_number(path);
}

static size_t add_direntry(fuse_req_t req, char *bytes, size_t size, const char *name, bool plus,
			   const struct fuse_entry_param *entry, off_t next)
{
	if (plus)
		return fuse_add_direntry_plus(req, bytes, size, name, entry, next);
	return fuse_add_direntry(req, bytes, size, name, entry ? &entry->attr : NULL, next);
}

static void read_dir(fuse_req_t req, fuse_ino_t ino, size_t size, off_t at,
		     struct fuse_file_info *fi, bool plus)
{
	struct server *server = server_of(req);
	const char *dir = inode_of(server, ino)->path;
	struct listing *listing = listing_of(fi);
	struct fuse_entry_param entry;
	size_t used = 0, need;
	char *bytes, name[512];
	off_t next;
	bool is_dir;
	int r = 0;

	if (at == AT_SELF)
		r = list(server, listing, dir);
	bytes = malloc(size ? size : 1);
	if (!r && !bytes)
		r = -ENOMEM;
	while (!r && name_at(listing, at, name, sizeof(name), &is_dir, &next)) {
		/* What does not fit may not be counted as told. */
		need = add_direntry(req, NULL, 0, name, plus, NULL, 0);
		if (need > size - used)
			break;
		fill_direntry(server, dir, name, is_dir, plus, &entry);
		used += add_direntry(req, bytes + used, size - used, name, plus, &entry, next);
		at = next;
	}
	if (r)
		fuse_reply_err(req, -r);
	else
		fuse_reply_buf(req, bytes, used);
	free(bytes);
}

void op_readdir(fuse_req_t req, fuse_ino_t ino, size_t size, off_t at, struct fuse_file_info *fi)
{
	read_dir(req, ino, size, at, fi, false);
}

void op_readdirplus(fuse_req_t req, fuse_ino_t ino, size_t size, off_t at,
		    struct fuse_file_info *fi)
{
	read_dir(req, ino, size, at, fi, true);
}
