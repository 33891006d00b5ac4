/*
 * doctor/program: see program.h.
 */
#include "doctor/program.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>


#define LISTED_MAX 5	/* events in a line of words */
#define SYSTEMS_MAX 3

void program_init(struct program *program, const char *name)
{
	memset(program, 0, sizeof(*program));
	program->name = name;
	program->fd = -1;
	program->runs_as = geteuid();
}

void program_fini(struct program *program)
{
	for (unsigned int i = 0; i < program->nsites; i++) {
		free(program->sites[i].system);
		free(program->sites[i].name);
	}
	if (program->fd >= 0) {
		elf_close(&program->elf);
		close(program->fd);
	}
}

bool program_open(struct doctor *doctor, struct program *program)
{
	/* A fifo or a device must not hold us up. */
	const char *file = program->running[0] ? program->running : program->path;
	int fd = open(file, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY), r;
	struct err err = ERR_INIT;
	const char *step = NULL;

	if (fd < 0 && errno == EACCES && !program->running[0] && geteuid())
		step = doctor_step(doctor, "sudo ringside doctor ", program->path);
	if (fd < 0) {
		doctor_put(doctor, DOCTOR_BAD, "program", step, "%s cannot be looked at: %s", program->path,
			   strerror(errno));
		return false;
	}
	if (fstat(fd, &program->st) || !S_ISREG(program->st.st_mode)) {
		doctor_put(doctor, DOCTOR_BAD, "program", NULL, "%s is no file that could be run",
			   program->path);
		close(fd);
		return false;
	}
	r = elf_open(&program->elf, fd, &err);
	if (r) {
		doctor_put(doctor, DOCTOR_BAD, "program", NULL, "%s %s%s", program->path, err.text,
			   r == -ENOEXEC ? " and no script: the kernel does not run it" : "");
		close(fd);
		return false;
	}
	program->fd = fd;
	return true;
}

static const char *kind(const struct elf *elf)
{
	switch (elf->type) {
	case ET_EXEC:
		return NULL;
	case ET_DYN:
		return elf->interp || elf->pie || !elf->native ? NULL : "a library";
	case ET_REL:
		return "an object file";
	case ET_CORE:
		return "a core file";
	default:
		return "something else";
	}
}

bool program_runs(struct doctor *doctor, struct program *program)
{
	const struct elf *elf = &program->elf;
	const char *other = kind(elf), *machine;
	bool starts = !program->running[0];
	char text[32];

	machine = elf_machine(elf, text);
	program->musl = elf->interp && strstr(elf->interp, "ld-musl-");
	if (other)
		doctor_put(doctor, DOCTOR_BAD, "program", NULL, "%s is %s, not a program", program->path, other);
	else if (!elf_runs_here(elf))
		doctor_put(doctor, DOCTOR_BAD, "program", NULL, "%s is for %s, which this machine does not run",
			   program->path, machine);
	else if (starts && elf->interp && access(elf->interp, X_OK))
		doctor_put(doctor, DOCTOR_BAD, "program", NULL, "%s cannot start: its loader %s: %s",
			   program->path, elf->interp, strerror(errno));
	else if (starts && access(program->path, X_OK))
		doctor_put(doctor, DOCTOR_BAD, "program", doctor_step(doctor, "chmod +x ", program->path),
			   "%s cannot start: %s", program->path, strerror(errno));
	else {
		doctor_put(doctor, DOCTOR_OK, "program", NULL, "%s: %d-bit %s, %s", program->path,
			   elf->is64 ? 64 : 32, machine,
			   !elf->interp ? "static" : program->musl ? "dynamic (musl)" : "dynamic");
		return true;
	}
	return false;
}

/* This very command carries the runtime for its own markers. */
static bool is_ringside(const struct program *program)
{
	struct stat self;

	return !stat("/proc/self/exe", &self) && self.st_ino == program->st.st_ino &&
	       self.st_dev == program->st.st_dev;
}

bool program_holds_runtime(struct doctor *doctor, struct program *program)
{
	const struct elf *elf = &program->elf;
	int r = elf_carries_runtime(elf);

	if (r < 0)
		doctor_put(doctor, DOCTOR_NOTE, "runtime", NULL, "%s was not searched for it: %s", program->path,
			   strerror(-r));
	if (r != 1)
		return false;
	program->carries = true;
	program->unwilling = is_ringside(program) || elf_defines(elf, "ringside_no_attach") == 1;
	doctor_put(doctor, DOCTOR_OK, "runtime", NULL, "is inside the program");
	return true;
}

static void take_site(void *ctx, const char *system, const char *name, bool ours)
{
	struct program *program = ctx;
	struct program_site *site;

	for (unsigned int i = 0; i < program->nsites; i++)
		if (program->sites[i].ours == ours && !strcmp(program->sites[i].system, system) &&
		    !strcmp(program->sites[i].name, name))
			return;
	if (program->nsites == PROGRAM_SITES_MAX)
		return;
	site = &program->sites[program->nsites];
	*site = (struct program_site){ strdup(system), strdup(name), ours };
	if (site->system && site->name) {
		program->nsites++;
		return;
	}
	free(site->system);
	free(site->name);
}

void program_take_sites(struct doctor *doctor, struct program *program, const struct elf *elf,
			const char *path)
{
	int r = elf_sites(elf, take_site, program);

	if (r == -ENODATA)
		doctor_put(doctor, DOCTOR_NOTE, "events", NULL,
			   "%s has no section headers: its event sites cannot be listed", path);
	else if (r)
		doctor_put(doctor, DOCTOR_NOTE, "events", NULL, "the notes of %s are damaged: sites may be missing",
			   path);
}

/* How many there are, and the names of the first few in `names`. */
static unsigned int list_sites(const struct program *program, bool ours, struct buf *names)
{
	unsigned int n = 0;

	for (unsigned int i = 0; i < program->nsites; i++) {
		const struct program_site *site = &program->sites[i];

		if (site->ours == ours && n++ < LISTED_MAX)
			buf_printf(names, "%s%.60s:%.60s", n > 1 ? ", " : "", site->system, site->name);
	}
	if (n > LISTED_MAX)
		buf_printf(names, " and %u more", n - LISTED_MAX);
	return n;
}

void program_put_sites(struct doctor *doctor, const struct program *program)
{
	struct buf ours = BUF_INIT, others = BUF_INIT;
	unsigned int n = list_sites(program, true, &ours);

	if (n)
		doctor_put(doctor, DOCTOR_OK, "events", NULL, "%s", ours.data ? ours.data : "");
	else if (program->carries)
		doctor_put(doctor, DOCTOR_NOTE, "events", NULL,
			   "no sites of declared events; it may define some as it runs, and print");
	if (list_sites(program, false, &others))
		doctor_put(doctor, DOCTOR_NOTE, "usdt", NULL, "%s: for perf and bpftrace, not for Ringside",
			   others.data ? others.data : "");
	buf_fini(&ours);
	buf_fini(&others);
}

void program_put_systems(struct buf *out, const struct program *program)
{
	const char *systems[SYSTEMS_MAX];
	unsigned int n = 0, j;

	for (unsigned int i = 0; i < program->nsites; i++) {
		if (!program->sites[i].ours)
			continue;
		for (j = 0; j < n && strcmp(systems[j], program->sites[i].system); j++)
			;
		if (j < n)
			continue;
		if (n == SYSTEMS_MAX)
			return;
		systems[n++] = program->sites[i].system;
	}
	for (unsigned int i = 0; i < n; i++) {
		buf_puts(out, " -e ");
		doctor_quote(out, systems[i]);
	}
}
