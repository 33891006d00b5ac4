/*
 * cmd/boards: `record -A BOARD`: boards that record for us while we do, each into its own file, all on one timeline.
 *
 *	record -e shop -A one -e sched -A ssh://two --kernel -e irq ./shop
 *	       |ours.|       |one's .|            |two's .........|
 */
#ifndef CMD_BOARDS_H
#define CMD_BOARDS_H

#include "cmd/cmd.h"
#include "collect/drive.h"

#define BOARDS_OPT { 'A', "agent", "HOST[:PORT]", "also there, by `ringside agent`, with the options behind it; into PATH-HOST" }
#define BOARDS_MAX 64

struct board {
	struct drive drive;
	struct drive_how how;
	char name[WIRE_NAME_MAX + 1];
	char guest[WIRE_NAME_MAX + 1];
	char path[4096];
	char **argv;
	bool told;	/* that it failed */
};

struct boards {
	struct board *all;
	size_t n;
	struct opts local;	/* our own part of the line */
	bool has_local;		/* it says what is to be recorded */
	bool quiet;
	uint64_t machine;	/* by which files name our clock */
	char keys[4096];
};

/* What the line says; nothing is touched. An exit status. */
int boards_ask(struct boards *boards, const struct cmd *cmd, const struct opts *opts);
/* All of them record, or none does. */
int boards_start(struct boards *boards, struct err *err);
/* Of one that fails it is told at once. False: none records any more. */
bool boards_go_on(struct boards *boards);
/* They stop, and what is on its way arrives; what there is to tell of each. An exit status. */
int boards_finish(struct boards *boards);
/* Only boards record, while the command runs or until somebody says so. An exit status. */
int boards_record(struct boards *boards);
void boards_close(struct boards *boards);

#endif
