/*
 * doctor/started: the doctor's answer for a program that is going to be started: what would run, what it is linked
 * with, whose directory it would use, and with which commands it is traced.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/statvfs.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "doctor/command.h"
#include "doctor/library.h"
#include "doctor/program.h"
#include "inject/process.h"

#define LIBRARIES_MAX 512

/* From a script on to what runs it. False with a line when that leads nowhere. */
static bool follow_script(struct doctor *doctor, struct program *program, char *line)
{
	const char *interpreter = command_interpreter(line);
	char script[PATH_MAX];

	snprintf(script, sizeof(script), "%s", program->path);
	if (access(script, X_OK)) {
		doctor_put(doctor, DOCTOR_BAD, "program", doctor_step(doctor, "chmod +x ", script),
			   "%s is a script that cannot start: %s", script, strerror(errno));
		return false;
	}
	if (!interpreter || !command_find(interpreter, program->path)) {
		doctor_put(doctor, DOCTOR_BAD, "program", NULL, "%s is a script whose interpreter %s is not here",
			   script, interpreter ? interpreter : "(none)");
		return false;
	}
	doctor_put(doctor, DOCTOR_OK, "script", NULL, "%s is run by %s", script, program->path);
	program->script = true;
	return true;
}

/* What runs in the end, with a line for each script on the way. */
static bool open_program(struct doctor *doctor, struct program *program)
{
	char line[256];

	if (!command_find(program->name, program->path)) {
		doctor_put(doctor, DOCTOR_BAD, "program", NULL, "%s: there is no such program%s", program->name,
			   strchr(program->name, '/') ? "" : " in PATH");
		return false;
	}
	for (int i = 0; command_script(program->path, line, sizeof(line)); i++) {
		if (i == COMMAND_SCRIPTS_MAX) {
			doctor_put(doctor, DOCTOR_BAD, "program", NULL, "%s: too many scripts run each other",
				   program->name);
			return false;
		}
		if (!follow_script(doctor, program, line))
			return false;
	}
	return program_open(doctor, program);
}

/* Where a program of that user is traced whatever its environment says, as ring/segment.c decides it. */
static void own_directory(uid_t uid, char path[64])
{
	struct stat st;

	snprintf(path, 64, "/run/user/%u", (unsigned int)uid);
	if (!stat(path, &st) && S_ISDIR(st.st_mode) && st.st_uid == uid)
		snprintf(path, 64, "/run/user/%u/ringside", (unsigned int)uid);
	else
		snprintf(path, 64, "/dev/shm/ringside-%u", (unsigned int)uid);
}

/* Does the file ask for more rights, and does it get them from us? What is here is what execve(2) says. */
static void look_at_rights(struct doctor *doctor, struct program *program)
{
	const struct stat *st = &program->st;
	bool user = st->st_mode & S_ISUID, group = (st->st_mode & S_ISGID) && (st->st_mode & S_IXGRP);
	bool caps = fgetxattr(program->fd, "security.capability", NULL, 0) > 0;
	const char *how = user ? "set-user-ID" : group ? "set-group-ID" : "given capabilities";
	struct statvfs fs;
	char own[64];

	if (!user && !group && !caps)
		return;
	if ((!fstatvfs(program->fd, &fs) && fs.f_flag & ST_NOSUID) ||
	    prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1) {
		doctor_put(doctor, DOCTOR_NOTE, "rights", NULL, "it is %s, which has no effect here", how);
		return;
	}
	program->secure = (user && st->st_uid != getuid()) || (group && st->st_gid != getgid()) ||
			  (caps && getuid());
	if (!program->secure) {
		doctor_put(doctor, DOCTOR_NOTE, "rights", NULL, "it is %s, which gives you nothing that you do not "
			   "have", how);
		return;
	}
	program->runs_as = user ? st->st_uid : geteuid();
	own_directory(program->runs_as, own);
	doctor_put(doctor, DOCTOR_NOTE, "rights", NULL,
		   "it is %s and runs as uid %u: it ignores RINGSIDE_DIR and LD_LIBRARY_PATH and uses %s", how,
		   (unsigned int)program->runs_as, own);
}

