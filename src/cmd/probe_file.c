/*
 * cmd/probe_file: which ELF file a probe is in: the one that is named, those of a process, or those that programs of the tracing
 * directory have told of.
 */
#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cmd/probe_local.h"
#include "control/registry.h"
#include "doctor/elf.h"
#include "plan/plan.h"
#include "symbol/debug_place.h"

#define FILES_MAX 1024u

/* ---- one file ---- */

static int read_loads(struct probe_file *file, struct err *err)
{
	struct elf elf;
	char kind[32];
	int r = elf_open_path(&elf, file->path, err);

	if (r)
		return r;
	memcpy(file->loads, elf.loads, sizeof(file->loads));
	file->nloads = elf.nloads;
	file->machine = elf.machine;
	file->foreign = !elf_runs_here(&elf);
	snprintf(file->kind, sizeof(file->kind), "%s", elf_machine(&elf, kind));
	elf_close_path(&elf);
	return 0;
}

int probe_file_open_path(struct probe_file *file, const char *path, struct err *err)
{
	int r;

	*file = (struct probe_file){ .why = ERR_INIT };
	file->path = realpath(path, NULL);
	if (!file->path)
		return err_set(err, -errno, "%.300s: %s", path, strerror(errno));
	/* It is a word of a line. */
	if (strpbrk(file->path, " \t\n"))
		r = err_set(err, -EINVAL, "'%.300s': a path with blanks cannot be probed: give it another name by a hard link", file->path);
	else
		r = read_loads(file, err);
	if (!r && debug_open(&file->debug, file->path, &file->why) == -ENOMEM)
		r = err_set(err, -ENOMEM, "out of memory");
	if (r)
		probe_file_close(file);
	return r;
}

void probe_file_close(struct probe_file *file)
{
	debug_close(file->debug);
	free(file->path);
	*file = (struct probe_file){ .why = ERR_INIT };
}

int probe_file_own(const struct probe_file *file, struct err *err)
{
	if (!file->foreign)
		return 0;
	return err_set(err, -ENOEXEC, "%.300s is for %s, which this machine does not run", file->path, file->kind);
}

const char *probe_file_hint(const struct probe_file *file)
{
	if (file->why.code == -ENOSYS)
		return "build ringside with libdw";
	return file->machine == EM_X86_64 ? "compile with -g, or install its debug package"
					  : "debug information is read of x86-64 code alone";
}

bool probe_file_offset(const struct probe_file *file, uint64_t address, uint64_t *offset)
{
	for (uint32_t i = 0; i < file->nloads; i++) {
		const struct elf_piece *load = &file->loads[i];

		if (address - load->vaddr < load->filesz && (load->flags & 1)) {
			*offset = address - load->vaddr + load->offset;
			return true;
		}
	}
	return false;
}

bool probe_file_address(const struct probe_file *file, uint64_t offset, uint64_t *address)
{
	for (uint32_t i = 0; i < file->nloads; i++) {
		const struct elf_piece *load = &file->loads[i];

		if (offset - load->offset < load->filesz && (load->flags & 1)) {
			*address = offset - load->offset + load->vaddr;
			return true;
		}
	}
	return false;
}

int probe_file_instruction(const struct probe_file *file, uint64_t address, struct err *err)
{
	const struct plan_file of = { .path = file->path };
	const struct plan_site *site = NULL;
	struct buf made = BUF_INIT;
	int r = 0;

	/* A kernel's uprobes take any byte, and break the program. What cannot be read here may still be known there. */
	if (!plan_make_extra(&made, &of, &address, 1, NULL)) {
		const struct plan *plan = (const void *)made.data;

		site = plan_check(plan, made.len) ? NULL : plan_site_find(plan, address);
	}
	if (site && site->kind == PLAN_NOT && site->reason == PLAN_MIDDLE)
		r = err_set(err, -EILSEQ, "%#" PRIx64 " of %.300s is in the middle of an instruction", address, file->path);
	buf_fini(&made);
	return r;
}

