/*
 * doctor/program: the doctor's look at a program's file. Shared by those who have its path and those who have a
 * process that runs it.
 */
#ifndef DOCTOR_PROGRAM_H
#define DOCTOR_PROGRAM_H

#include <limits.h>
#include <stdbool.h>
#include <sys/stat.h>

#include "doctor/doctor.h"
#include "doctor/elf.h"

#define PROGRAM_SITES_MAX 1024

struct program {
	const char *name;	/* as it was given */
	char path[PATH_MAX];	/* for people */
	char running[32];	/* /proc/PID/exe of one that runs already, else "" */
	int fd;			/* -1: not open */
	struct stat st;
	struct elf elf;
	bool script;		/* it is a script's interpreter that is looked at */
	bool musl;
	bool secure;		/* starts with more rights than we have */
	uid_t runs_as;
	bool carries;		/* the runtime, by whatever way */
	bool unwilling;		/* carries it and says that it is not to be traced */
	unsigned int nsites;	/* events that its sites name, each once */
	struct program_site {
		char *system, *name;
		bool ours;
	} sites[PROGRAM_SITES_MAX];
};

void program_init(struct program *program, const char *name);
void program_fini(struct program *program);

/* Opens what is at program->path: an ELF file, or else false and a line that says what is wrong with it. */
bool program_open(struct doctor *doctor, struct program *program);

/* Is the ELF file a program that can run here? A line, whatever the answer. */
bool program_runs(struct doctor *doctor, struct program *program);

/* Does the file itself hold the runtime? Sets carries and unwilling; a line if so. */
bool program_holds_runtime(struct doctor *doctor, struct program *program);

/* Gathers the events that an ELF file's notes name: the program's own, or a library's. */
void program_take_sites(struct doctor *doctor, struct program *program, const struct elf *elf,
			const char *path);

/* Lines about the sites that were gathered. */
void program_put_sites(struct doctor *doctor, const struct program *program);

/* " -e SYSTEM" for its events, nothing when there are too many for a line. */
void program_put_systems(struct buf *out, const struct program *program);

#endif
