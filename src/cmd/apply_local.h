/*
 * cmd/apply_local: what the files of apply share. Private to them.
 *
 *	apply_check()	everything that the profile names is there, as far as can be told before anything is changed
 *	apply_take()	its steps, one after another
 *	undo_all()	in a tree of files: back to what was before, when one of them was refused
 */
#ifndef CMD_APPLY_LOCAL_H
#define CMD_APPLY_LOCAL_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "boot/profile.h"
#include "cmd/cmd.h"
#include "cmd/events.h"
#include "cmd/scope.h"

/* What brings a file back; kept in the order of the changes. */
struct undo {
	struct undo_item {
		enum { UNDO_WRITE, UNDO_APPEND, UNDO_REMOVE, UNDO_EVENTS, UNDO_SYSCTL } how;
		char *path;
		char *text;
	} *items;
	size_t n;
};

struct apply {
	const char *name;		/* of the file */
	struct boot_config *config;
	struct boot_profile profile;
	bool *out;			/* of each step: it is left out */
	struct source *source;
	struct control *control;	/* of a tracing directory; NULL: files */
	struct events events;
	pid_t pid;			/* of the program that it is for, 0: of none */
	bool kernel;			/* these are the kernel's own */
	bool quiet, ignore;
	bool dry;			/* nothing is to stay of it */
	struct buf lines;		/* what would be written, for a shell */
	struct undo undo;
};

/* A line for people about a step, with its place and key; not where all is to be quiet. */
void apply_say(const struct apply *apply, const struct boot_step *step, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/* The same as words of a failure. Returns `code`. */
int apply_refuse(const struct apply *apply, const struct boot_step *step, int code, struct err *err, const char *fmt, ...)
	__attribute__((format(printf, 5, 6)));

static inline struct scope apply_scope(const struct boot_step *step)
{
	return (struct scope){ .instance = step->instance };
}

/* Does the profile itself bring that event? */
bool apply_defines(const struct apply *apply, const char *system, const char *event);
/* Is it one that the source has? */
bool apply_knows(const struct apply *apply, const char *system, const char *event);
/* Patterns of events that only we understand: a kernel knows all of a system, and all. */
bool apply_is_for_us(const struct events_wish *wish);

#define APPLY_SYSCTL "/proc/sys/kernel/"

/* apply_check.c */
int apply_check(struct apply *apply, struct err *err);
/* Is it one of the words that a file lists, the one in brackets included? */
bool apply_has_word(const char *text, const char *word);
/* apply_take.c */
int apply_take(struct apply *apply, size_t i, struct err *err);

/* apply_undo.c: all return 0 or -ENOMEM with words. */
int undo_keep(struct apply *apply, const struct boot_step *step, const char *file, int kind, struct err *err);
int undo_keep_size(struct apply *apply, const struct boot_step *step, struct err *err);
int undo_keep_events(struct apply *apply, const struct boot_step *step, struct err *err);
int undo_add(struct apply *apply, int how, const char *path, const char *text, struct err *err);
/* All of it is tried; the first that fails is told. */
int undo_all(struct apply *apply, struct err *err);
void undo_fini(struct undo *undo);

#endif
