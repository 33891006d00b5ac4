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
#define ONE_MOVED_MAX 41u	/* a call of the longest kind */

static const uint8_t endbr64[ENDBR_SIZE] = { 0xf3, 0x0f, 0x1e, 0xfa };

/* A window in the making. */
struct move {
	struct site *site;
	const struct image_text *text;
	uint64_t start;		/* of the window */
	uint64_t end;		/* of the function; 0: not known */
	uint32_t from;		/* bytes of the window so far */
	uint32_t least;		/* bytes that it has to have */
	bool point;		/* who comes to its first byte comes to the point, as often as he likes */
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

enum { OP_JUMP = 4, OP_PUSH = 6 };

/* The same operand, of another instruction of the same opcode as calls. */
static void put_other(struct move *move, const struct x86 *x86, uint8_t op)
{
	struct site *site = move->site;
	uint8_t *modrm = site->code + site->moved + x86->modrm_at;

	put_same(move, x86);
	*modrm = (uint8_t)((*modrm & ~0x38u) | (uint32_t)op << 3);
}

/* push literal(%rip): a literal that comes behind so many bytes more. */
static void put_push(struct site *site, uint32_t behind)
{
	put(site, (uint8_t[]){ 0xff, 0x35 }, 2);
	put_number(site, behind, 4);
}

/*
 * A call returns behind the window, into the function's own code, so that whoever walks the stack finds what it knows:
 *
 *   push literal(%rip); jmp to; literal: W + window
 *
 * One that finds its target by registers in memory may find it where the return address is to be. It is read first, and kept
 * where the callee's frame will be:
 *
 *   push target; push (%rsp); lea 16(%rsp), %rsp; push literal(%rip); jmp *-8(%rsp); literal: W + window
 */
static void put_call(struct move *move, const struct x86 *x86)
{
	struct site *site = move->site;

	if (x86->direct) {
		put_push(site, 5);
		put_jump(site, x86->to + move->from);
	} else if (!x86->by_stack) {
		put_push(site, x86->len);
		put_other(move, x86, OP_JUMP);
	} else {
		put_other(move, x86, OP_PUSH);
		put(site, (uint8_t[]){ 0xff, 0x34, 0x24, 0x48, 0x8d, 0x64, 0x24, 0x10 }, 8);
		put_push(site, 4);
		put(site, (uint8_t[]){ 0xff, 0x64, 0x24, 0xf8 }, 4);
	}
	fix(site, site->moved, PLAN_FIX_AT);
	put_number(site, move->from + x86->len, 8);
	site->goes = move->over = true;
}

/* As it is over a jump over a jump: to where it led. */
static void put_loop(struct move *move, const struct x86 *x86)
{
	struct site *site = move->site;

	put(site, bytes_at(move), x86->len - 1u);
	put(site, (uint8_t[]){ 0x02, 0xeb, 0x05 }, 3);
	put_jump(site, x86->to + move->from);
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
	case X86_LOOP:
		note_branch(move, x86);
		put_loop(move, x86);
		return PLAN_FINE;
	default:
		return PLAN_UNMOVABLE;
	}
	site->goes = move->over = true;
	return PLAN_FINE;
}

static bool is_endbr64(const struct image_text *text, uint64_t address)
{
	return text->end - address > ENDBR_SIZE && !memcmp(text->bytes + (address - text->start), endbr64, ENDBR_SIZE);
}

/* The next instruction of the function into the window. */
static uint8_t step(struct move *move)
{
	const uint64_t at = move->start + move->from;
	struct site *site = move->site;
	struct x86 x86;
	uint8_t reason;

	if (at >= move->text->end || (move->end && at >= move->end))
		return PLAN_SHORT;
	if (move->from && image_has(move->text, at, IMAGE_START))
		return PLAN_OVERLAPS;
	/* Only who comes from elsewhere needs one. */
	if (move->from && is_endbr64(move->text, at))
		return PLAN_ENTERED;
	if (!x86_decode(&x86, bytes_at(move), room_at(move)))
		return PLAN_UNDECODED;
	if (move->end && x86.len > move->end - at)
		return PLAN_SHORT;
	if (x86.kind == X86_CALL && move->from + x86.len < move->least)
		return PLAN_CALLS;
	if (site->moved > PLAN_MOVED_MAX - ONE_MOVED_MAX)
		return PLAN_UNMOVABLE;
	site->steps[site->nsteps++] = (struct plan_step){ (uint8_t)move->from, site->moved };
	reason = put_one(move, &x86);
	move->from += x86.len;
	return reason;
}

/* Bytes that fill up what is between functions, or between a function's parts: nobody comes there. */
static bool skip_padding(struct move *move)
{
	const uint64_t at = move->start + move->from;
	struct x86 x86;

	if (at >= move->text->end || image_has(move->text, at, IMAGE_START))
		return false;
	if (*bytes_at(move) == 0xcc || (*bytes_at(move) == 0x00 && (!move->point || at >= move->end)))
		x86.len = 1;
	else if (!x86_decode(&x86, bytes_at(move), room_at(move)) || x86.kind != X86_NOP)
		return false;
	move->from += x86.len;
	return true;
}

