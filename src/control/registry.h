/*
 * control/registry: what programs brought, as the tool sees it.
 *
 * A picture of the registry file at one moment: events with their format texts, formats of
 * ringside_printf, names of threads, ELF files. Programs add to the file meanwhile, and any of them
 * may have scribbled over it: entries that make no sense are left out, and everything handed out is
 * within the picture's own memory, strings terminated and free of control characters where they are
 * names.
 */
#ifndef CONTROL_REGISTRY_H
#define CONTROL_REGISTRY_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "layout/registry.h"
#include "ring/segment.h"

enum {
	CONTROL_REGISTRY_EVENTS = 1,
	CONTROL_REGISTRY_FORMATS = 2,
	CONTROL_REGISTRY_TASKS = 4,
	CONTROL_REGISTRY_ELFS = 8,
	CONTROL_REGISTRY_ALL = 15,
};

struct control_event {
	uint32_t id;
	uint32_t related;	/* id of the event whose sites it rides on, or 0 */
	uint32_t hint;		/* the word in the file, at that moment */
	bool dynamic;		/* the tool made it: there while the state has it */
	bool shown;		/* the newest of its name: the one that the tree shows */
	bool named;		/* no program brought it: named.h */
	uint64_t number;	/* order of arrival */
	const char *system;
	const char *name;
	const char *body;	/* format text from the first field on */
	uint32_t body_len;
};

struct control_format {
	uint64_t address;	/* stands for it in records */
	uint64_t ip;
	const char *func;
	const char *text;
};

struct control_task {
	int32_t tid;
	int32_t tgid;
	bool running;	/* still: comm is its present name */
	char comm[16];
	char told[16];	/* what it told when it began */
};

struct control_elf {
	uint64_t base;
	const unsigned char *build_id;
	uint32_t build_id_len;
	const char *path;
	bool program;	/* what was executed, no library */
};

#define CONTROL_REGISTRY_HALFWAY_MAX 32

/* When a picture was made, in the registry's own terms. */
struct control_moment {
	uint64_t number;	/* as control_registry_number() gave it before anything was read */
	/* Slots of events and formats that somebody was about to fill. */
	struct {
		uint64_t at;	/* of the slot's state in the file */
		uint32_t state;	/* then */
	} halfway[CONTROL_REGISTRY_HALFWAY_MAX];
	uint32_t nhalfway;	/* may be more than are kept */
};

struct control_registry {
	struct control_moment moment;
	struct control_event *events;	/* by system, then name, then newest first */
	uint32_t nevents;
	struct control_format *formats;
	uint32_t nformats;
	struct control_task *tasks;
	uint32_t ntasks;
	struct control_elf *elfs;
	uint32_t nelfs;
	bool has_dynamic;	/* some of the events are */
	bool unsettled;		/* somebody was about to bring something */
	char *heap;
};

/* `what`: CONTROL_REGISTRY_* that are wanted. */
int control_registry_read(struct control_registry *registry, const struct segment_dir *dir,
			  unsigned int what, struct err *err);
void control_registry_fini(struct control_registry *registry);

/* Which of several events of a name is shown, out of those that are there. */
void control_registry_show(struct control_registry *registry);

/* A number that grows with everything that is brought. */
int control_registry_number(const struct segment_dir *dir, uint64_t *number, struct err *err);

/* How many programs there were of which function_graph sees calls, but no returns. 0 when that cannot be told. */
uint32_t control_registry_no_returns(const struct segment_dir *dir);

/* May more events and formats have been brought since? Costs one small read, and one for each slot that was half-way. */
bool control_registry_has_more(const struct control_moment *moment, const struct segment_dir *dir);

/* A number that is another one when threads have told their names; reads all of them. */
int control_registry_names(const struct segment_dir *dir, uint32_t *mark, struct err *err);

/* The first event of that system, or of one behind it in the order. */
uint32_t control_registry_system(const struct control_registry *registry, const char *system);

/* The event that the tree shows under this name, or NULL. */
const struct control_event *control_registry_find(const struct control_registry *registry,
						  const char *system, const char *name);

/* By the id in records; NULL when there is none. */
const struct control_event *control_registry_event(const struct control_registry *registry,
						   uint32_t id);

/* Names come from the kernel, but through the file: makes it one without control characters. */
void control_registry_clean(char comm[16]);
/* A thread's name: of a thread that still runs the present one, else what it told; NULL if never. */
const char *control_registry_comm(const struct control_registry *registry, int32_t tid);
/* The process of a thread that told its name; 0 if it never did. */
int32_t control_registry_tgid(const struct control_registry *registry, int32_t tid);

#endif
