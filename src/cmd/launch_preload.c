/*
 * cmd/launch_preload: which libringside.so a program gets preloaded, and which programs had better go without one.
 *
 * The library lies beside the command or where an installation puts it. The loader would complain about one that is not made
 * for the program's machine or its libc, so the program's file is looked at first: a script goes by what runs it.
 */
#include <elf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/glob.h"
#include "cmd/launch_local.h"
#include "doctor/command.h"
#include "doctor/library.h"
#include "inject/process.h"

#define LIBRARY "libringside.so.0"
#define SANITIZERS "lib*san.so*"

/* The first is where a build leaves it. */
static const char *const places[] = { ".", RINGSIDE_LIBDIR, "../lib", "../lib64" };

#define NPLACES (sizeof(places) / sizeof(places[0]))

/* The directory that this command lies in. */
static bool own_directory(char dir[PATH_MAX])
{
	ssize_t n = readlink("/proc/self/exe", dir, PATH_MAX - 1);
	char *slash;

	if (n <= 0)
		return false;
	dir[n] = '\0';
	slash = strrchr(dir, '/');
	if (slash)
		*slash = '\0';
	return slash != NULL;
}

static bool find_beside(char path[PATH_MAX])
{
	char dir[PATH_MAX], guess[PATH_MAX * 2];

	if (!own_directory(dir))
		return false;
	for (size_t i = 0; i < NPLACES; i++) {
		char *real;

		if (places[i][0] == '/')
			snprintf(guess, sizeof(guess), "%s/%s", places[i], LIBRARY);
		else
			snprintf(guess, sizeof(guess), "%s/%s/%s", dir, places[i], LIBRARY);
		/* Without links, so that a version stays what it is while the program runs. */
		real = realpath(guess, NULL);
		if (real && strlen(real) < PATH_MAX) {
			strcpy(path, real);
			free(real);
			return true;
		}
		free(real);
	}
	return false;
}

int launch_library(char path[PATH_MAX], struct err *err)
{
	const char *given = getenv("RINGSIDE_LIBRARY");

	if (given && *given) {
		if (*given != '/' || strlen(given) >= PATH_MAX || access(given, R_OK))
			return err_set(err, -ENOENT, "RINGSIDE_LIBRARY: '%.200s' is no path of a library", given);
		strcpy(path, given);
	} else if (!find_beside(path)) {
		return err_set(err, -ENOENT, LIBRARY " is not where this command was installed");
	}
	return 0;
}

static int find_library(char path[PATH_MAX], struct err *err)
{
	int r = launch_library(path, err);

	if (r)
		return r;
	/* The variable that it goes into has no other way to tell where a name ends. */
	if (strpbrk(path, " :\t\n"))
		return err_set(err, -EINVAL, "%.200s: a path with such characters cannot be preloaded", path);
	return 0;
}

/* A sanitizer insists on being the first library, and what was built with one needs it. */
static bool is_sanitized(const struct elf *elf)
{
	for (uint32_t i = 0; i < elf->nneeded; i++)
		if (glob_match(SANITIZERS, elf->needed[i]))
			return true;
	return false;
}

static bool has_ours(const struct elf *elf)
{
	for (uint32_t i = 0; i < elf->nneeded; i++)
		if (process_is_runtime(elf->needed[i]))
			return true;
	return false;
}

static bool suits(const struct elf *program, const struct elf *library, const char *path)
{
	bool musl = program->interp && strstr(program->interp, "ld-musl-");

	if (!program->native || program->is64 != library->is64 || program->machine != library->machine ||
	    is_sanitized(program) || is_sanitized(library))
		return false;
	return !program->interp || library_needs(path, "libc.so.6") != musl;
}

/* May what the command runs in the end get the library? */
static int check_program(const char *command, const char *path, struct err *err)
{
	struct elf program, library;
	char file[PATH_MAX];
	int fd, own, r;

	own = library_open(path, &library);
	if (own < 0)
		return err_set(err, own, "%.200s cannot be preloaded: %s", path, strerror(-own));
	fd = command_resolve(command, file) ? library_open(file, &program) : -ENOENT;
	/* Of what cannot be looked at, nothing speaks against it. One that has the library asks for the one it wants. */
	r = fd < 0 ? is_sanitized(&library) : !suits(&program, &library, path) || has_ours(&program);
	if (fd >= 0) {
		elf_close(&program);
		close(fd);
	}
	elf_close(&library);
	close(own);
	return r;
}

/* Was the library built with a sanitizer that stands in no list of libraries? It was built as we were. */
static bool was_built_sanitized(void)
{
#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || __has_feature(memory_sanitizer)
	return true;
#endif
#endif
	return false;
}

static const char *why_not(const struct elf *program, const struct elf *library, const char *path)
{
	if (has_ours(program) || is_sanitized(library) || was_built_sanitized())
		return NULL;
	if (!program->interp && (program->type == ET_EXEC || program->pie))
		return "it is static: no library can come into it";
	if (is_sanitized(program))
		return "a sanitizer in it insists on being the first library";
	return suits(program, library, path) ? NULL : "it is made for another machine or another libc than the library";
}

const char *launch_preload_why(const char *command, bool *carries)
{
	char path[PATH_MAX], file[PATH_MAX];
	struct elf program, library;
	const char *why = NULL;
	int fd, own;

	*carries = false;
	if (find_library(path, NULL) || !command_resolve(command, file))
		return NULL;
	fd = library_open(file, &program);
	if (fd < 0)
		return NULL;
	own = library_open(path, &library);
	if (own >= 0) {
		why = why_not(&program, &library, path);
		*carries = why && elf_carries_runtime(&program) == 1;
		elf_close(&library);
		close(own);
	}
	elf_close(&program);
	close(fd);
	return why;
}

int launch_preload_find(const char *command, char path[PATH_MAX], struct err *err)
{
	int r = find_library(path, err);

	if (r)
		return r;
	return was_built_sanitized() ? 1 : check_program(command, path, err);
}
