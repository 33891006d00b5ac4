/*
 * remote/target: see target.h.
 */
#include "remote/target.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/crc32c.h"
#include "fw/layout.h"

#define HEADER sizeof(struct ringside_fw_header)
/* Of a header that is just being written, the next look may find it whole. */
#define TRIES 3
/* Bytes that are searched at a time; the pieces overlap by less than a header. */
#define PIECE (1u << 20)
#define FOUND_MAX 8

uint32_t remote_target_page_head(const struct remote_target *target)
{
	return 8u + target->abi.long_size;
}

uint32_t remote_target_page_room(const struct remote_target *target)
{
	return target->page_size - remote_target_page_head(target) - (uint32_t)sizeof(struct ringside_fw_seal);
}

/* A member of a header or a ring, as the target wrote it. */
#define GET(bytes, type, member, abi) \
	decode_abi_load((bytes) + offsetof(type, member), sizeof(((type *)0)->member), (abi)->big_endian)
#define HEAD(member) GET(bytes, struct ringside_fw_header, member, &target->abi)

/* 0, -ENOENT or -EBADMSG of bytes that may be a header; the order of bytes is known then. */
static int check_bytes(const unsigned char *bytes, struct decode_abi *abi)
{
	uint32_t crc;

	if (memcmp(bytes, RINGSIDE_FW_MAGIC, 8))
		return -ENOENT;
	abi->big_endian = bytes[offsetof(struct ringside_fw_header, order)] == RINGSIDE_FW_ORDER >> 8;
	crc = (uint32_t)GET(bytes, struct ringside_fw_header, crc, abi);
	if (GET(bytes, struct ringside_fw_header, order, abi) != RINGSIDE_FW_ORDER ||
	    crc != crc32c(0, bytes, offsetof(struct ringside_fw_header, crc)))
		return -EBADMSG;
	return 0;
}

/* Where an address of the target lies in the memory, if so many bytes of it do. */
static int locate(const struct remote_target *target, const struct remote_memory *memory, uint64_t address, uint64_t len, uint64_t *at)
{
	*at = target->at + (address - target->self);
	return *at <= memory->size && len <= memory->size - *at && !(*at & 3) ? 0 : -EBADMSG;
}

static uint64_t control_size(const struct remote_target *target)
{
	return sizeof(struct ringside_fw_control) + (target->nr_events + 31) / 32 * 4;
}

static int read_ring(struct remote_target *target, struct remote_memory *memory, uint32_t i, uint64_t address, struct err *err)
{
	struct remote_ring *ring = &target->rings[i];
	unsigned char bytes[sizeof(struct ringside_fw_ring)];
	int r = locate(target, memory, address, sizeof(bytes), &ring->at);

	if (!r)
		r = remote_memory_read(memory, ring->at, bytes, sizeof(bytes));
	if (r)
		return err_set(err, -EBADMSG, "ring %" PRIu32 " of the header at %#" PRIx64 " is not in this memory", i, target->at);
	ring->mask = (uint32_t)GET(bytes, struct ringside_fw_ring, mask, &target->abi);
	ring->cpu = (uint32_t)GET(bytes, struct ringside_fw_ring, cpu, &target->abi);
	ring->discard = GET(bytes, struct ringside_fw_ring, flags, &target->abi) & RINGSIDE_FW_DISCARD;
	if (!ring->mask || ring->mask >= TARGET_PAGES_MAX || (ring->mask & (ring->mask + 1)))
		return err_set(err, -EBADMSG, "ring %" PRIu32 " says that it has %" PRIu64 " pages", i, (uint64_t)ring->mask + 1);
	for (uint32_t before = 0; before < i; before++)
		if (target->rings[before].cpu == ring->cpu)
			return err_set(err, -EBADMSG, "rings %" PRIu32 " and %" PRIu32 " are both of cpu %" PRIu32, before, i, ring->cpu);
	r = locate(target, memory, GET(bytes, struct ringside_fw_ring, pages, &target->abi),
		   ((uint64_t)ring->mask + 1) * target->page_size, &ring->pages);
	if (r)
		return err_set(err, r, "the pages of ring %" PRIu32 " are not in this memory", i);
	return 0;
}

/* ---- whether it makes sense ---- */

struct span {
	uint64_t from, to;
};

static int by_place(const void *a, const void *b)
{
	const struct span *x = a, *y = b;

	return x->from < y->from ? -1 : x->from > y->from;
}

/* What lies over something else would be written there by the host, or read as what it is not. */
static int check_places(const struct remote_target *target, struct err *err)
{
	size_t n = 0, most = 2 * (size_t)target->nr_rings + 2;
	struct span *spans = calloc(most, sizeof(*spans));
	int r = 0;

	if (!spans)
		return err_set(err, -ENOMEM, "out of memory");
	spans[n++] = (struct span){ target->at, target->at + HEADER };
	spans[n++] = (struct span){ target->control, target->control + control_size(target) };
	for (uint32_t i = 0; i < target->nr_rings; i++) {
		const struct remote_ring *ring = &target->rings[i];

		spans[n++] = (struct span){ ring->at, ring->at + sizeof(struct ringside_fw_ring) };
		spans[n++] = (struct span){ ring->pages, ring->pages + ((uint64_t)ring->mask + 1) * target->page_size };
	}
	qsort(spans, n, sizeof(*spans), by_place);
	for (size_t i = 1; !r && i < n; i++)
		if (spans[i].from < spans[i - 1].to)
			r = err_set(err, -EBADMSG, "the header at %#" PRIx64 " is whole, but what it names lies one over the other, at %#" PRIx64,
				    target->at, spans[i].from);
	free(spans);
	return r;
}

