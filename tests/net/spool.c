/*
 * The memory that a recorder shares with whoever talks to the network: frames come out whole and in order however often it goes around;
 * and when the other side writes what it likes into what is shared, the recorder has no more room than there is, no position goes
 * back, no words go on for ever.
 */
#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "insist.h"
#include "net/spool.h"

static struct spool spool;
static uint64_t random_state = 88172645463325252u;

static uint64_t next(void)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	return random_state ^= random_state << 17;
}

static void fill(uint8_t *at, size_t len, uint64_t number)
{
	for (size_t i = 0; i < len; i++)
		at[i] = (uint8_t)(number * 31 + i);
}

static bool is_filled(const uint8_t *at, size_t len, uint64_t number)
{
	for (size_t i = 0; i < len; i++)
		if (at[i] != (uint8_t)(number * 31 + i))
			return false;
	return true;
}

static void open_spool(size_t size)
{
	struct err err = ERR_INIT;

	CHECK(!spool_init(&spool, size, &err), "%s", err.text);
}

/* ---- around and around ---- */

static bool put(uint64_t number, size_t len)
{
	uint8_t *at = spool_begin(&spool, WIRE_PAGES, &number, sizeof(number), sizeof(number) + len);

	if (!at)
		return false;
	fill(at, len, number);
	spool_end(&spool);
	return true;
}

/* The frame at that position: its length, with its head. */
static size_t check_frame(uint64_t at, uint64_t number)
{
	const uint8_t *bytes;
	size_t ready = spool_ready(&spool, at, &bytes);
	struct wire_head head;
	uint64_t is;

	CHECK(ready >= sizeof(head) + sizeof(is), "no frame");
	memcpy(&head, bytes, sizeof(head));
	memcpy(&is, bytes + sizeof(head), sizeof(is));
	CHECK(wire16(head.kind) == WIRE_PAGES && !head.zero && wire32(head.len) <= ready - sizeof(head), "a frame that is cut in two");
	CHECK(is == number, "frame %llu, not %llu", (unsigned long long)is, (unsigned long long)number);
	CHECK(is_filled(bytes + sizeof(head) + sizeof(is), wire32(head.len) - sizeof(is), number), "frame %llu is torn", (unsigned long long)number);
	return sizeof(head) + wire32(head.len);
}

static void goes_around(void)
{
	uint64_t written = 0, read = 0, at = 0;

	open_spool(1);
	CHECK(spool.size == SPOOL_MIN && spool_room(&spool) == SPOOL_MIN, "it has another size");
	while (at < 20 * SPOOL_MIN) {
		while (next() % 8 && put(written, next() % 20000))
			written++;
		CHECK(spool_left(&spool) + spool_room(&spool) == spool.size, "room does not add up");
		while (next() % 8 && read < written)
			at += check_frame(at, read++);
		CHECK(spool_take(&spool, at, at), "what was sent is not taken");
		CHECK(spool.put - at == spool_left(&spool), "left does not add up");
	}
	/* Without spool_end() nothing was said. */
	spool_begin(&spool, WIRE_PAGE, NULL, 0, 100);
	CHECK(spool.shared->put == spool.put, "half a frame was said");
	spool_fini(&spool);
}

/* As large as there is room, and not a byte more; from memory that is not there nothing comes. */
static void is_full(void)
{
	struct iovec bad = { (void *)8, 4096 };

	open_spool(SPOOL_MIN);
	CHECK(!spool_begin(&spool, WIRE_PAGES, NULL, 0, SPOOL_MIN - 7) && spool_begin(&spool, WIRE_PAGES, NULL, 0, SPOOL_MIN - 8), "room is another");
	CHECK(!spool_begin(&spool, WIRE_PAGES, NULL, 0, (size_t)WIRE_BODY_MAX + 1) && !spool_begin(&spool, WIRE_PAGES, NULL, 0, SIZE_MAX), "too much");
	CHECK(spool_begin(&spool, WIRE_PAGES, NULL, 0, 4096) && spool_copy(&spool, 0, &bad, 1) == -EFAULT, "from nowhere");
	spool_begin(&spool, WIRE_PAGES, NULL, 0, SPOOL_MIN - 8);
	spool_end(&spool);
	CHECK(!spool_room(&spool) && !spool_begin(&spool, WIRE_TELL, NULL, 0, 0), "more than there is room for");
	spool_fini(&spool);
}

