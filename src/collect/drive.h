/*
 * collect/drive: a board that records for us, into a file here: `record -A`. Each has a process of its own, which calls the board's
 * agent, calls again when it was cut off, and keeps the file; what comes is looked at in a jail (session.h).
 */
#ifndef COLLECT_DRIVE_H
#define COLLECT_DRIVE_H

#include <sys/types.h>

#include "net/caller.h"

enum drive_state { DRIVE_CALLING, DRIVE_RECORDS, DRIVE_CUT, DRIVE_DONE, DRIVE_FAILED };

struct drive_how {
	struct caller_how caller;
	bool compat;		/* a stock `trace-cmd agent` is there; */
	const char *guest;	/* it is in the virtual machine of that name, to which FIFOs may lead; NULL: not */
	char **argv;		/* options of `record` for it */
	const char *path;
	uint64_t machine;	/* whose time it is to be told in */
	void (*say)(void *ctx, const char *text);	/* what its recorder says; called in the process */
	void *ctx;
};

struct drive_shared {
	uint32_t stop;		/* ours */
	uint32_t state;
	uint64_t events, lost, bytes;
	uint32_t lost_more, cuts;
	int64_t offset;
	uint64_t error;		/* of its clock; UINT64_MAX: not known */
	int32_t code, status;
	char words[512];
};

struct drive {
	pid_t pid;
	char name[ADDRESS_TEXT];
	struct drive_shared *shared;
};

int drive_start(struct drive *drive, const struct drive_how *how, struct err *err);
/* Until it is in another state than that, at most so long. */
/* One whose process was killed has failed. */
enum drive_state drive_wait(const struct drive *drive, enum drive_state state, int ms);
void drive_stop(struct drive *drive);
/* Ends it, however far it is. */
void drive_close(struct drive *drive);

#endif
