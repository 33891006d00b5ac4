/*
 * A target for fuzz/remote.c: its memory, in place of remote/memory.c, its writer, which goes on by so many stores each so many looks of the
 * host's, and what else changes in the memory, when the input says so.
 */
#ifndef FUZZ_REMOTE_TARGET_H
#define FUZZ_REMOTE_TARGET_H

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "remote/local.h"
#include "remote/made.h"

#define RINGS_MAX 3u
#define LATER 8u

static struct made made;
static size_t there;		/* bytes that the memory has now */
static bool writable;
static bool wild;		/* somebody else than the writer wrote */
static uint64_t looks, changes;

/* ---- the input ---- */

static const uint8_t *input;
static size_t input_left;

static uint32_t take(uint32_t bytes)
{
	uint32_t value = 0;

	while (bytes-- && input_left) {
		value = value << 8 | *input++;
		input_left--;
	}
	return value;
}

static void insist(bool holds, const char *what)
{
	if (holds)
		return;
	fprintf(stderr, "fuzz: %s\n", what);
	abort();
}

/* ---- the target's writer, a store at a time ---- */

struct writer {
	enum { IDLE, ENTER_STAMP, ENTER_COUNT, ENTER_TAIL, PUT, PUT_COMMIT, RESET } at;
	uint32_t seq, number, words;
	uint64_t now;
	bool reset;
};
static struct writer writers[RINGS_MAX];
static uint32_t life;		/* goes with each event */
static uint32_t every, steps;	/* so many stores each so many looks */
static uint32_t stores_left;	/* after that many it rests */

#define RING(i, member) made_ring(&made, i), MADE_AT(ringside_fw_ring, member)

static uint32_t ring_word(uint32_t i, size_t in)
{
	return (uint32_t)made_get(&made, made_ring(&made, i), in, 4);
}

static uint32_t record_word(uint32_t i, uint32_t seq, uint32_t n)
{
	return n == 0 ? 1u << 16 | i : n == 1 ? seq : n == 2 ? life : (seq + n) * 0x9e3779b1u;
}

/* Where what there is no room for is refused, all are as long: a shorter one might come behind one that is missing. */
static uint32_t record_words(uint32_t seq)
{
	return made.flags ? 5 : 3 + seq % 7 * (seq % 3);
}

static void write_words(uint32_t i, uint32_t commit)
{
	const struct writer *writer = &writers[i];
	size_t at = made_page(&made, i, ring_word(i, offsetof(struct ringside_fw_ring, tail))) + 8 + made.abi.long_size + commit;

	made_put(&made, at, 0, 4, made.abi.big_endian ? writer->words << 27 | 1 : 1 << 5 | writer->words);
	for (uint32_t n = 0; n < writer->words; n++)
		made_put(&made, at + 4 + n * 4, 0, 4, record_word(i, writer->seq, n));
}

/* Is there another page for it? */
static void begin_page(uint32_t i)
{
	struct writer *writer = &writers[i];
	uint32_t number = ring_word(i, offsetof(struct ringside_fw_ring, tail)) + 1;

	if (made.flags && !writer->reset && number - ring_word(i, offsetof(struct ringside_fw_ring, consumed)) > made.nr_pages - 1) {
		writer->seq++;
		made_put(&made, RING(i, count), writer->seq);
		return;
	}
	writer->number = number;
	made_put(&made, made_seal(&made, i, number), MADE_AT(ringside_fw_seal, number), number);
	writer->at = ENTER_STAMP;
}

static void begin_event(uint32_t i)
{
	struct writer *writer = &writers[i];
	uint32_t asked = ring_word(i, offsetof(struct ringside_fw_ring, asked));

	if (asked != ring_word(i, offsetof(struct ringside_fw_ring, answered))) {
		writer->reset = asked & 1;
		if (writer->reset)
			begin_page(i);
		else
			writer->at = RESET;
		return;
	}
	writer->words = record_words(writer->seq);
	if (!made_fits(&made, i, 4 + writer->words * 4)) {
		begin_page(i);
		return;
	}
	made_put(&made, RING(i, count), writer->seq + 1);
	writer->at = PUT;
}

static void step(uint32_t i)
{
	struct writer *writer = &writers[i];
	size_t page = made_page(&made, i, writer->number);
	uint32_t commit;

	writer->now += 1 + (writer->seq & 3);
	switch (writer->at) {
	case IDLE:
		begin_event(i);
		return;
	case ENTER_STAMP:
		made_put(&made, page, 0, 8, writer->now);
		made_put(&made, page, 8, made.abi.long_size, 0);
		writer->at = ENTER_COUNT;
		return;
	case ENTER_COUNT:
		made_put(&made, made_seal(&made, i, writer->number), MADE_AT(ringside_fw_seal, count), writer->seq);
		writer->at = ENTER_TAIL;
		return;
	case ENTER_TAIL:
		made_put(&made, RING(i, tail), writer->number);
		writer->at = writer->reset ? RESET : IDLE;
		return;
	case RESET:
		if (writer->reset) {
			made_put(&made, RING(i, first), writer->number);
			made_put(&made, RING(i, consumed), writer->number);
		}
		made_put(&made, RING(i, answer), writer->now);
		made_put(&made, RING(i, answered), ring_word(i, offsetof(struct ringside_fw_ring, asked)));
		writer->reset = false;
		writer->at = IDLE;
		return;
	case PUT:
		write_words(i, made_commit(&made, i));
		writer->at = PUT_COMMIT;
		return;
	case PUT_COMMIT:
		commit = made_commit(&made, i);
		made_set_commit(&made, i, commit + 4 + writer->words * 4);
		writer->seq++;
		writer->at = IDLE;
		return;
	}
}

