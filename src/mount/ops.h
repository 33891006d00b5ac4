/*
 * mount/ops: what the files of the operations share. Private to the room.
 */
#ifndef MOUNT_OPS_H
#define MOUNT_OPS_H

#include <stdint.h>

#include "mount/fuse.h"
#include "mount/server.h"

static inline struct server *server_of(fuse_req_t req)
{
	return fuse_req_userdata(req);
}

static inline struct inode *inode_of(struct server *server, fuse_ino_t ino)
{
	return ino == FUSE_ROOT_ID ? server->inodes.root : (struct inode *)(uintptr_t)ino;
}

/* The tree's own word for a path: its root is ".". */
static inline const char *ops_in_tree(const char *path)
{
	return *path ? path : ".";
}

/* -ENAMETOOLONG */
int ops_join(char *path, size_t size, const char *dir, const char *name);

/* How long the kernel may keep what it is told of a path, in seconds; 0: not at all. */
double ops_keep(const char *path);

/* An entry that the kernel is told of, and so has to forget. `stat` NULL: as the tree says. */
int ops_fill_entry(struct server *server, const char *path, const struct tree_stat *stat,
		   struct fuse_entry_param *entry);

/* dirs.c */
void op_opendir(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi);
void op_releasedir(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi);
void op_readdir(fuse_req_t req, fuse_ino_t ino, size_t size, off_t at, struct fuse_file_info *fi);
void op_readdirplus(fuse_req_t req, fuse_ino_t ino, size_t size, off_t at,
		    struct fuse_file_info *fi);
/* As server_close_all(). */
void dirs_close_all(struct server *server);

#endif
