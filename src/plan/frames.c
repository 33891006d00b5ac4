/*
 * plan/frames: see frames.h. The formats are those of DWARF's call frames as the Linux Standard Base has them, and of GCC's
 * tables for exceptions. Whatever does not read as these say is told to be unsure, not guessed at.
 */
#include "plan/frames.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/sevens.h"

enum {
	PE_OMIT = 0xff, PE_FORMAT = 0x0f, PE_PCREL = 0x10, PE_HOW = 0x70, PE_INDIRECT = 0x80,
	PE_ABS = 0, PE_ULEB = 1, PE_UDATA2 = 2, PE_UDATA4 = 3, PE_UDATA8 = 4, PE_SLEB = 9, PE_SDATA2 = 10, PE_SDATA4 = 11,
	PE_SDATA8 = 12,
};

#define RULES_MAX 4096		/* bytes that are run for one address */
#define REMEMBERED_MAX 8
#define REGISTER_SP 7

/* Bytes that are read one after the other. Once too few are left it is bad, and everything is 0. */
struct cursor {
	const uint8_t *at, *end;
	uint64_t address;	/* of `at` */
	bool bad;
};

static struct cursor cursor_at(const struct image *image, uint64_t address, uint64_t max)
{
	uint64_t room = 0;
	const uint8_t *at = image_at(image, address, &room);

	room = room < max ? room : max;
	return (struct cursor){ at, at ? at + room : NULL, address, !at };
}

static bool has(struct cursor *cursor, uint64_t len)
{
	if (cursor->bad || (uint64_t)(cursor->end - cursor->at) < len)
		cursor->bad = true;
	return !cursor->bad;
}

static void skip(struct cursor *cursor, uint64_t len)
{
	if (!has(cursor, len))
		return;
	cursor->at += len;
	cursor->address += len;
}

static uint64_t number(struct cursor *cursor, size_t len)
{
	uint64_t value;

	if (!has(cursor, len))
		return 0;
	value = image_get(cursor->at, len);
	skip(cursor, len);
	return value;
}

static int64_t signed_number(struct cursor *cursor, size_t len)
{
	uint64_t value = number(cursor, len), sign = 1ull << (len * 8 - 1);

	return (int64_t)((value ^ sign) - sign);
}

static uint64_t leb(struct cursor *cursor, bool is_signed)
{
	struct sevens sevens = { 0 };

	while (sevens_add(&sevens, number(cursor, 1)) && !cursor->bad)
		cursor->bad = sevens.shift > 70;
	if (cursor->bad)
		return 0;
	return is_signed ? (uint64_t)sevens_signed(&sevens) : sevens.value;
}

static uint64_t uleb(struct cursor *cursor)
{
	return leb(cursor, false);
}

/* A pointer; 0: none. `how` PE_HOW bits count only where `placed`. */
static uint64_t pointer(struct cursor *cursor, uint8_t how, bool placed)
{
	const uint64_t here = cursor->address;
	uint64_t value;

	switch (how & PE_FORMAT) {
	case PE_ABS:
	case PE_UDATA8:
	case PE_SDATA8:
		value = number(cursor, 8);
		break;
	case PE_ULEB:
	case PE_SLEB:
		value = leb(cursor, (how & PE_FORMAT) == PE_SLEB);
		break;
	case PE_UDATA2:
		value = number(cursor, 2);
		break;
	case PE_UDATA4:
		value = number(cursor, 4);
		break;
	case PE_SDATA2:
		value = (uint64_t)signed_number(cursor, 2);
		break;
	case PE_SDATA4:
		value = (uint64_t)signed_number(cursor, 4);
		break;
	default:
		value = 0;
		cursor->bad = true;
	}
	if (!placed || !value)
		return value;
	if (how & PE_INDIRECT || ((how & PE_HOW) && (how & PE_HOW) != PE_PCREL))
		cursor->bad = true;
	return (how & PE_HOW) == PE_PCREL ? here + value : value;
}

/* ---- landing pads ---- */

static bool landing_pads(const struct image *image, uint64_t table, uint64_t function, uint64_t *budget)
{
	struct cursor at = cursor_at(image, table, *budget);
	uint64_t base = function, before;
	uint8_t how = (uint8_t)number(&at, 1);

	if (how != PE_OMIT)
		base = pointer(&at, how, true);
	if (number(&at, 1) != PE_OMIT)
		uleb(&at);
	how = (uint8_t)number(&at, 1);
	before = uleb(&at);
	if (!has(&at, before))
		return false;
	at.end = at.at + before;
	*budget -= before;
	while (!at.bad && at.at < at.end) {
		uint64_t pad;

		pointer(&at, how, false);
		pointer(&at, how, false);
		pad = pointer(&at, how, false);
		uleb(&at);
		if (pad && !at.bad)
			image_mark(image, base + pad, IMAGE_ENTERED);
	}
	return !at.bad;
}