/* ---- what the other side says ---- */

static void is_told_nonsense(void)
{
	const uint8_t *bytes;

	open_spool(SPOOL_MIN);
	for (uint64_t i = 0; i < 10; i++)
		CHECK(put(i, 1000), "no room");
	CHECK(!spool_take(&spool, 5000, 4999) && spool_take(&spool, 3000, 4000) && !spool_take(&spool, 2999, 4000), "taken what was not sent");
	CHECK(spool_ready(&spool, 3000, &bytes) == spool.put - 3000, "what is left is another");
	CHECK(spool_left(&spool) == spool.put - 3000, "left is another");
	/* Past what was put, or back: it stays where it was. */
	for (int i = 0; i < 1000; i++) {
		uint64_t before = spool.taken;

		spool.shared->taken = i % 3 ? next() : spool.put + 1 + next() % 100;
		spool.shared->put = next();
		spool.shared->state = (uint32_t)next();
		spool.shared->cuts = (uint32_t)next();
		spool.shared->waits = spool.shared->sleeps = (uint32_t)next();
		CHECK(spool_room(&spool) <= spool.size && spool.taken >= before && spool.taken <= spool.put, "it believes what is shared");
		CHECK(spool_state(&spool) <= SPOOL_FAILED, "a state that is none");
	}
	spool.shared->taken = 0;
	CHECK(spool_left(&spool) <= spool.put - 3000, "it goes back");
	spool_fini(&spool);
}

static void hears_words(void)
{
	struct err err = ERR_INIT;

	open_spool(SPOOL_MIN);
	memset(spool.shared->words, 'x', sizeof(spool.shared->words));
	spool.shared->code = 17;
	spool_words(&spool, &err);
	CHECK(err.code < 0 && strlen(err.text) < SPOOL_WORDS, "%d, %zu letters", err.code, strlen(err.text));
	err = (struct err)ERR_INIT;
	strcpy(spool.shared->words, "\033[2J\x07 a\nb");
	spool_words(&spool, &err);
	CHECK(!strcmp(err.text, "?[2J? a?b"), "'%s'", err.text);
	spool_fini(&spool);
}

/* Somebody scribbles on all of it while the recorder goes on: it puts no less and no more than there is room for. */
static void is_scribbled_on(void)
{
	struct err err = ERR_INIT;
	int status;
	pid_t pid;

	open_spool(SPOOL_MIN);
	pid = fork();
	if (!pid) {
		uint64_t *shared = (uint64_t *)spool.shared;

		for (int i = 0; i < 2000000; i++) {
			shared[next() % (sizeof(*spool.shared) / 8)] = next();
			spool.bytes[next() % (2 * spool.size)] = (uint8_t)next();
		}
		_exit(0);
	}
	for (uint64_t i = 0; waitpid(pid, &status, WNOHANG) == 0; i++) {
		uint64_t before = spool.put;
		size_t room = spool_room(&spool), len = next() % 20000;
		bool done = put(i, len);

		CHECK(room <= spool.size && spool.taken <= spool.put && spool.put - spool.taken <= spool.size, "more than there is");
		CHECK(spool.put == before + (done ? 16 + len : 0), "put another length");
		spool_words(&spool, &err);
		spool_state(&spool);
	}
	CHECK(!status, "who scribbles ends with %#x", (unsigned int)status);
	spool_fini(&spool);
}

int main(void)
{
	goes_around();
	is_full();
	is_told_nonsense();
	hears_words();
	is_scribbled_on();
	return 0;
}