/* The writer trusts its memory: where that is not what it left it writes no more. */
static void run_writer(uint32_t i, uint32_t n)
{
	while (n-- && !wild && there == made.size && stores_left) {
		stores_left--;
		step(i);
	}
}

static void start_again(void)
{
	life++;
	made.boots++;
	for (uint32_t i = 0; i < made.nr_rings; i++) {
		writers[i].seq = 0;
		writers[i].at = IDLE;
		writers[i].reset = false;
	}
	/* As a writer does: what the host asks for stays, and so does what lies in pages. */
	made_put(&made, 0, MADE_AT(ringside_fw_header, crc), ~made_get(&made, 0, MADE_AT(ringside_fw_header, crc)));
	for (uint32_t i = 0; i < made.nr_rings; i++) {
		made_put(&made, RING(i, first), 0);
		made_put(&made, RING(i, count), 0);
		made_put(&made, RING(i, consumed), 0);
		made_put(&made, RING(i, answered), made_get(&made, RING(i, asked)));
		made_enter(&made, i, 0, writers[i].now);
	}
	made_header(&made);
	changes++;
}

/* ---- changes ---- */

struct change {
	uint64_t when;
	size_t at;
	uint32_t len;
	uint8_t bytes[8];
	bool crc;
};
static struct change later[LATER];
static uint32_t nr_later;

static void apply(const struct change *change)
{
	for (uint32_t i = 0; i < change->len; i++)
		made.bytes[(change->at + i) % made.size] = change->bytes[i];
	if (change->crc)
		made_crc(&made);
	wild = true;
	changes++;
}

/* A place, by what it is: half of them words that mean something. */
static size_t place(void)
{
	static const uint8_t heads[] = { 8, 10, 11, 12, 14, 15, 16, 24, 32, 40, 42, 44, 48, 52, 56, 60 };
	static const uint8_t words[] = { 0, 4, 8, 12, 16, 24, 32, 40, 44, 48, 56, 60, 62, 63 };
	uint32_t kind = take(1), ring = kind / 8 % made.nr_rings, number = take(1);

	switch (kind % 8) {
	case 0:
	case 1:
		return heads[number % sizeof(heads)];
	case 2:
	case 3:
		return made_ring(&made, ring) + words[number % sizeof(words)];
	case 4:
		return made_seal(&made, ring, number) + (number >> 4 & 4);
	case 5:
		return made_page(&made, ring, number) + (number >> 4 & 8);
	case 6:
		return made_page(&made, ring, number) + take(2) % made_page_size(&made);
	default:
		return (number << 8 | take(1)) % made.size;
	}
}

static void change(void)
{
	struct change one = { .at = place() };
	uint32_t how = take(1);

	one.len = 1u << how % 4;
	one.crc = !(how & 4);
	for (uint32_t i = 0; i < one.len; i++) {
		uint8_t now = made.bytes[(one.at + i) % made.size];

		one.bytes[i] = how & 8 ? (uint8_t)(now ^ (1u << (how >> 5))) : (uint8_t)take(1);
	}
	if (how & 16 && nr_later < LATER) {
		one.when = looks + take(1);
		later[nr_later++] = one;
	} else {
		apply(&one);
	}
}

/* Somebody looks: what happens meanwhile. */
static void look(void)
{
	looks++;
	for (uint32_t i = 0; i < nr_later; i++) {
		if (later[i].when > looks)
			continue;
		apply(&later[i]);
		later[i--] = later[--nr_later];
	}
	if (every && looks % every == 0)
		run_writer((uint32_t)(looks / every) % made.nr_rings, steps);
}

/* ---- the memory, in place of remote/memory.c ---- */

int remote_memory_open(struct remote_memory *memory, const char *path, struct err *err)
{
	(void)path;
	(void)err;
	*memory = (struct remote_memory){ .fd = -1, .writable = writable, .size = there };
	return 0;
}

int remote_memory_take(struct remote_memory *memory, int fd, bool is_writable, struct err *err)
{
	(void)fd;
	(void)is_writable;
	return remote_memory_open(memory, NULL, err);
}

void remote_memory_close(struct remote_memory *memory)
{
	memory->fd = -1;
}

int remote_memory_read(struct remote_memory *memory, uint64_t at, void *bytes, size_t len)
{
	size_t piece;

	(void)memory;
	/* Words come whole; what is longer may change on the way. */
	for (size_t done = 0; done < len || !done; done += piece) {
		look();
		if (at > there || len > there - at)
			return -ENODATA;
		piece = len - done < 16 ? len - done : 16 - (at + done) % 8;
		memcpy((char *)bytes + done, made.bytes + at + done, piece);
		if (!len)
			break;
	}
	return 0;
}

int remote_memory_word(struct remote_memory *memory, uint64_t at, void *word, size_t len)
{
	insist(len == 4 || len == 8, "a word of no such size");
	return remote_memory_read(memory, at, word, len);
}

int remote_memory_store(struct remote_memory *memory, uint64_t at, const void *word)
{
	if (!memory->writable)
		return -EROFS;
	look();
	if (at > there || there - at < 4)
		return -ENODATA;
	insist(at >= sizeof(struct ringside_fw_header), "stored into the header");
	memcpy(made.bytes + at, word, 4);
	return 0;
}

uint64_t remote_memory_data(const struct remote_memory *memory, uint64_t at)
{
	(void)memory;
	return at;
}

#endif
