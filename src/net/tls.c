/*
 * net/tls: see tls.h. Alone here is OpenSSL.
 */
#define OPENSSL_SUPPRESS_DEPRECATED	/* of a key whose signatures others make there is no other way */

#include "net/tls.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>

#include <openssl/ec.h>
#include <openssl/ecdsa.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/sha.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>

#define READ_AHEAD ((size_t)36 << 10)
/* Certificates are of some 300 bytes; what is much longer is none of ours. */
#define CERTIFICATE_MAX 4096
#define PROTOCOL "\012ringside/1"
/* What a server's signature in a handshake of TLS 1.3 is of, before the hash of all that was said. */
#define PROVES "TLS 1.3, server CertificateVerify"
#define PROVES_BLANKS 64

struct tls_key {
	EVP_PKEY *pair;
	X509 *certificate;
	tls_sign *sign;		/* of a hollow one, */
	void *ctx;
	SHA256_CTX *said;	/* and what was said in its handshake so far */
};

struct tls {
	SSL_CTX *context;
	SSL *ssl;
	short events;
	bool failed;
};

bool tls_is_there(void)
{
	return true;
}

/* Its own words, the oldest first, which are those of the cause. */
static int refuse(struct err *err, int code, const char *what)
{
	unsigned long number = ERR_get_error();
	const char *reason = number ? ERR_reason_error_string(number) : NULL;

	ERR_clear_error();
	return err_set(err, code, "%s: %s", what, reason ? reason : strerror(-code));
}

/* ---- keys ---- */

int tls_key_make(struct buf *text, struct err *err)
{
	EVP_PKEY *pair = EVP_EC_gen("P-256");
	BIO *out = BIO_new(BIO_s_mem());
	char *bytes;
	long len;
	int r = 0;

	if (!pair || !out || !PEM_write_bio_PrivateKey(out, pair, NULL, NULL, 0, NULL, NULL))
		r = refuse(err, -EIO, "no key could be made");
	len = r ? 0 : BIO_get_mem_data(out, &bytes);
	if (!r)
		buf_add(text, bytes, (size_t)len);
	/* With its memory. */
	BIO_free(out);
	EVP_PKEY_free(pair);
	return r ? r : buf_failed(text) ? err_set(err, -ENOMEM, "out of memory") : 0;
}

/* A certificate says nothing but the key. */
static X509 *certify(EVP_PKEY *pair)
{
	X509 *certificate = X509_new();
	X509_NAME *name = certificate ? X509_get_subject_name(certificate) : NULL;
	bool ok = name && X509_set_version(certificate, 2) && ASN1_INTEGER_set(X509_get_serialNumber(certificate), 1) &&
		  X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC, (const unsigned char *)"ringside", -1, -1, 0) &&
		  X509_set_issuer_name(certificate, name) &&
		  ASN1_TIME_set_string(X509_getm_notBefore(certificate), "19700101000000Z") &&
		  ASN1_TIME_set_string(X509_getm_notAfter(certificate), "99991231235959Z") &&
		  X509_set_pubkey(certificate, pair) && X509_sign(certificate, pair, EVP_sha256());

	if (!ok) {
		X509_free(certificate);
		return NULL;
	}
	return certificate;
}

int tls_key_load(struct tls_key **out, const char *text, size_t len, struct err *err)
{
	BIO *in = BIO_new_mem_buf(text, len > INT_MAX ? INT_MAX : (int)len);
	struct tls_key *key = calloc(1, sizeof(*key));
	char group[32] = "";
	int r = 0;

	*out = NULL;
	if (key && in)
		key->pair = PEM_read_bio_PrivateKey(in, NULL, NULL, (void *)(uintptr_t)"");
	if (!key || !key->pair)
		r = refuse(err, -EBADMSG, "that is no key");
	else if (!EVP_PKEY_get_group_name(key->pair, group, sizeof(group), NULL) || strcmp(group, "prime256v1"))
		r = err_set(err, -EBADMSG, "that is a key of another kind than `ringside key` makes");
	if (!r && !(key->certificate = certify(key->pair)))
		r = refuse(err, -EIO, "the key cannot be used");
	BIO_free(in);
	if (r)
		tls_key_free(key);
	else
		*out = key;
	return r;
}

