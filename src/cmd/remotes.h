/*
 * cmd/remotes: the remotes that a `record` line names, switched on for the time of the recording and put back as they were.
 */
#ifndef CMD_REMOTES_H
#define CMD_REMOTES_H

#include "cmd/cmd.h"
#include "remote/remote.h"

struct remotes {
	struct control *control;	/* the directory that has them, if nobody else has it open */
	struct {
		char name[REMOTE_NAME_MAX + 1];
		const char *events;	/* as the line has them; NULL: all */
		struct remote *remote;
		bool held;		/* its buffer stays loaded */
	} *all;
	size_t n;
};

/* Begins as zeros. What they hold now is thrown away. `control`: the directory, if it is open. */
int remotes_open(struct remotes *remotes, const struct opts *opts, struct control *control, struct err *err);
/* Those whose memory can only be read are as they are. */
int remotes_on(struct remotes *remotes, struct err *err);
void remotes_off(struct remotes *remotes);
/* Instead: they stay on. */
void remotes_keep(struct remotes *remotes);
void remotes_close(struct remotes *remotes);

/* All that a directory has: off, empty, and of the usual size; the first that cannot be told so is an error, behind all others. */
int remotes_reset(struct control *control, struct err *err);
/* Those that are on, and those that something is wrong with, a line each. */
void remotes_put(struct control *control, struct buf *on, struct buf *wrong);

#endif
