/*
 * dat/place: see place.h.
 */
#include "dat/place.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Names that are tried before the directory is taken for a strange one. */
#define TRIES 100

/* Where the file is to be: a link stays, and what it leads to is replaced. */
static int resolve(struct place *place, const char *path, struct err *err)
{
	struct stat st;

	if (stat(path, &st)) {
		place->path = strdup(path);
		return place->path ? 0 : err_set(err, -ENOMEM, "out of memory");
	}
	if (!S_ISREG(st.st_mode))
		return err_set(err, -EINVAL, "cannot write %.300s: it is no regular file", path);
	place->path = realpath(path, NULL);
	if (place->path)
		return 0;
	return err_set(err, -errno, "cannot write %.300s: %s", path, strerror(errno));
}

static int next_name(struct place *place, int i)
{
	free(place->temp);
	if (asprintf(&place->temp, "%s.%d-%d", place->path, (int)getpid(), i) < 0) {
		place->temp = NULL;
		return -ENOMEM;
	}
	return 0;
}

static int no_name(struct place *place, int code)
{
	free(place->temp);
	place->temp = NULL;
	return code;
}

/*
 * A file without a name goes away with whoever writes it, however that ends. Not all file systems
 * know such files, and a name can be given to one only by way of /proc.
 */
static int create_nameless(struct place *place)
{
	const char *slash = strrchr(place->path, '/');
	char *dir = slash ? strndup(place->path, (size_t)(slash - place->path) + 1) : strdup(".");
	int fd;

	if (!dir)
		return -ENOMEM;
	fd = access("/proc/self/fd", X_OK) ? -1 : open(dir, O_RDWR | O_TMPFILE | O_CLOEXEC, 0666);
	free(dir);
	return fd < 0 ? -ENOENT : fd;
}

static int create(struct place *place)
{
	int fd = create_nameless(place), r;

	if (fd >= 0)
		return fd;
	for (int i = 0; i < TRIES; i++) {
		r = next_name(place, i);
		if (r)
			return r;
		fd = open(place->temp, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
		if (fd >= 0 || errno != EEXIST)
			break;
	}
	return fd >= 0 ? fd : no_name(place, -errno);
}

int place_open(struct place *place, const char *path, struct err *err)
{
	int fd;

	*place = (struct place){ 0 };
	fd = resolve(place, path, err);
	if (fd < 0)
		return fd;
	fd = create(place);
	if (fd < 0) {
		err_set(err, fd, "cannot write %.300s: %s", path, strerror(-fd));
		place_fini(place);
	}
	return fd;
}

/* A file without a name cannot replace another: first it gets one. */
int place_prepare(struct place *place, int fd)
{
	char self[64];
	int r = -1;

	if (place->temp)
		return 0;
	snprintf(self, sizeof(self), "/proc/self/fd/%d", fd);
	for (int i = 0; i < TRIES && r; i++) {
		if (next_name(place, i))
			return -ENOMEM;
		r = linkat(AT_FDCWD, self, AT_FDCWD, place->temp, AT_SYMLINK_FOLLOW);
		if (r && errno != EEXIST)
			break;
	}
	return r ? no_name(place, -errno) : 0;
}

int place_take(struct place *place)
{
	if (rename(place->temp, place->path))
		return -errno;
	return no_name(place, 0);
}

void place_fini(struct place *place)
{
	if (place->temp)
		unlink(place->temp);
	free(place->temp);
	free(place->path);
	*place = (struct place){ 0 };
}
