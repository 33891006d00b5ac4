/*
 * mount/inodes: see inodes.h. A hash table with chains that grows with what is in it.
 */
#include "mount/inodes.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define SLOTS_FIRST 1024

/* FNV-1a. */
uint64_t inode_number(const char *path)
{
	uint64_t hash = 0xcbf29ce484222325;

	for (; *path; path++)
		hash = (hash ^ (unsigned char)*path) * 0x100000001b3;
	/* 0 and 1 mean something to the kernel. */
	return hash > 1 ? hash : hash + 2;
}

static struct inode **slot_of(const struct inodes *all, uint64_t hash)
{
	return &all->slots[hash & (all->nslots - 1)];
}

static struct inode *find(const struct inodes *all, const char *path, uint64_t hash)
{
	struct inode *inode = *slot_of(all, hash);

	while (inode && (inode->hash != hash || strcmp(inode->path, path)))
		inode = inode->next;
	return inode;
}

static void grow(struct inodes *all)
{
	struct inodes more = { .nslots = all->nslots * 2 };

	more.slots = calloc(more.nslots, sizeof(*more.slots));
	if (!more.slots)
		return;
	for (size_t i = 0; i < all->nslots; i++) {
		struct inode *inode, *next;

		for (inode = all->slots[i]; inode; inode = next) {
			struct inode **slot = slot_of(&more, inode->hash);

			next = inode->next;
			inode->next = *slot;
			*slot = inode;
		}
	}
	free(all->slots);
	all->slots = more.slots;
	all->nslots = more.nslots;
}

static struct inode *add(struct inodes *all, const char *path, uint64_t hash)
{
	struct inode *inode = calloc(1, sizeof(*inode) + strlen(path) + 1), **slot;

	if (!inode)
		return NULL;
	if (all->n >= all->nslots)
		grow(all);
	strcpy(inode->path, path);
	inode->hash = hash;
	slot = slot_of(all, hash);
	inode->next = *slot;
	*slot = inode;
	all->n++;
	return inode;
}

/* Takes it out unless somebody still needs it. */
static void drop_unused(struct inodes *all, struct inode *inode)
{
	struct inode **at = slot_of(all, inode->hash);

	if (inode->count || inode->set)
		return;
	while (*at != inode)
		at = &(*at)->next;
	*at = inode->next;
	all->n--;
	free(inode);
}

int inodes_init(struct inodes *all, uid_t uid, gid_t gid, mode_t mode)
{
	memset(all, 0, sizeof(*all));
	all->uid = uid;
	all->gid = gid;
	clock_gettime(CLOCK_REALTIME, &all->since);
	all->nslots = SLOTS_FIRST;
	all->slots = calloc(all->nslots, sizeof(*all->slots));
	if (!all->slots)
		return -ENOMEM;
	pthread_mutex_init(&all->lock, NULL);
	all->root = inode_get(all, "");
	if (!all->root) {
		inodes_fini(all);
		return -ENOMEM;
	}
	inode_set(all, all->root, INODE_MODE, &(struct stat){ .st_mode = mode });
	return 0;
}

void inodes_fini(struct inodes *all)
{
	for (size_t i = 0; i < all->nslots; i++) {
		struct inode *inode, *next;

		for (inode = all->slots[i]; inode; inode = next) {
			next = inode->next;
			free(inode);
		}
	}
	free(all->slots);
	pthread_mutex_destroy(&all->lock);
	memset(all, 0, sizeof(*all));
}

struct inode *inode_get(struct inodes *all, const char *path)
{
	uint64_t hash = inode_number(path);
	struct inode *inode;

	pthread_mutex_lock(&all->lock);
	inode = find(all, path, hash);
	if (!inode)
		inode = add(all, path, hash);
	if (inode)
		inode->count++;
	pthread_mutex_unlock(&all->lock);
	return inode;
}

void inode_put(struct inodes *all, struct inode *inode, uint64_t n)
{
	pthread_mutex_lock(&all->lock);
	/* The root is never forgotten, whatever the kernel says at the end. */
	if (inode != all->root) {
		inode->count -= n < inode->count ? n : inode->count;
		drop_unused(all, inode);
	}
	pthread_mutex_unlock(&all->lock);
}

void inode_set(struct inodes *all, struct inode *inode, unsigned int set, const struct stat *attr)
{
	pthread_mutex_lock(&all->lock);
	inode->set |= set;
	if (set & INODE_MODE)
		inode->mode = attr->st_mode & 07777;
	if (set & INODE_UID)
		inode->uid = attr->st_uid;
	if (set & INODE_GID)
		inode->gid = attr->st_gid;
	pthread_mutex_unlock(&all->lock);
}

bool inode_path_below(const char *path, const char *dir)
{
	size_t len = strlen(dir);

	return !strncmp(path, dir, len) && (!path[len] || path[len] == '/');
}

void inodes_unset_below(struct inodes *all, const char *path)
{
	pthread_mutex_lock(&all->lock);
	for (size_t i = 0; i < all->nslots; i++) {
		struct inode *inode, *next;

		for (inode = all->slots[i]; inode; inode = next) {
			next = inode->next;
			if (!inode_path_below(inode->path, path))
				continue;
			inode->set = 0;
			drop_unused(all, inode);
		}
	}
	pthread_mutex_unlock(&all->lock);
}

/* The inode whose owner or group holds for this one; NULL: none was set. Instances are whose their directory is. */
static const struct inode *who_set(const struct inodes *all, const struct inode *inode,
				   unsigned int what)
{
	static const char instances[] = "instances";

	if (!(inode->set & what) && !strncmp(inode->path, "instances/", 10))
		inode = find(all, instances, inode_number(instances));
	return inode && inode->set & what ? inode : NULL;
}

void inode_fill(struct inodes *all, const struct inode *inode, const struct tree_stat *stat,
		struct stat *attr)
{
	const struct inode *owner, *group;

	memset(attr, 0, sizeof(*attr));
	attr->st_ino = inode->hash;
	attr->st_nlink = 1;
	attr->st_blksize = 4096;
	/* splice(2) goes through the kernel's cache and ends where it takes the file's end to be. */
	attr->st_size = stat->is_pages ? (off_t)1 << 62 : 0;
	attr->st_atim = attr->st_mtim = attr->st_ctim = all->since;
	pthread_mutex_lock(&all->lock);
	owner = who_set(all, inode, INODE_UID);
	group = who_set(all, inode, INODE_GID);
	attr->st_mode = stat->is_dir ? S_IFDIR : S_IFREG;
	attr->st_mode |= inode->set & INODE_MODE ? inode->mode : stat->mode & 07777;
	attr->st_uid = owner ? owner->uid : all->uid;
	attr->st_gid = group ? group->gid : all->gid;
	pthread_mutex_unlock(&all->lock);
}
