/*
 * symbol/beside: see beside.h.
 */
#include "symbol/beside.h"

#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define DEBUG_DIR "/usr/lib/debug"

struct hunt {
	const char *path;	/* of the file itself, without links */
	unsigned char id[ELF_BUILD_ID_MAX];
	uint32_t len;
	char hex[2 * ELF_BUILD_ID_MAX + 1];
	char *found;
};

static bool has_section(const struct elf *elf, const char *name)
{
	struct elf_section section;

	return !elf_section_find(elf, name, &section) && section.size;
}

bool symbol_has_debug(const struct elf *elf)
{
	return has_section(elf, ".debug_info") || has_section(elf, ".zdebug_info");
}

/* Is it there, of the same build, with debug information? */
static bool is_it(struct hunt *hunt, const char *path)
{
	unsigned char id[ELF_BUILD_ID_MAX];
	struct elf elf;
	bool is;
	int fd = elf_file(path);

	if (fd < 0)
		return false;
	is = !elf_open_bare(&elf, fd, NULL) && elf_build_id(&elf, id) == hunt->len && !memcmp(id, hunt->id, hunt->len) &&
	     symbol_has_debug(&elf);
	elf_close(&elf);
	close(fd);
	if (is)
		hunt->found = strdup(path);
	return is && hunt->found;
}

static bool try(struct hunt *hunt, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static bool try(struct hunt *hunt, const char *fmt, ...)
{
	char path[PATH_MAX];
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(path, sizeof(path), fmt, ap);
	va_end(ap);
	return n > 0 && (size_t)n < sizeof(path) && is_it(hunt, path);
}

static bool try_link(struct hunt *hunt, const struct elf *elf)
{
	const char *slash = strrchr(hunt->path, '/');
	const int dir = slash ? (int)(slash - hunt->path) + 1 : 0;
	struct elf_section section;
	uint64_t size;
	char *name;
	bool found;

	if (elf_section_find(elf, ".gnu_debuglink", &section) || section.size > 1024)
		return false;
	name = elf_section_take(elf, &section, &size);
	found = name && *name && !strchr(name, '/') &&
		(try(hunt, "%.*s%s", dir, hunt->path, name) || try(hunt, "%.*s.debug/%s", dir, hunt->path, name) ||
		 try(hunt, DEBUG_DIR "%.*s%s", dir, hunt->path, name));
	free(name);
	return found;
}

static bool try_cache(struct hunt *hunt)
{
	const char *own = getenv("DEBUGINFOD_CACHE_PATH"), *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");

	return (own && *own && try(hunt, "%s/%s/debuginfo", own, hunt->hex)) ||
	       (cache && *cache && try(hunt, "%s/debuginfod_client/%s/debuginfo", cache, hunt->hex)) ||
	       (home && *home && (try(hunt, "%s/.cache/debuginfod_client/%s/debuginfo", home, hunt->hex) ||
				  try(hunt, "%s/.debuginfod_client_cache/%s/debuginfo", home, hunt->hex)));
}

char *symbol_beside(const struct elf *elf, const char *path)
{
	struct hunt hunt = { .path = path };

	hunt.len = elf_build_id(elf, hunt.id);
	if (hunt.len < 2)
		return NULL;
	for (uint32_t i = 0; i < hunt.len; i++)
		snprintf(hunt.hex + 2 * (size_t)i, 3, "%02x", hunt.id[i]);
	if (try(&hunt, DEBUG_DIR "/.build-id/%.2s/%s.debug", hunt.hex, hunt.hex + 2) || try_link(&hunt, elf) ||
	    try(&hunt, DEBUG_DIR "%s.debug", path) || try_cache(&hunt))
		return hunt.found;
	return NULL;
}
