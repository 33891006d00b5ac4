/*
 * symbol/inflate: see inflate.h. Deflate as RFC 1951 has it, in the wrapping of RFC 1950.
 *
 * A code of Huffman's is told by how many codes of each length there are and which symbols have them, in order: codes of a length
 * follow each other, so a number that is read bit by bit is one of them as soon as it is less than the last of its length.
 */
#include "symbol/inflate.h"

#include <elf.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define SIZE_MAX_OUT (256ull << 20)
#define LENGTH_MAX 15
#define LITERALS 288
#define DISTANCES 32

struct stream {
	const unsigned char *at, *end;
	unsigned char *out;
	uint64_t len, room;
	uint32_t bits, nbits;
	bool bad;
};

struct code {
	uint16_t count[LENGTH_MAX + 1];
	uint16_t symbol[LITERALS];
};

static uint32_t take(struct stream *s, uint32_t n)
{
	uint32_t value;

	while (s->nbits < n) {
		if (s->at == s->end) {
			s->bad = true;
			return 0;
		}
		s->bits |= (uint32_t)*s->at++ << s->nbits;
		s->nbits += 8;
	}
	value = s->bits & ((1u << n) - 1);
	s->bits >>= n;
	s->nbits -= n;
	return value;
}

/* False: more codes than their lengths have room for. */
static bool make_code(struct code *code, const uint8_t *lengths, uint32_t n)
{
	uint16_t first[LENGTH_MAX + 1] = { 0 };
	int32_t room = 1;

	memset(code, 0, sizeof(*code));
	for (uint32_t i = 0; i < n; i++)
		code->count[lengths[i]]++;
	code->count[0] = 0;
	for (uint32_t i = 1; i <= LENGTH_MAX; i++) {
		room = room * 2 - code->count[i];
		if (room < 0)
			return false;
	}
	for (uint32_t i = 1; i < LENGTH_MAX; i++)
		first[i + 1] = (uint16_t)(first[i] + code->count[i]);
	for (uint32_t i = 0; i < n; i++)
		if (lengths[i])
			code->symbol[first[lengths[i]]++] = (uint16_t)i;
	return true;
}

static uint32_t decode(struct stream *s, const struct code *code)
{
	uint32_t number = 0, first = 0, index = 0;

	for (uint32_t i = 1; i <= LENGTH_MAX; i++) {
		number |= take(s, 1);
		if (s->bad)
			return 0;
		if (number < first + code->count[i])
			return code->symbol[index + (number - first)];
		index += code->count[i];
		first = (first + code->count[i]) << 1;
		number <<= 1;
	}
	s->bad = true;
	return 0;
}

static void put(struct stream *s, unsigned char byte)
{
	if (s->len == s->room)
		s->bad = true;
	else
		s->out[s->len++] = byte;
}

static void copy(struct stream *s, uint32_t distance, uint32_t n)
{
	if (distance > s->len)
		s->bad = true;
	while (n-- && !s->bad)
		put(s, s->out[s->len - distance]);
}

/* Lengths and distances come in classes: the first of each, and how many bits follow. */
static uint32_t length_of(struct stream *s, uint32_t symbol)
{
	uint32_t i = symbol - 257, extra = i < 8 ? 0 : (i - 4) / 4;

	if (i >= 29)
		s->bad = true;
	if (i >= 28)
		return 258;
	return i < 8 ? i + 3 : ((4 + i % 4) << extra) + 3 + take(s, extra);
}

static uint32_t distance_of(struct stream *s, uint32_t symbol)
{
	uint32_t extra = symbol < 4 ? 0 : (symbol - 2) / 2;

	if (symbol >= 30) {
		s->bad = true;
		return 1;
	}
	return symbol < 4 ? symbol + 1 : ((2 + symbol % 2) << extra) + 1 + take(s, extra);
}

static void expand(struct stream *s, const struct code *literals, const struct code *distances)
{
	while (!s->bad) {
		uint32_t symbol = decode(s, literals), n;

		if (s->bad || symbol == 256)
			return;
		if (symbol < 256) {
			put(s, (unsigned char)symbol);
			continue;
		}
		n = length_of(s, symbol);
		copy(s, distance_of(s, decode(s, distances)), n);
	}
}

