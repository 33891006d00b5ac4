/*
 * cmd/party: the sources that one command line is about, each with its part of it.
 *
 *	record -e shop --kernel -e sched -B irqs -e irq ./shop
 *	       |programs|       |kernel ....................|
 *
 * What concerns buffers belongs to the source that was named last before it, the tracing directory where none was; everything
 * else, and the command, to all. A line with one source alone names it wherever it likes.
 */
#ifndef CMD_PARTY_H
#define CMD_PARTY_H

#include "cmd/cmd.h"
#include "cmd/setup.h"

/* A tracing directory, and a tree of files. */
#define PARTIES_MAX 2

struct party {
	struct opts opts;	/* its part of the line */
	struct source *source;
	struct setup *setup;
};

struct parties {
	struct party party[PARTIES_MAX];	/* in the order in which the line names them */
	size_t n;
};

/* `parties` is zeroed before. Sources and setups are not opened. -EINVAL: the line is wrong. */
int parties_split(struct parties *parties, const struct opts *opts, struct err *err);
/* Closes what is there of each. */
void parties_fini(struct parties *parties);

/* NULL when the line is about no such source. */
struct party *parties_programs(struct parties *parties);
struct party *parties_files(struct parties *parties);

/* What a source is called in a file beside another one's: "programs", "kernel". */
const char *party_word(const struct party *party);

#endif
