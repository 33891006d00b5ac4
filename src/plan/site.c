/*
 * plan/site: see site.h.
 *
 * In what follows W is where the window begins and M where the moved instructions will be; an instruction at W + from is moved to
 * M + moved. A number that counts from its instruction's end is stored less M - W, which is not known yet: PLAN_FIX_NEAR.
 */
#include "plan/site.h"

#include <string.h>

#include "plan/x86.h"

#define ENDBR_SIZE 4u
#define FLAGS_STEPS 64

static const uint8_t endbr64[ENDBR_SIZE] = { 0xf3, 0x0f, 0x1e, 0xfa };

/* A window in the making. */
struct move {
	struct site *site;
	const struct image_text *text;
	uint64_t start;		/* of the window */
	uint64_t end;		/* of the function; 0: not known */
	uint32_t from;		/* bytes of the window so far */
	bool over;		/* nothing comes behind what is there so far */
	uint64_t branches[PLAN_WINDOW_MAX];	/* where its jumps lead to */
	uint32_t nbranches;
};

static const uint8_t *bytes_at(const struct move *move)
{
	return move->text->bytes + (move->start + move->from - move->text->start);
}

static uint64_t room_at(const struct move *move)
{
	return move->text->end - (move->start + move->from);
}

static void fix(struct site *site, uint8_t at, uint8_t kind)
{
	site->fixes[site->nfixes++] = (struct plan_fix){ at, kind };
}

static void put(struct site *site, const void *bytes, size_t len)
{
	memcpy(site->code + site->moved, bytes, len);
	site->moved = (uint8_t)(site->moved + len);
}

static void put_number(struct site *site, uint64_t value, size_t len)
{
	uint8_t bytes[8];

	for (size_t i = 0; i < len; i++)
		bytes[i] = (uint8_t)(value >> i * 8);
	put(site, bytes, len);
}

/* `to` is counted from the window; the number ends its instruction. */
static void put_near(struct site *site, int64_t to)
{
	fix(site, site->moved, PLAN_FIX_NEAR);
	put_number(site, (uint64_t)(to - (site->moved + 4)), 4);
}

static void put_jump(struct site *site, int64_t to)
{
	put(site, (uint8_t[]){ 0xe9 }, 1);
	put_near(site, to);
}

/* An instruction as it is, but for the place that it names. */
static void put_same(struct move *move, const struct x86 *x86)
{
	struct site *site = move->site;
	uint8_t bytes[X86_LEN_MAX];

	memcpy(bytes, bytes_at(move), x86->len);
	if (x86->near_at) {
		/* What follows the number counts, too: it is counted from the instruction's end. */
		int64_t to = x86->to + move->from - (site->moved + x86->len);

		for (int i = 0; i < 4; i++)
			bytes[x86->near_at + i] = (uint8_t)((uint64_t)to >> i * 8);
		fix(site, (uint8_t)(site->moved + x86->near_at), PLAN_FIX_NEAR);
	}
	put(site, bytes, x86->len);
}

/*
 * A call returns behind the window, into the function's own code, so that whoever walks the stack finds what it knows:
 *
 *   push literal(%rip); jmp to; literal: W + window
 */
static void put_call(struct move *move, const struct x86 *x86)
{
	struct site *site = move->site;
	uint8_t bytes[X86_LEN_MAX];
	struct x86 jump = *x86;
	uint32_t len = x86->direct ? 5 : x86->len;

	put(site, (uint8_t[]){ 0xff, 0x35 }, 2);
	put_number(site, len, 4);
	if (x86->direct) {
		put_jump(site, x86->to + move->from);
	} else {
		memcpy(bytes, bytes_at(move), x86->len);
		put_same(move, &jump);
		/* From /2 to /4 of the same opcode. */
		site->code[site->moved - x86->len + x86->modrm_at] =
			(uint8_t)((bytes[x86->modrm_at] & ~0x38u) | 4u << 3);
	}
	fix(site, site->moved, PLAN_FIX_AT);
	put_number(site, move->from + x86->len, 8);
	site->goes = move->over = true;
}

static void note_branch(struct move *move, const struct x86 *x86)
{
	move->branches[move->nbranches++] = (uint64_t)(x86->to + move->from);
}

/* One instruction; its reason if it cannot be moved. */
static uint8_t put_one(struct move *move, const struct x86 *x86)
{
	struct site *site = move->site;
	const int64_t to = x86->to + move->from;

	if (x86->direct && (to > INT32_MAX / 2 || to < INT32_MIN / 2))
		return PLAN_UNMOVABLE;
	switch (x86->kind) {
	case X86_PLAIN:
	case X86_NOP:
		put_same(move, x86);
		return PLAN_FINE;
	case X86_CALL:
		if (x86->by_stack)
			return PLAN_UNMOVABLE;
		put_call(move, x86);
		return PLAN_FINE;
	case X86_RET:
		put_same(move, x86);
		break;
	case X86_JMP:
		if (x86->direct) {
			note_branch(move, x86);
			put_jump(site, to);
		} else {
			put_same(move, x86);
		}
		break;
	case X86_JCC:
		note_branch(move, x86);
		put(site, (uint8_t[]){ 0x0f, (uint8_t)(0x80u | x86->condition) }, 2);
		put_near(site, to);
		return PLAN_FINE;
	default:
		return PLAN_UNMOVABLE;
	}
	site->goes = move->over = true;
	return PLAN_FINE;
}