static int take_header(struct remote_target *target, const struct remote_memory *memory, const unsigned char *bytes, struct err *err)
{
	uint32_t shift = (uint32_t)HEAD(page_shift);

	target->abi.long_size = (uint8_t)HEAD(long_size);
	target->self = HEAD(self);
	target->tick_hz = HEAD(tick_hz);
	target->clock_bits = (uint32_t)HEAD(clock_bits);
	target->nr_events = (uint32_t)HEAD(nr_events);
	target->texts_size = (uint32_t)HEAD(texts_size);
	target->build = (uint32_t)HEAD(build);
	target->boots = (uint32_t)HEAD(boots);
	target->crc = (uint32_t)HEAD(crc);
	target->nr_rings = (uint32_t)HEAD(nr_rings);
	target->page_size = 1u << (shift & 31);
	if (HEAD(version) != RINGSIDE_FW_VERSION)
		return err_set(err, -EBADMSG, "the header at %#" PRIx64 " is of version %u: this knows %u", target->at,
			       (unsigned int)HEAD(version), RINGSIDE_FW_VERSION);
	if (shift < 8 || shift > 12 || (target->abi.long_size != 4 && target->abi.long_size != 8) || !target->nr_rings ||
	    target->nr_rings > TARGET_RINGS_MAX || HEAD(ring_size) < sizeof(struct ringside_fw_ring) || HEAD(ring_size) & 3 ||
	    !target->tick_hz || target->tick_hz > TARGET_HZ_MAX)
		return err_set(err, -EBADMSG, "the header at %#" PRIx64 " is whole, but makes no sense", target->at);
	return locate(target, memory, target->self + HEAD(control), control_size(target), &target->control)
		? err_set(err, -EBADMSG, "the control words are not in this memory") : 0;
}

/* The bytes at `at`, if they are a whole header. */
static int read_header(struct remote_memory *memory, uint64_t at, unsigned char *bytes, struct decode_abi *abi, struct err *err)
{
	int r = -ENOENT;

	for (int i = 0; i < TRIES; i++) {
		r = remote_memory_read(memory, at, bytes, HEADER);
		if (r == -ENODATA)
			return err_set(err, -ENOENT, "the memory ends before the end of a header at %#" PRIx64, at);
		if (r)
			return err_set(err, r, "cannot be read at %#" PRIx64 ": %s", at, strerror(-r));
		r = check_bytes(bytes, abi);
		if (!r)
			return 0;
	}
	if (r == -ENOENT)
		return err_set(err, r, "there is no header of a tracing memory at %#" PRIx64 ": it was not begun yet, or is elsewhere", at);
	return err_set(err, r, "the header at %#" PRIx64 " is damaged: its checksum is wrong", at);
}

int remote_target_read(struct remote_target *target, struct remote_memory *memory, uint64_t at, struct err *err)
{
	unsigned char bytes[HEADER];
	int r;

	*target = (struct remote_target){ .at = at };
	r = read_header(memory, at, bytes, &target->abi, err);
	if (!r)
		r = take_header(target, memory, bytes, err);
	if (r)
		return r;
	target->rings = calloc(target->nr_rings, sizeof(*target->rings));
	if (!target->rings)
		return err_set(err, -ENOMEM, "out of memory");
	for (uint32_t i = 0; !r && i < target->nr_rings; i++)
		r = read_ring(target, memory, i, HEAD(rings) + i * HEAD(ring_size), err);
	if (!r)
		r = check_places(target, err);
	if (r)
		remote_target_fini(target);
	else
		remote_target_mark(target, memory, &target->mark);
	return r;
}

int remote_target_mark(const struct remote_target *target, struct remote_memory *memory, uint32_t *mark)
{
	unsigned char word[4];
	int r = remote_memory_word(memory, target->control + offsetof(struct ringside_fw_control, mark), word, sizeof(word));

	*mark = r ? 0 : (uint32_t)decode_abi_load(word, sizeof(word), target->abi.big_endian);
	return r;
}

void remote_target_fini(struct remote_target *target)
{
	free(target->rings);
	target->rings = NULL;
}

/* Where it cannot be read, whoever reads it will say so. */
static bool is_same_ring(const struct remote_target *target, struct remote_memory *memory, const struct remote_ring *ring)
{
	unsigned char bytes[sizeof(struct ringside_fw_ring)];

	return remote_memory_read(memory, ring->at, bytes, sizeof(bytes)) ||
	       (GET(bytes, struct ringside_fw_ring, mask, &target->abi) == ring->mask &&
		GET(bytes, struct ringside_fw_ring, cpu, &target->abi) == ring->cpu &&
		(GET(bytes, struct ringside_fw_ring, flags, &target->abi) & RINGSIDE_FW_DISCARD) == ring->discard &&
		target->at + (GET(bytes, struct ringside_fw_ring, pages, &target->abi) - target->self) == ring->pages);
}

