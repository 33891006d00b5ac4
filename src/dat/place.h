/*
 * dat/place: a file that is filled before it has its name. It begins without one, or where that cannot be under one of
 * its own, and takes the place of what was there in one step. Private to this room.
 */
#ifndef DAT_PLACE_H
#define DAT_PLACE_H

#include "base/err.h"

struct place {
	char *path;		/* the name in the end */
	char *temp;		/* the name until then; NULL when there is none to be removed */
};

/* The file, open for reading and writing. -EINVAL: what is there is no file that could be replaced. */
int place_open(struct place *place, const char *path, struct err *err);
/* Makes sure that there is a name to be given away: the last step that needs the open file. 0 or -errno. */
int place_prepare(struct place *place, int fd);
/* Gives it its name: 0 or -errno. */
int place_take(struct place *place);
/* Removes what did not come to it. */
void place_fini(struct place *place);

#endif