/* The next instruction of the function into the window. `whole`: how many bytes that is to be in the end. */
static uint8_t step(struct move *move, uint32_t whole)
{
	const uint64_t at = move->start + move->from;
	struct x86 x86;
	uint8_t reason;

	if (at >= move->text->end || (move->end && at >= move->end))
		return PLAN_SHORT;
	if (move->from && image_has(move->text, at, IMAGE_START))
		return PLAN_OVERLAPS;
	if (!x86_decode(&x86, bytes_at(move), room_at(move)))
		return PLAN_UNDECODED;
	if (move->end && x86.len > move->end - at)
		return PLAN_SHORT;
	if (x86.kind == X86_CALL && move->from + x86.len < whole)
		return PLAN_CALLS;
	reason = put_one(move, &x86);
	move->from += x86.len;
	return reason;
}

/* Bytes that fill up what is between functions: nobody comes there. */
static bool skip_padding(struct move *move)
{
	const uint64_t at = move->start + move->from;
	struct x86 x86;

	if (at >= move->text->end || image_has(move->text, at, IMAGE_START))
		return false;
	if (*bytes_at(move) == 0xcc || *bytes_at(move) == 0x00)
		x86.len = 1;
	else if (!x86_decode(&x86, bytes_at(move), room_at(move)) || x86.kind != X86_NOP)
		return false;
	move->from += x86.len;
	return true;
}

/* Does anything begin or come in behind the window's first byte? */
static uint8_t undisturbed(const struct move *move)
{
	for (uint32_t i = 0; i < move->nbranches; i++)
		if (move->branches[i] < move->from)
			return PLAN_ENTERED;
	for (uint64_t at = move->start + 1; at < move->start + move->from; at++) {
		if (image_has(move->text, at, IMAGE_START))
			return PLAN_OVERLAPS;
		if (image_has(move->text, at, IMAGE_ENTERED))
			return PLAN_ENTERED;
	}
	return PLAN_FINE;
}

static void done(struct move *move, enum plan_kind kind)
{
	struct site *site = move->site;

	site->kind = (uint8_t)kind;
	site->window = (uint8_t)move->from;
	memcpy(site->original, move->text->bytes + (move->start - move->text->start), move->from);
}

static uint8_t by_jump(struct move *move)
{
	uint8_t reason = PLAN_FINE;

	while (!reason && !move->over && move->from < PLAN_JUMP_SIZE)
		reason = step(move, PLAN_JUMP_SIZE);
	if (reason)
		return reason;
	if (move->from < PLAN_JUMP_SIZE) {
		while (move->from < PLAN_JUMP_SIZE)
			if (!skip_padding(move))
				return PLAN_SHORT;
		/* Of the last of it only what is overwritten. */
		move->from = PLAN_JUMP_SIZE;
	}
	reason = undisturbed(move);
	if (!reason)
		done(move, PLAN_JUMP);
	return reason;
}

/* Other bytes than the first stay: it does not matter who comes there. */
static uint8_t by_trap(struct move *move)
{
	uint8_t reason = step(move, 1);

	if (reason)
		return reason;
	if (move->nbranches && move->branches[0] < move->from)
		return PLAN_UNMOVABLE;
	done(move, PLAN_TRAP);
	return PLAN_FINE;
}

/* May what runs from there on ask for flags that its caller left? */
static bool flags_matter(const struct image *image, uint64_t at)
{
	uint8_t written = 0;

	for (int i = 0; i < FLAGS_STEPS; i++) {
		const struct image_text *text = image_text(image, at);
		struct x86 x86;

		if (!text || !x86_decode(&x86, text->bytes + (at - text->start), text->end - at))
			return true;
		if (x86.kind == X86_CALL || x86.kind == X86_RET)
			return false;
		if (x86.reads & ~written)
			return true;
		written |= x86.writes;
		if (written == X86_FLAGS_ALL)
			return false;
		if (x86.kind == X86_JCC || x86.kind == X86_ODD || x86.kind == X86_STOP || (x86.kind == X86_JMP && !x86.direct))
			return true;
		at += x86.kind == X86_JMP ? (uint64_t)x86.to : x86.len;
	}
	return true;
}

static struct move move_init(struct site *site, const struct image_text *text, uint64_t address, uint64_t size)
{
	*site = (struct site){ .kind = PLAN_NOT };
	if (text->end - address > ENDBR_SIZE && !memcmp(text->bytes + (address - text->start), endbr64, ENDBR_SIZE))
		site->at = ENDBR_SIZE;
	return (struct move){ .site = site, .text = text, .start = address + site->at,
			      .end = size ? address + size : 0 };
}

void site_make(struct site *site, const struct image *image, uint64_t address, uint64_t size, bool unsure)
{
	const struct image_text *text = image_text(image, address);
	struct move move = move_init(site, text, address, size);
	uint8_t reason = PLAN_OVERLAPS, worse;

	/* Another symbol behind endbr64 has a site of its own there. */
	if (!site->at || !image_has(text, move.start, IMAGE_START)) {
		reason = unsure ? PLAN_ENTERED : by_jump(&move);
		if (reason) {
			move = move_init(site, text, address, size);
			worse = by_trap(&move);
			if (worse) {
				move_init(site, text, address, size);
				reason = worse;
			}
		}
	}
	site->reason = reason;
	site->flags_live = flags_matter(image, address);
}
