/*
 * net/tls: TLS 1.3 between two that know each other's keys. The one file that knows OpenSSL is tls.c; tls_absent.c stands in for it.
 *
 * No authorities, no names, no dates: each side shows a certificate that it signed itself, and what counts is the fingerprint of the
 * key in it. Who has which fingerprint is trust.h. Sessions are not resumed and nothing is said early, so nothing can be said again.
 */
#ifndef NET_TLS_H
#define NET_TLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/buf.h"
#include "base/err.h"

/* "SHA256:" and 43 letters. */
#define FINGERPRINT_TEXT 51

struct tls;
struct tls_key;

/* False: this build has none. */
bool tls_is_there(void);

/* A new key as text, for a file that nobody else may read. */
int tls_key_make(struct buf *text, struct err *err);
int tls_key_load(struct tls_key **out, const char *text, size_t len, struct err *err);
void tls_key_free(struct tls_key *key);
void tls_key_fingerprint(const struct tls_key *key, char text[FINGERPRINT_TEXT]);

/*
 * From now on the key itself is elsewhere: whoever is connected to and shakes hands asks `sign` to sign the handshake, of which `said` is
 * the hash, `len` bytes; it returns the length of what it put into `signature`, or -1.
 */
typedef int tls_sign(void *ctx, const uint8_t *said, size_t len, uint8_t *signature, size_t size);
/* A key of which only this much is left, for one connection. `key` may be freed then: nothing of it stays in memory. */
int tls_key_hollow(struct tls_key **out, const struct tls_key *key, tls_sign *sign, void *ctx, struct err *err);
/* What `sign` has to do, by whoever has the key: nothing is signed but as the server of such a handshake. */
int tls_key_sign(const struct tls_key *key, const uint8_t *said, size_t len, uint8_t *signature, size_t size);

/* On a descriptor that does not block, and that stays the caller's; `calls`: it was we who connected. */
int tls_open(struct tls **out, int fd, const struct tls_key *key, bool calls, struct err *err);
void tls_close(struct tls *tls);
/* 1: done; -EAGAIN: when tls_events() are there; another -errno. */
int tls_shake(struct tls *tls, struct err *err);
/* Behind that: whose key the other one has. */
void tls_peer(const struct tls *tls, char text[FINGERPRINT_TEXT]);

/* As read() and write(): bytes, 0 at the end, -EAGAIN, -errno. */
ssize_t tls_read(struct tls *tls, void *bytes, size_t len);
ssize_t tls_write(struct tls *tls, const void *bytes, size_t len);
/* What poll() has to wait for when it was -EAGAIN. */
short tls_events(const struct tls *tls);
/* There will be no more: the other side sees an end that nobody cut. */
void tls_end(struct tls *tls);

#endif