/* ---- frames ---- */

/* What frames have in common. */
struct kind {
	uint64_t address;	/* 0: none was read yet */
	struct frame_rules rules;
	uint64_t step;
	uint8_t how, how_table;
	bool sized;		/* what is special comes with its size */
	bool signal;
};

static bool kind_letters(struct kind *kind, struct cursor *at, const char *letters)
{
	for (; *letters; letters++) {
		uint8_t how;

		switch (*letters) {
		case 'R':
			kind->how = (uint8_t)number(at, 1);
			break;
		case 'L':
			kind->how_table = (uint8_t)number(at, 1);
			break;
		case 'P':
			how = (uint8_t)number(at, 1);
			pointer(at, how, false);
			break;
		case 'S':
			kind->signal = true;
			break;
		default:
			return false;
		}
	}
	return !at->bad;
}

static bool kind_read(struct kind *kind, const struct image *image, uint64_t address)
{
	struct cursor at = cursor_at(image, address, UINT64_MAX);
	uint64_t len = number(&at, 4), version, rest;
	const char *letters;

	*kind = (struct kind){ .how = PE_ABS, .how_table = PE_OMIT };
	if (len == UINT32_MAX)
		len = number(&at, 8);
	if (!has(&at, len))
		return false;
	at.end = at.at + len;
	if (number(&at, 4))
		return false;
	version = number(&at, 1);
	letters = (const char *)at.at;
	if (at.bad || (version != 1 && version != 3) || !memchr(letters, '\0', (size_t)(at.end - at.at)))
		return false;
	skip(&at, strlen(letters) + 1);
	kind->step = uleb(&at);
	uleb(&at);
	if (version == 1)
		number(&at, 1);
	else
		uleb(&at);
	if (*letters == 'z') {
		kind->sized = true;
		rest = uleb(&at);
		if (!has(&at, rest))
			return false;
		kind->rules = (struct frame_rules){ at.at + rest, at.end };
		if (!kind_letters(kind, &at, letters + 1))
			return false;
	} else {
		kind->rules = (struct frame_rules){ at.at, at.end };
	}
	kind->address = address;
	return !at.bad && (*letters == 'z' || !*letters);
}

static int frame_add(struct frames *frames, const struct frame *frame)
{
	if (frames->n == frames->cap) {
		size_t cap = frames->cap ? frames->cap * 2 : 1024;
		struct frame *more = realloc(frames->all, cap * sizeof(*more));

		if (!more)
			return -ENOMEM;
		frames->all = more;
		frames->cap = cap;
	}
	frames->all[frames->n++] = *frame;
	return 0;
}

/* What follows the number that leads to its kind. */
static int frame_read(struct frames *frames, const struct image *image, struct cursor *at, const struct kind *kind, uint64_t *budget)
{
	struct frame frame = { .step = kind->step, .signal = kind->signal, .first = kind->rules };
	uint64_t special, table = 0;

	frame.start = pointer(at, kind->how, true);
	frame.end = frame.start + pointer(at, kind->how & PE_FORMAT, false);
	if (kind->sized) {
		struct cursor inside = *at;

		special = uleb(at);
		uleb(&inside);
		if (!has(at, special))
			return -EBADMSG;
		if (kind->how_table != PE_OMIT)
			table = pointer(&inside, kind->how_table, true);
		frame.unsure = inside.bad;
		skip(at, special);
	}
	if (at->bad || frame.end < frame.start)
		return -EBADMSG;
	frame.rest = (struct frame_rules){ at->at, at->end };
	if (table && !landing_pads(image, table, frame.start, budget))
		frame.unsure = true;
	image_mark(image, frame.start, IMAGE_START);
	image_mark(image, frame.end, IMAGE_END);
	return frame_add(frames, &frame);
}

/* One entry, which is a kind or a frame. */
static int entry_read(struct frames *frames, const struct image *image, struct cursor *all, struct kind *kind, uint64_t *budget)
{
	struct cursor at;
	uint64_t len = number(all, 4), here, back;

	if (len == UINT32_MAX)
		len = number(all, 8);
	if (!has(all, len))
		return -EBADMSG;
	at = *all;
	at.end = at.at + len;
	skip(all, len);
	if (!len)
		return 0;
	here = at.address;
	back = number(&at, 4);
	if (!back)
		return 0;
	if (kind->address != here - back && !kind_read(kind, image, here - back))
		return -EBADMSG;
	return frame_read(frames, image, &at, kind, budget);
}

