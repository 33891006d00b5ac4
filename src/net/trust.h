/*
 * net/trust: our own key, and whom we know by which. As in ssh, both are files of a directory: `key`, which nobody else may read, and
 * `trust`, a line for each:
 *
 *	NAME FINGERPRINT VERBS		verbs: read, record, control, with commas between
 *
 * The directory is $RINGSIDE_KEYS, else /etc/ringside for root, else ~/.config/ringside.
 */
#ifndef NET_TRUST_H
#define NET_TRUST_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/err.h"
#include "layout/wire.h"
#include "net/tls.h"

/* What one may do here. */
enum { TRUST_READ = 1, TRUST_RECORD = 2, TRUST_CONTROL = 4 };

struct trust {
	char name[WIRE_NAME_MAX + 1];
	char fingerprint[FINGERPRINT_TEXT];
	unsigned int may;
};

/* -ENOENT with words when nobody knows where. */
int trust_dir(char *path, size_t size, struct err *err);

/* Our own, from `dir`. -ENOENT: there is none; `make`: it is made then. */
int trust_own(struct tls_key **out, const char *dir, bool make, struct err *err);

/*
 * 1 and who has that fingerprint, 0, or -errno: a file with a line that makes no sense admits nobody. Of several the first that may
 * do that, if one may.
 */
int trust_find(struct trust *out, const char *dir, const char *fingerprint, unsigned int may, struct err *err);
/* The same by name. */
int trust_named(struct trust *out, const char *dir, const char *name, struct err *err);
/* All of them, in the order of the file; the array is the caller's to free. A count or -errno. */
int trust_all(struct trust **out, const char *dir, struct err *err);

/* Adds one, or replaces whoever had that name. */
int trust_put(const char *dir, const struct trust *one, struct err *err);
/* 1, or 0 when there was none of that name. */
int trust_drop(const char *dir, const char *name, struct err *err);

/* Letters, digits and . _ : - that could be a host or a file. */
bool trust_is_name(const char *name);
bool trust_is_fingerprint(const char *text);
/* "read,record"; 0: it is none. */
unsigned int trust_verbs(const char *text);
void trust_print_verbs(unsigned int may, char text[24]);

/* A number for this machine's CLOCK_MONOTONIC: another one after a restart, and in a time of its own. */
uint64_t trust_machine(void);
/* What this machine calls itself, as a name. */
void trust_host(char name[WIRE_NAME_MAX + 1]);

#endif
