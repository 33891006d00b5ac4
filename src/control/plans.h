/*
 * control/plans: the functions of the directory's programs, and how they can be patched: the tool's side of layout/plan.h.
 *
 * A program tells which ELF files it has mapped; here plans are made for those that have none yet, and filed. Filing happens under
 * the directory's lock, reading needs none. What is in the file may have been scribbled over: a plan that is not sound is none.
 */
#ifndef CONTROL_PLANS_H
#define CONTROL_PLANS_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "control/control.h"
#include "layout/plan.h"

/* A function of some file. */
struct control_function {
	const char *name;
	const char *module;	/* its file, without directories */
	uint64_t address;	/* in the symbol space */
	uint64_t site;		/* where in the plans file its site is */
	uint32_t size;
	uint16_t flags;		/* PLAN_SITE_* */
	uint8_t kind;		/* enum plan_kind */
	uint8_t reason;
	bool program;		/* of what was executed: shown without its module */
};

struct control_functions {
	struct control_function *all;	/* by file as programs brought them, then by address; no hidden ones */
	size_t n;
	void *memory;
};

/* Makes plans for the files of the registry that have none, then takes all of them. */
int control_functions_read(struct control_functions *functions, struct control *control, struct err *err);
void control_functions_fini(struct control_functions *functions);

/* Makes and files plans for the files of the registry that have none, and no more. */
int control_plans_file(struct control *control, struct err *err);
/* Makes known to the directory a file that no program brought yet, with what it needs to run, and files plans for all of it. */
int control_plans_bring(struct control *control, const char *path, struct err *err);
/* The same of a library alone, by the path under which programs find it: a link stays one. */
int control_plans_library(struct control *control, const char *path, struct err *err);

/* An instruction of a file, by its address in the memory image, and what can be done there. */
struct control_point {
	uint64_t address;
	bool entry;		/* out: a function begins there */
	uint8_t kind;		/* out: enum plan_kind */
	uint8_t reason;
	uint16_t flags;		/* PLAN_SITE_* */
};
/* Looks them up in the plans of that file, and files its extra plan anew if that can be patched there and is not in it yet: then it
 * returns 1. */
struct control_elf;
int control_plans_points(struct control *control, const struct control_elf *elf, struct control_point *points, size_t n,
			 struct err *err);

/* Programs that start from now on wait a moment for plans by this process, which is about to serve. Serving begins with it, too. */
int control_plans_offer(struct control *control, struct err *err);
/* Files plans for what programs bring, until *stop is set or that many milliseconds are over (-1: never). While it runs, programs
 * that start wait a moment for theirs. In a process of its own: files may hold anything. */
int control_plans_serve(struct control *control, const volatile sig_atomic_t *stop, int timeout_ms, struct err *err);

#endif
