/*
 * decode/user: printers that users' shared objects bring; see <ringside/plugin.h>. Private to the
 * room.
 */
#ifndef DECODE_USER_H
#define DECODE_USER_H

#include "decode/handler.h"

struct user_handler;

/* The objects and their printers, of one set of plugins. */
struct user_plugins {
	struct user_handler *handlers;
	struct user_object *objects;
};

int user_load(struct user_plugins *users, const char *path, struct err *err);
void user_unload(struct user_plugins *users);

/* The newest one for this event; NULL: none. */
const struct user_handler *user_find(const struct user_plugins *users,
				     const struct decode_format *format);
enum handled user_print(const struct user_handler *user, const struct handling *h);

#endif
