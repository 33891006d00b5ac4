/*
 * control/remotes: the part of the tree that is about remotes, remotes/NAME/. Private to the room.
 */
#ifndef CONTROL_REMOTES_H
#define CONTROL_REMOTES_H

#include "control/table.h"

#define REMOTES "remotes"

/*
 * What `parts`, the path's parts from "remotes" on, name: 0 and a file, -EISDIR, -ENOENT. The request has then the remote's name in part[0],
 * and in part[1] that of an event.
 */
int control_remotes_find(struct node_request *request, const char *const parts[], int n, const struct node **found, struct err *err);

/* Names in such a directory. */
typedef void control_remotes_put(void *ctx, const char *name, bool is_dir);
int control_remotes_list(struct node_request *request, const char *const parts[], int n, control_remotes_put *put, void *ctx,
			 struct err *err);

#endif
