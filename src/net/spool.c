/*
 * net/spool: see spool.h.
 */
#include "net/spool.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <unistd.h>

static size_t round_up(size_t size)
{
	size_t to = SPOOL_MIN;

	while (to < size && to < SPOOL_MAX)
		to *= 2;
	return to;
}

/* The same bytes once more behind their end: no frame has to be cut in two. */
static void *map_twice(int fd, size_t size)
{
	uint8_t *at = mmap(NULL, 2 * size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (at == MAP_FAILED)
		return NULL;
	for (int i = 0; i < 2; i++) {
		if (mmap(at + (size_t)i * size, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd, 0) == MAP_FAILED) {
			munmap(at, 2 * size);
			return NULL;
		}
	}
	return at;
}

int spool_init(struct spool *spool, size_t size, struct err *err)
{
	*spool = (struct spool){ .size = round_up(size), .more = -1, .room = -1 };
	spool->fd = memfd_create("ringside-spool", MFD_CLOEXEC);
	if (spool->fd >= 0 && !ftruncate(spool->fd, (off_t)spool->size))
		spool->bytes = map_twice(spool->fd, spool->size);
	if (spool->bytes) {
		void *shared = mmap(NULL, sizeof(struct spool_shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

		spool->shared = shared == MAP_FAILED ? NULL : shared;
		spool->more = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
		spool->room = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	}
	if (!spool->shared || spool->more < 0 || spool->room < 0) {
		int code = errno ? -errno : -ENOMEM;

		spool_fini(spool);
		return err_set(err, code, "no memory of %zu KiB for what is on its way: %s", round_up(size) / 1024, strerror(-code));
	}
	return 0;
}

void spool_fini(struct spool *spool)
{
	if (spool->shared)
		munmap(spool->shared, sizeof(*spool->shared));
	if (spool->bytes)
		munmap(spool->bytes, 2 * spool->size);
	if (spool->fd >= 0)
		close(spool->fd);
	if (spool->more >= 0)
		close(spool->more);
	if (spool->room >= 0)
		close(spool->room);
	*spool = (struct spool){ .fd = -1, .more = -1, .room = -1 };
}

static void ring(int fd)
{
	uint64_t one = 1;

	/* It is full of rings already, else. */
	if (write(fd, &one, sizeof(one)) < 0)
		errno = 0;
}

/* ---- the recorder's ---- */

/* Only forwards, and not past what was put. */
static uint64_t look_at_taken(struct spool *spool)
{
	uint64_t taken = __atomic_load_n(&spool->shared->taken, __ATOMIC_ACQUIRE);	/* pairs with spool_take() */

	if (taken > spool->taken && taken <= spool->put)
		spool->taken = taken;
	return spool->taken;
}

size_t spool_room(struct spool *spool)
{
	return spool->size - (size_t)(spool->put - look_at_taken(spool));
}

uint64_t spool_left(struct spool *spool)
{
	return spool->put - look_at_taken(spool);
}

void *spool_begin(struct spool *spool, enum wire_kind kind, const void *head, size_t head_len, size_t len)
{
	uint8_t *at = spool->bytes + (spool->put & (spool->size - 1));
	const struct wire_head frame = { .len = wire32((uint32_t)len), .kind = wire16((uint16_t)kind) };

	if (len > WIRE_BODY_MAX || sizeof(frame) + len > spool_room(spool))
		return NULL;
	memcpy(at, &frame, sizeof(frame));
	if (head_len)
		memcpy(at + sizeof(frame), head, head_len);
	spool->reserved = sizeof(frame) + len;
	return at + sizeof(frame) + head_len;
}

int spool_copy(struct spool *spool, size_t at, const struct iovec *parts, int n)
{
	uint64_t to = spool->put + sizeof(struct wire_head) + at;

	/* A call of the system finds out what cannot be read; a look would be a signal. */
	for (int i = 0; i < n; i++) {
		const uint8_t *from = parts[i].iov_base;
		size_t len = parts[i].iov_len;

		while (len) {
			size_t place = (size_t)to & (spool->size - 1), some = spool->size - place;
			ssize_t done = pwrite(spool->fd, from, len < some ? len : some, (off_t)place);

			if (done < 0 && errno == EINTR)
				continue;
			if (done <= 0)
				return done < 0 ? -errno : -EIO;
			from += done;
			len -= (size_t)done;
			to += (uint64_t)done;
		}
	}
	return 0;
}

const uint8_t *spool_begun(const struct spool *spool)
{
	return spool->bytes + (spool->put & (spool->size - 1)) + sizeof(struct wire_head);
}

void spool_ring(struct spool *spool)
{
	ring(spool->more);
}

void spool_end(struct spool *spool)
{
	spool->put += spool->reserved;
	spool->reserved = 0;
	__atomic_store_n(&spool->shared->put, spool->put, __ATOMIC_SEQ_CST);	/* pairs with spool_ready() */
	if (__atomic_load_n(&spool->shared->sleeps, __ATOMIC_SEQ_CST))
		ring(spool->more);
}

enum spool_state spool_state(const struct spool *spool)
{
	uint32_t state = __atomic_load_n(&spool->shared->state, __ATOMIC_ACQUIRE);	/* pairs with spool_say() */

	return state <= SPOOL_FAILED ? (enum spool_state)state : SPOOL_FAILED;
}

static bool is_reached(struct spool *spool, size_t room, enum spool_state state)
{
	return spool_room(spool) >= room || spool_state(spool) != state;
}

bool spool_wait(struct spool *spool, size_t room, enum spool_state state, int ms)
{
	struct pollfd fd = { .fd = spool->room, .events = POLLIN };
	uint64_t count;

	__atomic_store_n(&spool->shared->waits, 1, __ATOMIC_SEQ_CST);
	/* What came before was for another question. */
	if (read(spool->room, &count, sizeof(count)) < 0)
		errno = 0;
	if (!is_reached(spool, room, state))
		poll(&fd, 1, ms);
	__atomic_store_n(&spool->shared->waits, 0, __ATOMIC_RELAXED);
	return is_reached(spool, room, state);
}

void spool_words(const struct spool *spool, struct err *err)
{
	char words[SPOOL_WORDS];
	int code = spool->shared->code;

	memcpy(words, spool->shared->words, sizeof(words));
	words[sizeof(words) - 1] = '\0';
	for (char *c = words; *c; c++)
		if ((unsigned char)*c < ' ' || *c == 127)
			*c = '?';
	err_set(err, code < 0 && code > -4096 ? code : -EIO, "%s", words);
}

/* ---- the courier's ---- */

size_t spool_ready(const struct spool *spool, uint64_t from, const uint8_t **bytes)
{
	uint64_t put = __atomic_load_n(&spool->shared->put, __ATOMIC_SEQ_CST);	/* pairs with spool_end() */

	*bytes = spool->bytes + (from & (spool->size - 1));
	return (size_t)(put - from);
}

bool spool_take(struct spool *spool, uint64_t at, uint64_t sent)
{
	if (at < spool->shared->taken || at > sent)
		return false;
	__atomic_store_n(&spool->shared->taken, at, __ATOMIC_SEQ_CST);	/* pairs with look_at_taken() */
	if (__atomic_load_n(&spool->shared->waits, __ATOMIC_SEQ_CST))
		ring(spool->room);
	return true;
}

void spool_say(struct spool *spool, enum spool_state state, int code, const char *words)
{
	struct spool_shared *shared = spool->shared;

	shared->code = code;
	strncpy(shared->words, words, sizeof(shared->words) - 1);
	__atomic_store_n(&shared->state, state, __ATOMIC_RELEASE);	/* pairs with spool_state() */
	ring(spool->room);
}
