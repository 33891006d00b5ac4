/*
 * plan/points: see points.h.
 *
 * A function is what a symbol or a frame says; where both do, what they have in common. Files without a table of symbols have most
 * functions by their frames alone.
 */
#include "plan/points.h"

#include <elf.h>
#include <string.h>

#include "plan/x86.h"

#define NESTED_MAX 64	/* symbols that begin within another one, before us */
#define WATCHED_MAX 256	/* bytes of a function */

/* ---- the function ---- */

/* The first symbol behind an address. */
static size_t symbols_behind(const struct image *image, uint64_t address)
{
	size_t low = 0, high = image->nsymbols;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (image->symbols[middle].address <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static bool is_code(const struct image_symbol *symbol)
{
	return symbol->type != STT_OBJECT && *symbol->name;
}

/* The innermost that an address is in. One of no size goes as far as nothing else begins. */
static const struct image_symbol *symbol_at(const struct image *image, uint64_t address, uint64_t *end)
{
	const size_t behind = symbols_behind(image, address);
	const struct image_symbol *last = behind ? &image->symbols[behind - 1] : NULL;

	for (size_t i = behind; i && behind - i < NESTED_MAX; i--) {
		const struct image_symbol *symbol = &image->symbols[i - 1];

		if (symbol->size > address - symbol->address) {
			*end = symbol->address + symbol->size;
			return symbol;
		}
	}
	*end = behind < image->nsymbols ? image->symbols[behind].address : UINT64_MAX;
	return last && !last->size ? last : NULL;
}

bool points_makes_child(const struct points *points, uint64_t address)
{
	static const uint16_t numbers[] = { 56, 57, 58, 435 };	/* clone, fork, vfork, clone3 */
	const struct image_text *text = image_text(points->image, address);
	const uint64_t room = address - text->start;
	const uint8_t *before = text->bytes + room - 5;
	uint32_t number;

	if (room < 5 || before[0] != 0xb8)
		return false;
	memcpy(&number, before + 1, sizeof(number));
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		if (number == numbers[i])
			return true;
	return false;
}

/*
 * libc's clone3 tells of no frame where it calls the kernel, since its child has none, and has no name: it goes on from the one before
 * to the next.
 */
static bool between_frames(const struct points *points, const struct image_text *text, struct point_function *function, uint64_t address)
{
	const struct frame *before = address > text->start ? frames_at(points->frames, address - 1) : NULL;
	uint64_t end = address;

	if (!before || before->end != address || !points_makes_child(points, address))
		return false;
	while (end < text->end && end - address < PLAN_WINDOW_MAX && !frames_at(points->frames, end))
		end++;
	function->around = (struct site_around){ .start = before->start > text->start ? before->start : text->start, .end = end };
	return true;
}

bool points_function(const struct points *points, struct point_function *function, uint64_t address)
{
	const struct image_text *text = image_text(points->image, address);
	const struct frame *frame = frames_at(points->frames, address);
	uint64_t start, end;

	*function = (struct point_function){ .symbol = symbol_at(points->image, address, &end) };
	if (text && !function->symbol && !frame && between_frames(points, text, function, address))
		return true;
	if (!text || (function->symbol && !is_code(function->symbol)) || (!function->symbol && !frame && !text->whole))
		return false;
	start = function->symbol ? function->symbol->address : text->start;
	end = function->symbol && end < text->end ? end : text->end;
	if (frame) {
		start = frame->start > start ? frame->start : start;
		end = frame->end < end ? frame->end : end;
	}
	function->around = (struct site_around){ .start = start > text->start ? start : text->start, .end = end };
	return true;
}

/* ---- who comes into it ---- */

/* A part of a function that was moved away: whatever is not sure of that one is not sure here. */
static bool is_part(struct points *points, const struct frame *frame)
{
	if (frame && frame != points->frame) {
		points->frame = frame;
		points->part = !frame_is_entry(frame, frame->start);
	}
	return frame && points->part;
}

/* Is one of these, which are sorted, between two addresses? */
static bool is_any_between(const uint64_t *all, size_t n, uint64_t start, uint64_t end)
{
	size_t low = 0, high = n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (all[middle] < start)
			low = middle + 1;
		else
			high = middle;
	}
	return low < n && all[low] < end;
}

static bool is_unsure(struct points *points, const struct site_around *around)
{
	const struct image *image = points->image;
	const struct frame *frame = frames_at(points->frames, around->start);

	return points->frames->damaged || (frame && frame->unsure) || (image->nunsures && is_part(points, frame)) ||
	       is_any_between(image->unsures, image->nunsures, around->start, around->end);
}

/* ---- the site ---- */

/* Nothing begins there: is that the middle of an instruction, or could it not be told where any begin? */
static enum plan_reason why_no_step(const struct image_text *text, const struct site_around *around, uint64_t address)
{
	uint64_t at = address;
	struct x86 x86;

	while (at > around->start && address - at < X86_LEN_MAX)
		if (image_has(text, --at, IMAGE_STEP))
			return x86_decode(&x86, text->bytes + (at - text->start), text->end - at) && x86.len > address - at
				       ? PLAN_MIDDLE : PLAN_UNDECODED;
	return PLAN_UNDECODED;
}

void points_site(struct points *points, const struct point_function *function, struct site *site, uint64_t address)
{
	const struct image_text *text = image_text(points->image, address);
	struct site_around around = function->around;

	*site = (struct site){ .kind = PLAN_NOT };
	if (sequences_meet(points->sequences, address, address + 1)) {
		site->reason = PLAN_RESTARTED;
		return;
	}
	if (!image_has(text, address, IMAGE_STEP)) {
		site->reason = (uint8_t)why_no_step(text, &around, address);
		return;
	}
	around.unsure = is_unsure(points, &around);
	sequences_between(points->sequences, address, &around.start, &around.end);
	site_make_point(site, points->image, &around, address);
	/* What fills up a window may reach into one. */
	if (site->kind != PLAN_NOT && sequences_meet(points->sequences, address - site->before, address - site->before + site->window))
		*site = (struct site){ .kind = PLAN_NOT, .reason = PLAN_RESTARTED };
}

/* What brings a thread back from a signal: its very bytes are how unwinders know that. */
static bool restores(const struct points *points, const struct image_text *text, uint64_t address)
{
	/* mov $15, %eax, and as libraries write it, to all of the register. */
	static const uint8_t narrow[] = { 0xb8, 15, 0, 0, 0 }, wide[] = { 0x48, 0xc7, 0xc0, 15, 0, 0, 0 };
	const struct frame *frame = frames_at(points->frames, address);
	const uint64_t room = address - text->start;
	const uint8_t *end = text->bytes + room;

	return (frame && frame->signal) || (room >= sizeof(wide) && !memcmp(end - sizeof(wide), wide, sizeof(wide))) ||
	       (room >= sizeof(narrow) && !memcmp(end - sizeof(narrow), narrow, sizeof(narrow)));
}

/* Where libc asks the kernel for what may take long: by its address a signal handler knows whether a thread can be cancelled there. */
static bool is_watched(const struct image_text *text, const struct site_around *around)
{
	/* mov %r11, 8(%rsp); syscall; ret: of glibc and musl alike, in a function of its own. */
	static const uint8_t ends[] = { 0x4c, 0x89, 0x5c, 0x24, 0x08, 0x0f, 0x05, 0xc3 };
	const uint64_t size = around->end - around->start;

	return size < WATCHED_MAX && memmem(text->bytes + (around->start - text->start), size, ends, sizeof(ends));
}

bool points_special(const struct points *points, const struct point_function *function, uint64_t address)
{
	const struct image_text *text = image_text(points->image, address);

	return restores(points, text, address) || is_watched(text, &function->around);
}
