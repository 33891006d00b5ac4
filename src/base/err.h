/*
 * base/err: one line of text for people, made where something was refused.
 *
 * Functions return 0, a count, or -errno; those that talk to people also take a `struct err *`, which may be NULL.
 * The first cause is the one kept; callers on the way up may put their own words before it.
 */
#ifndef BASE_ERR_H
#define BASE_ERR_H

#include <stddef.h>

struct err {
	int code;	/* -errno of the first cause, 0 when nothing was refused */
	int pos;	/* byte offset in the input at which it was refused, -1 when there is none */
	char text[512];
};

#define ERR_INIT { 0, -1, "" }

/* Records the cause unless one is recorded already; returns `code` so that callers can return it. */
int err_set(struct err *err, int code, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

/* As err_set, with the position in the input. */
int err_set_at(struct err *err, int code, int pos, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));

/* Puts words before the cause: "reading events/shop: " + cause. */
void err_prefix(struct err *err, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

#endif
