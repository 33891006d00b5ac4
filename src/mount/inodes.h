/*
 * mount/inodes: the kernel's numbers for paths of the tree, and what chmod and chown made of them.
 *
 * A path has one inode for as long as the kernel knows it, or as long as its owner or mode was set.
 * Any thread.
 */
#ifndef MOUNT_INODES_H
#define MOUNT_INODES_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>
#include <time.h>

#include "control/tree.h"

enum { INODE_MODE = 1, INODE_UID = 2, INODE_GID = 4 };

struct inode {
	struct inode *next;
	uint64_t hash;
	uint64_t count;		/* how often the kernel was told of it */
	unsigned int set;	/* INODE_*: which of those below were set */
	mode_t mode;
	uid_t uid;
	gid_t gid;
	char path[];		/* "" is the root */
};

struct inodes {
	pthread_mutex_t lock;
	struct inode **slots;
	size_t nslots, n;
	struct inode *root;
	uid_t uid;		/* of what was not set */
	gid_t gid;
	struct timespec since;	/* the time of all files */
};

/* `mode` of the root. */
int inodes_init(struct inodes *all, uid_t uid, gid_t gid, mode_t mode);
void inodes_fini(struct inodes *all);

/* The kernel is told of it once more. NULL: no memory. */
struct inode *inode_get(struct inodes *all, const char *path);
/* The kernel forgets it `n` times. */
void inode_put(struct inodes *all, struct inode *inode, uint64_t n);

/* `set`: which of the three to take from `attr`. */
void inode_set(struct inodes *all, struct inode *inode, unsigned int set, const struct stat *attr);
/* What was set for it and below it is forgotten. */
void inodes_unset_below(struct inodes *all, const char *path);

void inode_fill(struct inodes *all, const struct inode *inode, const struct tree_stat *stat,
		struct stat *attr);
/* st_ino of a path: the same each time. */
uint64_t inode_number(const char *path);
/* Is `path` in the directory `dir`, or that itself? */
bool inode_path_below(const char *path, const char *dir);

#endif
