/*
 * net/tls_absent: in place of tls.c where OpenSSL is not to be had, or a board has no room for it.
 */
#include <errno.h>
#include <string.h>

#include "net/tls.h"

bool tls_is_there(void)
{
	return false;
}

static int absent(struct err *err)
{
	return err_set(err, -ENOSYS, "this ringside was built without TLS: ssh://, a Unix socket, vsock and the loopback need none");
}

int tls_key_make(struct buf *text, struct err *err)
{
	(void)text;
	return absent(err);
}

int tls_key_load(struct tls_key **out, const char *text, size_t len, struct err *err)
{
	(void)text;
	(void)len;
	*out = NULL;
	return absent(err);
}

void tls_key_free(struct tls_key *key)
{
	(void)key;
}

void tls_key_fingerprint(const struct tls_key *key, char text[FINGERPRINT_TEXT])
{
	(void)key;
	*text = '\0';
}

int tls_key_hollow(struct tls_key **out, const struct tls_key *key, tls_sign *sign, void *ctx, struct err *err)
{
	(void)key;
	(void)sign;
	(void)ctx;
	*out = NULL;
	return absent(err);
}

int tls_key_sign(const struct tls_key *key, const uint8_t *said, size_t len, uint8_t *signature, size_t size)
{
	(void)key;
	(void)said;
	(void)len;
	(void)signature;
	(void)size;
	return -1;
}

int tls_open(struct tls **out, int fd, const struct tls_key *key, bool calls, struct err *err)
{
	(void)fd;
	(void)key;
	(void)calls;
	*out = NULL;
	return absent(err);
}

void tls_close(struct tls *tls)
{
	(void)tls;
}

int tls_shake(struct tls *tls, struct err *err)
{
	(void)tls;
	return absent(err);
}

void tls_peer(const struct tls *tls, char text[FINGERPRINT_TEXT])
{
	(void)tls;
	*text = '\0';
}

ssize_t tls_read(struct tls *tls, void *bytes, size_t len)
{
	(void)tls;
	(void)bytes;
	(void)len;
	return -ENOSYS;
}

ssize_t tls_write(struct tls *tls, const void *bytes, size_t len)
{
	(void)tls;
	(void)bytes;
	(void)len;
	return -ENOSYS;
}

short tls_events(const struct tls *tls)
{
	(void)tls;
	return 0;
}

void tls_end(struct tls *tls)
{
	(void)tls;
}
