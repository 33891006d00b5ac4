/*
 * cmd/profile_local: what the profile's gathering (report_profile.c) and its printing
 * (profile_text.c) share.
 */
#ifndef CMD_PROFILE_LOCAL_H
#define CMD_PROFILE_LOCAL_H

#include "base/map.h"
#include "cmd/profile_hooks.h"
#include "cmd/profile_stacks.h"
#include "cmd/report_profile.h"

#define PROFILE_STACK_MAX 512
/* The bits of a task's state that mean something to people; beyond them are the kernel's marks. */
#define PROFILE_STATES 0x3ff

/* Compared byte by byte: no gaps on any machine. */
struct profile_row_key {
	uint64_t value;
	uint64_t format;	/* address of its struct decode_format */
};

struct profile_row {
	struct profile_times times;
	struct profile_frame *stacks;
};

enum profile_kind { PROFILE_GLOBAL, PROFILE_CPU, PROFILE_TASK };

struct profile_owner_key {
	int32_t kind;
	int32_t number;		/* a CPU's or a task's */
};

struct profile_owner {
	struct map rows;	/* struct profile_row_key to struct profile_row */
	char name[64];
	bool has_name;
	bool asleep;
};

struct profile_file {
	struct dat *dat;
	struct map owners;	/* struct profile_owner_key to struct profile_owner */
	struct map spans, roles, lanes;	/* private to report_profile.c */
};

struct report_profile {
	unsigned int flags;
	struct profile_hook *hooks;
	size_t nr_hooks;
	struct profile_file *files;
	size_t nr_files;
};

struct profile_owner *profile_owner_of(struct map *owners, enum profile_kind kind, int number);
void profile_owners_fini(struct map *owners);

#endif