void tls_key_free(struct tls_key *key)
{
	if (!key)
		return;
	EVP_PKEY_free(key->pair);
	X509_free(key->certificate);
	free(key->said);
	free(key);
}

/* Of the key with its kind, as certificates have it: SHA-256, in base 64 as people know it from ssh. */
static void print_fingerprint(const X509 *certificate, char text[FINGERPRINT_TEXT])
{
	static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	uint8_t digest[SHA256_DIGEST_LENGTH + 1] = { 0 };
	unsigned char *der = NULL;
	int len = i2d_X509_PUBKEY(X509_get_X509_PUBKEY(certificate), &der);
	char *at = text + strlen("SHA256:");

	strcpy(text, "SHA256:");
	if (len > 0)
		SHA256(der, (size_t)len, digest);
	OPENSSL_free(der);
	for (size_t bit = 0; bit < SHA256_DIGEST_LENGTH * 8; bit += 6) {
		unsigned int two = (unsigned int)digest[bit / 8] << 8 | digest[bit / 8 + 1];

		*at++ = letters[two >> (10 - bit % 8) & 63];
	}
	*at = '\0';
}

void tls_key_fingerprint(const struct tls_key *key, char text[FINGERPRINT_TEXT])
{
	print_fingerprint(key->certificate, text);
}

/*
 * ---- a key that is elsewhere ----
 *
 * OpenSSL asks for a signature of a digest, which could be of anything. So it is passed by, and whoever has the key is asked to sign what
 * was said in this handshake, as a server does: that is of no use anywhere else, least of all for being somebody's client.
 */

static int key_index(void)
{
	static int index = -1;

	if (index < 0)
		index = EC_KEY_get_ex_new_index(0, NULL, NULL, NULL, NULL);
	return index;
}

static ECDSA_SIG *sign_elsewhere(const unsigned char *digest, int len, const BIGNUM *inverse, const BIGNUM *r, EC_KEY *half)
{
	const struct tls_key *key = EC_KEY_get_ex_data(half, key_index());
	uint8_t der[256], said[SHA256_DIGEST_LENGTH];
	SHA256_CTX until_now = *key->said;
	const unsigned char *at = der;
	int size;

	SHA256_Final(said, &until_now);
	size = key->sign(key->ctx, said, sizeof(said), der, sizeof(der));
	(void)digest;
	(void)len;
	(void)inverse;
	(void)r;
	return size > 0 ? d2i_ECDSA_SIG(NULL, &at, size) : NULL;
}

static int sign_whole(int type, const unsigned char *digest, int len, unsigned char *out, unsigned int *out_len,
		      const BIGNUM *inverse, const BIGNUM *r, EC_KEY *half)
{
	ECDSA_SIG *signature = sign_elsewhere(digest, len, inverse, r, half);
	int size = signature ? i2d_ECDSA_SIG(signature, &out) : 0;

	(void)type;
	ECDSA_SIG_free(signature);
	*out_len = size > 0 ? (unsigned int)size : 0;
	return size > 0;
}

static const EC_KEY_METHOD *method_elsewhere(void)
{
	static EC_KEY_METHOD *method;

	if (!method && (method = EC_KEY_METHOD_new(EC_KEY_OpenSSL())))
		EC_KEY_METHOD_set_sign(method, sign_whole, NULL, sign_elsewhere);
	return method;
}

int tls_key_hollow(struct tls_key **out, const struct tls_key *key, tls_sign *sign, void *ctx, struct err *err)
{
	struct tls_key *hollow = calloc(1, sizeof(*hollow));
	const EC_KEY *whole = EVP_PKEY_get0_EC_KEY(key->pair);
	EC_KEY *half = EC_KEY_new_by_curve_name(NID_X9_62_prime256v1);
	bool ok = hollow && (hollow->said = calloc(1, sizeof(*hollow->said))) && whole && half && method_elsewhere() &&
		  EC_KEY_set_method(half, method_elsewhere()) &&
		  EC_KEY_set_public_key(half, EC_KEY_get0_public_key(whole)) && EC_KEY_set_ex_data(half, key_index(), hollow);

	*out = NULL;
	if (ok) {
		hollow->sign = sign;
		hollow->ctx = ctx;
		hollow->certificate = X509_dup(key->certificate);
		hollow->pair = EVP_PKEY_new();
		ok = hollow->certificate && hollow->pair && EVP_PKEY_set1_EC_KEY(hollow->pair, half);
	}
	EC_KEY_free(half);
	if (!ok) {
		tls_key_free(hollow);
		return refuse(err, -EIO, "the key cannot be used");
	}
	*out = hollow;
	return 0;
}

