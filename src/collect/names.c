/*
 * collect/names: files of recordings by their names, for whoever reads them. See store.h, and store_create() for how they are called.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "collect/store.h"

/* 2026-03-01T12-00-00, one digit for each 0: its length, or 0. */
static size_t date_len(const char *name)
{
	static const char form[] = "0000-00-00T00-00-00";

	for (size_t i = 0; form[i]; i++)
		if (form[i] == '0' ? name[i] < '0' || name[i] > '9' : name[i] != form[i])
			return 0;
	return sizeof(form) - 1;
}

char *store_next(const char *path)
{
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path, *at = name + date_len(name);
	unsigned long nr = 1;
	char *end, *next;

	if (at == name)
		return NULL;
	if (*at == '.' && at[1] >= '0' && at[1] <= '9')
		at += 1 + strspn(at + 1, "0123456789");
	end = (char *)(uintptr_t)at;
	if (*at == '-')
		nr = strtoul(at + 1, &end, 10);
	if (strcmp(end, ".dat") || nr < 1 || nr >= UINT_MAX)
		return NULL;
	return asprintf(&next, "%.*s-%lu.dat", (int)(at - path), path, nr + 1) < 0 ? NULL : next;
}

struct newest {
	char name[NAME_MAX + 1];
	bool any, live;
	struct timespec at;
};

/* One that is being written before others, of those the one that was written last. */
static void consider(struct newest *newest, int dir, const char *name)
{
	int fd = openat(dir, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
	struct stat st;
	bool live, later;

	if (fd < 0)
		return;
	live = flock(fd, LOCK_SH | LOCK_NB) && errno == EWOULDBLOCK;
	if (!fstat(fd, &st) && S_ISREG(st.st_mode)) {
		later = st.st_mtim.tv_sec != newest->at.tv_sec ? st.st_mtim.tv_sec > newest->at.tv_sec :
								 st.st_mtim.tv_nsec > newest->at.tv_nsec;
		if (!newest->any || (live != newest->live ? live : later)) {
			*newest = (struct newest){ .any = true, .live = live, .at = st.st_mtim };
			snprintf(newest->name, sizeof(newest->name), "%s", name);
		}
	}
	close(fd);
}

int store_newest(const char *dir, char **path, struct err *err)
{
	struct newest newest = { .any = false };
	const struct dirent *entry;
	const char *dot;
	DIR *names = opendir(dir);

	*path = NULL;
	if (!names)
		return 0;
	while ((entry = readdir(names))) {
		dot = strrchr(entry->d_name, '.');
		if (*entry->d_name != '.' && dot && !strcmp(dot, ".dat"))
			consider(&newest, dirfd(names), entry->d_name);
	}
	closedir(names);
	if (!newest.any)
		return err_set(err, -ENOENT, "%.300s: there is no recording in it", dir);
	return asprintf(path, "%s/%s", dir, newest.name) < 0 ? err_set(err, -ENOMEM, "out of memory") : 0;
}