/* The libraries that a program loads at its start, each once. */
struct libraries {
	struct doctor *doctor;
	struct program *program;
	struct {
		char *name;
		char *path;	/* NULL: not found */
	} all[LIBRARIES_MAX];
	unsigned int n;
	char through[PATH_MAX];	/* the first one that asks for libringside; "": the program itself */
	bool linked;
};

static void take_needed(struct libraries *libraries, const struct elf *elf, const char *path)
{
	const struct program *program = libraries->program;
	struct library_for asker = { elf, path, program->secure, program->musl };
	char found[PATH_MAX];
	unsigned int j;

	for (uint32_t i = 0; i < elf->nneeded; i++) {
		const char *name = elf->needed[i];

		for (j = 0; j < libraries->n && strcmp(libraries->all[j].name, name); j++)
			;
		if (j < libraries->n || libraries->n == LIBRARIES_MAX)
			continue;
		asker.elf = elf;
		asker.path = path;
		if (!library_find(&asker, name, found)) {
			/* The program's own search path holds for all that it loads, if it is of the old kind. */
			asker.elf = &program->elf;
			asker.path = program->path;
			if (!program->elf.rpath || !library_find(&asker, name, found))
				found[0] = '\0';
		}
		libraries->all[libraries->n].name = strdup(name);
		libraries->all[libraries->n].path = found[0] ? strdup(found) : NULL;
		if (libraries->all[libraries->n].name)
			libraries->n++;
		else
			free(libraries->all[libraries->n].path);
	}
}

static bool asks_for_ours(const struct elf *elf)
{
	for (uint32_t i = 0; i < elf->nneeded; i++)
		if (process_is_runtime(elf->needed[i]))
			return true;
	return false;
}

/* A library that asks for libringside may have event sites of its own. */
static void look_into(struct libraries *libraries, const char *path)
{
	struct elf elf;
	int fd = library_open(path, &elf);

	if (fd < 0)
		return;
	if (asks_for_ours(&elf)) {
		if (!libraries->linked)
			snprintf(libraries->through, sizeof(libraries->through), "%s", path);
		libraries->linked = true;
		program_take_sites(libraries->doctor, libraries->program, &elf, path);
	}
	take_needed(libraries, &elf, path);
	elf_close(&elf);
	close(fd);
}

/* Musl's loader is its libc, too: it does not look for that. */
static bool is_loader(const struct program *program, const char *name)
{
	return program->musl && !strncmp(name, "libc.", 5);
}

static void put_libraries(struct libraries *libraries)
{
	struct doctor *doctor = libraries->doctor;
	const struct program *program = libraries->program;

	for (unsigned int i = 0; i < libraries->n; i++) {
		const char *name = libraries->all[i].name, *path = libraries->all[i].path;

		if (!process_is_runtime(name)) {
			if (!path && !is_loader(program, name))
				doctor_put(doctor, DOCTOR_NOTE, "library", NULL,
					   "%s, which it needs, is not where the loader looks", name);
		} else if (!path) {
			doctor_put(doctor, DOCTOR_BAD, "runtime",
				   "sudo ldconfig, or set LD_LIBRARY_PATH to where it is",
				   "%s for %s is not where the loader looks: it does not start", name,
				   program->elf.is64 ? "64-bit programs" : "32-bit programs");
		} else if (program->musl && library_needs(path, "libc.so.6")) {
			doctor_put(doctor, DOCTOR_BAD, "runtime", "build libringside with musl",
				   "%s is for glibc, the program is for musl", path);
		} else {
			doctor_put(doctor, DOCTOR_OK, "runtime", NULL, "%s%s%s", path,
				   libraries->through[0] ? ", through " : "", libraries->through);
		}
	}
}