static int compare(const void *a, const void *b)
{
	const struct frame *x = a, *y = b;

	return x->start < y->start ? -1 : x->start > y->start;
}

int frames_init(struct frames *frames, const struct image *image, struct err *err)
{
	/* Frames may share a table, but not so often. */
	uint64_t budget = image->elf.size;
	struct elf_section section;
	struct kind kind = { 0 };
	struct cursor all;
	int r = 0;

	*frames = (struct frames){ 0 };
	if (elf_section_find(&image->elf, ".eh_frame", &section) || !section.size)
		return 0;
	all = cursor_at(image, section.addr, section.size);
	while (!r && !all.bad && all.at < all.end)
		r = entry_read(frames, image, &all, &kind, &budget);
	if (r == -ENOMEM)
		return err_set(err, r, "out of memory");
	frames->damaged = r || all.bad;
	if (frames->n)
		qsort(frames->all, frames->n, sizeof(*frames->all), compare);
	return 0;
}

void frames_fini(struct frames *frames)
{
	free(frames->all);
	*frames = (struct frames){ 0 };
}

const struct frame *frames_at(const struct frames *frames, uint64_t address)
{
	size_t low = 0, high = frames->n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (frames->all[middle].start <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low && address < frames->all[low - 1].end ? &frames->all[low - 1] : NULL;
}

/* ---- where the caller's frame is ---- */

struct caller {
	uint64_t base, offset;	/* a register, and bytes */
};

struct run {
	struct caller now, remembered[REMEMBERED_MAX];
	unsigned int nremembered;
	uint64_t at, until;	/* addresses */
	uint64_t step;
};

static void advance(struct run *run, uint64_t steps)
{
	run->at += steps * run->step;
}

static bool remember(struct run *run)
{
	if (run->nremembered == REMEMBERED_MAX)
		return false;
	run->remembered[run->nremembered++] = run->now;
	return true;
}

static bool recall(struct run *run)
{
	if (!run->nremembered)
		return false;
	run->now = run->remembered[--run->nremembered];
	return true;
}

/* Those without a number of their own in the first byte. False: one that is not known. */
static bool rule_other(struct run *run, struct cursor *at, uint8_t op)
{
	switch (op) {
	case 0x00:	/* nothing */
		return true;
	case 0x02:	/* advance */
	case 0x03:
	case 0x04:
		advance(run, number(at, 1u << (op - 2)));
		return true;
	case 0x05:	/* a register is saved somewhere: two numbers */
	case 0x09:
	case 0x11:
	case 0x14:
	case 0x15:
	case 0x2f:
		uleb(at);
		uleb(at);
		return true;
	case 0x06:	/* or not: one number */
	case 0x07:
	case 0x08:
	case 0x2e:
		uleb(at);
		return true;
	case 0x0a:
		return remember(run);
	case 0x0b:
		return recall(run);
	case 0x0c:	/* the caller's frame */
		run->now.base = uleb(at);
		run->now.offset = uleb(at);
		return true;
	case 0x0d:
		run->now.base = uleb(at);
		return true;
	case 0x0e:
		run->now.offset = uleb(at);
		return true;
	case 0x0f:	/* by an expression: nothing that is so at an entry */
		run->now.base = UINT64_MAX;
		skip(at, uleb(at));
		return true;
	case 0x10:	/* a register by an expression */
	case 0x16:
		uleb(at);
		skip(at, uleb(at));
		return true;
	default:
		return false;
	}
}

static bool rules_run(struct run *run, const struct frame_rules *rules)
{
	struct cursor at = { rules->at, rules->end, 0, false };

	if (rules->end - rules->at > RULES_MAX)
		at.end = at.at + RULES_MAX;
	while (at.at < at.end && !at.bad) {
		struct caller before = run->now;
		uint8_t op = (uint8_t)number(&at, 1);

		if (op >> 6 == 1)
			advance(run, op & 0x3f);
		else if (op >> 6 == 2)
			uleb(&at);
		else if (!(op >> 6) && !rule_other(run, &at, op))
			return false;
		if (run->at > run->until) {
			run->now = before;
			return true;
		}
	}
	return !at.bad && at.end == rules->end;
}

bool frame_is_entry(const struct frame *frame, uint64_t address)
{
	struct run run = { .at = frame->start, .until = address, .step = frame->step };

	return !frame->signal && rules_run(&run, &frame->first) && rules_run(&run, &frame->rest) &&
	       run.now.base == REGISTER_SP && run.now.offset == 8;
}
