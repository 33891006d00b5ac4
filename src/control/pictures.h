/*
 * control/pictures: the events of the registry, read once for all handles of a directory in this process.
 *
 * A picture is immutable and counted: handles keep the one that they look at, the newest is handed to the
 * next who asks for as long as nothing was brought since. Any thread.
 */
#ifndef CONTROL_PICTURES_H
#define CONTROL_PICTURES_H

#include "base/err.h"
#include "control/registry.h"
#include "plan/plan.h"
#include "ring/segment.h"

struct control_pictures;
struct control_picture;

struct control_pictures *control_pictures_open(void);
struct control_pictures *control_pictures_share(struct control_pictures *pictures);
void control_pictures_close(struct control_pictures *pictures);

/* Puts the newest in place of *mine. NULL with words when the registry cannot be read. */
const struct control_registry *control_pictures_take(struct control_pictures *pictures,
						     struct control_picture **mine,
						     const struct segment_dir *dir,
						     struct err *err);
void control_pictures_leave(struct control_picture **mine);

/* What is known of the file that was planned for last, for all of them; NULL: out of memory. */
struct plan_memory *control_pictures_plans(struct control_pictures *pictures);

#endif