static int begun_anew(struct err *err)
{
	return err_set(err, -ESTALE, "tracing was begun anew in this memory");
}

int remote_target_check_header(const struct remote_target *target, struct remote_memory *memory, struct err *err)
{
	struct decode_abi abi = DECODE_ABI_NATIVE;
	unsigned char bytes[HEADER];
	int r = read_header(memory, target->at, bytes, &abi, err);

	if (r)
		return r == -ENOENT ? -EBADMSG : r;
	return abi.big_endian == target->abi.big_endian && GET(bytes, struct ringside_fw_header, crc, &abi) == target->crc ? 0
															 : begun_anew(err);
}

int remote_target_check(const struct remote_target *target, struct remote_memory *memory, struct err *err)
{
	int r = remote_target_check_header(target, memory, err);
	uint32_t mark;

	for (uint32_t i = 0; !r && i < target->nr_rings; i++)
		r = is_same_ring(target, memory, &target->rings[i]) ? 0 : begun_anew(err);
	/* A memory that lost its content, and was begun as often as before, may look the same otherwise. */
	if (!r && target->mark && !remote_target_mark(target, memory, &mark) && mark != target->mark)
		r = begun_anew(err);
	return r;
}

/* ---- searching ---- */

struct search {
	const uint64_t *self;
	uint64_t found[FOUND_MAX];
	unsigned int n;
	bool damaged;
	uint64_t damaged_at;
};

static void look_at(struct search *search, const unsigned char *bytes, uint64_t at)
{
	struct decode_abi abi = DECODE_ABI_NATIVE;
	int r = check_bytes(bytes, &abi);

	/* Firmware has the magic in its code, too. */
	if (r == -EBADMSG && GET(bytes, struct ringside_fw_header, order, &abi) == RINGSIDE_FW_ORDER) {
		search->damaged = true;
		search->damaged_at = at;
	}
	if (r || (search->self && *search->self != GET(bytes, struct ringside_fw_header, self, &abi)))
		return;
	if (search->n < FOUND_MAX)
		search->found[search->n] = at;
	search->n++;
}

static int search_piece(struct search *search, struct remote_memory *memory, unsigned char *piece, uint64_t at, size_t len)
{
	int r = remote_memory_read(memory, at, piece, len);

	for (size_t i = 0; !r && i + HEADER <= len; i += RINGSIDE_FW_ALIGN)
		if (piece[i] == (unsigned char)RINGSIDE_FW_MAGIC[0])
			look_at(search, piece + i, at + i);
	return r;
}

static int tell_found(const struct search *search, uint64_t *at, struct err *err)
{
	struct buf text = BUF_INIT;
	int r;

	if (search->n == 1) {
		*at = search->found[0];
		return 0;
	}
	if (!search->n && search->damaged)
		return err_set(err, -EBADMSG, "the only header, at %#" PRIx64 ", is damaged: its checksum is wrong", search->damaged_at);
	if (!search->n && search->self)
		return err_set(err, -ENOENT, "there is no header of a tracing memory that says that it is at %#" PRIx64 ": the target "
			       "was not started, or runs another firmware", *search->self);
	if (!search->n)
		return err_set(err, -ENOENT, "there is no header of a tracing memory: was the target started?");
	for (unsigned int i = 0; i < search->n && i < FOUND_MAX; i++)
		buf_printf(&text, " @%#" PRIx64, search->found[i]);
	r = err_set(err, -EEXIST, "there are %u headers of tracing memories: say which,%s", search->n, text.data ? text.data : "");
	buf_fini(&text);
	return r;
}

int remote_target_find(struct remote_memory *memory, const uint64_t *self, uint64_t *at, struct err *err)
{
	struct search search = { .self = self };
	unsigned char *piece;
	int r = 0;

	if (memory->device)
		return err_set(err, -EINVAL, "a device is not searched: say where the header is, @ADDRESS");
	piece = malloc(PIECE);
	if (!piece)
		return err_set(err, -ENOMEM, "out of memory");
	for (uint64_t from = 0; !r && from < memory->size;) {
		uint64_t data = remote_memory_data(memory, from) & ~(uint64_t)(RINGSIDE_FW_ALIGN - 1), left;

		from = data > from ? data : from;
		left = memory->size - from;
		if (left < HEADER)
			break;
		r = search_piece(&search, memory, piece, from, left < PIECE ? (size_t)left : PIECE);
		from += PIECE - HEADER + RINGSIDE_FW_ALIGN;
	}
	free(piece);
	/* The end of a file that is being written may be anywhere. */
	if (r && r != -ENODATA)
		return err_set(err, r, "cannot be read: %s", strerror(-r));
	return tell_found(&search, at, err);
}
