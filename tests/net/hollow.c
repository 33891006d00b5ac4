/*
 * A hollow key: what shakes hands has nothing of the key in its memory, gets through with what somebody else signs, and cannot have
 * signed what would make it a client, nor a digest of its choice.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "insist.h"
#include "net/tls.h"

static struct buf text = BUF_INIT;
static uint8_t secret[32], backwards[32];

/* ---- in memory ---- */

static size_t from_base64(const char *from, uint8_t *to, size_t size)
{
	static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	unsigned int bits = 0, word = 0;
	size_t n = 0;

	for (; *from && *from != '-'; from++) {
		const char *letter = strchr(letters, *from);

		if (!letter)
			continue;
		word = word << 6 | (unsigned int)(letter - letters);
		bits += 6;
		if (bits >= 8 && n < size)
			to[n++] = (uint8_t)(word >> (bits -= 8));
	}
	return n;
}

/* Its number, each byte turned over, so that it is not found here. */
static void find_secret(void)
{
	uint8_t der[256];
	size_t n = from_base64(strchr(text.data, '\n'), der, sizeof(der)), at = 0;

	while (at + 34 < n && (der[at] != 4 || der[at + 1] != 32))
		at++;
	CHECK(at + 34 < n, "that is no key");
	for (size_t i = 0; i < 32; i++)
		backwards[31 - i] = secret[i] = (uint8_t)~der[at + 2 + i];
	explicit_bzero(der, sizeof(der));
}

static bool is_at(const uint8_t *at, const uint8_t turned[32])
{
	for (int i = 0; i < 32; i++) {
		uint8_t byte = (uint8_t)(turned[i] ^ 0xff);

		if (at[i] != byte)
			return false;
	}
	return true;
}

static size_t count_in(const uint8_t *from, const uint8_t *to)
{
	size_t n = 0;

	for (; from + 32 <= to; from++)
		n += is_at(from, secret) || is_at(from, backwards);
	return n;
}

static size_t count_secret(void)
{
	FILE *maps = fopen("/proc/self/maps", "r");
	char line[512], rights[8];
	unsigned long from, to;
	size_t n = 0;

	CHECK(maps, "no map of memory");
	while (fgets(line, sizeof(line), maps))
		if (sscanf(line, "%lx-%lx %7s", &from, &to, rights) == 3 && !strncmp(rights, "rw", 2) && (strstr(line, "[heap]") || strstr(line, "[stack]")))
			n += count_in((const uint8_t *)from, (const uint8_t *)to);
	fclose(maps);
	return n;
}

static struct tls_key *load(void)
{
	struct err err = ERR_INIT;
	struct tls_key *key;

	CHECK(!tls_key_load(&key, text.data, text.len, &err), "%s", err.text);
	return key;
}

static int refuse(void *ctx, const uint8_t *said, size_t len, uint8_t *signature, size_t size)
{
	(void)ctx;
	(void)said;
	(void)len;
	(void)signature;
	(void)size;
	return -1;
}

static void is_out_of_memory(void)
{
	struct tls_key *key = load(), *hollow;
	int status;
	pid_t pid;

	explicit_bzero(text.data, text.len);
	CHECK(SANITIZED || count_secret(), "a key that is there is not found");
	pid = fork();
	if (!pid) {
		CHECK(!tls_key_hollow(&hollow, key, refuse, NULL, NULL), "no hollow key");
		tls_key_free(key);
		_exit(count_secret() != 0);
	}
	CHECK(pid > 0 && waitpid(pid, &status, 0) == pid && !status, "the key is still in memory");
	tls_key_free(key);
}

/* ---- shaking hands ---- */

static int sign(void *ctx, const uint8_t *said, size_t len, uint8_t *signature, size_t size)
{
	return tls_key_sign(ctx, said, len, signature, size);
}

static void wait_for(int fd, const struct tls *tls)
{
	struct pollfd one = { .fd = fd, .events = tls_events(tls) };

	poll(&one, 1, 5000);
}

/* Whose key the client sees, or "". */
static void shake_hands(const struct tls_key *server, const struct tls_key *client, char seen[FINGERPRINT_TEXT], bool *served)
{
	struct tls *ends[2];
	struct err err = ERR_INIT;
	int pair[2], r[2] = { -EAGAIN, -EAGAIN };
	char byte;

	CHECK(!socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, pair), "no sockets");
	CHECK(!tls_open(&ends[0], pair[0], server, false, &err) && !tls_open(&ends[1], pair[1], client, true, &err), "%s", err.text);
	*seen = '\0';
	for (int i = 0; i < 20 && (r[0] == -EAGAIN || r[1] == -EAGAIN); i++)
		for (int end = 0; end < 2; end++)
			if (r[end] == -EAGAIN)
				r[end] = tls_shake(ends[end], &err);
	if (r[1] == 1)
		tls_peer(ends[1], seen);
	*served = r[0] == 1;
	if (*served) {
		CHECK(tls_write(ends[1], "x", 1) == 1, "nothing can be said");
		wait_for(pair[0], ends[0]);
		CHECK(tls_read(ends[0], &byte, 1) == 1, "nothing can be heard");
	}
	for (int end = 0; end < 2; end++) {
		tls_end(ends[end]);
		tls_close(ends[end]);
		close(pair[end]);
	}
}

int main(void)
{
	struct tls_key *key, *other, *hollow;
	char own[FINGERPRINT_TEXT], seen[FINGERPRINT_TEXT];
	uint8_t signature[128], digest[64] = { 1 };
	struct err err = ERR_INIT;
	struct buf kept = BUF_INIT;
	bool served;

	if (!tls_is_there()) {
		puts("this build has no TLS");
		return 77;
	}
	signal(SIGPIPE, SIG_IGN);
	CHECK(!tls_key_make(&text, &err), "%s", err.text);
	buf_add(&kept, text.data, text.len);
	find_secret();
	key = load();
	tls_key_fingerprint(key, own);
	CHECK(!tls_key_hollow(&hollow, key, sign, key, &err), "%s", err.text);
	buf_reset(&text);
	CHECK(!tls_key_make(&text, &err) && (other = load()), "%s", err.text);
	shake_hands(hollow, other, seen, &served);
	CHECK(served && !strcmp(seen, own), "a hollow key is not taken for what it is");
	shake_hands(other, hollow, seen, &served);
	CHECK(!served, "what a server has signed makes a client");
	CHECK(tls_key_sign(key, digest, 31, signature, sizeof(signature)) < 0 && tls_key_sign(key, digest, 64, signature, sizeof(signature)) < 0,
	      "what is no hash of a handshake is signed");
	tls_key_free(hollow);
	tls_key_free(other);
	tls_key_free(key);
	buf_reset(&text);
	buf_add(&text, kept.data, kept.len);
	explicit_bzero(kept.data, kept.len);
	is_out_of_memory();
	buf_fini(&kept);
	buf_fini(&text);
	return 0;
}