static void stored(struct stream *s)
{
	uint32_t len;

	s->bits = s->nbits = 0;
	if (s->end - s->at < 4) {
		s->bad = true;
		return;
	}
	len = s->at[0] | (uint32_t)s->at[1] << 8;
	s->at += 4;
	if (len > (uint64_t)(s->end - s->at) || len > s->room - s->len) {
		s->bad = true;
		return;
	}
	memcpy(s->out + s->len, s->at, len);
	s->len += len;
	s->at += len;
}

static void fixed(struct stream *s)
{
	uint8_t lengths[LITERALS + DISTANCES];
	struct code literals, distances;

	for (uint32_t i = 0; i < LITERALS; i++)
		lengths[i] = i < 144 ? 8 : i < 256 ? 9 : i < 280 ? 7 : 8;
	memset(lengths + LITERALS, 5, DISTANCES);
	make_code(&literals, lengths, LITERALS);
	make_code(&distances, lengths + LITERALS, DISTANCES);
	expand(s, &literals, &distances);
}

/* Lengths of codes, which are coded themselves: 16 to 18 repeat. */
static void take_lengths(struct stream *s, const struct code *code, uint8_t *lengths, uint32_t n)
{
	for (uint32_t i = 0; i < n && !s->bad;) {
		uint32_t symbol = decode(s, code), times = 1;
		uint8_t value = 0;

		if (symbol < 16)
			value = (uint8_t)symbol;
		else if (symbol == 16 && i)
			value = lengths[i - 1];
		else if (symbol == 16)
			s->bad = true;
		if (symbol >= 16)
			times = symbol == 16 ? 3 + take(s, 2) : symbol == 17 ? 3 + take(s, 3) : 11 + take(s, 7);
		if (times > n - i)
			s->bad = true;
		while (times-- && !s->bad)
			lengths[i++] = value;
	}
}

static void dynamic(struct stream *s)
{
	static const uint8_t order[19] = { 16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15 };
	uint32_t nliterals = take(s, 5) + 257, ndistances = take(s, 5) + 1, n = take(s, 4) + 4;
	uint8_t lengths[LITERALS + DISTANCES] = { 0 }, first[19] = { 0 };
	struct code code, distances;

	for (uint32_t i = 0; i < n; i++)
		first[order[i]] = (uint8_t)take(s, 3);
	if (s->bad || nliterals > 286 || !make_code(&code, first, 19)) {
		s->bad = true;
		return;
	}
	take_lengths(s, &code, lengths, nliterals + ndistances);
	if (s->bad || !make_code(&code, lengths, nliterals) || !make_code(&distances, lengths + nliterals, ndistances)) {
		s->bad = true;
		return;
	}
	expand(s, &code, &distances);
}

static bool inflate(struct stream *s)
{
	bool last = false;

	/* Two bytes say how it was made: deflate, and no dictionary. */
	if (s->end - s->at < 2 || (s->at[0] & 15) != 8 || s->at[1] & 32)
		return false;
	s->at += 2;
	while (!last && !s->bad) {
		last = take(s, 1);
		switch (take(s, 2)) {
		case 0: stored(s); break;
		case 1: fixed(s); break;
		case 2: dynamic(s); break;
		default: s->bad = true;
		}
	}
	return !s->bad && s->len == s->room;
}

char *inflate_section(char *bytes, uint64_t *len)
{
	struct stream s = { 0 };
	Elf64_Chdr head;

	if (*len >= sizeof(head)) {
		memcpy(&head, bytes, sizeof(head));
		/* It never makes more than some thousand bytes of one. */
		if (head.ch_type == ELFCOMPRESS_ZLIB && head.ch_size <= SIZE_MAX_OUT && head.ch_size / 2048 <= *len)
			s.out = malloc(head.ch_size + 1);
	}
	if (s.out) {
		s.at = (const unsigned char *)bytes + sizeof(head);
		s.end = (const unsigned char *)bytes + *len;
		s.room = *len = head.ch_size;
		s.out[s.room] = '\0';
	}
	if (s.out && !inflate(&s)) {
		free(s.out);
		s.out = NULL;
	}
	free(bytes);
	return (char *)s.out;
}