int tls_key_sign(const struct tls_key *key, const uint8_t *said, size_t len, uint8_t *signature, size_t size)
{
	uint8_t text[PROVES_BLANKS + sizeof(PROVES) + SHA256_DIGEST_LENGTH], digest[SHA256_DIGEST_LENGTH];
	EVP_PKEY_CTX *ctx = len == SHA256_DIGEST_LENGTH ? EVP_PKEY_CTX_new(key->pair, NULL) : NULL;
	bool ok = ctx && EVP_PKEY_sign_init(ctx) > 0;

	if (ok) {
		memset(text, ' ', PROVES_BLANKS);
		memcpy(text + PROVES_BLANKS, PROVES, sizeof(PROVES));
		memcpy(text + PROVES_BLANKS + sizeof(PROVES), said, len);
		SHA256(text, sizeof(text), digest);
		ok = EVP_PKEY_sign(ctx, signature, &size, digest, sizeof(digest)) > 0;
	}
	EVP_PKEY_CTX_free(ctx);
	ERR_clear_error();
	return ok ? (int)size : -1;
}

/* ---- connections ---- */

/* Whose key it is is asked when it is known that he has it. */
static int accept_any(X509_STORE_CTX *store, void *ctx)
{
	(void)store;
	(void)ctx;
	return 1;
}

static int choose_protocol(SSL *ssl, const unsigned char **out, unsigned char *len, const unsigned char *in,
			   unsigned int in_len, void *ctx)
{
	(void)ssl;
	(void)ctx;
	return SSL_select_next_proto((unsigned char **)(uintptr_t)out, len, (const unsigned char *)PROTOCOL, strlen(PROTOCOL), in,
				     in_len) == OPENSSL_NPN_NEGOTIATED ? SSL_TLSEXT_ERR_OK : SSL_TLSEXT_ERR_ALERT_FATAL;
}

static void hear_said(int write, int version, int kind, const void *bytes, size_t len, SSL *ssl, void *ctx)
{
	(void)write;
	(void)version;
	(void)ssl;
	if (kind == SSL3_RT_HANDSHAKE)
		SHA256_Update(ctx, bytes, len);
}

/* Each key is for one connection; whoever has to be asked for a second ClientHello is none of ours. */
static void listen_in(struct tls *tls, const struct tls_key *key)
{
	SHA256_Init(key->said);
	SSL_set_msg_callback(tls->ssl, hear_said);
	SSL_set_msg_callback_arg(tls->ssl, key->said);
}

