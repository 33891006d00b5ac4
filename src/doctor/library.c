/*
 * doctor/library: see library.h.
 */
#include "doctor/library.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/glob.h"

#define CACHE_MAX (16u << 20)

int library_open(const char *path, struct elf *elf)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	struct stat st;
	int r;

	if (fd < 0)
		return -errno;
	r = fstat(fd, &st) ? -errno : S_ISREG(st.st_mode) ? elf_open(elf, fd, NULL) : -EINVAL;
	if (r)
		close(fd);
	return r ? r : fd;
}

bool library_needs(const char *path, const char *name)
{
	struct elf elf;
	int fd = library_open(path, &elf);
	bool needs = false;

	if (fd < 0)
		return false;
	for (uint32_t i = 0; i < elf.nneeded; i++)
		needs |= glob_match(name, elf.needed[i]);
	elf_close(&elf);
	close(fd);
	return needs;
}

static bool fits(const struct library_for *asker, const char *path)
{
	struct elf elf;
	int fd = library_open(path, &elf);
	bool same;

	if (fd < 0)
		return false;
	same = elf.native && elf.is64 == asker->elf->is64 && elf.machine == asker->elf->machine;
	elf_close(&elf);
	close(fd);
	return same;
}

/* One entry of a search path, `len` bytes, with $ORIGIN for where the asker lies. */
static bool find_in(const struct library_for *asker, const char *dir, size_t len, const char *name,
		    char found[PATH_MAX])
{
	const char *slash = strrchr(asker->path, '/');
	size_t origin = 0;
	int n;

	if (len >= 7 && !strncmp(dir, "$ORIGIN", 7))
		origin = 7;
	else if (len >= 9 && !strncmp(dir, "${ORIGIN}", 9))
		origin = 9;
	if (origin && asker->secure)
		return false;
	if (origin)
		n = snprintf(found, PATH_MAX, "%.*s%.*s/%s", slash ? (int)(slash - asker->path) : 1,
			     slash ? asker->path : ".", (int)(len - origin), dir + origin, name);
	else
		n = snprintf(found, PATH_MAX, "%.*s/%s", len ? (int)len : 1, len ? dir : ".", name);
	return n > 0 && n < PATH_MAX && fits(asker, found);
}

static bool find_along(const struct library_for *asker, const char *dirs, const char *name,
		       char found[PATH_MAX])
{
	while (dirs) {
		size_t len = strcspn(dirs, ":;\n");

		if (find_in(asker, dirs, len, name, found))
			return true;
		dirs = dirs[len] ? dirs + len + 1 : NULL;
	}
	return false;
}

/* A whole small file and a NUL behind it, to be freed; NULL when it cannot be had. */
static char *file_take(const char *path, size_t max, size_t *len)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	struct stat st;
	char *bytes = NULL;
	size_t size;

	*len = 0;
	if (fd < 0)
		return NULL;
	if (!fstat(fd, &st) && S_ISREG(st.st_mode) && st.st_size > 0 && (uint64_t)st.st_size <= max) {
		size = (size_t)st.st_size;
		bytes = malloc(size + 1);
		while (bytes && *len < size) {
			ssize_t n = read(fd, bytes + *len, size - *len);

			if (n <= 0)
				break;
			*len += (size_t)n;
		}
		if (bytes)
			bytes[*len] = '\0';
	}
	close(fd);
	return bytes;
}

/* What ldconfig wrote: a header of 48 bytes, then 24 for each library, with the offsets of name and path. */
static bool find_cached(const struct library_for *asker, const char *name, char found[PATH_MAX])
{
	static const char magic[] = "glibc-ld.so.cache1.1";
	size_t len, magic_len = sizeof(magic) - 1;
	char *cache = file_take("/etc/ld.so.cache", CACHE_MAX, &len);
	uint32_t n = 0, where[2];
	bool good = false;

	if (cache && len >= 48 && !memcmp(cache, magic, magic_len))
		memcpy(&n, cache + magic_len, sizeof(n));
	for (uint64_t i = 0; i < n && 48 + (i + 1) * 24 <= len && !good; i++) {
		memcpy(where, cache + 48 + i * 24 + 4, sizeof(where));
		if (where[0] >= len || where[1] >= len || strcmp(cache + where[0], name))
			continue;
		snprintf(found, PATH_MAX, "%s", cache + where[1]);
		good = fits(asker, found);
	}
	free(cache);
	return good;
}

static bool find_default(const struct library_for *asker, const char *name, char found[PATH_MAX])
{
	static const char wide[] = "/lib/x86_64-linux-gnu:/usr/lib/x86_64-linux-gnu:/lib/aarch64-linux-gnu:"
				   "/usr/lib/aarch64-linux-gnu:/lib64:/usr/lib64:/lib:/usr/lib";
	static const char narrow[] = "/lib/i386-linux-gnu:/usr/lib/i386-linux-gnu:/lib32:/usr/lib32:"
				     "/lib:/usr/lib";
	bool good;
	size_t len;
	char *dirs;

	if (!asker->musl)
		return find_along(asker, asker->elf->is64 ? wide : narrow, name, found);
#if defined(__aarch64__)
	dirs = file_take("/etc/ld-musl-aarch64.path", PATH_MAX * 16, &len);
#else
	dirs = file_take(asker->elf->is64 ? "/etc/ld-musl-x86_64.path" : "/etc/ld-musl-i386.path",
			 PATH_MAX * 16, &len);
#endif
	good = find_along(asker, dirs ? dirs : "/lib:/usr/local/lib:/usr/lib", name, found);
	free(dirs);
	return good;
}

bool library_find(const struct library_for *asker, const char *name, char found[PATH_MAX])
{
	const struct elf *elf = asker->elf;
	const char *given = asker->secure ? NULL : getenv("LD_LIBRARY_PATH");

	if (strchr(name, '/'))
		return snprintf(found, PATH_MAX, "%s", name) < PATH_MAX && fits(asker, found);
	if (!elf->runpath && find_along(asker, elf->rpath, name, found))
		return true;
	if (given && *given && find_along(asker, given, name, found))
		return true;
	if (find_along(asker, elf->runpath, name, found))
		return true;
	return (!asker->musl && find_cached(asker, name, found)) || find_default(asker, name, found);
}