/* All that is loaded at the start, and whether libringside is among it. */
static void look_at_libraries(struct doctor *doctor, struct program *program)
{
	struct libraries *libraries = calloc(1, sizeof(*libraries));

	if (!libraries) {
		doctor_put(doctor, DOCTOR_NOTE, "library", NULL, "out of memory: not looked at");
		return;
	}
	libraries->doctor = doctor;
	libraries->program = program;
	libraries->linked = asks_for_ours(&program->elf);
	take_needed(libraries, &program->elf, program->path);
	for (unsigned int i = 0; i < libraries->n; i++)
		if (libraries->all[i].path)
			look_into(libraries, libraries->all[i].path);
	program->carries = libraries->linked;
	put_libraries(libraries);
	for (unsigned int i = 0; i < libraries->n; i++) {
		free(libraries->all[i].name);
		free(libraries->all[i].path);
	}
	free(libraries);
}

/* The commands that trace it. */
static void put_commands(struct doctor *doctor, const struct program *program)
{
	const char *named = getenv("RINGSIDE_DIR");
	struct buf line = BUF_INIT;

	doctor_sudo(&line, program->runs_as);
	if (program->secure && program->runs_as == geteuid() && named && *named)
		buf_puts(&line, "env -u RINGSIDE_DIR ");
	buf_puts(&line, "ringside start");
	program_put_systems(&line, program);
	if (!program->secure && doctor->dir_option.len) {
		buf_printf(&line, "%s; RINGSIDE_DIR=", doctor->dir_option.data);
		doctor_quote(&line, doctor->dir);
		buf_putc(&line, ' ');
	} else {
		buf_puts(&line, "; ");
	}
	doctor_quote(&line, program->name);
	doctor_put(doctor, DOCTOR_OK, "verdict", line.data, "it can be traced");
	buf_fini(&line);
}

/* `bad`: what was found about it so far; `usable`: the directory is. */
static void put_verdict(struct doctor *doctor, const struct program *program, bool bad, bool usable)
{
	const char *starts = program->script ? "; what the script starts is traced by itself" : "";

	if (program->unwilling)
		doctor_put(doctor, DOCTOR_BAD, "verdict", NULL, "it says itself that it is not to be traced");
	else if (!program->carries && !program->elf.interp)
		doctor_put(doctor, DOCTOR_BAD, "verdict", "link it with libringside.a, see ringside(3)",
			   "it cannot be traced: it is static and does not carry the runtime%s", starts);
	else if (!program->carries)
		doctor_put(doctor, DOCTOR_BAD, "verdict", "link it with -lringside, see ringside(3)",
			   "it cannot be traced: neither it nor a library that it names is linked with libringside; "
			   "what it may load later was not looked at%s", starts);
	else if (bad)
		doctor_put(doctor, DOCTOR_BAD, "verdict", NULL, "it cannot be traced for what is bad above");
	else if (!usable && !program->secure)
		doctor_put(doctor, DOCTOR_BAD, "verdict", NULL,
			   "it would run untraced, for what is bad with the directory");
	else
		put_commands(doctor, program);
}

void doctor_program(struct doctor *doctor, const char *name)
{
	struct program *program = malloc(sizeof(*program));
	bool usable = !doctor->bad, before = doctor->bad;

	if (!program) {
		doctor_put(doctor, DOCTOR_BAD, "program", NULL, "out of memory");
		return;
	}
	program_init(program, name);
	doctor->bad = false;
	if (open_program(doctor, program) && program_runs(doctor, program)) {
		look_at_rights(doctor, program);
		if (!program_holds_runtime(doctor, program))
			look_at_libraries(doctor, program);
		program_take_sites(doctor, program, &program->elf, program->path);
		program_put_sites(doctor, program);
		put_verdict(doctor, program, doctor->bad, usable);
	}
	doctor->bad |= before;
	program_fini(program);
	free(program);
}
