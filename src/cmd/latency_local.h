/*
 * cmd/latency_local: what the files of `latency` share. Private to them.
 *
 *   latency.c		the command, the lines that are hung up, the records of the worst
 *   latency_rows.c	what came of it in a tracing directory, whose tables are read as they are
 *   latency_files.c	in a tree of files, the kernel's above all
 *   latency_show.c	the picture
 */
#ifndef CMD_LATENCY_LOCAL_H
#define CMD_LATENCY_LOCAL_H

#include "cmd/latency_show.h"
#include "cmd/live.h"

#define LATENCY_PATH 320
#define LATENCY_HOLDS 4

struct latency {
	struct live live;
	const struct opts *opts;
	char system[2][64], event[2][64];
	char keys[2][256];
	char synth[80];
	char title[640];
	bool known;		/* both events */
	bool is_text;		/* the key */
	bool is_signed;
	char type[16];		/* of a key that is no text, as a synthetic event has it */
	bool hung;
	struct {
		char path[LATENCY_PATH];
		struct buf undo;
	} holds[LATENCY_HOLDS];	/* lines that keep an instance of files from being removed */
	int nholds;
	uint64_t floor;		/* what is shorter is not recorded */
	struct latency_sums sums;
};

/* What is the key that is shown, the first of END's? Of an event that is still to come, a text. */
int latency_rows_key(struct latency *l);
int latency_files_key(struct latency *l);

/* All times so far, and starts and ends. */
int latency_rows_look(struct latency *l);
int latency_files_look(struct latency *l);

/* Further lines for the synthetic event: of a kernel, in place of quantiles. `i` counts from 0 on; false behind the last. */
bool latency_files_line(uint32_t i, struct buf *line);

#endif