bool probe_file_chosen(const struct probe_file *file, const struct debug_place *place, uint64_t *address)
{
	struct stat theirs, ours;
	Dl_info info;
	void *code;

	if (!place->function || place->has_line || place->has_offset || place->pattern || place->file || strpbrk(place->function, "*?[") ||
	    !debug_is_chosen(file->path, place->function))
		return false;
	code = dlsym(RTLD_DEFAULT, place->function);
	/* It may be the kernel's, as time() is, or that of somebody who stands before the library. */
	if (!code || !dladdr(code, &info) || !info.dli_fname || stat(info.dli_fname, &ours) || stat(file->path, &theirs) ||
	    ours.st_dev != theirs.st_dev || ours.st_ino != theirs.st_ino)
		return false;
	*address = (uint64_t)((uintptr_t)code - (uintptr_t)info.dli_fbase);
	return true;
}

/* ---- files that are known ---- */

static int add_path(char ***paths, size_t *n, const char *path)
{
	char **more;

	for (size_t i = 0; i < *n; i++)
		if (!strcmp((*paths)[i], path))
			return 0;
	if (*n == FILES_MAX)
		return 0;
	more = reallocarray(*paths, *n + 1, sizeof(*more));
	if (!more)
		return -ENOMEM;
	*paths = more;
	more[*n] = strdup(path);
	return more[*n] ? (++*n, 0) : -ENOMEM;
}

static void free_paths(char **paths, size_t n)
{
	for (size_t i = 0; i < n; i++)
		free(paths[i]);
	free(paths);
}

static int of_directory(char ***paths, size_t *n, struct control *control, struct err *err)
{
	struct control_registry registry;
	int r = control_registry_read(&registry, &control->dir, CONTROL_REGISTRY_ELFS, err);

	if (r)
		return r;
	for (int program = 1; !r && program >= 0; program--)
		for (uint32_t i = 0; !r && i < registry.nelfs; i++)
			if (registry.elfs[i].program == (bool)program && registry.elfs[i].path[0] == '/' &&
			    !access(registry.elfs[i].path, R_OK))
				r = add_path(paths, n, registry.elfs[i].path);
	control_registry_fini(&registry);
	return r;
}

static int check_pid(const char *pid, struct err *err)
{
	if (!*pid || pid[strspn(pid, "0123456789")] || strlen(pid) > 10)
		return err_set(err, -EINVAL, "'%.40s' is no number of a process", pid);
	return 0;
}

/* What is mapped to be run; the program itself is the first of it, as a rule. */
static int of_process(char ***paths, size_t *n, const char *pid, struct err *err)
{
	char path[64], line[PATH_MAX + 128];
	FILE *maps;
	int r = check_pid(pid, err);

	if (r)
		return r;
	snprintf(path, sizeof(path), "/proc/%s/maps", pid);
	maps = fopen(path, "re");
	if (!maps)
		return err_set(err, -errno, "process %s: %s", pid, errno == ENOENT ? "there is none" : strerror(errno));
	while (!r && fgets(line, sizeof(line), maps)) {
		char *name = strchr(line, '/');
		char mode[5] = "";

		line[strcspn(line, "\n")] = '\0';
		if (name && sscanf(line, "%*x-%*x %4s", mode) == 1 && mode[2] == 'x' && !strstr(name, " (deleted)"))
			r = add_path(paths, n, name);
	}
	fclose(maps);
	return r;
}

int probe_files_known(char ***paths, size_t *n, const struct opts *opts, struct err *err)
{
	const char *pid = opts_value(opts, "pid");
	struct control *control;
	int r;

	*paths = NULL;
	*n = 0;
	if (pid) {
		r = of_process(paths, n, pid, err);
	} else {
		r = cmd_open_directory(&control, opts, false, err);
		if (r)
			return r;
		r = of_directory(paths, n, control, err);
		control_close(control);
	}
	if (r) {
		free_paths(*paths, *n);
		*paths = NULL;
		*n = 0;
	}
	return r == -ENOMEM ? err_set(err, r, "out of memory") : r;
}

/* ---- the one that has the place ---- */