static bool set_up(struct tls *tls, const struct tls_key *key)
{
	SSL_CTX *context = tls->context;

	SSL_CTX_set_verify(context, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, NULL);
	SSL_CTX_set_cert_verify_callback(context, accept_any, NULL);
	SSL_CTX_set_options(context, SSL_OP_NO_TICKET | SSL_OP_NO_RENEGOTIATION | SSL_OP_PRIORITIZE_CHACHA |
			    SSL_OP_CIPHER_SERVER_PREFERENCE);
	SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
	SSL_CTX_set_mode(context, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
	/* Two records with one call of the system, and not two calls for each. More would only be moved about. */
	SSL_CTX_set_read_ahead(context, 1);
	SSL_CTX_set_default_read_buffer_len(context, READ_AHEAD);
	SSL_CTX_set_max_cert_list(context, CERTIFICATE_MAX);
	SSL_CTX_set_alpn_select_cb(context, choose_protocol, NULL);
	return SSL_CTX_set_min_proto_version(context, TLS1_3_VERSION) && SSL_CTX_set_num_tickets(context, 0) &&
	       SSL_CTX_set_ciphersuites(context, "TLS_AES_128_GCM_SHA256:TLS_CHACHA20_POLY1305_SHA256") &&
	       !SSL_CTX_set_alpn_protos(context, (const unsigned char *)PROTOCOL, strlen(PROTOCOL)) &&
	       SSL_CTX_use_certificate(context, key->certificate) && SSL_CTX_use_PrivateKey(context, key->pair);
}

int tls_open(struct tls **out, int fd, const struct tls_key *key, bool calls, struct err *err)
{
	struct tls *tls = calloc(1, sizeof(*tls));
	bool ok;

	*out = NULL;
	if (!tls)
		return err_set(err, -ENOMEM, "out of memory");
	tls->context = SSL_CTX_new(TLS_method());
	ok = tls->context && set_up(tls, key) && (tls->ssl = SSL_new(tls->context)) && SSL_set_fd(tls->ssl, fd);
	if (!ok) {
		tls_close(tls);
		return refuse(err, -EIO, "TLS cannot be begun");
	}
	if (key->said)
		listen_in(tls, key);
	if (calls)
		SSL_set_connect_state(tls->ssl);
	else
		SSL_set_accept_state(tls->ssl);
	*out = tls;
	return 0;
}

void tls_close(struct tls *tls)
{
	if (!tls)
		return;
	SSL_free(tls->ssl);
	SSL_CTX_free(tls->context);
	free(tls);
}

/* What a call that returned `r` has come to: 0 at the end, or -errno. */
static int outcome(struct tls *tls, int r)
{
	int code = errno;

	switch (SSL_get_error(tls->ssl, r)) {
	case SSL_ERROR_WANT_READ:
		tls->events = POLLIN;
		return -EAGAIN;
	case SSL_ERROR_WANT_WRITE:
		tls->events = POLLOUT;
		return -EAGAIN;
	case SSL_ERROR_ZERO_RETURN:
		return 0;
	case SSL_ERROR_SYSCALL:
		tls->failed = true;
		return code ? -code : -ECONNRESET;
	default:
		tls->failed = true;
		/* An end that nobody announced is a cut. */
		return ERR_GET_REASON(ERR_peek_error()) == SSL_R_UNEXPECTED_EOF_WHILE_READING ? -ECONNRESET : -EPROTO;
	}
}

int tls_shake(struct tls *tls, struct err *err)
{
	int r;

	ERR_clear_error();
	errno = 0;
	r = SSL_do_handshake(tls->ssl);
	if (r == 1)
		return 1;
	r = outcome(tls, r);
	if (r == -EAGAIN)
		return r;
	return r == -EPROTO ? refuse(err, r, "no TLS connection") :
	       err_set(err, r ? r : -ECONNRESET, "no TLS connection: %s", strerror(r ? -r : ECONNRESET));
}

void tls_peer(const struct tls *tls, char text[FINGERPRINT_TEXT])
{
	X509 *certificate = SSL_get0_peer_certificate(tls->ssl);

	*text = '\0';
	if (certificate)
		print_fingerprint(certificate, text);
}

ssize_t tls_read(struct tls *tls, void *bytes, size_t len)
{
	int r;

	ERR_clear_error();
	errno = 0;
	r = SSL_read(tls->ssl, bytes, len > INT_MAX ? INT_MAX : (int)len);
	return r > 0 ? r : outcome(tls, r);
}

ssize_t tls_write(struct tls *tls, const void *bytes, size_t len)
{
	int r;

	ERR_clear_error();
	errno = 0;
	r = SSL_write(tls->ssl, bytes, len > INT_MAX ? INT_MAX : (int)len);
	if (r > 0)
		return r;
	r = outcome(tls, r);
	return r ? r : -EPIPE;
}

short tls_events(const struct tls *tls)
{
	return tls->events;
}

void tls_end(struct tls *tls)
{
	/* Of a connection that has failed nothing can be said any more. */
	if (!tls->failed && SSL_is_init_finished(tls->ssl))
		SSL_shutdown(tls->ssl);
	ERR_clear_error();
}
