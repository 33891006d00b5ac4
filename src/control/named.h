/*
 * control/named: events of the kernel's names that user space can mean too, with the kernel's fields and print formats.
 *
 * They are in every directory, so that texts which name them have a meaning before any program brings them. The lists
 * (named_sched.c and its like) are short forms; named_text.c makes of them what programs would bring, so that a program
 * that brings the same gets the same id. The kernel's sizes on 64 bits hold everywhere.
 */
#ifndef CONTROL_NAMED_H
#define CONTROL_NAMED_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "base/err.h"
#include "control/registry.h"
#include "ring/segment.h"

/* `fields`: C declarations, "; " between them, `string NAME` a text of any length. `print`: the print format. */
struct named_event {
	const char *name;
	const char *fields;
	const char *print;
};

/* Each ends with an entry that has no name. */
extern const struct named_event named_sched[];
extern const struct named_event named_kmem[];
extern const struct named_event named_signal[];
extern const struct named_event named_timer[];
extern const struct named_event named_raw_syscalls[];
extern const struct named_event named_ringside[];
/* NAME(TYPE ARGUMENT, ...), sorted; NULL at the end. */
extern const char *const named_syscalls[];

/* The body of an event's format text. */
void named_text(const struct named_event *event, struct buf *out);
/* The name of a line of named_syscalls, and the bodies of the two events. */
size_t named_syscall_name(const char *call);
void named_enter_text(const char *call, struct buf *out);
void named_exit_text(struct buf *out);

/* Hands each event to `put` until that returns other than 0, which is returned. */
typedef int named_put(void *ctx, const char *system, const char *name, const struct buf *body);
int control_named_walk(named_put *put, void *ctx);

/* Has every directory events of that system? */
bool control_named_system(const char *system);

/* Puts them into a directory's registry, unless they are there already: then it costs one small read. */
int control_named_ensure(const struct segment_dir *dir, struct err *err);

/* Records of this event are about to be made by the tool: from now on it counts as brought. */
int control_named_adopt(const struct segment_dir *dir, const struct control_event *event, struct err *err);

/* An event of the directory's own, a synthetic one or a probe: its id is for ever that of this name and layout. */
int control_named_bring(const struct segment_dir *dir, const char *system, const char *name, const struct buf *body,
			uint32_t *id, struct err *err);

/* The slot of an ELF file, by its blob as layout/registry.h has it. */
int control_named_elf(const struct segment_dir *dir, const struct buf *blob, uint32_t *slot, struct err *err);

/* Can records of this event come from somewhere: a program brought it, or the runtime makes them by itself? */
bool control_event_has_source(const struct control_event *event);

/* Is that a system of events about system calls? There are hundreds, and programs have them all. */
bool control_event_is_call(const char *system);

#endif