/* A file's path, a command in $PATH, or the name of a file that is known. */
static char *find_named(const char *name, const struct opts *opts)
{
	const char *dirs = getenv("PATH");
	char path[PATH_MAX], *found = NULL, **known;
	size_t n;

	if (strchr(name, '/') || !access(name, F_OK))
		return strdup(name);
	for (; !found && dirs && *dirs; dirs += strcspn(dirs, ":"), dirs += *dirs == ':')
		if (snprintf(path, sizeof(path), "%.*s/%s", (int)strcspn(dirs, ":"), dirs, name) < PATH_MAX &&
		    !access(path, X_OK))
			found = strdup(path);
	if (found || probe_files_known(&known, &n, opts, NULL))
		return found ? found : strdup(name);
	for (size_t i = 0; !found && i < n; i++) {
		const char *base = strrchr(known[i], '/') + 1;

		if (!strncmp(base, name, strlen(name)) && strchr(".-", base[strlen(name)]))
			found = strdup(known[i]);
		else if (!strcmp(base, name))
			found = strdup(known[i]);
	}
	free_paths(known, n);
	return found ? found : strdup(name);
}

static bool has_place(const char *path, const struct debug_place *place)
{
	struct debug_points points;
	struct debug *debug;
	bool has;

	if (place->function)
		has = !debug_points_by_symbols(&points, path, &(struct debug_place){ .function = place->function }, NULL);
	else
		has = false;
	if (has) {
		debug_points_fini(&points);
		return true;
	}
	/* Functions that are nowhere but inlined, and lines. */
	if (debug_open(&debug, path, NULL))
		return false;
	has = !debug_points_find(&points, debug, place, NULL);
	if (has)
		debug_points_fini(&points);
	debug_close(debug);
	return has;
}

/* The loader has copies of functions that programs know from libc: nobody means those. */
static bool is_loader(const char *path)
{
	const char *base = strrchr(path, '/');

	return base && (!strncmp(base, "/ld-", 4) || !strncmp(base, "/ld.so", 6));
}

static int choose(char **out, char **paths, size_t n, const struct debug_place *place, struct err *err)
{
	const char *what = place->function ? place->function : place->file;
	size_t first = n;

	for (int loader = 0; first == n && loader < 2; loader++)
		for (size_t i = 0; i < n; i++) {
			if (is_loader(paths[i]) != loader || !has_place(paths[i], place))
				continue;
			if (first < n)
				return err_set(err, -EEXIST, "'%.80s' is in %.150s and in %.150s: choose one with -x", what,
					       paths[first], paths[i]);
			first = i;
		}
	if (first == n && n)
		return err_set(err, -ENOENT,
			       "none of the %zu files of programs that are known has '%.80s': name the file with -x", n, what);
	if (first == n)
		return err_set(err, -ENOENT, "no program is known yet: name the file that has '%.80s' with -x", what);
	*out = strdup(paths[first]);
	return *out ? 0 : err_set(err, -ENOMEM, "out of memory");
}

/* For what is asked of a file as a whole. */
static int take_program(char **path, const char *pid, struct err *err)
{
	int r = pid ? check_pid(pid, err) : err_set(err, -EINVAL, "which file? -x FILE");

	if (r)
		return r;
	if (asprintf(path, "/proc/%s/exe", pid) >= 0)
		return 0;
	*path = NULL;
	return err_set(err, -ENOMEM, "out of memory");
}

static int find_file(char **path, const struct opts *opts, const struct debug_place *place, struct err *err)
{
	const char *name = opts_value(opts, "exec"), *pid = opts_value(opts, "pid");
	char **known;
	size_t n;
	int r;

	*path = NULL;
	if (name) {
		*path = find_named(name, opts);
		return *path ? 0 : err_set(err, -ENOMEM, "out of memory");
	}
	if (!place)
		return take_program(path, pid, err);
	if (!pid && (opts_value(opts, "kernel") || opts_value(opts, "tracefs")))
		return err_set(err, -EINVAL, "which file? -x FILE");
	if (place->has_address)
		return err_set(err, -EINVAL, "which file is the address of? -x FILE");
	r = probe_files_known(&known, &n, opts, err);
	if (r) {
		if (!pid)
			err_prefix(err, "without -x FILE the programs of a tracing directory are looked at: ");
		return r;
	}
	r = choose(path, known, n, place, err);
	free_paths(known, n);
	return r;
}

int probe_file_open(struct probe_file *file, const struct opts *opts, const struct debug_place *place, struct err *err)
{
	char *path;
	int r = find_file(&path, opts, place, err);

	*file = (struct probe_file){ .why = ERR_INIT };
	if (!r)
		r = probe_file_open_path(file, path, err);
	if (!r && file->debug)
		debug_look_in(file->debug, opts_value(opts, "source"));
	free(path);
	return r;
}