/* A branch from the window into the window, other than back to where it is patched. */
static bool leads_into(const struct move *move)
{
	for (uint32_t i = 0; i < move->nbranches; i++)
		if (move->branches[i] < move->from && (move->branches[i] || !move->point))
			return true;
	return false;
}

/* Does anything begin or come in behind the window's first byte? */
static uint8_t undisturbed(const struct move *move)
{
	if (leads_into(move))
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

	while (!reason && !move->over && move->from < move->least)
		reason = step(move);
	if (reason)
		return reason;
	if (move->from < move->least) {
		while (move->from < move->least)
			if (!skip_padding(move))
				return PLAN_SHORT;
		/* Of the last of it only what is overwritten. */
		move->from = move->least;
	}
	reason = undisturbed(move);
	if (!reason)
		done(move, PLAN_JUMP);
	return reason;
}

/* Other bytes than the first stay: it does not matter who comes there. */
static uint8_t by_trap(struct move *move)
{
	uint8_t reason;

	move->least = 1;
	reason = step(move);
	if (reason)
		return reason;
	if (leads_into(move))
		return PLAN_UNMOVABLE;
	done(move, PLAN_TRAP);
	return PLAN_FINE;
}

/* May what runs from there on ask for flags that were left before? */
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
		if (x86.kind == X86_JCC || x86.kind == X86_LOOP || x86.kind == X86_ODD || x86.kind == X86_STOP ||
		    (x86.kind == X86_JMP && !x86.direct))
			return true;
		at += x86.kind == X86_JMP ? (uint64_t)x86.to : x86.len;
	}
	return true;
}

static struct move move_init(struct site *site, const struct image_text *text, uint64_t address, uint64_t size)
{
	*site = (struct site){ .kind = PLAN_NOT };
	if (is_endbr64(text, address))
		site->at = ENDBR_SIZE;
	return (struct move){ .site = site, .text = text, .start = address + site->at,
			      .end = size ? address + size : 0, .least = PLAN_JUMP_SIZE };
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

/* ---- points ---- */

static struct move point_init(struct site *site, const struct image_text *text, const struct site_around *around, uint64_t start)
{
	*site = (struct site){ .kind = PLAN_NOT };
	return (struct move){ .site = site, .text = text, .start = start, .end = around->end, .point = true };
}

/* To the instruction before, of the same function and not below `least`. */
static bool step_back(const struct image_text *text, const struct site_around *around, uint64_t *start, uint64_t least)
{
	while (*start > least && *start > around->start)
		if (image_has(text, --*start, IMAGE_STEP))
			return !is_endbr64(text, *start);
	return false;
}

/* Is this one of the window's instructions? Not if one before it goes elsewhere. */
static bool has_step(const struct site *site, uint64_t at)
{
	for (uint8_t i = 0; i < site->nsteps; i++)
		if (site->steps[i].at == at)
			return true;
	return false;
}

static uint8_t point_at(struct site *site, const struct image_text *text, const struct site_around *around, uint64_t start,
			uint64_t address, uint8_t len)
{
	const uint32_t before = (uint32_t)(address - start);
	struct move move = point_init(site, text, around, start);
	uint8_t reason;

	move.least = before + len > PLAN_JUMP_SIZE ? before + len : PLAN_JUMP_SIZE;
	reason = by_jump(&move);
	if (!reason && !has_step(site, before))
		reason = PLAN_ENTERED;
	site->before = (uint8_t)before;
	return reason;
}

/* By a window that begins at the point, or else as shortly before it as can be. */
static uint8_t point_by_jump(struct site *site, const struct image_text *text, const struct site_around *around, uint64_t address,
			     uint8_t len)
{
	const uint64_t least = address + len - PLAN_WINDOW_MAX;
	uint64_t start = address;
	uint8_t reason;

	/* An instruction that is its own window: who comes to any instruction comes to its first byte. */
	if (around->unsure && len < PLAN_JUMP_SIZE && address + len < around->end)
		return PLAN_ENTERED;
	reason = point_at(site, text, around, address, address, len);
	if (!reason || around->unsure)
		return reason;
	while (step_back(text, around, &start, least))
		if (!point_at(site, text, around, start, address, len))
			return PLAN_FINE;
	return reason;
}

void site_make_point(struct site *site, const struct image *image, const struct site_around *around, uint64_t address)
{
	const struct image_text *text = image_text(image, address);
	struct move move;
	struct x86 x86;
	uint8_t reason = PLAN_UNDECODED, worse;

	*site = (struct site){ .kind = PLAN_NOT };
	if (x86_decode(&x86, text->bytes + (address - text->start), text->end - address))
		reason = point_by_jump(site, text, around, address, x86.len);
	if (reason) {
		move = point_init(site, text, around, address);
		worse = by_trap(&move);
		if (worse) {
			point_init(site, text, around, address);
			reason = worse;
		}
	}
	site->reason = reason;
	site->flags_live = flags_matter(image, address);
}
